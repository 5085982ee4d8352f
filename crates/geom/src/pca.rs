//! Principal components of few long samples, from the Gram matrix of the samples ("method of snapshots", Sirovich 1987).
//!
//! With samples as rows of X, the eigenvectors vₖ and eigenvalues σₖ² of X Xᵀ give the components uₖ = Xᵀ vₖ / σₖ, the
//! right singular vectors of X, and σₖ vₖ is how much of uₖ is in each sample. Samples are read part by part, so that
//! they never need to be in memory as a whole.

use std::ops::Range;

use rayon::prelude::*;

use crate::eigen::symmetric_eigen;

/// Samples: vectors of one length, read part by part.
pub trait Samples {
    /// Number of samples.
    fn count(&self) -> usize;

    /// Numbers in a sample.
    fn length(&self) -> usize;

    /// Parts begin and end at multiples of this: 3 for samples made of points.
    fn grain(&self) -> usize {
        1
    }

    /// A range of numbers of every sample.
    fn part(&self, range: Range<usize>) -> Vec<Vec<f32>>;
}

impl Samples for Vec<Vec<f32>> {
    fn count(&self) -> usize {
        self.len()
    }

    fn length(&self) -> usize {
        self.first().map_or(0, Vec::len)
    }

    fn part(&self, range: Range<usize>) -> Vec<Vec<f32>> {
        let part = |sample: &Vec<f32>| sample[range.clone()].to_vec();
        self.iter().map(part).collect()
    }
}

/// Scaling of components and weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaling {
    /// Components are unit vectors.
    #[default]
    Unit,
    /// The largest weight of a component is one in magnitude.
    Peak,
}

/// Options, with a bound on memory.
#[derive(Clone, Debug, PartialEq)]
pub struct PcaOptions {
    /// Largest number of components.
    pub components: usize,
    /// Whether components describe the samples' differences from their mean. Otherwise they describe the samples
    /// themselves, and a sample of zeros has no weights.
    pub centred: bool,
    /// How components are scaled.
    pub scaling: Scaling,
    /// Numbers held in memory at once.
    pub room: usize,
}

impl Default for PcaOptions {
    fn default() -> Self {
        Self {
            components: usize::MAX,
            centred: true,
            scaling: Scaling::Unit,
            // 200 MB.
            room: 50_000_000,
        }
    }
}

/// The components with the largest share first: sample i is mean + Σₖ `weights[k][i]` × `components[k]`, but for the
/// components that were left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pca {
    /// Mean of the samples; empty where it was not subtracted.
    pub mean: Vec<f32>,
    /// Orthogonal components.
    pub components: Vec<Vec<f32>>,
    /// Weights: component, sample.
    pub weights: Vec<Vec<f64>>,
    /// Squared singular value σ² of each component: what it adds to the sum of squares of all samples.
    pub variances: Vec<f64>,
}

/// Smallest variance relative to the first component's: smaller ones are rounding errors.
const SMALLEST_VARIANCE: f64 = 1e-14;

/// Computes the components. `None` if samples are not finite.
pub fn principal_components(samples: &impl Samples, options: &PcaOptions) -> Pca {
    let (count, length) = (samples.count(), samples.length());
    let grain = samples.grain().max(1);
    let step = grain * (options.room / grain / count.max(1)).max(1);
    let parts: Vec<Range<usize>> = (0..length)
        .step_by(step)
        .map(|start| start..(start + step).min(length))
        .collect();
    let mut pca = Pca::default();
    let mut gram: Vec<Vec<f64>> = (1..=count).map(|width| vec![0.0; width]).collect();
    let mut held = Vec::new();
    for part in &parts {
        held = samples.part(part.clone());
        if options.centred {
            pca.mean.extend(subtract_mean(&mut held));
        }
        add_products(&mut gram, &held);
    }
    let eigen = symmetric_eigen(&gram).unwrap_or_default();
    let largest = eigen.values.last().map_or(0.0, |value| value.max(0.0));
    let picked: Vec<(Vec<f64>, f64)> = (eigen.values.into_iter().zip(eigen.vectors).rev())
        .take(options.components)
        .take_while(|(variance, _)| *variance > SMALLEST_VARIANCE * largest)
        .map(|(variance, vector)| {
            pca.variances.push(variance);
            let scale = match options.scaling {
                Scaling::Unit => 1.0 / variance.sqrt(),
                Scaling::Peak => vector.iter().fold(0.0, |peak: f64, v| peak.max(v.abs())),
            };
            (vector, scale)
        })
        .collect();
    pca.components = vec![Vec::with_capacity(length); picked.len()];
    for part in &parts {
        if parts.len() > 1 {
            held = samples.part(part.clone());
            if options.centred {
                subtract_mean(&mut held);
            }
        }
        let components = pca.components.par_iter_mut().zip(&picked);
        components.for_each(|(component, (vector, scale))| {
            component.extend(combination(&held, vector, *scale));
        });
    }
    let weights = |(vector, scale): &(Vec<f64>, f64)| vector.iter().map(|v| v / scale).collect();
    pca.weights = picked.iter().map(weights).collect();
    pca
}

