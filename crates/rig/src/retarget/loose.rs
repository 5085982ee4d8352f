//! Limb ends that hang elsewhere than on their limb: feet on the root, as rigs for inverse kinematics have them.
//!
//! The file's own clips move such a foot along with the shank. A motion from elsewhere turns the joints of the leg, so the foot
//! has to be carried: it keeps the place that it has at rest in the frame of the shank.

use glam::{Affine3A, Vec3};

use super::humanoid::{HumanBone, Humanoid, Side, is_above};
use crate::skeleton::JointKind;
use crate::{Pose, Skeleton};

/// Largest length of the bone that is missing, relative to the one above it. Higher: a control far behind the knee counts as a foot.
const LONGEST: f32 = 2.0;
/// A joint of the limb that is this near to the loose one, relative to the missing bone, is the real end, and the loose one a control.
const SAME_PLACE: f32 = 0.25;

/// A joint, and the joint of the limb that carries it.
#[derive(Clone, Debug, PartialEq)]
struct Carried {
    joint: usize,
    by: usize,
    /// `by_from_joint` at rest.
    rest: Affine3A,
}

/// The limb ends of a skeleton that hang elsewhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Loose(Vec<Carried>);

/// Neighbours on a limb: the joint above, and the one that ends the bone.
fn pairs(side: Side) -> [[HumanBone; 3]; 2] {
    [
        [
            HumanBone::UpperLeg(side),
            HumanBone::LowerLeg(side),
            HumanBone::Foot(side),
        ],
        [
            HumanBone::UpperArm(side),
            HumanBone::LowerArm(side),
            HumanBone::Hand(side),
        ],
    ]
}

/// Whether a joint that hangs elsewhere is the end of a limb: as far from it as a shank is long, and no other joint is there.
pub(super) fn is_end(skeleton: &Skeleton, rest: &[Affine3A], limb: [usize; 2], end: usize) -> bool {
    let place = |joint: usize| Vec3::from(rest[joint].translation);
    let [upper, lower] = limb;
    if is_above(skeleton, lower, end) || is_above(skeleton, end, lower) || end == lower {
        return false;
    }
    let missing = place(end).distance(place(lower));
    if missing > LONGEST * place(upper).distance(place(lower)) || missing < 1e-6 {
        return false;
    }
    let joints = skeleton.joints();
    let carries = |joint: usize| {
        (joint + 1..joints.len()).any(|child| {
            joints[child].parent == Some(joint) && joints[child].kind == JointKind::Bone
        })
    };
    let real = |joint: usize| {
        joints[joint].kind == JointKind::Bone
            && is_above(skeleton, lower, joint)
            && place(joint).distance(place(end)) < SAME_PLACE * missing
            && carries(joint)
    };
    !(0..joints.len()).any(real)
}

impl Loose {
    /// The ends of arms and legs that hang elsewhere.
    pub fn find(skeleton: &Skeleton, humanoid: &Humanoid, rest: &[Affine3A]) -> Self {
        let mut found = Vec::new();
        for bones in Side::BOTH.into_iter().flat_map(pairs) {
            let joints = bones.map(|bone| humanoid.joint(bone));
            let [Some(upper), Some(by), Some(joint)] = joints else {
                continue;
            };
            if is_end(skeleton, rest, [upper, by], joint) {
                let rest = rest[by].inverse() * rest[joint];
                if rest.is_finite() {
                    found.push(Carried { joint, by, rest });
                }
            }
        }
        Self(found)
    }

    /// The joints.
    pub fn joints(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|carried| carried.joint)
    }

    /// Whether a joint is one of them.
    pub fn contains(&self, joint: usize) -> bool {
        self.joints().any(|loose| loose == joint)
    }

    /// Moves the joints of a pose to the ends of their limbs. They keep their rotation in the world, or with `turn` follow the
    /// limb's where `turn` says so.
    pub fn carry(&self, pose: &mut Pose, skeleton: &Skeleton, turn: impl Fn(usize) -> bool) {
        for carried in &self.0 {
            let worlds = pose.worlds(skeleton);
            let rotations = pose.world_rotations(skeleton);
            let rest = Pose::rest(skeleton).world_rotations(skeleton);
            let place = worlds[carried.by].transform_point3a(carried.rest.translation);
            let parent = skeleton.joints()[carried.joint].parent;
            let local = match parent {
                Some(parent) => worlds[parent].inverse().transform_point3a(place),
                None => place,
            };
            if !local.is_finite() {
                continue;
            }
            pose.locals[carried.joint].translation = local.into();
            if turn(carried.joint) {
                let followed = rotations[carried.by] * rest[carried.by].inverse();
                let wanted = followed * rest[carried.joint];
                let by = wanted * rotations[carried.joint].inverse();
                pose.rotate_world(skeleton, carried.joint, by.normalize());
            }
        }
    }
}
