//! What a user's hands do to a body: pull a joint, pull the flesh, push a ball into it, shake it.

use supple::glam::Vec3;
use supple::rig::ik::{Limb, reach};
use supple::sim::contact::{Collider, Placement, Shape};
use supple::sim::{Model, State};
use supple::{Character, Pose};

/// Time in which a pulled joint follows and, let go, returns \[s\].
const EASE: f32 = 0.3;
/// How fast a pulled joint follows the hand \[1/s\]: faster looks jerky, slower like pulling through honey.
const FOLLOW: f32 = 14.0;
/// Reach of a pull on the flesh, relative to the body's height.
const PULL_REACH: f32 = 0.045;
/// Stiffness of a hand, in masses over the square of the step; and how much of a new force a step takes on. Forces act
/// as they were when the step began, so a stiff hand would ring: it does not, whatever it holds, while
/// share × (1 + stiffness) < 2. Tissue is some 40 times stiffer than its inertia: a hand of 1 would not be felt.
const HAND: (f32, f32) = (12.0, 0.15);
/// A pull is as strong as at this distance from the hand, however far away it is, relative to the body's height: more
/// turns tets inside out.
const PULL_MOST: f32 = 0.04;
/// Swings a second of a shake, and how long it lasts \[s\].
const SHAKE: (f32, f32) = (4.5, 0.9);

/// A joint in a hand.
#[derive(Clone, Debug)]
struct Grip {
    limb: Limb,
    /// Where the hand is \[m\].
    target: Vec3,
    /// Where the joint is led to \[m\].
    led: Vec3,
    held: bool,
    /// How much of the pull shows, 0 to 1.
    strength: f32,
}

/// Flesh in a hand.
#[derive(Clone, Debug)]
struct Pull {
    /// Free vertex, share of the pull, offset from the hand \[m\].
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

/// All that hands do at a moment.
#[derive(Clone, Debug, Default)]
pub struct Hands {
    grip: Option<Grip>,
    pull: Option<Pull>,
    ball: Option<Ball>,
    /// Direction and time since it began.
    shake: Option<(Vec3, f32)>,
    /// Forces of the last step \[N\].
    felt: Vec<Vec3>,
}

impl Hands {
    /// Takes a joint, or moves the hand that holds it.
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
                    led: pose.worlds(&character.skeleton)[joint].translation.into(),
                    held: true,
                    strength: 0.0,
                });
            }
        }
    }

    /// Takes the flesh around a point, or moves the hand that holds it.
    pub fn pull(&mut self, state: &State, height: f32, from: Option<Vec3>, to: Vec3) {
        if !to.is_finite() {
            return;
        }
        if let Some(from) = from {
            let reach = PULL_REACH * height;
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

    /// Puts a ball somewhere, or takes it away.
    pub fn poke(&mut self, ball: Option<Ball>) {
        self.ball = ball.filter(|ball| ball.centre.is_finite() && ball.radius > 0.0);
    }

    /// The ball, as something the skin does not go through.
    pub fn ball(&self) -> Option<Collider> {
        let ball = self.ball?;
        let shape = Shape::Sphere {
            radius: ball.radius,
        };
        Some(Collider::driven(shape, Placement::at(ball.centre)))
    }

    /// Lets everything go: the joint returns, the flesh is free, the ball is gone.
    pub fn release(&mut self) {
        if let Some(grip) = &mut self.grip {
            grip.held = false;
        }
        self.pull = None;
        self.ball = None;
    }

    /// Shakes the whole character along a direction of that length \[m\].
    pub fn shake(&mut self, amplitude: Vec3) {
        self.shake = Some((amplitude, 0.0));
    }

    /// Lets time pass and changes the pose as the hands want it.
    pub fn apply(&mut self, character: &Character, pose: &mut Pose, seconds: f32) {
        if let Some((amplitude, age)) = &mut self.shake {
            *age += seconds;
            let (rate, length) = SHAKE;
            let fade = (1.0 - *age / length).max(0.0);
            let offset = *amplitude * (fade * (*age * rate * std::f32::consts::TAU).sin());
            move_roots(character, pose, offset);
            if *age >= length {
                self.shake = None;
            }
        }
        let Some(grip) = &mut self.grip else { return };
        let step = seconds / EASE;
        grip.strength = (grip.strength + if grip.held { step } else { -step }).clamp(0.0, 1.0);
        if !grip.held && grip.strength == 0.0 {
            self.grip = None;
            return;
        }
        grip.led = grip.led.lerp(grip.target, (FOLLOW * seconds).min(1.0));
        let mut pulled = pose.clone();
        reach(&character.skeleton, &mut pulled, &grip.limb, grip.led);
        let smooth = grip.strength * grip.strength * (3.0 - 2.0 * grip.strength);
        *pose = pose.blend(&pulled, smooth);
    }

    /// Forces on the free vertices \[N\]; empty where no hand holds the flesh.
    pub fn forces(&mut self, model: &Model, state: &State, step: f32, height: f32) -> Vec<Vec3> {
        if self.pull.is_none() {
            self.felt.clear();
            return Vec::new();
        }
        let mut ways = vec![Vec3::ZERO; state.positions.len()];
        if let Some(pull) = &self.pull {
            for &(v, share, offset) in &pull.vertices {
                let (v, most) = (v as usize, PULL_MOST * height);
                let way = pull.target + offset - state.positions[v];
                ways[v] += share * way.clamp_length_max(most);
            }
        }
        self.felt.resize(ways.len(), Vec3::ZERO);
        let (stiffness, share) = HAND;
        for ((felt, way), mass) in self.felt.iter_mut().zip(&ways).zip(model.masses()) {
            let wanted = *way * (stiffness * *mass as f32 / (step * step));
            *felt = felt.lerp(wanted, share);
        }
        self.felt.clone()
    }
}

fn move_roots(character: &Character, pose: &mut Pose, offset: Vec3) {
    for (joint, local) in character.skeleton.joints().iter().zip(&mut pose.locals) {
        if joint.parent.is_none() {
            local.translation += offset;
        }
    }
}
