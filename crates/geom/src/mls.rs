//! Moving least squares: weights that interpolate values from scattered points [3.2.4, Eqs. 3.2–3.8].
//!
//! A polynomial is fitted to values uᵢ at points xᵢ, each point weighted by ωᵢ, and evaluated at x: the result is linear
//! in the values, u(x) = Σᵢ Nᵢ uᵢ, with Nᵢ = ωᵢ ψ(xᵢ)ᵀ K⁺ ψ(x) and K = Σᵢ ωᵢ ψ(xᵢ) ψ(xᵢ)ᵀ. K⁺ is not formed: the singular
//! values of the matrix with rows √ωᵢ ψ(xᵢ)ᵀ are those of K without the loss of half the digits.

use glam::DVec3;

/// Polynomial basis that is reproduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// 1
    Constant,
    /// 1, x, y, z
    Linear,
    /// 1, x, y, z, xx, yy, zz, xy, xz, yz
    #[default]
    Quadratic,
}

impl Basis {
    /// Number of monomials.
    pub fn terms(self) -> usize {
        match self {
            Self::Constant => 1,
            Self::Linear => 4,
            Self::Quadratic => 10,
        }
    }
}

/// Monomials of a point; a smaller basis takes the first of them.
fn monomials(p: DVec3) -> [f64; 10] {
    let DVec3 { x, y, z } = p;
    [1.0, x, y, z, x * x, y * y, z * z, x * y, x * z, y * z]
}

/// Singular values below this share of the largest are rounding errors of single-precision positions, and count as
/// zero.
const RANK_CUTOFF: f64 = 1e-6;
/// Reproduction error that counts as exact, for the same reason \[radii of the neighbourhood\].
const EXACT_ERROR: f64 = 3e-6;

/// Quality of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The basis that was used.
    pub basis: Basis,
    /// Reproduction error: distance from Σ Nᵢ xᵢ to x.
    pub miss: f64,
    /// Σ |Nᵢ|.
    pub growth: f64,
    /// Whether all polynomials of the basis that the points can distinguish are reproduced.
    pub is_whole: bool,
}

/// Computes weights; keeps its scratch space from one point to the next.
#[derive(Clone, Debug, Default)]
pub struct MovingLeastSquares {
    /// √ωᵢ ψ(xᵢ)ᵀ, later its left singular vectors times their values; column after column.
    columns: Vec<f64>,
    /// Right singular vectors, column after column.
    right: Vec<f64>,
    trial: Vec<f64>,
}

/// Options of a fit.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The largest basis.
    pub most: Basis,
    /// Largest Σ |Nᵢ| of a fit: the factor by which noise of the values may grow.
    pub growth: f64,
}

impl MovingLeastSquares {
    /// Weights of `points`, whose kernel values are ω ≥ 0, at the point `at`.
    ///
    /// Takes the largest basis, up to the wanted one, that reproduces `at` without large weights. Directions in which
    /// the points hardly differ (all on a plane, on a quadric) are left out as far as needed. If no basis achieves
    /// both, weights stay small, and [`Fit::miss`] is the remaining error.
    pub fn weights(
        &mut self,
        points: &[DVec3],
        kernel: &[f64],
        at: DVec3,
        wanted: Wanted,
        weights: &mut Vec<f64>,
    ) -> Fit {
        let count = points.len();
        let centre = points.iter().sum::<DVec3>() / count.max(1) as f64;
        let radius = points
            .iter()
            .map(|p| p.distance(centre))
            .fold(0.0, f64::max)
            .max(f64::MIN_POSITIVE);
        let local = |p: DVec3| (p - centre) / radius;
        let goal = monomials(local(at));
        let mut best = self.constant(points, kernel, at, weights);
        for basis in [Basis::Quadratic, Basis::Linear] {
            let terms = basis.terms();
            if basis > wanted.most || count < terms {
                continue;
            }
            self.columns.clear();
            for term in 0..terms {
                let column = points.iter().zip(kernel);
                self.columns
                    .extend(column.map(|(&p, w)| w.sqrt() * monomials(local(p))[term]));
            }
            let mut order = self.decompose(count, terms);
            let rank = order.len();
            while !order.is_empty() {
                let growth = self.combine(count, terms, &order, kernel, &goal);
                let reproduced: DVec3 = points.iter().zip(&self.trial).map(|(&p, &n)| n * p).sum();
                let miss = reproduced.distance(at) / radius;
                let sum: f64 = self.trial.iter().sum();
                if growth <= wanted.growth && (sum - 1.0).abs() < EXACT_ERROR {
                    let fit = Fit {
                        basis,
                        miss: miss * radius,
                        growth,
                        is_whole: order.len() == rank,
                    };
                    if fit.miss < best.miss {
                        best = fit;
                        weights.clone_from(&self.trial);
                    }
                    if miss < EXACT_ERROR {
                        return best;
                    }
                }
                order.pop();
            }
        }
        best
    }

