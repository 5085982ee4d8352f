//! A contact as a row of the system: point minus foot.

use glam::Vec3;

use super::Kernels;

/// Marks a missing vertex.
pub const NONE: u32 = u32::MAX;

/// One contact during a step. Forces are those of the scaled system.
#[derive(Clone, Copy, Debug)]
pub struct ContactRow {
    /// Free vertices: the point, then corners of the foot; [`NONE`] after the last one.
    pub vertices: [u32; 4],
    /// Their coefficients.
    pub coefficients: [f32; 4],
    /// Part of point minus foot that is constant in this step \[m\].
    pub constant: Vec3,
    /// Point minus foot before the step \[m\].
    pub before: Vec3,
    /// Push direction.
    pub normal: Vec3,
    /// Wanted distance along the normal \[m\].
    pub target: f32,
    /// Compliance c A⁻¹ cᵀ: relative displacement of point and foot per unit of force.
    pub compliance: f32,
    /// Largest normal force.
    pub limit: f32,
    /// Coulomb's coefficient.
    pub friction: f32,
    /// Index of the rigid body on the other side in [`Resolver::bodies`](super::Resolver::bodies), or [`NONE`].
    pub body: u32,
    /// Force on the point.
    pub force: Vec3,
}

impl ContactRow {
    /// Adds a vertex with its coefficient.
    pub fn push(&mut self, vertex: u32, coefficient: f32) {
        if let Some(slot) = self.vertices.iter().position(|&v| v == NONE) {
            self.vertices[slot] = vertex;
            self.coefficients[slot] = coefficient;
        }
    }

    /// Free vertices and coefficients.
    #[inline]
    pub fn entries(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.vertices
            .iter()
            .zip(&self.coefficients)
            .take_while(|(v, _)| **v != NONE)
            .map(|(&v, &c)| (v, c))
    }

    /// Whether another has the same row c.
    pub fn is_same_row(&self, other: &ContactRow) -> bool {
        self.vertices == other.vertices && self.coefficients == other.coefficients
    }

    /// c A⁻¹ cᵀ from the stored columns.
    pub fn measured_compliance(&self, kernels: &Kernels) -> f32 {
        let mut sum = 0.0;
        for (first, (i, a)) in self.entries().enumerate() {
            sum += a * a * kernels.entry(i, i);
            for (j, b) in self.entries().skip(first + 1) {
                sum += 2.0 * a * b * kernels.entry(i, j);
            }
        }
        sum
    }
}

impl Default for ContactRow {
    fn default() -> ContactRow {
        ContactRow {
            vertices: [NONE; 4],
            coefficients: [0.0; 4],
            constant: Vec3::ZERO,
            before: Vec3::ZERO,
            normal: Vec3::ZERO,
            target: 0.0,
            compliance: 0.0,
            limit: f32::INFINITY,
            friction: 0.0,
            body: NONE,
            force: Vec3::ZERO,
        }
    }
}
