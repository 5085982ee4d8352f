//! The embedded bodies and clips.

use supple_anatomy::template::{LayeredBody, TemplateError, read_template};
use supple_rig::figures::on_each;
use supple_rig::formats::{FormatError, ReadOptions, gltf};
use supple_rig::keyed::{KeyedClip, KeyedError};
use supple_rig::retarget::RetargetError;
use supple_rig::{Character, Clip};

/// An embedded body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// 13,718 vertices, 104 joints.
    Male,
    /// The same topology and joints.
    Female,
}

/// Name and text of every embedded clip.
const CLIPS: [(&str, &str); 8] = [
    ("elbow", include_str!("../assets/clips/elbow.toml")),
    ("knee", include_str!("../assets/clips/knee.toml")),
    ("squat", include_str!("../assets/clips/squat.toml")),
    ("sit", include_str!("../assets/clips/sit.toml")),
    ("twist", include_str!("../assets/clips/twist.toml")),
    (
        "arms_crossed",
        include_str!("../assets/clips/arms_crossed.toml"),
    ),
    ("jump", include_str!("../assets/clips/jump.toml")),
    ("shake", include_str!("../assets/clips/shake.toml")),
];

/// Sampling rate of embedded clips on a skeleton \[frames/s\].
const FPS: f32 = 60.0;

/// Why an embedded clip cannot be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClipError {
    /// There is no clip of that name.
    #[error("no embedded clip '{name}'; embedded clips: {known}")]
    NoSuchClip {
        /// The name.
        name: String,
        /// Names of all embedded clips.
        known: String,
    },
    /// The clip's text is invalid.
    #[error(transparent)]
    Keyed(#[from] KeyedError),
    /// The character is not a humanoid.
    #[error("embedded clips play on humanoids only: {0}")]
    Retarget(#[from] RetargetError),
}

/// An embedded body, without clips of its own.
pub fn body(which: Body) -> Result<Character, FormatError> {
    let (name, bytes): (_, &[u8]) = match which {
        Body::Male => ("male", include_bytes!("../assets/male.glb")),
        Body::Female => ("female", include_bytes!("../assets/female.glb")),
    };
    let mut character = gltf::read_glb(bytes, &ReadOptions::default())?;
    character.name = name.to_owned();
    Ok(character)
}

/// Bytes of the file of an embedded body's layered template.
pub fn template_bytes(which: Body) -> &'static [u8] {
    match which {
        Body::Male => include_bytes!("../assets/male.template"),
        Body::Female => include_bytes!("../assets/female.template"),
    }
}

/// The layered template of an embedded body: muscle surface, skeleton surface, muscles and bones inside its skin.
pub fn template(which: Body) -> Result<LayeredBody, TemplateError> {
    read_template(template_bytes(which))
}

/// Names of the embedded clips.
pub fn clip_names() -> impl Iterator<Item = &'static str> {
    CLIPS.iter().map(|&(name, _)| name)
}

/// An embedded clip by name, with its keys.
pub fn keyed_clip(name: &str) -> Result<KeyedClip, ClipError> {
    let text = CLIPS
        .iter()
        .find(|&&(known, _)| known == name)
        .map(|&(_, text)| text);
    let text = text.ok_or_else(|| ClipError::NoSuchClip {
        name: name.to_owned(),
        known: clip_names().collect::<Vec<_>>().join(", "),
    })?;
    Ok(KeyedClip::parse(text)?)
}

/// An embedded clip by name, retargeted to a humanoid, or to each of several in one file.
pub fn clip(name: &str, character: &Character) -> Result<Clip, ClipError> {
    let keyed = keyed_clip(name)?;
    let mut clip = on_each(character, |one| keyed.on(one, FPS))?;
    clip.name = name.to_owned();
    Ok(clip)
}
