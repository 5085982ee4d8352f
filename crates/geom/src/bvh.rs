//! A bounding volume hierarchy over triangles, for closest points, rays and inside tests.
//!
//! Built top-down by the binned surface area heuristic (Wald 2007, "On fast construction of SAH-based bounding volume
//! hierarchies"). The tree copies the corners, so queries need nothing else. Leaf tests are in double precision.

use glam::{DVec3, Vec3};

use crate::aabb::Aabb;
use crate::mesh::TriMesh;

mod closest;
mod crossings;
mod ray;
mod winding;

pub use closest::{ClosestPoint, closest_on_triangle};
pub use ray::{Ray, RayHit};

/// Triangles in a leaf: fewer make the tree larger, more make the leaves slower.
const LEAF_SIZE: usize = 4;
/// Bins of the surface area heuristic; Wald finds no gain above 16.
const BINS: usize = 16;
/// Depth from which nodes are split in half, so that no input makes the tree deeper than [`STACK`].
const HALVING_DEPTH: u32 = 48;
/// Capacity of the traversal stacks: every level leaves at most one sibling behind, and 32 halvings end any mesh.
const STACK: usize = 96;

/// The tree. Triangles with corners that are not finite are in it but never found.
#[derive(Clone, Debug, Default)]
pub struct Bvh {
    nodes: Vec<Node>,
    dipoles: Vec<winding::Dipole>,
    /// Original triangle of each slot.
    order: Vec<u32>,
    /// Vertex indices of each slot.
    indices: Vec<[u32; 3]>,
    /// Corner positions of each slot.
    corners: Vec<[Vec3; 3]>,
}

/// A node: a leaf over slots `first .. first + count`, or (count 0) the parent of nodes `first` and `first + 1`.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Aabb,
    first: u32,
    count: u32,
}

/// A range of slots that is still to be split.
struct Task {
    node: usize,
    start: usize,
    end: usize,
    depth: u32,
}

/// Build data of a triangle.
#[derive(Clone, Copy)]
struct Item {
    bounds: Aabb,
    center: Vec3,
    triangle: u32,
}

impl Bvh {
    /// Builds the tree; the same mesh always gives the same tree.
    pub fn new(mesh: &TriMesh) -> Self {
        let mut items: Vec<Item> = (0..mesh.triangles.len()).map(|t| item(mesh, t)).collect();
        let mut bvh = Self {
            nodes: build_nodes(&mut items),
            order: items.iter().map(|item| item.triangle).collect(),
            ..Self::default()
        };
        bvh.indices = bvh
            .order
            .iter()
            .map(|&t| mesh.triangles[t as usize])
            .collect();
        bvh.refit(&mesh.positions);
        bvh
    }

    /// Updates the boxes for moved vertices on the same tree. Queries stay exact; they slow down as the shape departs
    /// from the one the tree was built for.
    ///
    /// # Panics
    /// If there are fewer positions than the mesh had.
    pub fn refit(&mut self, positions: &[Vec3]) {
        let corners = |indices: &[u32; 3]| indices.map(|v| positions[v as usize]);
        self.corners = self.indices.iter().map(corners).collect();
        // Children come after their parents, so backwards is bottom-up.
        for n in (0..self.nodes.len()).rev() {
            let Node { first, count, .. } = self.nodes[n];
            self.nodes[n].bounds = if count == 0 {
                self.nodes[first as usize]
                    .bounds
                    .union(self.nodes[first as usize + 1].bounds)
            } else {
                let slots = &self.corners[first as usize..(first + count) as usize];
                slots.iter().map(bounds_of).fold(Aabb::EMPTY, Aabb::union)
            };
        }
        self.dipoles = winding::dipoles(&self.nodes, &self.corners);
    }

    /// The box around all triangles.
    pub fn bounds(&self) -> Aabb {
        self.nodes.first().map_or(Aabb::EMPTY, |root| root.bounds)
    }

    /// Number of triangles.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no triangle.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn corners_of(&self, slot: usize) -> [DVec3; 3] {
        self.corners[slot].map(|p| p.as_dvec3())
    }
}

