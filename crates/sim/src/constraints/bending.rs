//! Surface bending: the Laplacian of a vertex keeps its length [2.2.1, Eq. 2.17].

use glam::{DVec3, Vec3};
use supple_geom::laplace::{Clamp, Stencil, cotan_laplacian};

use super::{AddEntry, add_row, rescale};

/// Bending constraints w/2 ‖Δx − RΔx̄‖²; the best R Δx̄ is Δx rescaled to the length of Δx̄.
#[derive(Clone, Debug, Default)]
pub struct Bendings {
    /// Entry i of `vertices` and `coefficients` runs from `offsets[i]` to `offsets[i + 1]`.
    pub offsets: Vec<u32>,
    /// The vertex and its one-ring.
    pub vertices: Vec<u32>,
    /// Laplacian coefficients [1/m²], summing to zero.
    pub coefficients: Vec<f64>,
    /// Bending stiffness × Voronoi area [J m²].
    pub weights: Vec<f64>,
    /// Laplacian of the rest surface Δx̄ [1/m].
    pub rest: Vec<DVec3>,
}

impl Bendings {
    /// Number of constraints.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are no constraints.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Vertices and coefficients of constraint `i`.
    pub fn stencil(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i] as usize..self.offsets[i + 1] as usize;
        (&self.vertices[range.clone()], &self.coefficients[range])
    }

    pub(crate) fn push(
        &mut self,
        vertices: &[u32],
        coefficients: &[f64],
        weight: f64,
        rest: DVec3,
    ) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.vertices.extend_from_slice(vertices);
        self.coefficients.extend_from_slice(coefficients);
        self.offsets.push(self.vertices.len() as u32);
        self.weights.push(weight);
        self.rest.push(rest);
    }

    fn laplacian(&self, i: usize, z: &[DVec3]) -> DVec3 {
        let (vertices, coefficients) = self.stencil(i);
        vertices
            .iter()
            .zip(coefficients)
            .map(|(&v, &c)| z[v as usize] * c)
            .sum()
    }

    fn project(&self, i: usize, laplacian: DVec3) -> DVec3 {
        rescale(laplacian, self.rest[i].length(), self.rest[i])
    }

    /// w QᵀQ with Q the Laplacian's row.
    pub fn add_matrix(&self, factor: f64, add: AddEntry) {
        for i in 0..self.len() {
            let (vertices, coefficients) = self.stencil(i);
            add_row(vertices, coefficients, factor * self.weights[i], add);
        }
    }

    /// Local step.
    pub fn add_rhs(&self, factor: f64, z: &[DVec3], rhs: &mut [DVec3]) {
        for i in 0..self.len() {
            let weight = factor * self.weights[i];
            let p = self.project(i, self.laplacian(i, z)) * weight;
            let (vertices, coefficients) = self.stencil(i);
            for (&v, &c) in vertices.iter().zip(coefficients) {
                rhs[v as usize] += p * c;
            }
        }
    }

    /// Energy \[J\].
    pub fn energy(&self, z: &[DVec3]) -> f64 {
        let of = |i: usize| {
            let laplacian = self.laplacian(i, z);
            0.5 * self.weights[i] * laplacian.distance_squared(self.project(i, laplacian))
        };
        (0..self.len()).map(of).sum()
    }
}

/// Cotangents are clamped to that of about half a degree, because of needle triangles.
const CLAMP: Clamp = Clamp {
    cotangent: 100.0,
    ..Clamp::COTANGENTS
};

/// Cotangent Laplacian of every vertex of a triangle surface that has an area.
pub fn surface_bending(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Stencil> {
    let positions: Vec<DVec3> = positions.iter().map(|p| p.as_dvec3()).collect();
    cotan_laplacian(&positions, triangles, CLAMP).stencils()
}
