//! The skin that can be seen from outside.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::Surface;
use supple_geom::surface::Ray;

use crate::Body;

/// Directions that are looked into from each triangle.
const DIRECTIONS: usize = 96;
/// Directions that must be free: fewer let the inside of a mouth see out through the lips, more take armpits for insides.
const FREE: usize = 3;

/// Radius within which skin around an eye is its socket \[m\]: the eyeball, and the fold of the lids.
const EYE_RADIUS: f32 = 0.0175;

impl Body {
    /// The skin without what lies inside the body: the mouth and nose are part of the skin's shell, so that jaws and teeth
    /// would be outside of it. Triangles from which hardly any straight line leaves the body are left out. Not closed;
    /// winding numbers decide what is inside.
    pub fn outer_surface(&self) -> Surface {
        let whole = self.surface();
        let reach = 2.0 * self.mesh.bounds().diagonal();
        let directions = sphere_directions();
        // Eyes are shells of their own: their sockets are open, and belong to the inside.
        let eyes: Vec<Vec3> = ["eye.L", "eye.R"]
            .iter()
            .filter_map(|name| self.joint(name).ok())
            .collect();
        let outer: Vec<bool> = (0..self.mesh.triangles.len())
            .into_par_iter()
            .map(|triangle| {
                let normal = self.mesh.triangle_normal(triangle);
                let corners = self.mesh.corners(triangle);
                let in_socket = |eye: &Vec3| {
                    corners
                        .iter()
                        .all(|corner| corner.distance(*eye) < EYE_RADIUS)
                };
                if eyes.iter().any(in_socket) {
                    return false;
                }
                let origin = (corners[0] + corners[1] + corners[2]) / 3.0 + 1e-4 * normal;
                let free = (directions.iter())
                    .map(|&d| if d.dot(normal) < 0.0 { -d } else { d })
                    .filter(|&direction| !whole.any_hit(Ray { origin, direction }, reach));
                free.take(FREE).count() == FREE
            })
            .collect();
        let kept = (0..outer.len() as u32).filter(|&t| outer[t as usize]);
        Surface::new(self.mesh.extract(kept).mesh)
    }
}

/// Directions spread evenly over the sphere (Fibonacci lattice), in an order that covers it soon.
fn sphere_directions() -> Vec<Vec3> {
    let golden = std::f32::consts::PI * (3.0 - 5.0_f32.sqrt());
    (0..DIRECTIONS)
        .map(|k| (k * 37) % DIRECTIONS)
        .map(|k| {
            let y = 1.0 - 2.0 * (k as f32 + 0.5) / DIRECTIONS as f32;
            let r = (1.0 - y * y).sqrt();
            let (sin, cos) = (golden * k as f32).sin_cos();
            Vec3::new(r * cos, y, r * sin)
        })
        .collect()
}
