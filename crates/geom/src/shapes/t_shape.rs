//! Three rounded tubes joined in a T.

use glam::DVec3;

use crate::aabb::Aabb;
use crate::mesh::TriMesh;
use crate::surface_nets::{project_onto, surface_nets};

/// A smooth, closed T: arms along −X, +X and −Y, each with its axis running `arm_length` \[m\] from the origin to the
/// centre of its round end. `cells_across` quads span a tube's diameter (at least 4).
///
/// The level set of a smooth union of three capsules, so the crotch is blended over half a radius instead of creased.
pub fn t_shape(radius: f32, arm_length: f32, cells_across: u32) -> TriMesh {
    let cell = 2.0 * radius / cells_across.max(4) as f32;
    let ends = [DVec3::NEG_X, DVec3::X, DVec3::NEG_Y].map(|d| d * f64::from(arm_length));
    let value = |p: DVec3| smooth_union(p, ends, f64::from(radius));
    let axes = Aabb::of_points(ends.iter().map(|e| e.as_vec3()));
    // The blend swells the surface by at most an eighth of its width twice; a quarter radius covers it.
    let bounds = Aabb {
        min: axes.min - 1.25 * radius,
        max: axes.max + 1.25 * radius,
    };
    let mut mesh = surface_nets(bounds, cell, value);
    project_onto(&mut mesh, value);
    mesh
}

fn smooth_union(p: DVec3, ends: [DVec3; 3], radius: f64) -> f64 {
    let [a, b, c] = ends.map(|end| distance_to_axis(p, end) - radius);
    smooth_min(smooth_min(a, b, 0.5 * radius), c, 0.5 * radius)
}

/// Quadratic smooth minimum: at most `width / 4` below the smaller, equal to it where they differ by `width`.
fn smooth_min(a: f64, b: f64, width: f64) -> f64 {
    let h = (1.0 - (a - b).abs() / width).max(0.0);
    a.min(b) - 0.25 * h * h * width
}

fn distance_to_axis(p: DVec3, end: DVec3) -> f64 {
    let along = (p.dot(end) / end.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    p.distance(along * end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Adjacency;

    #[test]
    fn is_closed_without_handles_and_encloses_its_level_set() {
        let (radius, length) = (0.1, 0.5);
        let mesh = t_shape(radius, length, 12);
        let adjacency = Adjacency::new(&mesh);
        assert!(adjacency.is_closed_and_oriented(&mesh));
        assert_eq!(adjacency.euler_characteristic(), 2);
        assert_eq!(crate::shells::shells(&mesh).count, 1);

        // Volume of the level set by counting a fine lattice.
        let ends = [DVec3::NEG_X, DVec3::X, DVec3::NEG_Y].map(|d| d * 0.5);
        let step = 0.01;
        let count = |x: i32, y: i32, z: i32| {
            let p = step * (DVec3::new(x.into(), y.into(), z.into()) + 0.5);
            usize::from(smooth_union(p, ends, 0.1) < 0.0)
        };
        let lattice = (-70..70).flat_map(|x| (-70..20).map(move |y| (x, y)));
        let inside: usize = lattice
            .map(|(x, y)| (-15..15).map(|z| count(x, y, z)).sum::<usize>())
            .sum();
        let volume = inside as f64 * step.powi(3);
        assert!((mesh.signed_volume() / volume - 1.0).abs() < 0.02);
    }

    #[test]
    fn vertices_lie_on_the_level_set() {
        let mesh = t_shape(0.1, 0.5, 8);
        let ends = [DVec3::NEG_X, DVec3::X, DVec3::NEG_Y].map(|d| d * 0.5);
        let off = |p: &glam::Vec3| smooth_union(p.as_dvec3(), ends, f64::from(0.1f32)).abs();
        assert!(mesh.positions.iter().map(off).fold(0.0, f64::max) < 1e-4);
    }
}
