//! Humanoid bones from the skeleton's topology and rest positions, without names.

use std::collections::BTreeMap;

use glam::Vec3;

use super::humanoid::{HumanBone, Side, common_ancestor, is_above, path_down};
use crate::Skeleton;

struct Shape<'a> {
    skeleton: &'a Skeleton,
    places: Vec<Vec3>,
    leaves: Vec<usize>,
    low: f32,
    high: f32,
}

/// Finds two legs that reach the ground, two arms that reach out, and the head on top. `None` if there is no such
/// structure. Left and right follow from the direction of the feet; if that is unclear, the body is assumed to face +Z.
pub(super) fn guess(skeleton: &Skeleton) -> Option<BTreeMap<HumanBone, Vec<usize>>> {
    let places: Vec<Vec3> = skeleton
        .rest_worlds()
        .iter()
        .map(|world| world.translation.into())
        .collect();
    let children = skeleton.children();
    let leaves: Vec<usize> = (0..skeleton.len())
        .filter(|&joint| children[joint].is_empty() && skeleton.joints()[joint].parent.is_some())
        .collect();
    let heights = || leaves.iter().map(|&leaf| places[leaf].y);
    let shape = Shape {
        skeleton,
        low: heights().reduce(f32::min)?,
        high: heights().reduce(f32::max)?,
        leaves: leaves.clone(),
        places: places.clone(),
    };
    let (hips, legs) = shape.legs(&children)?;
    if shape.stands_on_more(hips) {
        return None;
    }
    let forward = shape.forward(&legs);
    let left = Vec3::Y.cross(forward);
    let mut bones = BTreeMap::from([(HumanBone::Hips, vec![hips])]);
    let side_of = |chain: &[usize], other: &[usize]| {
        let reach = |chain: &[usize]| chain.iter().map(|&j| places[j].dot(left)).sum::<f32>();
        let mean = |chain: &[usize]| reach(chain) / chain.len().max(1) as f32;
        if mean(chain) > mean(other) {
            Side::Left
        } else {
            Side::Right
        }
    };
    for (leg, other) in [(&legs[0], &legs[1]), (&legs[1], &legs[0])] {
        let side = side_of(leg, other);
        let names = [
            HumanBone::UpperLeg(side),
            HumanBone::LowerLeg(side),
            HumanBone::Foot(side),
            HumanBone::Toes(side),
        ];
        for (name, joint) in names.into_iter().zip(shape.leg_joints(leg, other)?) {
            bones.insert(name, vec![joint]);
        }
    }
    if let Some(arms) = shape.arms(hips, left) {
        for (arm, other) in [(&arms[0], &arms[1]), (&arms[1], &arms[0])] {
            bones.extend(shape.arm_bones(arm, side_of(arm, other), &children));
        }
        bones.extend(shape.head(hips, &arms));
    }
    Some(bones)
}

