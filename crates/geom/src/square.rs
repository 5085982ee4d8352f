//! Dense symmetric matrices that are summed up, such as those of normal equations.

use crate::dense_cholesky::DenseCholesky;

/// A square matrix by rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Square {
    n: usize,
    values: Vec<f64>,
}

impl Square {
    /// The zero matrix of `n` rows.
    pub fn zero(n: usize) -> Self {
        Square {
            n,
            values: vec![0.0; n * n],
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n..(row + 1) * self.n]
    }

    /// One row, to change it.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.n..(row + 1) * self.n]
    }

    /// Adds another matrix of the same size.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn add(&mut self, other: &Square) {
        assert_eq!(self.n, other.n, "sizes of the matrices");
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += b;
        }
    }

    /// Adds v vᵀ to the lower triangle.
    ///
    /// # Panics
    /// If the vector has another length than the matrix has rows.
    pub fn add_outer(&mut self, v: &[f64]) {
        assert_eq!(v.len(), self.n, "length of the vector");
        for (i, &x) in v.iter().enumerate() {
            if x != 0.0 {
                let row = &mut self.values[i * self.n..i * self.n + i + 1];
                for (entry, y) in row.iter_mut().zip(v) {
                    *entry += x * y;
                }
            }
        }
    }

    /// The factor. None if the matrix is not positive definite; only the lower triangle is read.
    pub fn factorise(self) -> Option<DenseCholesky> {
        DenseCholesky::new(self.n, self.values).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn solves_and_refuses() {
        let n = 23;
        let mut random = Random::new(8);
        let mut matrix = Square::zero(n);
        for _ in 0..2 * n {
            let v: Vec<f64> = (0..n).map(|_| f64::from(random.signed())).collect();
            matrix.add_outer(&v);
        }
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 7.0).collect();
        let entry = |i: usize, j: usize| matrix.row(i.max(j))[i.min(j)];
        let mut b: Vec<f64> = (0..n)
            .map(|i| (0..n).map(|j| entry(i, j) * x[j]).sum())
            .collect();
        matrix.clone().factorise().unwrap().solve(&mut b);
        for (found, x) in b.iter().zip(&x) {
            assert!((found - x).abs() < 1e-9);
        }
        matrix.row_mut(5)[5] = -1.0;
        assert!(matrix.factorise().is_none());
    }
}
