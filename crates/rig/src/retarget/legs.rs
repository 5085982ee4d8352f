//! Leg correction: adjusts hips and knees so that ankles reach the source's positions.
//!
//! Copying directions alone misplaces an ankle if the knee bends and the ratio of thigh to shank differs, or if
//! wider hips tilt. Hip, knee and ankle keep their plane; the law of cosines gives the two angles in it.

use glam::{Quat, Vec3};

use super::humanoid::{HumanBone, Humanoid, Side};
use crate::{Pose, Skeleton};

/// Largest rotation of each correction. Two corrections together keep a bone within 10° of the source's direction;
/// chosen for that bound, not tuned.
const MAX_CORRECTION: f32 = 5.0 * std::f32::consts::PI / 180.0;

/// Moves an ankle to `wanted`, relative to the hip joint in world space, as far as [`MAX_CORRECTION`] allows. A straight knee
/// bends about `axis`. Feet keep their orientation: one that hangs on the leg is turned back.
pub(super) fn place_ankle(
    pose: &mut Pose,
    skeleton: &Skeleton,
    humanoid: &Humanoid,
    side: Side,
    wanted: Vec3,
    axis: Vec3,
    hangs: bool,
) {
    let joints = [
        HumanBone::UpperLeg(side),
        HumanBone::LowerLeg(side),
        HumanBone::Foot(side),
    ]
    .map(|bone| humanoid.joint(bone));
    let [Some(hip), Some(knee), Some(ankle)] = joints else {
        return;
    };
    let worlds = pose.worlds(skeleton);
    let place = |joint: usize| Vec3::from(worlds[joint].translation);
    let (thigh, shank) = (place(knee) - place(hip), place(ankle) - place(knee));
    if !(thigh.length() > 1e-6 && shank.length() > 1e-6 && wanted.length() > 1e-6) {
        return;
    }
    let (axis, [upper, lower]) = bend(thigh, shank, wanted.length(), axis);
    let turn = |angle: f32| Quat::from_axis_angle(axis, angle);
    let line = turn(upper) * thigh + turn(lower) * shank;
    let swing = limited_arc(line, wanted);
    pose.rotate_world(skeleton, hip, swing * turn(upper));
    pose.rotate_world(
        skeleton,
        knee,
        swing * turn(lower - upper) * swing.inverse(),
    );
    if hangs {
        pose.rotate_world(skeleton, ankle, (swing * turn(lower)).inverse());
    }
}

/// The rotation from one direction towards another, limited to [`MAX_CORRECTION`].
fn limited_arc(from: Vec3, to: Vec3) -> Quat {
    let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize()) else {
        return Quat::IDENTITY;
    };
    let angle = from.angle_between(to);
    let share = if angle > MAX_CORRECTION {
        MAX_CORRECTION / angle
    } else {
        1.0
    };
    Quat::IDENTITY.slerp(Quat::from_rotation_arc(from, to), share)
}

/// The knee axis, and the rotations of thigh and shank about it.
fn bend(thigh: Vec3, shank: Vec3, reach: f32, straight_axis: Vec3) -> (Vec3, [f32; 2]) {
    let (a, b) = (thigh.length(), shank.length());
    let normal = thigh.cross(shank);
    let axis = if normal.length() > 1e-2 * a * b {
        normal.normalize()
    } else {
        straight_axis.normalize_or(Vec3::X)
    };
    let angles = |reach: f32| {
        let reach = reach.clamp((a - b).abs() + 1e-4 * (a + b), a + b);
        let angle = |near: f32, far: f32| {
            let cosine = (near * near + reach * reach - far * far) / (2.0 * near * reach);
            cosine.clamp(-1.0, 1.0).acos()
        };
        // Angle between the hip–ankle line and the thigh or shank.
        [angle(a, b), angle(b, a)]
    };
    let now = angles((thigh + shank).length());
    let wanted = angles(reach);
    // Seen along the axis, the thigh lies behind the hip–ankle line and the shank before it.
    let upper = (now[0] - wanted[0]).clamp(-MAX_CORRECTION, MAX_CORRECTION);
    let lower = (wanted[1] - now[1]).clamp(-MAX_CORRECTION, MAX_CORRECTION);
    (axis, [upper, lower])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ankle_reaches_its_distance() {
        let thigh = Vec3::new(0.0, -0.45, 0.1);
        let shank = Vec3::new(0.02, -0.4, -0.15);
        let line = thigh + shank;
        let reach = line.length() + 0.005;
        let (axis, [upper, lower]) = bend(thigh, shank, reach, Vec3::X);
        let turn = |angle| Quat::from_axis_angle(axis, angle);
        let ankle = turn(upper) * thigh + turn(lower) * shank;
        assert!((ankle.length() - reach).abs() < 1e-5);
        assert!(ankle.angle_between(line) < 1e-3);
    }

    #[test]
    fn straight_knees_bend_forwards() {
        let (axis, [upper, lower]) = bend(-Vec3::Y, -Vec3::Y, 1.998, Vec3::X);
        let thigh = Quat::from_axis_angle(axis, upper) * -Vec3::Y;
        let ankle = thigh + Quat::from_axis_angle(axis, lower) * -Vec3::Y;
        assert!(thigh.z > 0.01 && ankle.z.abs() < 1e-5);
        assert!((ankle.y + 1.998).abs() < 1e-4);
    }

    #[test]
    fn corrections_are_limited() {
        assert!(
            limited_arc(Vec3::X, Vec3::Y).angle_between(Quat::IDENTITY) < MAX_CORRECTION + 1e-3
        );
        let (_, turns) = bend(-Vec3::Y, -Vec3::Y, 0.5, Vec3::X);
        assert!(turns.iter().all(|turn| turn.abs() <= MAX_CORRECTION));
    }
}
