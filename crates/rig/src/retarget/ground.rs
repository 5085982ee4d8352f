//! Foot soles and ground height.

use glam::{Affine3A, Quat, Vec3};

use super::humanoid::{HumanBone, Humanoid, Side, is_above};
use crate::skinning::linear_blend;
use crate::{Character, Skeleton};

/// Largest spread of legs that stand at rest. With a larger spread the feet are taken to be flat when the
/// leg is upright. CMU's rest pose spreads legs by 20°; standing A-poses stay below 10°.
const MAX_STANDING_SPREAD: f32 = 15.0 * std::f32::consts::PI / 180.0;

/// World rotation from a foot's rest to the foot lying flat.
pub(super) fn neutral_foot(humanoid: &Humanoid, rest: &[Affine3A], side: Side) -> Quat {
    let place = |bone| {
        humanoid
            .joint(bone)
            .map(|joint| Vec3::from(rest[joint].translation))
    };
    let ends = (
        place(HumanBone::UpperLeg(side)),
        place(HumanBone::Foot(side)),
    );
    let (Some(hip), Some(ankle)) = ends else {
        return Quat::IDENTITY;
    };
    match (ankle - hip).try_normalize() {
        Some(leg) if leg.angle_between(-Vec3::Y) > MAX_STANDING_SPREAD => {
            Quat::from_rotation_arc(leg, -Vec3::Y)
        }
        _ => Quat::IDENTITY,
    }
}

/// Sole points of both feet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Soles {
    /// For the left and the right foot: joint, and offset from it in its frame, without scale \[m\].
    points: [Vec<(usize, Vec3)>; 2],
    /// Height of the lower sole in the rest pose \[m\].
    pub rest_level: f32,
    /// Ground height that poses are expected to have \[m\].
    pub level: f32,
}

impl Soles {
    /// Estimates heel, ball and toe tip of both feet from joint positions, lowered to the lowest of them.
    pub(super) fn find(
        skeleton: &Skeleton,
        humanoid: &Humanoid,
        rest: &[Affine3A],
        rest_rotations: &[Quat],
    ) -> Self {
        let mut soles = Self::default();
        let mut levels = Vec::new();
        let mut legs = 0.0_f32;
        for side in Side::BOTH {
            let (Some(foot), Some(hip)) = (
                humanoid.joint(HumanBone::Foot(side)),
                humanoid.joint(HumanBone::UpperLeg(side)),
            ) else {
                continue;
            };
            let flat = neutral_foot(humanoid, rest, side);
            let ankle = Vec3::from(rest[foot].translation);
            legs = legs.max(ankle.distance(rest[hip].translation.into()));
            // Carrying joint, joint position and sole point, relative to the ankle of the flat foot.
            let mut points = vec![(foot, Vec3::ZERO, Vec3::ZERO)];
            for &toe in humanoid
                .bones
                .get(&HumanBone::Toes(side))
                .into_iter()
                .flatten()
            {
                let ball = flat * (Vec3::from(rest[toe].translation) - ankle);
                points.push((foot, Vec3::ZERO, ball));
                let tip = flat * (tip_of(skeleton, rest, toe) - ankle);
                points.push((toe, ball, tip));
            }
            let drop = points.iter().fold(0.0_f32, |low, point| low.min(point.2.y));
            for (joint, origin, point) in points {
                let down = Vec3::new(point.x, drop, point.z) - origin;
                let local = (flat * rest_rotations[joint]).inverse() * down;
                soles.points[side as usize].push((joint, local));
            }
            levels.push(ankle.y + drop);
        }
        soles.rest_level = levels.into_iter().reduce(f32::min).unwrap_or(0.0);
        // A skeleton with its rest around the origin is moved by its clips, whose ground is at zero.
        soles.level = if soles.rest_level.abs() < 0.3 * legs {
            soles.rest_level
        } else {
            0.0
        };
        soles
    }

    /// Sole points from the skin of a character's feet. All foot skin is used: a dancer may stand on the toe tips.
    ///
    /// Skin is more accurate than joints, because shoes and toes extend past the joints. `None` if a foot has no skin.
    pub(super) fn of_skin(
        character: &Character,
        humanoid: &Humanoid,
        rest: &[Affine3A],
        rest_rotations: &[Quat],
    ) -> Option<Self> {
        let mut soles = Self {
            rest_level: f32::INFINITY,
            ..Self::default()
        };
        for side in Side::BOTH {
            let foot = humanoid.joint(HumanBone::Foot(side))?;
            let skin = foot_skin(character, foot, rest);
            let level = skin.iter().map(|point| point.1.y).reduce(f32::min)?;
            for (joint, place) in skin {
                let offset = place - Vec3::from(rest[joint].translation);
                let local = rest_rotations[joint].inverse() * offset;
                soles.points[side as usize].push((joint, local));
            }
            soles.rest_level = soles.rest_level.min(level);
        }
        soles.level = soles.rest_level;
        Some(soles)
    }

    /// Height of the lowest point of left and right foot in a pose \[m\].
    pub fn lowest_each(&self, worlds: &[Affine3A], rotations: &[Quat]) -> [f32; 2] {
        let height = |&(joint, local): &(usize, Vec3)| {
            worlds[joint].translation.y + (rotations[joint] * local).y
        };
        [0, 1].map(|side| {
            let heights = self.points[side].iter().map(height);
            heights.reduce(f32::min).unwrap_or(0.0)
        })
    }

    /// Height of the lowest point in a pose \[m\].
    pub fn lowest(&self, worlds: &[Affine3A], rotations: &[Quat]) -> f32 {
        let [left, right] = self.lowest_each(worlds, rotations);
        left.min(right)
    }
}

/// Skin vertices with their largest weight on a foot or its toes: joint and rest position.
fn foot_skin(character: &Character, foot: usize, rest: &[Affine3A]) -> Vec<(usize, Vec3)> {
    let mut skin = Vec::new();
    for part in &character.parts {
        let binding = &part.binding;
        let posed = linear_blend(part, rest, &part.morph_weights).positions;
        for (vertex, &place) in posed.iter().enumerate().take(binding.influences.len()) {
            let strongest = (binding.influences.of(vertex).iter())
                .max_by(|a, b| a.1.total_cmp(&b.1))
                .and_then(|entry| binding.joints.get(entry.0 as usize));
            if let Some(&joint) = strongest
                && joint < rest.len()
                && (joint == foot || is_above(&character.skeleton, foot, joint))
                && place.is_finite()
            {
                skin.push((joint, place));
            }
        }
    }
    skin
}

/// The end of the longest chain below a joint: its last joint or tail.
fn tip_of(skeleton: &Skeleton, rest: &[Affine3A], joint: usize) -> Vec3 {
    let mut at = joint;
    while let Some(child) =
        (at + 1..skeleton.len()).find(|&child| skeleton.joints()[child].parent == Some(at))
    {
        at = child;
    }
    let tail = skeleton.joints()[at].tail.unwrap_or(Vec3::ZERO);
    rest[at].transform_point3(tail)
}

/// Ground height from the lowest sole point of every frame; `expected` if nothing is found near it.
///
/// Uses the 10th percentile: feet sink in a little when they land or when markers slip.
pub(super) fn standing_level(lowest: impl Iterator<Item = f32>, expected: f32, legs: f32) -> f32 {
    let mut lowest: Vec<f32> = lowest.filter(|height| height.is_finite()).collect();
    lowest.sort_unstable_by(f32::total_cmp);
    match lowest.get(lowest.len() / 10) {
        Some(&level) if (level - expected).abs() < 0.2 * legs => level,
        _ => expected,
    }
}
