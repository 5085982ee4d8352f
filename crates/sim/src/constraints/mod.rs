//! Constraint types: one file each, structure of arrays.
//!
//! Each is a potential wᵢ/2 ‖Qᵢz − pᵢ‖² (2.10): Qᵢ is constant and goes into the system matrix, pᵢ is the projection of
//! Qᵢz to the closest allowed configuration, found in the local step. Every type offers the same three functions:
//! `add_matrix` (w QᵀQ), `add_rhs` (local step: w Qᵀp) and `energy`. Vertex indices are those of
//! [`Model`](crate::Model): free first, then fixed.

pub mod anchor;
pub mod bending;
pub mod cluster;
pub mod polyhedron;
pub mod spring;
pub mod tet_strain;
pub mod volume;

pub use anchor::{AnchorKind, Anchors};
pub use bending::{Bendings, surface_bending};
pub use cluster::Clusters;
pub use polyhedron::{Polyhedra, StretchLimits};
pub use spring::Springs;
pub use tet_strain::TetStrains;
pub use volume::TetVolumes;

use glam::{DMat3, DVec3};

/// Receives entry (row, column) of a system matrix; called once for each ordered pair.
pub type AddEntry<'a> = &'a mut dyn FnMut(u32, u32, f64);

/// w Qᵀ Q of a constraint whose Q has one row, from its (vertex, coefficient) pairs.
pub(crate) fn add_row(vertices: &[u32], coefficients: &[f64], weight: f64, add: AddEntry) {
    for (&a, &ca) in vertices.iter().zip(coefficients) {
        for (&b, &cb) in vertices.iter().zip(coefficients) {
            add(a, b, weight * ca * cb);
        }
    }
}

/// w Qᵀ Q of a constraint whose Qz is a deformation gradient Fᵀ: row a of Qᵀ is `gradients[a]`.
pub(crate) fn add_gradients(vertices: &[u32], gradients: &[DVec3], weight: f64, add: AddEntry) {
    for (&a, ga) in vertices.iter().zip(gradients) {
        for (&b, &gb) in vertices.iter().zip(gradients) {
            add(a, b, weight * ga.dot(gb));
        }
    }
}

/// F = Σ xₐ gₐᵀ.
pub(crate) fn deformation_gradient(vertices: &[u32], gradients: &[DVec3], z: &[DVec3]) -> DMat3 {
    let mut f = DMat3::ZERO;
    for (&a, g) in vertices.iter().zip(gradients) {
        let x = z[a as usize];
        f += DMat3::from_cols(x * g.x, x * g.y, x * g.z);
    }
    f
}

/// Gradients of the least-squares linear map from rest to current positions, Eq. (2.18): gₐ = (ĒĒᵀ)⁻¹ ēₐ with
/// mean-centred rest positions ēₐ. `None` if the rest points are coplanar.
pub(crate) fn least_squares_gradients(rest: &[DVec3]) -> Option<Vec<DVec3>> {
    if rest.len() < 4 {
        return None;
    }
    let mean = rest.iter().sum::<DVec3>() / rest.len() as f64;
    let mut covariance = DMat3::ZERO;
    for p in rest {
        let e = *p - mean;
        covariance += DMat3::from_cols(e * e.x, e * e.y, e * e.z);
    }
    let size = (covariance.x_axis.x + covariance.y_axis.y + covariance.z_axis.z) / 3.0;
    // det ~ size³ for a round element; the square of the flatness bound of a tet.
    if !(size > 0.0 && covariance.determinant() > 1e-12 * size.powi(3)) {
        return None;
    }
    let inverse = covariance.inverse();
    Some(rest.iter().map(|p| inverse * (*p - mean)).collect())
}

/// ‖M‖²_F.
pub(crate) fn norm_squared(m: DMat3) -> f64 {
    m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()
}

/// `d` scaled to `length`; along `fallback` if `d` is zero.
pub(crate) fn rescale(d: DVec3, length: f64, fallback: DVec3) -> DVec3 {
    let norm = d.length();
    if norm > 1e-12 * length && norm > 0.0 {
        d * (length / norm)
    } else {
        fallback.normalize_or_zero() * length
    }
}
