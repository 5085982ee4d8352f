//! Playing and recording clips on a soft body.

use std::sync::Arc;

use glam::Vec3;
use supple_flesh::Flesh;
use supple_rig::bake::{Frame, FrameSource, Frames, Motion};
use supple_rig::{Character, Clip, Pose};

use crate::morphs::with_morphs;
use crate::skin::Span;
use crate::tissue::{SoftBody, TissueError};

/// Simulates a span of a clip. `frame_done` is called with the number of each frame.
pub fn simulate(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    span: Span,
    frame_done: &mut dyn FnMut(usize),
) -> Result<Motion, TissueError> {
    let mut recording = Recording::of(body);
    let times = span.times();
    follow(body, character, clip, &times, &mut |frame, body| {
        recording.push(body);
        frame_done(frame);
        Ok(())
    })?;
    Ok(with_morphs(
        recording.motion(span.fps),
        character,
        clip,
        &times,
    ))
}

/// Simulates a clip, beginning at rest at the first of the given times. `at` is called with the body at each time.
pub fn follow(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    times: &[f32],
    at: &mut dyn FnMut(usize, &SoftBody) -> Result<(), TissueError>,
) -> Result<(), TissueError> {
    let pose = |time: f32| clip.sample(&character.skeleton, time);
    for (frame, &time) in times.iter().enumerate() {
        match frame {
            0 => body.place(&pose(time))?,
            _ => {
                let step = body.solver_settings().step;
                for (time, seconds) in between(times[frame - 1], time, step) {
                    body.advance(&pose(time), seconds)?;
                }
            }
        }
        at(frame, body)?;
    }
    Ok(())
}

/// Times after `from`, up to `to`, and the time from each to the next. They are no farther apart than the solver's steps, however
/// few frames are kept.
pub(crate) fn between(from: f32, to: f32, step: f64) -> impl Iterator<Item = (f32, f64)> {
    let count = (f64::from(to - from) / step - 1e-3).ceil().max(1.0) as u32;
    let interval = (to - from) / count as f32;
    (0..count)
        .rev()
        .map(move |k| (to - k as f32 * interval, f64::from(interval)))
}

/// A recorded motion: the simulation mesh of every frame, from which the full skin is computed when it is read. For two hundred thousand
/// vertices this takes a fiftieth of the memory.
pub struct Recording {
    flesh: Arc<Flesh>,
    simulated: Vec<Vec<Vec3>>,
    poses: Vec<Pose>,
}

impl Recording {
    /// An empty recording of a body.
    pub fn of(body: &SoftBody) -> Self {
        Self {
            flesh: body.shared_flesh(),
            simulated: Vec::new(),
            poses: Vec::new(),
        }
    }

    /// Records the current state of the body as a frame.
    pub fn push(&mut self, body: &SoftBody) {
        self.simulated.push(body.shown());
        self.poses.push(body.pose().clone());
    }

    /// The recorded motion, for export.
    pub fn motion(self, fps: f32) -> Motion {
        Motion {
            fps,
            poses: self.poses.clone(),
            frames: Frames::Made(Arc::new(self)),
            ..Motion::default()
        }
    }
}

impl FrameSource for Recording {
    fn count(&self) -> usize {
        self.simulated.len()
    }

    fn frame(&self, frame: usize) -> Frame {
        self.flesh
            .skin_of(&self.poses[frame], &self.simulated[frame])
    }
}