impl Node {
    fn slots(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// The box of a triangle; empty unless all its corners are finite.
fn bounds_of(corners: &[Vec3; 3]) -> Aabb {
    if corners.iter().all(|p| p.is_finite()) {
        Aabb::of_points(*corners)
    } else {
        Aabb::EMPTY
    }
}

fn item(mesh: &TriMesh, triangle: usize) -> Item {
    let bounds = bounds_of(&mesh.corners(triangle));
    Item {
        bounds,
        center: bounds.center(),
        triangle: triangle as u32,
    }
}

/// Divides the items in place until leaves are small; boxes are left to the refit.
fn build_nodes(items: &mut [Item]) -> Vec<Node> {
    let leaf = |start: usize, end: usize| Node {
        bounds: Aabb::EMPTY,
        first: start as u32,
        count: (end - start) as u32,
    };
    if items.is_empty() {
        return Vec::new();
    }
    let mut nodes = vec![leaf(0, items.len())];
    let mut tasks = vec![Task {
        node: 0,
        start: 0,
        end: items.len(),
        depth: 0,
    }];
    while let Some(Task {
        node,
        start,
        end,
        depth,
    }) = tasks.pop()
    {
        if end - start <= LEAF_SIZE {
            continue;
        }
        let middle = start + divide(&mut items[start..end], depth);
        let first = nodes.len();
        nodes[node].first = first as u32;
        nodes[node].count = 0;
        nodes.extend([leaf(start, middle), leaf(middle, end)]);
        let child = |node, start, end| Task {
            node,
            start,
            end,
            depth: depth + 1,
        };
        tasks.extend([child(first + 1, middle, end), child(first, start, middle)]);
    }
    nodes
}

/// Reorders items into two parts, neither empty, and returns the size of the first.
fn divide(items: &mut [Item], depth: u32) -> usize {
    let around = |bounds: Aabb, item: &Item| Aabb {
        min: bounds.min.min(item.center),
        max: bounds.max.max(item.center),
    };
    let centers = items.iter().fold(Aabb::EMPTY, around);
    let split = if depth < HALVING_DEPTH {
        best_split(items, centers)
    } else {
        None
    };
    match split {
        Some(split) => partition(items, |item| split.bin(item.center) < split.bins_below),
        None => halve(items, centers),
    }
}

/// Splits in half along the longest axis; also separates items at one position.
fn halve(items: &mut [Item], centers: Aabb) -> usize {
    let axis = centers.size().max_position();
    let middle = items.len() / 2;
    let key = |item: &Item| (item.center[axis], item.triangle);
    items.select_nth_unstable_by(middle, |a, b| {
        let ((a, i), (b, j)) = (key(a), key(b));
        a.total_cmp(&b).then(i.cmp(&j))
    });
    middle
}

fn partition(items: &mut [Item], below: impl Fn(&Item) -> bool) -> usize {
    let mut middle = 0;
    for i in 0..items.len() {
        if below(&items[i]) {
            items.swap(i, middle);
            middle += 1;
        }
    }
    middle
}

/// A plane between two bins of one axis.
#[derive(Clone, Copy)]
struct Split {
    axis: usize,
    low: f32,
    scale: f32,
    bins_below: usize,
}

impl Split {
    fn bin(&self, center: Vec3) -> usize {
        // Casts saturate, and not-a-number becomes 0.
        (((center[self.axis] - self.low) * self.scale) as usize).min(BINS - 1)
    }
}

/// The split with the least cost by the surface area heuristic; none if all centres coincide.
fn best_split(items: &[Item], centers: Aabb) -> Option<Split> {
    let mut best: Option<(f32, Split)> = None;
    for axis in 0..3 {
        let extent = centers.size()[axis];
        let mut split = Split {
            axis,
            low: centers.min[axis],
            scale: BINS as f32 / extent,
            bins_below: 0,
        };
        if !(extent > 0.0 && extent.is_finite() && split.scale.is_finite()) {
            continue;
        }
        let mut bins = [(Aabb::EMPTY, 0u32); BINS];
        for item in items {
            let (bounds, count) = &mut bins[split.bin(item.center)];
            *bounds = bounds.union(item.bounds);
            *count += 1;
        }
        let below = sweep(bins.iter());
        let above = sweep(bins.iter().rev());
        for bins_below in 1..BINS {
            let (low, high) = (below[bins_below - 1], above[BINS - 1 - bins_below]);
            let cost = low.0 + high.0;
            if low.1 > 0 && high.1 > 0 && best.is_none_or(|(least, _)| cost < least) {
                split.bins_below = bins_below;
                best = Some((cost, split));
            }
        }
    }
    best.map(|(_, split)| split)
}

/// Running area × count, and count, over the bins in the order given.
fn sweep<'a>(bins: impl Iterator<Item = &'a (Aabb, u32)>) -> [(f32, u32); BINS] {
    let mut running = (Aabb::EMPTY, 0);
    let mut sums = [(0.0, 0); BINS];
    for (sum, (bounds, count)) in sums.iter_mut().zip(bins) {
        running = (running.0.union(*bounds), running.1 + count);
        *sum = (running.0.half_area() * running.1 as f32, running.1);
    }
    sums
}

/// Nodes still to be visited, with the distance of each.
struct Stack {
    entries: [(f64, u32); STACK],
    len: usize,
}

impl Stack {
    fn new() -> Self {
        Self {
            entries: [(0.0, 0); STACK],
            len: 0,
        }
    }

