//! Poses that are held: what of the skin is inside other parts, and whether it rests.

use serde::Serialize;
use supple_rig::{Character, Clip};
use supple_sim::ContactMode;

use supple::tissue::{SoftBody, TissueError};

const FRAME: f64 = 1.0 / 60.0;

/// Embedded clips and the moment of each that is held \[s\].
pub const POSES: [(&str, f32); 5] = [
    ("elbow", 1.3),
    ("knee", 0.95),
    ("sit", 1.5),
    ("arms_crossed", 1.5),
    ("squat", 1.4),
];

/// What becomes of a held pose.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Held {
    /// Skin points inside other parts.
    pub inside: usize,
    /// Depth of the deepest \[mm\].
    pub depth_mm: f32,
    /// Relative to the limb.
    pub share: f32,
    /// Root mean square over all vertices, a second after the pose was reached \[mm/s\].
    pub speed: f32,
}

/// Plays a clip up to `until`, then holds its pose for a second.
pub fn hold(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    until: f32,
    mode: ContactMode,
) -> Result<Held, TissueError> {
    let pose = |time: f32| clip.sample(&character.skeleton, time);
    body.solver_settings().contact.mode = mode;
    body.reset(&pose(0.0))?;
    for frame in 1..=(until * 60.0) as usize {
        body.advance(&pose(frame as f32 / 60.0), FRAME)?;
    }
    for _ in 0..60 {
        body.advance(&pose(until), FRAME)?;
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
