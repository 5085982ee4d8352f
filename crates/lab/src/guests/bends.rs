//! Bends of all joints, for characters that cannot play humanoid clips.

use std::f32::consts::{FRAC_PI_2, PI};

use glam::{Quat, Vec3};
use supple_rig::skeleton::JointKind;
use supple_rig::{Character, Clip, Pose, Skeleton};

/// Names of the motions, and the world axis about which joints bend.
const MOTIONS: [(&str, Vec3); 3] = [("bend", Vec3::X), ("twist", Vec3::Y), ("sway", Vec3::Z)];
/// Frames of a motion, at 60 a second.
const FRAMES: usize = 90;
/// Largest angle of one joint \[rad\].
const MAX_ANGLE: f32 = 0.6;

/// Three motions in which every bone but the roots bends about a world axis, and back. The bends of a chain add up to a quarter turn at
/// most.
pub fn bends(character: &Character) -> Vec<Clip> {
    let skeleton = &character.skeleton;
    let angle = MAX_ANGLE.min(FRAC_PI_2 / depth(skeleton).max(1) as f32);
    let motion = |&(name, axis): &(&str, Vec3)| {
        let poses: Vec<Pose> = (0..=FRAMES)
            .map(|frame| {
                let phase = (PI * frame as f32 / FRAMES as f32).sin();
                bent(skeleton, axis, angle * phase * phase)
            })
            .collect();
        Clip::from_poses(name, skeleton, 60.0, &poses)
    };
    MOTIONS.iter().map(motion).collect()
}

/// Most bones above a bone.
fn depth(skeleton: &Skeleton) -> usize {
    let mut depths = vec![0; skeleton.len()];
    for (joint, node) in skeleton.joints().iter().enumerate() {
        let above = node.parent.map_or(0, |parent| depths[parent]);
        depths[joint] = above + usize::from(bends_at(skeleton, joint));
    }
    depths.into_iter().max().unwrap_or(0)
}

/// Whether a joint is a bone on a bone; in a skeleton where none is, whether it is a bone on any joint.
fn bends_at(skeleton: &Skeleton, joint: usize) -> bool {
    let is_bone = |joint: usize| skeleton.joints()[joint].kind == JointKind::Bone;
    let parent = |joint: usize| skeleton.joints()[joint].parent;
    let is_on_bone = |joint: usize| is_bone(joint) && parent(joint).is_some_and(is_bone);
    match (0..skeleton.len()).any(is_on_bone) {
        true => is_on_bone(joint),
        false => is_bone(joint) && parent(joint).is_some(),
    }
}

fn bent(skeleton: &Skeleton, axis: Vec3, angle: f32) -> Pose {
    let mut pose = Pose::rest(skeleton);
    let rotations = pose.world_rotations(skeleton);
    for joint in (0..skeleton.len()).filter(|&joint| bends_at(skeleton, joint)) {
        if let Some(parent) = skeleton.joints()[joint].parent {
            let axis = rotations[parent].inverse() * axis;
            pose.rotate(
                joint,
                Quat::from_axis_angle(axis.normalize_or(Vec3::X), angle),
            );
        }
    }
    pose
}
