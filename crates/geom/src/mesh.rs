//! The indexed triangle mesh.

use glam::{Affine3A, DVec3, Vec3};
use thiserror::Error;

use crate::aabb::Aabb;

/// Triangles over shared vertices. Plain data: indices may be out of range until [`TriMesh::check`] has passed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions \[m\].
    pub positions: Vec<Vec3>,
    /// Corner indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Why a mesh is unusable.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MeshError {
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} refers to vertex {vertex}, but there are only {count} vertices")]
    IndexOutOfRange {
        /// Which triangle.
        triangle: usize,
        /// The missing vertex.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A vertex position is infinite or not a number.
    #[error("vertex {vertex} has the position {position}, which is not finite")]
    NonFinite {
        /// Which vertex.
        vertex: usize,
        /// Its position.
        position: Vec3,
    },
    /// More elements than 32-bit indices can count.
    #[error("{vertices} vertices and {triangles} triangles are more than 32-bit indices can hold")]
    TooLarge {
        /// Vertex count.
        vertices: usize,
        /// Triangle count.
        triangles: usize,
    },
}

/// A part of a mesh, with the original indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubMesh {
    /// The part, with compact indices.
    pub mesh: TriMesh,
    /// For each vertex of the part, its index in the whole.
    pub whole_vertex: Vec<u32>,
    /// For each triangle of the part, its index in the whole.
    pub whole_triangle: Vec<u32>,
}

impl TriMesh {
    /// Checks that indices are in range, positions are finite, and counts fit 32-bit tables.
    pub fn check(&self) -> Result<(), MeshError> {
        let (vertices, triangles) = (self.positions.len(), self.triangles.len());
        // Adjacency stores three entries per triangle, and u32::MAX means "none".
        if vertices >= u32::MAX as usize || triangles >= (u32::MAX / 3) as usize {
            return Err(MeshError::TooLarge {
                vertices,
                triangles,
            });
        }
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
                return Err(MeshError::IndexOutOfRange {
                    triangle,
                    vertex,
                    count: vertices,
                });
            }
        }
        match self.positions.iter().position(|p| !p.is_finite()) {
            Some(vertex) => Err(MeshError::NonFinite {
                vertex,
                position: self.positions[vertex],
            }),
            None => Ok(()),
        }
    }

    /// The box around all finite positions.
    pub fn bounds(&self) -> Aabb {
        Aabb::of_points(self.positions.iter().copied())
    }

    /// The three corner positions of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|v| self.positions[v as usize])
    }

    /// Twice the area times the unit normal of a triangle, in double precision.
    pub fn area_vector(&self, triangle: usize) -> DVec3 {
        area_vector(self.corners(triangle).map(|p| p.as_dvec3()))
    }

    /// Area of a triangle \[m²\].
    pub fn triangle_area(&self, triangle: usize) -> f64 {
        0.5 * self.area_vector(triangle).length()
    }

    /// Unit normal of a triangle; zero when it is degenerate.
    pub fn triangle_normal(&self, triangle: usize) -> Vec3 {
        self.area_vector(triangle).normalize_or_zero().as_vec3()
    }

    /// Sum of all triangle areas \[m²\].
    pub fn area(&self) -> f64 {
        (0..self.triangles.len())
            .map(|t| self.triangle_area(t))
            .sum()
    }

    /// Volume enclosed by a closed, outward oriented mesh \[m³\]; negative when it is inside out.
    ///
    /// Divergence theorem: the sum of tetrahedra spanned with one common point, here the middle of the bounds,
    /// which loses the least to cancellation.
    pub fn signed_volume(&self) -> f64 {
        let center = self.bounds().center().as_dvec3();
        let tetrahedron = |t| {
            let [a, b, c] = self.corners(t).map(|p| p.as_dvec3() - center);
            a.dot(b.cross(c)) / 6.0
        };
        (0..self.triangles.len()).map(tetrahedron).sum()
    }

    /// For each vertex a third of the area of its triangles \[m²\].
    pub fn vertex_areas(&self) -> Vec<f64> {
        let mut areas = vec![0.0; self.positions.len()];
        for (t, corners) in self.triangles.iter().enumerate() {
            let third = self.triangle_area(t) / 3.0;
            corners.iter().for_each(|&v| areas[v as usize] += third);
        }
        areas
    }

    /// Mean length of the triangles' sides \[m\], a side shared by two triangles counted twice; zero without triangles.
    pub fn mean_edge_length(&self) -> f64 {
        let mut sum = 0.0;
        for t in 0..self.triangles.len() {
            let [a, b, c] = self.corners(t).map(|p| p.as_dvec3());
            sum += a.distance(b) + b.distance(c) + c.distance(a);
        }
        sum / (3 * self.triangles.len()).max(1) as f64
    }

    /// Adds a copy of another mesh, as separate vertices and triangles.
    pub fn append(&mut self, other: &TriMesh) {
        let base = self.positions.len() as u32;
        self.positions.extend_from_slice(&other.positions);
        let shifted = other.triangles.iter().map(|t| t.map(|v| v + base));
        self.triangles.extend(shifted);
    }

    /// One mesh of several, in order.
    pub fn merged<'a>(meshes: impl IntoIterator<Item = &'a TriMesh>) -> TriMesh {
        let mut whole = TriMesh::default();
        meshes.into_iter().for_each(|mesh| whole.append(mesh));
        whole
    }

    /// Transforms every vertex; a reflection also flips the triangles, so that outside stays outside.
    pub fn transform(&mut self, transform: &Affine3A) {
        for p in &mut self.positions {
            *p = transform.transform_point3(*p);
        }
        if transform.matrix3.determinant() < 0.0 {
            self.flip();
        }
    }

    /// Flips every triangle.
    pub fn flip(&mut self) {
        self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }

    /// Whether a triangle repeats a vertex or has no area (or one that is not a number).
    pub fn is_degenerate(&self, triangle: usize) -> bool {
        let [a, b, c] = self.triangles[triangle];
        let area = self.triangle_area(triangle);
        a == b || b == c || c == a || area.is_nan() || area <= 0.0
    }

    /// Number of triangles that repeat a vertex or have no area.
    pub fn degenerate_count(&self) -> usize {
        let degenerate = |t: &usize| self.is_degenerate(*t);
        (0..self.triangles.len()).filter(degenerate).count()
    }

    /// Vertices that no triangle uses, in order.
    pub fn unreferenced(&self) -> Vec<u32> {
        let mut used = vec![false; self.positions.len()];
        self.triangles
            .iter()
            .flatten()
            .for_each(|&v| used[v as usize] = true);
        let unused = used.iter().enumerate().filter(|(_, used)| !**used);
        unused.map(|(v, _)| v as u32).collect()
    }

    /// The part made of the given triangles and the vertices they use, both in the order given.
    pub fn extract(&self, triangles: impl IntoIterator<Item = u32>) -> SubMesh {
        let mut part_vertex = std::collections::HashMap::new();
        let mut part = SubMesh::default();
        for t in triangles {
            let corners = self.triangles[t as usize].map(|v| {
                *part_vertex.entry(v).or_insert_with(|| {
                    part.mesh.positions.push(self.positions[v as usize]);
                    part.whole_vertex.push(v);
                    part.whole_vertex.len() as u32 - 1
                })
            });
            part.mesh.triangles.push(corners);
            part.whole_triangle.push(t);
        }
        part
    }
}

