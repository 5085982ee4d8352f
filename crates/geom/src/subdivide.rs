//! Subdivision of every triangle into four: by midpoints, or smooth (Loop 1987).

use std::ops::{Add, Mul};

use glam::Vec3;

use crate::adjacency::{Adjacency, NONE};
use crate::mesh::TriMesh;

/// New vertices as weighted sums of old ones: interpolates any attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stencils {
    /// Start of each new vertex's entries, and the end of the last.
    pub offsets: Vec<u32>,
    /// Old vertex and weight; the weights of one new vertex sum to 1.
    pub entries: Vec<(u32, f32)>,
}

/// A finer mesh: the old vertices first, in order, then one vertex for each edge. Triangle `t` became triangles
/// `4t … 4t + 3`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subdivided {
    /// The finer mesh.
    pub mesh: TriMesh,
    /// Weights of new vertices.
    pub stencils: Stencils,
}

impl Stencils {
    fn push(&mut self, entries: impl IntoIterator<Item = (u32, f32)>) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.entries.extend(entries);
        self.offsets.push(self.entries.len() as u32);
    }

    /// The entries of one new vertex.
    pub fn row(&self, vertex: usize) -> &[(u32, f32)] {
        &self.entries[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }

    /// Number of new vertices.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no new vertex.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Interpolates one value for each old vertex to one for each new vertex.
    pub fn apply<T>(&self, old: &[T]) -> Vec<T>
    where
        T: Copy + Default + Add<Output = T> + Mul<f32, Output = T>,
    {
        let sum = |row: &[(u32, f32)]| {
            row.iter()
                .fold(T::default(), |sum, &(v, w)| sum + old[v as usize] * w)
        };
        (0..self.len()).map(|v| sum(self.row(v))).collect()
    }
}

/// Splits every triangle into four at the midpoints of its edges; the shape does not change.
pub fn midpoint(mesh: &TriMesh) -> Subdivided {
    let adjacency = Adjacency::new(mesh);
    let mut stencils = Stencils::default();
    (0..mesh.positions.len() as u32).for_each(|v| stencils.push([(v, 1.0)]));
    adjacency
        .edges
        .iter()
        .for_each(|&[a, b]| stencils.push([(a, 0.5), (b, 0.5)]));
    refined(mesh, &adjacency, stencils)
}

/// Loop subdivision with Warren's weights (Warren and Weimer 2001); boundaries and non-manifold edges are creases that
/// follow the cubic B-spline, and vertices where creases end or cross stay where they are.
pub fn loop_smooth(mesh: &TriMesh) -> Subdivided {
    let adjacency = Adjacency::new(mesh);
    let creases = crease_neighbours(&adjacency, mesh.positions.len());
    let mut stencils = Stencils::default();
    for (v, crease) in creases.into_iter().enumerate() {
        let neighbours = adjacency.vertex_vertices.row(v);
        match crease {
            Crease::None if !neighbours.is_empty() => {
                stencils.push(smooth_vertex(v as u32, neighbours))
            }
            Crease::Through(a, b) => stencils.push([(v as u32, 0.75), (a, 0.125), (b, 0.125)]),
            _ => stencils.push([(v as u32, 1.0)]),
        }
    }
    for (e, &[a, b]) in adjacency.edges.iter().enumerate() {
        match *adjacency.edge_triangles.row(e) {
            [s, t] => {
                let opposite = [s, t].map(|t| opposite(mesh.triangles[t as usize], [a, b]));
                stencils.push([
                    (a, 0.375),
                    (b, 0.375),
                    (opposite[0], 0.125),
                    (opposite[1], 0.125),
                ]);
            }
            _ => stencils.push([(a, 0.5), (b, 0.5)]),
        }
    }
    refined(mesh, &adjacency, stencils)
}

/// Role of a vertex on crease edges.
#[derive(Clone, Copy, PartialEq)]
enum Crease {
    None,
    Ends(u32),
    Through(u32, u32),
    Corner,
}

fn crease_neighbours(adjacency: &Adjacency, vertices: usize) -> Vec<Crease> {
    let mut creases = vec![Crease::None; vertices];
    for (&[a, b], triangles) in adjacency.edges.iter().zip(adjacency.edge_triangles.iter()) {
        if triangles.len() == 2 {
            continue;
        }
        for (v, other) in [(a, b), (b, a)] {
            creases[v as usize] = match creases[v as usize] {
                Crease::None => Crease::Ends(other),
                Crease::Ends(first) => Crease::Through(first, other),
                _ => Crease::Corner,
            };
        }
    }
    creases
}

