//! The inner loops of every Cholesky factorisation here: elimination of columns in a dense lower triangle, blocked, on all threads.
//!
//! Matrices are stored by columns, and what lies above their diagonal is scratch. Products and sums are rounded one by one,
//! never fused, and every entry takes its terms in the same order: the bits do not depend on the number of threads nor on the machine.

// Plain loops over small arrays, which compilers keep in registers.
#![allow(clippy::needless_range_loop)]

use rayon::prelude::*;

use crate::simd::{Kernel, Lanes, dispatch};

/// Columns eliminated one by one before the columns to their right take them in together.
const NARROW: usize = 8;
/// Columns whose product is subtracted from the rest of the matrix at once: a tile of them stays in the first cache.
const WIDE: usize = 64;
/// Rows and columns of the tile whose sums stay in registers.
const ROWS: usize = 8;
const COLUMNS: usize = 4;
/// Multiplications a piece of parallel work has at least: below, handing it out costs more than it saves.
const PIECE: usize = 400_000;

/// Replaces the first `width` columns of a symmetric matrix of `size` rows by those of its Cholesky factor. Only these columns are
/// in `panel`. A pivot must be larger than its entry of `least`.
///
/// Fails with the column of the pivot that is not.
pub(crate) fn eliminate(
    panel: &mut [f64],
    size: usize,
    width: usize,
    least: &[f64],
) -> Result<(), usize> {
    let mut packed = Packed::default();
    for first in (0..width).step_by(WIDE) {
        let last = (first + WIDE).min(width);
        for from in (first..last).step_by(NARROW) {
            let to = (from + NARROW).min(last);
            dispatch(Narrow(&mut *panel, size, from, to, least))?;
            let (done, rest) = panel.split_at_mut(to * size);
            packed.read(&done[from * size..], size, to, to - from);
            packed.subtract(&mut rest[..(last - to) * size], size, to);
        }
        let (done, rest) = panel.split_at_mut(last * size);
        if last < width {
            packed.read(&done[first * size..], size, last, last - first);
            packed.subtract(&mut rest[..(width - last) * size], size, last);
        }
    }
    Ok(())
}

/// Subtracts L Lᵀ from a matrix, where L is what lies below the diagonal block of an eliminated panel.
pub(crate) fn subtract_outer(matrix: &mut [f64], panel: &[f64], size: usize, width: usize) {
    let mut packed = Packed::default();
    for first in (0..width).step_by(WIDE) {
        let last = (first + WIDE).min(width);
        packed.read(&panel[first * size..], size, width, last - first);
        packed.subtract(matrix, size - width, 0);
    }
}

/// Elimination of columns `.2` to `.3` within themselves.
struct Narrow<'a>(&'a mut [f64], usize, usize, usize, &'a [f64]);

impl Kernel for Narrow<'_> {
    type Output = Result<(), usize>;
    #[inline(always)]
    fn run<L: Lanes>(self) -> Result<(), usize> {
        let Narrow(panel, size, from, to, least) = self;
        for j in from..to {
            let (done, rest) = panel.split_at_mut((j + 1) * size);
            let column = &mut done[j * size..];
            let pivot = column[j];
            if !(pivot > least[j] && pivot.is_finite()) {
                return Err(j);
            }
            let root = pivot.sqrt();
            column[j] = root;
            let scale = 1.0 / root;
            for x in &mut column[j + 1..] {
                *x *= scale;
            }
            for k in j + 1..to {
                let target = &mut rest[(k - j - 1) * size..][k..size];
                let factor = column[k];
                for (t, c) in target.iter_mut().zip(&column[k..]) {
                    *t -= factor * c;
                }
            }
        }
        Ok(())
    }
}

/// Rows of a block of columns, eight side by side.
#[derive(Default)]
struct Packed {
    rows: usize,
    depth: usize,
    tiles: Vec<[f64; ROWS]>,
}

impl Packed {
    /// Takes rows `first..size` of the first `depth` columns.
    fn read(&mut self, columns: &[f64], size: usize, first: usize, depth: usize) {
        (self.rows, self.depth) = (size - first, depth);
        let count = self.rows.div_ceil(ROWS);
        self.tiles.resize(count * depth, [0.0; ROWS]);
        for k in 0..depth {
            let column = &columns[k * size + first..(k + 1) * size];
            let (whole, rest) = column.as_chunks::<ROWS>();
            for (tile, rows) in whole.iter().enumerate() {
                self.tiles[tile * depth + k] = *rows;
            }
            if !rest.is_empty() {
                let mut rows = [0.0; ROWS];
                rows[..rest.len()].copy_from_slice(rest);
                self.tiles[whole.len() * depth + k] = rows;
            }
        }
    }

    /// Subtracts the rows' products with each other from columns of `stride` rows; the diagonal of the first lies at row `offset`.
    fn subtract(&self, columns: &mut [f64], stride: usize, offset: usize) {
        if columns.is_empty() || self.depth == 0 {
            return;
        }
        let work = self.rows * (columns.len() / stride) * self.depth;
        let eight = |(tile, columns): (usize, &mut [f64])| {
            dispatch(Subtract {
                packed: self,
                tile,
                columns,
                stride,
                offset,
            });
        };
        let pieces = ROWS * stride;
        if work < 2 * PIECE {
            columns.chunks_mut(pieces).enumerate().for_each(eight);
        } else {
            let least = (PIECE / (self.rows * ROWS * self.depth)).max(1);
            (columns.par_chunks_mut(pieces).enumerate())
                .with_min_len(least)
                .for_each(eight);
        }
    }
}

/// [`Packed::subtract`] for eight columns.
struct Subtract<'a> {
    packed: &'a Packed,
    /// Which eight.
    tile: usize,
    columns: &'a mut [f64],
    stride: usize,
    offset: usize,
}

impl Kernel for Subtract<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Packed {
            rows,
            depth,
            ref tiles,
        } = *self.packed;
        let count = self.columns.len() / self.stride;
        let own = &tiles[self.tile * depth..][..depth];
        for tile in self.tile..rows.div_ceil(ROWS) {
            let left = &tiles[tile * depth..][..depth];
            let first = tile * ROWS;
            let height = ROWS.min(rows - first);
            for half in (0..count).step_by(COLUMNS) {
                let mut sums = [[0.0; ROWS]; COLUMNS];
                for (a, b) in left.iter().zip(own) {
                    for j in 0..COLUMNS {
                        for i in 0..ROWS {
                            sums[j][i] += a[i] * b[half + j];
                        }
                    }
                }
                for j in 0..COLUMNS.min(count - half) {
                    let at = (half + j) * self.stride + self.offset + first;
                    let column = &mut self.columns[at..at + height];
                    if let Ok(whole) = <&mut [f64; ROWS]>::try_from(&mut *column) {
                        for i in 0..ROWS {
                            whole[i] -= sums[j][i];
                        }
                    } else {
                        for (x, sum) in column.iter_mut().zip(sums[j]) {
                            *x -= sum;
                        }
                    }
                }
            }
        }
    }
}
