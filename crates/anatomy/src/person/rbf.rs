//! Triharmonic warps of space: (4.15), `d(x) = Σ wⱼ |x − cⱼ|³ + a x + b`.
//!
//! |r|³ is conditionally positive definite of order two: on weights that no linear function sees (Σ w = 0, Σ w c = 0) its matrix
//! is positive definite. Four reflections take the linear functions out, and a Cholesky factor does the rest: half the
//! operations of the LU factor of the whole system, and no pivoting.

use glam::{DMat3, DVec3};
use rayon::prelude::*;
use supple_geom::dense::{DenseCholesky, DenseSymmetric, NotPositiveDefinite};

/// Number of linear functions in three dimensions.
const LINEAR: usize = 4;

/// The factor for a set of centres: everything that does not hang on where they go.
#[derive(Clone, Debug)]
pub struct WarpBasis {
    centres: Vec<DVec3>,
    /// Centres are shifted and scaled to a ball of radius one before anything is computed.
    origin: DVec3,
    scale: f64,
    reflections: [Vec<f64>; LINEAR],
    /// What is left of the linear functions, upper triangular.
    linear: [[f64; LINEAR]; LINEAR],
    /// The first rows of the reflected kernel matrix, without its first columns.
    border: [Vec<f64>; LINEAR],
    factor: DenseCholesky,
}

/// A warp: moves points of space as its centres move.
#[derive(Clone, Debug)]
pub struct Warp {
    origin: DVec3,
    scale: f64,
    /// Coordinates of centres and of their weights, each by itself.
    centres: [Vec<f64>; 3],
    weights: [Vec<f64>; 3],
    linear: DMat3,
    constant: DVec3,
}

/// Why there is no warp.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WarpError {
    /// Too few centres, or all in a plane.
    #[error("{count} centres do not span space; give at least four that are not in a plane")]
    Flat {
        /// Number of centres.
        count: usize,
    },
    /// Two centres coincide.
    #[error("two centres of the warp coincide; weld them first")]
    Coincident(#[from] NotPositiveDefinite),
}

impl WarpBasis {
    /// Factorises the system of distinct centres \[m\].
    pub fn new(centres: &[DVec3]) -> Result<WarpBasis, WarpError> {
        let count = centres.len();
        let flat = WarpError::Flat { count };
        if count < LINEAR || centres.iter().any(|c| !c.is_finite()) {
            return Err(flat);
        }
        let origin = centres.iter().sum::<DVec3>() / count as f64;
        let radius = centres
            .iter()
            .map(|c| c.distance(origin))
            .fold(0.0, f64::max);
        let scale = 1.0 / radius.max(f64::MIN_POSITIVE);
        let unit: Vec<DVec3> = centres.iter().map(|c| (*c - origin) * scale).collect();
        let (reflections, linear) = linear_functions(&unit);
        if (0..LINEAR).any(|k| linear[k][k].abs() < 1e-9) {
            return Err(flat);
        }
        let mut kernel = vec![0.0; count * count];
        (kernel.par_chunks_mut(count).zip(&unit)).for_each(|(row, a)| {
            row.iter_mut()
                .zip(&unit)
                .for_each(|(entry, b)| *entry = cube(a.distance_squared(*b)));
        });
        for v in &reflections {
            reflect_both_sides(&mut kernel, count, v);
        }
        let border = std::array::from_fn(|k| kernel[k * count..][LINEAR..count].to_vec());
        let rest = count - LINEAR;
        let mut inner = vec![0.0; rest * rest];
        if rest > 0 {
            (inner.par_chunks_mut(rest).enumerate()).for_each(|(i, row)| {
                row.copy_from_slice(&kernel[(i + LINEAR) * count..][LINEAR..count])
            });
        }
        Ok(WarpBasis {
            centres: unit,
            origin,
            scale,
            reflections,
            linear,
            border,
            factor: DenseSymmetric::from_entries(rest, inner).factorise()?,
        })
    }

    /// Number of centres.
    pub fn len(&self) -> usize {
        self.centres.len()
    }

    /// Whether there is no centre; never, since four are needed.
    pub fn is_empty(&self) -> bool {
        self.centres.is_empty()
    }