fn smooth_vertex(v: u32, neighbours: &[u32]) -> impl Iterator<Item = (u32, f32)> {
    let n = neighbours.len() as f32;
    let beta = if neighbours.len() == 3 {
        3.0 / 16.0
    } else {
        3.0 / (8.0 * n)
    };
    let ring = neighbours.iter().map(move |&w| (w, beta));
    std::iter::once((v, 1.0 - n * beta)).chain(ring)
}

fn opposite(triangle: [u32; 3], [a, b]: [u32; 2]) -> u32 {
    triangle
        .into_iter()
        .find(|&v| v != a && v != b)
        .unwrap_or(a)
}

fn refined(mesh: &TriMesh, adjacency: &Adjacency, stencils: Stencils) -> Subdivided {
    let first = mesh.positions.len() as u32;
    let mut triangles = Vec::with_capacity(4 * mesh.triangles.len());
    for (&[a, b, c], &edges) in mesh.triangles.iter().zip(&adjacency.triangle_edges) {
        if edges[0] == NONE {
            // A triangle that repeats a vertex has no edges to split; four copies keep the numbering.
            triangles.extend([[a, b, c]; 4]);
            continue;
        }
        let [ab, bc, ca] = edges.map(|e| first + e);
        triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    let positions = sum_positions(&stencils, &mesh.positions);
    Subdivided {
        mesh: TriMesh {
            positions,
            triangles,
        },
        stencils,
    }
}

/// Like [`Stencils::apply`], summed in double precision.
fn sum_positions(stencils: &Stencils, old: &[Vec3]) -> Vec<Vec3> {
    let weighted = |&(v, w): &(u32, f32)| old[v as usize].as_dvec3() * f64::from(w);
    let sum = |v| {
        stencils
            .row(v)
            .iter()
            .map(weighted)
            .sum::<glam::DVec3>()
            .as_vec3()
    };
    (0..stencils.len()).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;
    use glam::Vec2;

    #[test]
    fn midpoints_keep_area_and_volume() {
        let mesh = shapes::cuboid(Vec3::new(1.0, 2.0, 3.0), 1);
        let fine = midpoint(&mesh);
        assert_eq!(fine.mesh.triangles.len(), 4 * mesh.triangles.len());
        assert!((fine.mesh.area() - mesh.area()).abs() < 1e-5);
        assert!((fine.mesh.signed_volume() - 6.0).abs() < 1e-5);
        assert!(Adjacency::new(&fine.mesh).is_closed_and_oriented(&fine.mesh));
    }

    #[test]
    fn stencils_sum_to_one_and_carry_attributes() {
        for subdivided in [
            midpoint(&shapes::tube(1.0, 2.0, 6, 2)),
            loop_smooth(&shapes::tube(1.0, 2.0, 6, 2)),
        ] {
            let old = shapes::tube(1.0, 2.0, 6, 2);
            let ones = subdivided
                .stencils
                .apply(&vec![1.0f32; old.positions.len()]);
            assert!(ones.iter().all(|one| (one - 1.0).abs() < 1e-6));
            let carried = subdivided.stencils.apply(&old.positions);
            let new = &subdivided.mesh.positions;
            assert!(carried.iter().zip(new).all(|(a, b)| a.distance(*b) < 1e-6));
        }
    }

    #[test]
    fn loop_keeps_planes_flat_and_straight_rims_straight() {
        let mesh = shapes::plane_grid(Vec2::ONE, 4, 4);
        let fine = loop_smooth(&mesh).mesh;
        assert!(
            fine.positions
                .iter()
                .all(|p| p.y == 0.0 && p.x.abs() <= 0.5 && p.z.abs() <= 0.5)
        );
        assert!(fine.positions.iter().filter(|p| p.z == 0.5).count() >= 7);
    }

    #[test]
    fn loop_rounds_a_box_and_stays_closed() {
        let mut mesh = shapes::cuboid(Vec3::ONE, 1);
        for _ in 0..3 {
            mesh = loop_smooth(&mesh).mesh;
        }
        assert!(Adjacency::new(&mesh).is_closed_and_oriented(&mesh));
        assert!(mesh.signed_volume() > 0.2 && mesh.signed_volume() < 0.7);
    }

    #[test]
    fn odd_meshes_survive() {
        let mesh = TriMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, -Vec3::Y, Vec3::NAN],
            triangles: vec![[0, 1, 2], [1, 0, 3], [0, 1, 4], [2, 2, 0]],
        };
        for fine in [midpoint(&mesh), loop_smooth(&mesh)] {
            assert_eq!(fine.mesh.triangles.len(), 16);
            assert!(fine.mesh.positions[..5].iter().all(|p| p.is_finite()));
        }
        assert!(midpoint(&TriMesh::default()).mesh.positions.is_empty());
    }
}
