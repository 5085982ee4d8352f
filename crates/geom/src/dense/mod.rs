//! Dense symmetric matrices and their Cholesky factor.

pub(crate) mod eliminate;

use eliminate::eliminate;

/// A symmetric matrix that is summed up, such as that of normal equations. Only its lower triangle is stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DenseSymmetric {
    n: usize,
    /// By columns; entries above the diagonal are not used.
    values: Vec<f64>,
}

/// The factor A = L Lᵀ of a positive definite matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DenseCholesky {
    n: usize,
    /// L by columns; what is above the diagonal is not used.
    columns: Vec<f64>,
}

/// The matrix is not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the dense matrix is not positive definite: pivot {index} is not positive")]
pub struct NotPositiveDefinite {
    /// Row of the pivot.
    pub index: usize,
}

impl DenseSymmetric {
    /// The zero matrix of `n` rows.
    pub fn zero(n: usize) -> Self {
        DenseSymmetric {
            n,
            values: vec![0.0; n * n],
        }
    }

    /// A matrix given by its rows or columns; its lower triangle by columns is used.
    ///
    /// # Panics
    /// If there are not n² entries.
    pub fn from_entries(n: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), n * n, "entries of the matrix");
        DenseSymmetric { n, values }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    fn place(&self, row: usize, column: usize) -> usize {
        assert!(row.max(column) < self.n, "entry outside the matrix");
        row.min(column) * self.n + row.max(column)
    }

    /// One entry.
    ///
    /// # Panics
    /// If it lies outside the matrix.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[self.place(row, column)]
    }

    /// Adds to an entry, which off the diagonal stands for itself and its mirror image.
    ///
    /// # Panics
    /// If it lies outside the matrix.
    pub fn add_at(&mut self, row: usize, column: usize, value: f64) {
        let at = self.place(row, column);
        self.values[at] += value;
    }

    /// Adds another matrix of the same size.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn add(&mut self, other: &DenseSymmetric) {
        assert_eq!(self.n, other.n, "sizes of the matrices");
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += b;
        }
    }

    /// Multiplies by a number.
    pub fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|x| *x *= factor);
    }

    /// Adds v vᵀ.
    ///
    /// # Panics
    /// If the vector has another length than the matrix has rows.
    pub fn add_outer(&mut self, v: &[f64]) {
        self.add_scaled_outer(1.0, v);
    }

    /// Adds v vᵀ times a number.
    ///
    /// # Panics
    /// If the vector has another length than the matrix has rows.
    pub fn add_scaled_outer(&mut self, factor: f64, v: &[f64]) {
        assert_eq!(v.len(), self.n, "length of the vector");
        for (i, &x) in v.iter().enumerate() {
            if x != 0.0 {
                let x = factor * x;
                let column = &mut self.values[i * self.n + i..(i + 1) * self.n];
                for (entry, y) in column.iter_mut().zip(&v[i..]) {
                    *entry += x * y;
                }
            }
        }
    }

    /// The product with a vector.
    ///
    /// # Panics
    /// If the vector has another length than the matrix has rows.
    pub fn multiply(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.n, "length of the vector");
        let mut product = vec![0.0; self.n];
        for i in 0..self.n {
            let column = &self.values[i * self.n..(i + 1) * self.n];
            product[i] += column[i] * x[i];
            for j in i + 1..self.n {
                product[j] += column[j] * x[i];
                product[i] += column[j] * x[j];
            }
        }
        product
    }

    /// The factor.
    pub fn factorise(mut self) -> Result<DenseCholesky, NotPositiveDefinite> {
        let least = vec![0.0; self.n];
        eliminate(&mut self.values, self.n, self.n, &least)
            .map_err(|index| NotPositiveDefinite { index })?;
        Ok(DenseCholesky {
            n: self.n,
            columns: self.values,
        })
    }
}

impl DenseCholesky {
    /// Replaces a right-hand side by the solution.
    ///
    /// # Panics
    /// If its length is not the matrix's.
    pub fn solve(&self, b: &mut [f64]) {
        assert_eq!(b.len(), self.n, "length of the right-hand side");
        for i in 0..self.n {
            let column = &self.columns[i * self.n..][i..self.n];
            b[i] /= column[0];
            let x = b[i];
            (b[i + 1..].iter_mut().zip(&column[1..])).for_each(|(b, l)| *b -= l * x);
        }
        for i in (0..self.n).rev() {
            let column = &self.columns[i * self.n..][i..self.n];
            let dot: f64 = (column[1..].iter().zip(&b[i + 1..]))
                .map(|(l, x)| l * x)
                .sum();
            b[i] = (b[i] - dot) / column[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn positive(n: usize) -> DenseSymmetric {
        let mut random = Random::new(7);
        let mut a = DenseSymmetric::zero(n);
        for _ in 0..n {
            let row: Vec<f64> = (0..n).map(|_| f64::from(random.in_cube(1.0).x)).collect();
            a.add_outer(&row);
        }
        (0..n).for_each(|i| a.add_at(i, i, 0.1));
        a
    }

    #[test]
    fn solves_systems_of_every_size_around_the_blocks() {
        for n in [1, 3, 4, 7, 8, 9, 63, 64, 65, 72, 130, 201] {
            let a = positive(n);
            let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let mut b = a.multiply(&x);
            a.factorise().unwrap().solve(&mut b);
            let off = b.iter().zip(&x).map(|(b, x)| (b - x).abs());
            let error = off.fold(0.0, f64::max);
            assert!(error < 1e-8, "{n}: {error}");
        }
    }

    #[test]
    fn sums_products_and_entries_agree() {
        let n = 23;
        let mut random = Random::new(8);
        let mut sum = DenseSymmetric::zero(n);
        let mut entries = vec![vec![0.0; n]; n];
        for _ in 0..2 * n {
            let v: Vec<f64> = (0..n).map(|_| f64::from(random.signed())).collect();
            let mut one = DenseSymmetric::zero(n);
            one.add_outer(&v);
            sum.add(&one);
            for i in 0..n {
                (0..n).for_each(|j| entries[i][j] += v[i] * v[j]);
            }
        }
        sum.scale(2.0);
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 7.0).collect();
        for (row, (entries, product)) in entries.iter().zip(sum.multiply(&x)).enumerate() {
            let expected: f64 = entries.iter().zip(&x).map(|(a, x)| 2.0 * a * x).sum();
            assert!((product - expected).abs() < 1e-10);
            assert!((0..n).all(|j| (sum.at(row, j) - 2.0 * entries[j]).abs() < 1e-12));
        }
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        let a = positive(700);
        let factor = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            pool.install(|| a.clone().factorise().unwrap())
        };
        let below = |factor: DenseCholesky| -> Vec<f64> {
            let columns = factor.columns.chunks(700).enumerate();
            columns.flat_map(|(i, c)| c[i..].to_vec()).collect()
        };
        assert_eq!(below(factor(1)), below(factor(3)));
    }

    #[test]
    fn indefinite_matrices_are_rejected_at_their_pivot() {
        let mut a = positive(100);
        a.add_at(70, 70, -100.0);
        assert_eq!(a.factorise().err(), Some(NotPositiveDefinite { index: 70 }));
        let mut none = DenseSymmetric::zero(1);
        none.add_at(0, 0, f64::NAN);
        assert!(none.factorise().is_err());
        assert!(DenseSymmetric::zero(0).factorise().is_ok());
    }
}
