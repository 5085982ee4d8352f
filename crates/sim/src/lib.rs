//! Projective dynamics: soft bodies driven by kinematic targets.
//!
//! Independent of skeletons and files. A [`Model`] is immutable once built, a [`State`] holds everything that changes
//! over time, and a [`Backend`] takes one step:
//!
//! ```
//! use supple_sim::{Backend, ModelBuilder, Reference, Settings, State, shapes};
//!
//! let bar = shapes::bar([4, 1, 1], 0.1);
//! let mut builder = ModelBuilder::new();
//! for &p in &bar.positions {
//!     builder.vertex(p, p.x == 0.0); // one end is held
//! }
//! for &tet in &bar.tets {
//!     builder.tet(tet, 2_000.0);
//! }
//! builder.distribute_mass(0.004);
//! let model = builder.build()?;
//!
//! let settings = Settings { gravity: glam::Vec3::new(0.0, -9.81, 0.0), ..Settings::default() };
//! let targets = model.rest_targets();
//! let mut state = State::at_rest(&model);
//! Reference::new().step(&model, &settings, &targets, &mut state)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Section and equation numbers in brackets are those of the thesis named in `docs/references.md`; [`units`] describes
//! how its unit system maps to metres, seconds and kilograms.
#![deny(unsafe_code)]

pub mod advance;
pub mod assemble;
pub mod backend;
pub mod builder;
pub mod calm;
mod carrier;
pub mod conformance;
pub mod constraints;
pub mod contact;
pub mod cpu;
pub mod divergence;
pub mod energy;
pub mod equilibrium;
pub mod follow;
pub mod inertia;
mod lbfgs;
pub mod material;
pub mod merge;
pub mod model;
pub mod quality;
pub mod reference;
pub mod settings;
pub mod shapes;
pub mod start;
pub mod state;
pub mod substeps;
pub mod targets;
pub mod units;
pub mod weights;

pub use advance::{Advance, advance};
pub use assemble::{System, assemble};
pub use backend::{Backend, ContactReport, SolveError, StepReport};
pub use builder::{BuildError, ModelBuilder};
pub use contact::{Collider, ContactMode, ContactSettings, ContactSurface};
pub use cpu::CpuBackend;
pub use equilibrium::{Equilibrium, EquilibriumReport};
pub use material::{Material, MaterialFactors};
pub use merge::Merged;
pub use model::Model;
pub use quality::{Quality, measure, measure_where};
pub use reference::Reference;
pub use settings::{Decompose, Fit, Mode, Rotations, Settings, Strain};
pub use state::State;
pub use targets::Targets;
pub use weights::Weights;
