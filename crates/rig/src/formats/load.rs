//! Loading: detects the format and combines files that belong together.

use std::path::Path;
use std::sync::Arc;

use super::checks::note;
use super::ini::{Pieces, parse_ini};
use super::sniff::{Format, sniff};
use super::units::{Content, normalise_units};
use super::{FormatError, ReadOptions, Source, anim, bvh, gltf, obj, off, ply, skel, stl, xyz};
use crate::Character;

/// Returns the content of a file referenced by another one (buffer, material library, texture, skeleton), by name.
pub type Resolver<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, FormatError>;

/// Largest file that is read: larger ones do not fit 32-bit indices.
const MAX_FILE_SIZE: u64 = 1 << 32;

/// Reads a character, mesh, skeleton or motion from any supported format, in metres and Y up.
pub fn load(path: &Path, options: &ReadOptions) -> Result<Character, FormatError> {
    let bytes = read_file(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new(""));
    let resolve = |name: &str| read_file(&beside(folder, name)?);
    load_bytes(&name, &bytes, &resolve, options).map_err(|error| error.in_file(path))
}

/// Like [`load`], from memory. `name` provides the extension and the character's name; `resolve` returns referenced files.
pub fn load_bytes(
    name: &str,
    bytes: &[u8],
    resolve: Resolver,
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut character = match sniff(name, bytes)? {
        Format::Gltf => {
            gltf::read_gltf(bytes, &mut |name| resolve(name).map_err(io_error), options)
        }
        Format::Fbx => read_fbx(bytes, resolve, options),
        Format::Obj => obj::read_obj(bytes, resolve, options),
        Format::Ply => ply::read_ply(bytes, options),
        Format::Off => off::read_off(bytes, options),
        Format::Stl => stl::read_stl(bytes, options),
        Format::Xyz => xyz::read_xyz(bytes, options),
        Format::Bvh => bvh::read_bvh(bytes, options),
        Format::Skel => skel::read_skel(bytes, options),
        Format::Anim => anim::read_anim(bytes, options),
        Format::Ini => load_pieces(&parse_ini(bytes)?, resolve, options),
    }?;
    stem.clone_into(&mut character.name);
    if let [clip] = character.clips.as_mut_slice()
        && clip.name.is_empty()
    {
        stem.clone_into(&mut clip.name);
        // The document knows the clip by its new name, and is written back as it came.
        if let Source::Gltf(document) = &mut character.source
            && let Some(document) = Arc::get_mut(document)
        {
            document.links.clips.clone_from(&character.clips);
        }
    }
    Ok(character)
}

#[cfg(feature = "fbx")]
fn read_fbx(
    bytes: &[u8],
    resolve: Resolver,
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    super::fbx::read_fbx(bytes, resolve, options)
}

#[cfg(not(feature = "fbx"))]
fn read_fbx(_: &[u8], _: Resolver, _: &ReadOptions) -> Result<Character, FormatError> {
    Err(FormatError::Unsupported(
        "this build cannot read FBX; convert the file to GLB".into(),
    ))
}

/// The glTF reader expects errors of the standard library.
fn io_error(error: FormatError) -> std::io::Error {
    match error {
        FormatError::Io { source, .. } => source,
        other => std::io::Error::other(other.to_string()),
    }
}

/// Combines a mesh, its `.skel`, and any `.anim` files of that skeleton into one character. Mesh and skeleton get
/// the same unit and axes.
pub fn load_character(
    mesh: &Path,
    skeleton: Option<&Path>,
    motions: &[&Path],
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let pieces = Pieces {
        mesh: text(mesh),
        coarse: None,
        skeleton: skeleton.map(text),
        motions: motions.iter().map(|path| text(path)).collect(),
    };
    let mut character = load_pieces(&pieces, &|name| read_file(Path::new(name)), options)?;
    character.name = mesh
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    Ok(character)
}

