//! Errors of baking.

use crate::formats::FormatError;

/// Why a motion could not be baked.
#[derive(Debug, thiserror::Error)]
pub enum BakeError {
    /// The motion was made for another character.
    #[error("the motion does not match the character: {0}")]
    Mismatch(String),
    /// A vertex position that is infinite or not a number.
    #[error(
        "frame {frame}: vertex {vertex} of part {part} has no finite position; the simulation may be unstable"
    )]
    NotFinite {
        /// Frame index.
        frame: usize,
        /// Part index.
        part: usize,
        /// Vertex index within the part.
        vertex: usize,
    },
    /// Correctives that miss their bound.
    #[error(
        "{targets} corrective morph targets leave an error of {error_mm:.2} mm, more than the bound of {bound_mm} mm"
    )]
    Bound {
        /// The bound \[mm\].
        bound_mm: f32,
        /// Largest distance to the motion \[mm\].
        error_mm: f32,
        /// Morph targets of the mesh with the most.
        targets: usize,
    },
    /// The file could not be written or read back.
    #[error(transparent)]
    Format(#[from] FormatError),
}
