//! Where on a body: sides, segments of limbs, regions.

pub mod frame;
pub mod limbs;
pub mod mirror;
pub mod regions;
pub mod segments;
pub mod zones;
