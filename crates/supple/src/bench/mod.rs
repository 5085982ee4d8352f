//! Measurements, printed by `supple bench`: programs, never timed tests.

#[cfg(feature = "gpu")]
pub mod gpu;
pub mod obj;
pub mod tissue;