    fn constant(&self, points: &[DVec3], kernel: &[f64], at: DVec3, weights: &mut Vec<f64>) -> Fit {
        let sum: f64 = kernel.iter().sum();
        weights.clear();
        weights.extend(kernel.iter().map(|w| match sum > 0.0 {
            true => w / sum,
            false => 1.0 / kernel.len() as f64,
        }));
        let reproduced: DVec3 = points.iter().zip(&*weights).map(|(&p, &n)| n * p).sum();
        Fit {
            basis: Basis::Constant,
            miss: reproduced.distance(at),
            growth: 1.0,
            is_whole: true,
        }
    }

    /// Singular value decomposition by one-sided Jacobi rotations (Hestenes 1958), which gives small singular values to full
    /// relative accuracy. The columns become left vectors times values. Returns the terms of numerical rank, largest first.
    fn decompose(&mut self, rows: usize, terms: usize) -> Vec<usize> {
        self.right.clear();
        self.right.resize(terms * terms, 0.0);
        for term in 0..terms {
            self.right[term * terms + term] = 1.0;
        }
        for _ in 0..30 {
            let mut is_done = true;
            for i in 0..terms {
                for j in i + 1..terms {
                    is_done &= rotate(&mut self.columns, &mut self.right, rows, terms, i, j);
                }
            }
            if is_done {
                break;
            }
        }
        let size = |term: usize| -> f64 {
            let column = &self.columns[term * rows..(term + 1) * rows];
            column.iter().map(|x| x * x).sum::<f64>()
        };
        let largest = (0..terms).map(size).fold(0.0, f64::max);
        let mut order: Vec<usize> = (0..terms)
            .filter(|&term| size(term) > RANK_CUTOFF * RANK_CUTOFF * largest)
            .collect();
        order.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
        order
    }

    /// Weights from some of the singular vectors; returns Σ |N|.
    fn combine(
        &mut self,
        rows: usize,
        terms: usize,
        order: &[usize],
        kernel: &[f64],
        goal: &[f64; 10],
    ) -> f64 {
        self.trial.clear();
        self.trial.resize(rows, 0.0);
        for &term in order {
            let column = &self.columns[term * rows..(term + 1) * rows];
            let right = &self.right[term * terms..(term + 1) * terms];
            let square: f64 = column.iter().map(|x| x * x).sum();
            let along: f64 = right.iter().zip(goal).map(|(v, g)| v * g).sum();
            let factor = along / square;
            self.trial
                .iter_mut()
                .zip(column)
                .for_each(|(n, u)| *n += factor * u);
        }
        let weighted = self.trial.iter_mut().zip(kernel);
        weighted.for_each(|(n, w)| *n *= w.sqrt());
        self.trial.iter().map(|n| n.abs()).sum()
    }
}

