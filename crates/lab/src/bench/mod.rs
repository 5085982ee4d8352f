//! Measurements, printed by `supple bench`: programs, never timed tests.

pub mod contact;
pub mod detail;
pub mod gpu;
pub mod gpu_contact;
pub mod held;
pub mod jump;
pub mod obj;
pub mod tissue;
