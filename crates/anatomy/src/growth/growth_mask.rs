//! Where a body may grow: everywhere but head, hands and feet, in the regions asked for, with soft borders.

use supple_geom::sparse::SparseError;

use super::smoothing::{Filter, Smoother};
use crate::template::{FatRegion, LayeredBody};

/// Weight on the joints of a foot from which a vertex belongs to it and stays.
const FOOT: f32 = 0.5;
/// Length over which growth sets in beyond neck, wrists and ankles \[m\]: below 1 cm the face sits on a collar, above 6 cm
/// forearms and calves hardly grow.
const TAPER: f64 = 0.022;
/// Length over which a region fades into the next \[m\]: below 2 cm its border shows as a step, above 8 cm arms have half of
/// their growth on the chest.
const REGION_BORDER: f64 = 0.04;

/// Vertices that move: layered ones that are not of the feet.
pub fn moving(anatomy: &LayeredBody) -> Vec<bool> {
    let feet = (anatomy.body).weight_on(|name| name.starts_with("foot") || name.starts_with("toe"));
    (anatomy.layers.layered.iter().zip(feet))
        .map(|(layered, foot)| *layered && foot < FOOT)
        .collect()
}

/// How much of the growth each vertex takes, 0 to 1.
pub fn growth_mask(
    anatomy: &LayeredBody,
    smoother: &Smoother,
    regions: &[FatRegion],
) -> Result<Vec<f64>, SparseError> {
    let count = anatomy.layers.skin.len();
    let taper = smoother.diffusion(TAPER)?.smooth(&vec![1.0; count]);
    // 1 − e^(−d/ℓ) is squared so that growth sets in without a kink.
    let mut mask: Vec<f64> = taper.iter().map(|g| g.clamp(0.0, 1.0).powi(2)).collect();
    if !regions.is_empty() && FatRegion::ALL.iter().any(|r| !regions.contains(r)) {
        let chosen: Vec<f64> = (anatomy.regions.fat.iter())
            .map(|region| f64::from(u8::from(region.is_some_and(|r| regions.contains(&r)))))
            .collect();
        let border = smoother.diffusion(REGION_BORDER)?.smooth(&chosen);
        for (mask, border) in mask.iter_mut().zip(border) {
            *mask *= border.clamp(0.0, 1.0);
        }
    }
    Ok(mask)
}

/// How much of each vertex belongs to the trunk, 0 to 1.
pub fn trunk(anatomy: &LayeredBody, border: &Filter) -> Vec<f64> {
    let is_trunk =
        |region: &Option<FatRegion>| matches!(region, Some(FatRegion::Belly | FatRegion::Chest));
    let chosen: Vec<f64> = (anatomy.regions.fat.iter())
        .map(|region| f64::from(u8::from(is_trunk(region))))
        .collect();
    let mut trunk = border.smooth(&chosen);
    trunk
        .iter_mut()
        .for_each(|share| *share = share.clamp(0.0, 1.0));
    trunk
}
