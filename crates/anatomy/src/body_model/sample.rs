//! Random bodies of the space in random standing poses, the same for the same seed.

use glam::{DQuat, DVec3};

use super::{BodyModel, Figure};

/// Largest angles of a sampled pose \[rad\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseRange {
    /// Arms from the rest pose: lowered (negative) to raised.
    pub arms: (f64, f64),
    /// Bend of the elbows.
    pub elbows: f64,
    /// Legs from the rest pose: closed (negative) to apart.
    pub legs: (f64, f64),
    /// Bend and turn of spine, neck, head, wrists, knees and feet.
    pub rest: f64,
}

impl Default for PoseRange {
    /// Arms from hanging to a T, bent a little; legs from nearly closed to apart.
    fn default() -> Self {
        PoseRange {
            arms: (-0.55, 0.8),
            elbows: 0.35,
            legs: (-0.06, 0.15),
            rest: 0.07,
        }
    }
}

/// Draws bodies and poses.
#[derive(Clone, Debug)]
pub struct BodySampler {
    state: u64,
}

/// Coefficients stay within this many standard deviations: beyond, bodies of the space get folds.
const LARGEST_COEFFICIENT: f64 = 2.2;
/// Share of their expected size that the widening fields are drawn with.
const WIDENING_SHARE: f64 = 0.4;
/// Statures of adults that are kept \[m\].
const STATURES: std::ops::Range<f64> = 1.45..2.05;

impl BodySampler {
    /// Starts a sequence.
    pub fn new(seed: u64) -> Self {
        BodySampler { state: seed }
    }

    /// Uniform in 0 … 1 (SplitMix64, Steele, Lea and Flood 2014).
    pub fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Coefficients of an adult.
    pub fn coefficients(&mut self, model: &BodyModel) -> Vec<f64> {
        loop {
            let drawn: Vec<f64> = (model.deviations.iter().zip(&model.field_names))
                .map(|(&deviation, name)| {
                    let share = match name.starts_with("component") {
                        true => 1.0,
                        false => WIDENING_SHARE,
                    };
                    let normal = self
                        .normal()
                        .clamp(-LARGEST_COEFFICIENT, LARGEST_COEFFICIENT);
                    share * deviation * normal
                })
                .collect();
            let vertices = model.rest_vertices(&drawn);
            let heights = || vertices.iter().map(|v| v.y);
            let stature = heights().fold(0.0, f64::max) - heights().fold(9.0, f64::min);
            if STATURES.contains(&stature) {
                return drawn;
            }
        }
    }

    /// A body in a standing pose, turned by `heading` about the vertical \[rad\].
    pub fn figure(&mut self, model: &BodyModel, range: &PoseRange, heading: f64) -> Figure {
        let mut figure = Figure {
            coefficients: self.coefficients(model),
            ..Figure::mean(model)
        };
        let mut turn = |name: &str, axis: DVec3, angle: f64| {
            let local = &mut figure.locals[model.joint(name)];
            *local = DQuat::from_axis_angle(axis, angle) * *local;
        };
        turn("root", DVec3::Y, heading);
        let (arms, legs) = (
            self.between(range.arms.0, range.arms.1),
            self.between(range.legs.0, range.legs.1),
        );
        for (side, sign) in [(".L", 1.0), (".R", -1.0)] {
            let slight = |sampler: &mut Self| range.rest * sampler.between(-1.0, 1.0);
            turn(
                &format!("upperarm01{side}"),
                DVec3::Z,
                sign * (arms + slight(self)),
            );
            turn(&format!("upperarm01{side}"), DVec3::Y, slight(self));
            let bend = range.elbows * self.uniform();
            turn(&format!("lowerarm01{side}"), DVec3::X, -bend);
            turn(&format!("wrist{side}"), DVec3::Z, slight(self));
            turn(&format!("upperleg01{side}"), DVec3::Z, sign * legs);
            turn(&format!("upperleg01{side}"), DVec3::X, slight(self));
            turn(&format!("lowerleg01{side}"), DVec3::X, slight(self).abs());
            turn(&format!("foot{side}"), DVec3::Y, slight(self));
        }
        for name in ["spine05", "spine03", "spine01", "neck01", "head"] {
            for axis in DVec3::AXES {
                turn(name, axis, 0.5 * range.rest * self.between(-1.0, 1.0));
            }
        }
        figure
    }
}
