//! Per-frame bake: one morph target per frame.

use super::directions::DirectionOffsets;
use super::motion::Motion;
use super::principal::Offsets;
use super::residual::Residuals;
use super::targets::{add_targets, groups, put_clip_first, weight_track};
use super::{BakeError, BakeReport, playback_errors};
use crate::formats::gltf::document_of;
use crate::{Character, Clip, Pose};

/// Writes a GLB with one morph target per frame and the skeleton at rest. Exact but large; plays wherever morph targets
/// do. The file's own morph targets and clips are kept; the new clip comes first.
pub fn bake_frames(
    character: &Character,
    motion: &Motion,
    clip_name: &str,
) -> Result<(Vec<u8>, BakeReport), BakeError> {
    motion.check(character)?;
    let count = motion.frames.len();
    let rest = vec![Pose::rest(&character.skeleton); count];
    let mut document = document_of(character)?;
    let mut clip = Clip {
        name: clip_name.to_owned(),
        ..Clip::default()
    };
    let one = |target: usize| (0..count).map(|frame| f32::from(frame == target)).collect();
    let weights: Vec<Vec<f32>> = (0..count).map(one).collect();
    for group in groups(&document) {
        let residuals = Residuals::of_all(character, motion, &rest, &group);
        let shapes = residuals.of(0..residuals.vertices());
        let all = &residuals.vertices;
        let directions = DirectionOffsets::new(&document, character, motion, &rest, &group, all)?;
        let directions = directions.map_or_else(Vec::new, |directions| directions.of_frames());
        add_targets(
            &mut document,
            character,
            &group,
            &shapes,
            &directions,
            "frame",
        )?;
        clip.morphs
            .extend(weight_track(character, motion, &group, &weights));
    }
    put_clip_first(&mut document, &character.skeleton, clip)?;
    let units = document.links.units;
    let bytes = document.to_glb()?;
    drop(document);
    let errors = playback_errors(&bytes, units, motion)?;
    let report = BakeReport {
        frames: count,
        targets: count,
        errors,
        bound_mm: None,
        bound_met: true,
    };
    Ok((bytes, report))
}
