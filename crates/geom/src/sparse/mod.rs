//! sparse
