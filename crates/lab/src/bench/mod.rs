//! Measurements for `supple bench`. Times are never asserted in tests.

pub mod contact;
pub mod detail;
pub mod gpu;
pub mod gpu_contact;
pub mod held;
pub mod jump;
pub mod obj;
pub mod tissue;
