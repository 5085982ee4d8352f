//! Principal shapes of a sequence of offsets, from the Gram matrix of its frames ("method of snapshots", Sirovich 1987).

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::eigen::symmetric_eigen;

/// Shapes and their weights over time, the most important first; weights stay within \[-1, 1\].
pub(super) struct Modes {
    /// Mode, vertex \[m\].
    pub shapes: Vec<Vec<Vec3>>,
    /// Mode, frame.
    pub weights: Vec<Vec<f32>>,
}

/// The first `count` principal shapes of `frames`, without subtracting a mean: no offset must stay no offset.
pub(super) fn principal_modes(frames: &[Vec<Vec3>], count: usize) -> Modes {
    // Motions are checked to be finite; of numbers that are not, nothing is a principal shape.
    let eigen = symmetric_eigen(&gram_matrix(frames)).unwrap_or_default();
    let largest = eigen.values.last().map_or(0.0, |value| value.max(0.0));
    let picked: Vec<Vec<f64>> = (eigen.values.into_iter().zip(eigen.vectors).rev())
        .take(count)
        .take_while(|(value, _)| *value > 1e-14 * largest)
        .map(|(_, vector)| vector)
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
    Modes { shapes, weights }
}

/// Lower triangle of all products of two frames.
fn gram_matrix(frames: &[Vec<Vec3>]) -> Vec<Vec<f64>> {
    let flat: Vec<&[f32]> = frames
        .iter()
        .map(|frame| bytemuck::cast_slice(frame))
        .collect();
    (0..flat.len())
        .into_par_iter()
        .map(|i| (0..=i).map(|j| dot(flat[i], flat[j])).collect())
        .collect()
}

/// A product of two long vectors, in eight sums that do not wait for each other.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(a, b)| f64::from(*a) * f64::from(*b))
        .sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            sums[lane] += f64::from(a[lane]) * f64::from(b[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
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
        let modes = principal_modes(&frames, 64);
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
