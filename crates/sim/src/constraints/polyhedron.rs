//! Strain of polyhedra with anisotropic limits: a prism may stretch along its normal without resistance [Eq. 4.8].

use glam::{DMat3, DVec3};
use supple_geom::higham::closest_rotation;

use super::{AddEntry, add_gradients, deformation_gradient, norm_squared};

/// Range of stretch along three axes within which an element does not resist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StretchLimits {
    /// Rotation B whose columns are the axes, in rest space.
    pub frame: DMat3,
    /// Smallest free stretch along each axis.
    pub min: DVec3,
    /// Largest free stretch along each axis.
    pub max: DVec3,
}

impl StretchLimits {
    /// No free stretch: plain strain.
    pub fn rigid() -> StretchLimits {
        StretchLimits {
            frame: DMat3::IDENTITY,
            min: DVec3::ONE,
            max: DVec3::ONE,
        }
    }

    /// Free between `min` and `max` along `normal`, rigid across it. Eq. (4.8) uses 0.2 and 5.
    pub fn along(normal: DVec3, min: f64, max: f64) -> StretchLimits {
        let z = normal.try_normalize().unwrap_or(DVec3::Z);
        let (x, y) = z.any_orthonormal_pair();
        StretchLimits {
            frame: DMat3::from_cols(x, y, z),
            min: DVec3::new(1.0, 1.0, min),
            max: DVec3::new(1.0, 1.0, max),
        }
    }
}

/// Polyhedra with energy w/2 ‖F − R B S̃ Bᵀ‖², F the least-squares deformation gradient (2.18).
#[derive(Clone, Debug, Default)]
pub struct Polyhedra {
    /// Corners of element i run from `offsets[i]` to `offsets[i + 1]`.
    pub offsets: Vec<u32>,
    /// Corners.
    pub vertices: Vec<u32>,
    /// F = Σ xₐ gₐᵀ [1/m].
    pub gradients: Vec<DVec3>,
    /// Weight \[J\].
    pub weights: Vec<f64>,
    /// Free stretch.
    pub limits: Vec<StretchLimits>,
}

impl Polyhedra {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Corners and gradients of element `i`.
    pub fn stencil(&self, i: usize) -> (&[u32], &[DVec3]) {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        (&self.vertices[range.clone()], &self.gradients[range])
    }

    pub(crate) fn push(
        &mut self,
        vertices: &[u32],
        gradients: &[DVec3],
        weight: f64,
        limits: StretchLimits,
    ) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.vertices.extend_from_slice(vertices);
        self.gradients.extend_from_slice(gradients);
        self.offsets.push(self.vertices.len() as u32);
        self.weights.push(weight);
        self.limits.push(limits);
    }

    /// w QᵀQ.
    pub fn add_matrix(&self, factor: f64, add: AddEntry) {
        for i in 0..self.len() {
            let (vertices, gradients) = self.stencil(i);
            add_gradients(vertices, gradients, factor * self.weights[i], add);
        }
    }

    /// Local step.
    pub fn add_rhs(&self, factor: f64, z: &[DVec3], rhs: &mut [DVec3]) {
        for i in 0..self.len() {
            let (vertices, gradients) = self.stencil(i);
            let target = closest_limited(
                deformation_gradient(vertices, gradients, z),
                &self.limits[i],
            );
            for (&v, &g) in vertices.iter().zip(gradients) {
                rhs[v as usize] += target * g * (factor * self.weights[i]);
            }
        }
    }

    /// Energy \[J\].
    pub fn energy(&self, z: &[DVec3]) -> f64 {
        let of = |i: usize| {
            let (vertices, gradients) = self.stencil(i);
            let f = deformation_gradient(vertices, gradients, z);
            0.5 * self.weights[i] * norm_squared(f - closest_limited(f, &self.limits[i]))
        };
        (0..self.len()).map(of).sum()
    }
}

/// Closest R B S̃ Bᵀ to `f`, S̃ diagonal within the limits.
///
/// Eq. (4.8) takes R from F alone. Two alternating refinements (R for given S̃, S̃ for given R) reduce the distance further when
/// the free stretch is large. Projective dynamics descends only if the projection is close to the closest point.
pub fn closest_limited(f: DMat3, limits: &StretchLimits) -> DMat3 {
    let mut rotation = closest_rotation(f);
    let mut stretch = best_stretch(rotation, f, limits);
    if limits.min == limits.max && limits.min == DVec3::ONE {
        return rotation;
    }
    for _ in 0..2 {
        rotation = closest_rotation(f * stretch);
        stretch = best_stretch(rotation, f, limits);
    }
    rotation * stretch
}

/// B S̃ Bᵀ with S̃ = diag(BᵀRᵀFB) clamped to the limits.
fn best_stretch(rotation: DMat3, f: DMat3, limits: &StretchLimits) -> DMat3 {
    let b = limits.frame;
    let local = b.transpose() * rotation.transpose() * f * b;
    let diagonal = DVec3::new(local.x_axis.x, local.y_axis.y, local.z_axis.z);
    b * DMat3::from_diagonal(diagonal.clamp(limits.min, limits.max)) * b.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_stretch_costs_nothing_within_the_limits() {
        let normal = DVec3::new(1.0, 2.0, -0.5).normalize();
        let limits = StretchLimits::along(normal, 0.2, 5.0);
        let turn = DMat3::from_axis_angle(DVec3::new(0.3, 0.5, 0.8).normalize(), 1.1);
        for alpha in [0.2, 0.7, 1.0, 3.0, 5.0] {
            let f = turn
                * limits.frame
                * DMat3::from_diagonal(DVec3::new(1.0, 1.0, alpha))
                * limits.frame.transpose();
            assert!(
                norm_squared(f - closest_limited(f, &limits)) < 1e-20,
                "{alpha}"
            );
        }
        let f = limits.frame
            * DMat3::from_diagonal(DVec3::new(1.0, 1.0, 6.0))
            * limits.frame.transpose();
        assert!((norm_squared(f - closest_limited(f, &limits)) - 1.0).abs() < 1e-12);
    }
}
