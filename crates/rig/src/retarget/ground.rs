//! Where feet meet the ground.

use glam::{Affine3A, Quat, Vec3};

use super::humanoid::{HumanBone, Humanoid, Side, is_above};
use crate::skinning::linear_blend;
use crate::{Character, Skeleton};

/// Legs spread further than this at rest do not stand: their feet hang on the legs as they are, so the foot is flat
/// when the leg is upright. CMU's rest pose spreads legs by 20°; standing A-poses stay below 10°.
const STANDING: f32 = 15.0 * std::f32::consts::PI / 180.0;

/// Turn in the world that lays a foot flat from its rest.
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
        Some(leg) if leg.angle_between(-Vec3::Y) > STANDING => {
            Quat::from_rotation_arc(leg, -Vec3::Y)
        }
        _ => Quat::IDENTITY,
    }
}

/// Points under both feet that touch the ground when the body stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Soles {
    /// Of left and right foot: joint and offset from it in its frame, without scale \[m\].
    points: [Vec<(usize, Vec3)>; 2],
    /// Height of the lower sole in the rest pose \[m\].
    pub rest_level: f32,
    /// Where poses are expected to have their ground \[m\].
    pub level: f32,
}

impl Soles {
    /// Finds heel, ball and toe tip of both feet: the joints' places, put down to the lowest of them.
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
            // Joint that carries the point, joint's place and point, seen from the ankle of the flat foot.
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
        // A skeleton that hangs about the origin is moved by its clips, which have their ground at zero.
        soles.level = if soles.rest_level.abs() < 0.3 * legs {
            soles.rest_level
        } else {
            0.0
        };
        soles
    }

    /// The skin of a character's feet. All of it: a dancer may stand on the tips of the toes.
    ///
    /// Shoes and toes reach further than joints do, so feet stand truer on these. None where a foot has no skin.
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

/// Skin that a foot or its toes move more than anything else does: joint and place at rest.
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

/// The height that feet return to, given the lowest sole of every frame; `expected` where nothing near it is found.
///
/// A tenth of all frames may lie lower: feet sink in a little when they land or when markers slip.
pub(super) fn standing_level(lowest: impl Iterator<Item = f32>, expected: f32, legs: f32) -> f32 {
    let mut lowest: Vec<f32> = lowest.filter(|height| height.is_finite()).collect();
    lowest.sort_unstable_by(f32::total_cmp);
    match lowest.get(lowest.len() / 10) {
        Some(&level) if (level - expected).abs() < 0.2 * legs => level,
        _ => expected,
    }
}
