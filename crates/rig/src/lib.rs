//! Characters: skeletons, poses, clips, geometric skinning, and the files they come in.
//!
//! Inside Supple everything is metres, Y up, seconds. Units and axes are converted in [`formats`] and nowhere else.
#![deny(unsafe_code)]

pub mod bake;
pub mod character;
pub mod clip;
pub mod figures;
pub mod fit;
pub mod formats;
pub mod ik;
pub mod inspect;
pub mod keyed;
pub mod pose;
pub mod retarget;
pub mod rigging;
pub mod skeleton;
pub mod skinning;
mod stray_weights;
pub mod subdivision;
pub mod surprises;
pub mod transform;

pub use character::{Character, Part};
pub use clip::Clip;
pub use pose::Pose;
pub use skeleton::{Joint, Skeleton};
pub use transform::Transform;
