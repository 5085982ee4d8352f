//! The muscle atlas, and muscles that share out the layer between muscle surface and bones.

pub mod areas;
pub mod atlas;
pub mod fibres;
pub mod given_muscles;
pub mod muscles;
pub mod paths;
pub mod share;
pub mod volumes;
