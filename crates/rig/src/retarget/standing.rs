//! A rest pose for motions whose own rest is not a standing person.
//!
//! In some motion files all offsets run along one axis, or every joint has a frame of its own, and only the rotations of the frames make a
//! person of it. Retargeting compares rest poses, so such a skeleton takes the frame in which it stands best as its rest.

use glam::{Affine3A, Quat, Vec3};

use super::humanoid::{HumanBone, Humanoid, Side};
use super::map::BoneMap;
use crate::{Clip, Pose, Skeleton};

/// Cosine of the largest lean of trunk and legs at rest: 60°. A person who lies or hangs has no standing rest; legs spread by 45° do.
const LEAN: f32 = 0.5;
/// Frames that are looked at, spread over the clip.
const FRAMES: usize = 400;

/// How trunk (from the hip joints to the top of the spine) and legs point: cosines to up and down, 1 if standing.
struct Stance {
    trunk: f32,
    legs: [f32; 4],
}

impl Stance {
    fn of(humanoid: &Humanoid, worlds: &[Affine3A]) -> Option<Self> {
        let place = |joint: usize| Vec3::from(worlds[joint].translation);
        let bone = |bone| humanoid.joint(bone).map(place);
        let mut hips = Vec3::ZERO;
        let mut legs = Vec::new();
        for side in Side::BOTH {
            let hip = bone(HumanBone::UpperLeg(side))?;
            let knee = bone(HumanBone::LowerLeg(side))?;
            let ankle = bone(HumanBone::Foot(side))?;
            hips += 0.5 * hip;
            legs.extend([hip - knee, knee - ankle].map(|up| up.normalize_or_zero().y));
        }
        let top = top(humanoid)?;
        Some(Self {
            trunk: (place(top) - hips).normalize_or_zero().y,
            legs: legs.try_into().ok()?,
        })
    }

    fn stands(&self) -> bool {
        self.trunk > LEAN && self.legs.iter().all(|&leg| leg > LEAN)
    }

    fn score(&self) -> f32 {
        2.0 * self.trunk + self.legs.iter().sum::<f32>()
    }
}

/// Uppermost joint of trunk, neck or head that there is, apart from the hips.
fn top(humanoid: &Humanoid) -> Option<usize> {
    let neck = humanoid.neck.first().or(humanoid.spine.last());
    neck.copied().or_else(|| humanoid.joint(HumanBone::Head))
}

/// The skeleton with a standing frame of the clip as its rest, facing +Z above the origin; `None` if it stands at rest already, is no humanoid,
/// or never stands.
pub fn standing_rest(skeleton: &Skeleton, clip: &Clip, map: &BoneMap) -> Option<Skeleton> {
    let humanoid = Humanoid::find(skeleton, map).ok()?;
    if Stance::of(&humanoid, &skeleton.rest_worlds())?.stands() {
        return None;
    }
    let step = clip.duration() / FRAMES as f32;
    let mut best: Option<(Pose, Stance)> = None;
    for frame in 0..=FRAMES {
        let pose = clip.sample(skeleton, frame as f32 * step);
        let stance = Stance::of(&humanoid, &pose.worlds(skeleton))?;
        let better = |(_, other): &(Pose, Stance)| stance.score() > other.score();
        if stance.stands() && best.as_ref().is_none_or(better) {
            best = Some((pose, stance));
        }
    }
    let (mut pose, _) = best?;
    straighten(&humanoid, skeleton, &mut pose);
    // Sides are told apart by where the feet point, which only the new rest shows.
    let standing = with_rest(skeleton, &pose);
    let humanoid = Humanoid::find(&standing, map).ok()?;
    let worlds = standing.rest_worlds();
    let hip = |side| {
        let joint = humanoid.joint(HumanBone::UpperLeg(side))?;
        Some(Vec3::from(worlds[joint].translation))
    };
    let pelvis = hip(Side::Left)?.midpoint(hip(Side::Right)?);
    let home = humanoid.facing(&worlds).inverse();
    for (joint, local) in pose.locals.iter_mut().enumerate() {
        if skeleton.joints()[joint].parent.is_none() {
            local.translation = home * (local.translation - pelvis.with_y(0.0));
            local.rotation = (home * local.rotation).normalize();
        }
    }
    Some(with_rest(skeleton, &pose))
}

/// Turns the lowest joint of the spine until the trunk is upright: rest poses are.
fn straighten(humanoid: &Humanoid, skeleton: &Skeleton, pose: &mut Pose) {
    let (Some(&low), Some(top)) = (humanoid.spine.first(), top(humanoid)) else {
        return;
    };
    let worlds = pose.worlds(skeleton);
    let along = Vec3::from(worlds[top].translation - worlds[low].translation);
    if let Some(along) = along.try_normalize() {
        pose.rotate_world(skeleton, low, Quat::from_rotation_arc(along, Vec3::Y));
    }
}

fn with_rest(skeleton: &Skeleton, pose: &Pose) -> Skeleton {
    let mut skeleton = skeleton.clone();
    for (joint, local) in pose.locals.iter().enumerate() {
        *skeleton.rest_mut(joint) = *local;
    }
    skeleton
}
