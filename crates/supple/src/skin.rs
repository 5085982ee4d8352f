//! Moving a character's skin over a clip.

use supple_flesh::Settings;
use supple_rig::bake::{Frames, Motion};
use supple_rig::skinning::weights::{WeightsError, automatic_binding};
use supple_rig::skinning::{self, Skinner};
use supple_rig::{Character, Clip};

use crate::tissue::{SoftBody, TissueError, simulate};

/// Which moments of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// First moment \[s\].
    pub from: f32,
    /// Last moment \[s\].
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

    /// The frames' times \[s\]: every 1/fps from the first moment, the last one included where it falls on a frame.
    pub fn times(&self) -> Vec<f32> {
        let frames = ((self.to - self.from).max(0.0) * self.fps + 1e-3).floor() as usize + 1;
        (0..frames)
            .map(|frame| self.from + frame as f32 / self.fps)
            .collect()
    }
}

/// How the skin follows the skeleton.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Linear blend, what engines do.
    Lbs,
    /// Dual quaternions.
    Dqs,
    /// Optimised centres of rotation.
    Cor,
    /// Simulated tissue.
    #[default]
    Tissue,
}

impl Method {
    /// For captions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lbs => "linear blend",
            Self::Dqs => "dual quaternions",
            Self::Cor => "centres of rotation",
            Self::Tissue => "tissue",
        }
    }
}

/// Moves a character's skin over a span of a clip; `frame_done` hears each frame's number. Settings matter to tissue
/// alone.
pub fn skin(
    character: &Character,
    clip: &Clip,
    method: Method,
    settings: &Settings,
    span: Span,
    frame_done: &mut dyn FnMut(usize),
) -> Result<Motion, TissueError> {
    let geometric = match method {
        Method::Lbs => skinning::Method::Lbs,
        Method::Dqs => skinning::Method::Dqs,
        Method::Cor => skinning::Method::Cor,
        Method::Tissue => {
            let mut body = SoftBody::new(character, settings.clone())?;
            return simulate(&mut body, character, clip, span, frame_done);
        }
    };
    Ok(skin_geometric(character, clip, geometric, span, frame_done))
}

/// Skins a character at every frame of a span with a geometric method.
pub fn skin_geometric(
    character: &Character,
    clip: &Clip,
    method: skinning::Method,
    span: Span,
    frame_done: &mut dyn FnMut(usize),
) -> Motion {
    let skinner = Skinner::new(character, method);
    let mut motion = Motion {
        fps: span.fps,
        ..Motion::default()
    };
    let mut frames = Vec::new();
    for (frame, time) in span.times().into_iter().enumerate() {
        let pose = clip.sample(&character.skeleton, time);
        let worlds = pose.worlds(&character.skeleton);
        let morphs = morph_weights(character, clip, time);
        let parts = character.parts.iter().enumerate();
        let skinned =
            parts.map(|(index, part)| skinner.skin(index, part, &worlds, &morphs[index]).positions);
        frames.push(skinned.collect());
        motion.poses.push(pose);
        motion.morph_weights.push(morphs);
        frame_done(frame);
    }
    motion.frames = Frames::Kept(frames);
    motion
}

fn morph_weights(character: &Character, clip: &Clip, time: f32) -> Vec<Vec<f32>> {
    let parts = character.parts.iter().enumerate();
    parts
        .map(|(index, part)| {
            clip.sample_morphs(index, time)
                .unwrap_or_else(|| part.morph_weights.clone())
        })
        .collect()
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