fn load_pieces(
    pieces: &Pieces,
    resolve: Resolver,
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    let (name, bytes, about_mesh) = find_mesh(pieces, resolve)?;
    let mut character = parse_mesh(name, &bytes, resolve).map_err(|error| error.in_file(name))?;
    if let Some(name) = &pieces.skeleton {
        let parsed = skel::parse_skel(&resolve(name)?);
        (character.skeleton, character.file_joints) =
            parsed.map_err(|error| error.in_file(name))?;
    }
    let mut notes: Vec<String> = about_mesh.into_iter().collect();
    for name in &pieces.motions {
        let played = motion(name, &resolve(name)?, &character.file_joints);
        let (clip, about) = played.map_err(|error| error.in_file(name))?;
        character.clips.push(clip);
        notes.extend(about);
    }
    normalise_units(&mut character, options, Content::Mesh)?;
    for text in notes {
        note(&mut character, text);
    }
    Ok(character)
}

/// Name and content of the mesh: the coarse one if the other is missing. And what to note about that.
fn find_mesh<'a>(
    pieces: &'a Pieces,
    resolve: Resolver,
) -> Result<(&'a str, Vec<u8>, Option<String>), FormatError> {
    match (resolve(&pieces.mesh), &pieces.coarse) {
        (Ok(bytes), None) => Ok((&pieces.mesh, bytes, None)),
        (Ok(bytes), Some(coarse)) => {
            let text = format!(
                "The coarse mesh '{coarse}' is ignored. Supple builds its own simulation mesh."
            );
            Ok((&pieces.mesh, bytes, Some(text)))
        }
        (Err(error), None) => Err(error),
        (Err(error), Some(coarse)) => {
            let bytes = resolve(coarse)?;
            let text = format!(
                "The mesh to show, '{}', cannot be read ({error}). The coarse mesh '{coarse}' is used.",
                pieces.mesh
            );
            Ok((coarse, bytes, Some(text)))
        }
    }
}

/// The clip of an `.anim`, and what to note about it.
fn motion(
    name: &str,
    bytes: &[u8],
    order: &[usize],
) -> Result<(crate::Clip, Option<String>), FormatError> {
    if sniff(name, bytes)? != Format::Anim {
        return Err(FormatError::Unsupported(
            "only .anim files can be combined with a .skel; load other motions separately and retarget them".into(),
        ));
    }
    let (mut clip, joints) = anim::parse_anim(bytes)?;
    if joints > order.len() {
        return Err(FormatError::invalid(
            "the motion",
            format!(
                "it has {joints} joints, but the skeleton has {}",
                order.len()
            ),
        ));
    }
    for track in &mut clip.tracks {
        track.joint = order[track.joint];
    }
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    clip.name = file
        .rsplit_once('.')
        .map_or(file, |(stem, _)| stem)
        .to_owned();
    let about = (joints < order.len()).then(|| {
        format!(
            "The motion '{file}' has {joints} joints and moves the first {joints} of {}.",
            order.len()
        )
    });
    Ok((clip, about))
}

/// Parses a mesh, keeping the file's units and axes.
fn parse_mesh(name: &str, bytes: &[u8], resolve: Resolver) -> Result<Character, FormatError> {
    match sniff(name, bytes)? {
        Format::Obj => Ok(obj::parse_obj(bytes, resolve)?.0),
        Format::Ply => ply::parse_ply(bytes),
        Format::Stl => stl::parse_stl(bytes),
        Format::Off => off::parse_off(bytes),
        _ => Err(FormatError::Unsupported(
            "a .skel can only be combined with a bare mesh (obj, ply, off, stl)".into(),
        )),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, FormatError> {
    let io = |source| FormatError::Io {
        path: path.to_owned(),
        source,
    };
    let about = std::fs::metadata(path).map_err(io)?;
    if about.is_dir() {
        let reason = "it is a folder; give a file".to_owned();
        return Err(FormatError::Unsupported(reason).in_file(path));
    }
    if about.len() > MAX_FILE_SIZE {
        let reason = format!(
            "the file has {} GiB; Supple reads at most 4 GiB",
            about.len() >> 30
        );
        return Err(FormatError::Unsupported(reason).in_file(path));
    }
    std::fs::read(path).map_err(io)
}

/// Path of a referenced file. Names that lead out of the folder are refused.
fn beside(folder: &Path, name: &str) -> Result<std::path::PathBuf, FormatError> {
    use std::path::Component;
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if inside {
        Ok(folder.join(name))
    } else {
        Err(FormatError::invalid(
            format!("the file name '{name}'"),
            "it points outside the file's folder; copy the referenced file into the folder",
        ))
    }
}
