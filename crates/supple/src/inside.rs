//! Muscles and bones of a layered body in motion.

use std::sync::Arc;

use glam::Vec3;
use supple_flesh::Flesh;
use supple_rig::bake::{Frame, FrameSource, Frames, Motion};
use supple_rig::{Character, Clip, Pose};

pub use supple_anatomy::inside::Inside;

use crate::play::{Recording, follow};
use crate::skin::Span;
use crate::tissue::{SoftBody, TissueError};

impl SoftBody {
    /// Muscles and bones in the present state \[m\].
    pub fn inside(&self, inside: &Inside) -> [Vec<Vec3>; 2] {
        inside.positions(self.flesh(), self.pose(), &self.shown_vertices())
    }
}

/// Simulates a span of a clip as [`simulate`](crate::play::simulate) does, and records skin, muscles and bones: the parts of
/// [`Inside::character`].
pub fn simulate_inside(
    inside: Inside,
    body: &mut SoftBody,
    skin: &Character,
    clip: &Clip,
    span: Span,
    frame_done: &mut dyn FnMut(usize),
) -> Result<Motion, TissueError> {
    let mut recording = Recording::of(body);
    let mut vertices = Vec::new();
    follow(body, skin, clip, &span.times(), &mut |frame, body| {
        recording.push(body);
        vertices.push(body.shown_vertices());
        frame_done(frame);
        Ok(())
    })?;
    let skins = recording.motion(span.fps);
    let frames = LayeredFrames {
        flesh: body.shared_flesh(),
        poses: skins.poses.clone(),
        skins: skins.frames.clone(),
        vertices,
        inside,
    };
    Ok(Motion {
        frames: Frames::Made(Arc::new(frames)),
        ..skins
    })
}

/// Recorded skins with the vertices of the model, from which muscles are computed when a frame is read.
struct LayeredFrames {
    flesh: Arc<Flesh>,
    inside: Inside,
    skins: Frames,
    poses: Vec<Pose>,
    vertices: Vec<Vec<Vec3>>,
}

impl FrameSource for LayeredFrames {
    fn count(&self) -> usize {
        self.vertices.len()
    }

    fn frame(&self, frame: usize) -> Frame {
        let mut parts = self.skins.get(frame).into_owned();
        let (pose, vertices) = (&self.poses[frame], &self.vertices[frame]);
        parts.extend(self.inside.positions(&self.flesh, pose, vertices));
        parts
    }
}
