//! What can be wrong with a file, in words a user can act on.

use std::path::PathBuf;

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The operating system said no.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An ending that no reader or writer claims.
    #[error("'.{extension}' is not a format Supple {verb}s; it {verb}s {known}")]
    UnknownFormat {
        /// The file's ending.
        extension: String,
        /// "read" or "write".
        verb: &'static str,
        /// The endings it does know.
        known: &'static str,
    },
    /// The file ends before its content does.
    #[error("the file ends too early: {reason}")]
    Truncated {
        /// What was being read.
        reason: String,
    },
    /// Text that does not follow the format's grammar.
    #[error("line {line}: {reason}")]
    Text {
        /// Line number, from 1.
        line: usize,
        /// What was expected and what was found.
        reason: String,
    },
    /// An element that refers to something that is not there, or holds what it must not.
    #[error("{element}: {reason}")]
    Invalid {
        /// Which element, in the file's own terms (`accessors[3]`, `face 12`).
        element: String,
        /// What is wrong with it and, where there is one, the way out.
        reason: String,
    },
    /// A number that is infinite or not a number.
    #[error("{element} is not a finite number")]
    NotFinite {
        /// Which element.
        element: String,
    },
    /// Joints that form no tree.
    #[error("the skeleton is broken: {0}")]
    Skeleton(#[from] crate::skeleton::SkeletonError),
    /// A file with nothing in it to work on.
    #[error("the file holds {0}")]
    Empty(&'static str),
    /// Something real that Supple does not do.
    #[error("{0}")]
    Unsupported(String),
    /// An error, with the file it came from.
    #[error("{path}: {source}", path = path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: Box<FormatError>,
    },
}

impl FormatError {
    /// An [`FormatError::Invalid`].
    pub fn invalid(element: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid {
            element: element.into(),
            reason: reason.into(),
        }
    }

    /// A [`FormatError::Text`].
    pub fn text(line: usize, reason: impl Into<String>) -> Self {
        Self::Text {
            line,
            reason: reason.into(),
        }
    }

    /// The same error, with the file named.
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
