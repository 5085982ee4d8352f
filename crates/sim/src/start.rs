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

/// Where the motion of its carriers during a step takes a free vertex \[m\]; `None` where nothing carries it.
pub fn carried(model: &Model, targets: &Targets, state: &State, vertex: usize) -> Option<Vec3> {
    let corners = model.carrier_frames()[vertex];
    if corners[0] == NO_CARRIER {
        return None;
    }
    let [before, after] =
        [&state.fixed, &targets.fixed].map(|list| corners.map(|k| list[k as usize]));
    let offset = state.positions[vertex] - before[0];
    Some(after[0] + turn(before, after).map_or(offset, |turn| turn * offset))
}

/// Rotation from one triangle to another about their first corners; `None` where one of them is flat or they turn by
/// more than a limb does in a step.
fn turn(before: [Vec3; 3], after: [Vec3; 3]) -> Option<Mat3> {
    if before == after {
        return None;
    }
    let turn = frame(after)? * frame(before)?.transpose();
    let cosine = 0.5 * (turn.x_axis.x + turn.y_axis.y + turn.z_axis.z - 1.0);
    (cosine >= LEAST_COSINE).then_some(turn)
}

/// Orthonormal axes of a triangle: the sum and the difference of two unit edges are perpendicular.
fn frame([a, b, c]: [Vec3; 3]) -> Option<Mat3> {
    let (first, second) = ((b - a).try_normalize()?, (c - a).try_normalize()?);
    let (sum, difference) = (
        (first + second).try_normalize()?,
        (first - second).try_normalize()?,
    );
    Some(Mat3::from_cols(sum, difference, sum.cross(difference)))
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
        let found = turn(triangle, triangle.map(|p| motion * p + Vec3::X)).expect("a turn");
        assert!(found.abs_diff_eq(Mat3::from_quat(motion), 1e-6));
    }

    #[test]
    fn flat_and_flipped_triangles_do_not_turn() {
        let triangle = [Vec3::ZERO, Vec3::X, Vec3::Y];
        assert!(turn(triangle, [Vec3::ZERO, Vec3::X, Vec3::X]).is_none());
        assert!(turn(triangle, [Vec3::ZERO, Vec3::X, -Vec3::Y]).is_none());
    }
}
