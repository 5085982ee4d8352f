//! Triangular solves with three right-hand sides, stored as rows of `x, y, z, 0`.
//!
//! A block is applied in two halves: the inverse of its diagonal block, row by row on four lanes, then the panel below
//! on eight rows at a time. Both halves are dense. A solve is limited by the bandwidth of reading the factor, once for
//! three systems.

// Plain loops: iterator adaptors are not always inlined, and code that is not inlined loses the kernel's instruction
// set.
#![allow(clippy::needless_range_loop)]

use super::supernodal::{Block, Factor, MAX_WIDTH, Part};
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

/// [`Factor::solve3`] on the calling thread alone, for parts and top taken out of their factor: with many systems, one
/// thread per system is faster.
///
/// # Panics
/// If `x` is shorter than the matrix.
pub fn solve3_alone<'a>(
    parts: impl Iterator<Item = &'a Part> + Clone,
    top: &Part,
    x: &mut [[f32; 3]],
) {
    let read = |part: &Part, x: &[[f32; 3]]| -> Vec<Row> {
        let mut rows = vec![Row::default(); part.len()];
        for (row, &i) in rows.iter_mut().zip(&part.matrix_rows[..part.own]) {
            *row = Row::new(x[i as usize]);
        }
        rows
    };
    let write = |part: &Part, rows: &[Row], x: &mut [[f32; 3]]| {
        for (row, &i) in rows.iter().zip(&part.matrix_rows[..part.own]) {
            x[i as usize] = row.xyz();
        }
    };
    let mut top_rows = read(top, x);
    let mut part_rows: Vec<Vec<Row>> = parts.clone().map(|part| read(part, x)).collect();
    for (part, rows) in parts.clone().zip(&mut part_rows) {
        part.forward(rows);
        part.add_border_to_top(rows, &mut top_rows);
    }
    top.forward(&mut top_rows);
    top.backward(&mut top_rows);
    write(top, &top_rows, x);
    for (part, rows) in parts.zip(&mut part_rows) {
        part.read_border_from_top(rows, &top_rows);
        part.backward(rows);
        write(part, rows, x);
    }
}

impl Part {
    /// Forward substitution on the local rows: reads its own right-hand sides, and adds the update of the border to the
    /// border rows.
    ///
    /// # Panics
    /// If `x` has fewer than [`Part::len`] rows.
    pub fn forward(&self, x: &mut [Row]) {
        dispatch(Forward(self, x));
    }

    /// Backward substitution on the local rows: reads the solution of the border, and writes that of its own rows.
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
        let mut buffer = [Row::default(); MAX_WIDTH];
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
                _ => forward_wide::<L>(part, block, x, &mut buffer),
            }
        }
    }
}

