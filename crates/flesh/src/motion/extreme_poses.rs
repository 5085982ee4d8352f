//! Poses with joints bent to the limits of a body, for any skeleton.
//!
//! Many joints bend in one pose: every third along each chain, so that the bent ones do not interfere.

use glam::{Quat, Vec3};
use supple_rig::{Pose, Skeleton};

/// Bending angles, ascending \[degrees\]. Skin first touches at one of the small ones; folds are closed at the last.
pub const ANGLES: [f32; 5] = [30.0, 60.0, 90.0, 120.0, 145.0];
/// Distance between bent joints along a chain \[joints\].
const SPACING: usize = 3;
/// Number of bending directions around a bone.
const DIRECTIONS: usize = 4;

/// A set of joints bent in one direction by increasing angles.
pub struct Bend {
    /// Which joints bend.
    pub bent: Vec<bool>,
    /// The rest pose, then one pose for each of [`ANGLES`].
    pub poses: Vec<Pose>,
}

/// Every joint bent in all directions across its bone. `bones` holds the world direction of each joint's bone at `rest`,
/// if it has one.
pub fn extreme_poses(skeleton: &Skeleton, rest: &Pose, bones: &[Option<Vec3>]) -> Vec<Bend> {
    let worlds = rest.worlds(skeleton);
    let depths = depths(skeleton);
    let mut bends = Vec::new();
    for first in 0..SPACING {
        for direction in 0..DIRECTIONS {
            let axis = |joint: usize| {
                let bone = bones.get(joint).copied().flatten()?.try_normalize()?;
                let is_root = skeleton.joints()[joint].parent.is_none();
                if depths[joint] % SPACING != first || is_root {
                    return None;
                }
                let (u, v) = bone.any_orthonormal_pair();
                let across = [u, v, -u, -v][direction];
                let (_, turn, _) = worlds[joint].to_scale_rotation_translation();
                Some(turn.inverse() * across)
            };
            let axes: Vec<Option<Vec3>> = (0..skeleton.len()).map(axis).collect();
            let pose = |angle: f32| {
                let mut pose = rest.clone();
                for (local, axis) in pose.locals.iter_mut().zip(&axes) {
                    if let Some(axis) = axis {
                        local.rotation *= Quat::from_axis_angle(*axis, angle.to_radians());
                    }
                }
                pose
            };
            if axes.iter().any(Option::is_some) {
                bends.push(Bend {
                    bent: axes.iter().map(Option::is_some).collect(),
                    poses: [0.0].into_iter().chain(ANGLES).map(pose).collect(),
                });
            }
        }
    }
    bends
}

fn depths(skeleton: &Skeleton) -> Vec<usize> {
    let mut depths = vec![0; skeleton.len()];
    for (joint, depth) in depths.iter_mut().enumerate() {
        let mut above = skeleton.joints()[joint].parent;
        while let Some(parent) = above.filter(|_| *depth < skeleton.len()) {
            *depth += 1;
            above = skeleton.joints()[parent].parent;
        }
    }
    depths
}
