//! The union of the shells of a mesh as one closed surface.
//!
//! Triangles are drawn into a grid, and what the outside cannot reach is inside. Holes and gaps narrower than two cells are
//! closed, shells may overlap, and their orientation does not matter.

use glam::{IVec3, Vec3};

use crate::aabb::Aabb;
use crate::mesh::TriMesh;
use crate::surface_nets::surface_nets;

/// Largest number of cells, to bound memory; larger cells are used if it is exceeded.
const MAX_CELLS: f32 = 8e5;
/// Largest number of cells along one side: thin boxes would otherwise get many.
const MAX_SIDE: f32 = 1000.0;
/// Largest number of points drawn, to bound time: many triangles as large as the grid.
const MAX_POINTS: f64 = 5e7;

/// The surface of everything that the mesh encloses or touches, over cubic cells of about the given size \[m\]. Lies up to one
/// cell outside of the mesh. Empty if there is nothing to enclose, or more to draw than a body has.
pub fn solid(mesh: &TriMesh, cell: f32) -> TriMesh {
    let Some(mut grid) = Grid::new(mesh.bounds(), cell) else {
        return TriMesh::default();
    };
    let all = || (0..mesh.triangles.len()).map(|triangle| mesh.corners(triangle));
    let points = all().map(|corners| grid.steps(corners).map_or(0.0, |n| f64::from(n).powi(2)));
    if 0.5 * points.sum::<f64>() > MAX_POINTS {
        return TriMesh::default();
    }
    all().for_each(|corners| grid.draw(corners));
    grid.flood_outside();
    let bounds = Aabb {
        min: grid.origin,
        max: grid.origin + grid.cell * (grid.size - IVec3::ONE).as_vec3(),
    };
    surface_nets(bounds, grid.cell, |point| {
        let node = ((point.as_vec3() - grid.origin) / grid.cell).round();
        match grid.at(node.as_ivec3()) {
            None | Some(Node::Outside) => 1.0,
            Some(Node::Open | Node::Surface) => -1.0,
        }
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Node {
    /// Not drawn on, and not reached from the outside.
    Open,
    Surface,
    Outside,
}

struct Grid {
    origin: Vec3,
    cell: f32,
    size: IVec3,
    nodes: Vec<Node>,
}

impl Grid {
    /// `None` for empty or infinite bounds, and for cells of no size.
    fn new(bounds: Aabb, cell: f32) -> Option<Self> {
        let extent = bounds.size();
        let cells = (extent / cell + 1.0).element_product();
        let cell = cell * (cells / MAX_CELLS).cbrt().max(1.0);
        let cell = cell.max(extent.max_element() / MAX_SIDE);
        let usable = extent.is_finite() && cell > 0.0 && cell.is_finite() && !bounds.is_empty();
        // Two nodes of outside on each side.
        let size = (extent / cell).ceil().as_ivec3() + 5;
        usable.then(|| Self {
            origin: bounds.min - 2.0 * cell,
            cell,
            size,
            nodes: vec![Node::Open; (size.x * size.y * size.z) as usize],
        })
    }

    fn index(&self, node: IVec3) -> Option<usize> {
        let within = node.cmpge(IVec3::ZERO).all() && node.cmplt(self.size).all();
        within.then(|| ((node.z * self.size.y + node.y) * self.size.x + node.x) as usize)
    }

    fn at(&self, node: IVec3) -> Option<Node> {
        self.index(node).map(|index| self.nodes[index])
    }

    /// Number of steps along a triangle's edges that are at most half a cell long; `None` if a corner is not finite.
    fn steps(&self, [a, b, c]: [Vec3; 3]) -> Option<i32> {
        let longest = (b - a).length().max((c - a).length()).max((c - b).length());
        let steps = (2.0 * longest / self.cell).ceil().max(1.0);
        (longest.is_finite()).then_some(steps as i32)
    }

    /// Marks the node closest to each of the points on a triangle. Half a cell between points leaves no way through: where the
    /// triangle crosses a grid edge, one of the edge's ends is marked.
    fn draw(&mut self, [a, b, c]: [Vec3; 3]) {
        let Some(steps) = self.steps([a, b, c]) else {
            return;
        };
        for i in 0..=steps {
            for j in 0..=steps - i {
                let (u, v) = (i as f32 / steps as f32, j as f32 / steps as f32);
                let point = a + u * (b - a) + v * (c - a);
                let node = ((point - self.origin) / self.cell).round().as_ivec3();
                if let Some(index) = self.index(node) {
                    self.nodes[index] = Node::Surface;
                }
            }
        }
    }

    fn flood_outside(&mut self) {
        let mut open = Vec::new();
        self.reach(IVec3::ZERO, &mut open);
        while let Some(node) = open.pop() {
            for axis in [IVec3::X, IVec3::Y, IVec3::Z] {
                self.reach(node + axis, &mut open);
                self.reach(node - axis, &mut open);
            }
        }
    }

    /// Marks an open node as outside and lists it.
    fn reach(&mut self, node: IVec3, open: &mut Vec<IVec3>) {
        if let Some(index) = self.index(node)
            && self.nodes[index] == Node::Open
        {
            self.nodes[index] = Node::Outside;
            open.push(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::icosphere;
    use crate::shells::shells;

    #[test]
    fn overlapping_balls_of_any_orientation_are_one_solid() {
        let mut mesh = icosphere(1.0, 3);
        let mut other = icosphere(1.0, 3);
        other.flip();
        for position in &mut other.positions {
            position.x += 1.5;
        }
        mesh.append(&other);
        let cell = 0.05;
        let union = solid(&mesh, cell);
        assert_eq!(shells(&union).count, 1);
        // Two unit balls 1.5 apart share a lens of height 1/4 on each side: V = 8π/3 − 2 π h² (3 − h) / 3.
        let cap = std::f64::consts::PI * 0.25 * 0.25 * (3.0 - 0.25) / 3.0;
        let volume = 8.0 / 3.0 * std::f64::consts::PI - 2.0 * cap;
        // The solid is up to one cell larger, by the area of both balls.
        let slack = f64::from(cell) * 8.0 * std::f64::consts::PI;
        let off = union.signed_volume() - volume;
        assert!((0.0..slack).contains(&off), "{off} of {volume}");
    }

    #[test]
    fn a_shell_with_a_small_hole_is_filled() {
        let mut mesh = icosphere(1.0, 4);
        mesh.triangles.pop();
        let filled = solid(&mesh, 0.1);
        assert!(filled.signed_volume() > 4.0);
    }

    #[test]
    fn nothing_gives_nothing() {
        assert!(solid(&TriMesh::default(), 0.1).positions.is_empty());
        let mut broken = icosphere(1.0, 0);
        broken.positions[0].x = f32::NAN;
        solid(&broken, 0.1);
        assert!(
            solid(&icosphere(1.0, 0), f32::INFINITY)
                .positions
                .is_empty()
        );
    }
}
