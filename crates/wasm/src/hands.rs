//! Interaction with a body: drag a joint, pull the flesh, push a ball into it, shake it.

use supple::glam::Vec3;
use supple::pull::{HAND_RADIUS, Pull};
use supple::rig::ik::{Limb, reach};
use supple::sim::contact::{Collider, Placement, Shape};
use supple::tissue::SoftBody;
use supple::{Character, Pose};

/// Time in which a dragged joint is blended in and, once released, out \[s\].
const BLEND_TIME: f32 = 0.3;
/// Rate at which a dragged joint follows the hand \[1/s\]. Higher looks jerky, lower sluggish.
const FOLLOW_RATE: f32 = 14.0;
/// Frequency of a shake \[Hz\].
const SHAKE_FREQUENCY: f32 = 4.5;
/// Duration of a shake \[s\].
const SHAKE_DURATION: f32 = 0.9;

/// A dragged joint.
#[derive(Clone, Debug)]
struct Grip {
    limb: Limb,
    /// Position of the hand \[m\].
    target: Vec3,
    /// Smoothed target of the joint \[m\].
    smoothed: Vec3,
    held: bool,
    /// Blend factor, from 0 to 1.
    strength: f32,
}

/// A ball pushed into the flesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Centre \[m\].
    pub centre: Vec3,
    /// Radius \[m\].
    pub radius: f32,
}

/// The current interactions.
#[derive(Clone, Debug, Default)]
pub struct Hands {
    grip: Option<Grip>,
    pull: Option<Pull>,
    ball: Option<Ball>,
    /// Amplitude and time since the start.
    shake: Option<(Vec3, f32)>,
}

impl Hands {
    /// Grabs a joint, or moves the hand that holds it.
    pub fn grab_joint(&mut self, character: &Character, pose: &Pose, joint: usize, target: Vec3) {
        if joint >= character.skeleton.len() || !target.is_finite() {
            return;
        }
        match &mut self.grip {
            Some(grip) if grip.held && grip.limb.joints.last() == Some(&joint) => {
                grip.target = target;
            }
            _ => {
                self.grip = Some(Grip {
                    limb: Limb::of(character, joint),
                    target,
                    smoothed: pose.worlds(&character.skeleton)[joint].translation.into(),
                    held: true,
                    strength: 0.0,
                });
            }
        }
    }

    /// Grabs the flesh around a point, or moves the hand that holds it.
    pub fn pull(&mut self, body: &SoftBody, height: f32, from: Option<Vec3>, to: Vec3) {
        if let Some(from) = from.filter(|from| from.is_finite()) {
            self.pull = Some(Pull::new(body, from, HAND_RADIUS * height));
        }
        if let Some(pull) = &mut self.pull {
            pull.move_to(to);
        }
    }

    /// Places the ball, or removes it.
    pub fn poke(&mut self, ball: Option<Ball>) {
        self.ball = ball.filter(|ball| ball.centre.is_finite() && ball.radius > 0.0);
    }

    /// The ball as a collider.
    pub fn ball(&self) -> Option<Collider> {
        let ball = self.ball?;
        let shape = Shape::Sphere {
            radius: ball.radius,
        };
        Some(Collider::driven(shape, Placement::at(ball.centre)))
    }

    /// Releases the joint and the flesh, and removes the ball.
    pub fn release(&mut self) {
        if let Some(grip) = &mut self.grip {
            grip.held = false;
        }
        self.pull = None;
        self.ball = None;
    }

    /// Shakes the whole character with an amplitude \[m\].
    pub fn shake(&mut self, amplitude: Vec3) {
        self.shake = Some((amplitude, 0.0));
    }

    /// Advances time, and applies shake and dragged joint to the pose.
    pub fn apply(&mut self, character: &Character, pose: &mut Pose, seconds: f32) {
        if let Some((amplitude, age)) = &mut self.shake {
            *age += seconds;
            let fade = (1.0 - *age / SHAKE_DURATION).max(0.0);
            let phase = *age * SHAKE_FREQUENCY * std::f32::consts::TAU;
            let offset = *amplitude * (fade * phase.sin());
            move_roots(character, pose, offset);
            if *age >= SHAKE_DURATION {
                self.shake = None;
            }
        }
        let Some(grip) = &mut self.grip else { return };
        let step = seconds / BLEND_TIME;
        grip.strength = (grip.strength + if grip.held { step } else { -step }).clamp(0.0, 1.0);
        if !grip.held && grip.strength == 0.0 {
            self.grip = None;
            return;
        }
        grip.smoothed = grip
            .smoothed
            .lerp(grip.target, (FOLLOW_RATE * seconds).min(1.0));
        let mut pulled = pose.clone();
        reach(&character.skeleton, &mut pulled, &grip.limb, grip.smoothed);
        let smooth = grip.strength * grip.strength * (3.0 - 2.0 * grip.strength);
        *pose = pose.blend(&pulled, smooth);
    }

    /// Sets the forces of the pull on the body that is held.
    pub fn pull_flesh(&mut self, body: &mut SoftBody) {
        match &mut self.pull {
            Some(pull) => pull.apply(body),
            None => body.set_forces(Vec::new()),
        }
    }
}

fn move_roots(character: &Character, pose: &mut Pose, offset: Vec3) {
    for (joint, local) in character.skeleton.joints().iter().zip(&mut pose.locals) {
        if joint.parent.is_none() {
            local.translation += offset;
        }
    }
}
