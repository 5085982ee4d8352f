//! What keeps a free skeleton surface in its place.
//!
//! Where the skeleton surface is free it is a shell over a hollow, and a shell can snap through: a shoulder pressed in by one
//! wild pose would stay so. Below every free triangle there is one driven point, and a soft tet between them. The point
//! follows a smooth blend of the joints around it. The tet can turn about it, so that the surface still slides and stretches.

use glam::DVec3;

use crate::construction::layers::ColumnLayers;
use crate::construction::rest_skin::RestSkin;
use crate::motion::holds::{Influence, Weights};
use crate::settings::Layers;

/// A driven point below a triangle of the skeleton surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    /// Columns of the triangle.
    pub columns: [u32; 3],
    /// The point at rest \[m\].
    pub point: DVec3,
    /// Stiffness factor of its tet.
    pub factor: f64,
    /// Joints that it follows, blended as dual quaternions.
    pub influences: Vec<Influence>,
}

/// Depth of a point below its triangle, relative to the square root of the triangle's area.
const DEPTH: f64 = 1.0;

/// Points below the free triangles of the skeleton surface, which is `bone` at all columns.
pub(crate) fn cores(
    settings: &Layers,
    skin: &RestSkin,
    layers: &ColumnLayers,
    bone: &[DVec3],
    is_simulated: &dyn Fn(usize) -> bool,
) -> Vec<Core> {
    let is_free = |columns: &[u32; 3]| columns.iter().any(|&v| layers.is_free(v as usize));
    let chosen = (skin.triangles.iter().enumerate())
        .filter(|&(triangle, columns)| is_free(columns) && is_simulated(triangle));
    let full = settings.sliding_depth * skin.size();
    let core = |(_, &columns): (usize, &[u32; 3])| {
        let [a, b, c] = columns.map(|v| bone[v as usize]);
        let cross = (b - a).cross(c - a);
        let depth = DEPTH * (0.5 * cross.length()).sqrt();
        let above = |v: u32| skin.positions[v as usize].distance(bone[v as usize]);
        let above = columns.map(above).iter().sum::<f64>() / 3.0;
        Core {
            columns,
            point: (a + b + c) / 3.0 - cross.normalize_or_zero() * depth,
            factor: (full / above.max(f64::MIN_POSITIVE))
                .powi(2)
                .clamp(settings.least_sliding, settings.most_sliding),
            influences: Vec::new(),
        }
    };
    chosen.map(core).collect()
}

/// Mean of the weights of three columns.
pub(crate) fn mean_weights(weights: &[Weights], columns: [u32; 3]) -> Weights {
    let mut mean: Weights = Vec::new();
    for &(joint, weight) in columns.iter().flat_map(|&v| &weights[v as usize]) {
        match mean.iter_mut().find(|(other, _)| *other == joint) {
            Some((_, sum)) => *sum += weight / 3.0,
            None => mean.push((joint, weight / 3.0)),
        }
    }
    mean
}
