//! Tetrahedral volume: the deformation gradient keeps a given determinant [2.2.1].

use glam::{DMat3, DVec3};
use supple_geom::svd3::svd3;

use crate::Weights;

use super::{AddEntry, TetStrains, add_gradients, norm_squared};

/// Volume constraints w/2 ‖F − F̃‖², F̃ the closest matrix with det F̃ = ratio.
#[derive(Clone, Debug, Default)]
pub struct TetVolumes {
    /// Index of the tet in [`TetStrains`].
    pub tets: Vec<u32>,
    /// Stiffness × rest volume \[J\].
    pub weights: Vec<f64>,
    /// Target volume / rest volume.
    pub ratios: Vec<f64>,
}

impl TetVolumes {
    /// Number of constraints.
    pub fn len(&self) -> usize {
        self.tets.len()
    }

    /// Whether there are no constraints.
    pub fn is_empty(&self) -> bool {
        self.tets.is_empty()
    }

    /// w QᵀQ, the same Q as tet strain.
    pub fn add_matrix(&self, weights: &Weights, tets: &TetStrains, add: AddEntry) {
        for (&t, &w) in self.tets.iter().zip(&self.weights) {
            let t = t as usize;
            let factor = weights.volume_of(tets.materials[t]);
            add_gradients(&tets.vertices[t], &tets.gradients(t), factor * w, add);
        }
    }

    /// Local step.
    pub fn add_rhs(&self, weights: &Weights, tets: &TetStrains, z: &[DVec3], rhs: &mut [DVec3]) {
        for (i, &t) in self.tets.iter().enumerate() {
            let t = t as usize;
            let factor = weights.volume_of(tets.materials[t]);
            let target = closest_with_determinant(tets.deformation_gradient(t, z), self.ratios[i]);
            for (g, &v) in tets.gradients(t).iter().zip(&tets.vertices[t]) {
                rhs[v as usize] += target * *g * (factor * self.weights[i]);
            }
        }
    }

    /// Energy \[J\].
    pub fn energy(&self, weights: &Weights, tets: &TetStrains, z: &[DVec3]) -> f64 {
        let of = |(i, &t): (usize, &u32)| {
            let f = tets.deformation_gradient(t as usize, z);
            let factor = weights.volume_of(tets.materials[t as usize]);
            0.5 * factor
                * self.weights[i]
                * norm_squared(f - closest_with_determinant(f, self.ratios[i]))
        };
        self.tets.iter().enumerate().map(of).sum()
    }
}

/// Closest matrix to `f` with determinant `ratio` > 0: the singular values move by the smallest d with Π(σ + d) = ratio. d is
/// found by repeated projection onto the linearised constraint, as in ShapeOp [2.2.1].
pub fn closest_with_determinant(f: DMat3, ratio: f64) -> DMat3 {
    let (u, sigma, v) = svd3(f);
    u * DMat3::from_diagonal(closest_with_product(sigma, ratio)) * v.transpose()
}

/// Step length of the iteration. Full steps oscillate if the stretches are very different.
const RELAXATION: f64 = 0.8;

fn closest_with_product(sigma: DVec3, ratio: f64) -> DVec3 {
    // The constraint linearised at the rotation; also valid for flat and inverted elements.
    let shift = (2.0 + ratio - sigma.element_sum()) / 3.0;
    let mut d = DVec3::splat(shift.max(-0.1));
    for _ in 0..100 {
        let s = sigma + d;
        let error = s.x * s.y * s.z - ratio;
        let gradient = DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let length = gradient.length_squared();
        if length <= 1e-12 {
            // Collapsed to a line or a point: all directions are equivalent.
            return DVec3::splat(ratio.cbrt());
        }
        let next = d.lerp(gradient * ((gradient.dot(d) - error) / length), RELAXATION);
        let moved = next.distance_squared(d);
        d = next;
        if moved <= 1e-26 {
            break;
        }
    }
    let s = sigma + d;
    let product = s.x * s.y * s.z;
    // A uniform scale removes the remaining error, so the result always has the target volume.
    if s.is_finite() && product > 0.0 {
        s * (ratio / product).cbrt()
    } else {
        DVec3::splat(ratio.cbrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projection_has_the_determinant_and_is_optimal() {
        let f = DMat3::from_cols(
            DVec3::new(1.3, 0.2, 0.0),
            DVec3::new(-0.1, 0.8, 0.3),
            DVec3::new(0.0, 0.1, 1.1),
        );
        for ratio in [0.5, 1.0, 2.0] {
            let p = closest_with_determinant(f, ratio);
            assert!((p.determinant() - ratio).abs() < 1e-10);
            // Lagrange: F − F̃ is parallel to the gradient of the determinant, the cofactor matrix of F̃.
            let cofactor = p.inverse().transpose();
            let difference = f - p;
            let scale = (norm_squared(difference) / norm_squared(cofactor)).sqrt();
            let parallel = norm_squared(difference - cofactor * scale)
                .min(norm_squared(difference + cofactor * scale));
            assert!(parallel < 1e-16, "{parallel}");
        }
    }

    #[test]
    fn degenerate_and_inverted_matrices_are_projected_too() {
        for f in [
            DMat3::ZERO,
            DMat3::from_diagonal(DVec3::new(1.0, 1.0, -0.3)),
            DMat3::from_diagonal(DVec3::X),
        ] {
            let p = closest_with_determinant(f, 1.0);
            assert!((p.determinant() - 1.0).abs() < 1e-10);
        }
    }
}
