//! Penetration of a skin with itself and with colliders over a motion, with contact and (to compare) without, and inverted tets.

use serde::Serialize;
use supple_rig::bake::Motion;
use supple_rig::{Character, Clip};
use supple_sim::Collider;
use supple_sim::contact::{Penetration, measure_in_colliders};

use crate::morphs::with_morphs;
use crate::play::{Recording, follow};
use crate::skin::Span;
use crate::tissue::{SoftBody, TissueError};

/// Penetration in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Inside {
    /// Number of vertices of the simulation mesh that are inside.
    pub vertices: usize,
    /// Largest depth \[mm\].
    pub worst_mm: f32,
}

impl Inside {
    fn worse(self, other: Self) -> Self {
        Self {
            vertices: self.vertices.max(other.vertices),
            worst_mm: self.worst_mm.max(other.worst_mm),
        }
    }
}

/// One frame of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Frame {
    /// Time in the clip \[s\].
    pub time: f32,
    /// Without contact, if compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Inside>,
    /// With contact.
    pub after: Inside,
}

/// Penetration over a motion.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The worst frame without contact, if compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Inside>,
    /// The worst frame with contact.
    pub after: Inside,
    /// All frames.
    pub frames: Vec<Frame>,
}

impl Report {
    fn new(frames: Vec<Frame>) -> Self {
        let before = frames.iter().filter_map(|frame| frame.before);
        let after = frames.iter().map(|frame| frame.after);
        Self {
            before: before.reduce(Inside::worse),
            after: after.reduce(Inside::worse).unwrap_or_default(),
            frames,
        }
    }
}

/// Tets of the tissue over a motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TetReport {
    /// Tets of the tissue.
    pub tets: usize,
    /// Most that are inverted in one frame.
    pub inverted: usize,
}

/// A simulated motion and how it went.
pub struct Reported {
    /// The motion.
    pub motion: Motion,
    /// Penetration; none for a body without contact and colliders.
    pub contact: Option<Report>,
    /// Inverted tets.
    pub tissue: TetReport,
}

/// Depths of skin points inside other parts of the body or inside `colliders`.
pub fn inside(body: &SoftBody, colliders: &[Collider]) -> Result<Penetration, TissueError> {
    let own = body.penetration()?;
    if colliders.is_empty() {
        return Ok(own);
    }
    let others = measure_in_colliders(&body.simulated_skin()?, colliders);
    let all = |p: &Penetration| {
        let pairs = p.points.iter().copied().zip(p.depths.iter().copied());
        pairs.collect::<Vec<_>>()
    };
    let mut deepest = std::collections::BTreeMap::new();
    for (point, depth) in all(&own).into_iter().chain(all(&others)) {
        let slot = deepest.entry(point).or_insert(depth);
        *slot = f32::max(*slot, depth);
    }
    let (points, depths) = deepest.into_iter().unzip();
    Ok(Penetration {
        points,
        depths,
        ..Penetration::default()
    })
}

fn summary(penetration: &Penetration) -> Inside {
    Inside {
        vertices: penetration.count(),
        worst_mm: 1000.0 * penetration.worst(),
    }
}

/// [`simulate`](crate::play::simulate) with a report of every frame's penetration and inverted tets. With `compare` the motion is
/// simulated a second time, without contact.
pub fn simulate_reported(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    span: Span,
    compare: bool,
    frame_done: &mut dyn FnMut(usize),
) -> Result<Reported, TissueError> {
    let has_contact = body.has_contact();
    let mut recording = Recording::of(body);
    let times = span.times();
    let mut frames: Vec<Frame> = Vec::new();
    let mut colliders = Vec::new();
    let mut tissue = TetReport {
        tets: body.flesh().model.tets().len(),
        inverted: 0,
    };
    follow(body, character, clip, &times, &mut |frame, body| {
        recording.push(body);
        tissue.inverted = tissue.inverted.max(body.quality().inverted);
        if has_contact {
            colliders.push(body.colliders_now());
            frames.push(Frame {
                time: times[frame],
                after: summary(&inside(body, &colliders[frame])?),
                ..Frame::default()
            });
        }
        frame_done(frame);
        Ok(())
    })?;
    if compare && has_contact {
        let mut through = body.without_contact()?;
        follow(&mut through, character, clip, &times, &mut |frame, body| {
            frames[frame].before = Some(summary(&inside(body, &colliders[frame])?));
            frame_done(frame);
            Ok(())
        })?;
    }
    Ok(Reported {
        motion: with_morphs(recording.motion(span.fps), character, clip, &times),
        contact: has_contact.then(|| Report::new(frames)),
        tissue,
    })
}
