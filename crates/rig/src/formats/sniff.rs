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
    if let Some(what) = other_kind(bytes) {
        return Err(FormatError::Unsupported(format!(
            "this is {what}, whatever its name says; Supple reads {SUPPORTED_EXTENSIONS}"
        )));
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

/// What a file is that people take for a character, by its first bytes.
fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 10] = [
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"RIFF", "a WebP image, a sound or a film"),
        (
            b"PK\x03\x04",
            "a ZIP archive: unpack it, and name the model in it",
        ),
        (b"\x1f\x8b", "a gzip archive: unpack it first"),
        (
            b"7z\xbc\xaf",
            "a 7z archive: unpack it, and name the model in it",
        ),
        (b"BLENDER", "a Blender file: export it as glTF"),
        (b"%PDF", "a PDF document"),
        (b"<!DOCTYPE", "a web page: the download has failed"),
    ];
    let starts = |word: &[u8]| {
        let start = bytes.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let found = KINDS.iter().find(|(start, _)| starts(start));
    found.map(|&(_, what)| what)
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
        assert!(
            error.contains("Blender") && error.contains("fbx"),
            "{error}"
        );
        let error = sniff("a.max", b"\xd0\xcf").unwrap_err().to_string();
        assert!(error.contains(".max") && error.contains("fbx"), "{error}");
        assert!(sniff("a.obj", b"").is_err());
        let error = sniff("a.glb", b"\x89PNG\r\n\x1a\n")
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("this is a PNG image"), "{error}");
        assert!(sniff("a.vrm", b"<!doctype html>").is_err());
    }
}
