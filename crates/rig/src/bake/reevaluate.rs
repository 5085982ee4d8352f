//! Error of a written file, measured by playing it back.

use super::{BakeError, Errors, Motion};
use crate::character::Units;
use crate::formats::gltf::read_glb;
use crate::formats::{ReadOptions, Source};
use crate::skinning::linear_blend;

/// Error of a GLB against a motion. Its first animation is evaluated at the motion's frames as a viewer does: morph
/// targets, then linear blend skinning.
pub fn playback_errors(glb: &[u8], units: Units, motion: &Motion) -> Result<Errors, BakeError> {
    let options = ReadOptions {
        metres_per_unit: Some(units.metres_per_unit),
        up: Some(units.up),
    };
    let mut character = read_glb(glb, &options)?;
    // The source document is not needed.
    character.source = Source::default();
    for part in &mut character.parts {
        part.normals.clear();
        part.morphs.iter_mut().for_each(|m| m.normals.clear());
    }
    let clip = character.clips.first().cloned().unwrap_or_default();
    Ok(motion.errors(|frame| {
        let time = motion.time(frame);
        let worlds = clip
            .sample(&character.skeleton, time)
            .worlds(&character.skeleton);
        let parts = character.parts.iter().enumerate();
        parts
            .map(|(index, part)| {
                let weights = clip.sample_morphs(index, time);
                let weights = weights.as_deref().unwrap_or(&part.morph_weights);
                linear_blend(part, &worlds, weights).positions
            })
            .collect()
    }))
}
