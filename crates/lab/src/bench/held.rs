//! Held poses: penetration that is left, and the speed that is left.

use serde::Serialize;
use supple_rig::{Character, Clip};
use supple_sim::ContactMode;

use supple::tissue::{SoftBody, TissueError};

/// Embedded clips, and the time at which each is held \[s\].
pub const POSES: [(&str, f32); 5] = [
    ("elbow", 1.3),
    ("knee", 0.95),
    ("sit", 1.5),
    ("arms_crossed", 1.5),
    ("squat", 1.4),
];

/// Step rates at which poses are held \[steps/s\].
pub const RATES: [u32; 4] = [30, 60, 120, 240];

/// Duration for which poses are held at these rates \[s\]: longer than the time window of any contact rule.
pub const HOLD_SECONDS: f32 = 2.5;

/// Result of a held pose.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Held {
    /// Number of skin points inside other parts.
    pub inside: usize,
    /// Largest depth \[mm\].
    pub depth_mm: f32,
    /// Largest depth relative to the limb.
    pub share: f32,
    /// RMS speed of all vertices at the end \[mm/s\].
    pub speed: f32,
}

/// Plays a clip up to `until` at 60 steps per second, then holds its pose for a second.
pub fn hold(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    until: f32,
    mode: ContactMode,
) -> Result<Held, TissueError> {
    hold_at(body, character, clip, until, mode, (60, 1.0))
}

/// Plays a clip up to `until`, then holds its pose, with the given steps per second and seconds.
pub fn hold_at(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    until: f32,
    mode: ContactMode,
    (rate, seconds): (u32, f32),
) -> Result<Held, TissueError> {
    let pose = |time: f32| clip.sample(&character.skeleton, time);
    let (steps, frame) = (
        |time: f32| (time * rate as f32) as usize,
        1.0 / f64::from(rate),
    );
    let settings = body.solver_settings();
    settings.contact.mode = mode;
    settings.step = frame;
    body.reset(&pose(0.0))?;
    for step in 1..=steps(until) {
        body.advance(&pose(step as f32 / rate as f32), frame)?;
    }
    for _ in 0..steps(seconds) {
        body.advance(&pose(until), frame)?;
    }
    let velocities = &body.state().velocities;
    let squares: f32 = velocities.iter().map(|v| v.length_squared()).sum();
    let left = body.penetration()?;
    Ok(Held {
        inside: left.count(),
        depth_mm: left.worst() * 1e3,
        share: left.worst_share(),
        speed: (squares / velocities.len().max(1) as f32).sqrt() * 1e3,
    })
}
