//! How thick the fat is in each zone as a whole: as thick as leaves the literature's muscle.

use glam::Vec3;

use crate::template::musculature::atlas::{Atlas, AtlasError};
use crate::template::musculature::muscles::{MuscleOptions, muscle_volumes};
use crate::template::musculature::volumes::body_mass;
use crate::template::places::zones::{ZONES, Zone, zone_shares, zone_volumes};
use crate::template::surfaces::fat::{
    FatError, FatSite, fat_places, fat_targets, fat_thickness, least_muscle,
};
use crate::{Body, Bone, Layers};

/// The fat layer of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FatLayer {
    /// Thickness at each vertex of the skin \[m\].
    pub thickness: Vec<f64>,
    /// Factor on the sites' thickness in each zone.
    pub scales: [f64; ZONES],
    /// Where the muscle surface should cross each line from skin (0) to skeleton surface (1): targets of its fit.
    pub places: Vec<f32>,
    /// The muscle surface there \[m\].
    pub targets: Vec<Vec3>,
}

/// Why a fat layer cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FatLayerError {
    /// Of the thickness.
    #[error(transparent)]
    Fat(#[from] FatError),
    /// Of the atlas.
    #[error(transparent)]
    Atlas(#[from] AtlasError),
}

/// Coarse lattice on which volumes are found \[m\]; 4 mm gives the same scales to 2 % and takes twice as long.
const STEP: f32 = 0.005;
/// Contoured muscles of each zone over their shares on the coarse lattice: rounded edges and gaps take the rest. Measured on both embedded bodies.
const CONTOURED: [f64; ZONES] = [0.93, 0.88, 0.92];
/// Share of a zone's muscle that goes when its fat doubles, to start with, and the least that a secant may say: muscles of the trunk are sheets
/// and hardly change.
const FALL: f64 = 0.35;
const LEAST_FALL: f64 = 0.15;
/// Rounds of finding scales. The third changes them by less than 5 %.
const ROUNDS: usize = 3;
/// Smallest and largest scale in each zone: outside, the sites' thicknesses do not belong to such a body. Muscles of the trunk are sheets that hardly
/// change; beyond its bounds they would thin the belly's fat to nothing or hollow it out to make up for a few percent.
const BOUNDS: [(f64, f64); ZONES] = [(0.4, 2.5), (0.4, 2.5), (0.8, 1.3)];

/// Finds the fat layer with which the muscles of each zone have their volume, those of the literature for the body's mass. `layers` needs skin and skeleton
/// surface; its muscle surface is not read.
pub fn fat_layer(
    sites: &[FatSite],
    atlas: &Atlas,
    bones: &[Bone],
    layers: &Layers,
    body: &Body,
) -> Result<FatLayer, FatLayerError> {
    let skin = layers.skin_mesh();
    let of_sites = fat_thickness(sites, body.sex, &skin, &layers.layered, bones)?;
    let shares = zone_shares(body);
    let least = least_muscle(layers, bones);
    let mass = body_mass(body.mesh.signed_volume(), body.sex);
    let wanted = zone_volumes(atlas, mass, body.sex);
    let options = MuscleOptions {
        step: STEP,
        ..MuscleOptions::for_volume(atlas, wanted.iter().sum())
    };
    let scaled = |scales: &[f64; ZONES]| -> Vec<f64> {
        let factor = |share: &[f32; ZONES]| -> f64 {
            let sum = |(share, scale): (&f32, &f64)| f64::from(*share) * scale;
            share.iter().zip(scales).map(sum).sum()
        };
        (of_sites.iter().zip(&shares))
            .map(|(thickness, share)| thickness * factor(share))
            .collect()
    };
    let mut work = layers.clone();
    let mut volumes = |scales: &[f64; ZONES]| -> Result<[f64; ZONES], FatLayerError> {
        work.muscle = fat_targets(layers, &scaled(scales), &least);
        let found = muscle_volumes(atlas, bones, &work, &options)?;
        let mut volumes = [0.0; ZONES];
        for (entry, volume) in atlas.entries.iter().zip(found) {
            let zone = Zone::of(entry.group) as usize;
            volumes[zone] += 2.0 * CONTOURED[zone] * volume;
        }
        Ok(volumes)
    };
    // Secants of functions that fall almost linearly, each with its own zone's scale.
    let mut scales = [1.0; ZONES];
    let mut slopes = wanted.map(|volume| -FALL * volume);
    let mut before: Option<([f64; ZONES], [f64; ZONES])> = None;
    for _ in 0..ROUNDS {
        let here = volumes(&scales)?;
        if let Some((scales_before, volumes_before)) = before {
            for z in 0..ZONES {
                let secant = (here[z] - volumes_before[z]) / (scales[z] - scales_before[z]);
                if secant.is_finite() {
                    slopes[z] = secant.min(-LEAST_FALL * wanted[z]);
                }
            }
        }
        before = Some((scales, here));
        for z in 0..ZONES {
            let step = (wanted[z] - here[z]) / slopes[z].min(-f64::MIN_POSITIVE);
            scales[z] = (scales[z] + step).clamp(BOUNDS[z].0, BOUNDS[z].1);
        }
    }
    let thickness = scaled(&scales);
    Ok(FatLayer {
        places: fat_places(layers, &thickness, &least),
        targets: fat_targets(layers, &thickness, &least),
        thickness,
        scales,
    })
}
