//! Everything that can go wrong, with its cause.

use supple_flesh::FleshError;
use supple_rig::bake::BakeError;
use supple_rig::formats::FormatError;
use supple_rig::skinning::WeightsError;
use supple_sim::SolveError;

use crate::clips::MotionError;
use crate::embedded::ClipError;
use crate::skin::TooLong;
use crate::tissue::TissueError;

/// Why something could not be done. Every variant holds the typed error of the module it comes from, so that a program can
/// tell a file that is missing from one that is broken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A clip was not found, or does not fit the character.
    #[error(transparent)]
    Clip(#[from] MotionError),
    /// A character could not be made soft or moved.
    #[error(transparent)]
    Tissue(#[from] TissueError),
    /// A motion could not be baked.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// A motion is longer than memory.
    #[error("the motion is too long: {0}")]
    TooLong(#[from] TooLong),
    /// Weights could not be computed for a part that has none.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// A scene could not be played.
    #[cfg(not(target_arch = "wasm32"))]
    #[error(transparent)]
    Scene(#[from] crate::scene_file::SceneError),
    /// A crowd could not be made or moved.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Crowd(#[from] crate::crowd::CrowdError),
}

impl From<FleshError> for Error {
    fn from(error: FleshError) -> Self {
        Self::Tissue(error.into())
    }
}

impl From<SolveError> for Error {
    fn from(error: SolveError) -> Self {
        Self::Tissue(error.into())
    }
}

impl From<ClipError> for Error {
    fn from(error: ClipError) -> Self {
        Self::Clip(error.into())
    }
}
