//! Triangular solves with a double-precision factor, for any number of right-hand sides.

// Plain loops over small arrays, which compilers keep in registers.
#![allow(clippy::needless_range_loop)]

use super::cholesky::Cholesky;
use super::symbolic::Supernode;
use crate::simd::{Kernel, Lanes, dispatch};

/// Partial sums of a dot product.
const SUMS: usize = 4;

impl Cholesky {
    /// Solves A x = b in place.
    ///
    /// # Panics
    /// If it is shorter than the matrix.
    pub fn solve(&self, b: &mut [f64]) {
        self.solve_block::<1, _>(&mut [b]);
    }

    /// Solves A x = b in place for every column given, to the same bits as [`Cholesky::solve`] does one by one. The factor is
    /// read once for up to eight of them.
    ///
    /// # Panics
    /// If a column is shorter than the matrix.
    pub fn solve_columns(&self, columns: &mut [Vec<f64>]) {
        let mut rest = columns;
        while !rest.is_empty() {
            let (now, later) = rest.split_at_mut(rest.len().min(8));
            match now.len() {
                1 => self.solve_block::<1, _>(now),
                2 => self.solve_block::<2, _>(now),
                3 | 4 => self.solve_block::<4, _>(now),
                _ => self.solve_block::<8, _>(now),
            }
            rest = later;
        }
    }

    /// Up to `C` columns; those that are not there are zero.
    fn solve_block<const C: usize, X: AsMut<[f64]>>(&self, columns: &mut [X]) {
        let order = &self.symbolic().permutation;
        let mut x = vec![[0.0; C]; order.len()];
        for (c, column) in columns.iter_mut().enumerate() {
            let column = column.as_mut();
            (x.iter_mut().zip(order)).for_each(|(x, &i)| x[c] = column[i as usize]);
        }
        dispatch(Substitute(self, &mut x));
        for (c, column) in columns.iter_mut().enumerate() {
            let column = column.as_mut();
            (x.iter().zip(order)).for_each(|(x, &i)| column[i as usize] = x[c]);
        }
    }
}

struct Substitute<'a, const C: usize>(&'a Cholesky, &'a mut [[f64; C]]);

impl<const C: usize> Kernel for Substitute<'_, C> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Substitute(factor, x) = self;
        let mut below = Vec::new();
        for (node, panel) in factor.panels() {
            forward(node, panel, x, &mut below);
        }
        for (node, panel) in factor.panels().rev() {
            backward(node, panel, x, &mut below);
        }
    }
}

#[inline(always)]
fn forward<const C: usize>(
    node: &Supernode,
    panel: &[f64],
    x: &mut [[f64; C]],
    below: &mut Vec<[f64; C]>,
) {
    let (width, size) = (node.width(), node.size());
    below.clear();
    below.resize(node.rows.len(), [0.0; C]);
    let own = &mut x[node.first..node.end];
    for (j, column) in panel.chunks_exact(size).enumerate() {
        let (own, rest) = own[j..].split_at_mut(1);
        for c in 0..C {
            own[0][c] /= column[j];
        }
        for (x, &l) in rest.iter_mut().zip(&column[j + 1..width]) {
            subtract(x, l, &own[0]);
        }
        for (x, &l) in below.iter_mut().zip(&column[width..]) {
            subtract(x, l, &own[0]);
        }
    }
    for (&row, below) in node.rows.iter().zip(below.iter()) {
        for c in 0..C {
            x[row as usize][c] += below[c];
        }
    }
}

#[inline(always)]
fn backward<const C: usize>(
    node: &Supernode,
    panel: &[f64],
    x: &mut [[f64; C]],
    below: &mut Vec<[f64; C]>,
) {
    let (width, size) = (node.width(), node.size());
    below.clear();
    below.extend(node.rows.iter().map(|&row| x[row as usize]));
    let own = &mut x[node.first..node.end];
    for (j, column) in panel.chunks_exact(size).enumerate().rev() {
        let (own, done) = own[j..].split_at_mut(1);
        let sums = [
            dot(&column[j + 1..width], done),
            dot(&column[width..], below),
        ];
        for c in 0..C {
            own[0][c] = (own[0][c] - sums[1][c] - sums[0][c]) / column[j];
        }
    }
}

#[inline(always)]
fn subtract<const C: usize>(from: &mut [f64; C], factor: f64, x: &[f64; C]) {
    for c in 0..C {
        from[c] -= factor * x[c];
    }
}

#[inline(always)]
fn dot<const C: usize>(column: &[f64], x: &[[f64; C]]) -> [f64; C] {
    let mut sums = [[0.0; C]; SUMS];
    let (whole, rest) = column.as_chunks::<SUMS>();
    let (whole_x, rest_x) = x.as_chunks::<SUMS>();
    for (l, x) in whole.iter().zip(whole_x) {
        for k in 0..SUMS {
            for c in 0..C {
                sums[k][c] += l[k] * x[k][c];
            }
        }
    }
    for (k, (l, x)) in rest.iter().zip(rest_x).enumerate() {
        for c in 0..C {
            sums[k][c] += l * x[c];
        }
    }
    let mut total = [0.0; C];
    for c in 0..C {
        total[c] = (sums[0][c] + sums[1][c]) + (sums[2][c] + sums[3][c]);
    }
    total
}