/// Makes two columns orthogonal; returns whether they were so before.
fn rotate(
    columns: &mut [f64],
    right: &mut [f64],
    rows: usize,
    terms: usize,
    i: usize,
    j: usize,
) -> bool {
    let (head, tail) = columns.split_at_mut(j * rows);
    let (a, b) = (&mut head[i * rows..(i + 1) * rows], &mut tail[..rows]);
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(&*b) {
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    if ab.abs() <= 1e-15 * (aa * bb).sqrt() || ab == 0.0 {
        return true;
    }
    let zeta = (bb - aa) / (2.0 * ab);
    let t = 1f64.copysign(zeta) / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = c * t;
    let turn = |x: &mut f64, y: &mut f64| (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    a.iter_mut().zip(b).for_each(|(x, y)| turn(x, y));
    let (head, tail) = right.split_at_mut(j * terms);
    let (a, b) = (&mut head[i * terms..(i + 1) * terms], &mut tail[..terms]);
    a.iter_mut().zip(b).for_each(|(x, y)| turn(x, y));
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn kernel(points: &[DVec3], at: DVec3) -> Vec<f64> {
        let far = points.iter().map(|p| p.distance(at)).fold(0.0, f64::max) * 1.1;
        let near = |p: &DVec3| (1.0 - p.distance(at) / far).powi(3);
        points.iter().map(near).collect()
    }

    const GROWTH: f64 = 8.0;

    fn fit(points: &[DVec3], at: DVec3, most: Basis) -> (Vec<f64>, Fit) {
        let mut weights = Vec::new();
        let mut solver = MovingLeastSquares::default();
        let wanted = Wanted {
            most,
            growth: GROWTH,
        };
        let fit = solver.weights(points, &kernel(points, at), at, wanted, &mut weights);
        (weights, fit)
    }

    /// Points around the origin, shaped by a map.
    fn cloud(count: usize, map: impl Fn(DVec3) -> DVec3) -> Vec<DVec3> {
        let mut random = Random::new(7);
        (0..count)
            .map(|_| map(random.in_cube(1.0).as_dvec3()))
            .collect()
    }

    fn quadratic_motion(p: DVec3) -> DVec3 {
        DVec3::new(
            0.3 + p.x - 0.5 * p.y * p.z,
            p.y * p.y - 0.2 * p.x * p.z + 0.7 * p.z,
            0.4 * p.x * p.x - p.x * p.y + 0.1 * p.y,
        )
    }

    fn error(points: &[DVec3], weights: &[f64], at: DVec3, motion: impl Fn(DVec3) -> DVec3) -> f64 {
        let carried: DVec3 = points
            .iter()
            .zip(weights)
            .map(|(&p, &n)| n * motion(p))
            .sum();
        carried.distance(motion(at))
    }

    #[test]
    fn quadratic_motions_are_reproduced() {
        let points = cloud(20, |p| p);
        let at = DVec3::new(0.1, -0.05, 0.08);
        let (weights, best) = fit(&points, at, Basis::Quadratic);
        assert_eq!(best.basis, Basis::Quadratic);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(error(&points, &weights, at, quadratic_motion) < 1e-10);
        // Linear weights do not.
        let (weights, _) = fit(&points, at, Basis::Linear);
        assert!(error(&points, &weights, at, |p| DVec3::ONE + 3.0 * p) < 1e-10);
        assert!(error(&points, &weights, at, quadratic_motion) > 1e-3);
    }

    #[test]
    fn planes_and_spheres_keep_weights_small() {
        let flat = |p: DVec3| DVec3::new(p.x, 0.0, p.z);
        for wobble in [0.0, 1e-12, 1e-7, 1e-4] {
            let bend = |p: DVec3| flat(p) + wobble * p.y * DVec3::Y;
            let points = cloud(20, bend);
            let at = bend(DVec3::new(0.2, 0.1, -0.1));
            let (weights, fit) = fit(&points, at, Basis::Quadratic);
            assert!(fit.growth <= GROWTH && fit.miss < 1e-5, "{wobble}: {fit:?}");
            assert!(error(&points, &weights, at, |p| DVec3::ONE + 3.0 * p) < 1e-5);
            // In the plane, quadratic motion is still reproduced.
            assert!(error(&points, &weights, at, |p| quadratic_motion(flat(p))) < 1e-3);
        }
        let cap = |p: DVec3| DVec3::new(0.4 * p.x, 1.0, 0.4 * p.z).normalize();
        let points = cloud(20, cap);
        let at = cap(DVec3::new(0.1, 0.0, 0.1));
        let (weights, fit) = fit(&points, at, Basis::Quadratic);
        assert!(fit.growth < 2.0);
        assert!(error(&points, &weights, at, quadratic_motion) < 1e-9);
    }

    #[test]
    fn unsolvable_fits_keep_weights_small_and_report_the_error() {
        let flat = |p: DVec3| DVec3::new(p.x, 1e-3 * p.y, p.z);
        let points = cloud(20, flat);
        let (weights, fit) = fit(&points, DVec3::new(0.0, 0.3, 0.0), Basis::Quadratic);
        assert!(fit.growth <= GROWTH);
        assert!((0.25..=0.31).contains(&fit.miss), "{fit:?}");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn few_or_equal_points_are_handled() {
        for count in [1, 2, 4, 9] {
            let points = cloud(count, |p| p);
            let (weights, fit) = fit(&points, DVec3::ZERO, Basis::Quadratic);
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!(fit.growth <= GROWTH && fit.miss.is_finite());
        }
        let (weights, _) = fit(&[DVec3::ONE; 12], DVec3::ONE, Basis::Quadratic);
        assert!(weights.iter().all(|n| n.is_finite()));
    }
}
