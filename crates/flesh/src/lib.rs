//! Soft tissue from a skin mesh and a skeleton: the volumetric mesh and its coupling to the bones.
#![forbid(unsafe_code)]

pub mod base_points;
pub mod bone_graph;
pub mod bone_surface;
pub mod collision_tets;
pub mod error;
pub mod joint_use;
pub mod masses;
pub mod prisms;
pub mod skeleton_volume;
pub mod stretched;
pub mod surface;
pub mod untangle;

pub use error::FleshError;
