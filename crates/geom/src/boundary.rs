//! Boundary loops: the rims of holes and open ends.

use crate::adjacency::{Adjacency, NONE};
use crate::chains;
use crate::mesh::TriMesh;

/// A run of boundary vertices in the direction of their triangles: the surface lies to the left, seen from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryLoop {
    /// Vertices in order; no vertex twice in a closed loop.
    pub vertices: Vec<u32>,
    /// Whether the last vertex is joined to the first. Open runs occur only where the mesh is not manifold or
    /// neighbouring triangles disagree on the outside.
    pub closed: bool,
}

/// All boundary loops: every edge with exactly one triangle is in one of them. Loops that touch at a vertex come
/// apart into simple loops.
pub fn boundary_loops(mesh: &TriMesh, adjacency: &Adjacency) -> Vec<BoundaryLoop> {
    let edges = directed_boundary(mesh, adjacency);
    let chains = chains::join(&edges, mesh.positions.len());
    let as_loop = |chain: chains::Chain| BoundaryLoop {
        vertices: chain.nodes,
        closed: chain.closed,
    };
    chains.into_iter().map(as_loop).collect()
}

/// Boundary edges in the direction of their triangle.
fn directed_boundary(mesh: &TriMesh, adjacency: &Adjacency) -> Vec<[u32; 2]> {
    let mut boundary = Vec::new();
    for (corners, edges) in mesh.triangles.iter().zip(&adjacency.triangle_edges) {
        for k in (0..3).filter(|&k| edges[k] != NONE) {
            if adjacency.edge_triangles.row(edges[k] as usize).len() == 1 {
                boundary.push([corners[k], corners[(k + 1) % 3]]);
            }
        }
    }
    boundary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;
    use glam::{Vec2, Vec3};

    fn loops(mesh: &TriMesh) -> Vec<BoundaryLoop> {
        boundary_loops(mesh, &Adjacency::new(mesh))
    }

    #[test]
    fn open_tube_has_two_loops_and_closed_shapes_none() {
        let found = loops(&shapes::tube(0.1, 1.0, 16, 5));
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|l| l.closed && l.vertices.len() == 16));
        assert!(loops(&shapes::capsule(0.1, 1.0, 12, 4)).is_empty());
        assert!(loops(&TriMesh::default()).is_empty());
    }

    #[test]
    fn grid_rim_is_counter_clockwise_and_simple() {
        let mesh = shapes::plane_grid(Vec2::new(2.0, 1.0), 4, 3);
        let found = loops(&mesh);
        assert_eq!(found.len(), 1);
        let rim: Vec<Vec3> = found[0]
            .vertices
            .iter()
            .map(|&v| mesh.positions[v as usize])
            .collect();
        assert_eq!(rim.len(), 14);
        let next = rim.iter().cycle().skip(1);
        let area: f32 = rim.iter().zip(next).map(|(a, b)| 0.5 * a.cross(*b).y).sum();
        assert!((area - 2.0).abs() < 1e-5);
    }

    #[test]
    fn bow_tie_gives_two_loops() {
        let mesh = TriMesh {
            positions: vec![Vec3::ZERO; 5],
            triangles: vec![[0, 1, 2], [0, 3, 4]],
        };
        let found = loops(&mesh);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|l| l.closed && l.vertices.len() == 3));
    }

    #[test]
    fn fin_and_flipped_triangle_lose_no_edge() {
        let mesh = TriMesh {
            positions: vec![Vec3::ZERO; 6],
            triangles: vec![[0, 1, 2], [1, 0, 3], [0, 1, 4], [1, 2, 5]],
        };
        let adjacency = Adjacency::new(&mesh);
        let used = |l: &BoundaryLoop| l.vertices.len() - usize::from(!l.closed);
        let total: usize = boundary_loops(&mesh, &adjacency).iter().map(used).sum();
        assert_eq!(total, adjacency.boundary_edges().count());
    }
}
