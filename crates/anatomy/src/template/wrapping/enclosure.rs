//! How well a surface of the layers encloses points.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::{Surface, TriMesh};

/// How many points are inside, and how far the others are out.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Enclosure {
    /// Points that were looked at.
    pub points: usize,
    /// Share of them that is inside.
    pub inside: f64,
    /// How far the farthest is outside \[m\].
    pub farthest: f32,
}

/// Encloses points in a closed surface; only those count whose closest triangle has three layered corners (head, hands and toes
/// are excepted).
pub fn enclosure(surface: &TriMesh, layered: &[bool], points: &[Vec3]) -> Enclosure {
    let surface = Surface::new(surface.clone());
    let signed: Vec<f32> = (points.par_iter())
        .filter_map(|point| {
            let near = surface.closest_point(*point)?;
            let corners = surface.mesh().triangles[near.triangle as usize];
            let counts = corners.iter().all(|&v| layered[v as usize]);
            let is_inside = surface.contains(*point);
            counts.then_some(if is_inside {
                -near.distance
            } else {
                near.distance
            })
        })
        .collect();
    let outside = signed.iter().filter(|d| **d > 0.0).count();
    Enclosure {
        points: signed.len(),
        inside: 1.0 - outside as f64 / signed.len().max(1) as f64,
        farthest: signed.iter().fold(0.0, |far, d| far.max(*d)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::icosphere;

    #[test]
    fn points_below_what_is_not_layered_do_not_count() {
        let ball = icosphere(0.1, 3);
        let layered: Vec<bool> = ball.positions.iter().map(|p| p.y < 0.05).collect();
        let points = [
            0.09 * Vec3::X,
            0.12 * Vec3::Z,
            0.2 * Vec3::Y,
            -0.05 * Vec3::Y,
        ];
        let found = enclosure(&ball, &layered, &points);
        assert_eq!(found.points, 3);
        assert!((found.inside - 2.0 / 3.0).abs() < 1e-9 && (found.farthest - 0.02).abs() < 1e-3);
    }
}
