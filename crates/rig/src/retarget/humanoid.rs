//! The standard humanoid bones, and how to find them in a skeleton.

use std::collections::BTreeMap;

use glam::{Affine3A, Quat, Vec3};

use super::loose::{Loose, is_end};
use super::map::BoneMap;
use super::{HumanoidError, names, topology};
use crate::Skeleton;

/// A side of the body, from its own point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The left side.
    Left,
    /// The right side.
    Right,
}

impl Side {
    /// Left, then right.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// The other side.
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// A finger of a hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finger {
    /// Thumb.
    Thumb,
    /// Index finger.
    Index,
    /// Middle finger.
    Middle,
    /// Ring finger.
    Ring,
    /// Little finger.
    Little,
}

impl Finger {
    /// From thumb to little finger.
    pub const ALL: [Self; 5] = [
        Self::Thumb,
        Self::Index,
        Self::Middle,
        Self::Ring,
        Self::Little,
    ];
}

/// A standard humanoid bone (VRM 1.0 humanoid bones without eyes and jaw).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HumanBone {
    /// The pelvis, which carries root motion.
    Hips,
    /// Lowest joint of the spine.
    Spine,
    /// Middle of the spine.
    Chest,
    /// Joint of the spine that carries the arms.
    UpperChest,
    /// Neck.
    Neck,
    /// Head.
    Head,
    /// Thigh.
    UpperLeg(Side),
    /// Shank.
    LowerLeg(Side),
    /// Foot, from the ankle.
    Foot(Side),
    /// Toes, from the ball of the foot.
    Toes(Side),
    /// Collar bone.
    Shoulder(Side),
    /// Upper arm.
    UpperArm(Side),
    /// Forearm.
    LowerArm(Side),
    /// Hand, from the wrist.
    Hand(Side),
    /// A finger's joint, 0 next to the palm.
    Finger(Side, Finger, u8),
}

impl HumanBone {
    /// All bones.
    pub fn all() -> Vec<Self> {
        let mut all = vec![
            Self::Hips,
            Self::Spine,
            Self::Chest,
            Self::UpperChest,
            Self::Neck,
            Self::Head,
        ];
        for side in Side::BOTH {
            all.extend([
                Self::UpperLeg(side),
                Self::LowerLeg(side),
                Self::Foot(side),
                Self::Toes(side),
                Self::Shoulder(side),
                Self::UpperArm(side),
                Self::LowerArm(side),
                Self::Hand(side),
            ]);
            for finger in Finger::ALL {
                all.extend((0..3).map(|joint| Self::Finger(side, finger, joint)));
            }
        }
        all
    }

    /// The bone's VRM 1.0 name, such as `leftUpperLeg`.
    pub fn name(self) -> String {
        let sided = |side: Side, name: &str| match side {
            Side::Left => format!("left{name}"),
            Side::Right => format!("right{name}"),
        };
        match self {
            Self::Hips => "hips".into(),
            Self::Spine => "spine".into(),
            Self::Chest => "chest".into(),
            Self::UpperChest => "upperChest".into(),
            Self::Neck => "neck".into(),
            Self::Head => "head".into(),
            Self::UpperLeg(side) => sided(side, "UpperLeg"),
            Self::LowerLeg(side) => sided(side, "LowerLeg"),
            Self::Foot(side) => sided(side, "Foot"),
            Self::Toes(side) => sided(side, "Toes"),
            Self::Shoulder(side) => sided(side, "Shoulder"),
            Self::UpperArm(side) => sided(side, "UpperArm"),
            Self::LowerArm(side) => sided(side, "LowerArm"),
            Self::Hand(side) => sided(side, "Hand"),
            Self::Finger(side, finger, joint) => {
                let joints = match finger {
                    Finger::Thumb => ["Metacarpal", "Proximal", "Distal"],
                    _ => ["Proximal", "Intermediate", "Distal"],
                };
                let joint = joints[usize::from(joint).min(2)];
                sided(side, &format!("{finger:?}{joint}"))
            }
        }
    }

    /// The bone of a VRM name, ignoring case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all()
            .into_iter()
            .find(|bone| bone.name().eq_ignore_ascii_case(name))
    }

    /// The same bone on the other side.
    fn mirrored(self) -> Self {
        match self {
            Self::UpperLeg(side) => Self::UpperLeg(side.other()),
            Self::LowerLeg(side) => Self::LowerLeg(side.other()),
            Self::Foot(side) => Self::Foot(side.other()),
            Self::Toes(side) => Self::Toes(side.other()),
            Self::Shoulder(side) => Self::Shoulder(side.other()),
            Self::UpperArm(side) => Self::UpperArm(side.other()),
            Self::LowerArm(side) => Self::LowerArm(side.other()),
            Self::Hand(side) => Self::Hand(side.other()),
            Self::Finger(side, finger, joint) => Self::Finger(side.other(), finger, joint),
            middle => middle,
        }
    }
}

