//! Errors shown on the page.

use supple::anatomy::person::PersonFileError;
use supple::bake::BakeError;
use supple::clips::MotionError;
use supple::embedded::ClipError;
use supple::flesh::FleshError;
use supple::rig::formats::FormatError;
use supple::rig::retarget::RetargetError;
use supple::rig::skeleton::SkeletonError;
use supple::rig::skinning::WeightsError;
use supple::skin::TooLong;
use supple::tissue::TissueError;

/// An error shown on the page.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A file that cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Tissue that cannot be built or moved.
    #[error(transparent)]
    Tissue(#[from] TissueError),
    /// Settings that cannot be used.
    #[error(transparent)]
    Flesh(#[from] FleshError),
    /// A clip that cannot be played.
    #[error(transparent)]
    Clip(#[from] ClipError),
    /// A motion that cannot be put on this character.
    #[error(transparent)]
    Motion(#[from] MotionError),
    /// A motion that cannot be retargeted to this character.
    #[error("the motion cannot be retargeted to this character: {0}")]
    Retarget(#[from] RetargetError),
    /// A motion that cannot be written.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// A motion that needs too much memory.
    #[error("the clip is too long to export: {0}")]
    TooLong(#[from] TooLong),
    /// Weights that cannot be computed.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Joints that do not form a skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// A person file that cannot be read.
    #[error(transparent)]
    Person(#[from] PersonFileError),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl From<serde_json::Error> for StageError {
    fn from(error: serde_json::Error) -> Self {
        Self::Other(error.to_string())
    }
}
