//! Soft tissue from a skin mesh and a skeleton: the volumetric mesh and its coupling to the bones.
//!
//! [`Flesh::builder`] runs the construction of [3.2.1], one module per step:
//!
//! 1. [`body`](construction::body) welds the parts, and [`shell_kinds`](shells::shell_kinds) decides which shells are flesh.
//! 2. [`simulation_mesh`](construction::simulation_mesh) chooses the vertices to simulate.
//! 3. [`bone_graph`](construction::bone_graph) and [`skeleton_volume`](construction::skeleton_volume) build the volumetric skeleton.
//! 4. [`base_points`](construction::base_points) and [`bone_surface`](construction::bone_surface) shrink the skin onto it.
//! 5. [`prisms`](construction::prisms) and [`untangle`](construction::untangle) fill the space between with tets.
//!
//! [`sliding`](motion::sliding) and [`holds`](motion::holds) decide what the bone surface follows [3.2.2]. [`target_table`](motion::target_table) lists it, and [`targets`](motion::targets)
//! evaluates it for a pose. After a step, [`detail`](upsampling::detail) upsamples the motion to the full skin [3.2.4], and [`rides`](shells::rides) move
//! what is not simulated.
//!
//! Numbers in brackets are sections of the thesis named in `docs/references.md`.
#![forbid(unsafe_code)]

pub mod builder;
pub mod construction;
pub mod error;
pub mod flesh;
pub mod motion;
pub mod settings;
pub mod shells;
pub mod upsampling;

pub use builder::FleshBuilder;
pub use construction::layers::GivenLayers;
pub use error::FleshError;
pub use flesh::{BuildReport, Flesh};
pub use settings::Settings;
pub use upsampling::detail_cache::{CacheUse, DetailCache};
pub use upsampling::posed_skin::SkinWork;
