//! How thick the fat is as a whole: as thick as leaves the literature's muscle.

use glam::Vec3;

use super::atlas::{Atlas, AtlasError};
use super::fat::{FatError, FatSite, fat_targets, fat_thickness};
use super::muscles::{MuscleOptions, muscle_volumes};
use crate::{Bone, Layers, Sex};
use supple_geom::TriMesh;

/// The fat layer of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FatLayer {
    /// Thickness at each vertex of the skin before scaling \[m\].
    pub thickness: Vec<f64>,
    /// All thicknesses are multiplied by this.
    pub scale: f64,
    /// Where the muscle surface should be: targets of its fit \[m\].
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

/// Coarse lattice on which volumes are found \[m\]; 4 mm gives the same scale to 2 % and takes twice as long.
const STEP: f32 = 0.005;
/// Contoured muscles over their shares on the coarse lattice: rounded edges and gaps take the rest.
const CONTOURED: f64 = 0.93;
/// Share of the muscle that goes when the fat doubles, to start with.
const FALL: f64 = 0.35;
/// Change of the scale below which it is not refined.
const ENOUGH: f64 = 0.02;
/// Smallest and largest scale: outside, the sites' thicknesses do not belong to such a body.
const BOUNDS: (f64, f64) = (0.3, 2.5);

/// Finds the fat layer with which the muscles have the volume `wanted` \[m³\], both sides together. `layers` needs skin and skeleton surface;
/// its muscle surface is not read.
pub fn fat_layer(
    sites: &[FatSite],
    atlas: &Atlas,
    bones: &[Bone],
    layers: &Layers,
    sex: Sex,
    wanted: f64,
) -> Result<FatLayer, FatLayerError> {
    let skin = TriMesh {
        positions: layers.skin.clone(),
        triangles: layers.triangles.clone(),
    };
    let thickness = fat_thickness(sites, sex, &skin, &layers.layered, bones)?;
    let reference: f64 = atlas.entries.iter().map(|e| 2e-6 * e.volume).sum();
    let options = MuscleOptions {
        step: STEP,
        scale: wanted / reference,
        ..MuscleOptions::default()
    };
    let mut work = layers.clone();
    let mut volume = |scale: f64| -> Result<f64, FatLayerError> {
        work.muscle = fat_targets(layers, &thickness, scale);
        let volumes = muscle_volumes(atlas, bones, &work, &options)?;
        Ok(2.0 * CONTOURED * volumes.iter().sum::<f64>())
    };
    // Secants of a function that falls almost linearly.
    let mut before = (1.0, volume(1.0)?);
    let mut slope = -FALL * before.1;
    let mut scale = 1.0;
    for _ in 0..3 {
        let next = (before.0 + (wanted - before.1) / slope).clamp(BOUNDS.0, BOUNDS.1);
        let step = next - scale;
        scale = next;
        if step.abs() < ENOUGH {
            break;
        }
        let here = (scale, volume(scale)?);
        let secant = (here.1 - before.1) / (here.0 - before.0);
        if secant.is_finite() && secant < 0.0 {
            slope = secant;
        }
        before = here;
    }
    Ok(FatLayer {
        targets: fat_targets(layers, &thickness, scale),
        thickness,
        scale,
    })
}
