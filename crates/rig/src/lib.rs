//! Characters: skeletons, poses, clips, geometric skinning, and file formats.
//!
//! All data inside Supple is in metres, Y up, seconds. Only [`formats`] converts units and axes.
#![deny(unsafe_code)]

pub mod bake;
pub mod character;
pub mod clip;
pub mod figures;
pub mod formats;
pub mod ik;
pub mod inspect;
pub mod joint_lookup;
pub mod keyed;
pub mod markers;
pub mod motion_warnings;
pub mod pose;
pub mod problem_groups;
pub mod retarget;
pub mod rigging;
mod same_names;
pub mod same_skeleton;
pub mod skeleton;
pub mod skeleton_fit;
pub mod skeleton_pose;
pub mod skeleton_templates;
pub mod skinning;
mod stray_weights;
pub mod subdivision;
pub mod transform;

pub use character::{Character, Part};
pub use clip::Clip;
pub use pose::Pose;
pub use skeleton::{Joint, Skeleton};
pub use transform::Transform;
