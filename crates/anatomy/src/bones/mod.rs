//! Bones: reading them, mending them, and placing them in a body.

mod articulations;
mod centres;
mod fit;
mod flaws;
mod maps;
pub mod names;
mod outer;
pub mod place;
pub mod read;
pub mod report;
mod segments;
mod sites;
mod targets;
mod tidy;

pub use place::{PlacedBones, place_bones};
pub use read::{BoneError, BoneNote, BoneSet, bone_set, read_bones};
pub use report::{BoneRegion, Outside, PlacementReport, bone_region};

/// The embedded bones.
pub fn embedded_bones() -> Result<BoneSet, BoneError> {
    read_bones(std::path::Path::new("/work/shared/data/skeleton"))
}
