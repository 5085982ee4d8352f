//! Wavefront OBJ and its materials (MTL).
//!
//! Parts are the file's objects (or groups, where there are no objects) and materials. A file that makes one part keeps
//! its positions as vertices `0..n` in their order, used or not; see [`read_obj_with_map`] for seams and several parts.

mod build;
mod mtl;
mod parse;
mod write;

pub(super) use build::parse_obj;
pub use write::write_obj;

use super::load::Resolver;
use super::units::{Holds, settle};
use super::{FormatError, ReadOptions};
use crate::Character;

/// Reads an OBJ file; `resolve` gives the material libraries and textures it names, which may be missing.
pub fn read_obj(
    bytes: &[u8],
    resolve: Resolver,
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    Ok(read_obj_with_map(bytes, resolve, options)?.0)
}

/// As [`read_obj`], with the number of the file's position (from 0) for each vertex of each part.
///
/// In each part the positions it uses come first, in the file's order; behind them, in order of use, further vertices
/// where a position has more than one texture coordinate or normal.
pub fn read_obj_with_map(
    bytes: &[u8],
    resolve: Resolver,
    options: &ReadOptions,
) -> Result<(Character, Vec<Vec<u32>>), FormatError> {
    let (mut character, map) = parse_obj(bytes, resolve)?;
    settle(&mut character, options, Holds::Mesh)?;
    Ok((character, map))
}
