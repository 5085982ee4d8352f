//! Sparse symmetric positive definite systems with three right-hand sides.
//!
//! [`Factor`] is a supernodal Cholesky factorisation made once in double precision and applied many times in single
//! precision: ordering ([`order`]), elimination tree and supernodes ([`symbolic`]), independent subtrees for threads
//! ([`partition`]), numbers ([`supernodal`]), triangular solves ([`solve`]).

pub mod order;
pub mod partition;
pub mod solve;
pub mod supernodal;
pub mod symbolic;

pub use solve::solve3_alone;
pub use supernodal::{Factor, Part};

/// Why a matrix has no factorisation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SparseError {
    /// The matrix is not positive definite.
    #[error("row {index} has no positive pivot: the unknown is not held by anything")]
    NonPositivePivot {
        /// Row of the matrix as given.
        index: usize,
    },
    /// An entry outside the matrix.
    #[error("entry ({row}, {column}) lies outside a matrix of {n} rows")]
    OutOfRange {
        /// Row of the entry.
        row: u32,
        /// Column of the entry.
        column: u32,
        /// Rows of the matrix.
        n: usize,
    },
    /// An entry that is NaN or infinite.
    #[error("entry ({row}, {column}) is not finite")]
    NotFinite {
        /// Row of the entry.
        row: u32,
        /// Column of the entry.
        column: u32,
    },
}

/// The lower triangle of a symmetric matrix by columns; every column starts with its diagonal entry, rows ascend.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymmetricCsc {
    /// Start of each column in `rows` and `values`, and the end of the last.
    pub column_starts: Vec<u32>,
    /// Row of each entry.
    pub rows: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f64>,
}

impl SymmetricCsc {
    /// Sums entries `(row, column, value)`. An off-diagonal entry stands for itself and its mirror image: give each
    /// pair once, in either order. Diagonal entries that are not given are stored as zeros.
    pub fn from_entries(
        n: usize,
        entries: impl IntoIterator<Item = (u32, u32, f64)>,
    ) -> Result<Self, SparseError> {
        let mut sorted: Vec<(u32, u32, f64)> = (0..n as u32).map(|i| (i, i, 0.0)).collect();
        for (row, column, value) in entries {
            if row as usize >= n || column as usize >= n {
                return Err(SparseError::OutOfRange { row, column, n });
            }
            if !value.is_finite() {
                return Err(SparseError::NotFinite { row, column });
            }
            sorted.push((row.min(column), row.max(column), value));
        }
        // A stable sort: entries are summed in the order given.
        sorted.sort_by_key(|&(column, row, _)| (column, row));
        let mut matrix = SymmetricCsc {
            column_starts: vec![0; n + 1],
            ..Default::default()
        };
        let mut last = None;
        for (column, row, value) in sorted {
            if last != Some((column, row)) {
                matrix.column_starts[column as usize + 1] += 1;
                matrix.rows.push(row);
                matrix.values.push(0.0);
                last = Some((column, row));
            }
            if let Some(sum) = matrix.values.last_mut() {
                *sum += value;
            }
        }
        for i in 0..n {
            matrix.column_starts[i + 1] += matrix.column_starts[i];
        }
        Ok(matrix)
    }

    /// Rows of the matrix.
    pub fn len(&self) -> usize {
        self.column_starts.len().saturating_sub(1)
    }

    /// Whether the matrix has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries `(row, value)` of a column, diagonal first.
    pub fn column(&self, column: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.column_starts[column] as usize..self.column_starts[column + 1] as usize;
        self.rows[range.clone()]
            .iter()
            .copied()
            .zip(self.values[range].iter().copied())
    }

    /// The matrix with rows and columns renumbered: old index `permutation[new]`.
    pub fn permuted(&self, permutation: &[u32]) -> Self {
        let n = self.len();
        let inverse = order::inverse(permutation);
        let mut entries: Vec<(u32, u32, f64)> = Vec::with_capacity(self.rows.len());
        for column in 0..n {
            for (row, value) in self.column(column) {
                let (a, b) = (inverse[column], inverse[row as usize]);
                entries.push((a.min(b), a.max(b), value));
            }
        }
        entries.sort_unstable_by_key(|&(column, row, _)| (column, row));
        let mut column_starts = vec![0; n + 1];
        for &(column, ..) in &entries {
            column_starts[column as usize + 1] += 1;
        }
        for i in 0..n {
            column_starts[i + 1] += column_starts[i];
        }
        SymmetricCsc {
            column_starts,
            rows: entries.iter().map(|e| e.1).collect(),
            values: entries.iter().map(|e| e.2).collect(),
        }
    }

    /// The product with a vector.
    ///
    /// # Panics
    /// If the vector has another length than the matrix has rows.
    pub fn multiply(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.len(), "vector length");
        let mut y = vec![0.0; x.len()];
        for column in 0..x.len() {
            for (row, value) in self.column(column) {
                y[row as usize] += value * x[column];
                if row as usize != column {
                    y[column] += value * x[row as usize];
                }
            }
        }
        y
    }
}
