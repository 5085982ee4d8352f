//! The bodies and clips compiled into the program.

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

/// Frames a second of embedded clips once they are put on a skeleton.
const FPS: f32 = 60.0;

/// Why an embedded clip cannot be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClipError {
    /// No such clip.
    #[error("there is no embedded clip '{name}'; there are {known}")]
    NoSuchClip {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The clip's text is broken.
    #[error(transparent)]
    Keyed(#[from] KeyedError),
    /// The character is no humanoid.
    #[error("an embedded clip needs a humanoid: {0}")]
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

/// Names of the embedded clips.
pub fn clip_names() -> impl Iterator<Item = &'static str> {
    CLIPS.iter().map(|&(name, _)| name)
}

/// An embedded clip by name, as keyed on the mannequin.
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

/// An embedded clip by name, put on a humanoid, or on each of several in one file.
pub fn clip(name: &str, character: &Character) -> Result<Clip, ClipError> {
    let keyed = keyed_clip(name)?;
    let mut clip = on_each(character, |one| keyed.on(one, FPS))?;
    clip.name = name.to_owned();
    Ok(clip)
}
