//! Normal equations as a sparse matrix, factorised.

use std::sync::Arc;

use super::{Equations, FitError, RecordedRows};
use crate::sparse::{Cholesky, Symbolic, SymmetricCsc};

/// Sparse normal equations. The pattern grows to hold all rows that were ever given, and is analysed when it has grown: keep the
/// equations from one fit to the next.
#[derive(Clone, Default)]
pub struct SparseNormal<const D: usize> {
    matrix: SymmetricCsc,
    symbolic: Option<Arc<Symbolic>>,
    /// The factor, and what was added to the diagonal for it.
    factor: Option<(Cholesky, Vec<f64>)>,
    pieces: Vec<RecordedRows<D>>,
    gradient: Vec<[f64; D]>,
    diagonal: Vec<f64>,
}

impl<const D: usize> SparseNormal<D> {
    /// Equations that have seen no row.
    pub fn new() -> Self {
        Self::default()
    }

    /// Jᵀ W J of the rows last taken, with zeros where earlier ones had entries.
    pub fn matrix(&self) -> &SymmetricCsc {
        &self.matrix
    }

    /// Sums the products of all rows. False if an entry is not in the pattern.
    fn sum(&mut self) -> bool {
        self.matrix.values.fill(0.0);
        let SymmetricCsc {
            column_starts,
            rows,
            values,
        } = &mut self.matrix;
        for (weight, derivatives, _) in self.pieces.iter().flat_map(RecordedRows::iter) {
            for (k, &(a, da)) in derivatives.iter().enumerate() {
                for (l, &(b, db)) in derivatives[..=k].iter().enumerate() {
                    let (row, column) = (a.max(b), a.min(b) as usize);
                    let range = column_starts[column] as usize..column_starts[column + 1] as usize;
                    let Ok(at) = rows[range.clone()].binary_search(&row) else {
                        return false;
                    };
                    // An unknown that a row names twice has the square of the sum.
                    let twice = if a == b && l < k { 2.0 } else { 1.0 };
                    values[range.start + at] += twice * weight * da * db;
                }
            }
        }
        true
    }

    /// Takes the entries of all rows into the pattern.
    fn grow(&mut self, unknowns: usize) {
        let mut entries: Vec<(u32, u32)> = Vec::new();
        if self.matrix.len() == unknowns {
            for column in 0..unknowns {
                entries.extend(
                    (self.matrix.column(column)).map(|(row, _)| (column as u32, row as u32)),
                );
            }
        }
        for (_, derivatives, _) in self.pieces.iter().flat_map(RecordedRows::iter) {
            for (k, &(a, _)) in derivatives.iter().enumerate() {
                let before = derivatives[..=k].iter();
                entries.extend(before.map(|&(b, _)| (a.min(b), a.max(b))));
            }
        }
        entries.sort_unstable();
        entries.dedup();
        let entries = entries.into_iter().map(|(column, row)| (row, column, 0.0));
        self.matrix = SymmetricCsc::summed(unknowns, entries);
        (self.symbolic, self.factor) = (None, None);
    }
}

impl<const D: usize> Equations<D> for SparseNormal<D> {
    type Piece = RecordedRows<D>;

    fn piece(&self, _: usize) -> RecordedRows<D> {
        RecordedRows::default()
    }

    fn assemble(&mut self, unknowns: usize, pieces: Vec<RecordedRows<D>>) -> Result<(), FitError> {
        super::check(unknowns, &pieces)?;
        if pieces.iter().any(RecordedRows::has_operators) {
            return Err(FitError::Operator);
        }
        self.pieces = pieces;
        if self.matrix.len() != unknowns || !self.sum() {
            self.grow(unknowns);
            self.sum();
        }
        self.diagonal = self.matrix.diagonal();
        self.gradient = super::gradient(unknowns, &self.pieces);
        if let Some((_, damping)) = &mut self.factor {
            // Of other numbers.
            damping.clear();
        }
        Ok(())
    }

    fn renew(&mut self, values: &[Vec<[f64; D]>]) -> bool {
        let known = super::renew(&mut self.pieces, values);
        if known {
            self.gradient = super::gradient(self.matrix.len(), &self.pieces);
        }
        known
    }

    fn gradient(&self) -> &[[f64; D]] {
        &self.gradient
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn solve(&mut self, damping: &[f64]) -> Result<Vec<[f64; D]>, FitError> {
        let n = self.matrix.len();
        let fits = |(_, known): &(Cholesky, Vec<f64>)| n > 0 && known == damping;
        if !self.factor.as_ref().is_some_and(fits) {
            let symbolic = (self.symbolic)
                .get_or_insert_with(|| Arc::new(Symbolic::new(&self.matrix)))
                .clone();
            self.matrix.add_diagonal(damping);
            let factor = Cholesky::with(symbolic, &self.matrix);
            for (column, diagonal) in self.diagonal.iter().enumerate() {
                let at = self.matrix.column_starts[column] as usize;
                self.matrix.values[at] = *diagonal;
            }
            self.factor = Some((factor?, damping.to_vec()));
        }
        let Some((factor, _)) = &self.factor else {
            return Ok(Vec::new());
        };
        let mut columns: Vec<Vec<f64>> = (0..D)
            .map(|k| self.gradient.iter().map(|g| -g[k]).collect())
            .collect();
        factor.solve_columns(&mut columns);
        Ok((0..n)
            .map(|i| std::array::from_fn(|k| columns[k][i]))
            .collect())
    }
}
