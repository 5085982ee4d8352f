//! Writes a character in the format of the file extension.

use std::path::Path;

use super::{FormatError, gltf, obj, off, ply, save, skel, stl, write_bvh};
use crate::Character;

/// Supported extensions, for messages.
const SUPPORTED_EXTENSIONS: &str = "glb, obj, ply, off, stl, bvh, skel";

/// Frame rate of motions written as BVH.
const BVH_RATE: f32 = 60.0;

/// Writes a character. `glb` holds everything; `obj`, `ply`, `off` and `stl` the rest mesh; `bvh` the skeleton and first clip;
/// `skel` the joints.
pub fn save_character(path: &Path, character: &Character) -> Result<(), FormatError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let extension = extension.to_ascii_lowercase();
    let bytes = encode(&extension, character).map_err(|error| error.in_file(path))?;
    save(path, &bytes)
}

fn encode(extension: &str, character: &Character) -> Result<Vec<u8>, FormatError> {
    match extension {
        "obj" | "ply" | "off" | "stl" if character.parts.is_empty() => {
            return Err(FormatError::Empty("no mesh to write"));
        }
        "bvh" | "skel" if character.skeleton.is_empty() => {
            return Err(FormatError::Empty("no skeleton to write"));
        }
        _ => {}
    }
    Ok(match extension {
        "glb" | "vrm" => gltf::write_glb(character)?,
        "obj" => obj::write_obj(character).into_bytes(),
        "ply" => ply::write_ply(character),
        "off" => off::write_off(character).into_bytes(),
        "stl" => stl::write_stl(character),
        "bvh" => write_bvh(&character.skeleton, character.clips.first(), BVH_RATE).into_bytes(),
        "skel" => skel::write_skel(&character.skeleton).into_bytes(),
        _ => {
            return Err(FormatError::UnknownFormat {
                extension: extension.to_owned(),
                verb: "write",
                known: SUPPORTED_EXTENSIONS,
            });
        }
    })
}
