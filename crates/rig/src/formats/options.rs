//! What a caller may insist on when a file is read.

use crate::character::Up;

/// Overrides for what a file leaves open or gets wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// Length of one file unit \[m\]; `None`: as declared, or guessed where the format says nothing.
    pub metres_per_unit: Option<f32>,
    /// The file's up axis; `None`: as declared or guessed.
    pub up: Option<Up>,
}