/// The joints of a skeleton that are humanoid bones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Humanoid {
    /// Joints of each bone. A bone made of a chain (two thigh joints, twist joints) has only its first joint; toes may
    /// have several, because many rigs animate them one by one.
    pub bones: BTreeMap<HumanBone, Vec<usize>>,
    /// Spine joints, from the one above the hips to the one that carries the arms.
    pub spine: Vec<usize>,
    /// Neck joints, from the one above the spine to the one below the head.
    pub neck: Vec<usize>,
    /// Whether left and right are swapped in the file.
    pub swapped: bool,
}

impl Humanoid {
    /// Finds the bones of a skeleton: by the map, then by joint names, then by topology.
    pub fn find(skeleton: &Skeleton, map: &BoneMap) -> Result<Self, HumanoidError> {
        let given = map.joints(skeleton)?;
        let mut humanoid = Self {
            bones: names::guess(skeleton),
            ..Self::default()
        };
        humanoid.bones.extend(given.clone());
        if !humanoid.has_legs(skeleton) {
            humanoid.bones = topology::guess(skeleton).unwrap_or(humanoid.bones);
            humanoid.bones.extend(given.clone());
        }
        humanoid.complete_hips(skeleton);
        humanoid.drop_detached(skeleton);
        humanoid.require_legs()?;
        humanoid.check_sides(skeleton, given.is_empty());
        humanoid.find_trunk(skeleton);
        Ok(humanoid)
    }

    /// First joint of a bone.
    pub fn joint(&self, bone: HumanBone) -> Option<usize> {
        self.bones.get(&bone)?.first().copied()
    }

    /// Rotation about Y from +Z to the body's facing at rest, from the line between the hip joints.
    pub fn facing(&self, rest: &[Affine3A]) -> Quat {
        let hip = |side| {
            self.joint(HumanBone::UpperLeg(side))
                .map_or(Vec3::ZERO, |joint| rest[joint].translation.into())
        };
        let forward = (hip(Side::Left) - hip(Side::Right)).cross(Vec3::Y);
        if forward.x.hypot(forward.z) > 1e-6 {
            Quat::from_rotation_y(forward.x.atan2(forward.z))
        } else {
            Quat::IDENTITY
        }
    }

    /// Whether both legs are there. A foot may hang elsewhere than on its leg.
    fn has_legs(&self, skeleton: &Skeleton) -> bool {
        let rest = skeleton.rest_worlds();
        Side::BOTH.iter().all(|&side| {
            let leg = [
                HumanBone::UpperLeg(side),
                HumanBone::LowerLeg(side),
                HumanBone::Foot(side),
            ];
            let joints: Vec<usize> = leg.iter().filter_map(|&bone| self.joint(bone)).collect();
            joints.len() == 3
                && is_above(skeleton, joints[0], joints[1])
                && (is_above(skeleton, joints[1], joints[2])
                    || is_end(skeleton, &rest, [joints[0], joints[1]], joints[2]))
        })
    }

