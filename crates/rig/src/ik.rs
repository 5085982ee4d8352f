//! Inverse kinematics: moves a joint to a target point by bending its limb.
//!
//! Positions come from FABRIK (Aristidou and Lasenby 2011, "FABRIK: a fast, iterative solver for the inverse kinematics
//! problem"). Every joint of the limb is then rotated by the shortest arc onto its new direction.

use glam::{Quat, Vec3};

use crate::retarget::{BoneMap, HumanBone, Humanoid};
use crate::skeleton::JointKind;
use crate::{Character, Pose, Skeleton};

/// Most joints in a chain. Longer chains (tails, hair) would drag the whole body along.
const MAX_CHAIN: usize = 8;
/// FABRIK iterations. Ten bring a limb of three bones within 0.1 mm of a reachable target.
const ITERATIONS: usize = 16;
/// Sideways offset of a straight limb's middle joints in their bend direction, relative to the limb's length. Without
/// it, a limb pushed along itself has no bend direction. If it is much larger, knees jump when a drag begins.
const BEND_OFFSET: f32 = 0.01;

/// The chain of joints that moves when its last joint is dragged.
#[derive(Clone, Debug, PartialEq)]
pub struct Limb {
    /// From the fixed end to the dragged joint. A single joint is translated.
    pub joints: Vec<usize>,
    /// Preferred bend direction of each inner joint in world space; zero if it has none.
    pub bends_to: Vec<Vec3>,
}

impl Limb {
    /// The limb that ends in `joint`: its ancestors up to the first branching one, which stays fixed.
    ///
    /// In a humanoid only the standard humanoid bones bend, so twist joints stay straight; knees
    /// bend forwards and elbows backwards.
    pub fn of(character: &Character, joint: usize) -> Self {
        let skeleton = &character.skeleton;
        let children = skeleton.children();
        let humanoid = Humanoid::find(skeleton, &BoneMap::of(character)).ok();
        let shared = |joint: usize| {
            let humanoid = humanoid.as_ref();
            humanoid.is_none_or(|humanoid| bone_at(humanoid, joint).is_some())
        };
        let is_hub = |joint: usize| {
            let carries = |&&child: &&usize| skeleton.joints()[child].kind == JointKind::Bone;
            children[joint].iter().filter(carries).count() > 1
        };
        let mut joints = vec![joint];
        let mut next = skeleton.joints().get(joint).and_then(|node| node.parent);
        while let Some(ancestor) = next {
            let hub = is_hub(ancestor) && joints.len() > 1;
            if hub || skeleton.joints()[ancestor].kind == JointKind::Helper {
                break;
            }
            if shared(ancestor) {
                joints.push(ancestor);
            }
            next = skeleton.joints()[ancestor].parent;
            if joints.len() > MAX_CHAIN || is_hub(ancestor) {
                break;
            }
        }
        if let (true, Some(parent)) = (joints.len() == 1, bone_parent(skeleton, joint)) {
            joints.push(parent);
        }
        joints.reverse();
        let bends_to = joints
            .iter()
            .map(|&joint| {
                humanoid
                    .as_ref()
                    .map_or(Vec3::ZERO, |humanoid| bend(humanoid, skeleton, joint))
            })
            .collect();
        Self { joints, bends_to }
    }
}

fn bone_parent(skeleton: &Skeleton, joint: usize) -> Option<usize> {
    let parent = skeleton.joints().get(joint)?.parent?;
    (skeleton.joints()[parent].kind == JointKind::Bone).then_some(parent)
}

/// The humanoid bone that starts at a joint.
fn bone_at(humanoid: &Humanoid, joint: usize) -> Option<HumanBone> {
    let mut bones = humanoid.bones.iter();
    bones.find_map(|(&bone, joints)| (joints.first() == Some(&joint)).then_some(bone))
}

/// Bend direction: forwards for knees, backwards for elbows.
fn bend(humanoid: &Humanoid, skeleton: &Skeleton, joint: usize) -> Vec3 {
    let forwards = humanoid.facing(&skeleton.rest_worlds()) * Vec3::Z;
    match bone_at(humanoid, joint).map(HumanBone::name) {
        Some(name) if name.ends_with("LowerLeg") => forwards,
        Some(name) if name.ends_with("LowerArm") => -forwards,
        _ => Vec3::ZERO,
    }
}

