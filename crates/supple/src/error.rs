//! Errors of the facade.

use std::path::PathBuf;

use supple_anatomy::BodyError;
use supple_anatomy::growth::GrowthError;
use supple_anatomy::person::{PersonError, PersonFileError};
use supple_anatomy::scan::ScanError;
use supple_anatomy::template::TemplateError;
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
    /// No person could be made of a scan.
    #[error(transparent)]
    Person(#[from] PersonError),
    /// A person's file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    PersonFile {
        /// The file.
        path: PathBuf,
        /// The error in it.
        source: PersonFileError,
    },
    /// A person could not be read or written, in no file.
    #[error(transparent)]
    PersonBytes(#[from] PersonFileError),
    /// A template could not be read or written.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A character is no skin that anatomy can be built into.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// A body could not grow.
    #[error(transparent)]
    Growth(#[from] GrowthError),
    /// A file has no layers where they are needed.
    #[error("{path} has no layers of fat and muscle; persons, templates, @male and @female do", path = path.display())]
    NoLayers {
        /// The file.
        path: PathBuf,
    },
    /// Many scans, or the table of them.
    #[cfg(not(target_arch = "wasm32"))]
    #[error(transparent)]
    People(#[from] crate::people::PeopleError),
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

impl From<ScanError> for Error {
    fn from(error: ScanError) -> Self {
        Self::Person(error.into())
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
