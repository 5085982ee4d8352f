//! Soft tissue from a skin mesh and a skeleton: the volumetric mesh and its coupling to the bones.
//!
//! [`Flesh::builder`] runs the construction of [3.2.1] one file a step: [`roles`] and [`body`] say what is flesh,
//! [`bone_graph`] and [`skeleton_volume`] make the volumetric skeleton, [`base_points`] and [`bone_surface`] shrink the
//! skin onto it, [`prisms`] and [`untangle`] fill the space between. [`sliding`] and [`holds`] find what the inner
//! surface follows, [`target_table`] lists it and [`targets`] moves it with a pose [3.2.2]; [`riders`] bring everything that is not simulated along. All of this happens on the
//! [`simulation_mesh`]; [`detail`] brings its motion to the full skin [3.2.4].
//!
//! Numbers in brackets are sections of the thesis named in `docs/references.md`.
#![forbid(unsafe_code)]

pub mod base_points;
pub mod body;
pub mod bone_graph;
pub mod bone_surface;
pub mod builder;
pub mod colliders;
pub mod collision_tets;
pub mod detail;
pub mod detail_cache;
pub mod error;
pub mod extreme_poses;
pub mod flesh;
pub mod follow;
pub mod frames;
pub mod heat_flow;
pub mod holds;
pub mod joint_use;
pub mod local_pairs;
pub mod masses;
pub mod measures;
pub mod normal_displacement;
pub mod posed_skin;
pub mod prisms;
pub mod regions;
pub mod riders;
pub mod roles;
pub mod settings;
pub mod simulation_mesh;
pub mod skeleton_volume;
pub mod sliding;
pub mod stretched;
pub mod surface;
pub mod target_table;
pub mod targets;
pub mod untangle;
pub mod upsample;
pub mod upsample_groups;
mod upsample_weights;

pub use builder::FleshBuilder;
pub use detail_cache::{CacheUse, DetailCache};
pub use error::FleshError;
pub use flesh::{BuildReport, Flesh};
pub use posed_skin::SkinWork;
pub use settings::Settings;