/// Rotates a limb so that its last joint comes as close to `target` \[m\] as possible. A limb of one joint is translated.
/// Returns the remaining distance \[m\].
pub fn reach(skeleton: &Skeleton, pose: &mut Pose, limb: &Limb, target: Vec3) -> f32 {
    let Some((&end, rest)) = limb.joints.split_last() else {
        return 0.0;
    };
    if !target.is_finite() || end >= pose.locals.len() {
        return f32::INFINITY;
    }
    let place = |pose: &Pose, joint: usize| Vec3::from(pose.worlds(skeleton)[joint].translation);
    if rest.is_empty() {
        move_joint(skeleton, pose, end, target);
        return place(pose, end).distance(target);
    }
    let worlds = pose.worlds(skeleton);
    let mut points: Vec<Vec3> = (limb.joints.iter())
        .map(|&joint| worlds[joint].translation.into())
        .collect();
    let lengths: Vec<f32> = points.windows(2).map(|w| w[0].distance(w[1])).collect();
    nudge(&mut points, &limb.bends_to, lengths.iter().sum());
    for _ in 0..ITERATIONS {
        fabrik_pass(&mut points, &lengths, target);
    }
    for (k, &joint) in rest.iter().enumerate() {
        let worlds = pose.worlds(skeleton);
        let here = Vec3::from(worlds[joint].translation);
        let now = Vec3::from(worlds[limb.joints[k + 1]].translation) - here;
        if let (Some(from), Some(to)) =
            (now.try_normalize(), (points[k + 1] - here).try_normalize())
        {
            pose.rotate_world(skeleton, joint, Quat::from_rotation_arc(from, to));
        }
    }
    place(pose, end).distance(target)
}

fn move_joint(skeleton: &Skeleton, pose: &mut Pose, joint: usize, target: Vec3) {
    let parent = skeleton.joints()[joint].parent;
    let local = match parent {
        Some(parent) => pose.worlds(skeleton)[parent]
            .inverse()
            .transform_point3(target),
        None => target,
    };
    if local.is_finite() {
        pose.locals[joint].translation = local;
    }
}

fn nudge(points: &mut [Vec3], bends_to: &[Vec3], length: f32) {
    let last = points.len().saturating_sub(1);
    for (point, side) in points.iter_mut().zip(bends_to).take(last).skip(1) {
        *point += *side * (BEND_OFFSET * length);
    }
}

/// One backward and one forward FABRIK pass: keeps bone lengths and the first point.
fn fabrik_pass(points: &mut [Vec3], lengths: &[f32], target: Vec3) {
    let (root, last) = (points[0], points.len() - 1);
    points[last] = target;
    for k in (0..last).rev() {
        points[k] = towards(points[k + 1], points[k], lengths[k]);
    }
    points[0] = root;
    for k in 0..last {
        points[k + 1] = towards(points[k], points[k + 1], lengths[k]);
    }
}

/// The point at `distance` from `from` in the direction of `to`.
fn towards(from: Vec3, to: Vec3, distance: f32) -> Vec3 {
    from + (to - from).normalize_or(Vec3::Y) * distance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Joint, Transform};

    /// Root, shoulder branch, elbow and hand along X, and another child of the root.
    fn arm() -> Character {
        let joint = |parent, x: f32, y: f32| Joint {
            name: String::new(),
            parent,
            rest: Transform::from_translation(Vec3::new(x, y, 0.0)),
            tail: None,
            kind: JointKind::Bone,
        };
        let joints = vec![
            joint(None, 0.0, 1.0),
            joint(Some(0), 0.2, 0.0),
            joint(Some(1), 0.3, 0.0),
            joint(Some(2), 0.25, 0.0),
            joint(Some(0), 0.0, 0.4),
        ];
        let (skeleton, _) = Skeleton::from_unordered(joints).unwrap();
        Character {
            skeleton,
            ..Character::default()
        }
    }

    #[test]
    fn a_reachable_target_is_reached_and_bone_lengths_are_kept() {
        let character = arm();
        let limb = Limb::of(&character, 3);
        assert_eq!(limb.joints, [1, 2, 3]);
        let mut pose = Pose::rest(&character.skeleton);
        let target = Vec3::new(0.4, 1.3, 0.1);
        let left = reach(&character.skeleton, &mut pose, &limb, target);
        assert!(left < 1e-3, "{left}");
        let worlds = pose.worlds(&character.skeleton);
        let at = |joint: usize| Vec3::from(worlds[joint].translation);
        assert!((at(1).distance(at(2)) - 0.3).abs() < 1e-5);
        assert!((at(2).distance(at(3)) - 0.25).abs() < 1e-5);
        assert!(at(1).distance(Vec3::new(0.2, 1.0, 0.0)) < 1e-6);
    }

    #[test]
    fn an_unreachable_target_straightens_the_limb() {
        let character = arm();
        let mut pose = Pose::rest(&character.skeleton);
        let target = Vec3::new(0.2, 3.0, 0.0);
        let left = reach(
            &character.skeleton,
            &mut pose,
            &Limb::of(&character, 3),
            target,
        );
        assert!((left - (2.0 - 0.55)).abs() < 1e-3, "{left}");
    }

    #[test]
    fn a_root_is_translated() {
        let character = arm();
        let limb = Limb::of(&character, 0);
        let mut pose = Pose::rest(&character.skeleton);
        let target = Vec3::new(1.0, 2.0, 3.0);
        assert!(reach(&character.skeleton, &mut pose, &limb, target) < 1e-6);
        assert!(reach(&character.skeleton, &mut pose, &limb, Vec3::NAN).is_infinite());
    }
}
