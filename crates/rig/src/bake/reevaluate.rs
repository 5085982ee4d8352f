//! A written file, played back.

use glam::Vec3;
use rayon::prelude::*;

use super::{BakeError, Motion};
use crate::character::Units;
use crate::formats::ReadOptions;
use crate::formats::gltf::read_glb;
use crate::skinning::linear_blend;

/// Reads a GLB and evaluates its last animation at the motion's frames as a viewer does: morph targets, then linear
/// blend skinning. Frame, part, vertex, in world space \[m\].
pub fn reevaluate(
    glb: &[u8],
    units: Units,
    motion: &Motion,
) -> Result<Vec<Vec<Vec<Vec3>>>, BakeError> {
    let options = ReadOptions {
        metres_per_unit: Some(units.metres_per_unit),
        up: Some(units.up),
    };
    let character = read_glb(glb, &options)?;
    let clip = character.clips.last().cloned().unwrap_or_default();
    let frames = (0..motion.frames.len()).into_par_iter().map(|frame| {
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
    });
    Ok(frames.collect())
}
