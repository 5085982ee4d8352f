//! Loading a character the way a user names it.

use std::path::Path;

use supple_rig::Character;
use supple_rig::formats::{self, FormatError, ReadOptions};

use crate::embedded::{self, Body};
use crate::rigged::with_skeleton;

/// Loads a character: a file, or `@male` or `@female`; its skeleton from a second file where one is given. A `.skel` is
/// in the units and axes of the mesh it was made for; other files have their own, and bring their clips along.
pub fn load(
    path: &Path,
    skeleton: Option<&Path>,
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    let Some(skeleton) = skeleton else {
        return match path.to_str() {
            Some("@male") => embedded::body(Body::Male),
            Some("@female") => embedded::body(Body::Female),
            Some(name) if name.starts_with('@') => Err(FormatError::Unsupported(format!(
                "there is no embedded character '{name}': the embedded ones are @male and @female"
            ))),
            _ => formats::load(path, options),
        };
    };
    let made_for_it = |path: &Path| path.extension().is_some_and(|ending| ending == "skel");
    if made_for_it(skeleton) && is_bare_format(path) {
        return formats::load_character(path, Some(skeleton), &[], options);
    }
    let mesh = load(path, None, options)?;
    let from = load(skeleton, None, &ReadOptions::default())?;
    on_skeleton_of(&mesh, from).map_err(|error| error.in_file(skeleton))
}

/// Formats of meshes without skeletons.
fn is_bare_format(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    ["obj", "ply", "off", "stl"].contains(&ending.to_lowercase().as_str())
}

/// A mesh on the skeleton of another file, both in metres. Most of the joints must lie where the mesh is.
fn on_skeleton_of(mesh: &Character, from: Character) -> Result<Character, FormatError> {
    if from.skeleton.is_empty() {
        return Err(FormatError::Empty("no skeleton"));
    }
    let bounds = crate::rigged::rest_mesh(mesh).bounds();
    let slack = 0.05 * (bounds.max - bounds.min).length();
    let worlds = from.skeleton.rest_worlds();
    let near = |joint: glam::Vec3| {
        joint.cmpge(bounds.min - slack).all() && joint.cmple(bounds.max + slack).all()
    };
    let within = worlds.iter().filter(|world| near(world.translation.into()));
    if 2 * within.count() < worlds.len() {
        return Err(FormatError::invalid(
            "the skeleton",
            "most of its joints lie outside of the mesh: it has another size, place or up axis",
        ));
    }
    let mut character = with_skeleton(mesh, from.skeleton);
    character.clips = from.clips;
    character.humanoid = from.humanoid;
    for clip in &mut character.clips {
        clip.morphs.clear();
    }
    Ok(character)
}
