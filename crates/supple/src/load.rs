//! Loading a character from a file, or an embedded one by name.

use std::path::{Path, PathBuf};

use supple_anatomy::person::PersonFileError;
use supple_anatomy::template::{self, LayeredBody, TemplateError};
use supple_rig::Character;
use supple_rig::character::Up;
use supple_rig::formats::{self, FormatError, ReadOptions};
use supple_rig::rigging::{rest_mesh, with_skeleton};
use supple_rig::skeleton_pose::outside;

use crate::embedded::{self, Body};

/// Options for reading a file. Defaults are declared in the file, or guessed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Another file with the skeleton. A `.skel` has the units and axes of its mesh. Other files have their own, and their clips
    /// are loaded too.
    pub skeleton: Option<PathBuf>,
    /// Units and axes.
    pub read: ReadOptions,
}

impl LoadOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the skeleton from another file.
    pub fn skeleton(mut self, file: impl Into<PathBuf>) -> Self {
        self.skeleton = Some(file.into());
        self
    }

    /// Length of one unit of the file \[m\].
    pub fn metres_per_unit(mut self, metres: f32) -> Self {
        self.read.metres_per_unit = Some(metres);
        self
    }

    /// The file's up axis.
    pub fn up(mut self, up: Up) -> Self {
        self.read.up = Some(up);
        self
    }
}

/// Loads a character: a file (glTF, GLB, VRM, FBX, OBJ, …), the skin of a `.person`, or an embedded body, `@male` or `@female`.
pub fn load(path: impl AsRef<Path>) -> Result<Character, FormatError> {
    load_with(path, &LoadOptions::default())
}

/// Loads a layered template: a file that `supple template` wrote, or that of an embedded body, `@male` or `@female`.
pub fn load_template(path: impl AsRef<Path>) -> Result<LayeredBody, TemplateError> {
    match path.as_ref().to_str() {
        Some("@male") => embedded::template(Body::Male),
        Some("@female") => embedded::template(Body::Female),
        _ => template::load_template(path.as_ref()),
    }
}

/// [`load`] with options.
pub fn load_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Character, FormatError> {
    let path = path.as_ref();
    let Some(skeleton) = &options.skeleton else {
        return load_alone(path, &options.read);
    };
    let made_for_it = |path: &Path| path.extension().is_some_and(|ending| ending == "skel");
    if made_for_it(skeleton) && is_bare_format(path) {
        let character = formats::load_character(path, Some(skeleton), &[], &options.read)?;
        return check_pose(character).map_err(|error| error.in_file(skeleton));
    }
    let mesh = load_alone(path, &options.read)?;
    let from = load_alone(skeleton, &ReadOptions::default())?;
    let character = on_skeleton_of(&mesh, from).and_then(check_pose);
    character.map_err(|error| error.in_file(skeleton))
}

fn load_alone(path: &Path, options: &ReadOptions) -> Result<Character, FormatError> {
    match path.to_str() {
        Some("@male") => embedded::body(Body::Male),
        Some("@female") => embedded::body(Body::Female),
        Some(name) if name.starts_with('@') => Err(FormatError::Unsupported(format!(
            "no embedded character '{name}'; use @male or @female"
        ))),
        _ if crate::person::is_person(path) => {
            let person = crate::person::load_person(path);
            let person = person.map_err(|error| match error {
                PersonFileError::Io { path, source } => FormatError::Io { path, source },
                other => FormatError::Unsupported(other.to_string()).in_file(path),
            });
            person.map(|person| person.character())
        }
        _ => formats::load(path, options),
    }
}

/// Whether a file's format has meshes without skeletons.
fn is_bare_format(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    ["obj", "ply", "off", "stl"].contains(&ending.to_lowercase().as_str())
}

/// A mesh with the skeleton of another file, both in metres.
fn on_skeleton_of(mesh: &Character, from: Character) -> Result<Character, FormatError> {
    if from.skeleton.is_empty() {
        return Err(FormatError::Empty("no skeleton"));
    }
    let mut character = with_skeleton(mesh, from.skeleton);
    character.clips = from.clips;
    character.humanoid = from.humanoid;
    character.file_joints = from.file_joints;
    for clip in &mut character.clips {
        clip.morphs.clear();
    }
    Ok(character)
}

/// Refuses a skeleton in another pose than the mesh: tissue and weights would be those of other limbs.
fn check_pose(character: Character) -> Result<Character, FormatError> {
    let outside = outside(&character.skeleton, &rest_mesh(&character));
    if character.parts.is_empty() || !outside.is_another_pose() {
        return Ok(character);
    }
    let shown = outside.joints.iter().take(4);
    let mut names = shown.cloned().collect::<Vec<_>>().join(", ");
    if outside.joints.len() > 4 {
        names.push_str(", …");
    }
    let reason = format!(
        "{:.0} % of its bones lie outside of the mesh ({} joints: {names}); it is in another pose, unit or place. Export it in the mesh's \
         pose, check its unit, position and up axis, or leave it out to fit a humanoid skeleton",
        100.0 * outside.share,
        outside.joints.len(),
    );
    Err(FormatError::invalid("the skeleton", reason))
}
