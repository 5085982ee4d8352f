//! Signed distances by pseudonormals (Bærentzen and Aanæs 2005, "Signed distance computation using the angle weighted
//! pseudonormal"): as cheap as the closest point, for clean closed surfaces. Overlapping or open ones need winding numbers
//! ([`Surface::signed_distance`]).

use glam::Vec3;

use crate::mesh::TriMesh;
use crate::normals::vertex_normals;
use crate::surface::{ClosestPoint, Surface};

/// A surface with vertex normals.
#[derive(Clone, Debug, Default)]
pub struct SidedSurface {
    surface: Surface,
    normals: Vec<Vec3>,
}

/// The closest point, and on which side of it a point is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sided {
    /// The closest point.
    pub closest: ClosestPoint,
    /// Unit normal there, interpolated between the vertices.
    pub normal: Vec3,
    /// Distance \[m\], negative behind the surface.
    pub signed: f32,
}

impl SidedSurface {
    /// Builds tree and normals.
    pub fn new(mesh: TriMesh) -> Self {
        SidedSurface {
            normals: vertex_normals(&mesh),
            surface: Surface::new(mesh),
        }
    }

    /// The surface.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Unit normals of the vertices.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Moves the vertices on the same triangles.
    ///
    /// # Panics
    /// If there are fewer positions than before.
    pub fn refit(&mut self, positions: Vec<Vec3>) {
        self.surface.refit(positions);
        self.normals = vertex_normals(self.surface.mesh());
    }

    /// The closest point no further than `reach` \[m\], and the side of it.
    pub fn near(&self, point: Vec3, reach: f32) -> Option<Sided> {
        let closest = self.surface.closest_point_within(point, reach)?;
        let mesh = self.surface.mesh();
        let corners = mesh.triangles[closest.triangle as usize];
        let normal = (0..3)
            .map(|k| closest.barycentric[k] * self.normals[corners[k] as usize])
            .sum::<Vec3>();
        // On the inside of a face its own normal decides; on edges and corners the average of those around.
        let on_face = closest.barycentric.iter().all(|w| *w > 1e-3);
        let facing = if on_face {
            mesh.triangle_normal(closest.triangle as usize)
        } else {
            normal
        };
        let is_behind = (point - closest.position).dot(facing) < 0.0;
        Some(Sided {
            closest,
            normal: normal.normalize_or(Vec3::Y),
            signed: if is_behind {
                -closest.distance
            } else {
                closest.distance
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::shapes;

    #[test]
    fn agrees_with_winding_numbers() {
        let surface = SidedSurface::new(shapes::t_shape(0.2, 0.6, 8));
        let mut random = Random::new(7);
        for _ in 0..500 {
            let point = random.in_cube(0.8);
            let near = surface.near(point, 10.0).unwrap();
            let expected = surface.surface().signed_distance(point).unwrap();
            if expected.abs() > 1e-4 {
                assert!(
                    (near.signed - expected).abs() < 1e-6,
                    "{point} {expected} {near:?}"
                );
            }
        }
        assert!(surface.near(5.0 * Vec3::ONE, 1.0).is_none());
    }
}
