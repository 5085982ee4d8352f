//! Sparse matrices by compressed columns: symmetric ones by their lower triangle, and general ones.

use super::{SparseError, order};

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
        let check = |(row, column, value): (u32, u32, f64)| {
            if row as usize >= n || column as usize >= n {
                Err(SparseError::OutOfRange { row, column, n })
            } else if !value.is_finite() {
                Err(SparseError::NotFinite { row, column })
            } else {
                Ok((row, column, value))
            }
        };
        let checked: Result<Vec<_>, _> = entries.into_iter().map(check).collect();
        Ok(Self::summed(n, checked?))
    }

    /// [`SymmetricCsc::from_entries`] for entries whose indices are known to be in range. Values that are not finite are
    /// kept; factorisations refuse them.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn summed(n: usize, entries: impl IntoIterator<Item = (u32, u32, f64)>) -> Self {
        let diagonal = (0..n as u32).map(|i| (i, i, 0.0));
        let lower = (entries.into_iter()).map(|(row, column, value)| {
            assert!((row.max(column) as usize) < n, "entry outside the matrix");
            (row.max(column), row.min(column), value)
        });
        let Csc {
            column_starts,
            rows,
            values,
            ..
        } = Csc::summed(n, n, diagonal.chain(lower).collect());
        SymmetricCsc {
            column_starts,
            rows,
            values,
        }
    }

    /// Rows of the matrix.
    pub fn len(&self) -> usize {
        self.column_starts.len().saturating_sub(1)
    }

    /// Whether the matrix has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries `(row, value)` of a column of the lower triangle, diagonal first.
    pub fn column(&self, column: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.column_starts[column] as usize..self.column_starts[column + 1] as usize;
        pairs(&self.rows[range.clone()], &self.values[range])
    }

    /// The diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        let starts = &self.column_starts[..self.len()];
        starts.iter().map(|&at| self.values[at as usize]).collect()
    }

    /// Adds to the diagonal.
    ///
    /// # Panics
    /// If there are more amounts than rows.
    pub fn add_diagonal(&mut self, amounts: &[f64]) {
        assert!(amounts.len() <= self.len(), "more amounts than rows");
        for (&at, amount) in self.column_starts.iter().zip(amounts) {
            self.values[at as usize] += amount;
        }
    }

    /// The matrix times a number.
    pub fn scaled(&self, factor: f64) -> Self {
        SymmetricCsc {
            values: self.values.iter().map(|value| value * factor).collect(),
            ..self.clone()
        }
    }

    /// The matrix with rows and columns renumbered: old index `permutation[new]`.
    pub fn permuted(&self, permutation: &[u32]) -> Self {
        let inverse = order::inverse(permutation);
        let entries = (0..self.len()).flat_map(|column| {
            let inverse = &inverse;
            self.column(column)
                .map(move |(row, value)| (inverse[row], inverse[column], value))
        });
        Self::summed(self.len(), entries)
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
                y[row] += value * x[column];
                if row != column {
                    y[column] += value * x[row];
                }
            }
        }
        y
    }
}

/// A general matrix by columns; rows ascend within a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Csc {
    /// Number of rows.
    pub height: usize,
    /// Start of each column in `rows` and `values`, and the end of the last.
    pub column_starts: Vec<u32>,
    /// Row of each entry.
    pub rows: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f64>,
}

impl Csc {
    /// Sums entries `(row, column, value)` given in any order.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn summed(height: usize, width: usize, mut entries: Vec<(u32, u32, f64)>) -> Self {
        // A stable sort: entries are summed in the order given.
        entries.sort_by_key(|&(row, column, _)| (column, row));
        let mut matrix = Csc {
            height,
            column_starts: vec![0; width + 1],
            ..Csc::default()
        };
        let mut last = None;
        for (row, column, value) in entries {
            assert!((row as usize) < height, "row {row} outside the matrix");
            if last != Some((row, column)) {
                matrix.column_starts[column as usize + 1] += 1;
                matrix.rows.push(row);
                matrix.values.push(0.0);
                last = Some((row, column));
            }
            if let Some(sum) = matrix.values.last_mut() {
                *sum += value;
            }
        }
        for i in 0..width {
            matrix.column_starts[i + 1] += matrix.column_starts[i];
        }
        matrix
    }

    /// Both triangles of a symmetric matrix: its columns are its rows.
    pub fn from_symmetric(matrix: &SymmetricCsc) -> Self {
        let lower = (0..matrix.len()).flat_map(|column| {
            matrix
                .column(column)
                .map(move |(row, value)| (row as u32, column as u32, value))
        });
        let both = lower.flat_map(|(row, column, value)| {
            let mirrored = (row != column).then_some((column, row, value));
            std::iter::once((row, column, value)).chain(mirrored)
        });
        Self::summed(matrix.len(), matrix.len(), both.collect())
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.column_starts.len().saturating_sub(1)
    }

    /// Entries `(row, value)` of a column.
    pub fn column(&self, column: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.column_starts[column] as usize..self.column_starts[column + 1] as usize;
        pairs(&self.rows[range.clone()], &self.values[range])
    }

    /// One entry; zero where none is stored.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        let range = self.column_starts[column] as usize..self.column_starts[column + 1] as usize;
        let found = self.rows[range.clone()].binary_search(&(row as u32));
        found.map_or(0.0, |k| self.values[range.start + k])
    }

    /// The product with a vector.
    ///
    /// # Panics
    /// If the vector has another length than the matrix has columns.
    pub fn multiply(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.width(), "vector length");
        let mut y = vec![0.0; self.height];
        for (column, x) in x.iter().enumerate() {
            for (row, value) in self.column(column) {
                y[row] += value * x;
            }
        }
        y
    }
}

fn pairs<'a>(rows: &'a [u32], values: &'a [f64]) -> impl Iterator<Item = (usize, f64)> + 'a {
    rows.iter()
        .map(|&row| row as usize)
        .zip(values.iter().copied())
}
