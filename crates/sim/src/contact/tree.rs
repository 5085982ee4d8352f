//! A tree over the prisms of a contact surface: built once, refitted every step, walked without a stack.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

/// Triangles of a leaf: fewer lengthen the way down, more are tested in vain.
const LEAF: usize = 4;
/// Points that go down the tree together.
pub const PACKET: usize = 8;

/// Nodes in the order of a walk: the first child of an inner node follows it.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub nodes: Vec<Node>,
    /// Triangles in the order of the leaves.
    pub order: Vec<u32>,
    /// Skin points in the order of the leaves, in packets of [`PACKET`].
    pub points: Vec<u32>,
    /// Nodes that are leaves.
    leaves: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Where a walk goes on that does not enter this node.
    pub skip: u32,
    /// First entry of [`Tree::order`] below this node.
    pub first: u32,
    /// Triangles of a leaf; 0: an inner node.
    pub count: u32,
    /// The second child of an inner node.
    second: u32,
}

/// What is below a node: a box around prisms and one around normals.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub low: Vec3A,
    pub high: Vec3A,
    pub low_normal: Vec3A,
    pub high_normal: Vec3A,
}

impl Bounds {
    /// Contains nothing.
    pub const EMPTY: Bounds = Bounds {
        low: Vec3A::INFINITY,
        high: Vec3A::NEG_INFINITY,
        low_normal: Vec3A::INFINITY,
        high_normal: Vec3A::NEG_INFINITY,
    };

    #[inline]
    pub fn add_point(&mut self, point: Vec3A) {
        self.low = self.low.min(point);
        self.high = self.high.max(point);
    }

    #[inline]
    pub fn add_normal(&mut self, normal: Vec3A) {
        self.low_normal = self.low_normal.min(normal);
        self.high_normal = self.high_normal.max(normal);
    }

    fn joined(&self, other: &Bounds) -> Bounds {
        Bounds {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            low_normal: self.low_normal.min(other.low_normal),
            high_normal: self.high_normal.max(other.high_normal),
        }
    }

    /// [`Bounds::may_touch`] for a single point.
    #[inline]
    pub fn may_hold(&self, point: Vec3A, normal: Vec3A, facing: f32) -> bool {
        let apart = self.low.cmpgt(point) | self.high.cmplt(point);
        let least = (self.low_normal * normal).min(self.high_normal * normal);
        !apart.any() && least.x + least.y + least.z < facing
    }

    /// Whether a point of one may lie in a prism of the other while their normals differ by a cosine below `facing`.
    #[inline]
    pub fn may_touch(&self, other: &Bounds, facing: f32) -> bool {
        let apart = self.low.cmpgt(other.high) | self.high.cmplt(other.low);
        if apart.any() {
            return false;
        }
        // Least product of two intervals, axis by axis.
        let least = (self.low_normal * other.low_normal)
            .min(self.low_normal * other.high_normal)
            .min(self.high_normal * other.low_normal)
            .min(self.high_normal * other.high_normal);
        least.x + least.y + least.z < facing
    }
}

impl Tree {
    /// Splits triangles at the median along the longest axis of their centres.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Tree {
        let centres: Vec<Vec3> = triangles
            .iter()
            .map(|t| t.iter().map(|&v| positions[v as usize]).sum::<Vec3>() / 3.0)
            .collect();
        let mut tree = Tree {
            order: (0..triangles.len() as u32).collect(),
            ..Tree::default()
        };
        if triangles.is_empty() {
            return tree;
        }
        let mut order = std::mem::take(&mut tree.order);
        tree.split(&centres, &mut order, 0);
        tree.order = order;
        let mut seen = vec![false; positions.len()];
        for &t in &tree.order {
            for v in triangles[t as usize] {
                if !std::mem::replace(&mut seen[v as usize], true) {
                    tree.points.push(v);
                }
            }
        }
        tree
    }

    fn split(&mut self, centres: &[Vec3], order: &mut [u32], first: u32) {
        let index = self.nodes.len();
        self.nodes.push(Node {
            skip: 0,
            first,
            count: 0,
            second: 0,
        });
        if order.len() <= LEAF {
            self.nodes[index].count = order.len() as u32;
            self.leaves.push(index as u32);
        } else {
            let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            for &t in order.iter() {
                low = low.min(centres[t as usize]);
                high = high.max(centres[t as usize]);
            }
            let axis = (high - low).max_position();
            let key = |&t: &u32| (centres[t as usize][axis], t);
            let middle = order.len() / 2;
            order.select_nth_unstable_by(middle, |a, b| {
                let (a, b) = (key(a), key(b));
                a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
            });
            let (left, right) = order.split_at_mut(middle);
            self.split(centres, left, first);
            self.nodes[index].second = self.nodes.len() as u32;
            self.split(centres, right, first + middle as u32);
        }
        self.nodes[index].skip = self.nodes.len() as u32;
    }

    /// New bounds of all nodes from those of the triangles.
    pub fn refit(&self, bounds: &mut Vec<Bounds>, of_triangle: impl Fn(u32) -> Bounds + Sync) {
        bounds.resize(self.nodes.len(), Bounds::EMPTY);
        let of_leaf = |&leaf: &u32| {
            let node = &self.nodes[leaf as usize];
            let range = node.first as usize..(node.first + node.count) as usize;
            self.order[range]
                .iter()
                .fold(Bounds::EMPTY, |sum, &t| sum.joined(&of_triangle(t)))
        };
        // Leaves first, in any order; then inner nodes from their children, which follow them.
        let leaves: Vec<Bounds> = self
            .leaves
            .par_iter()
            .with_min_len(64)
            .map(of_leaf)
            .collect();
        for (&leaf, fitted) in self.leaves.iter().zip(leaves) {
            bounds[leaf as usize] = fitted;
        }
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if node.count == 0 {
                bounds[i] = bounds[i + 1].joined(&bounds[node.second as usize]);
            }
        }
    }

    /// Calls `visit` with bounds and triangles of every leaf below nodes that `enters` lets in.
    #[inline]
    pub fn walk(
        &self,
        bounds: &[Bounds],
        enters: impl Fn(&Bounds) -> bool,
        mut visit: impl FnMut(&Bounds, &[u32]),
    ) {
        let mut i = 0;
        while i < self.nodes.len() {
            let node = &self.nodes[i];
            if !enters(&bounds[i]) {
                i = node.skip as usize;
                continue;
            }
            if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                visit(&bounds[i], &self.order[range]);
            }
            i += 1;
        }
    }
}
