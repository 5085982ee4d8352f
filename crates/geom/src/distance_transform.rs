//! Exact Euclidean distances on a lattice (Felzenszwalb and Huttenlocher 2012, "Distance transforms of sampled functions"):
//! one pass an axis, each the lower envelope of parabolas, linear in the number of cells.

use rayon::prelude::*;

/// Distance where nothing is set.
const FAR: f32 = 1e12;

/// For each cell the squared distance to the nearest set one, in cells; 1e12 or more if there is none. Cells are ordered by
/// x, then y, then z.
pub fn squared_distances(size: [usize; 3], set: &[bool]) -> Vec<f32> {
    let [nx, ny, nz] = size;
    if set.is_empty() {
        return Vec::new();
    }
    let mut squared: Vec<f32> = set.iter().map(|s| if *s { 0.0 } else { FAR }).collect();
    // Along x and y within each layer.
    squared.par_chunks_mut(nx * ny).for_each(|layer| {
        let mut envelope = Envelope::new(nx.max(ny));
        for row in layer.chunks_mut(nx) {
            envelope.transform(row);
        }
        let mut column = vec![0.0; ny];
        for x in 0..nx {
            (0..ny).for_each(|y| column[y] = layer[x + nx * y]);
            envelope.transform(&mut column);
            (0..ny).for_each(|y| layer[x + nx * y] = column[y]);
        }
    });
    // Along z: each row of constant y is gathered as columns, so that pieces do not overlap.
    let done: Vec<Vec<f32>> = (0..ny)
        .into_par_iter()
        .map(|y| {
            let mut columns = vec![0.0; nx * nz];
            for z in 0..nz {
                let row = &squared[nx * (y + ny * z)..][..nx];
                (0..nx).for_each(|x| columns[z + nz * x] = row[x]);
            }
            let mut envelope = Envelope::new(nz);
            columns
                .chunks_mut(nz)
                .for_each(|column| envelope.transform(column));
            columns
        })
        .collect();
    squared
        .par_chunks_mut(nx * ny)
        .enumerate()
        .for_each(|(z, layer)| {
            for (y, row) in layer.chunks_mut(nx).enumerate() {
                (0..nx).for_each(|x| row[x] = done[y][z + nz * x]);
            }
        });
    squared
}

/// Lower envelope of the parabolas over one row.
struct Envelope {
    /// Apex of each parabola, from left to right.
    apices: Vec<usize>,
    /// Where each starts to be the lowest.
    starts: Vec<f32>,
    values: Vec<f32>,
}

impl Envelope {
    fn new(length: usize) -> Self {
        Envelope {
            apices: Vec::with_capacity(length),
            starts: Vec::with_capacity(length),
            values: Vec::with_capacity(length),
        }
    }

    /// Replaces f by min over q of f(q) + (p − q)².
    fn transform(&mut self, f: &mut [f32]) {
        self.apices.clear();
        self.starts.clear();
        for (q, &height) in f.iter().enumerate() {
            if height >= FAR {
                continue;
            }
            let mut start = f32::NEG_INFINITY;
            while let (Some(&p), Some(&from)) = (self.apices.last(), self.starts.last()) {
                let (a, b) = (p as f32, q as f32);
                start = (height - f[p] + b * b - a * a) / (2.0 * (b - a));
                if start > from {
                    break;
                }
                self.apices.pop();
                self.starts.pop();
                start = f32::NEG_INFINITY;
            }
            self.apices.push(q);
            self.starts.push(start);
        }
        if self.apices.is_empty() {
            return;
        }
        self.values.clear();
        let mut k = 0;
        for p in 0..f.len() {
            while k + 1 < self.starts.len() && self.starts[k + 1] < p as f32 {
                k += 1;
            }
            let apart = p as f32 - self.apices[k] as f32;
            self.values.push(f[self.apices[k]] + apart * apart);
        }
        f.copy_from_slice(&self.values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn equals_brute_force() {
        let size = [13, 9, 11];
        let mut random = Random::new(3);
        for share in [0.2, 0.9, 0.99, 1.1] {
            let set: Vec<bool> = (0..size.iter().product())
                .map(|_| random.signed() > share)
                .collect();
            let place = |i: usize| [i % 13, i / 13 % 9, i / (13 * 9)].map(|x| x as f32);
            let found = squared_distances(size, &set);
            for (i, squared) in found.iter().enumerate() {
                let exact = (0..set.len())
                    .filter(|&j| set[j])
                    .map(|j| {
                        (0..3)
                            .map(|k| (place(i)[k] - place(j)[k]).powi(2))
                            .sum::<f32>()
                    })
                    .fold(FAR, f32::min);
                assert_eq!(*squared, exact);
            }
        }
        assert!(squared_distances([0, 3, 3], &[]).is_empty());
    }
}
