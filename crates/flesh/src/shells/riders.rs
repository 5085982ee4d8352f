//! Vertices that are not simulated but ride on the nearest flesh: clothes.
//!
//! A vertex with weights of its own moves by linear blend, and is shifted like the flesh below it is shifted from its own linear blend. Where
//! the tissue follows the weights, the cloth therefore does, too, and no vertex is dragged along by flesh that merely
//! happens to be near. A vertex without weights rides on the nearest triangle.

use glam::{Quat, Vec3};
use supple_geom::Surface;

/// A vertex bound to the flesh.
#[derive(Clone, Copy, Debug)]
pub struct Rider {
    /// Nearest flesh triangle.
    pub triangle: u32,
    /// Barycentric coordinates of the nearest point.
    pub weights: [f32; 3],
    /// From the nearest point to the vertex at rest \[m\].
    pub offset: Vec3,
    /// How much of the flesh's shift it takes, from 0 to 1: less far from the flesh, and where the weights differ.
    pub grip: f32,
    /// Whether it has weights of its own.
    pub has_weights: bool,
}

/// Distance up to which the grip is 1, relative to the character's size.
const FULL_GRIP_DISTANCE: f32 = 0.02;
/// Distance from which it is 0.
const NO_GRIP_DISTANCE: f32 = 0.08;
/// Common share of the weights of vertex and flesh from which the grip is 1. A sleeve that lies beside the hip shares
/// nothing with it.
const FULL_GRIP_SHARE: f64 = 0.5;

/// Binds a point to the flesh. `size` is the character's size \[m\].
pub fn bind_rider(flesh: &Surface, point: Vec3, size: f32) -> Option<Rider> {
    let nearest = flesh.closest_point(point)?;
    let t = ((nearest.distance / size - FULL_GRIP_DISTANCE)
        / (NO_GRIP_DISTANCE - FULL_GRIP_DISTANCE))
        .clamp(0.0, 1.0);
    Some(Rider {
        triangle: nearest.triangle,
        weights: nearest.barycentric,
        offset: point - nearest.position,
        grip: 1.0 - t * t * (3.0 - 2.0 * t),
        has_weights: false,
    })
}

impl Rider {
    /// Gives it weights of its own: joints and weights of the vertex and of the corners of its triangle.
    pub fn with_weights(mut self, own: &[(usize, f64)], corners: [&[(usize, f64)]; 3]) -> Self {
        let below = |joint: usize| -> f64 {
            let of_corner = |(corner, share): (&&[(usize, f64)], f32)| -> f64 {
                let found = corner.iter().filter(|(j, _)| *j == joint);
                f64::from(share) * found.map(|(_, weight)| weight).sum::<f64>()
            };
            corners.iter().zip(self.weights).map(of_corner).sum()
        };
        let common: f64 = own.iter().map(|&(joint, w)| w.min(below(joint))).sum();
        self.grip *= (common / FULL_GRIP_SHARE).min(1.0) as f32;
        self.has_weights = true;
        self
    }

    /// The point of the flesh that it rides on, given the positions of the flesh's vertices.
    pub fn support(&self, triangle: [u32; 3], now: impl Fn(u32) -> Vec3) -> Vec3 {
        let corners = triangle.iter().zip(&self.weights);
        corners.map(|(&v, &weight)| now(v) * weight).sum()
    }

    /// Its position without weights of its own, given the positions and rotations of the flesh's vertices.
    pub fn carried(&self, triangle: [u32; 3], now: &[Vec3], turns: &[Quat]) -> Vec3 {
        self.support(triangle, |v| now[v as usize]) + self.turn(triangle, turns) * self.offset
    }

    /// How far it is turned, given the flesh's turns.
    pub fn turn(&self, triangle: [u32; 3], turns: &[Quat]) -> Quat {
        let mut turn = glam::Vec4::ZERO;
        for (&v, &weight) in triangle.iter().zip(&self.weights) {
            let q = glam::Vec4::from(turns[v as usize]);
            let sign = if turn.dot(q) < 0.0 { -1.0 } else { 1.0 };
            turn += q * (sign * weight);
        }
        turn.try_normalize().map_or(Quat::IDENTITY, Quat::from_vec4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::TriMesh;
    use supple_geom::turns::vertex_turns;

    fn bind_riders(flesh: &TriMesh, points: &[Vec3], size: f32) -> Vec<Option<Rider>> {
        let surface = Surface::new(flesh.clone());
        let bound = points.iter();
        bound
            .map(|&point| bind_rider(&surface, point, size))
            .collect()
    }

    #[test]
    fn riders_follow_a_rigid_motion() {
        let flesh = TriMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.2)],
            triangles: vec![[0, 1, 2], [1, 3, 2]],
        };
        let points = [Vec3::new(0.3, 0.2, 0.01), Vec3::new(0.8, 0.9, 0.3)];
        let riders = bind_riders(&flesh, &points, 10.0);
        let motion = |p: Vec3| Quat::from_rotation_y(2.0) * p + Vec3::new(3.0, 0.0, 1.0);
        let now: Vec<Vec3> = flesh.positions.iter().map(|&p| motion(p)).collect();
        let turns = vertex_turns(&flesh, &now);
        for (rider, &point) in riders.iter().zip(&points) {
            let rider = rider.unwrap();
            let triangle = flesh.triangles[rider.triangle as usize];
            let position = rider.carried(triangle, &now, &turns);
            assert!(position.distance(motion(point)) < 2e-6);
        }
    }

    #[test]
    fn the_grip_needs_common_weights() {
        let flesh = TriMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            triangles: vec![[0, 1, 2]],
        };
        let rider = bind_riders(&flesh, &[Vec3::new(0.2, 0.2, 0.01)], 10.0)[0].unwrap();
        let below: [&[(usize, f64)]; 3] = [&[(4, 1.0)], &[(4, 1.0)], &[(4, 0.5), (5, 0.5)]];
        assert_eq!(rider.with_weights(&[(4, 1.0)], below).grip, 1.0);
        assert_eq!(rider.with_weights(&[(7, 1.0)], below).grip, 0.0);
        let half = rider.with_weights(&[(4, 0.25), (7, 0.75)], below).grip;
        assert!((half - 0.5).abs() < 1e-6, "{half}");
    }
}
