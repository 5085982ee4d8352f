//! Playing a clip on a character's skin.

use supple_flesh::Settings;
use supple_rig::bake::{Frames, Motion};
use supple_rig::skeleton::JointKind;
use supple_rig::skinning::weights::{WeightsError, automatic_binding, automatic_rebinding};
use supple_rig::skinning::{self, Skinner};
use supple_rig::{Character, Clip, Part};

use crate::Subject;
use crate::play::simulate;
use crate::tissue::{SoftBody, TissueError};

/// Largest memory for the frames of a motion \[bytes\]: half an hour of a person. A longer motion is usually a mistake in a file, and
/// would take hours.
const MOST_BYTES: f64 = 4e9;
/// Largest number of vertices that a recorded frame of tissue keeps with automatic resolution.
const SIMULATED: usize = 5000;

/// A motion that does not fit into memory.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{seconds} s at {fps} frames per second are {frames:.0} frames, which would take {:.0} GB of memory (at most 4 GB are allowed)", bytes / 1e9
)]
pub struct TooLong {
    /// Duration \[s\].
    pub seconds: f32,
    /// Frames per second.
    pub fps: f32,
    /// Number of frames.
    pub frames: f64,
    /// Memory \[bytes\].
    pub bytes: f64,
}

/// Memory of one frame of a character's motion \[bytes\].
pub fn frame_bytes(character: &Character, method: Method) -> f64 {
    let parts = character.parts.iter();
    let all: usize = parts.map(|part| part.mesh.positions.len()).sum();
    let kept = match method {
        Method::Tissue => all.min(SIMULATED),
        _ => all,
    };
    (12 * kept) as f64 + pose_bytes(character)
}

/// Memory of a pose \[bytes\].
pub fn pose_bytes(character: &Character) -> f64 {
    (48 * character.skeleton.len()) as f64
}

/// A span of a clip, and its frame rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Start \[s\].
    pub from: f32,
    /// End \[s\].
    pub to: f32,
    /// Frames per second.
    pub fps: f32,
}

impl Span {
    /// The whole clip.
    pub fn all(clip: &Clip, fps: f32) -> Self {
        Self {
            from: 0.0,
            to: clip.duration(),
            fps,
        }
    }

    /// Fails if frames of the given size would not fit into memory.
    pub fn check(&self, bytes_a_frame: f64) -> Result<(), TooLong> {
        let seconds = self.to - self.from;
        let frames = f64::from(seconds) * f64::from(self.fps) + 1.0;
        let bytes = frames * bytes_a_frame;
        match bytes > MOST_BYTES {
            true => Err(TooLong {
                seconds,
                fps: self.fps,
                frames,
                bytes,
            }),
            false => Ok(()),
        }
    }

    /// Times of the frames \[s\]: every 1/fps from the start, with the end if it falls on a frame.
    pub fn times(&self) -> Vec<f32> {
        let frames = ((self.to - self.from).max(0.0) * self.fps + 1e-3).floor() as usize + 1;
        (0..frames)
            .map(|frame| self.from + frame as f32 / self.fps)
            .collect()
    }
}

/// Skinning methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Linear blend, the method of most engines.
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
    /// Name for captions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lbs => "linear blend",
            Self::Dqs => "dual quaternions",
            Self::Cor => "centres of rotation",
            Self::Tissue => "tissue",
        }
    }
}

/// Plays a span of a clip on a subject's skin. `frame_done` is called with the number of each frame. Settings apply to tissue
/// only.
pub fn skin(
    subject: impl Into<Subject>,
    clip: &Clip,
    method: Method,
    settings: &Settings,
    span: Span,
    frame_done: &mut dyn FnMut(usize),
) -> Result<Motion, TissueError> {
    let subject = subject.into();
    let geometric = match method {
        Method::Lbs => skinning::Method::Lbs,
        Method::Dqs => skinning::Method::Dqs,
        Method::Cor => skinning::Method::Cor,
        Method::Tissue => {
            let mut body = SoftBody::new(&subject, settings.clone())?;
            return simulate(&mut body, &subject, clip, span, frame_done);
        }
    };
    Ok(skin_geometric(&subject, clip, geometric, span, frame_done))
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

/// Weights of every part's morph targets at a time of a clip.
pub(crate) fn morph_weights(character: &Character, clip: &Clip, time: f32) -> Vec<Vec<f32>> {
    let parts = character.parts.iter().enumerate();
    parts
        .map(|(index, part)| {
            clip.sample_morphs(index, time)
                .unwrap_or_else(|| part.morph_weights.clone())
        })
        .collect()
}

/// Computes weights for parts that have none, or for all parts; returns the number of parts.
pub fn bind_missing(character: &mut Character, all: bool) -> Result<usize, WeightsError> {
    let mut bound = 0;
    for index in 0..character.parts.len() {
        let part = &character.parts[index];
        let binding = if part.binding.influences.is_empty() {
            automatic_binding(&part.mesh, &character.skeleton)?
        } else if all && !hangs_on_a_node(character, part) {
            automatic_rebinding(character, part)?
        } else {
            continue;
        };
        character.parts[index].binding = binding;
        bound += 1;
    }
    Ok(bound)
}

/// Whether a part has no weights of its own but hangs on a node: armour on a bone, a floor.
fn hangs_on_a_node(character: &Character, part: &Part) -> bool {
    let joints = character.skeleton.joints();
    match part.binding.joints[..] {
        [joint] => joints
            .get(joint)
            .is_some_and(|j| j.kind == JointKind::Helper),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_too_long_and_a_minute_is_not() {
        let span = |to: f32| Span {
            from: 0.0,
            to,
            fps: 30.0,
        };
        let person = 65_000.0;
        assert_eq!(span(60.0).check(person), Ok(()));
        assert_eq!(span(1200.0).check(person), Ok(()));
        for to in [1e5, 1e30, f32::INFINITY] {
            assert!(span(to).check(person).is_err(), "{to}");
        }
        let text = span(1e5).check(person).unwrap_err().to_string();
        assert!(
            text.contains("3000001 frames") && text.contains("195 GB"),
            "{text}"
        );
    }

    /// Recomputed weights of a body whose mesh is in centimetres and lies down, below a node that corrects both.
    #[test]
    fn bound_anew_a_body_stays_where_it_is() {
        let mut character = crate::embedded::body(crate::embedded::Body::Female).unwrap();
        let turn = glam::Quat::from_rotation_x(1.5);
        let back = glam::Affine3A::from_scale_rotation_translation(
            glam::Vec3::splat(0.01),
            turn.inverse(),
            glam::Vec3::ZERO,
        );
        for part in &mut character.parts {
            for point in &mut part.mesh.positions {
                *point = turn * *point * 100.0;
            }
            for inverse in &mut part.binding.inverse_binds {
                *inverse *= back;
            }
        }
        let pose = supple_rig::Pose::rest(&character.skeleton);
        let rest = character.skin(&pose, skinning::Method::Lbs);
        assert!(bind_missing(&mut character, true).unwrap() > 0);
        let mut body = SoftBody::new(&character, Settings::default()).unwrap();
        body.place(&pose).unwrap();
        let blended = character.skin(&pose, skinning::Method::Lbs);
        for ((soft, bound), rest) in body.positions().iter().zip(&blended).zip(&rest) {
            for ((soft, bound), rest) in soft.iter().zip(&bound.positions).zip(&rest.positions) {
                assert!(soft.distance(*rest) < 0.01 && bound.distance(*rest) < 1e-4);
            }
        }
    }
}
