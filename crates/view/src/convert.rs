//! Converts files that the page cannot read itself: FBX to GLB.

use std::path::Path;

use supple::rig::formats::{self, FormatError, ReadOptions, gltf};

/// Converts an FBX to GLB.
pub fn fbx_to_glb(bytes: &[u8]) -> Result<Vec<u8>, FormatError> {
    let nothing = |name: &str| {
        Err(FormatError::Unsupported(format!(
            "it refers to the file '{name}'"
        )))
    };
    let character = formats::load_bytes("dropped.fbx", bytes, &nothing, &ReadOptions::default())?;
    gltf::write_glb(&character)
}

/// Prepares a file for the page: unchanged if the page can read it, else as a self-contained GLB.
pub fn for_page(path: &Path) -> Result<(String, Vec<u8>), supple::Error> {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let ending = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    match ending.as_str() {
        // These refer to other files, or can be read natively only.
        "fbx" | "gltf" | "ini" => {
            let character = formats::load(path, &ReadOptions::default())?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            Ok((format!("{stem}.glb"), gltf::write_glb(&character)?))
        }
        _ => {
            let io = |source| FormatError::Io {
                path: path.to_owned(),
                source,
            };
            if supple::person::is_person(path) {
                // The page reads it too; what is wrong with it is told here, before a browser opens.
                supple::load(path)?;
            }
            Ok((name, std::fs::read(path).map_err(io)?))
        }
    }
}
