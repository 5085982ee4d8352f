//! Layered people of many scans: in parallel, resumable, with a table and a summary.
//!
//! [`tasks`] lists the scans of a folder or a list, [`Batch::run`] works on them, and [`people_csv`] and [`Summary`] tell what came out.
//! Every scan gets `NAME.person` and, after it, `NAME.json`; files are renamed into place, so a scan is done when
//! its `.json` is there. The same scans give the same files, whatever the number of threads and stops.

mod batch;
mod list;
mod record;
mod summary;
mod table;

pub use batch::{Batch, Event};
pub use list::{Task, tasks};
pub use record::Record;
pub use summary::{Compared, Summary};
pub use table::people_csv;

use std::path::PathBuf;

/// Why people cannot be worked on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeopleError {
    /// The list or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// There are no scans.
    #[error(
        "{} holds no scans; they end in .ply, .obj, .stl, .off, .glb, .gltf, .fbx, .xyz, .pts or .asc",
        path.display()
    )]
    NoScans {
        /// The file or folder.
        path: PathBuf,
    },
    /// A line of the list cannot be read.
    #[error("{}, line {line}: {reason}", path.display())]
    Line {
        /// The list.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A result cannot be written.
    #[error(transparent)]
    Write(#[from] supple_rig::formats::FormatError),
    /// A person cannot be written.
    #[error(transparent)]
    Person(#[from] supple_anatomy::person::PersonFileError),
    /// The embedded templates cannot be prepared.
    #[error(transparent)]
    Prepare(#[from] supple_anatomy::person::PersonError),
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
}
