//! Nonlinear least squares: least ½ Σ wₖ |rₖ(x)|² by damped Gauss–Newton steps.
//!
//! A [`Residual`] writes rows of weights, values and derivatives at a state. [`minimise`] sums the rows of any number of them,
//! solves for a step, bounds it, and moves the state. What the unknowns are is the state's own business ([`Variables`]): turns and
//! scales as well as points.
//!
//! A row has `D` values with the same derivatives. Points whose coordinates have the same coefficients (Laplacians, deformation
//! gradients, closest points) are one unknown of three values: one matrix of a row a point, factorised once for three right-hand
//! sides. Everything else has `D = 1`.
//!
//! Local/global solvers (Bouaziz and others 2012, "Shape-up") are Gauss–Newton with the projection held while derivatives are
//! taken. Such residuals have constant derivatives ([`Residual::is_constant`]): if all are, the matrix is factorised once.
//!
//! Steps come from one of three kinds of [`Equations`]: [`SparseNormal`], [`DenseNormal`], and [`MatrixFree`], which multiplies by
//! the derivatives alone and takes [`Operator`]s whose entries are never written down, such as those of eliminated states.
//!
//! Pieces of a residual are linearised on all threads and summed in their order: the bits do not depend on the number of threads.

mod dense;
mod matrix_free;
mod minimise;
pub mod residuals;
mod rows;
mod sparse;

use std::sync::Arc;

use glam::DVec3;

pub use dense::DenseNormal;
pub use matrix_free::{DiagonalPreconditioner, MatrixFree, Preconditioner};
pub use minimise::{Adaptive, Damping, Outcome, Progress, Report, Settings, minimise};
pub use rows::RecordedRows;
pub use sparse::SparseNormal;

use crate::dense::NotPositiveDefinite;
use crate::sparse::SparseError;

/// A state that steps move.
pub trait Variables<const D: usize>: Clone {
    /// Number of unknowns, of `D` values each.
    fn unknowns(&self) -> usize;

    /// Moves the state.
    fn advance(&mut self, step: &[[f64; D]]);

    /// Size of a step, in the unit of [`Settings::largest_step`] and [`Settings::still`]: the longest of its vectors. Must be
    /// proportional to the step.
    fn length(&self, step: &[[f64; D]]) -> f64 {
        let square = |s: &[f64; D]| s.iter().map(|x| x * x).sum::<f64>();
        step.iter().map(square).fold(0.0, f64::max).sqrt()
    }
}

/// One term of a sum of squares.
pub trait Residual<S: ?Sized, const D: usize>: Sync {
    /// Number of pieces that are linearised side by side.
    fn pieces(&self) -> usize {
        1
    }

    /// Writes the rows of a piece at a state. Their number and order must not change while one [`minimise`] runs if derivatives
    /// are constant.
    fn linearise(&self, state: &S, piece: usize, rows: &mut dyn Rows<D>);

    /// Whether the derivatives are the same at every state.
    fn is_constant(&self) -> bool {
        false
    }

    /// ½ Σ w |r|²; robust residuals, whose weights change with the state, have their own.
    fn cost(&self, state: &S) -> f64 {
        let mut sum = rows::Cost(0.0);
        (0..self.pieces()).for_each(|piece| self.linearise(state, piece, &mut sum));
        sum.0
    }
}

/// Where a residual writes its rows.
pub trait Rows<const D: usize> {
    /// A row: its weight w, its derivatives by the unknowns given, and its value r.
    fn row(&mut self, weight: f64, derivatives: &[(u32, f64)], value: [f64; D]);

    /// Many rows of weight one whose derivatives are only known as an operator. [`MatrixFree`] equations take them.
    fn operator(&mut self, derivatives: Arc<dyn Operator<D>>, values: &[[f64; D]]);
}

/// Derivatives J that are multiplied by and not written down.
pub trait Operator<const D: usize>: Send + Sync {
    /// Adds J x to `y`, one entry a row.
    fn add_product(&self, x: &[[f64; D]], y: &mut [[f64; D]]);

    /// Adds Jᵀ y to `x`, one entry an unknown.
    fn add_transposed_product(&self, y: &[[f64; D]], x: &mut [[f64; D]]);
}

/// Normal equations (Jᵀ W J) δ = −Jᵀ W r, in one of several forms.
pub trait Equations<const D: usize> {
    /// Rows of one piece.
    type Piece: Rows<D> + Send;

    /// An empty piece.
    fn piece(&self, unknowns: usize) -> Self::Piece;

    /// Takes the rows of all pieces.
    fn assemble(&mut self, unknowns: usize, pieces: Vec<Self::Piece>) -> Result<(), FitError>;

    /// Takes other values for the rows that are there. False if they are not kept.
    fn renew(&mut self, values: &[Vec<[f64; D]>]) -> bool;