/// Subtracts the mean of all samples from each and returns it.
fn subtract_mean(samples: &mut [Vec<f32>]) -> Vec<f32> {
    let mut mean = vec![0.0; samples.first().map_or(0, Vec::len)];
    for sample in samples.iter() {
        for (sum, &x) in mean.iter_mut().zip(sample) {
            *sum += f64::from(x);
        }
    }
    mean.iter_mut().for_each(|sum| *sum /= samples.len() as f64);
    for sample in samples {
        for (x, mean) in sample.iter_mut().zip(&mean) {
            *x = (f64::from(*x) - mean) as f32;
        }
    }
    mean.into_iter().map(|mean| mean as f32).collect()
}

/// Adds the products of all pairs of samples to a lower triangle.
fn add_products(gram: &mut [Vec<f64>], samples: &[Vec<f32>]) {
    gram.par_iter_mut().enumerate().for_each(|(i, row)| {
        for (j, sum) in row.iter_mut().enumerate() {
            *sum += dot(&samples[i], &samples[j]);
        }
    });
}

/// Dot product of two long vectors, in eight independent sums.
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

/// `scale × Σᵢ weightᵢ × sampleᵢ`.
fn combination(samples: &[Vec<f32>], weights: &[f64], scale: f64) -> Vec<f32> {
    let mut sums = vec![0.0; samples.first().map_or(0, Vec::len)];
    for (sample, &weight) in samples.iter().zip(weights) {
        for (sum, &x) in sums.iter_mut().zip(sample) {
            *sum += weight * f64::from(x);
        }
    }
    sums.into_iter().map(|sum| (sum * scale) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Samples around a common offset, with directions of falling importance.
    fn samples(count: usize, length: usize) -> Vec<Vec<f32>> {
        let mut random = Random::new(12);
        let mut vector =
            |scale: f32| -> Vec<f32> { (0..length).map(|_| scale * random.signed()).collect() };
        let offset = vector(1.0);
        let directions: Vec<Vec<f32>> = (0..5).map(|k| vector(0.5_f32.powi(k))).collect();
        let mut weights = Random::new(3);
        (0..count)
            .map(|_| {
                let mut sample = offset.clone();
                for direction in &directions {
                    let weight = weights.signed();
                    let pairs = sample.iter_mut().zip(direction);
                    pairs.for_each(|(x, d)| *x += weight * d);
                }
                sample
            })
            .collect()
    }

    /// Singular values and right singular vectors, largest first: one-sided Jacobi rotations (Hestenes 1958).
    fn dense_svd(rows: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
        // Rotating rows of X among each other until they are orthogonal leaves σ uᵀ in them.
        let mut rows = rows.to_vec();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for _ in 0..60 {
            for p in 0..rows.len() {
                for q in 0..p {
                    let (a, b) = (dot(&rows[p], &rows[p]), dot(&rows[q], &rows[q]));
                    let c = dot(&rows[p], &rows[q]);
                    if c == 0.0 {
                        continue;
                    }
                    let angle = 0.5 * (2.0 * c).atan2(a - b);
                    let (sin, cos) = angle.sin_cos();
                    for k in 0..rows[p].len() {
                        let (x, y) = (rows[p][k], rows[q][k]);
                        rows[p][k] = cos * x + sin * y;
                        rows[q][k] = cos * y - sin * x;
                    }
                }
            }
        }
        let mut all: Vec<(f64, Vec<f64>)> = (rows.into_iter())
            .map(|row| {
                let sigma = dot(&row, &row).sqrt();
                (sigma, row.into_iter().map(|x| x / sigma).collect())
            })
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all
    }

    fn centred(samples: &[Vec<f32>]) -> Vec<Vec<f64>> {
        let count = samples.len() as f64;
        let mean = |k: usize| samples.iter().map(|s| f64::from(s[k])).sum::<f64>() / count;
        let means: Vec<f64> = (0..samples[0].len()).map(mean).collect();
        let less = |s: &Vec<f32>| {
            s.iter()
                .zip(&means)
                .map(|(&x, m)| f64::from(x) - m)
                .collect()
        };
        samples.iter().map(less).collect()
    }

    #[test]
    fn equals_a_dense_singular_value_decomposition() {
        let samples = samples(12, 40);
        for (options, rows) in [
            (PcaOptions::default(), centred(&samples)),
            (
                PcaOptions {
                    centred: false,
                    ..PcaOptions::default()
                },
                (samples.iter())
                    .map(|s| s.iter().map(|&x| f64::from(x)).collect())
                    .collect(),
            ),
        ] {
            let pca = principal_components(&samples, &options);
            assert_eq!(pca.mean.is_empty(), !options.centred);
            let expected = dense_svd(&rows);
            for (k, (sigma, vector)) in expected.iter().take(5).enumerate() {
                assert!((pca.variances[k].sqrt() - sigma).abs() < 1e-6 * expected[0].0);
                let along: f64 = (pca.components[k].iter().zip(vector))
                    .map(|(&a, b)| f64::from(a) * b)
                    .sum();
                assert!(along.abs() > 1.0 - 1e-6, "component {k}: {along}");
            }
        }
    }

    #[test]
    fn weights_and_components_give_the_samples_back() {
        let samples = samples(9, 31);
        for scaling in [Scaling::Unit, Scaling::Peak] {
            let options = PcaOptions {
                scaling,
                ..PcaOptions::default()
            };
            let pca = principal_components(&samples, &options);
            for (i, sample) in samples.iter().enumerate() {
                for (k, &x) in sample.iter().enumerate() {
                    let sum: f64 = (pca.components.iter().zip(&pca.weights))
                        .map(|(component, weights)| weights[i] * f64::from(component[k]))
                        .sum();
                    assert!((f64::from(pca.mean[k]) + sum - f64::from(x)).abs() < 1e-5);
                }
            }
            if scaling == Scaling::Peak {
                let peak = |w: &Vec<f64>| w.iter().fold(0.0, |peak: f64, w| peak.max(w.abs()));
                assert!(pca.weights.iter().all(|w| (peak(w) - 1.0).abs() < 1e-12));
            }
        }
    }

    #[test]
    fn a_small_memory_bound_changes_rounding_only() {
        let samples = samples(7, 100);
        let with = |room: usize| {
            let options = PcaOptions {
                components: 3,
                room,
                ..PcaOptions::default()
            };
            principal_components(&samples, &options)
        };
        let (whole, pieces) = (with(10_000), with(7 * 9));
        assert_eq!((whole.components.len(), pieces.components.len()), (3, 3));
        assert_eq!(whole.mean, pieces.mean);
        for (a, b) in whole.components.iter().zip(&pieces.components) {
            let turned = (a[0] * b[0]).signum();
            let mut pairs = a.iter().zip(b);
            assert!(pairs.all(|(a, b)| (a - turned * b).abs() < 1e-5));
        }
    }

    #[test]
    fn empty_and_invalid_samples_have_no_components() {
        let none = |samples: Vec<Vec<f32>>| {
            let pca = principal_components(&samples, &PcaOptions::default());
            pca.components.is_empty() && pca.weights.is_empty()
        };
        assert!(none(Vec::new()));
        assert!(none(vec![Vec::new(); 3]));
        assert!(none(vec![vec![1.0, 2.0]; 3]));
        assert!(none(vec![vec![f32::NAN, 2.0], vec![1.0, 0.0]]));
    }
}
