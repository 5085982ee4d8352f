//! How the tissue answers a force on one vertex: columns of A⁻¹, cut off where they have decayed.

use rayon::prelude::*;

/// How much of a column is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Entries below this share of the column's own are dropped.
    pub share: f32,
    /// Most entries.
    pub most: usize,
}

impl Default for Reach {
    /// At a tenth, contacts of a deep belly swing from iteration to iteration; at a hundredth, a sweep costs twice as much
    /// and ends no closer.
    fn default() -> Reach {
        Reach {
            share: 0.03,
            most: 48,
        }
    }
}

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
    starts: Vec<u32>,
    vertices: Vec<u32>,
    values: Vec<f32>,
}

impl Kernels {
    /// For `count` free vertices, of which those are needed that `wanted` names; `solve` solves A X = B in place.
    pub fn new(
        count: usize,
        wanted: &[bool],
        reach: Reach,
        solve: &(dyn Fn(&mut [[f32; 3]]) + Sync),
    ) -> Kernels {
        let list: Vec<u32> = (0..count as u32).filter(|&v| wanted[v as usize]).collect();
        // Three right-hand sides at a time: one column an axis.
        let columns: Vec<Vec<(u32, f32)>> = list
            .par_chunks(3)
            .flat_map_iter(|vertices| {
                let mut x = vec![[0.0; 3]; count];
                for (axis, &v) in vertices.iter().enumerate() {
                    x[v as usize][axis] = 1.0;
                }
                solve(&mut x);
                let x = &x;
                let columns: Vec<_> = (vertices.iter().enumerate())
                    .map(|(axis, &v)| cut_off(v, reach, &|i| x[i][axis], count))
                    .collect();
                columns
            })
            .collect();
        let mut kernels = Kernels {
            starts: vec![0],
            ..Kernels::default()
        };
        let mut columns = columns.into_iter();
        for &is_wanted in &wanted[..count] {
            let column = if is_wanted { columns.next() } else { None };
            for (vertex, value) in column.unwrap_or_default() {
                kernels.vertices.push(vertex);
                kernels.values.push(value);
            }
            kernels.starts.push(kernels.vertices.len() as u32);
        }
        kernels
    }

    /// Vertices and values of the column of a vertex.
    #[inline]
    pub fn of(&self, vertex: u32) -> (&[u32], &[f32]) {
        let range =
            self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize;
        (&self.vertices[range.clone()], &self.values[range])
    }

    /// Entry (i, j), zero where it was cut off.
    pub fn entry(&self, i: u32, j: u32) -> f32 {
        let (vertices, values) = self.of(i);
        vertices.binary_search(&j).map_or(0.0, |at| values[at])
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        4 * (self.starts.len() + self.vertices.len() + self.values.len())
    }
}

fn cut_off(v: u32, reach: Reach, value: &dyn Fn(usize) -> f32, count: usize) -> Vec<(u32, f32)> {
    let least = reach.share * value(v as usize);
    let mut column: Vec<(u32, f32)> = (0..count)
        .map(|i| (i as u32, value(i)))
        .filter(|&(_, x)| x.abs() > least)
        .collect();
    if column.len() > reach.most {
        column.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        column.truncate(reach.most);
        column.sort_unstable_by_key(|&(i, _)| i);
    }
    column
}
