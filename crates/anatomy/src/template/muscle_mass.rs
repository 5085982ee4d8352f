//! How much muscle a body should have, and how thick its fat must be for that.

use glam::Vec3;

use super::atlas::Atlas;
use super::build::BuildError;
use super::fat::{embedded_fat_sites, fat_targets, fat_thickness};
use super::muscles::{MuscleOptions, muscle_volumes};
use crate::{Body, Bone, Layers, Sex};

/// Air in lungs and gut \[m³\].
const AIR: f64 = 3e-3;
/// Body fat of the average man and woman of the embedded bodies' build, medians of Kyle et al. 2001.
const FAT_SHARE: [f64; 2] = [0.192, 0.281];
/// Skeletal muscle of the body's mass, Janssen et al. 2000.
const MUSCLE_SHARE: [f64; 2] = [0.384, 0.306];
/// Skeletal muscle that no atlas of trunk and limbs has: head, hands, diaphragm, pelvic floor, and what fibres hang in. The rest
/// is to be found between muscle surface and bones.
const ELSEWHERE: f64 = 0.07;
/// Density of muscle \[kg/m³\].
pub const MUSCLE_DENSITY: f64 = 1060.0;
/// Fat is made thinner or thicker than the table within these factors.
const THINNEST: f64 = 0.35;
const THICKEST: f64 = 2.0;
/// Volumes that are near enough.
const NEAR: f64 = 0.01;
/// Most times that muscles are shared out to find the fat's scale.
const TRIES: usize = 5;

/// Mass of a body with the sex' average share of fat \[kg\]: density by Siri's equation.
pub fn body_mass(body: &Body) -> f64 {
    let fat = FAT_SHARE[sex_index(body.sex)];
    let density = 495.0 / (100.0 * fat + 450.0) * 1000.0;
    density * (body.mesh.signed_volume() - AIR).max(0.0)
}

/// Volume of the skeletal muscle that Janssen et al. found for a mass \[m³\].
pub fn muscle_volume(body: &Body) -> f64 {
    MUSCLE_SHARE[sex_index(body.sex)] * body_mass(body) / MUSCLE_DENSITY
}

/// Of that, what an atlas should fill \[m³\].
pub fn atlas_volume(body: &Body) -> f64 {
    (1.0 - ELSEWHERE) * muscle_volume(body)
}

fn sex_index(sex: Sex) -> usize {
    match sex {
        Sex::Male => 0,
        Sex::Female => 1,
    }
}

/// Volume of all muscles of the atlas' reference man, both sides \[m³\].
pub fn reference_volume(atlas: &Atlas) -> f64 {
    atlas.entries.iter().map(|entry| 2e-6 * entry.volume).sum()
}

/// The body's muscle over the reference man's.
pub fn trunk_scale(body: &Body, atlas: &Atlas) -> f64 {
    atlas_volume(body) / reference_volume(atlas).max(f64::MIN_POSITIVE)
}

/// Targets of the muscle surface below the table's fat, scaled until the muscles have their volume. Also the scale.
pub fn fat_scaled_targets(
    body: &Body,
    atlas: &Atlas,
    bones: &[Bone],
    layers: &Layers,
) -> Result<(Vec<Vec3>, f64), BuildError> {
    let sites = embedded_fat_sites()?;
    let thickness = fat_thickness(&sites, body.sex, &body.mesh, &layers.layered, bones)?;
    let wanted = atlas_volume(body);
    let options = MuscleOptions {
        scale: trunk_scale(body, atlas),
        ..MuscleOptions::default()
    };
    let mut trial = layers.clone();
    let mut error = |scale: f64| -> Result<f64, BuildError> {
        trial.muscle = fat_targets(layers, &thickness, scale);
        let volumes = muscle_volumes(atlas, bones, &trial, &options)?;
        Ok(2.0 * volumes.iter().sum::<f64>() / wanted - 1.0)
    };
    // Volume falls with thickness; false position between two scales that are pulled together.
    let mut scale = 1.0;
    let mut last: Option<(f64, f64)> = None;
    for _ in 0..TRIES {
        let found = error(scale)?;
        if found.abs() < NEAR {
            break;
        }
        let slope = match last {
            Some((other, at_other)) if (scale - other).abs() > 1e-6 => (found - at_other) / (scale - other),
            _ => -0.4,
        };
        last = Some((scale, found));
        let slope = if slope < -0.05 { slope } else { -0.4 };
        scale = (scale - found / slope).clamp(THINNEST, THICKEST);
    }
    Ok((fat_targets(layers, &thickness, scale), scale))
}
