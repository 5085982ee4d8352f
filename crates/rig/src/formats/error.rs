//! Errors of reading and writing files.

use std::path::PathBuf;

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// An operating system error.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file extension without a reader or writer.
    #[error("Supple does not {verb} '.{extension}' files; it {verb}s {known}")]
    UnknownFormat {
        /// The file extension.
        extension: String,
        /// "read" or "write".
        verb: &'static str,
        /// The supported extensions.
        known: &'static str,
    },
    /// The file is truncated.
    #[error("the file ends too early: {reason}")]
    Truncated {
        /// What is missing.
        reason: String,
    },
    /// A syntax error in a text format.
    #[error("line {line}: {reason}")]
    Text {
        /// Line number, from 1.
        line: usize,
        /// What was expected and what was found.
        reason: String,
    },
    /// An element with an invalid reference or value.
    #[error("{element}: {reason}")]
    Invalid {
        /// The element in the file's own terms (`accessors[3]`, `face 12`).
        element: String,
        /// What is wrong and, if possible, how to fix it.
        reason: String,
    },
    /// A number that is infinite or not a number.
    #[error("{element} is not a finite number")]
    NotFinite {
        /// The element.
        element: String,
    },
    /// Joints that do not form a tree.
    #[error("the skeleton is broken: {0}")]
    Skeleton(#[from] crate::skeleton::SkeletonError),
    /// The file lacks the required content.
    #[error("the file contains {0}")]
    Empty(&'static str),
    /// A feature that Supple does not support.
    #[error("{0}")]
    Unsupported(String),
    /// An error, with the path of the file it occurred in.
    #[error("{path}: {source}", path = path.display())]
    InFile {
        /// Path of the file.
        path: PathBuf,
        /// The error.
        source: Box<FormatError>,
    },
}

impl FormatError {
    /// Makes a [`FormatError::Invalid`].
    pub fn invalid(element: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid {
            element: element.into(),
            reason: reason.into(),
        }
    }

    /// Makes a [`FormatError::Text`].
    pub fn text(line: usize, reason: impl Into<String>) -> Self {
        Self::Text {
            line,
            reason: reason.into(),
        }
    }

    /// Adds the path of the file to the error.
    pub fn in_file(self, path: impl Into<PathBuf>) -> Self {
        match self {
            already @ (Self::InFile { .. } | Self::Io { .. }) => already,
            source => Self::InFile {
                path: path.into(),
                source: Box::new(source),
            },
        }
    }
}