impl Shape<'_> {
    /// The deepest joint with two branches down to near the ground, and the paths of both.
    fn legs(&self, children: &[Vec<usize>]) -> Option<(usize, [Vec<usize>; 2])> {
        let near_ground = self.low + 0.2 * (self.high - self.low);
        let lowest_under = |branch: usize| {
            (self.leaves.iter().copied())
                .filter(|&leaf| leaf == branch || is_above(self.skeleton, branch, leaf))
                .min_by(|&a, &b| self.places[a].y.total_cmp(&self.places[b].y))
                .filter(|&leaf| self.places[leaf].y < near_ground)
        };
        for hips in (0..self.skeleton.len()).rev() {
            if self.places[hips].y < self.low + 0.3 * (self.high - self.low) {
                continue;
            }
            let feet: Vec<usize> = children[hips]
                .iter()
                .filter_map(|&branch| lowest_under(branch))
                .collect();
            if let [a, b] = feet[..] {
                let legs = [a, b].map(|foot| path_down(self.skeleton, hips, foot));
                if let [Some(a), Some(b)] = legs {
                    return Some((hips, [a, b]));
                }
            }
        }
        None
    }

    /// Whether further limbs reach the ground from high up: a four-legged animal is not a humanoid.
    fn stands_on_more(&self, hips: usize) -> bool {
        let height = |share: f32| self.low + share * (self.high - self.low);
        let joints = self.skeleton.joints();
        let is_limb = |leaf: usize| {
            let mut above = std::iter::successors(joints[leaf].parent, |&j| joints[j].parent);
            // Controls on the ground are children of a root on the ground.
            above.any(|joint| self.places[joint].y > height(0.3) && joints[joint].parent.is_some())
        };
        (self.leaves.iter().copied())
            .filter(|&leaf| self.places[leaf].y < height(0.2))
            .any(|leaf| !is_above(self.skeleton, hips, leaf) && is_limb(leaf))
    }

    /// Horizontal direction of the feet.
    fn forward(&self, legs: &[Vec<usize>; 2]) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for leg in legs {
            if let [.., ankle, toe] = leg[..] {
                sum += self.places[toe] - self.places[ankle];
            }
        }
        sum.y = 0.0;
        if sum.length() > 0.02 * (self.high - self.low) {
            sum.normalize()
        } else {
            Vec3::Z
        }
    }

    /// Hip, knee, ankle and, if present, toes along a leg.
    fn leg_joints(&self, leg: &[usize], other: &[usize]) -> Option<Vec<usize>> {
        let leg = &leg[self.carriers(leg, other)..];
        let &hip = leg.first()?;
        let height = |joint: usize| self.places[joint].y;
        let ankle_height = self.low + 0.2 * (height(hip) - self.low);
        let ankle = (2..leg.len()).find(|&i| height(leg[i]) < ankle_height)?;
        let half = 0.5 * (height(hip) + height(leg[ankle]));
        let knee = (1..ankle).min_by(|&a, &b| {
            let off = |i: usize| (height(leg[i]) - half).abs();
            off(a).total_cmp(&off(b))
        })?;
        let mut joints = vec![hip, leg[knee], leg[ankle]];
        joints.extend(leg.get(ankle + 1));
        Some(joints)
    }

    /// Joints at the beginning of a leg that only carry the hip: short, and much nearer to the other side's than the hips are to each other. CMU's
    /// skeletons have one.
    fn carriers(&self, leg: &[usize], other: &[usize]) -> usize {
        let length = |i: usize| self.places[leg[i]].distance(self.places[leg[i + 1]]);
        let apart = |i: usize| self.places[leg[i]].distance(self.places[other[i]]);
        let carries = |i: usize| length(i) < 0.5 * length(i + 1) && apart(i) < 0.5 * apart(i + 1);
        // Three joints at least are left.
        let most = leg.len().min(other.len()).saturating_sub(3);
        (0..most).find(|&i| !carries(i)).unwrap_or(most)
    }

    /// Paths from the chest to the two leaves that reach out farthest.
    fn arms(&self, hips: usize, left: Vec3) -> Option<[Vec<usize>; 2]> {
        let reach = |&leaf: &usize| self.places[leaf].dot(left);
        let upper: Vec<usize> = (self.leaves.iter().copied())
            .filter(|&leaf| self.places[leaf].y > self.low + 0.3 * (self.high - self.low))
            .collect();
        let one = *upper.iter().max_by(|a, b| reach(a).total_cmp(&reach(b)))?;
        let other = *upper.iter().min_by(|a, b| reach(a).total_cmp(&reach(b)))?;
        let chest = common_ancestor(self.skeleton, one, other)?;
        let below = chest == hips || is_above(self.skeleton, hips, chest);
        let arms = [one, other].map(|leaf| path_down(self.skeleton, chest, leaf));
        match arms {
            [Some(a), Some(b)] if below && a.len() >= 2 && b.len() >= 2 => Some([a, b]),
            _ => None,
        }
    }

    /// Assigns an arm's joints, up to where fingers branch off.
    fn arm_bones(
        &self,
        arm: &[usize],
        side: Side,
        children: &[Vec<usize>],
    ) -> BTreeMap<HumanBone, Vec<usize>> {
        let branches = |pair: &[usize]| {
            let mut others = children[pair[0]].iter().filter(|&&child| child != pair[1]);
            others.any(|&child| !children[child].is_empty() || !self.is_between(child, pair))
        };
        let hand = arm.windows(2).position(branches).unwrap_or(arm.len() - 1);
        let mut joints = arm[..=hand].to_vec();
        let length = |i: usize| self.places[joints[i]].distance(self.places[joints[i + 1]]);
        let mut bones = BTreeMap::new();
        if joints.len() >= 4 && length(0) < 0.8 * length(1) {
            bones.insert(HumanBone::Shoulder(side), vec![joints.remove(0)]);
        }
        let names = [
            HumanBone::UpperArm(side),
            HumanBone::LowerArm(side),
            HumanBone::Hand(side),
        ];
        for (name, joint) in names.into_iter().zip(joints) {
            bones.insert(name, vec![joint]);
        }
        bones
    }

    /// Whether a joint lies on the segment between two others, as twist joints do.
    fn is_between(&self, joint: usize, pair: &[usize]) -> bool {
        let [from, to] = [pair[0], pair[1]].map(|end| self.places[end]);
        let (way, at) = (to - from, self.places[joint] - from);
        let along = at.dot(way) / way.length_squared().max(1e-12);
        (-0.1..=1.1).contains(&along) && at.distance(along * way) < 0.2 * way.length()
    }

    /// The highest leaf that is not part of an arm.
    fn head(&self, hips: usize, arms: &[Vec<usize>; 2]) -> Option<(HumanBone, Vec<usize>)> {
        let on_arm = |leaf: usize| {
            arms.iter()
                .any(|arm| arm[0] == leaf || is_above(self.skeleton, arm[0], leaf))
        };
        let top = (self.leaves.iter().copied())
            .filter(|&leaf| is_above(self.skeleton, hips, leaf) && !on_arm(leaf))
            .max_by(|&a, &b| self.places[a].y.total_cmp(&self.places[b].y))?;
        Some((HumanBone::Head, vec![top]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transform;
    use crate::keyed::mannequin;
    use crate::retarget::{BoneMap, Humanoid};
    use crate::skeleton::{Joint, JointKind};

    /// Adds a joint at a world position below the joint named `parent`.
    fn add(
        joints: &mut Vec<Joint>,
        places: &mut Vec<Vec3>,
        parent: Option<usize>,
        at: Vec3,
    ) -> usize {
        let offset = at - parent.map_or(Vec3::ZERO, |parent| places[parent]);
        joints.push(Joint {
            name: format!("k{}", joints.len()),
            parent,
            rest: Transform::from_translation(offset),
            tail: None,
            kind: JointKind::Bone,
        });
        places.push(at);
        joints.len() - 1
    }

    /// Twist joints and end joints do not change which joints are arms.
    #[test]
    fn twist_and_end_joints_are_not_fingers() {
        let plain = mannequin();
        let known = Humanoid::find(&plain, &BoneMap::default()).unwrap();
        let mut joints = plain.joints().to_vec();
        let mut places: Vec<Vec3> = (plain.rest_worlds().iter())
            .map(|world| world.translation.into())
            .collect();
        for (index, joint) in joints.iter_mut().enumerate() {
            joint.name = format!("n{index}");
            joint.rest = Transform::from_translation(
                places[index] - joint.parent.map_or(Vec3::ZERO, |parent| places[parent]),
            );
        }
        for side in Side::BOTH {
            let limbs = [
                (HumanBone::UpperArm(side), HumanBone::LowerArm(side)),
                (HumanBone::LowerArm(side), HumanBone::Hand(side)),
                (HumanBone::UpperLeg(side), HumanBone::LowerLeg(side)),
            ];
            for (bone, next) in limbs {
                let [from, to] = [bone, next].map(|bone| known.joint(bone).unwrap());
                let middle = places[from].midpoint(places[to]);
                add(&mut joints, &mut places, Some(from), middle);
            }
        }
        let (skeleton, order) = Skeleton::from_unordered(joints).unwrap();
        let found = Humanoid::find(&skeleton, &BoneMap::default()).unwrap();
        for side in Side::BOTH {
            for bone in [
                HumanBone::UpperArm(side),
                HumanBone::LowerArm(side),
                HumanBone::Hand(side),
                HumanBone::UpperLeg(side),
                HumanBone::LowerLeg(side),
                HumanBone::Foot(side),
            ] {
                let expected = known.joint(bone).map(|joint| order[joint]);
                assert_eq!(found.joint(bone), expected, "{}", bone.name());
            }
        }
    }

    #[test]
    fn a_four_legged_skeleton_is_not_a_humanoid() {
        let (mut joints, mut places) = (Vec::new(), Vec::new());
        let mut chain = |from: Option<usize>, way: &[Vec3]| {
            (way.iter()).fold(from, |parent, &at| {
                Some(add(&mut joints, &mut places, parent, at))
            })
        };
        let back = chain(None, &[Vec3::new(0.0, 0.7, -0.4)]);
        let chest = chain(
            back,
            &[Vec3::new(0.0, 0.72, 0.0), Vec3::new(0.0, 0.72, 0.4)],
        );
        let head = chain(
            chest,
            &[Vec3::new(0.0, 0.95, 0.6), Vec3::new(0.0, 1.05, 0.7)],
        );
        for x in [0.12, -0.12] {
            chain(
                head,
                &[Vec3::new(0.5 * x, 1.1, 0.7), Vec3::new(x, 1.25, 0.7)],
            );
            for (from, z) in [(chest, 0.4), (back, -0.4)] {
                let leg = [0.6, 0.35, 0.1].map(|y| Vec3::new(x, y, z));
                chain(
                    from,
                    &[leg[0], leg[1], leg[2], Vec3::new(x, 0.04, z + 0.07)],
                );
            }
        }
        let (skeleton, _) = Skeleton::from_unordered(joints).unwrap();
        assert!(Humanoid::find(&skeleton, &BoneMap::default()).is_err());
    }
}
