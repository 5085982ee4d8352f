//! The lower triangle of a reordered matrix.

use super::SymmetricCsc;

/// Entries of the lower triangle by columns and by rows.
pub(super) struct Lower {
    starts: Vec<usize>,
    /// Row of each entry, diagonal included, and its index among the values of the matrix as given.
    entries: Vec<(u32, u32)>,
    row_starts: Vec<usize>,
    /// Columns of each row left of its diagonal, ascending.
    columns: Vec<u32>,
}

impl Lower {
    /// `place` is the new index of each row.
    pub fn new(matrix: &SymmetricCsc, place: &[u32]) -> Self {
        let n = matrix.len();
        let given = || {
            (0..n).flat_map(|column| {
                let range = matrix.column_starts[column]..matrix.column_starts[column + 1];
                range.map(move |source| {
                    let (a, b) = (place[column], place[matrix.rows[source as usize] as usize]);
                    (a.max(b), a.min(b), source)
                })
            })
        };
        let mut starts = vec![0; n + 1];
        let mut row_starts = vec![0; n + 1];
        for (row, column, _) in given() {
            starts[column as usize + 1] += 1;
            if row != column {
                row_starts[row as usize + 1] += 1;
            }
        }
        for k in 0..n {
            starts[k + 1] += starts[k];
            row_starts[k + 1] += row_starts[k];
        }
        let mut entries = vec![(0, 0); starts[n]];
        let mut next = starts.clone();
        for (row, column, source) in given() {
            entries[next[column as usize]] = (row, source);
            next[column as usize] += 1;
        }
        let mut columns = vec![0; row_starts[n]];
        let mut next = row_starts.clone();
        for column in 0..n {
            for &(row, _) in &entries[starts[column]..starts[column + 1]] {
                if row as usize != column {
                    columns[next[row as usize]] = column as u32;
                    next[row as usize] += 1;
                }
            }
        }
        Lower {
            starts,
            entries,
            row_starts,
            columns,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Rows of a column, its diagonal among them, and the index of each entry among the values of the matrix as given.
    pub fn column(&self, column: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let range = self.starts[column]..self.starts[column + 1];
        self.entries[range].iter().copied()
    }

    /// Columns of a row left of its diagonal, ascending.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.columns[self.row_starts[row]..self.row_starts[row + 1]]
    }
}