    fn push(&mut self, distance: f64, node: u32) {
        self.entries[self.len] = (distance, node);
        self.len += 1;
    }

    fn pop(&mut self) -> Option<(f64, u32)> {
        self.len = self.len.checked_sub(1)?;
        Some(self.entries[self.len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    fn depth(bvh: &Bvh) -> usize {
        let mut deepest = 0;
        let mut stack = vec![(0u32, 1)];
        while let Some((n, depth)) = stack.pop() {
            let node = bvh.nodes[n as usize];
            deepest = deepest.max(depth);
            if node.count == 0 {
                stack.extend([(node.first, depth + 1), (node.first + 1, depth + 1)]);
            }
        }
        deepest
    }

    #[test]
    fn every_triangle_is_in_one_small_leaf() {
        let mesh = shapes::icosphere(1.0, 4);
        let bvh = Bvh::new(&mesh);
        let mut seen = vec![0; mesh.triangles.len()];
        for node in bvh.nodes.iter().filter(|n| n.count > 0) {
            assert!(node.count as usize <= LEAF_SIZE);
            node.slots()
                .for_each(|slot| seen[bvh.order[slot] as usize] += 1);
        }
        assert!(seen.iter().all(|&count| count == 1));
        assert_eq!(bvh.bounds(), mesh.bounds());
        assert!(depth(&bvh) < 24);
    }

    #[test]
    fn adversarial_spacing_keeps_the_tree_shallow() {
        // Sizes that double: every split by area takes one triangle off.
        let mut mesh = TriMesh::default();
        for i in 0..250 {
            let triangle = shapes::plane_grid(glam::Vec2::ONE, 1, 1);
            let scale = 2f32.powi(i - 125);
            let mut moved = triangle.clone();
            moved
                .positions
                .iter_mut()
                .for_each(|p| *p = (*p + Vec3::X * 2.0) * scale);
            mesh.append(&moved);
        }
        mesh.append(&mesh.clone());
        let bvh = Bvh::new(&mesh);
        assert!(depth(&bvh) < STACK - 1);
        assert!(bvh.closest_point(Vec3::ZERO).is_some());
    }

    #[test]
    fn equal_and_broken_triangles_build() {
        let mut mesh = TriMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::NAN],
            triangles: vec![[0, 1, 2]; 1000],
        };
        mesh.triangles.extend([[0, 1, 3]; 100]);
        let bvh = Bvh::new(&mesh);
        assert_eq!(bvh.len(), 1100);
        let found = bvh.closest_point(Vec3::Y);
        assert!(found.is_some_and(|c| c.triangle == 0 && c.distance == 1.0));
        assert!(
            Bvh::new(&TriMesh::default())
                .closest_point(Vec3::ZERO)
                .is_none()
        );
    }

    #[test]
    fn refit_answers_like_a_new_tree() {
        let mut mesh = shapes::capsule(0.2, 1.0, 16, 8);
        let mut bvh = Bvh::new(&mesh);
        mesh.positions
            .iter_mut()
            .for_each(|p| *p = Vec3::new(p.x + p.y * p.y, p.y, 2.0 * p.z));
        bvh.refit(&mesh.positions);
        let fresh = Bvh::new(&mesh);
        let mut random = crate::random::Random::new(1);
        for _ in 0..200 {
            let p = random.in_cube(1.0);
            let (a, b) = (bvh.closest_point(p), fresh.closest_point(p));
            assert_eq!(a.map(|c| c.distance), b.map(|c| c.distance));
            assert_eq!(bvh.is_inside(p), fresh.is_inside(p));
        }
    }
}