    /// Jᵀ W r.
    fn gradient(&self) -> &[[f64; D]];

    /// The diagonal of Jᵀ W J; where it is not known, an estimate.
    fn diagonal(&self) -> &[f64];

    /// The step, with amounts added to the diagonal.
    fn solve(&mut self, damping: &[f64]) -> Result<Vec<[f64; D]>, FitError>;
}

/// Rejects rows of unknowns that are not there.
fn check<const D: usize>(unknowns: usize, pieces: &[RecordedRows<D>]) -> Result<(), FitError> {
    match pieces.iter().find_map(|piece| piece.outside(unknowns)) {
        Some(unknown) => Err(FitError::OutOfRange { unknown, unknowns }),
        None => Ok(()),
    }
}

fn gradient<const D: usize>(unknowns: usize, pieces: &[RecordedRows<D>]) -> Vec<[f64; D]> {
    let mut gradient = vec![[0.0; D]; unknowns];
    (pieces.iter()).for_each(|piece| piece.add_gradient(&mut gradient));
    gradient
}

fn renew<const D: usize>(pieces: &mut [RecordedRows<D>], values: &[Vec<[f64; D]>]) -> bool {
    pieces.len() == values.len()
        && (pieces.iter_mut().zip(values)).all(|(piece, values)| piece.renew(values))
}

/// Why a fit has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FitError {
    /// The normal equations of sparse rows cannot be factorised.
    #[error(transparent)]
    Sparse(#[from] SparseError),
    /// The normal equations of dense rows cannot be factorised.
    #[error(transparent)]
    Dense(#[from] NotPositiveDefinite),
    /// A row concerns an unknown that is not there.
    #[error("a row has a derivative by unknown {unknown} of {unknowns}")]
    OutOfRange {
        /// The unknown.
        unknown: u32,
        /// How many there are.
        unknowns: usize,
    },
    /// A residual is only known as an operator, and the equations are assembled.
    #[error("an operator cannot be assembled: solve without a matrix")]
    Operator,
    /// A step is NaN or infinite.
    #[error("the equations have no finite solution")]
    NotFinite,
}

impl FitError {
    /// The cause in a sparse system.
    pub fn into_sparse(self) -> SparseError {
        match self {
            FitError::Sparse(error) => error,
            FitError::Dense(NotPositiveDefinite { index }) => {
                SparseError::NonPositivePivot { index }
            }
            FitError::OutOfRange { .. } | FitError::Operator | FitError::NotFinite => {
                SparseError::NonPositivePivot { index: 0 }
            }
        }
    }
}

/// Points of which some hold still.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// All points \[m\].
    pub at: Vec<DVec3>,
    /// The point of each unknown, ascending.
    free: Arc<Vec<u32>>,
}

impl Points {
    /// Points of which those given hold still.
    pub fn with_held(at: Vec<DVec3>, held: &[bool]) -> Points {
        let free = (0u32..).zip(held).filter(|(_, held)| !**held);
        Points {
            free: Arc::new(free.map(|(v, _)| v).collect()),
            at,
        }
    }

    /// Points of which the first ones move.
    pub fn with_free(at: Vec<DVec3>, free: usize) -> Points {
        Points {
            free: Arc::new((0..free.min(at.len()) as u32).collect()),
            at,
        }
    }

    /// The point of each unknown.
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    /// Where an unknown is.
    #[inline]
    pub fn unknown(&self, unknown: u32) -> DVec3 {
        self.at[self.free[unknown as usize] as usize]
    }
}

impl Variables<3> for Points {
    fn unknowns(&self) -> usize {
        self.free.len()
    }

    fn advance(&mut self, step: &[[f64; 3]]) {
        for (&v, step) in self.free.iter().zip(step) {
            self.at[v as usize] += DVec3::from_array(*step);
        }
    }
}

/// Coordinates of points as unknowns of their own: for rows in which they differ.
impl Variables<1> for Points {
    fn unknowns(&self) -> usize {
        3 * self.free.len()
    }

    fn advance(&mut self, step: &[[f64; 1]]) {
        for (&v, step) in self.free.iter().zip(step.chunks_exact(3)) {
            self.at[v as usize] += DVec3::new(step[0][0], step[1][0], step[2][0]);
        }
    }

    fn length(&self, step: &[[f64; 1]]) -> f64 {
        let square = |s: &[[f64; 1]]| s.iter().map(|x| x[0] * x[0]).sum::<f64>();
        step.chunks_exact(3).map(square).fold(0.0, f64::max).sqrt()
    }
}

/// Plain numbers.
impl Variables<1> for Vec<f64> {
    fn unknowns(&self) -> usize {
        self.len()
    }

    fn advance(&mut self, step: &[[f64; 1]]) {
        self.iter_mut().zip(step).for_each(|(x, [d])| *x += d);
    }
}
