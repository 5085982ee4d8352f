//! Loading a subject from a file, or an embedded one by name.

use std::path::{Path, PathBuf};

use supple_anatomy::person::{PersonFileError, load_person};
use supple_anatomy::template::load_template;
use supple_rig::Character;
use supple_rig::character::Up;
use supple_rig::formats::{self, FormatError, ReadOptions};
use supple_rig::rigging::{rest_mesh, with_skeleton};
use supple_rig::skeleton_pose::outside;

use crate::embedded::{self, Body};
use crate::{Error, Subject};

/// Options for reading a file. Defaults are declared in the file, or guessed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Another file with the skeleton. A `.skel` has the units and axes of its mesh. Other files have their own, and their clips
    /// are loaded too.
    pub skeleton: Option<PathBuf>,
    /// Units and axes.
    pub read: ReadOptions,
    /// Whether layers are needed. Persons and templates have them always; `@male` and `@female` get those of their template, and other
    /// files are refused.
    pub layers: bool,
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

    /// Asks for layers: fat and muscle over bones.
    pub fn layers(mut self) -> Self {
        self.layers = true;
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

/// Loads a subject: a character's file (glTF, GLB, VRM, FBX, OBJ, …), a person or a template with all layers (`.person`,
/// `.template`), or an embedded body, `@male` or `@female`.
pub fn load(path: impl AsRef<Path>) -> Result<Subject, Error> {
    load_with(path, &LoadOptions::default())
}

/// Loads a subject that has layers: a person, a template, or `@male` or `@female` with those of their template.
pub fn load_layered(path: impl AsRef<Path>) -> Result<Subject, Error> {
    load_with(path, &LoadOptions::new().layers())
}

/// [`load`] with options.
pub fn load_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Subject, Error> {
    let path = path.as_ref();
    let Some(skeleton) = &options.skeleton else {
        return load_alone(path, options);
    };
    if options.layers {
        return Err(Error::NoLayers {
            path: path.to_owned(),
        });
    }
    let made_for_it = |path: &Path| path.extension().is_some_and(|ending| ending == "skel");
    if made_for_it(skeleton) && is_bare_format(path) {
        let character = formats::load_character(path, Some(skeleton), &[], &options.read)?;
        let checked = check_pose(character).map_err(|error| error.in_file(skeleton));
        return Ok(checked?.into());
    }
    let mesh = load_alone(path, options)?;
    let from = load_alone(skeleton, &LoadOptions::default())?;
    let character = on_skeleton_of(&mesh, from.into_character()).and_then(check_pose);
    let character = character.map_err(|error| error.in_file(skeleton))?;
    Ok(character.into())
}

fn load_alone(path: &Path, options: &LoadOptions) -> Result<Subject, Error> {
    if let Some(name) = path.to_str().filter(|name| name.starts_with('@')) {
        let body = match name {
            "@male" => Body::Male,
            "@female" => Body::Female,
            _ => {
                let text = format!("no embedded character '{name}'; use @male or @female");
                return Err(FormatError::Unsupported(text).into());
            }
        };
        return match options.layers {
            true => Ok(embedded::template(body)?.into()),
            false => Ok(embedded::body(body)?.into()),
        };
    }
    if is_person(path) {
        let person = load_person(path).map_err(|error| match error {
            PersonFileError::Io { .. } => error.into(),
            source => Error::PersonFile {
                path: path.to_owned(),
                source,
            },
        });
        return Ok(person?.into());
    }
    if is_template(path) {
        return Ok(load_template(path)?.into());
    }
    if options.layers {
        return Err(Error::NoLayers {
            path: path.to_owned(),
        });
    }
    Ok(formats::load(path, &options.read)?.into())
}

/// Whether a file is named as persons are.
pub fn is_person(path: impl AsRef<Path>) -> bool {
    has_ending(path.as_ref(), "person")
}

/// Whether a file is named as templates are.
pub fn is_template(path: impl AsRef<Path>) -> bool {
    has_ending(path.as_ref(), "template")
}

fn has_ending(path: &Path, wanted: &str) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case(wanted))
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