    /// The warp that brings each centre to its target \[m\].
    ///
    /// # Panics
    /// If there is not one target for each centre.
    pub fn warp(&self, targets: &[DVec3]) -> Warp {
        assert_eq!(targets.len(), self.len(), "targets");
        let mut weights: [Vec<f64>; 3] = Default::default();
        let mut linear = [[0.0; LINEAR]; 3];
        for axis in 0..3 {
            let shift =
                |(t, c): (&DVec3, &DVec3)| (t[axis] - self.origin[axis]) * self.scale - c[axis];
            let mut d: Vec<f64> = targets.iter().zip(&self.centres).map(shift).collect();
            self.reflections.iter().for_each(|v| reflect(&mut d, v));
            let mut y = d[LINEAR..].to_vec();
            self.factor.solve(&mut y);
            for k in (0..LINEAR).rev() {
                let kernel: f64 = self.border[k].iter().zip(&y).map(|(a, b)| a * b).sum();
                let known: f64 = (k + 1..LINEAR)
                    .map(|j| self.linear[k][j] * linear[axis][j])
                    .sum();
                linear[axis][k] = (d[k] - kernel - known) / self.linear[k][k];
            }
            let mut w = [vec![0.0; LINEAR], y].concat();
            self.reflections
                .iter()
                .rev()
                .for_each(|v| reflect(&mut w, v));
            weights[axis] = w;
        }
        let column = |k: usize| DVec3::new(linear[0][k], linear[1][k], linear[2][k]);
        Warp {
            origin: self.origin,
            scale: self.scale,
            centres: std::array::from_fn(|k| self.centres.iter().map(|c| c[k]).collect()),
            weights,
            linear: DMat3::from_cols(column(1), column(2), column(3)),
            constant: column(0),
        }
    }
}

impl Warp {
    /// Where a point goes \[m\].
    pub fn at(&self, point: DVec3) -> DVec3 {
        let p = (point - self.origin) * self.scale;
        let [cx, cy, cz] = &self.centres;
        let [wx, wy, wz] = &self.weights;
        // Four sums side by side, so that the compiler keeps them in vector registers.
        const LANES: usize = 4;
        let mut sums = [[0.0; LANES]; 3];
        let whole = cx.len() / LANES * LANES;
        for first in (0..whole).step_by(LANES) {
            let lanes =
                |values: &[f64]| -> [f64; LANES] { std::array::from_fn(|l| values[first + l]) };
            let ([x, y, z], [u, v, w]) = (
                [lanes(cx), lanes(cy), lanes(cz)],
                [lanes(wx), lanes(wy), lanes(wz)],
            );
            for l in 0..LANES {
                let (dx, dy, dz) = (x[l] - p.x, y[l] - p.y, z[l] - p.z);
                let phi = cube(dx * dx + dy * dy + dz * dz);
                sums[0][l] += u[l] * phi;
                sums[1][l] += v[l] * phi;
                sums[2][l] += w[l] * phi;
            }
        }
        let mut d = DVec3::from(sums.map(|s| (s[0] + s[1]) + (s[2] + s[3])));
        for j in whole..cx.len() {
            let phi = cube(DVec3::new(cx[j], cy[j], cz[j]).distance_squared(p));
            d += phi * DVec3::new(wx[j], wy[j], wz[j]);
        }
        point + (d + self.linear * p + self.constant) / self.scale
    }

    /// Where many points go \[m\].
    pub fn all(&self, points: &[DVec3]) -> Vec<DVec3> {
        points.par_iter().map(|point| self.at(*point)).collect()
    }
}

/// r³ from r².
fn cube(squared: f64) -> f64 {
    squared * squared.sqrt()
}

/// Householder reflections that bring the values of 1, x, y, z at the centres to upper triangular form, and that form.
fn linear_functions(centres: &[DVec3]) -> ([Vec<f64>; LINEAR], [[f64; LINEAR]; LINEAR]) {
    let mut columns: [Vec<f64>; LINEAR] = std::array::from_fn(|k| {
        centres
            .iter()
            .map(|c| if k == 0 { 1.0 } else { c[k - 1] })
            .collect()
    });
    let mut reflections: [Vec<f64>; LINEAR] = Default::default();
    for k in 0..LINEAR {
        let mut v = columns[k].clone();
        v[..k].fill(0.0);
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        v[k] += norm.copysign(v[k]);
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            v.iter_mut().for_each(|x| *x /= length);
        }
        columns.iter_mut().for_each(|column| reflect(column, &v));
        reflections[k] = v;
    }
    (
        reflections,
        std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i])),
    )
}

/// x ← (I − 2 v vᵀ) x.
fn reflect(x: &mut [f64], v: &[f64]) {
    let dot: f64 = x.iter().zip(v).map(|(x, v)| x * v).sum();
    x.iter_mut().zip(v).for_each(|(x, v)| *x -= 2.0 * dot * v);
}

