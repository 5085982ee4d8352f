//! Moving a character's skin over a clip with a geometric method.

use supple_rig::bake::Motion;
use supple_rig::skinning::weights::{WeightsError, automatic_binding};
use supple_rig::skinning::{Method, Skinner};
use supple_rig::{Character, Clip};

/// Which moments of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// First moment [s].
    pub from: f32,
    /// Last moment [s].
    pub to: f32,
    /// Frames a second.
    pub fps: f32,
}

impl Span {
    /// All of a clip.
    pub fn all(clip: &Clip, fps: f32) -> Self {
        Self {
            from: 0.0,
            to: clip.duration(),
            fps,
        }
    }

    /// The frames' times [s]: every 1/fps from the first moment, the last one included where it falls on a frame.
    pub fn times(&self) -> Vec<f32> {
        let frames = ((self.to - self.from).max(0.0) * self.fps + 1e-3).floor() as usize + 1;
        (0..frames)
            .map(|frame| self.from + frame as f32 / self.fps)
            .collect()
    }
}

/// Skins a character at every frame of a span; `frame_done` hears each frame's number.
pub fn skin(
    character: &Character,
    clip: &Clip,
    method: Method,
    span: Span,
    frame_done: &mut dyn FnMut(usize),
) -> Motion {
    let skinner = Skinner::new(character, method);
    let mut motion = Motion {
        fps: span.fps,
        ..Motion::default()
    };
    for (frame, time) in span.times().into_iter().enumerate() {
        let pose = clip.sample(&character.skeleton, time);
        let worlds = pose.worlds(&character.skeleton);
        let parts = character.parts.iter().enumerate().map(|(index, part)| {
            let morphs = clip.sample_morphs(index, time);
            let weights = morphs.as_deref().unwrap_or(&part.morph_weights);
            skinner.skin(index, part, &worlds, weights).positions
        });
        motion.frames.push(parts.collect());
        motion.poses.push(pose);
        frame_done(frame);
    }
    motion
}

/// Gives automatic weights to parts that have none, or to all; returns how many got some.
pub fn bind_missing(character: &mut Character, all: bool) -> Result<usize, WeightsError> {
    let skeleton = &character.skeleton;
    let mut bound = 0;
    for part in &mut character.parts {
        if all || part.binding.influences.is_empty() {
            part.binding = automatic_binding(&part.mesh, skeleton)?;
            bound += 1;
        }
    }
    Ok(bound)
}
