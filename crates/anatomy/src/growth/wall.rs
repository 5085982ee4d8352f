//! The belly's wall, pushed out by the fat behind it.

use supple_geom::sparse::SparseError;

use super::smoothing::Smoother;
use super::tissue::{Tissue, TissueMesh};
use crate::layers::Layers;

/// How much flatter than a clamped plate the wall is in its middle: what is behind it fills the whole belly. At 1 a kilogram
/// makes a ball below the navel, above 3 the bulge has an edge at the ribs.
const FLATNESS: i32 = 2;

/// How far each vertex of the wall goes out for a unit of fat behind it, largest 1: a plate clamped at ribs, pelvis and back
/// under even pressure, p, flattened to 1 − (1 − p)ⁿ. Zero elsewhere.
pub fn bulge(
    layers: &Layers,
    mesh: &TissueMesh,
    tissue: &Tissue,
    mask: &[f64],
) -> Result<Vec<f64>, SparseError> {
    let plate = Smoother::new(&layers.triangles, &tissue.muscle, &mesh.is_belly);
    let count = tissue.skin.len();
    if plate.free() == 0 {
        return Ok(vec![0.0; count]);
    }
    let mut bulge = plate.plate()?.smooth(&vec![1.0; count]);
    let largest = bulge.iter().copied().fold(0.0, f64::max).max(1e-300);
    for (b, mask) in bulge.iter_mut().zip(mask) {
        let plate = (*b / largest).clamp(0.0, 1.0);
        *b = (1.0 - (1.0 - plate).powi(FLATNESS)) * mask;
    }
    Ok(bulge)
}
