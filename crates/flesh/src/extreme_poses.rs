//! Poses that bend joints as far as bodies go, for any skeleton.
//!
//! Joints are far enough apart for many to bend at once: every third along each chain, while the others are at rest.

use glam::{Quat, Vec3};
use supple_rig::{Pose, Skeleton};

/// Angles of the poses, ascending \[degrees\]: skin meets at the first or the second, folds are closed at the last.
pub const ANGLES: [f32; 5] = [30.0, 60.0, 90.0, 120.0, 145.0];
/// Joints along a chain of which one bends.
const SPACING: usize = 3;
/// Directions in which a joint bends, about its bone.
const DIRECTIONS: usize = 4;

/// Joints bent in one direction by growing angles.
pub struct Bend {
    /// Which joints bend.
    pub bent: Vec<bool>,
    /// One pose an angle of [`ANGLES`], and before them the one at rest.
    pub poses: Vec<Pose>,
}

/// Every joint bent in all directions across its bone. `bones` tells the direction of each joint's bone in the world at `rest`, if it
/// has one.
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
