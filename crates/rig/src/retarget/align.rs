//! Rest-pose alignment of source and target.
//!
//! Let `Δ` be a source joint's world rotation relative to its rest. The matching target joint gets the world rotation `Δ A R`,
//! where `R` is its own rest rotation and `A` aligns that rest with the source's. For arms and legs, `A` makes both limbs
//! point the same way, so T-pose and A-pose are equivalent. It is built along the limb: each step adds the smallest
//! rotation to the one before, which carries roll about the bone from joint to joint.

use glam::{Affine3A, Quat, Vec3};

use super::ground::neutral_foot;
use super::humanoid::{Finger, HumanBone, Humanoid, Side};
use crate::Skeleton;

/// A target joint and the source joints that drive it.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Joint of the target.
    pub target: usize,
    /// Joints of the source: twice the same, or two neighbours on a chain.
    pub sources: [usize; 2],
    /// Blend factor between the two.
    pub t: f32,
    /// The alignment `A`.
    pub align: Quat,
}

impl Link {
    fn new(source: usize, target: usize, align: Quat) -> Self {
        Self {
            target,
            sources: [source, source],
            t: 0.0,
            align,
        }
    }
}

/// A humanoid, its skeleton, and its rest `world_from_joint`.
pub(super) type Body<'a> = (&'a Humanoid, &'a Skeleton, &'a [Affine3A]);

/// Links of all driven target joints. `turn` rotates the source's facing to the target's.
pub(super) fn links(source: Body, target: Body, turn: Quat) -> Vec<Link> {
    let mut links = Vec::new();
    for bone in [HumanBone::Hips, HumanBone::Head] {
        // Trunk and head keep the target's own rest: the rest angle of a neck depends on where a rig puts its joints.
        link(&mut links, source, target, bone, Quat::IDENTITY);
    }
    chain(&mut links, source, target, |humanoid| &humanoid.spine);
    chain(&mut links, source, target, |humanoid| &humanoid.neck);
    for side in Side::BOTH {
        arm(&mut links, source, target, turn, side);
        leg(&mut links, source, target, turn, side);
    }
    links
}

fn link(links: &mut Vec<Link>, source: Body, target: Body, bone: HumanBone, align: Quat) {
    let Some(from) = source.0.joint(bone) else {
        return;
    };
    for &to in target.0.bones.get(&bone).into_iter().flatten() {
        links.push(Link::new(from, to, align));
    }
}

fn arm(links: &mut Vec<Link>, source: Body, target: Body, turn: Quat, side: Side) {
    link(
        links,
        source,
        target,
        HumanBone::Shoulder(side),
        Quat::IDENTITY,
    );
    let knuckle = [Finger::Middle, Finger::Index]
        .map(|finger| HumanBone::Finger(side, finger, 0))
        .into_iter()
        .find(|&bone| source.0.joint(bone).is_some() && target.0.joint(bone).is_some());
    let bones = [
        Some(HumanBone::UpperArm(side)),
        Some(HumanBone::LowerArm(side)),
        Some(HumanBone::Hand(side)),
        knuckle,
    ];
    let mut align = Quat::IDENTITY;
    for pair in bones.windows(2) {
        let Some(bone) = pair[0] else { break };
        let directions = pair[1].and_then(|next| {
            Some((
                direction(source, bone, next)?,
                direction(target, bone, next)?,
            ))
        });
        if let Some((from, to)) = directions {
            align = Quat::from_rotation_arc(align * to, turn * from) * align;
        }
        link(links, source, target, bone, align);
    }
    fingers(links, source, target, side, align);
}

/// Fingers, if both skeletons have at least two joints of one. CMU's single finger joint carries no finger pose.
fn fingers(links: &mut Vec<Link>, source: Body, target: Body, side: Side, align: Quat) {
    for finger in Finger::ALL {
        let bones = [0, 1, 2].map(|joint| HumanBone::Finger(side, finger, joint));
        let jointed = |body: Body| bones[..2].iter().all(|&bone| body.0.joint(bone).is_some());
        if jointed(source) && jointed(target) {
            for bone in bones {
                link(links, source, target, bone, align);
            }
        }
    }
}

