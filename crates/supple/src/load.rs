//! Loading a character the way a user names it.

use std::path::Path;

use supple_rig::Character;
use supple_rig::formats::{self, FormatError, ReadOptions};

use crate::embedded::{self, Body};

/// Loads a character: a file, or `@male` or `@female`; its skeleton from a second file where one is given.
pub fn load(
    path: &Path,
    skeleton: Option<&Path>,
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    match (path.to_str(), skeleton) {
        (Some("@male"), None) => embedded::body(Body::Male),
        (Some("@female"), None) => embedded::body(Body::Female),
        (Some(name), _) if name.starts_with('@') => Err(FormatError::Unsupported(format!(
            "there is no embedded character '{name}' with that skeleton: the embedded ones are @male and @female, rigged"
        ))),
        (_, None) => formats::load(path, options),
        (_, skeleton @ Some(_)) => formats::load_character(path, skeleton, &[], options),
    }
}
