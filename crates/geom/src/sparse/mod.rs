//! Sparse symmetric positive definite systems.
//!
//! One Cholesky factorisation, supernodal and in double precision: order ([`order`]), elimination tree ([`tree`]), supernodes
//! ([`symbolic`]), numbers ([`cholesky`]). The pattern is analysed once ([`Symbolic`]), and the factor recomputed for other values.
//! It is kept in one of two forms:
//!
//! - [`Cholesky`]: double precision, any number of right-hand sides.
//! - [`Factor`]: single precision and three right-hand sides at once, for the time step. Its layout ([`supernodal`]) has
//!   independent subtrees for threads ([`partition`]); [`solve`] has its triangular solves.
//!
//! [`conjugate_gradients`] is the reference that both are measured against.

pub mod cg;
pub mod cholesky;
mod layout;
pub mod matrix;
pub mod order;
pub mod partition;
pub mod solve;
mod substitution;
pub mod supernodal;
pub mod symbolic;
pub mod tree;

pub use cg::conjugate_gradients;
pub use cholesky::Cholesky;
pub use matrix::{Csc, SymmetricCsc};
pub use solve::solve3_alone;
pub use supernodal::{Factor, Part};
pub use symbolic::Symbolic;

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
    /// A factor of one pattern was given a matrix with another.
    #[error("the matrix has other entries than the one that was analysed")]
    OtherPattern,
}

/// A pivot below this share of its diagonal entry is only rounding error.
const SMALLEST_PIVOT: f64 = 1e-14;
