//! Posing by hand: a pose that is kept until it is changed or given up.

use supple::glam::{Quat, Vec3};
use supple::rig::Transform;
use supple::rig::ik::{Limb, reach};
use supple::{Character, Pose, Skeleton};

use crate::error::StageError;
use crate::stage::Stage;

/// Time in which a pose that was given up is blended out \[s\].
const BLEND_TIME: f32 = 0.3;
/// Rate at which the body follows the kept pose \[1/s\]. Higher looks jerky, lower sluggish.
const FOLLOW_RATE: f32 = 14.0;
/// Numbers of one joint: translation, rotation, scale, twist and stretch.
const JOINT_NUMBERS: usize = 12;

/// A joint in the hand.
#[derive(Clone, Debug)]
struct Grip {
    joint: usize,
    /// Pose at the beginning of the drag. Every move starts from it, so that the way of the hand does not matter.
    start: Pose,
    limb: Limb,
}

/// The pose made by hand.
#[derive(Clone, Debug, Default)]
pub struct Posing {
    /// None while a clip is shown.
    kept: Option<Pose>,
    /// The pose of the last step, which follows the kept one smoothly.
    shown: Option<Pose>,
    /// Share of the shown pose, from 0 to 1; the rest is the clip's.
    strength: f32,
    grip: Option<Grip>,
}

impl Posing {
    /// Whether a pose is kept.
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Keeps a pose, or (with `None`) gives up the kept one. `now` is the clip's pose.
    fn keep(&mut self, pose: Option<Pose>, now: &Pose) {
        self.grip = None;
        if pose.is_some() {
            self.begin(now);
        }
        self.kept = pose;
    }

    /// Starts from what is shown.
    fn begin(&mut self, now: &Pose) {
        if self.kept.is_none() {
            self.shown = Some(match &self.shown {
                Some(shown) => now.blend(shown, smooth(self.strength)),
                None => now.clone(),
            });
        }
        self.strength = 1.0;
    }

    /// Takes a joint into the hand, if it is not there yet.
    fn grip(&mut self, character: &Character, now: &Pose, joint: usize) -> &Grip {
        if self.grip.as_ref().is_none_or(|grip| grip.joint != joint) {
            self.begin(now);
            self.grip = None;
        }
        let kept = &self.kept;
        self.grip.get_or_insert_with(|| Grip {
            joint,
            start: kept.clone().unwrap_or_else(|| now.clone()),
            limb: Limb::of(character, joint),
        })
    }

    fn drag(&mut self, character: &Character, now: &Pose, joint: usize, target: Vec3) {
        let grip = self.grip(character, now, joint);
        let mut pose = grip.start.clone();
        reach(&character.skeleton, &mut pose, &grip.limb, target);
        self.kept = Some(pose);
    }

    fn turn(&mut self, character: &Character, now: &Pose, joint: usize, rotation: Quat) {
        let mut pose = self.grip(character, now, joint).start.clone();
        pose.rotate_world(&character.skeleton, joint, rotation);
        self.kept = Some(pose);
    }

    /// Lets go of the joint; the pose is kept.
    pub fn release(&mut self) {
        self.grip = None;
    }

    /// The pose to show, `seconds` after the last; `clip` is the pose without the hand's.
    pub fn apply(&mut self, clip: Pose, seconds: f32) -> Pose {
        let Some(shown) = &mut self.shown else {
            return clip;
        };
        match &self.kept {
            Some(kept) => *shown = shown.blend(kept, (FOLLOW_RATE * seconds).min(1.0)),
            None => self.strength -= seconds / BLEND_TIME,
        }
        if self.strength <= 0.0 {
            self.shown = None;
            return clip;
        }
        clip.blend(shown, smooth(self.strength))
    }
}

fn smooth(share: f32) -> f32 {
    let share = share.clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

impl Stage {
    /// Drags a joint to a place \[m\]; its limb bends. The pose is kept.
    pub fn grab(&mut self, joint: usize, to: Vec3) {
        if joint < self.character.skeleton.len() && to.is_finite() {
            let now = self.clip_pose();
            self.posing.drag(&self.character, &now, joint, to);
        }
    }

    /// Turns a joint, relative to where it was when the hand took it. The pose is kept.
    pub fn turn(&mut self, joint: usize, rotation: Quat) {
        if joint < self.character.skeleton.len() && rotation.is_finite() && rotation.length() > 0.0
        {
            let now = self.clip_pose();
            let rotation = rotation.normalize();
            self.posing.turn(&self.character, &now, joint, rotation);
        }
    }

    /// The kept pose as numbers, for [`Stage::set_kept_pose`]; empty if a clip is shown.
    pub fn kept_pose(&self) -> Vec<f32> {
        self.posing.kept.as_ref().map_or(Vec::new(), numbers)
    }

    /// Keeps a pose from [`Stage::kept_pose`]; an empty list gives up the kept one.
    pub fn set_kept_pose(&mut self, values: &[f32]) -> Result<(), StageError> {
        let pose = match values {
            [] => None,
            values => Some(pose(&self.character.skeleton, values).ok_or_else(|| {
                StageError::Other("the pose belongs to another skeleton".to_owned())
            })?),
        };
        let now = self.clip_pose();
        self.posing.keep(pose, &now);
        Ok(())
    }
}

fn numbers(pose: &Pose) -> Vec<f32> {
    let locals = pose.locals.iter().enumerate();
    locals
        .flat_map(|(joint, local)| {
            let mut of_joint = [0.0; JOINT_NUMBERS];
            of_joint[0..3].copy_from_slice(&local.translation.to_array());
            of_joint[3..7].copy_from_slice(&local.rotation.to_array());
            of_joint[7..10].copy_from_slice(&local.scale.to_array());
            of_joint[10] = pose.twist.get(joint).copied().unwrap_or(0.0);
            of_joint[11] = pose.stretch.get(joint).copied().unwrap_or(1.0);
            of_joint
        })
        .collect()
}

fn pose(skeleton: &Skeleton, values: &[f32]) -> Option<Pose> {
    if values.len() != JOINT_NUMBERS * skeleton.len() || values.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let joints = values.chunks_exact(JOINT_NUMBERS);
    let local = |of_joint: &[f32]| {
        let rotation = Quat::from_slice(&of_joint[3..7]);
        (rotation.length() > 0.0).then(|| Transform {
            translation: Vec3::from_slice(&of_joint[0..3]),
            rotation: rotation.normalize(),
            scale: Vec3::from_slice(&of_joint[7..10]),
        })
    };
    Some(Pose {
        locals: joints.clone().map(local).collect::<Option<_>>()?,
        twist: joints.clone().map(|of_joint| of_joint[10]).collect(),
        stretch: joints.map(|of_joint| of_joint[11]).collect(),
    })
}
