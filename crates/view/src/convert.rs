//! What the browser's build cannot read, read here: FBX to GLB.

use std::path::Path;

use supple::rig::formats::{self, FormatError, ReadOptions, gltf};

/// An FBX as GLB.
pub fn fbx_to_glb(bytes: &[u8]) -> Result<Vec<u8>, FormatError> {
    let nothing = |name: &str| {
        Err(FormatError::Unsupported(format!(
            "it names the file '{name}'"
        )))
    };
    let character = formats::load_bytes("dropped.fbx", bytes, &nothing, &ReadOptions::default())?;
    gltf::write_glb(&character)
}

/// A file for the page: as it is where the page reads it, else as GLB with everything it names inside.
pub fn for_page(path: &Path) -> Result<(String, Vec<u8>), FormatError> {
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
        // These name other files, or are read natively only.
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
            Ok((name, std::fs::read(path).map_err(io)?))
        }
    }
}
