//! Measurements, printed by `supple bench`: programs, never timed tests.

pub mod detail;
pub mod obj;
pub mod tissue;