impl Kernel for Backward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Backward(part, x) = self;
        let mut buffer = [Row::default(); MAX_WIDTH];
        let mut below = [[L::splat(0.0); 3]; GATHERED];
        for block in part.blocks.iter().rev() {
            match block.width {
                1 => backward_block::<L, 1>(part, block, x),
                2 => backward_block::<L, 2>(part, block, x),
                3 => backward_block::<L, 3>(part, block, x),
                4 => backward_block::<L, 4>(part, block, x),
                _ => backward_wide::<L>(part, block, x, &mut buffer, &mut below),
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

/// Subtracts panel × y from the rows below, `TILES` tiles at a time: their sums are independent of each other.
#[inline(always)]
fn subtract_tiles<L: Lanes, const TILES: usize>(
    rows: &[[u32; LANES]],
    panel: &[F32x8],
    y: &[Row],
    x: &mut [Row],
) {
    let width = y.len();
    for (rows, panel) in rows
        .chunks_exact(TILES)
        .zip(panel.chunks_exact(TILES * width))
    {
        let mut sums = [[L::splat(0.0); 3]; TILES];
        for j in 0..width {
            for c in 0..3 {
                let yj = L::splat(y[j].0[c]);
                for t in 0..TILES {
                    sums[t][c] = L::load(&panel[t * width + j]).neg_mul_add(yj, sums[t][c]);
                }
            }
        }
        for t in 0..TILES {
            L::scatter_add(x, &rows[t], sums[t]);
        }
    }
}

#[inline(always)]
fn subtract_panel<L: Lanes>(part: &Part, block: &Block, y: &[Row], x: &mut [Row]) {
    let (rows, panel) = part.tiles(block);
    let pairs = rows.len() / 2 * 2;
    let (paired, last) = panel.split_at(pairs * y.len());
    subtract_tiles::<L, 2>(&rows[..pairs], paired, y, x);
    subtract_tiles::<L, 1>(&rows[pairs..], last, y, x);
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
fn forward_wide<L: Lanes>(
    part: &Part,
    block: &Block,
    x: &mut [Row],
    buffer: &mut [Row; MAX_WIDTH],
) {
    let (first, width) = (block.first as usize, block.width as usize);
    let inverse = part.diagonal(block);
    let y = &mut buffer[..width];
    let own = &mut x[first..first + width];
    let mut from = 0;
    while from + 4 <= width {
        inverse_rows::<L, 4>(inverse, from, own, y);
        from += 4;
    }
    match width - from {
        1 => inverse_rows::<L, 1>(inverse, from, own, y),
        2 => inverse_rows::<L, 2>(inverse, from, own, y),
        3 => inverse_rows::<L, 3>(inverse, from, own, y),
        _ => {}
    }
    own.copy_from_slice(y);
    subtract_panel::<L>(part, block, y, x);
}

/// Rows `from..from + R` of the inverse × x: R independent sums hide latency.
#[inline(always)]
fn inverse_rows<L: Lanes, const R: usize>(inverse: &[f32], from: usize, x: &[Row], y: &mut [Row]) {
    let mut rows = [inverse; R];
    for r in 0..R {
        let i = from + r;
        rows[r] = &inverse[i * (i + 1) / 2..][..i + 1];
    }
    let mut sums = [L::Quad::splat(0.0); R];
    let mut heads = rows;
    for r in 0..R {
        heads[r] = &rows[r][..from];
    }
    for (j, xj) in x[..from].iter().enumerate() {
        let xj = L::Quad::load(xj);
        for r in 0..R {
            sums[r] = L::Quad::splat(heads[r][j]).mul_add(xj, sums[r]);
        }
    }
    for r in 0..R {
        for j in from..=from + r {
            sums[r] = L::Quad::splat(rows[r][j]).mul_add(L::Quad::load(&x[j]), sums[r]);
        }
        y[from + r] = sums[r].store();
    }
}

/// Columns `from..from + C` of inverseᵀ × y.
#[inline(always)]
fn inverse_columns<L: Lanes, const C: usize>(
    inverse: &[f32],
    from: usize,
    y: &[Row],
    x: &mut [Row],
) {
    let mut sums = [L::Quad::splat(0.0); C];
    for i in from..from + C {
        let (row, yi) = (&inverse[i * (i + 1) / 2 + from..], L::Quad::load(&y[i]));
        for j in 0..=i - from {
            sums[j] = L::Quad::splat(row[j]).mul_add(yi, sums[j]);
        }
    }
    for i in from + C..y.len() {
        let row = &inverse[i * (i + 1) / 2 + from..][..C];
        let yi = L::Quad::load(&y[i]);
        for j in 0..C {
            sums[j] = L::Quad::splat(row[j]).mul_add(yi, sums[j]);
        }
    }
    for j in 0..C {
        x[from + j] = sums[j].store();
    }
}

/// Tiles of rows below a block that are read together.
const GATHERED: usize = 32;

/// Columns `from..from + W` of panelᵀ × the rows below, subtracted from `y`.
#[inline(always)]
fn subtract_transposed<L: Lanes, const W: usize>(
    below: &[[L; 3]],
    panel: &[F32x8],
    width: usize,
    from: usize,
    y: &mut [Row],
) {
    let mut sums = [[L::splat(0.0); 3]; W];
    for (below, columns) in below.iter().zip(panel.chunks_exact(width)) {
        let columns = &columns[from..from + W];
        for j in 0..W {
            let column = L::load(&columns[j]);
            for c in 0..3 {
                sums[j][c] = column.mul_add(below[c], sums[j][c]);
            }
        }
    }
    for j in 0..W {
        let yj = &mut y[from + j];
        *yj = (L::Quad::load(yj) - L::sum3(sums[j])).store();
    }
}

#[inline(always)]
fn backward_block<L: Lanes, const W: usize>(part: &Part, block: &Block, x: &mut [Row]) {
    let first = block.first as usize;
    let mut y = [Row::default(); W];
    y.copy_from_slice(&x[first..first + W]);
    let (rows, panel) = part.tiles(block);
    let mut sums = [[L::splat(0.0); 3]; W];
    for (rows, columns) in rows.iter().zip(panel.chunks_exact(W)) {
        let below = L::gather(x, rows);
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
fn backward_wide<L: Lanes>(
    part: &Part,
    block: &Block,
    x: &mut [Row],
    buffer: &mut [Row; MAX_WIDTH],
    below: &mut [[L; 3]; GATHERED],
) {
    let (first, width) = (block.first as usize, block.width as usize);
    let y = &mut buffer[..width];
    y.copy_from_slice(&x[first..first + width]);
    let (rows, panel) = part.tiles(block);
    for (rows, panel) in rows.chunks(GATHERED).zip(panel.chunks(GATHERED * width)) {
        for (below, rows) in below.iter_mut().zip(rows) {
            *below = L::gather(x, rows);
        }
        let below = &below[..rows.len()];
        // Four columns at a time: their twelve sums fill the registers.
        let mut from = 0;
        while from + 4 <= width {
            subtract_transposed::<L, 4>(below, panel, width, from, y);
            from += 4;
        }
        match width - from {
            1 => subtract_transposed::<L, 1>(below, panel, width, from, y),
            2 => subtract_transposed::<L, 2>(below, panel, width, from, y),
            3 => subtract_transposed::<L, 3>(below, panel, width, from, y),
            _ => {}
        }
    }
    let inverse = part.diagonal(block);
    let own = &mut x[first..first + width];
    let mut from = 0;
    while from + 4 <= width {
        inverse_columns::<L, 4>(inverse, from, y, own);
        from += 4;
    }
    match width - from {
        1 => inverse_columns::<L, 1>(inverse, from, y, own),
        2 => inverse_columns::<L, 2>(inverse, from, y, own),
        3 => inverse_columns::<L, 3>(inverse, from, y, own),
        _ => {}
    }
}
