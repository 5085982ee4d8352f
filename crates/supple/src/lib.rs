//! Supple makes characters soft: load a character, move it, write it back.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use supple::bake::{CorrectiveOptions, bake_correctives};
//! use supple::{embedded, skin::Span, tissue};
//!
//! let character = embedded::body(embedded::Body::Female)?;
//! let clip = embedded::clip("squat", &character)?;
//! let mut body = tissue::SoftBody::new(&character, Default::default())?;
//! let span = Span { from: 0.0, to: 0.2, fps: 10.0 };
//! let motion = tissue::simulate(&mut body, &character, &clip, span, &mut |_| ())?;
//! let (glb, report) = bake_correctives(&character, &motion, &CorrectiveOptions::default())?;
//! assert!(report.bound_met && !glb.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! Inside Supple everything is metres, Y up, seconds, kilograms. The crates behind this one are re-exported: [`geom`] for
//! meshes, [`rig`] for skeletons, clips, skinning and files, [`flesh`] and [`sim`] for tissue, [`picture`] for drawing.
#![forbid(unsafe_code)]

pub mod backend;
#[cfg(not(target_arch = "wasm32"))]
pub mod bench;
#[cfg(not(target_arch = "wasm32"))]
pub mod compare;
pub mod compare_contact;
#[cfg(feature = "gpu")]
pub mod crowd;
pub mod embedded;
pub mod export;
pub mod faces;
pub mod finer;
pub mod info;
pub mod inside;
pub mod load;
pub mod motion;
pub mod rigged;
pub mod scene;
#[cfg(not(target_arch = "wasm32"))]
pub mod scene_file;
pub mod sheet;
pub mod skin;
pub mod things;
pub mod tissue;
pub mod upsampling;

pub use glam;
pub use supple_flesh as flesh;
pub use supple_geom as geom;
#[cfg(feature = "gpu")]
pub use supple_gpu as gpu;
pub use supple_picture as picture;
pub use supple_rig as rig;
pub use supple_rig::bake;
pub use supple_rig::{Character, Clip, Pose, Skeleton};
pub use supple_sim as sim;
