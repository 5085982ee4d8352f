//! Interaction with the flesh: pull it, push a ball into it, shake the body.

use supple::glam::Vec3;
use supple::sim::contact::{Collider, Placement, Shape};
use supple::sim::{Model, State};
use supple::{Character, Pose};

/// Radius of a pull on the flesh, relative to the body's height.
const PULL_RADIUS: f32 = 0.045;
/// Stiffness of a pull \[mass / step²\]. Tissue is about 40 times stiffer than its inertia, so a stiffness of 1 has no visible
/// effect.
const PULL_STIFFNESS: f32 = 12.0;
/// Blend factor of a new pull force per step. Forces are explicit, so a stiff pull would oscillate; it is stable for any mass
/// while blend × (1 + stiffness) < 2.
const PULL_BLEND: f32 = 0.15;
/// Largest displacement that increases a pull, relative to the body's height. A stronger pull inverts tets.
const MAX_PULL: f32 = 0.04;
/// Frequency of a shake \[Hz\].
const SHAKE_FREQUENCY: f32 = 4.5;
/// Duration of a shake \[s\].
const SHAKE_DURATION: f32 = 0.9;

/// A pull on the flesh.
#[derive(Clone, Debug)]
struct Pull {
    /// Free vertex, weight, offset from the hand \[m\].
    vertices: Vec<(u32, f32, Vec3)>,
    target: Vec3,
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
    pull: Option<Pull>,
    ball: Option<Ball>,
    /// Amplitude and time since the start.
    shake: Option<(Vec3, f32)>,
    /// Forces of the last step \[N\].
    last_forces: Vec<Vec3>,
}

impl Hands {
    /// Grabs the flesh around a point, or moves the hand that holds it.
    pub fn pull(&mut self, state: &State, height: f32, from: Option<Vec3>, to: Vec3) {
        if !to.is_finite() {
            return;
        }
        if let Some(from) = from {
            let reach = PULL_RADIUS * height;
            let near = state.positions.iter().enumerate().filter_map(|(v, &x)| {
                let share = 1.0 - x.distance(from) / reach;
                (share > 0.0).then_some((v as u32, share.sqrt(), x - from))
            });
            self.pull = Some(Pull {
                vertices: near.collect(),
                target: to,
            });
        } else if let Some(pull) = &mut self.pull {
            pull.target = to;
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

    /// Forces of the pull on the free vertices \[N\]; empty without a pull.
    pub fn forces(&mut self, model: &Model, state: &State, step: f32, height: f32) -> Vec<Vec3> {
        if self.pull.is_none() {
            self.last_forces.clear();
            return Vec::new();
        }
        let mut ways = vec![Vec3::ZERO; state.positions.len()];
        if let Some(pull) = &self.pull {
            for &(v, share, offset) in &pull.vertices {
                let (v, most) = (v as usize, MAX_PULL * height);
                let way = pull.target + offset - state.positions[v];
                ways[v] += share * way.clamp_length_max(most);
            }
        }
        self.last_forces.resize(ways.len(), Vec3::ZERO);
        for ((last_forces, way), mass) in self.last_forces.iter_mut().zip(&ways).zip(model.masses())
        {
            let wanted = *way * (PULL_STIFFNESS * *mass as f32 / (step * step));
            *last_forces = last_forces.lerp(wanted, PULL_BLEND);
        }
        self.last_forces.clone()
    }
}

fn move_roots(character: &Character, pose: &mut Pose, offset: Vec3) {
    for (joint, local) in character.skeleton.joints().iter().zip(&mut pose.locals) {
        if joint.parent.is_none() {
            local.translation += offset;
        }
    }
}
