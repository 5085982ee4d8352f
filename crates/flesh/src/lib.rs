//! Soft tissue from a skin mesh and a skeleton: the volumetric mesh and its coupling to the bones.
//!
//! [`Flesh::builder`] runs the construction of [3.2.1], one module per step:
//!
//! 1. [`body`] welds the parts, and [`shell_kinds`] decides which shells are flesh.
//! 2. [`simulation_mesh`] chooses the vertices to simulate.
//! 3. [`bone_graph`] and [`skeleton_volume`] build the volumetric skeleton.
//! 4. [`base_points`] and [`bone_surface`] shrink the skin onto it.
//! 5. [`prisms`] and [`untangle`] fill the space between with tets.
//!
//! [`sliding`] and [`holds`] decide what the bone surface follows [3.2.2]. [`target_table`] lists it, and [`targets`]
//! evaluates it for a pose. After a step, [`detail`] upsamples the motion to the full skin [3.2.4], and [`rides`] move
//! what is not simulated.
//!
//! Numbers in brackets are sections of the thesis named in `docs/references.md`.
#![forbid(unsafe_code)]

mod assemble;
pub mod base_points;
pub mod body;
pub mod bone_graph;
pub mod bone_surface;
pub mod builder;
pub mod colliders;
pub mod collision_tets;
pub mod covers;
pub mod detail;
pub mod detail_cache;
pub mod error;
pub mod extreme_poses;
pub mod flesh;
pub mod follow;
pub mod frames;
pub mod hanging_joints;
pub mod heat_flow;
pub mod holds;
pub mod inlays;
pub mod joint_use;
pub mod layered_prisms;
pub mod layers;
pub mod local_pairs;
pub mod masses;
pub mod measures;
pub mod normal_displacement;
pub mod posed_skin;
pub mod prisms;
pub mod regions;
pub mod rest_skin;
pub mod riders;
pub mod rides;
pub mod rigid_pieces;
pub mod settings;
pub mod shell_kinds;
pub mod shell_measures;
pub mod simulation_mesh;
pub mod skeleton_volume;
pub mod sliding;
pub mod sliding_core;
pub mod stretched;
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
pub use layers::GivenLayers;
pub use posed_skin::SkinWork;
pub use settings::Settings;
