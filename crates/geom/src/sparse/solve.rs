//! Triangular solves with three right-hand sides, stored as rows of `x, y, z, 0`.
//!
//! A block is applied in two halves: the inverse of its diagonal block, row by row on four lanes, then the panel below
//! on eight rows at a time. Both halves are dense, so that a solve is bound by reading the factor, once for three systems.

// Plain loops: iterator adaptors are not always inlined, and what is not inlined loses the kernel's instruction set.
#![allow(clippy::needless_range_loop)]

use super::supernodal::{Block, Factor, Part};
use super::symbolic::MAX_WIDTH;
use crate::simd::{F32x8, Kernel, LANES, Lanes, Quad, Row, dispatch};
use rayon::prelude::*;

impl Factor {
    /// Solves A X = B in place; row i of `x` belongs to row i of the matrix.
    ///
    /// # Panics
    /// If `x` has another length than the matrix has rows.
    pub fn solve3(&self, x: &mut [[f32; 3]]) {
        assert_eq!(x.len(), self.rows, "length of the right-hand side");
        let read = |part: &Part| -> Vec<Row> {
            let mut rows = vec![Row::default(); part.len()];
            for (row, &i) in rows.iter_mut().zip(&part.matrix_rows[..part.own]) {
                *row = Row::new(x[i as usize]);
            }
            rows
        };
        let mut top = read(&self.top);
        let mut parts: Vec<Vec<Row>> = self.parts.iter().map(read).collect();
        self.parts
            .par_iter()
            .zip(&mut parts)
            .for_each(|(part, rows)| part.forward(rows));
        for (part, rows) in self.parts.iter().zip(&parts) {
            part.add_border_to_top(rows, &mut top);
        }
        self.top.forward(&mut top);
        self.top.backward(&mut top);
        self.parts
            .par_iter()
            .zip(&mut parts)
            .for_each(|(part, rows)| {
                part.read_border_from_top(rows, &top);
                part.backward(rows);
            });
        for (part, rows) in self
            .parts
            .iter()
            .chain([&self.top])
            .zip(parts.iter().chain([&top]))
        {
            for (row, &i) in rows.iter().zip(&part.matrix_rows[..part.own]) {
                x[i as usize] = row.xyz();
            }
        }
    }
}

impl Part {
    /// Forward substitution on the local rows: own right-hand sides in, what the border has to lose added to it.
    ///
    /// # Panics
    /// If `x` has fewer than [`Part::len`] rows.
    pub fn forward(&self, x: &mut [Row]) {
        dispatch(Forward(self, x));
    }

    /// Backward substitution on the local rows: the solution of the border in, that of the own rows out.
    ///
    /// # Panics
    /// If `x` has fewer than [`Part::len`] rows.
    pub fn backward(&self, x: &mut [Row]) {
        dispatch(Backward(self, x));
    }

    /// Adds the border rows of `x` to the top's right-hand side.
    pub fn add_border_to_top(&self, x: &[Row], top: &mut [Row]) {
        for (row, &i) in x[self.own..].iter().zip(&self.border_in_top) {
            top[i as usize] = top[i as usize] + *row;
        }
    }

    /// Copies the top's solution to the border rows of `x`.
    pub fn read_border_from_top(&self, x: &mut [Row], top: &[Row]) {
        for (row, &i) in x[self.own..].iter_mut().zip(&self.border_in_top) {
            *row = top[i as usize];
        }
    }
}

/// [`Part::forward`] as a kernel, for callers that are kernels themselves.
pub struct Forward<'a>(pub &'a Part, pub &'a mut [Row]);

/// [`Part::backward`] as a kernel, for callers that are kernels themselves.
pub struct Backward<'a>(pub &'a Part, pub &'a mut [Row]);

impl Kernel for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Forward(part, x) = self;
        for block in &part.blocks {
            match block.width {
                1 => forward_block::<L, 1>(part, block, x),
                2 => forward_block::<L, 2>(part, block, x),
                3 => forward_block::<L, 3>(part, block, x),
                4 => forward_block::<L, 4>(part, block, x),
                5 => forward_block::<L, 5>(part, block, x),
                6 => forward_block::<L, 6>(part, block, x),
                7 => forward_block::<L, 7>(part, block, x),
                8 => forward_block::<L, 8>(part, block, x),
                _ => forward_wide::<L>(part, block, x),
            }
        }
    }
}

impl Kernel for Backward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Backward(part, x) = self;
        for block in part.blocks.iter().rev() {
            match block.width {
                1 => backward_block::<L, 1>(part, block, x),
                2 => backward_block::<L, 2>(part, block, x),
                3 => backward_block::<L, 3>(part, block, x),
                4 => backward_block::<L, 4>(part, block, x),
                _ => backward_wide::<L>(part, block, x),
            }
        }
    }
}

impl Part {
    #[inline(always)]
    fn tiles(&self, block: &Block) -> (&[[u32; LANES]], &[F32x8]) {
        let (tile, tiles, panel) = (
            block.tile as usize,
            block.tiles as usize,
            block.panel as usize,
        );
        (
            &self.row_tiles[tile..tile + tiles],
            &self.panels[panel..panel + tiles * block.width as usize],
        )
    }

    #[inline(always)]
    fn diagonal(&self, block: &Block) -> &[f32] {
        let (at, width) = (block.diagonal as usize, block.width as usize);
        &self.diagonals[at..at + width * (width + 1) / 2]
    }
}

