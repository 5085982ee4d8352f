//! Small dense symmetric systems: A = L Lᵀ (Golub and Van Loan, *Matrix Computations*, 4.2).

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

    /// Replaces the lower triangle by L. None if the matrix is not positive definite; only the lower triangle is read.
    pub fn factorise(mut self) -> Option<Cholesky> {
        let n = self.n;
        for j in 0..n {
            let (done, rest) = self.values.split_at_mut(j * n);
            let row = &mut rest[..n];
            for i in 0..j {
                let other = &done[i * n..i * n + n];
                let dot: f64 = dot(&row[..i], &other[..i]);
                row[i] = (row[i] - dot) / other[i];
            }
            let pivot = row[j] - dot(&row[..j], &row[..j]);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            row[j] = pivot.sqrt();
        }
        Some(Cholesky { lower: self })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four sums that do not wait for each other.
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = (a4.remainder().iter().zip(b4.remainder()))
        .map(|(x, y)| x * y)
        .sum();
    for (x, y) in a4.zip(b4) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// The factor L.
#[derive(Clone, Debug)]
pub struct Cholesky {
    lower: Square,
}

impl Cholesky {
    /// Solves A x = b in place.
    ///
    /// # Panics
    /// If `b` has another length than the matrix has rows.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.lower.n;
        assert_eq!(b.len(), n, "length of the right-hand side");
        for i in 0..n {
            let row = self.lower.row(i);
            b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
        }
        for i in (0..n).rev() {
            let row = self.lower.row(i);
            b[i] /= row[i];
            let x = b[i];
            for (b, l) in b[..i].iter_mut().zip(row) {
                *b -= l * x;
            }
        }
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
