//! Inverse kinematics: a joint is pulled to a point and the limb it ends follows.
//!
//! Positions by FABRIK (Aristidou and Lasenby 2011, "FABRIK: a fast, iterative solver for the inverse kinematics
//! problem"), then every joint of the limb is turned by the shortest arc onto its new direction.

use glam::{Quat, Vec3};

use crate::retarget::{BoneMap, HumanBone, Humanoid};
use crate::skeleton::JointKind;
use crate::{Character, Pose, Skeleton};

/// Most joints that follow. Longer chains (tails, hair) would drag the whole body along.
const LONGEST: usize = 8;
/// Sweeps; ten bring limbs of three bones to a tenth of a millimetre unless the point is out of reach.
const SWEEPS: usize = 16;
/// How far a straight limb's middle joints are moved to the side they bend to, relative to its length: without it a limb
/// that is pushed along itself does not know where to bend. Much larger, and knees jump when a pull begins.
const HINT: f32 = 0.01;

/// Joints that bend when another is pulled.
#[derive(Clone, Debug, PartialEq)]
pub struct Limb {
    /// From the root end to the pulled joint; a single one is moved as a whole.
    pub joints: Vec<usize>,
    /// Where the joints in between bend to, in world space; zero: anywhere.
    pub bends_to: Vec<Vec3>,
}

impl Limb {
    /// The limb that ends in `joint`: its ancestors up to the first one that branches, which stays where it is.
    ///
    /// In a humanoid only the bones that all humanoids share bend, so that joints for twist stay straight, and knees
    /// bend forwards, elbows backwards.
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
            if joints.len() > LONGEST || is_hub(ancestor) {
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

/// The bone that begins at a joint.
fn bone_at(humanoid: &Humanoid, joint: usize) -> Option<HumanBone> {
    let mut bones = humanoid.bones.iter();
    bones.find_map(|(&bone, joints)| (joints.first() == Some(&joint)).then_some(bone))
}

/// Knees bend forwards, elbows backwards.
fn bend(humanoid: &Humanoid, skeleton: &Skeleton, joint: usize) -> Vec3 {
    let forwards = humanoid.facing(&skeleton.rest_worlds()) * Vec3::Z;
    match bone_at(humanoid, joint).map(HumanBone::name) {
        Some(name) if name.ends_with("LowerLeg") => forwards,
        Some(name) if name.ends_with("LowerArm") => -forwards,
        _ => Vec3::ZERO,
    }
}

/// Turns a limb so that its last joint comes as near to `target` \[m\] as it can; a limb of one joint is moved there.
/// Returns the distance that is left \[m\].
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
    for _ in 0..SWEEPS {
        sweep(&mut points, &lengths, target);
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
        *point += *side * (HINT * length);
    }
}

/// One backward and one forward pass: bone lengths are kept, the first point stays.
fn sweep(points: &mut [Vec3], lengths: &[f32], target: Vec3) {
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

/// The point at `distance` from `from`, on the way to `to`.
fn towards(from: Vec3, to: Vec3, distance: f32) -> Vec3 {
    from + (to - from).normalize_or(Vec3::Y) * distance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Joint, Transform};

    /// Root, shoulder branch, elbow, hand along X; and another child of the root.
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
    fn a_hand_reaches_what_is_in_reach_and_bones_keep_their_length() {
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
    fn out_of_reach_the_limb_is_straight_towards_the_point() {
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
    fn the_root_moves_as_a_whole() {
        let character = arm();
        let limb = Limb::of(&character, 0);
        let mut pose = Pose::rest(&character.skeleton);
        let target = Vec3::new(1.0, 2.0, 3.0);
        assert!(reach(&character.skeleton, &mut pose, &limb, target) < 1e-6);
        assert!(reach(&character.skeleton, &mut pose, &limb, Vec3::NAN).is_infinite());
    }
}