/// Subtracts panel × y from the rows below, for a block of `width` columns.
#[inline(always)]
fn subtract_panel<L: Lanes>(part: &Part, block: &Block, y: &[Row], x: &mut [Row]) {
    let (rows, panel) = part.tiles(block);
    for (rows, columns) in rows.iter().zip(panel.chunks_exact(y.len())) {
        let mut sum = [L::splat(0.0); 3];
        for j in 0..y.len() {
            let column = L::load(&columns[j]);
            for c in 0..3 {
                sum[c] = column.neg_mul_add(L::splat(y[j].0[c]), sum[c]);
            }
        }
        L::scatter_add(x, rows, sum);
    }
}

#[inline(always)]
fn forward_block<L: Lanes, const W: usize>(part: &Part, block: &Block, x: &mut [Row]) {
    let inverse = part.diagonal(block);
    let first = block.first as usize;
    let mut y = [Row::default(); W];
    let own = &mut x[first..first + W];
    let mut k = 0;
    for i in 0..W {
        let mut sum = L::Quad::splat(inverse[k]) * L::Quad::load(&own[0]);
        for j in 1..=i {
            sum = L::Quad::splat(inverse[k + j]).mul_add(L::Quad::load(&own[j]), sum);
        }
        k += i + 1;
        y[i] = sum.store();
    }
    own.copy_from_slice(&y);
    subtract_panel::<L>(part, block, &y, x);
}

#[inline(always)]
fn forward_wide<L: Lanes>(part: &Part, block: &Block, x: &mut [Row]) {
    let (first, width) = (block.first as usize, block.width as usize);
    let inverse = part.diagonal(block);
    let mut buffer = [Row::default(); MAX_WIDTH];
    let y = &mut buffer[..width];
    let own = &mut x[first..first + width];
    let mut k = 0;
    for i in 0..width {
        // Two chains: one would wait for itself.
        let (mut even, mut odd) = (L::Quad::splat(0.0), L::Quad::splat(0.0));
        let row = &inverse[k..k + i + 1];
        for (pair, own) in row.chunks(2).zip(own.chunks(2)) {
            even = L::Quad::splat(pair[0]).mul_add(L::Quad::load(&own[0]), even);
            if let ([_, l], [_, x]) = (pair, own) {
                odd = L::Quad::splat(*l).mul_add(L::Quad::load(x), odd);
            }
        }
        k += i + 1;
        y[i] = (even + odd).store();
    }
    own.copy_from_slice(y);
    subtract_panel::<L>(part, block, y, x);
}

/// Columns `from..from + W` of panelᵀ × the rows below, subtracted from `y`.
#[inline(always)]
fn subtract_transposed<L: Lanes, const W: usize>(
    part: &Part,
    block: &Block,
    from: usize,
    x: &[Row],
    y: &mut [Row],
) {
    let (rows, panel) = part.tiles(block);
    let mut sums = [[L::splat(0.0); 3]; W];
    for (rows, columns) in rows.iter().zip(panel.chunks_exact(block.width as usize)) {
        let below = L::gather(x, rows);
        let columns = &columns[from..from + W];
        for j in 0..W {
            let column = L::load(&columns[j]);
            for c in 0..3 {
                sums[j][c] = column.mul_add(below[c], sums[j][c]);
            }
        }
    }
    for j in 0..W {
        y[j] = (L::Quad::load(&y[j]) - L::sum3(sums[j])).store();
    }
}

#[inline(always)]
fn backward_block<L: Lanes, const W: usize>(part: &Part, block: &Block, x: &mut [Row]) {
    let first = block.first as usize;
    let mut y = [Row::default(); W];
    y.copy_from_slice(&x[first..first + W]);
    subtract_transposed::<L, W>(part, block, 0, x, &mut y);
    let inverse = part.diagonal(block);
    let own = &mut x[first..first + W];
    for j in 0..W {
        let mut sum = L::Quad::splat(inverse[j * (j + 1) / 2 + j]) * L::Quad::load(&y[j]);
        for i in j + 1..W {
            sum = L::Quad::splat(inverse[i * (i + 1) / 2 + j]).mul_add(L::Quad::load(&y[i]), sum);
        }
        own[j] = sum.store();
    }
}

#[inline(always)]
fn backward_wide<L: Lanes>(part: &Part, block: &Block, x: &mut [Row]) {
    let (first, width) = (block.first as usize, block.width as usize);
    let mut buffer = [Row::default(); MAX_WIDTH];
    let y = &mut buffer[..width];
    y.copy_from_slice(&x[first..first + width]);
    // Four columns at a time: their twelve sums fill the registers.
    let mut from = 0;
    while from + 4 <= width {
        subtract_transposed::<L, 4>(part, block, from, x, &mut y[from..from + 4]);
        from += 4;
    }
    match width - from {
        1 => subtract_transposed::<L, 1>(part, block, from, x, &mut y[from..]),
        2 => subtract_transposed::<L, 2>(part, block, from, x, &mut y[from..]),
        3 => subtract_transposed::<L, 3>(part, block, from, x, &mut y[from..]),
        _ => {}
    }
    // Row by row of the inverse: x = Σ yᵢ × row i, with as many independent sums as columns.
    let inverse = part.diagonal(block);
    let own = &mut x[first..first + width];
    own.fill(Row::default());
    let mut k = 0;
    for i in 0..width {
        let yi = L::Quad::load(&y[i]);
        for (l, x) in inverse[k..k + i + 1].iter().zip(own.iter_mut()) {
            *x = L::Quad::splat(*l).mul_add(yi, L::Quad::load(x)).store();
        }
        k += i + 1;
    }
}
