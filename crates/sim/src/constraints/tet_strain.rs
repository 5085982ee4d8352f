//! Tetrahedral strain: the deformation gradient stays close to a rotation [2.2.1, 2.2.2].

use glam::{DMat3, DVec3};
use supple_geom::higham::closest_rotation;

use super::{AddEntry, add_gradients, norm_squared};
use crate::{Decompose, Fit, Strain, Weights};

/// Tetrahedra with strain energy w/2 ‖F − R‖², w = stiffness × rest volume, Eqs. (2.15) and (2.16).
///
/// A tet that is flat at rest has no deformation gradient. It keeps its index, with zero weight, volume and inverse.
#[derive(Clone, Debug, Default)]
pub struct TetStrains {
    /// Corners.
    pub vertices: Vec<[u32; 4]>,
    /// Inverse of the rest edge matrix (columns x̄₁−x̄₀, x̄₂−x̄₀, x̄₃−x̄₀) [1/m]: F = (edge matrix) × this.
    pub inverse_rest: Vec<DMat3>,
    /// Stiffness × rest volume \[J\].
    pub weights: Vec<f64>,
    /// Index of the [material](crate::Model::materials), or [`NO_MATERIAL`](crate::material::NO_MATERIAL).
    pub materials: Vec<u16>,
    /// Rest volume \[m³\], positive whatever the orientation of the corners.
    pub volumes: Vec<f64>,
    /// Edge of a cube with the mean tet's volume \[m\]. With [`Fit::Positions`] it makes stiffness × length² an energy,
    /// equally for all elements as in Eq. (2.20).
    pub mean_size: f64,
}

impl TetStrains {
    /// Number of tets.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there are no tets.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Whether tet `i` is flat at rest and therefore inert.
    pub fn is_flat(&self, i: usize) -> bool {
        self.volumes[i] == 0.0
    }

    /// Shape gradients g₀…g₃ [1/m]: F = Σ xₐ gₐᵀ.
    pub fn gradients(&self, i: usize) -> [DVec3; 4] {
        let rows = self.inverse_rest[i].transpose();
        [
            -(rows.x_axis + rows.y_axis + rows.z_axis),
            rows.x_axis,
            rows.y_axis,
            rows.z_axis,
        ]
    }

    /// Deformation gradient F of tet `i` at positions `z`.
    pub fn deformation_gradient(&self, i: usize, z: &[DVec3]) -> DMat3 {
        let [a, b, c, d] = self.vertices[i].map(|v| z[v as usize]);
        DMat3::from_cols(b - a, c - a, d - a) * self.inverse_rest[i]
    }

    /// The rotation that tet `i` is projected to.
    pub fn rotation(&self, i: usize, z: &[DVec3], decompose: Decompose) -> DMat3 {
        match decompose {
            Decompose::Gradient => closest_rotation(self.deformation_gradient(i, z)),
            Decompose::Covariance => closest_rotation(self.covariance(i, z)),
        }
    }

    /// Mean-centred rest corners ē \[m\].
    pub fn centred_rest(&self, i: usize) -> [DVec3; 4] {
        let edges = if self.is_flat(i) {
            DMat3::ZERO
        } else {
            self.inverse_rest[i].inverse()
        };
        let mean = (edges.x_axis + edges.y_axis + edges.z_axis) / 4.0;
        [
            -mean,
            edges.x_axis - mean,
            edges.y_axis - mean,
            edges.z_axis - mean,
        ]
    }

    /// H = E Ēᵀ, Eq. (2.21).
    fn covariance(&self, i: usize, z: &[DVec3]) -> DMat3 {
        let mut h = DMat3::ZERO;
        for (e, &v) in self.centred_rest(i).iter().zip(&self.vertices[i]) {
            let x = z[v as usize];
            h += DMat3::from_cols(x * e.x, x * e.y, x * e.z);
        }
        h
    }

    /// Weight of tet `i` with [`Fit::Positions`] \[N/m\].
    fn position_weight(&self, i: usize) -> f64 {
        if self.is_flat(i) {
            0.0
        } else {
            self.weights[i] / self.volumes[i] * self.mean_size
        }
    }

    fn weight(&self, i: usize, fit: Fit) -> f64 {
        match fit {
            Fit::Gradients => self.weights[i],
            Fit::Positions => self.position_weight(i),
        }
    }

    /// w QᵀQ.
    pub fn add_matrix(&self, weights: &Weights, fit: Fit, add: AddEntry) {
        for (i, corners) in self.vertices.iter().enumerate() {
            let weight = weights.strain_of(self.materials[i]) * self.weight(i, fit);
            match fit {
                Fit::Gradients => add_gradients(corners, &self.gradients(i), weight, add),
                Fit::Positions => add_mean_centring(corners, weight, add),
            }
        }
    }

    /// Local step of tet `i`: adds w Qᵀp for target rotation `rotation`.
    pub fn add_rhs(&self, factor: f64, i: usize, rotation: DMat3, fit: Fit, rhs: &mut [DVec3]) {
        let weight = factor * self.weight(i, fit);
        let q = match fit {
            Fit::Gradients => self.gradients(i),
            Fit::Positions => self.centred_rest(i),
        };
        for (g, &v) in q.iter().zip(&self.vertices[i]) {
            rhs[v as usize] += rotation * *g * weight;
        }
    }

    /// Energy of tet `i` for target rotation `rotation` \[J\].
    pub fn energy(&self, i: usize, rotation: DMat3, strain: Strain, z: &[DVec3]) -> f64 {
        match strain.fit {
            Fit::Gradients => {
                0.5 * self.weights[i] * norm_squared(self.deformation_gradient(i, z) - rotation)
            }
            Fit::Positions => {
                let corners = self.vertices[i].map(|v| z[v as usize]);
                let mean = corners.iter().sum::<DVec3>() / 4.0;
                let rest = self.centred_rest(i);
                let squares = |k: usize| (corners[k] - mean).distance_squared(rotation * rest[k]);
                0.5 * self.position_weight(i) * (0..4).map(squares).sum::<f64>()
            }
        }
    }
}

/// w NᵀN with N = I − 1/4, the mean-centring of four corners.
fn add_mean_centring(corners: &[u32; 4], weight: f64, add: AddEntry) {
    for (i, &a) in corners.iter().enumerate() {
        for (k, &b) in corners.iter().enumerate() {
            add(a, b, weight * (if i == k { 0.75 } else { -0.25 }));
        }
    }
}
