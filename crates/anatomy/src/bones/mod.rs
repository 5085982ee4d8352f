//! Bones: reading them, mending them, and placing them in a body.

mod articulations;
pub mod asset;
mod centres;
mod fit;
mod flaws;
pub mod landmarks;
mod limbs;
mod maps;
pub mod names;
mod outer;
mod pairs;
pub mod place;
mod push;
pub mod read;
pub mod report;
mod residuals;
pub mod rig;
mod segments;
mod sites;
mod targets;
mod tidy;

pub use asset::embedded_bones;
pub use landmarks::Landmark;
pub use place::{PlacedBones, place_bones};
pub use read::{BoneError, BoneNote, BoneSet, bone_set, read_bone_files, read_bones};
pub use report::{BoneRegion, Outside, PlacementReport, bone_region};
pub use rig::{BoneWeights, bone_motion, bone_weights};
