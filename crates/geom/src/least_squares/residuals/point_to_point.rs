//! Points of a surface that should be at given places.

use glam::DVec3;

use super::Stencils;
use crate::least_squares::{Points, Residual, Rows};

/// One row a place: √w (Σ shares x − place).
#[derive(Clone, Debug)]
pub struct PointToPoint {
    stencils: Stencils,
    places: Vec<DVec3>,
}

impl PointToPoint {
    /// No place yet.
    pub fn new(points: &Points) -> PointToPoint {
        PointToPoint {
            stencils: Stencils::new(points),
            places: Vec::new(),
        }
    }

    /// Adds a place for a point that is the sum of shares of others.
    ///
    /// # Panics
    /// If a point is not there.
    pub fn push(
        &mut self,
        weight: f64,
        shares: impl IntoIterator<Item = (u32, f64)>,
        place: DVec3,
        points: &Points,
    ) {
        self.stencils.push(weight, shares, points);
        self.places.push(place);
    }

    /// Changes the place of a row.
    pub fn set_place(&mut self, row: usize, place: DVec3) {
        self.places[row] = place;
    }
}

impl Residual<Points, 3> for PointToPoint {
    fn pieces(&self) -> usize {
        Stencils::pieces(self.places.len())
    }

    fn linearise(&self, points: &Points, piece: usize, rows: &mut dyn Rows<3>) {
        for row in Stencils::piece(piece, self.places.len()) {
            let off = self.stencils.value(row, points) - self.places[row];
            self.stencils.write(row, off, rows);
        }
    }

    fn is_constant(&self) -> bool {
        true
    }
}
