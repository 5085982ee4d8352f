//! Joints from vertices: every joint is an affine combination of skin around it, as in SMPL (Loper et al. 2015).
//!
//! Weights of one joint by ridge regression over the fields of the model, which stand for the covariance of bodies:
//! least Σ_f s_f² |J_f − Σᵢ wᵢ V_fᵢ|² + σ² |w|² with Σ wᵢ = 1 and Σ wᵢ Vᵢ = J for the mean body. One number a vertex keeps
//! the rule valid under rotations.

use glam::DVec3;
use supple_geom::dense::DenseSymmetric;

use super::BodyModel;

/// Most vertices a joint is made of. Fewer than 40 let noise through; more than 200 take seconds to learn.
const VERTICES: usize = 150;
/// How much farther than twice the nearest vertex others are \[m\]. Below 0.1 a knee cannot tell how long the leg is.
const REACH: f64 = 0.15;
/// Noise of a registered vertex \[m\]: smaller follows the space to the digit and amplifies noise, larger misses joints.
const NOISE: f64 = 0.002;
/// Weight of the mean body's own joint, which must be met.
const MEAN_WEIGHT: f64 = 30.0;
/// Least standard deviation of a component: bodies outside the space need it.
const LEAST_DEVIATION: f64 = 0.05;

pub(super) fn learn(model: &BodyModel) -> Vec<Vec<(u32, f64)>> {
    use rayon::prelude::*;
    (0..model.joint_count())
        .into_par_iter()
        .map(|joint| {
            let vertices = surrounding(model, joint);
            let weights = fit(model, joint, &vertices);
            vertices.into_iter().zip(weights).collect()
        })
        .collect()
}

/// Vertices around a joint: moved by it, its parent or children, near it, spread evenly.
fn surrounding(model: &BodyModel, joint: usize) -> Vec<u32> {
    let at = model.mean_point(model.vertex_count() + joint);
    // Two steps up or down the rig: limbs have two bones a segment.
    let above = |joint: usize, other: usize| {
        let line = std::iter::successors(Some(joint), |&j| model.parents[j]);
        line.take(3).any(|j| j == other)
    };
    let near = |other: usize| above(joint, other) || above(other, joint);
    let share = |vertex: usize| -> f32 {
        let entries = model.weights[vertex].iter();
        (entries.filter(|(j, _)| near(usize::from(*j))))
            .map(|w| w.1)
            .sum()
    };
    let distance = |vertex: usize| model.mean_point(vertex).distance(at);
    let mut around: Vec<(f64, u32)> = (0..model.vertex_count())
        .filter(|&v| share(v) > 0.3)
        .map(|v| (distance(v), v as u32))
        .collect();
    if around.len() < 30 {
        around = (0..model.vertex_count())
            .map(|v| (distance(v), v as u32))
            .collect();
    }
    around.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let reach = 2.0 * around[0].0 + REACH;
    let count = around
        .partition_point(|a| a.0 < reach)
        .max(30)
        .min(around.len());
    let stride = count.div_ceil(VERTICES);
    (around[..count].iter().step_by(stride))
        .map(|a| a.1)
        .collect()
}

fn fit(model: &BodyModel, joint: usize, vertices: &[u32]) -> Vec<f64> {
    let n = vertices.len();
    let point = model.vertex_count() + joint;
    let mut normal = DenseSymmetric::zero(n);
    let mut right = vec![0.0; n];
    let mut equation = |row: &[f64], value: f64| {
        normal.add_outer(row);
        for (sum, x) in right.iter_mut().zip(row) {
            *sum += x * value;
        }
    };
    // Affine: the sum of the weights is one.
    equation(&vec![MEAN_WEIGHT; n], MEAN_WEIGHT);
    let at = model.mean_point(point);
    let offsets: Vec<DVec3> = (vertices.iter())
        .map(|&v| model.mean_point(v as usize) - at)
        .collect();
    for axis in 0..3 {
        let row: Vec<f64> = offsets.iter().map(|o| MEAN_WEIGHT * o[axis]).collect();
        equation(&row, 0.0);
    }
    for field in 0..model.field_count() {
        let size = model.deviations[field].max(LEAST_DEVIATION);
        for axis in 0..3 {
            let entry = |point: usize| size * f64::from(model.point_fields(point)[field][axis]);
            let row: Vec<f64> = vertices.iter().map(|&v| entry(v as usize)).collect();
            equation(&row, entry(point));
        }
    }
    for i in 0..n {
        normal.add_at(i, i, NOISE * NOISE);
    }
    match normal.factorise() {
        Ok(factor) => factor.solve(&mut right),
        Err(_) => right.fill(1.0 / n as f64),
    }
    let sum: f64 = right.iter().sum();
    right.iter().map(|w| w / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sex;

    #[test]
    fn joints_of_bodies_of_the_space_are_met() {
        for sex in [Sex::Male, Sex::Female] {
            let model = BodyModel::embedded(sex);
            let mut coefficients = vec![0.0; model.field_count()];
            for field in 0..model.field_count() {
                coefficients[field] = 1.5 * model.deviations[field];
                let found = model.joints_of(&model.rest_vertices(&coefficients));
                let joints = model.rest_joints(&coefficients);
                for (joint, (found, truth)) in found.iter().zip(&joints).enumerate() {
                    let miss = found.distance(*truth);
                    let name = &model.joint_names[joint];
                    assert!(
                        miss < 0.004,
                        "{name}, {}: {miss:.4} m",
                        model.field_names[field]
                    );
                }
                coefficients[field] = 0.0;
            }
        }
    }
}
