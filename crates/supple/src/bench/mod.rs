//! Measurements, printed by `supple bench`: programs, never timed tests.

pub mod contact;
pub mod detail;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod obj;
pub mod tissue;
