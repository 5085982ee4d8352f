//! Cholesky factor A = L Lᵀ of a dense symmetric positive definite matrix, blocked and on all threads.
//!
//! Every entry is computed by the same operations in the same order whatever the number of threads.

use rayon::prelude::*;

/// Columns of a block: three blocks of rows stay in the first cache.
const BLOCK: usize = 64;
/// Rows and columns of the inner kernel's tile: its sums stay in registers.
const TILE: usize = 4;

/// The lower triangular factor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DenseCholesky {
    n: usize,
    /// Rows of L; what is above the diagonal is not used.
    rows: Vec<f64>,
}

/// The matrix is not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the dense matrix is not positive definite: pivot {index} is not positive")]
pub struct NotPositiveDefinite {
    /// Row of the pivot.
    pub index: usize,
}

impl DenseCholesky {
    /// Factorises an n × n matrix given by rows; only its lower triangle is read.
    ///
    /// # Panics
    /// If there are not n² entries.
    pub fn new(n: usize, mut rows: Vec<f64>) -> Result<Self, NotPositiveDefinite> {
        assert_eq!(rows.len(), n * n, "entries of the matrix");
        for first in (0..n).step_by(BLOCK) {
            let last = (first + BLOCK).min(n);
            let width = last - first;
            factorise_diagonal(&mut rows[first * n..last * n], n, first, width)?;
            let (above, below) = rows.split_at_mut(last * n);
            let diagonal = &above[first * n..];
            below.par_chunks_mut(n).for_each(|row| {
                for k in 0..width {
                    let l = &diagonal[k * n + first..];
                    let dot: f64 = (0..k).map(|j| row[first + j] * l[j]).sum();
                    row[first + k] = (row[first + k] - dot) / l[k];
                }
            });
            let panel = Panel::of(below, n, first, width);
            (below.par_chunks_mut(TILE * n).enumerate())
                .for_each(|(tile, rows)| panel.subtract(tile, rows, n, last));
        }
        Ok(DenseCholesky { n, rows })
    }

    /// Replaces a right-hand side by the solution.
    ///
    /// # Panics
    /// If its length is not the matrix's.
    pub fn solve(&self, b: &mut [f64]) {
        assert_eq!(b.len(), self.n, "length of the right-hand side");
        for i in 0..self.n {
            let row = &self.rows[i * self.n..][..=i];
            let dot: f64 = row[..i].iter().zip(b.iter()).map(|(l, x)| l * x).sum();
            b[i] = (b[i] - dot) / row[i];
        }
        for i in (0..self.n).rev() {
            let row = &self.rows[i * self.n..][..=i];
            b[i] /= row[i];
            let x = b[i];
            b[..i].iter_mut().zip(row).for_each(|(b, l)| *b -= l * x);
        }
    }
}

fn factorise_diagonal(
    rows: &mut [f64],
    n: usize,
    first: usize,
    width: usize,
) -> Result<(), NotPositiveDefinite> {
    for i in 0..width {
        for j in 0..=i {
            let (a, b) = (&rows[i * n + first..], &rows[j * n + first..]);
            let dot: f64 = (0..j).map(|k| a[k] * b[k]).sum();
            let left = a[j] - dot;
            let entry = if i > j {
                left / b[j]
            } else if left > 0.0 && left.is_finite() {
                left.sqrt()
            } else {
                return Err(NotPositiveDefinite { index: first + i });
            };
            rows[i * n + first + j] = entry;
        }
    }
    Ok(())
}

/// A block column of L below its diagonal block, in tiles of rows: for each column `TILE` rows side by side.
struct Panel {
    width: usize,
    tiles: Vec<[f64; TILE]>,
}

impl Panel {
    fn of(below: &[f64], n: usize, first: usize, width: usize) -> Panel {
        let count = below.len() / n.max(1);
        let mut tiles = vec![[0.0; TILE]; count.div_ceil(TILE) * width];
        for (row, entries) in below.chunks(n.max(1)).enumerate() {
            for k in 0..width {
                tiles[row / TILE * width + k][row % TILE] = entries[first + k];
            }
        }
        Panel { width, tiles }
    }

    /// Subtracts the product of the panel's rows of one tile with all rows up to them.
    fn subtract(&self, tile: usize, rows: &mut [f64], n: usize, last: usize) {
        let own = &self.tiles[tile * self.width..][..self.width];
        for other in 0..=tile {
            let columns = &self.tiles[other * self.width..][..self.width];
            let mut sums = [[0.0; TILE]; TILE];
            for (a, b) in own.iter().zip(columns) {
                for i in 0..TILE {
                    for j in 0..TILE {
                        sums[i][j] += a[i] * b[j];
                    }
                }
            }
            let column = last + other * TILE;
            let width = TILE.min(n - column);
            for (row, sums) in rows.chunks_mut(n).zip(sums) {
                let entries = row[column..column + width].iter_mut();
                entries.zip(sums).for_each(|(entry, sum)| *entry -= sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn positive(n: usize) -> Vec<f64> {
        let mut random = Random::new(7);
        let b: Vec<f64> = (0..n * n)
            .map(|_| f64::from(random.in_cube(1.0).x))
            .collect();
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                a[i * n + j] = (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum::<f64>();
            }
            a[i * n + i] += 0.1;
        }
        a
    }

    #[test]
    fn solves_systems_of_every_size_around_the_blocks() {
        for n in [1, 3, 4, 63, 64, 65, 130, 201] {
            let a = positive(n);
            let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let mut b: Vec<f64> = (0..n)
                .map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum())
                .collect();
            DenseCholesky::new(n, a).unwrap().solve(&mut b);
            let error = b
                .iter()
                .zip(&x)
                .map(|(b, x)| (b - x).abs())
                .fold(0.0, f64::max);
            assert!(error < 1e-8, "{n}: {error}");
        }
    }

    #[test]
    fn indefinite_matrices_are_refused_at_their_pivot() {
        let mut a = positive(100);
        a[70 * 100 + 70] = -1.0;
        assert_eq!(
            DenseCholesky::new(100, a),
            Err(NotPositiveDefinite { index: 70 })
        );
        assert!(DenseCholesky::new(1, vec![f64::NAN]).is_err());
        assert!(DenseCholesky::new(0, Vec::new()).is_ok());
    }
}
