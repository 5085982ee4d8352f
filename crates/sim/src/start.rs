//! Where the iterations of a step begin: every free vertex moves rigidly with the fixed vertices that carry it.
//!
//! Projections depend on where an element is: begun from inertia alone, a limb that is swung leaves its skin behind, and
//! elements turn inside out before the first iteration. The global step that follows is exact for given projections,
//! so only the turn of an element matters, not its place, and the minimum of (2.8) is the same.

use glam::{Mat3, Vec3};

use crate::model::NO_CARRIER;
use crate::{Model, State, Targets};

/// Turns with a smaller cosine are not a limb's in one step but a triangle's that has collapsed.
const LEAST_COSINE: f32 = 0.0;

/// Most that a vertex is taken to move relative to its carriers in a step, relative to its distance from them. Without bound a
/// velocity kept through a teleport turns tissue inside out; jiggle stays below a tenth.
const MOST_OWN: f32 = 0.5;

/// Where a free vertex goes in a step of `h` seconds (0: without inertia) if it keeps its velocity relative to its carriers
/// \[m\]; `None` where nothing carries it.
///
/// That velocity counts: ten iterations forget only half of where they began, and begun without it they would damp.
pub fn carried(
    model: &Model,
    targets: &Targets,
    state: &State,
    vertex: usize,
    h: f32,
) -> Option<Vec3> {
    let corners = model.carrier_frames()[vertex];
    if corners[0] == NO_CARRIER {
        return None;
    }
    let corners = corners.map(|k| k as usize);
    let now = triangle(&state.fixed, corners);
    let next = triangle(&targets.fixed, corners);
    let mut offset = state.positions[vertex] - now[0];
    if h > 0.0 {
        let before = triangle(&state.fixed_previous, corners);
        let rigid = now[0] - before[0] + offset - turned(now, before, offset).unwrap_or(offset);
        let own = state.velocities[vertex] * h - rigid;
        offset += own.clamp_length_max(MOST_OWN * offset.length());
    }
    Some(next[0] + turned(now, next, offset).unwrap_or(offset))
}

fn triangle(list: &[Vec3], [a, b, c]: [usize; 3]) -> [Vec3; 3] {
    [list[a], list[b], list[c]]
}

/// A vector turned as one triangle is turned to another; `None` where one of them is flat or they turn by more than a limb
/// does in a step.
fn turned(before: [Vec3; 3], after: [Vec3; 3], vector: Vec3) -> Option<Vec3> {
    if before == after {
        return None;
    }
    let (from, to) = (frame(before)?, frame(after)?);
    // The trace of the rotation `to fromᵀ`, which is not formed.
    let trace =
        from.x_axis.dot(to.x_axis) + from.y_axis.dot(to.y_axis) + from.z_axis.dot(to.z_axis);
    (0.5 * (trace - 1.0) >= LEAST_COSINE).then(|| to * (from.transpose() * vector))
}

/// Orthonormal axes of a triangle: its first edge and its normal.
fn frame([a, b, c]: [Vec3; 3]) -> Option<Mat3> {
    let edge = b - a;
    let x = edge.try_normalize()?;
    let z = edge.cross(c - a).try_normalize()?;
    Some(Mat3::from_cols(x, z.cross(x), z))
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    #[test]
    fn a_rigid_motion_is_found() {
        let triangle = [
            Vec3::new(0.1, 0.2, 0.3),
            Vec3::new(0.5, 0.1, 0.2),
            Vec3::new(0.2, 0.6, 0.1),
        ];
        let motion = Quat::from_axis_angle(Vec3::new(1.0, -2.0, 0.5).normalize(), 1.2);
        let moved = triangle.map(|p| motion * p + Vec3::X);
        let vector = Vec3::new(0.4, -0.3, 0.8);
        let found = turned(triangle, moved, vector).expect("a turn");
        assert!(found.abs_diff_eq(motion * vector, 1e-6));
    }

    #[test]
    fn flat_and_flipped_triangles_do_not_turn() {
        let triangle = [Vec3::ZERO, Vec3::X, Vec3::Y];
        assert!(turned(triangle, [Vec3::ZERO, Vec3::X, Vec3::X], Vec3::Z).is_none());
        assert!(turned(triangle, [Vec3::ZERO, Vec3::X, -Vec3::Y], Vec3::Z).is_none());
    }
}
