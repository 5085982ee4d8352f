//! Format detection.

use super::FormatError;

/// Supported extensions, for messages.
const SUPPORTED_EXTENSIONS: &str =
    "glb, gltf, vrm, fbx, obj, ply, off, stl, xyz, bvh, skel, anim, ini";

/// A supported format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Gltf,
    Fbx,
    Obj,
    Ply,
    Off,
    Stl,
    Xyz,
    Bvh,
    Skel,
    Anim,
    Ini,
}

/// Detects the format by content if that is unambiguous, else by extension.
pub(super) fn sniff(name: &str, bytes: &[u8]) -> Result<Format, FormatError> {
    if bytes.is_empty() {
        return Err(FormatError::Empty("nothing"));
    }
    let start = bytes.trim_ascii_start();
    let begins = |word: &[u8]| {
        let start = start.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    if begins(b"HIERARCHY") {
        return Ok(Format::Bvh);
    }
    if begins(b"glTF") {
        return Ok(Format::Gltf);
    }
    if begins(b"Kaydara FBX Binary") || begins(b"; FBX") {
        return Ok(Format::Fbx);
    }
    if begins(b"ply\n") || begins(b"ply\r") {
        return Ok(Format::Ply);
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "glb" | "gltf" | "vrm" => Ok(Format::Gltf),
        "fbx" => Ok(Format::Fbx),
        "obj" => Ok(Format::Obj),
        "ply" => Ok(Format::Ply),
        "off" | "coff" | "noff" => Ok(Format::Off),
        "stl" => Ok(Format::Stl),
        "xyz" | "pts" | "asc" | "csv" => Ok(Format::Xyz),
        "bvh" => Ok(Format::Bvh),
        "skel" => Ok(Format::Skel),
        "anim" => Ok(Format::Anim),
        "ini" => Ok(Format::Ini),
        _ if begins(b"OFF") || begins(b"COFF") => Ok(Format::Off),
        _ if begins(b"solid") => Ok(Format::Stl),
        _ => Err(FormatError::UnknownFormat {
            extension: extension.to_owned(),
            verb: "read",
            known: SUPPORTED_EXTENSIONS,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_before_ending() {
        assert_eq!(sniff("a.obj", b"HIERARCHY\n").unwrap(), Format::Bvh);
        assert_eq!(sniff("a", b"glTF....").unwrap(), Format::Gltf);
        assert_eq!(sniff("a.OBJ", b"# x").unwrap(), Format::Obj);
        assert_eq!(sniff("a.stl", b"solid x").unwrap(), Format::Stl);
        let error = sniff("a.blend", b"BLENDER").unwrap_err().to_string();
        assert!(error.contains(".blend") && error.contains("fbx"), "{error}");
        assert!(sniff("a.obj", b"").is_err());
    }
}
