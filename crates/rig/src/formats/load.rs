//! From a file or bytes to a character: which format it is, and which pieces belong together.

use std::path::Path;

use super::checks::note;
use super::ini::{Pieces, parse_ini};
use super::sniff::{Format, sniff};
use super::units::{Holds, settle};
use super::{FormatError, ReadOptions, anim, bvh, gltf, obj, off, ply, skel, stl};
use crate::Character;

/// Fetches a file that another one names (a buffer, a material library, a texture, a skeleton), by that name.
pub type Resolver<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, FormatError>;

/// Larger files are refused: their indices would not fit into 32 bits.
const LARGEST_FILE: u64 = 1 << 32;

/// Reads a character, a mesh, a skeleton or a motion, whichever the file holds, in metres and Y up.
pub fn load(path: &Path, options: &ReadOptions) -> Result<Character, FormatError> {
    let bytes = read_file(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new(""));
    let resolve = |name: &str| read_file(&beside(folder, name)?);
    load_bytes(&name, &bytes, &resolve, options).map_err(|error| error.in_file(path))
}

/// As [`load`], from memory: `name` gives the ending and the character's name, `resolve` whatever else the file names.
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
        "this build reads no FBX; convert the file to GLB".into(),
    ))
}

/// The glTF reader asks in the words of the standard library.
fn io_error(error: FormatError) -> std::io::Error {
    match error {
        FormatError::Io { source, .. } => source,
        other => std::io::Error::other(other.to_string()),
    }
}

/// A mesh, the `.skel` that was made for it, and any `.anim`s of that skeleton, as one character. Mesh and skeleton get
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
    let bytes = resolve(&pieces.mesh)?;
    let mut character =
        parse_mesh(&pieces.mesh, &bytes, resolve).map_err(|error| error.in_file(&pieces.mesh))?;
    let mut order = Vec::new();
    if let Some(name) = &pieces.skeleton {
        let parsed = skel::parse_skel(&resolve(name)?);
        (character.skeleton, order) = parsed.map_err(|error| error.in_file(name))?;
    }
    for name in &pieces.motions {
        let clip = motion(name, &resolve(name)?, &order);
        character
            .clips
            .push(clip.map_err(|error| error.in_file(name))?);
    }
    settle(&mut character, options, Holds::Mesh)?;
    if let Some(coarse) = &pieces.coarse {
        note(
            &mut character,
            format!(
                "The coarse mesh '{coarse}' is left out: it is the same shape, and Supple makes its own."
            ),
        );
    }
    Ok(character)
}

fn motion(name: &str, bytes: &[u8], order: &[usize]) -> Result<crate::Clip, FormatError> {
    if sniff(name, bytes)? != Format::Anim {
        return Err(FormatError::Unsupported(
            "only an .anim belongs to a .skel by its order; load other motions by themselves and retarget them".into(),
        ));
    }
    let (mut clip, joints) = anim::parse_anim(bytes)?;
    if joints != order.len() {
        return Err(FormatError::invalid(
            "the motion",
            format!(
                "it moves {joints} joints, but the skeleton has {}",
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
    Ok(clip)
}

/// A mesh in the file's own units and axes.
fn parse_mesh(name: &str, bytes: &[u8], resolve: Resolver) -> Result<Character, FormatError> {
    match sniff(name, bytes)? {
        Format::Obj => Ok(obj::parse_obj(bytes, resolve)?.0),
        Format::Ply => ply::parse_ply(bytes),
        Format::Stl => stl::parse_stl(bytes),
        Format::Off => off::parse_off(bytes),
        _ => Err(FormatError::Unsupported(
            "a .skel goes with a bare mesh (obj, ply, off, stl); this file is something else"
                .into(),
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
        let reason = "it is a folder; name a file in it".to_owned();
        return Err(FormatError::Unsupported(reason).in_file(path));
    }
    if about.len() > LARGEST_FILE {
        let reason = format!(
            "{} GiB is more than the 4 GiB Supple reads",
            about.len() >> 30
        );
        return Err(FormatError::Unsupported(reason).in_file(path));
    }
    std::fs::read(path).map_err(io)
}

/// The path of a named file; one that leads out of the folder is refused.
fn beside(folder: &Path, name: &str) -> Result<std::path::PathBuf, FormatError> {
    use std::path::Component;
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if inside {
        Ok(folder.join(name))
    } else {
        Err(FormatError::invalid(
            format!("the name '{name}'"),
            "it leads out of the file's folder; copy the file beside it",
        ))
    }
}
