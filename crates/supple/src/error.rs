//! Errors of the facade.

use supple_flesh::FleshError;
use supple_rig::bake::BakeError;
use supple_rig::formats::FormatError;
use supple_rig::skinning::WeightsError;
use supple_sim::SolveError;

use crate::clips::MotionError;
use crate::embedded::ClipError;
use crate::skin::TooLong;
use crate::tissue::TissueError;

/// An error. Every variant holds the typed error of the module it comes from, so that a program can tell a missing file from an
/// invalid one.
///
/// Its `Debug` text is the message for people, because that is what Rust prints for an error that `main` returns.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A clip was not found, or cannot be played on the character.
    #[error(transparent)]
    Clip(#[from] MotionError),
    /// Tissue could not be built or moved.
    #[error(transparent)]
    Tissue(#[from] TissueError),
    /// A motion could not be baked.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// A motion does not fit into memory.
    #[error("the motion is too long: {0}")]
    TooLong(#[from] TooLong),
    /// Weights could not be computed for a part that has none.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// A scene could not be played.
    #[cfg(not(target_arch = "wasm32"))]
    #[error(transparent)]
    Scene(#[from] crate::scene_file::SceneError),
    /// A crowd could not be built or stepped.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Crowd(#[from] crate::crowd::CrowdError),
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl From<FleshError> for Error {
    fn from(error: FleshError) -> Self {
        Self::Tissue(error.into())
    }
}

#[cfg(feature = "gpu")]
impl From<supple_gpu::GpuError> for Error {
    fn from(error: supple_gpu::GpuError) -> Self {
        Self::Crowd(error.into())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What `main` prints when it returns an error.
    #[test]
    fn errors_print_as_text() {
        let error = Error::from(FormatError::Empty("nothing"));
        assert_eq!(format!("{error:?}"), error.to_string());
    }
}
