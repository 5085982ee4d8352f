//! adjacency
