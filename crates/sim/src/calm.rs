//! Damping of jiggle that goes on after the bones have come to rest.
//!
//! Implicit integration damps jiggle of angular frequency ω at the rate ω² h / 2. That calms the flesh of a person in tenths of a
//! second. Flesh of a figure of four metres swings once in one to two seconds, and would do so for many more. A damping at all
//! times would change how folds come to rest in contact, so it begins only when the bones have been still for a while.

use std::borrow::Cow;

use glam::Vec3;

use crate::contact::rules::STILL_SPEED;
use crate::{Model, Settings, State, Targets};

/// Time after the bones have stopped for which jiggle is left alone \[s\]. Below it a landing would be cut short.
pub const CALM_TIME: f64 = 1.0;
/// Half-life of velocities relative to the bones after that \[s\]. At 0.5 a giant's belly still moves by 0.05 % of its height after a
/// second; at 0.05 it creeps back instead of swinging.
pub const CALM_HALF_LIFE: f64 = 0.15;

/// Counts for how long the fixed vertices have been still, at the end of a frame of `dt` seconds.
pub fn count_stillness(model: &Model, from: &Targets, to: &Targets, dt: f64, state: &mut State) {
    let moved = (from.fixed.iter().zip(&to.fixed))
        .map(|(a, b)| a.distance_squared(*b))
        .fold(0.0, f32::max);
    let most = STILL_SPEED * model.fixed_size() * dt as f32;
    // Tissue without bones falls freely and is never still; what is pulled may swing when it is let go.
    let is_pulled = to.forces.iter().any(|&force| force != Vec3::ZERO);
    let is_still = !to.fixed.is_empty() && !is_pulled && moved.sqrt() <= most;
    state.still_for = if is_still { state.still_for + dt } else { 0.0 };
}

/// Settings of a step, with more damping if the bones have been still for long.
pub fn calmed<'a>(settings: &'a Settings, state: &State) -> Cow<'a, Settings> {
    let mut settings = Cow::Borrowed(settings);
    if state.still_for > CALM_TIME && settings.damping_half_life > CALM_HALF_LIFE {
        settings.to_mut().damping_half_life = CALM_HALF_LIFE;
    }
    settings
}