/// Twice the area times the unit normal of a triangle.
pub fn area_vector([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn check_names_the_element() {
        let mut mesh = shapes::cuboid(Vec3::ONE, 1);
        assert_eq!(mesh.check(), Ok(()));
        assert_eq!(TriMesh::default().check(), Ok(()));
        mesh.positions[3].y = f32::NAN;
        assert!(matches!(
            mesh.check(),
            Err(MeshError::NonFinite { vertex: 3, .. })
        ));
        mesh.triangles[5][1] = 8;
        let wrong = MeshError::IndexOutOfRange {
            triangle: 5,
            vertex: 8,
            count: 8,
        };
        assert_eq!(mesh.check(), Err(wrong));
    }

    #[test]
    fn box_measures() {
        let mut mesh = shapes::cuboid(Vec3::new(1.0, 2.0, 4.0), 3);
        assert!((mesh.area() - 28.0).abs() < 1e-5);
        assert!((mesh.signed_volume() - 8.0).abs() < 1e-5);
        assert!((mesh.vertex_areas().iter().sum::<f64>() - 28.0).abs() < 1e-5);
        assert_eq!(mesh.bounds().size(), Vec3::new(1.0, 2.0, 4.0));
        mesh.transform(&Affine3A::from_scale(Vec3::new(-2.0, 1.0, 1.0)));
        assert!((mesh.signed_volume() - 16.0).abs() < 1e-5);
        mesh.flip();
        assert!((mesh.signed_volume() + 16.0).abs() < 1e-5);
    }

    #[test]
    fn volume_survives_being_far_away() {
        let mut mesh = shapes::cuboid(Vec3::ONE, 1);
        mesh.transform(&Affine3A::from_translation(Vec3::splat(1024.0)));
        assert!((mesh.signed_volume() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn mean_edge_of_a_unit_right_triangle() {
        let mesh = TriMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            triangles: vec![[0, 1, 2]],
        };
        let expected = (2.0 + 2f64.sqrt()) / 3.0;
        assert!((mesh.mean_edge_length() - expected).abs() < 1e-12);
        assert_eq!(mesh.triangle_normal(0), Vec3::Z);
        assert_eq!(TriMesh::default().mean_edge_length(), 0.0);
    }

    #[test]
    fn degenerate_and_unreferenced_are_counted() {
        let mut mesh = shapes::cuboid(Vec3::ONE, 1);
        mesh.positions.push(Vec3::NAN);
        mesh.triangles.push([0, 0, 1]);
        mesh.positions.push(mesh.positions[0]);
        mesh.triangles.push([0, 9, 1]);
        assert_eq!(mesh.degenerate_count(), 2);
        assert_eq!(mesh.unreferenced(), [8]);
    }

    #[test]
    fn merging_and_extracting_are_inverse() {
        let (a, b) = (shapes::cuboid(Vec3::ONE, 1), shapes::icosphere(1.0, 1));
        let whole = TriMesh::merged([&a, &b]);
        assert_eq!(whole.check(), Ok(()));
        let first = a.triangles.len() as u32;
        let part = whole.extract(first..whole.triangles.len() as u32);
        assert!((part.mesh.signed_volume() - b.signed_volume()).abs() < 1e-12);
        assert_eq!(part.mesh.positions.len(), b.positions.len());
        assert_eq!(
            whole.positions[part.whole_vertex[7] as usize],
            part.mesh.positions[7]
        );
    }
}
