//! Linear functions of points, the same in each coordinate.

use std::ops::Range;

use glam::DVec3;

use crate::adjacency::NONE;
use crate::least_squares::{Points, Rows};

/// Functions of a piece.
const PIECE: usize = 256;

/// Weighted linear functions Σⱼ cⱼ xⱼ. What points that hold still add is summed once.
#[derive(Clone, Debug, Default)]
pub struct Stencils {
    /// Unknown of each point.
    unknown: Vec<u32>,
    starts: Vec<u32>,
    entries: Vec<(u32, f64)>,
    weights: Vec<f64>,
    held: Vec<DVec3>,
}

impl Stencils {
    /// No function yet, of points of which the same ones move.
    pub fn new(points: &Points) -> Stencils {
        let mut unknown = vec![NONE; points.at.len()];
        for (k, &v) in (0u32..).zip(points.free()) {
            unknown[v as usize] = k;
        }
        Stencils {
            unknown,
            starts: vec![0],
            ..Stencils::default()
        }
    }

    /// Adds a function of points. Those that hold still are where `points` has them.
    ///
    /// # Panics
    /// If a point is not there.
    pub fn push(
        &mut self,
        weight: f64,
        terms: impl IntoIterator<Item = (u32, f64)>,
        points: &Points,
    ) {
        let mut held = DVec3::ZERO;
        for (point, coefficient) in terms {
            match self.unknown[point as usize] {
                NONE => held += coefficient * points.at[point as usize],
                unknown => self.entries.push((unknown, coefficient)),
            }
        }
        self.starts.push(self.entries.len() as u32);
        self.weights.push(weight);
        self.held.push(held);
    }

    /// Number of functions.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no function.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Multiplies the weight of a function.
    pub fn scale_weight(&mut self, row: usize, factor: f64) {
        self.weights[row] *= factor;
    }

    /// The value of a function.
    #[inline]
    pub fn value(&self, row: usize, points: &Points) -> DVec3 {
        let mut sum = self.held[row];
        for &(unknown, coefficient) in self.entries(row) {
            sum += coefficient * points.unknown(unknown);
        }
        sum
    }

    fn entries(&self, row: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// Number of pieces of `count` things.
    pub(super) fn pieces(count: usize) -> usize {
        count.div_ceil(PIECE)
    }

    /// The things of a piece.
    pub(super) fn piece(piece: usize, count: usize) -> Range<usize> {
        piece * PIECE..((piece + 1) * PIECE).min(count)
    }

    /// Writes a function as a row, with what its value is off.
    pub(super) fn write(&self, row: usize, off: DVec3, rows: &mut dyn Rows<3>) {
        rows.row(self.weights[row], self.entries(row), off.to_array());
    }
}