    fn require_legs(&self) -> Result<(), HumanoidError> {
        let mut needed = vec![HumanBone::Hips];
        for side in Side::BOTH {
            needed.extend([
                HumanBone::UpperLeg(side),
                HumanBone::LowerLeg(side),
                HumanBone::Foot(side),
            ]);
        }
        let missing: Vec<String> = needed
            .into_iter()
            .filter(|&bone| self.joint(bone).is_none())
            .map(HumanBone::name)
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(HumanoidError::MissingBones {
                bones: missing.join(", "),
            })
        }
    }

    /// Replaces hips that do not carry both legs by the joint that does.
    fn complete_hips(&mut self, skeleton: &Skeleton) {
        let legs = Side::BOTH.map(|side| self.joint(HumanBone::UpperLeg(side)));
        let [Some(left), Some(right)] = legs else {
            return;
        };
        let named = self.joint(HumanBone::Hips);
        let carries =
            |hips: usize| is_above(skeleton, hips, left) && is_above(skeleton, hips, right);
        if named.is_none_or(|hips| !carries(hips)) {
            match common_ancestor(skeleton, left, right) {
                Some(hips) => self.bones.insert(HumanBone::Hips, vec![hips]),
                None => self.bones.remove(&HumanBone::Hips),
            };
        }
    }

    /// The joints of feet and hands that hang elsewhere than on their limbs.
    pub fn loose(&self, skeleton: &Skeleton) -> Vec<usize> {
        let loose = Loose::find(skeleton, self, &skeleton.rest_worlds());
        loose.joints().collect()
    }

    /// Drops limbs whose joints are not connected.
    fn drop_detached(&mut self, skeleton: &Skeleton) {
        let rest = skeleton.rest_worlds();
        for side in Side::BOTH {
            let arm = [
                HumanBone::UpperArm(side),
                HumanBone::LowerArm(side),
                HumanBone::Hand(side),
            ];
            for pair in arm.windows(2) {
                let attached = match (self.joint(pair[0]), self.joint(pair[1])) {
                    (Some(above), Some(below)) => {
                        let upper = self.joint(arm[0]);
                        is_above(skeleton, above, below)
                            || upper.is_some_and(|upper| {
                                upper != above && is_end(skeleton, &rest, [upper, above], below)
                            })
                    }
                    (_, below) => below.is_none(),
                };
                if !attached {
                    self.bones.remove(&pair[1]);
                }
            }
        }
    }

    /// Swaps the sides if the feet point backwards.
    fn check_sides(&mut self, skeleton: &Skeleton, may_swap: bool) {
        let rest = skeleton.rest_worlds();
        let forward = self.facing(&rest) * Vec3::Z;
        let backwards = Side::BOTH.iter().all(|&side| {
            self.foot_direction(&rest, side)
                .is_some_and(|foot| foot.dot(forward) < -0.5 * foot.length())
        });
        if backwards && may_swap {
            let bones = std::mem::take(&mut self.bones);
            self.bones = bones
                .into_iter()
                .map(|(bone, joints)| (bone.mirrored(), joints))
                .collect();
            self.swapped = true;
        }
    }

    /// Vector from the ankle to the middle of the toes at rest \[m\].
    pub(super) fn foot_direction(&self, rest: &[Affine3A], side: Side) -> Option<Vec3> {
        let ankle = self.joint(HumanBone::Foot(side))?;
        let toes = self.bones.get(&HumanBone::Toes(side))?;
        let middle: Vec3 = toes
            .iter()
            .map(|&toe| Vec3::from(rest[toe].translation))
            .sum();
        Some(middle / toes.len() as f32 - Vec3::from(rest[ankle].translation))
    }

    /// Finds the joints between hips, arms and head from the hierarchy.
    fn find_trunk(&mut self, skeleton: &Skeleton) {
        let given: Vec<usize> = [HumanBone::Spine, HumanBone::Chest, HumanBone::UpperChest]
            .iter()
            .filter_map(|&bone| self.joint(bone))
            .collect();
        let Some(hips) = self.joint(HumanBone::Hips) else {
            return;
        };
        let arms = Side::BOTH.map(|side| self.joint(HumanBone::UpperArm(side)));
        let head = self.joint(HumanBone::Head);
        let top = match (arms, head) {
            ([Some(left), Some(right)], _) => common_ancestor(skeleton, left, right),
            (_, Some(head)) => skeleton.joints()[head].parent,
            _ => None,
        };
        let between = |from: usize, to: Option<usize>| -> Vec<usize> {
            let path = to.map(|to| path_down(skeleton, from, to));
            path.flatten().unwrap_or_default()
        };
        self.spine = if given.is_empty() {
            between(hips, top)
        } else {
            given
        };
        let below_neck = self.spine.last().copied().unwrap_or(hips);
        self.neck = between(below_neck, head);
        self.neck.pop();
    }
}

/// Whether `above` is an ancestor of `joint`.
pub(super) fn is_above(skeleton: &Skeleton, above: usize, joint: usize) -> bool {
    let mut at = skeleton.joints()[joint].parent;
    while let Some(here) = at {
        if here == above {
            return true;
        }
        at = skeleton.joints()[here].parent;
    }
    false
}

/// The joints below `from` down to and including `to`; `None` if `to` is not a descendant of `from`.
pub(super) fn path_down(skeleton: &Skeleton, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut path = Vec::new();
    let mut at = to;
    while at != from {
        path.push(at);
        at = skeleton.joints()[at].parent?;
    }
    path.reverse();
    Some(path)
}

/// The lowest common ancestor of two joints.
pub(super) fn common_ancestor(skeleton: &Skeleton, a: usize, b: usize) -> Option<usize> {
    let mut at = skeleton.joints()[a].parent;
    while let Some(here) = at {
        if is_above(skeleton, here, b) {
            return Some(here);
        }
        at = skeleton.joints()[here].parent;
    }
    None
}