fn leg(links: &mut Vec<Link>, source: Body, target: Body, turn: Quat, side: Side) {
    let bones = [
        HumanBone::UpperLeg(side),
        HumanBone::LowerLeg(side),
        HumanBone::Foot(side),
    ];
    let mut align = Quat::IDENTITY;
    for pair in bones.windows(2) {
        let directions = (
            direction(source, pair[0], pair[1]),
            direction(target, pair[0], pair[1]),
        );
        if let (Some(from), Some(to)) = directions {
            align = Quat::from_rotation_arc(align * to, turn * from) * align;
        }
        link(links, source, target, pair[0], align);
    }
    let align = foot(source, target, turn, side);
    link(links, source, target, HumanBone::Foot(side), align);
    link(links, source, target, HumanBone::Toes(side), align);
}

/// Feet are aligned by their soles: flat on the ground, with the same heading. The direction from ankle to toes is not
/// used, because the height of the ankle differs between rigs.
fn foot(source: Body, target: Body, turn: Quat, side: Side) -> Quat {
    let flat_source = turn * neutral_foot(source.0, source.2, side) * turn.inverse();
    let flat_target = neutral_foot(target.0, target.2, side);
    let heading = |direction: Vec3| {
        let long = direction.x.hypot(direction.z) > 1e-6;
        long.then(|| direction.x.atan2(direction.z))
    };
    let from = (source.0.foot_direction(source.2, side))
        .and_then(|foot| heading(flat_source * (turn * foot)));
    let to = (target.0.foot_direction(target.2, side)).and_then(|foot| heading(flat_target * foot));
    let yaw = match (from, to) {
        (Some(from), Some(to)) => Quat::from_rotation_y(from - to),
        _ => Quat::IDENTITY,
    };
    flat_source.inverse() * yaw * flat_target
}

/// Unit vector from a bone's joint to the next bone's joint at rest.
fn direction(body: Body, bone: HumanBone, next: HumanBone) -> Option<Vec3> {
    let place = |bone| Some(body.2[body.0.joint(bone)?].translation);
    Vec3::from(place(next)? - place(bone)?).try_normalize()
}

/// Links chains of different lengths: each target joint follows the source at the same fraction of the chain.
fn chain(
    links: &mut Vec<Link>,
    source: Body,
    target: Body,
    joints: impl Fn(&Humanoid) -> &Vec<usize>,
) {
    let (from, to) = (joints(source.0), joints(target.0));
    let heights = middles(source, from);
    for (&joint, height) in to.iter().zip(middles(target, to)) {
        let Some(last) = from.len().checked_sub(1) else {
            return;
        };
        let above = heights.partition_point(|&other| other <= height).min(last);
        let below = above.saturating_sub(1);
        let gap = heights[above] - heights[below];
        let t = if gap > 1e-6 {
            ((height - heights[below]) / gap).clamp(0.0, 1.0)
        } else {
            1.0
        };
        links.push(Link {
            target: joint,
            sources: [from[below], from[above]],
            t,
            align: Quat::IDENTITY,
        });
    }
}

/// Midpoint of each joint's segment along its chain, from 0 to 1.
fn middles(body: Body, chain: &[usize]) -> Vec<f32> {
    let place = |joint: usize| Vec3::from(body.2[joint].translation);
    let mut ends = vec![0.0];
    for (i, &joint) in chain.iter().enumerate() {
        let next = chain.get(i + 1).copied().or_else(|| {
            // The last segment runs to the next joint, head or neck.
            let mut children = (joint + 1..body.1.len())
                .filter(|&child| body.1.joints()[child].parent == Some(joint));
            children.find(|child| {
                body.0.neck.contains(child) || body.0.joint(HumanBone::Head) == Some(*child)
            })
        });
        let length = next.map_or(0.0, |next| place(joint).distance(place(next)));
        ends.push(ends[i] + length);
    }
    let total = ends[chain.len()].max(1e-6);
    ends.windows(2)
        .map(|pair| 0.5 * (pair[0] + pair[1]) / total)
        .collect()
}