/// A ← H A H for a symmetric matrix: A − v qᵀ − q vᵀ with q = 2 (A v − (vᵀ A v) v).
fn reflect_both_sides(matrix: &mut [f64], n: usize, v: &[f64]) {
    let product: Vec<f64> = (matrix.par_chunks(n))
        .map(|row| row.iter().zip(v).map(|(a, v)| a * v).sum())
        .collect();
    let inner: f64 = product.iter().zip(v).map(|(p, v)| p * v).sum();
    let q: Vec<f64> = product
        .iter()
        .zip(v)
        .map(|(p, v)| 2.0 * (p - inner * v))
        .collect();
    (matrix.par_chunks_mut(n).enumerate()).for_each(|(i, row)| {
        for ((a, v_j), q_j) in row.iter_mut().zip(v).zip(&q) {
            *a -= v[i] * q_j + q[i] * v_j;
        }
    });
}

/// Farthest point sampling: `count` of the points, each as far as possible from those before; fewer if points coincide.
/// The first is the one farthest from the mean.
pub fn farthest_points(points: &[DVec3], count: usize) -> Vec<u32> {
    let mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let mut distances: Vec<f64> = vec![f64::INFINITY; points.len()];
    let mut chosen = Vec::with_capacity(count);
    let mut next = (points.iter().enumerate())
        .max_by(|a, b| {
            a.1.distance_squared(mean)
                .total_cmp(&b.1.distance_squared(mean))
        })
        .map(|(i, _)| i);
    while let Some(index) = next.filter(|_| chosen.len() < count) {
        chosen.push(index as u32);
        let at = points[index];
        let mut farthest = (0.0, None);
        for (i, (point, distance)) in points.iter().zip(&mut distances).enumerate() {
            *distance = distance.min(point.distance_squared(at));
            if *distance > farthest.0 {
                farthest = (*distance, Some(i));
            }
        }
        // Points nearer than a tenth of a millimetre would spoil the matrix.
        next = farthest.1.filter(|_| farthest.0 > 1e-8);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(count: usize) -> Vec<DVec3> {
        let part = |i: usize, k: usize| ((i * i * k + 7 * i) % 101) as f64 / 101.0;
        let points = (0..count).map(|i| {
            DVec3::new(
                part(i, 13),
                2.0 * part(i, 29),
                0.5 * part(i, 57) + 1e-3 * i as f64,
            )
        });
        points.collect()
    }

    #[test]
    fn affine_maps_are_reproduced_everywhere() {
        let centres = cloud(77);
        let map = |p: DVec3| {
            DMat3::from_cols(
                DVec3::new(1.1, 0.2, 0.0),
                DVec3::new(-0.1, 0.9, 0.3),
                DVec3::new(0.0, 0.1, 1.4),
            ) * p
                + DVec3::new(3.0, -1.0, 0.5)
        };
        let targets: Vec<DVec3> = centres.iter().map(|c| map(*c)).collect();
        let warp = WarpBasis::new(&centres).unwrap().warp(&targets);
        for p in [DVec3::ZERO, DVec3::new(0.3, 0.8, 0.1), DVec3::splat(5.0)] {
            assert!(
                warp.at(p).distance(map(p)) < 1e-9,
                "{}",
                warp.at(p).distance(map(p))
            );
        }
    }

    #[test]
    fn centres_go_to_their_targets_and_space_between_follows_smoothly() {
        let centres = cloud(301);
        let bent = |p: DVec3| p + DVec3::new(0.05 * (3.0 * p.y).sin(), 0.0, 0.1 * p.x * p.y);
        let targets: Vec<DVec3> = centres.iter().map(|c| bent(*c)).collect();
        let warp = WarpBasis::new(&centres).unwrap().warp(&targets);
        for (centre, target) in centres.iter().zip(&targets) {
            assert!(warp.at(*centre).distance(*target) < 1e-9);
        }
        let between = DVec3::new(0.5, 1.0, 0.4);
        assert!(warp.at(between).distance(bent(between)) < 2e-3);
    }

    #[test]
    fn flat_and_coincident_centres_are_refused() {
        let flat: Vec<DVec3> = cloud(20)
            .iter()
            .map(|p| DVec3::new(p.x, p.y, 0.0))
            .collect();
        assert!(matches!(WarpBasis::new(&flat), Err(WarpError::Flat { .. })));
        let mut twice = cloud(20);
        twice.push(twice[3]);
        assert!(matches!(
            WarpBasis::new(&twice),
            Err(WarpError::Coincident(_))
        ));
    }

    #[test]
    fn farthest_points_spread() {
        let line: Vec<DVec3> = (0..=100).map(|i| DVec3::X * f64::from(i)).collect();
        let mut chosen = farthest_points(&line, 5);
        chosen.sort_unstable();
        assert_eq!(chosen, [0, 25, 50, 75, 100]);
        assert_eq!(farthest_points(&[DVec3::ONE; 4], 3).len(), 1);
    }
}
