//! A layered template from a rigged skin and placed bones [4.2.2], one file a step.

pub mod correspondence;
pub mod enclosure;
pub mod fps_shrinking;
pub mod limbs;
pub mod muscle_surface;
pub mod skeleton_surface;
mod slice_hulls;
pub mod wrap;
mod wrap_smoothing;
