//! Response of the tissue to a force on one vertex: columns of A⁻¹, cut off where they have decayed.
//!
//! Vertices are grouped into blocks of eight neighbours, and columns are stored as whole blocks, about ten each.

use rayon::prelude::*;
use supple_geom::simd::{F32x8, LANES, Lanes};

use super::rules;

/// How much of each column is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Blocks whose entries are all below this share of the diagonal entry are dropped.
    pub share: f32,
    /// Most blocks of a column.
    pub most: usize,
}

impl Default for Reach {
    fn default() -> Reach {
        Reach {
            share: rules::COLUMN_CUTOFF,
            most: rules::COLUMN_BLOCKS,
        }
    }
}

/// Number of weight classes: a column that is applied with a small weight uses fewer of its blocks.
const WEIGHT_CLASSES: usize = 8;

impl Reach {
    /// Keeps everything.
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
    /// Column of each vertex.
    columns: Vec<Column>,
    /// Block indices, those with the largest entries first in each column; columns of neighbours are adjacent.
    blocks: Vec<u32>,
    values: Vec<F32x8>,
}

/// Location of a column's blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Column {
    first: u32,
    /// Number of blocks used for weights up to 1/8, 2/8 and so on.
    counts: [u16; WEIGHT_CLASSES],
    /// Number of blocks that are strongly coupled.
    strong: u16,
}

/// The blocks of a column that are used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    first: u32,
    count: u32,
}

impl Kernels {
    /// For the free vertices in `order`, where neighbours are adjacent; computes the columns of `wanted` vertices.
    /// `solve` solves A X = B in place.
    pub fn new(
        order: &[u32],
        wanted: &[bool],
        reach: Reach,
        solve: &(dyn Fn(&mut [[f32; 3]]) + Sync),
    ) -> Kernels {
        let count = order.len();
        let list = order.iter().copied().filter(|&v| wanted[v as usize]);
        let list: Vec<u32> = list.collect();
        // Three right-hand sides at a time: one column per axis.
        let columns: Vec<Decayed> = list
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
            columns: vec![Column::default(); count],
            ..Kernels::default()
        };
        for (slot, &v) in order.iter().enumerate() {
            kernels.slots[v as usize] = slot as u32;
        }
        for (&v, decayed) in list.iter().zip(columns) {
            kernels.columns[v as usize] = Column {
                first: kernels.blocks.len() as u32,
                ..decayed.column
            };
            for (block, _, values) in decayed.blocks {
                kernels.blocks.push(block);
                kernels.values.push(values);
            }
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
        self.blocks_of(self.part(vertex, 1.0))
    }

    /// The part of a vertex's column that is used with a weight of at most 1: entries below the cutoff after weighting
    /// are left out.
    #[inline]
    pub fn part(&self, vertex: u32, weight: f32) -> Part {
        let column = &self.columns[vertex as usize];
        let step = (weight.abs() * WEIGHT_CLASSES as f32) as usize;
        Part {
            first: column.first,
            count: column.counts[step.min(WEIGHT_CLASSES - 1)].into(),
        }
    }

    #[inline(always)]
    fn blocks_of(&self, part: Part) -> (&[u32], &[F32x8]) {
        let first = part.first as usize;
        let range = first..first + part.count as usize;
        (&self.blocks[range.clone()], &self.values[range])
    }

    /// Adds a part of a column × force to `moved`, eight vertices at a time, and marks the blocks.
    #[inline(always)]
    pub fn add<L: Lanes>(
        &self,
        part: Part,
        force: [f32; 3],
        moved: &mut [[F32x8; 3]],
        marks: &mut [bool],
    ) {
        let force = [L::splat(force[0]), L::splat(force[1]), L::splat(force[2])];
        let (blocks, values) = self.blocks_of(part);
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

    /// Blocks that are strongly coupled to a vertex: moved by at least [`SIDE_COUPLING`](super::rules::SIDE_COUPLING)
    /// of its own motion.
    #[inline]
    pub fn strong(&self, vertex: u32) -> &[u32] {
        let strong = self.columns[vertex as usize].strong;
        &self.of(vertex).0[..strong.into()]
    }

    /// Entry (i, j); zero where it was cut off.
    #[inline]
    pub fn entry(&self, i: u32, j: u32) -> f32 {
        let (slot, (blocks, values)) = (self.slot(j), self.of(i));
        let at = blocks.iter().position(|&b| b == slot / LANES as u32);
        at.map_or(0.0, |at| values[at].0[slot as usize % LANES])
    }

    /// Memory in bytes.
    pub fn memory(&self) -> usize {
        4 * (self.slots.len() + self.blocks.len())
            + size_of_val(&self.columns[..])
            + size_of_val(&self.values[..])
    }
}

/// A column before it is stored.
struct Decayed {
    /// Index, largest entry, entries.
    blocks: Vec<(u32, f32, F32x8)>,
    column: Column,
}

fn cut_off(v: u32, reach: Reach, value: &dyn Fn(u32) -> f32, order: &[u32]) -> Decayed {
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
    blocks.truncate(reach.most.min(u16::MAX.into()));
    let above = |share: f32| blocks.partition_point(|block| block.1 > share * own) as u16;
    let weight = |step: usize| (step + 1) as f32 / WEIGHT_CLASSES as f32;
    let column = Column {
        first: 0,
        counts: std::array::from_fn(|step| above(reach.share / weight(step))),
        strong: above(rules::SIDE_COUPLING),
    };
    Decayed { blocks, column }
}
