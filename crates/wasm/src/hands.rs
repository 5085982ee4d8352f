//! Interaction with the flesh: pull it, push a ball into it, shake the body.

use supple::glam::Vec3;
use supple::pull::{HAND_RADIUS, Pull};
use supple::sim::contact::{Collider, Placement, Shape};
use supple::tissue::SoftBody;
use supple::{Character, Pose};

/// Frequency of a shake \[Hz\].
const SHAKE_FREQUENCY: f32 = 4.5;
/// Duration of a shake \[s\].
const SHAKE_DURATION: f32 = 0.9;

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
    pull: Option<Pull>,
    ball: Option<Ball>,
    /// Amplitude and time since the start.
    shake: Option<(Vec3, f32)>,
}

impl Hands {
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

    /// Releases the flesh, and removes the ball.
    pub fn release(&mut self) {
        self.pull = None;
        self.ball = None;
    }

    /// Shakes the whole character with an amplitude \[m\].
    pub fn shake(&mut self, amplitude: Vec3) {
        self.shake = Some((amplitude, 0.0));
    }

    /// Advances time, and applies the shake to the pose.
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
