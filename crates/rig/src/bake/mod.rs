//! Baking: per-vertex motion in formats that other programs can play.
//!
//! | function | output | use |
//! |---|---|---|
//! | [`bake_correctives`] | the file's own skin and skeleton motion, and a few corrective morph targets | engines, viewers |
//! | [`bake_frames`] | one morph target per frame, the skeleton at rest | viewers without skinning, short clips |
//! | [`write_pc2`], [`write_mdd`] | point caches in the file's vertex order | Blender, Maya, Houdini |
//! | [`sequence`] | one mesh file per frame | everything else |
//!
//! Morph targets move normals and tangents as well as positions. Each bake returns its largest and RMS error against the given
//! motion, measured on the written file.

mod correctives;
mod directions;
mod error;
mod frames;
mod mode_count;
mod motion;
mod per_frame;
mod point_cache;
mod principal;
mod reevaluate;
mod residual;
mod sequence;
mod targets;

pub use correctives::{CorrectiveOptions, bake_correctives, bake_correctives_told};
pub use error::BakeError;
pub use frames::{Frame, FrameSource, Frames};
pub use motion::{BakeReport, ErrorSum, Errors, Motion};
pub use per_frame::bake_frames;
pub use point_cache::{PointCache, read_mdd, read_pc2, write_mdd, write_pc2};
pub use reevaluate::playback_errors;
pub use sequence::sequence;
