//! A folder of meshes, one thing a file: bones, muscles.

use std::path::{Path, PathBuf};

use supple_geom::TriMesh;
use supple_rig::character::Up;
use supple_rig::formats::{FormatError, ReadOptions, load};

/// Extensions of mesh files.
const EXTENSIONS: [&str; 5] = ["ply", "obj", "off", "stl", "glb"];

/// Why a folder of meshes cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshFolderError {
    /// The folder cannot be listed.
    #[error("cannot read the folder {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// The meshes of a folder as they are in the files, by file name without its extension, sorted \[units of the files\].
pub fn read_mesh_folder(folder: &Path) -> Result<Vec<(String, TriMesh)>, MeshFolderError> {
    let in_folder = |source| MeshFolderError::Folder {
        path: folder.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(in_folder)? {
        let path = entry.map_err(in_folder)?.path();
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        if EXTENSIONS.iter().any(|known| extension == *known) {
            files.push(path);
        }
    }
    files.sort();
    let as_written = ReadOptions {
        metres_per_unit: Some(1.0),
        up: Some(Up::Y),
    };
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let character = load(&path, &as_written)?;
        let mesh = TriMesh::merged(character.parts.iter().map(|part| &part.mesh));
        Ok((name.into_owned(), mesh))
    };
    files.into_iter().map(read).collect()
}
