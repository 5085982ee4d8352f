//! Principal shapes of a sequence of offsets, from the Gram matrix of its frames ("method of snapshots", Sirovich 1987).

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par, Side};
use glam::Vec3;
use rayon::prelude::*;

use super::BakeError;

/// Columns that go into one product: large enough to be fast, small enough to stay in cache.
const BLOCK: usize = 2048;

/// Shapes and their weights over time, the most important first; weights stay within [-1, 1].
pub(super) struct Modes {
    /// Mode, vertex [m].
    pub shapes: Vec<Vec<Vec3>>,
    /// Mode, frame.
    pub weights: Vec<Vec<f32>>,
}

/// The first `count` principal shapes of `frames`, without subtracting a mean: no offset must stay no offset.
pub(super) fn principal_modes(frames: &[Vec<Vec3>], count: usize) -> Result<Modes, BakeError> {
    let gram = gram_matrix(frames);
    let eigen = gram
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| BakeError::Eigen)?;
    let (vectors, values) = (eigen.U(), eigen.S().column_vector());
    let total = frames.len();
    let largest = values[total - 1].max(0.0);
    let picked: Vec<Vec<f64>> = (0..total)
        .rev()
        .take(count)
        .take_while(|&index| values[index] > 1e-14 * largest)
        .map(|index| (0..total).map(|frame| vectors[(frame, index)]).collect())
        .collect();
    let (shapes, weights) = picked
        .par_iter()
        .map(|vector| {
            let peak = vector
                .iter()
                .fold(0.0, |peak: f64, value| peak.max(value.abs()));
            let weights = vector.iter().map(|value| (value / peak) as f32).collect();
            (project(frames, vector, peak), weights)
        })
        .unzip();
    Ok(Modes { shapes, weights })
}

fn gram_matrix(frames: &[Vec<Vec3>]) -> Mat<f64> {
    let total = frames.len();
    let flat: Vec<&[f32]> = frames
        .iter()
        .map(|frame| bytemuck::cast_slice(frame))
        .collect();
    let length = flat.first().map_or(0, |frame| frame.len());
    let mut gram = Mat::<f64>::zeros(total, total);
    for start in (0..length).step_by(BLOCK) {
        let width = BLOCK.min(length - start);
        let block = Mat::from_fn(total, width, |frame, column| {
            f64::from(flat[frame][start + column])
        });
        matmul(
            gram.as_mut(),
            Accum::Add,
            block.as_ref(),
            block.transpose(),
            1.0,
            Par::Seq,
        );
    }
    gram
}

/// `Σ_f vector_f · frame_f`, scaled so that the largest weight is one.
fn project(frames: &[Vec<Vec3>], vector: &[f64], peak: f64) -> Vec<Vec3> {
    let mut shape = vec![glam::DVec3::ZERO; frames.first().map_or(0, Vec::len)];
    for (frame, &weight) in frames.iter().zip(vector) {
        for (sum, offset) in shape.iter_mut().zip(frame) {
            *sum += weight * offset.as_dvec3();
        }
    }
    shape
        .into_iter()
        .map(|sum| (sum * peak).as_vec3())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_of_two_shapes_has_two_modes() {
        let shape = |seed: f32| -> Vec<Vec3> {
            (0..50)
                .map(|i| Vec3::new((seed * i as f32).sin(), (seed + i as f32).cos(), seed))
                .collect()
        };
        let (a, b) = (shape(0.7), shape(1.9));
        let frames: Vec<Vec<Vec3>> = (0..20)
            .map(|f| {
                let (x, y) = ((0.3 * f as f32).sin(), (0.2 * f as f32).cos());
                a.iter().zip(&b).map(|(a, b)| x * *a + y * *b).collect()
            })
            .collect();
        let modes = principal_modes(&frames, 64).unwrap();
        assert!(modes.shapes.len() >= 2);
        for (f, frame) in frames.iter().enumerate() {
            for (v, point) in frame.iter().enumerate() {
                let sum: Vec3 = (0..2)
                    .map(|k| modes.weights[k][f] * modes.shapes[k][v])
                    .sum();
                assert!(sum.abs_diff_eq(*point, 1e-5));
            }
        }
        let peak = |weights: &Vec<f32>| weights.iter().fold(0.0f32, |peak, w| peak.max(w.abs()));
        assert!(
            modes
                .weights
                .iter()
                .all(|weights| (peak(weights) - 1.0).abs() < 1e-6)
        );
    }
}
