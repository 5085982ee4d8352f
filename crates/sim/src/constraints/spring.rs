//! Springs: two vertices keep their distance; translation-invariant [2.2.1].

use glam::DVec3;

use super::{AddEntry, add_row, rescale};

/// Springs, w/2 (‖x_b − x_a‖ − L)².
#[derive(Clone, Debug, Default)]
pub struct Springs {
    /// The two ends.
    pub vertices: Vec<[u32; 2]>,
    /// Rest length L \[m\].
    pub lengths: Vec<f64>,
    /// Weight \[N/m\]. Axial stiffness EA \[N\] / L gives a chain whose stiffness does not depend on its number of springs.
    pub weights: Vec<f64>,
    /// Rest vector from the first to the second end \[m\]: the direction used if both ends coincide.
    pub rest: Vec<DVec3>,
}

impl Springs {
    /// Number of springs.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there are no springs.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    fn project(&self, i: usize, d: DVec3) -> DVec3 {
        rescale(d, self.lengths[i], self.rest[i])
    }

    /// w QᵀQ with Q = (−1 1).
    pub fn add_matrix(&self, factor: f64, add: AddEntry) {
        for (ends, &w) in self.vertices.iter().zip(&self.weights) {
            add_row(ends, &[-1.0, 1.0], factor * w, add);
        }
    }

    /// Local step: p = L d/‖d‖.
    pub fn add_rhs(&self, factor: f64, z: &[DVec3], rhs: &mut [DVec3]) {
        for (i, (&[a, b], &w)) in self.vertices.iter().zip(&self.weights).enumerate() {
            let p = self.project(i, z[b as usize] - z[a as usize]) * (factor * w);
            rhs[a as usize] -= p;
            rhs[b as usize] += p;
        }
    }

    /// Energy \[J\].
    pub fn energy(&self, z: &[DVec3]) -> f64 {
        let of = |(i, (&[a, b], &w)): (usize, (&[u32; 2], &f64))| {
            let d = z[b as usize] - z[a as usize];
            0.5 * w * d.distance_squared(self.project(i, d))
        };
        self.vertices
            .iter()
            .zip(&self.weights)
            .enumerate()
            .map(of)
            .sum()
    }
}
