//! Bending of a surface that keeps the length of its Laplacians (4.2): each has the rest shape's length and its own present
//! direction.

use glam::DVec3;

use super::Stencils;
use crate::laplace::CotanLaplacian;
use crate::least_squares::{Points, Residual, Rows};

/// One row for each free vertex: √(wA) (Δx − |Δx⁰| Δx/|Δx|).
#[derive(Clone, Debug)]
pub struct Bending {
    stencils: Stencils,
    /// Length of the rest shape's Laplacian at each row \[1/m\].
    lengths: Vec<f64>,
}

impl Bending {
    /// Of a surface at rest with this Laplacian. `weight` counts a square metre.
    ///
    /// # Panics
    /// If there are fewer points than vertices at rest.
    pub fn new(
        laplacian: &CotanLaplacian,
        rest: &[DVec3],
        points: &Points,
        weight: f64,
    ) -> Bending {
        let mut bending = Bending {
            stencils: Stencils::new(points),
            lengths: Vec::new(),
        };
        let mut free = vec![false; rest.len()];
        for &v in points.free() {
            free[v as usize] = true;
        }
        for stencil in laplacian.stencils() {
            if !free[stencil.vertices[0] as usize] {
                continue;
            }
            let vertices = stencil.vertices.iter().copied();
            let terms = || vertices.clone().zip(stencil.coefficients.iter().copied());
            bending
                .stencils
                .push(weight * stencil.area, terms(), points);
            let value: DVec3 = terms().map(|(v, c)| c * rest[v as usize]).sum();
            bending.lengths.push(value.length());
        }
        bending
    }
}

impl Residual<Points, 3> for Bending {
    fn pieces(&self) -> usize {
        Stencils::pieces(self.lengths.len())
    }

    fn linearise(&self, points: &Points, piece: usize, rows: &mut dyn Rows<3>) {
        for row in Stencils::piece(piece, self.lengths.len()) {
            let value = self.stencils.value(row, points);
            let wanted = value.normalize_or_zero() * self.lengths[row];
            self.stencils.write(row, value - wanted, rows);
        }
    }

    fn is_constant(&self) -> bool {
        true
    }
}
