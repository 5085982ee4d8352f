//! Wavefront OBJ and its materials (MTL).
//!
//! There is one part per object (or group, if there are no objects) and material. A file with one part keeps
//! its positions as vertices `0..n` in order, used or not. See [`read_obj_with_map`] for seams and several parts.

mod build;
mod mtl;
mod parse;
mod write;

pub(super) use build::parse_obj;
pub use write::write_obj;

use super::load::Resolver;
use super::units::{Content, normalise_units};
use super::{FormatError, ReadOptions};
use crate::Character;

/// Reads an OBJ file. `resolve` returns the material libraries and textures it references; they may be missing.
pub fn read_obj(
    bytes: &[u8],
    resolve: Resolver,
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    Ok(read_obj_with_map(bytes, resolve, options)?.0)
}

/// Like [`read_obj`], and also returns the index of the file's position (from 0) for each vertex of each part.
///
/// Each part starts with the positions it uses, in file order, followed in order of use by additional vertices
/// for positions with more than one texture coordinate or normal.
pub fn read_obj_with_map(
    bytes: &[u8],
    resolve: Resolver,
    options: &ReadOptions,
) -> Result<(Character, Vec<Vec<u32>>), FormatError> {
    let (mut character, map) = parse_obj(bytes, resolve)?;
    normalise_units(&mut character, options, Content::Mesh)?;
    Ok((character, map))
}
