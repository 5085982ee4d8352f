//! How much of a skin is inside itself or its colliders over a motion, with contact and, to compare, without.

use serde::Serialize;
use supple::morphs::with_morphs;
use supple::play::{Recording, follow, simulate};
use supple::skin::Span;
use supple::tissue::{SoftBody, TissueError};
use supple_rig::bake::Motion;
use supple_rig::{Character, Clip};
use supple_sim::Collider;
use supple_sim::contact::{Penetration, measure_in_colliders};

/// What is inside at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Inside {
    /// Vertices of the simulation mesh.
    pub vertices: usize,
    /// Depth of the deepest \[mm\].
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
    /// Moment of the clip \[s\].
    pub time: f32,
    /// Without contact, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Inside>,
    /// With it.
    pub after: Inside,
}

/// What contact leaves inside, and what it keeps out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The worst moment without contact, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Inside>,
    /// The worst moment with it.
    pub after: Inside,
    /// All moments.
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

/// Skin points inside other parts of the body or inside `colliders`, by their depth.
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

/// [`simulate`], and what the skin is inside of in every frame. Where nothing is in the way of the body, there is no report. With
/// `compare` the motion is simulated a second time, without contact.
pub fn simulate_reported(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    span: Span,
    compare: bool,
    frame_done: &mut dyn FnMut(usize),
) -> Result<(Motion, Option<Report>), TissueError> {
    if !body.has_contact() {
        let motion = simulate(body, character, clip, span, frame_done)?;
        return Ok((motion, None));
    }
    let mut recording = Recording::of(body);
    let times = span.times();
    let mut frames: Vec<Frame> = Vec::new();
    let mut colliders = Vec::new();
    follow(body, character, clip, &times, &mut |frame, body| {
        recording.push(body);
        colliders.push(body.colliders_now());
        frames.push(Frame {
            time: times[frame],
            after: summary(&inside(body, &colliders[frame])?),
            ..Frame::default()
        });
        frame_done(frame);
        Ok(())
    })?;
    if compare {
        let mut through = body.without_contact()?;
        follow(&mut through, character, clip, &times, &mut |frame, body| {
            frames[frame].before = Some(summary(&inside(body, &colliders[frame])?));
            frame_done(frame);
            Ok(())
        })?;
    }
    let motion = with_morphs(recording.motion(span.fps), character, clip, &times);
    Ok((motion, Some(Report::new(frames))))
}
