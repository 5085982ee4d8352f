//! A watertight surface round the bones [4.2.2].

pub mod dense;
pub mod enclosure;
pub mod grid;
pub(crate) mod slice_hulls;
pub mod wrap;
pub(crate) mod wrap_smoothing;
