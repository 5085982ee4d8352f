//! The belly's wall, pushed out by the fat behind it.

use supple_geom::sparse::SparseError;

use super::smoothing::Smoother;
use super::tissue::{Tissue, TissueMesh};
use crate::layers::Layers;

/// How far each vertex of the wall goes out for a unit of fat behind it: a plate clamped at ribs, pelvis and back under even
/// pressure, largest 1. Zero elsewhere.
pub fn bulge(
    layers: &Layers,
    mesh: &TissueMesh,
    tissue: &Tissue,
    reach: &[f64],
) -> Result<Vec<f64>, SparseError> {
    let plate = Smoother::new(&layers.triangles, &tissue.muscle, &mesh.is_belly);
    let count = tissue.skin.len();
    if plate.free() == 0 {
        return Ok(vec![0.0; count]);
    }
    let mut bulge = plate.plate()?.smooth(&vec![1.0; count]);
    let largest = bulge.iter().copied().fold(0.0, f64::max).max(1e-300);
    for (b, reach) in bulge.iter_mut().zip(reach) {
        *b = (*b / largest).max(0.0) * reach;
    }
    Ok(bulge)
}
