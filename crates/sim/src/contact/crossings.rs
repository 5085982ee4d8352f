//! Whether a skin point is really inside another part.
//!
//! Prisms lean over where limbs bend, and points can be in one without being below skin. A ray from the point, away from its own
//! flesh, tells: it leaves the skin once more than it enters it where the point is inside.

use glam::Vec3A;

use super::detect::Detector;
use super::surface::ContactSurface;

impl Detector {
    /// How often the ray from a skin point along its normal leaves the skin, less how often it enters; triangles at the point
    /// do not count.
    pub(super) fn crossings(&self, surface: &ContactSurface, point: u32) -> i32 {
        let (from, along) = (self.skin[point as usize], self.normals[point as usize]);
        let inverse = along.recip();
        let mut count = 0;
        surface.tree.walk(
            &self.bounds,
            |bounds| {
                let (a, b) = (
                    (bounds.low - from) * inverse,
                    (bounds.high - from) * inverse,
                );
                let (near, far) = (a.min(b), a.max(b));
                far.min_element() >= near.max_element().max(0.0)
            },
            |_, triangles| {
                for &t in triangles {
                    let corners = surface.triangles()[t as usize];
                    if !corners.contains(&point) {
                        count += crossing(corners.map(|v| self.skin[v as usize] - from), along);
                    }
                }
            },
        );
        count
    }
}

/// 1 where a ray from the origin leaves through a triangle, −1 where it enters, 0 where it misses.
fn crossing([a, b, c]: [Vec3A; 3], along: Vec3A) -> i32 {
    let volumes = [
        along.dot(a.cross(b)),
        along.dot(b.cross(c)),
        along.dot(c.cross(a)),
    ];
    let is_leaving = volumes.iter().all(|&v| v > 0.0);
    let is_entering = volumes.iter().all(|&v| v <= 0.0);
    let normal = (b - a).cross(c - a);
    // The plane is met ahead where both have the same sign.
    let is_ahead = normal.dot(a) * normal.dot(along) > 0.0;
    match (is_leaving && is_ahead, is_entering && is_ahead) {
        (true, _) => 1,
        (_, true) => -1,
        _ => 0,
    }
}
