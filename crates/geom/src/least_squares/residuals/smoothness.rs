//! Smooth displacements: those from a given shape bend little.

use glam::DVec3;

use super::Stencils;
use crate::least_squares::{Points, Residual, Rows};

/// One row for each function of the points: √w (Σⱼ cⱼ xⱼ − its value in the given shape).
#[derive(Clone, Debug)]
pub struct Smoothness {
    stencils: Stencils,
    given: Vec<DVec3>,
}

impl Smoothness {
    /// No function yet.
    pub fn new(points: &Points) -> Smoothness {
        Smoothness {
            stencils: Stencils::new(points),
            given: Vec::new(),
        }
    }

    /// Adds a function of the points, whose value should stay as `points` has it.
    ///
    /// # Panics
    /// If a point is not there.
    pub fn push(
        &mut self,
        weight: f64,
        terms: impl IntoIterator<Item = (u32, f64)>,
        points: &Points,
    ) {
        let row = self.stencils.len();
        self.stencils.push(weight, terms, points);
        self.given.push(self.stencils.value(row, points));
    }
}

impl Residual<Points, 3> for Smoothness {
    fn pieces(&self) -> usize {
        Stencils::pieces(self.given.len())
    }

    fn linearise(&self, points: &Points, piece: usize, rows: &mut dyn Rows<3>) {
        for row in Stencils::piece(piece, self.given.len()) {
            let off = self.stencils.value(row, points) - self.given[row];
            self.stencils.write(row, off, rows);
        }
    }

    fn is_constant(&self) -> bool {
        true
    }
}
