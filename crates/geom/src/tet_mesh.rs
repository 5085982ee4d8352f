//! Tetrahedral meshes as plain data, with checks and measures.

use glam::{DVec3, Vec3};

use thiserror::Error;

use crate::mesh::TriMesh;

/// Vertices and tets. Plain data: indices may be out of range until [`TetMesh::check`] has passed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Positions \[m\].
    pub positions: Vec<Vec3>,
    /// Corners. A tet has a positive volume if its first three corners are counter-clockwise seen from corner 3.
    pub tets: Vec<[u32; 4]>,
    /// Groups of tets that form a prism or cube; empty if there are none.
    pub cells: Vec<Vec<u32>>,
}

/// Why a tet mesh is unusable.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum TetMeshError {
    /// A tet refers to a vertex that does not exist.
    #[error("tet {tet} refers to vertex {vertex}, but there are only {count} vertices")]
    IndexOutOfRange {
        /// Which tet.
        tet: usize,
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
}

impl TetMesh {
    /// Checks that indices are in range and positions finite.
    pub fn check(&self) -> Result<(), TetMeshError> {
        let count = self.positions.len();
        for (tet, corners) in self.tets.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= count) {
                return Err(TetMeshError::IndexOutOfRange { tet, vertex, count });
            }
        }
        match self.positions.iter().position(|p| !p.is_finite()) {
            Some(vertex) => Err(TetMeshError::NonFinite {
                vertex,
                position: self.positions[vertex],
            }),
            None => Ok(()),
        }
    }

    /// Positions of a tet's corners.
    pub fn corners(&self, tet: usize) -> [DVec3; 4] {
        self.tets[tet].map(|v| self.positions[v as usize].as_dvec3())
    }

    /// Signed volume of each tet \[m³\].
    pub fn volumes(&self) -> Vec<f64> {
        let volume = |t| determinant(self.corners(t)) / 6.0;
        (0..self.tets.len()).map(volume).collect()
    }

    /// Tets that are inverted or flat: those whose smallest altitude is at most `slenderness` times their longest edge,
    /// or is not finite.
    pub fn unsound(&self, slenderness: f64) -> Vec<u32> {
        let is_sound = |t: usize| {
            let corners = self.corners(t);
            altitude(corners) > slenderness * longest_edge(corners)
        };
        let tets = 0..self.tets.len();
        tets.filter(|&t| !is_sound(t)).map(|t| t as u32).collect()
    }

    /// The faces that belong to one tet only, counter-clockwise seen from outside of tets with positive volume, over the
    /// same vertices.
    pub fn boundary(&self) -> TriMesh {
        let mut faces: Vec<([u32; 3], [u32; 3])> = (self.tets.iter())
            .flat_map(|&[a, b, c, d]| [[b, c, d], [a, d, c], [a, b, d], [a, c, b]])
            .map(|face| {
                let mut sorted = face;
                sorted.sort_unstable();
                (sorted, face)
            })
            .collect();
        // A stable sort keeps equal faces in the order of their tets.
        faces.sort_by_key(|&(sorted, _)| sorted);
        let single = faces.chunk_by(|a, b| a.0 == b.0).filter(|g| g.len() == 1);
        TriMesh {
            positions: self.positions.clone(),
            triangles: single.map(|group| group[0].1).collect(),
        }
    }
}

/// Six times the signed volume.
pub fn determinant([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a))
}

/// Smallest altitude of a tet: negative if inverted, near zero if flat.
pub fn altitude(corners: [DVec3; 4]) -> f64 {
    let [a, b, c, d] = corners;
    let double_area = |p: DVec3, q: DVec3, r: DVec3| (q - p).cross(r - p).length_squared();
    let largest = double_area(a, b, c)
        .max(double_area(a, b, d))
        .max(double_area(a, c, d))
        .max(double_area(b, c, d))
        .sqrt();
    if largest > 0.0 {
        determinant(corners) / largest
    } else {
        0.0
    }
}

/// Longest edge of a tet.
pub fn longest_edge(corners: [DVec3; 4]) -> f64 {
    let mut longest = 0.0_f64;
    for i in 0..4 {
        for j in 0..i {
            longest = longest.max(corners[i].distance_squared(corners[j]));
        }
    }
    longest.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tets on one face, the second inverted if asked for.
    fn pair(turned: bool) -> TetMesh {
        TetMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE],
            tets: vec![
                [0, 1, 2, 3],
                if turned { [1, 3, 2, 4] } else { [1, 2, 3, 4] },
            ],
            cells: Vec::new(),
        }
    }

    #[test]
    fn volumes_are_signed() {
        // The corner of a cube is a sixth of it, and the regular tet in its middle a third.
        let near = |found: Vec<f64>, expected: [f64; 2]| {
            (found.iter().zip(expected)).all(|(a, b)| (a - b).abs() < 1e-15)
        };
        assert!(near(pair(false).volumes(), [1.0 / 6.0, 1.0 / 3.0]));
        assert!(near(pair(true).volumes(), [1.0 / 6.0, -1.0 / 3.0]));
    }

    #[test]
    fn inverted_flat_and_broken_tets_are_unsound() {
        assert!(pair(false).unsound(0.0).is_empty());
        assert_eq!(pair(true).unsound(0.0), [1]);
        let mut mesh = pair(false);
        mesh.positions[4] = Vec3::new(0.3, 0.3, 0.4 + 1e-3);
        assert!(mesh.unsound(0.0).is_empty());
        assert_eq!(mesh.unsound(0.05), [1]);
        mesh.positions[4] = Vec3::NAN;
        assert_eq!(mesh.unsound(0.0), [1]);
        mesh.positions[4] = Vec3::X;
        assert_eq!(mesh.unsound(0.0), [1]);
    }

    #[test]
    fn the_boundary_encloses_the_volume() {
        let mesh = pair(false);
        let boundary = mesh.boundary();
        assert_eq!(boundary.triangles.len(), 6);
        let volume: f64 = mesh.volumes().iter().sum();
        assert!((boundary.signed_volume() - volume).abs() < 1e-7);
        assert!(TetMesh::default().boundary().triangles.is_empty());
    }

    #[test]
    fn indices_are_checked() {
        let mut mesh = pair(false);
        assert!(mesh.check().is_ok());
        mesh.positions[2] = Vec3::NAN;
        assert!(matches!(
            mesh.check(),
            Err(TetMeshError::NonFinite { vertex: 2, .. })
        ));
        mesh.tets.push([0, 1, 2, 5]);
        let outside = TetMeshError::IndexOutOfRange {
            tet: 2,
            vertex: 5,
            count: 5,
        };
        assert_eq!(mesh.check(), Err(outside));
    }
}
