//! Heat flow along the skin, as one implicit step in metric time.

use glam::DVec3;
use rayon::prelude::*;
use supple_geom::laplace::{Clamp, cotan_laplacian};

use crate::construction::rest_skin::RestSkin;

/// One implicit heat step `(A + τL) s = A s₀`, solved by conjugate gradients for three values per vertex at once.
pub struct HeatStep<'a> {
    skin: &'a RestSkin,
    /// τ × edge weight, parallel to the surface's rings.
    weights: Vec<f64>,
    areas: Vec<f64>,
    diagonal: Vec<f64>,
    fixed: &'a [bool],
}

impl<'a> HeatStep<'a> {
    /// A step of diffusion time `time(v)` \[m²\] at vertex `v`; `fixed` vertices keep their values.
    pub fn new(skin: &'a RestSkin, time: &dyn Fn(usize) -> f64, fixed: &'a [bool]) -> Self {
        let mut weights = cotangent_weights(skin);
        for v in 0..skin.len() {
            let start = skin.ring_starts[v] as usize;
            for (k, &w) in skin.ring(v).iter().enumerate() {
                weights[start + k] *= 0.5 * (time(v) + time(w as usize));
            }
        }
        let mean_area = skin.areas.iter().sum::<f64>() / skin.len().max(1) as f64;
        // A floor keeps vertices of vanishing area in the equation.
        let areas: Vec<f64> = skin.areas.iter().map(|a| a.max(1e-3 * mean_area)).collect();
        let diagonal = (0..skin.len())
            .map(|v| {
                let ring = skin.ring_starts[v] as usize..skin.ring_starts[v + 1] as usize;
                areas[v] + weights[ring].iter().sum::<f64>()
            })
            .collect();
        Self {
            skin,
            weights,
            areas,
            diagonal,
            fixed,
        }
    }

    /// `(A + τL) x` on free vertices, identity-scaled on fixed ones.
    fn apply(&self, x: &[DVec3]) -> Vec<DVec3> {
        (0..x.len())
            .into_par_iter()
            .with_min_len(1024)
            .map(|v| {
                if self.fixed[v] {
                    return DVec3::ZERO;
                }
                let start = self.skin.ring_starts[v] as usize;
                let mut sum = x[v] * self.diagonal[v];
                for (k, &w) in self.skin.ring(v).iter().enumerate() {
                    sum -= x[w as usize] * self.weights[start + k];
                }
                sum
            })
            .collect()
    }

    /// The values after the step. The residual ends at √`tolerance` of the initial one.
    pub fn solve(&self, start: &[DVec3], tolerance: f64) -> Vec<DVec3> {
        let mut x = start.to_vec();
        let product = self.apply(&x);
        let mut residual: Vec<DVec3> = (0..x.len())
            .map(|v| {
                if self.fixed[v] {
                    DVec3::ZERO
                } else {
                    start[v] * self.areas[v] - product[v]
                }
            })
            .collect();
        let precondition = |r: &[DVec3]| -> Vec<DVec3> {
            r.iter().zip(&self.diagonal).map(|(&r, &d)| r / d).collect()
        };
        let mut z = precondition(&residual);
        let mut direction = z.clone();
        let mut rho = dot(&residual, &z);
        let target = tolerance * rho;
        for _ in 0..400 {
            if rho <= target || rho <= f64::MIN_POSITIVE {
                break;
            }
            let product = self.apply(&direction);
            let curvature = dot(&direction, &product);
            if curvature <= 0.0 {
                break;
            }
            let alpha = rho / curvature;
            for v in 0..x.len() {
                x[v] += direction[v] * alpha;
                residual[v] -= product[v] * alpha;
            }
            z = precondition(&residual);
            let next = dot(&residual, &z);
            let beta = next / rho;
            rho = next;
            for (d, &z) in direction.iter_mut().zip(&z) {
                *d = z + *d * beta;
            }
        }
        x
    }
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// Bounds under which needles and obtuse triangles keep the maximum principle, and no edge carries all the heat.
const CLAMP: Clamp = Clamp {
    cotangent: 1e6,
    least_weight: 0.05,
    largest_weight: 5.0,
};

/// Cotangent weights, parallel to the surface's rings.
fn cotangent_weights(skin: &RestSkin) -> Vec<f64> {
    let laplacian = cotan_laplacian(&skin.positions, &skin.triangles, CLAMP);
    // Neighbours by degenerate triangles alone have no edge.
    let mut weights = vec![CLAMP.least_weight; skin.rings.len()];
    for (&[a, b], &weight) in laplacian.edges.iter().zip(&laplacian.weights) {
        for (from, to) in [(a, b), (b, a)] {
            let start = skin.ring_starts[from as usize] as usize;
            if let Ok(k) = skin.ring(from as usize).binary_search(&to) {
                weights[start + k] = weight;
            }
        }
    }
    weights
}
