//! Hard motions of a soft body: clips, motion capture, wild poses, teleports. What is judged: finite numbers, sections of limbs, the
//! way back to rest.

use glam::{Quat, Vec3};
use supple::tissue::{SoftBody, TissueError};
use supple::{Character, Clip, Pose};
use supple_rig::retarget::HumanoidError;

use crate::limbs::{Limb, limbs};

/// Length of a frame \[s\].
const FRAME: f64 = 1.0 / 60.0;
/// Turn of a joint relative to its parent within one frame that no body can make: 3,600° a second. Motion capture has such
/// frames where markers were mistaken for each other.
const IMPOSSIBLE_TURN: f32 = 60.0 * std::f32::consts::PI / 180.0;
/// Frames after an impossible turn that are not judged: half a second.
const UNJUDGED: usize = 30;
/// Frames of a wild motion from one pose to the next.
const WILD_PERIOD: usize = 20;
/// Frames in which a body has to come back to rest, and how near \[m\].
const RETURN_FRAMES: usize = 600;
const RETURN_DISTANCE: f32 = 1e-3;

/// How a motion went.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Smallest section of a limb relative to rest, with its limb and time \[s\]; infinite if none was judged.
    pub smallest: f64,
    /// Limb and time of it.
    pub place: String,
    /// Whether every number was finite.
    pub finite: bool,
    /// Distance from rest after the motion \[mm\].
    pub off_mm: f32,
    /// Frames until it was there.
    pub frames: usize,
    /// Inverted tets at rest.
    pub inverted: usize,
}

/// A body on trial.
pub struct Trial<'a> {
    character: &'a Character,
    body: &'a mut SoftBody,
    limbs: Vec<Limb>,
    rest: Vec<Vec3>,
}

impl<'a> Trial<'a> {
    /// Of a humanoid, at rest.
    pub fn new(character: &'a Character, body: &'a mut SoftBody) -> Result<Self, HumanoidError> {
        Ok(Self {
            limbs: limbs(character)?,
            rest: body.positions().concat(),
            character,
            body,
        })
    }

    /// Plays seconds of a clip, then goes back to rest.
    pub fn clip(&mut self, clip: &Clip, seconds: f32) -> Result<Outcome, TissueError> {
        let frames = (f64::from(seconds) / FRAME) as usize;
        let skeleton = self.character.skeleton.clone();
        self.motion(frames + 1, true, &|frame| {
            clip.sample(&skeleton, (frame as f64 * FRAME) as f32)
        })
    }

    /// Wild poses: every joint turned by up to 170° about any axis, another pose every third of a second, with a jump by 5 m in the
    /// middle; then back to rest. Limbs are not judged.
    pub fn wild(&mut self, frames: usize, steps_per_second: f64) -> Result<Outcome, TissueError> {
        let mut seed = 7_u64;
        let mut unit = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1_u32 << 24) as f32
        };
        let rest = self.body.flesh().rest_pose();
        let mut poses = vec![rest.clone()];
        for _ in 0..=frames / WILD_PERIOD {
            let mut pose = rest.clone();
            for joint in 0..self.character.skeleton.len() {
                let angle = (2.0 * unit() - 1.0) * 170_f32.to_radians();
                let axis = Vec3::new(unit() - 0.5, unit() - 0.5, unit() - 0.5);
                let axis = axis.try_normalize().unwrap_or(Vec3::X);
                pose.rotate(joint, Quat::from_axis_angle(axis, angle));
            }
            poses.push(pose);
        }
        let before = self.body.solver_settings().step;
        self.body.solver_settings().step = 1.0 / steps_per_second;
        let outcome = self.motion(frames, false, &|frame| {
            let part = (frame % WILD_PERIOD) as f32 / WILD_PERIOD as f32;
            let from = frame / WILD_PERIOD;
            let mut pose = poses[from].blend(&poses[from + 1], part);
            if frame > frames / 2 + 7 {
                pose.locals[0].translation.x += 5.0;
            }
            pose
        });
        self.body.solver_settings().step = before;
        outcome
    }

    fn motion(
        &mut self,
        frames: usize,
        judged: bool,
        pose_at: &dyn Fn(usize) -> Pose,
    ) -> Result<Outcome, TissueError> {
        let mut outcome = Outcome {
            smallest: f64::INFINITY,
            finite: true,
            ..Outcome::default()
        };
        let (mut last, mut unjudged): (Option<Pose>, usize) = (None, 0);
        for frame in 0..frames {
            let pose = pose_at(frame);
            self.body.advance(&pose, FRAME)?;
            outcome.finite &= self.body.state().is_finite();
            unjudged = unjudged.saturating_sub(1);
            if last.is_some_and(|last| largest_turn(&last, &pose) > IMPOSSIBLE_TURN) {
                unjudged = UNJUDGED;
            }
            if judged && unjudged == 0 {
                self.judge(&pose, frame, &mut outcome);
            }
            last = Some(pose);
        }
        let rest = self.body.flesh().rest_pose();
        outcome.off_mm = f32::INFINITY;
        while outcome.frames < RETURN_FRAMES && outcome.off_mm > 1000.0 * RETURN_DISTANCE {
            self.body.advance(&rest, FRAME)?;
            outcome.frames += 1;
            // Reading the skin takes as long as a step.
            if outcome.frames.is_multiple_of(10) {
                let now = self.body.positions().concat();
                let off = now.iter().zip(&self.rest).map(|(a, b)| a.distance(*b));
                outcome.off_mm = 1000.0 * off.fold(0.0, f32::max);
            }
        }
        outcome.inverted = self.body.quality().inverted;
        Ok(outcome)
    }

    fn judge(&self, pose: &Pose, frame: usize, outcome: &mut Outcome) {
        let skin = self.body.positions().concat();
        let joints: Vec<Vec3> = (pose.worlds(&self.character.skeleton).iter())
            .map(|world| world.translation.into())
            .collect();
        for limb in &self.limbs {
            let found = limb.smallest(&skin, &joints);
            if found < outcome.smallest {
                outcome.smallest = found;
                outcome.place = format!("{} at {:.2} s", limb.name, frame as f64 * FRAME);
            }
        }
    }
}

/// Largest turn of a joint relative to its parent between two poses \[rad\].
fn largest_turn(from: &Pose, to: &Pose) -> f32 {
    let joints = from.locals.iter().zip(&to.locals);
    let turns = joints.map(|(a, b)| a.rotation.angle_between(b.rotation));
    turns.fold(0.0, f32::max)
}
