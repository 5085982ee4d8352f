//! Vertices that are not simulated but bound to the nearest flesh: clothes, hair.

use glam::{Quat, Vec3};
use rayon::prelude::*;
use supple_geom::{Surface, TriMesh};

/// A vertex bound to the flesh.
#[derive(Clone, Copy, Debug)]
pub struct Rider {
    /// Nearest flesh triangle.
    pub triangle: u32,
    /// Barycentric coordinates of the nearest point.
    pub weights: [f32; 3],
    /// From the nearest point to the vertex at rest \[m\].
    pub offset: Vec3,
    /// Blend factor from 0, the vertex's own skin weights (hair far from the head), to 1, the flesh (clothes).
    pub grip: f32,
}

/// Distance up to which the blend factor is 1, relative to the character's size.
const FULL_GRIP_DISTANCE: f32 = 0.02;
/// Distance from which it is 0.
const NO_GRIP_DISTANCE: f32 = 0.08;

/// Binds points to the flesh. `size` is the character's size \[m\].
pub fn bind_riders(flesh: &TriMesh, points: &[Vec3], size: f32) -> Vec<Option<Rider>> {
    let surface = Surface::new(flesh.clone());
    points
        .par_iter()
        .map(|&point| {
            let nearest = surface.closest_point(point)?;
            let t = ((nearest.distance / size - FULL_GRIP_DISTANCE)
                / (NO_GRIP_DISTANCE - FULL_GRIP_DISTANCE))
                .clamp(0.0, 1.0);
            Some(Rider {
                triangle: nearest.triangle,
                weights: nearest.barycentric,
                offset: point - nearest.position,
                grip: 1.0 - t * t * (3.0 - 2.0 * t),
            })
        })
        .collect()
}

/// Position of a bound vertex, given the positions and rotations of the flesh's vertices.
pub fn rider_position(rider: &Rider, triangle: [u32; 3], now: &[Vec3], turns: &[Quat]) -> Vec3 {
    let mut point = Vec3::ZERO;
    for (&v, &weight) in triangle.iter().zip(&rider.weights) {
        point += now[v as usize] * weight;
    }
    point + rider_turn(rider, triangle, turns) * rider.offset
}

/// How far a rider is turned, given the flesh's turns.
pub fn rider_turn(rider: &Rider, triangle: [u32; 3], turns: &[Quat]) -> Quat {
    let mut turn = glam::Vec4::ZERO;
    for (&v, &weight) in triangle.iter().zip(&rider.weights) {
        let q = glam::Vec4::from(turns[v as usize]);
        let sign = if turn.dot(q) < 0.0 { -1.0 } else { 1.0 };
        turn += q * (sign * weight);
    }
    turn.try_normalize().map_or(Quat::IDENTITY, Quat::from_vec4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::turns::vertex_turns;

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
            let position = rider_position(&rider, triangle, &now, &turns);
            assert!(position.distance(motion(point)) < 2e-6);
        }
    }
}
