//! Corrective bake: the file's own skinning plus a few principal corrective morph targets.

use super::directions::DirectionOffsets;
use super::mode_count::Losses;
use super::motion::Motion;
use super::principal::{Modes, principal_modes};
use super::residual::Residuals;
use super::targets::{add_targets, groups, put_clip_first, weight_track};
use super::{BakeError, BakeReport, playback_errors};
use crate::formats::gltf::{document_of, plain_pose};
use crate::{Character, Clip, Pose};

/// Options of [`bake_correctives`].
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectiveOptions {
    /// Error bound: the largest distance of any vertex from the source motion in any frame \[mm\].
    pub bound_mm: f32,
    /// Most morph targets per mesh, whatever the bound.
    pub max_targets: usize,
    /// Name of the animation.
    pub clip_name: String,
}

impl Default for CorrectiveOptions {
    fn default() -> Self {
        Self {
            bound_mm: 1.0,
            // One layer each of a texture array, of which every WebGL 2 device has 256.
            max_targets: 256,
            clip_name: "supple".into(),
        }
    }
}

/// Share of the bound below which a vertex gets no offsets. Higher, vertices that follow the skeleton are visibly less exact than
/// the bound allows elsewhere; lower, the rounding of rigid parts becomes shapes.
const UNTOUCHED: f32 = 0.02;

/// Writes a GLB that plays the motion with the file's linear blend skinning, the skeleton motion, and the fewest
/// principal corrective morph targets that meet the error bound. Weights stay within \[0, 1\], the range of morph sliders in
/// other programs. The file's own morph targets and clips are kept; the new clip comes first.
pub fn bake_correctives(
    character: &Character,
    motion: &Motion,
    options: &CorrectiveOptions,
) -> Result<(Vec<u8>, BakeReport), BakeError> {
    bake_correctives_told(character, motion, options, &|_| ())
}

/// As [`bake_correctives`]; `told` gets the share that is done, from 0 to 1.
pub fn bake_correctives_told(
    character: &Character,
    motion: &Motion,
    options: &CorrectiveOptions,
    told: &(dyn Fn(f32) + Sync),
) -> Result<(Vec<u8>, BakeReport), BakeError> {
    motion.check(character)?;
    let poses: Vec<Pose> = motion
        .poses
        .iter()
        .map(|pose| plain_pose(pose, &character.skeleton))
        .collect();
    let mut document = document_of(character)?;
    let mut clip = Clip::from_poses(&options.clip_name, &character.skeleton, motion.fps, &poses);
    let mut most = 0;
    let groups = groups(&document);
    let all = groups.len();
    for (index, group) in groups.iter().enumerate() {
        // Choosing takes about half of a group's time, directions the other; checking the file as long as a fifth of all.
        let done = |share: f32| told(0.8 * (index as f32 + share) / all as f32);
        done(0.0);
        let residuals = Residuals::of_all(character, motion, &poses, group)
            .of_those_beyond(UNTOUCHED * 1e-3 * options.bound_mm);
        let mut modes = choose_modes(&residuals, options);
        done(0.5);
        most = most.max(modes.shapes.len());
        let chosen = &residuals.vertices;
        let directions =
            DirectionOffsets::new(&document, character, motion, &poses, group, chosen)?;
        let directions =
            directions.map_or_else(Vec::new, |directions| directions.of_modes(&modes.weights));
        modes.spread(
            chosen,
            Residuals::of_all(character, motion, &poses, group)
                .vertices
                .len(),
        );
        add_targets(
            &mut document,
            character,
            group,
            &modes.shapes,
            &directions,
            "corrective",
        )?;
        clip.morphs
            .extend(weight_track(character, motion, group, &modes.weights));
    }
    put_clip_first(&mut document, &character.skeleton, clip)?;
    let units = document.links.units;
    let bytes = document.to_glb()?;
    drop(document);
    told(0.8);
    let errors = playback_errors(&bytes, units, motion)?;
    told(1.0);
    let report = BakeReport {
        frames: motion.frames.len(),
        targets: most,
        errors,
        bound_mm: Some(options.bound_mm),
        bound_met: errors.max_mm <= options.bound_mm,
    };
    Ok((bytes, report))
}

/// The fewest modes that meet the bound, found by bisection; the allowed maximum if the bound cannot be met.
fn choose_modes(residuals: &Residuals, options: &CorrectiveOptions) -> Modes {
    let limit = options.max_targets.min(residuals.motion.frames.len());
    let mut modes = principal_modes(residuals, limit);
    // Slightly below the bound, because storing in the file's units rounds once more.
    let bound = 1e-3 * options.bound_mm * 0.999;
    let losses = Losses::new(residuals, &modes);
    let (mut low, mut high) = (0, modes.shapes.len());
    if high > 0 && losses.holds(high, bound) {
        while low < high {
            let middle = (low + high) / 2;
            match losses.holds(middle, bound) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
    }
    if modes.targets(high) > options.max_targets {
        high -= 1;
    }
    modes.shapes.truncate(high);
    modes.weights.truncate(high);
    modes.in_unit_range()
}
