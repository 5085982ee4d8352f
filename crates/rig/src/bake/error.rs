//! What can keep a motion from being baked.

use crate::formats::FormatError;

/// Why a motion could not be baked.
#[derive(Debug, thiserror::Error)]
pub enum BakeError {
    /// The motion is not one of this character.
    #[error("the motion does not fit the character: {0}")]
    Mismatch(String),
    /// A vertex that is nowhere.
    #[error(
        "frame {frame}: vertex {vertex} of part {part} is not at a finite position; was the simulation unstable?"
    )]
    NotFinite {
        /// Frame index.
        frame: usize,
        /// Part index.
        part: usize,
        /// Vertex index within the part.
        vertex: usize,
    },
    /// The file could not be written or read back.
    #[error(transparent)]
    Format(#[from] FormatError),
}
