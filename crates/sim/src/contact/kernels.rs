//! How the tissue answers a force on one vertex: columns of A⁻¹, cut off where they have decayed.
//!
//! Vertices are put into blocks of eight neighbours, and columns are kept as whole blocks: a patch of skin is some ten of them.

use rayon::prelude::*;
use supple_geom::simd::{F32x8, LANES, Lanes};

/// How much of a column is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Blocks without an entry above this share of the column's own are dropped.
    pub share: f32,
    /// Most blocks.
    pub most: usize,
}

impl Default for Reach {
    /// At a tenth, contacts of a deep belly swing from iteration to iteration; at a hundredth, a sweep costs twice as much
    /// and ends no closer.
    fn default() -> Reach {
        Reach {
            share: 0.03,
            most: 20,
        }
    }
}

/// Share of a column's own entry above which a block is [strong](Kernels::strong).
const STRONG: f32 = 0.3;

impl Reach {
    /// Everything.
    pub const FULL: Reach = Reach {
        share: 0.0,
        most: usize::MAX,
    };
}

/// Columns of A⁻¹ of a model's free vertices.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    /// Block × 8 + lane of each vertex.
    slots: Vec<u32>,
    /// First block of each vertex' column.
    starts: Vec<u32>,
    /// Numbers of blocks, those that move most first in each column.
    blocks: Vec<u32>,
    /// How many of them move much.
    strong: Vec<u32>,
    values: Vec<F32x8>,
}

impl Kernels {
    /// For the free vertices in `order`, neighbours together; columns are needed of those that `wanted` names. `solve` solves
    /// A X = B in place.
    pub fn new(
        order: &[u32],
        wanted: &[bool],
        reach: Reach,
        solve: &(dyn Fn(&mut [[f32; 3]]) + Sync),
    ) -> Kernels {
        let count = order.len();
        let list: Vec<u32> = (0..count as u32).filter(|&v| wanted[v as usize]).collect();
        // Three right-hand sides at a time: one column an axis.
        let columns: Vec<Column> = list
            .par_chunks(3)
            .flat_map_iter(|vertices| {
                let mut x = vec![[0.0; 3]; count];
                for (axis, &v) in vertices.iter().enumerate() {
                    x[v as usize][axis] = 1.0;
                }
                solve(&mut x);
                let x = &x;
                let columns: Vec<_> = (vertices.iter().enumerate())
                    .map(|(axis, &v)| cut_off(v, reach, &|i| x[i as usize][axis], order))
                    .collect();
                columns
            })
            .collect();
        let mut kernels = Kernels {
            slots: vec![0; count],
            starts: vec![0],
            ..Kernels::default()
        };
        for (slot, &v) in order.iter().enumerate() {
            kernels.slots[v as usize] = slot as u32;
        }
        let mut columns = columns.into_iter();
        for &is_wanted in &wanted[..count] {
            let column = if is_wanted { columns.next() } else { None };
            let column = column.unwrap_or_default();
            kernels.strong.push(column.strong);
            for (block, _, values) in column.blocks {
                kernels.blocks.push(block);
                kernels.values.push(values);
            }
            kernels.starts.push(kernels.blocks.len() as u32);
        }
        kernels
    }

    /// Block × 8 + lane of a vertex.
    #[inline]
    pub fn slot(&self, vertex: u32) -> u32 {
        self.slots[vertex as usize]
    }

    /// Blocks and values of the column of a vertex.
    #[inline(always)]
    pub fn of(&self, vertex: u32) -> (&[u32], &[F32x8]) {
        let v = vertex as usize;
        let range = self.starts[v] as usize..self.starts[v + 1] as usize;
        (&self.blocks[range.clone()], &self.values[range])
    }

    /// Adds column × force to eight vertices at a time, and marks the blocks.
    #[inline(always)]
    pub fn add<L: Lanes>(
        &self,
        vertex: u32,
        force: [f32; 3],
        moved: &mut [[F32x8; 3]],
        marks: &mut [bool],
    ) {
        let force = [L::splat(force[0]), L::splat(force[1]), L::splat(force[2])];
        let (blocks, values) = self.of(vertex);
        for i in 0..blocks.len().min(values.len()) {
            let block = blocks[i] as usize;
            let value = L::load(&values[i]);
            marks[block] = true;
            let moved = &mut moved[block];
            for axis in 0..3 {
                moved[axis] = value.mul_add(force[axis], L::load(&moved[axis])).store();
            }
        }
    }

    /// Blocks that a force on a vertex moves by a good part of what it moves the vertex.
    #[inline]
    pub fn strong(&self, vertex: u32) -> &[u32] {
        &self.of(vertex).0[..self.strong[vertex as usize] as usize]
    }

    /// Entry (i, j), zero where it was cut off.
    #[inline]
    pub fn entry(&self, i: u32, j: u32) -> f32 {
        let (slot, (blocks, values)) = (self.slot(j), self.of(i));
        let at = blocks.iter().position(|&b| b == slot / LANES as u32);
        at.map_or(0.0, |at| values[at].0[slot as usize % LANES])
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        4 * (self.slots.len() + self.starts.len() + self.strong.len() + self.blocks.len())
            + size_of_val(&self.values[..])
    }
}

#[derive(Default)]
struct Column {
    /// Number, largest entry, entries.
    blocks: Vec<(u32, f32, F32x8)>,
    strong: u32,
}

fn cut_off(v: u32, reach: Reach, value: &dyn Fn(u32) -> f32, order: &[u32]) -> Column {
    let own = value(v);
    let mut blocks: Vec<(u32, f32, F32x8)> = Vec::new();
    for (block, vertices) in order.chunks(LANES).enumerate() {
        let mut values = F32x8::default();
        for (lane, &v) in vertices.iter().enumerate() {
            values.0[lane] = value(v);
        }
        let largest = values.0.iter().fold(0.0, |m, x| f32::max(m, x.abs()));
        if largest > reach.share * own {
            blocks.push((block as u32, largest, values));
        }
    }
    blocks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    blocks.truncate(reach.most);
    let strong = blocks.partition_point(|block| block.1 > STRONG * own);
    Column {
        blocks,
        strong: strong as u32,
    }
}
