//! Normal equations as a dense matrix, factorised: for few unknowns that all rows share.

use std::sync::Arc;

use super::{Equations, FitError, Operator, Rows};
use crate::dense::DenseSymmetric;

/// Dense normal equations of single values. Rows are summed as they are written and not kept.
#[derive(Clone, Default)]
pub struct DenseNormal {
    matrix: DenseSymmetric,
    gradient: Vec<[f64; 1]>,
    diagonal: Vec<f64>,
}

impl DenseNormal {
    /// Equations that have seen no row.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The sums of one piece.
pub struct DensePiece {
    matrix: DenseSymmetric,
    gradient: Vec<[f64; 1]>,
    /// A row with all its zeros.
    row: Vec<f64>,
    error: Option<FitError>,
}

impl Rows<1> for DensePiece {
    fn row(&mut self, weight: f64, derivatives: &[(u32, f64)], [value]: [f64; 1]) {
        let unknowns = self.matrix.len();
        if let Some(&(unknown, _)) = derivatives.iter().find(|d| d.0 as usize >= unknowns) {
            self.error = Some(FitError::OutOfRange { unknown, unknowns });
            return;
        }
        for &(unknown, d) in derivatives {
            self.gradient[unknown as usize][0] += weight * d * value;
            self.row[unknown as usize] += d;
        }
        // Products of what is there cost more each than those of whole rows.
        if 4 * derivatives.len() > unknowns {
            self.matrix.add_scaled_outer(weight, &self.row);
        } else {
            for (k, &(a, da)) in derivatives.iter().enumerate() {
                for (l, &(b, db)) in derivatives[..=k].iter().enumerate() {
                    // An unknown that a row names twice has the square of the sum.
                    let twice = if a == b && l < k { 2.0 } else { 1.0 };
                    let product = twice * weight * da * db;
                    self.matrix.add_at(a as usize, b as usize, product);
                }
            }
        }
        (derivatives.iter()).for_each(|&(unknown, _)| self.row[unknown as usize] = 0.0);
    }

    fn operator(&mut self, _: Arc<dyn Operator<1>>, _: &[[f64; 1]]) {
        self.error = Some(FitError::Operator);
    }
}

impl Equations<1> for DenseNormal {
    type Piece = DensePiece;

    fn piece(&self, unknowns: usize) -> DensePiece {
        DensePiece {
            matrix: DenseSymmetric::zero(unknowns),
            gradient: vec![[0.0]; unknowns],
            row: vec![0.0; unknowns],
            error: None,
        }
    }

    fn assemble(&mut self, unknowns: usize, pieces: Vec<DensePiece>) -> Result<(), FitError> {
        self.matrix = DenseSymmetric::zero(unknowns);
        self.gradient = vec![[0.0]; unknowns];
        for piece in pieces {
            if let Some(error) = piece.error {
                return Err(error);
            }
            self.matrix.add(&piece.matrix);
            (self.gradient.iter_mut().zip(&piece.gradient)).for_each(|(sum, g)| sum[0] += g[0]);
        }
        self.diagonal = (0..unknowns).map(|i| self.matrix.at(i, i)).collect();
        Ok(())
    }

    fn renew(&mut self, _: &[Vec<[f64; 1]>]) -> bool {
        false
    }

    fn gradient(&self) -> &[[f64; 1]] {
        &self.gradient
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn solve(&mut self, damping: &[f64]) -> Result<Vec<[f64; 1]>, FitError> {
        let mut matrix = self.matrix.clone();
        (damping.iter().enumerate()).for_each(|(i, added)| matrix.add_at(i, i, *added));
        let factor = matrix.factorise()?;
        let mut x: Vec<f64> = self.gradient.iter().map(|g| -g[0]).collect();
        factor.solve(&mut x);
        Ok(x.into_iter().map(|x| [x]).collect())
    }
}
