//! Supple makes characters soft: load a character, move it, write it back.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use supple::bake::{CorrectiveOptions, bake_correctives};
//! use supple::{embedded, rig::skinning::Method, skin};
//!
//! let character = embedded::body(embedded::Body::Female)?;
//! let clip = embedded::clip("squat", &character)?;
//! let span = skin::Span { from: 0.0, to: 0.5, fps: 10.0 };
//! let motion = skin::skin(&character, &clip, Method::Lbs, span, &mut |_| ());
//! let (glb, report) = bake_correctives(&character, &motion, &CorrectiveOptions::default())?;
//! assert!(report.bound_met && !glb.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! Inside Supple everything is metres, Y up, seconds. The crates behind this one are re-exported: [`geom`] for meshes,
//! [`rig`] for skeletons, clips, skinning and files, [`picture`] for drawing.
#![forbid(unsafe_code)]

#[cfg(not(target_arch = "wasm32"))]
pub mod bench;
pub mod embedded;
pub mod export;
pub mod info;
pub mod load;
pub mod motion;
pub mod sheet;
pub mod skin;

pub use glam;
pub use supple_geom as geom;
pub use supple_picture as picture;
pub use supple_rig as rig;
pub use supple_rig::bake;
pub use supple_rig::{Character, Clip, Pose, Skeleton};
