//! A row of growing bodies, for a slider in kilograms.

use super::{Grown, Growth, GrowthBody, GrowthError, GrowthFlow};
use crate::Layers;

/// One body of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowthStep {
    /// Change of fat and muscle together since the start \[kg\].
    pub kilograms: f64,
    /// Its layers.
    pub layers: Layers,
}

/// Grows a body in a number of even steps: what it is after each, and the last one whole.
pub fn growth_steps(
    body: &GrowthBody,
    growth: &Growth,
    count: usize,
) -> Result<(Vec<GrowthStep>, Grown), GrowthError> {
    let mut flow = GrowthFlow::new(body, growth)?;
    let mut steps = Vec::with_capacity(count);
    for step in 1..=count.max(1) {
        flow.advance(step as f64 / count.max(1) as f64)?;
        steps.push(GrowthStep {
            kilograms: flow.change().iter().sum(),
            layers: flow.layers(),
        });
    }
    Ok((steps, flow.finish()?))
}
