//! Finding a clip: in the character's file, among the embedded clips, or in another file.

use std::path::Path;

use supple_rig::figures::on_each;
use supple_rig::formats::{self, FormatError, ReadOptions};
use supple_rig::retarget::standing::standing_rest;
use supple_rig::retarget::{BoneMap, HumanoidError, MapFile, Options, Retarget, RetargetError};
use supple_rig::same_skeleton::{self, TooManyJoints};
use supple_rig::{Character, Clip};

use crate::embedded::{self, ClipError};
use crate::skin::{Span, TooLong, pose_bytes};

/// Sampling rate of retargeted motions \[frames/s\].
const FPS: f32 = 60.0;

/// Why no clip was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MotionError {
    /// An embedded clip was asked for, but the character is no humanoid.
    #[error(
        "'{name}' is an embedded clip for people, and {character} was not recognised as one ({reason}); {clips}"
    )]
    NotAPerson {
        /// The clip.
        name: String,
        /// The character.
        character: String,
        /// The bones that are missing.
        reason: String,
        /// What can be played instead.
        clips: String,
    },
    /// There is no clip of that name.
    #[error("no clip '{name}'; clips of the file: {in_file}; embedded clips: {embedded}")]
    NoSuchClip {
        /// The name.
        name: String,
        /// The file's clips.
        in_file: String,
        /// The embedded clips.
        embedded: String,
    },
    /// The motion file has no clip of that name.
    #[error("{path} has no clip '{name}'; its clips: {known}")]
    NoClipInMotion {
        /// The file.
        path: String,
        /// The name.
        name: String,
        /// The file's clips.
        known: String,
    },
    /// The file has no motion.
    #[error("{path} has no motion")]
    NoMotion {
        /// The file.
        path: String,
    },
    /// The character has no skeleton.
    #[error("{name} has no skeleton and cannot play a motion")]
    NoSkeleton {
        /// The character.
        name: String,
    },
    /// An embedded clip failed.
    #[error(transparent)]
    Embedded(#[from] ClipError),
    /// The motion file could not be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The joint map is invalid.
    #[error(transparent)]
    Map(#[from] HumanoidError),
    /// The motion does not fit into memory.
    #[error("the motion is too long: {0}")]
    TooLong(#[from] TooLong),
    /// The motion has more joints than the character, and no names.
    #[error("the motion does not fit: {0}")]
    Numbered(#[from] TooManyJoints),
    /// The motion cannot be retargeted to the character.
    #[error("the motion cannot be retargeted: {0}")]
    Retarget(#[from] RetargetError),
}

/// The source of a motion.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Choice<'a> {
    /// The file's first clip, or the embedded `squat` if it has none.
    #[default]
    Default,
    /// A clip of the file by name or number, or an embedded clip by name, with an optional joint map (TOML).
    Named(&'a str, Option<&'a Path>),
    /// The first clip of another file, with an optional joint map (TOML).
    File(&'a Path, Option<&'a Path>),
    /// A clip of another file by name or number, with an optional joint map (TOML).
    FileClip(&'a Path, &'a str, Option<&'a Path>),
}

/// A clip of the character's file by name or number, or an embedded clip by name, retargeted to the character.
pub fn clip(character: &Character, name: &str) -> Result<Clip, MotionError> {
    choose(character, Choice::Named(name, None), FPS)
}

/// A motion from another file (BVH, glTF, FBX, `.anim`, …), retargeted to the character.
pub fn clip_from(character: &Character, file: impl AsRef<Path>) -> Result<Clip, MotionError> {
    choose(character, Choice::File(file.as_ref(), None), FPS)
}

/// The chosen clip on the character's skeleton. Retargeted motions are sampled at `fps` frames per second.
pub fn choose(character: &Character, choice: Choice, fps: f32) -> Result<Clip, MotionError> {
    choose_with_notice(character, choice, fps, false, &|_| ())
}

/// As [`choose`]; `notice` is told which of several clips of a motion file is played, if none was named, and how it gets onto the
/// character. `retarget` fits every motion of another file to the body, even one that was made for its skeleton.
pub fn choose_with_notice(
    character: &Character,
    choice: Choice,
    fps: f32,
    retarget: bool,
    notice: &dyn Fn(&str),
) -> Result<Clip, MotionError> {
    if character.skeleton.is_empty() {
        let name = character.name.clone();
        return Err(MotionError::NoSkeleton { name });
    }
    match choice {
        Choice::Default => match character.clips.first() {
            Some(clip) => Ok(clip.clone()),
            None => named(character, "squat", None),
        },
        Choice::Named(name, map) => named(character, name, map),
        Choice::File(path, map) => {
            let source = read_motion(path)?;
            if source.clips.len() > 1 {
                notice(&format!(
                    "playing the first clip of {}; its clips: {}",
                    path.display(),
                    list_clips(&source)
                ));
            }
            from_source(character, &source, map, fps, retarget, notice)
        }
        Choice::FileClip(path, name, map) => {
            let mut source = read_motion(path)?;
            let Some(index) = find_clip(&source.clips, name) else {
                return Err(MotionError::NoClipInMotion {
                    path: path.display().to_string(),
                    name: name.to_owned(),
                    known: list_clips(&source),
                });
            };
            source.clips = vec![source.clips.swap_remove(index)];
            from_source(character, &source, map, fps, retarget, notice)
        }
    }
}

fn named(character: &Character, name: &str, map: Option<&Path>) -> Result<Clip, MotionError> {
    if let Some(index) = find_clip(&character.clips, name) {
        return Ok(character.clips[index].clone());
    }
    let clip = match map {
        Some(path) => {
            let mut mapped = character.clone();
            mapped.humanoid = Some(read_map(path)?.target.named_joints(&character.skeleton)?);
            embedded::clip(name, &mapped)
        }
        None => embedded::clip(name, character),
    };
    match clip {
        Err(ClipError::NoSuchClip { name, known }) => Err(MotionError::NoSuchClip {
            name,
            in_file: list_clips(character),
            embedded: known,
        }),
        Err(error) if map.is_none() => Err(match not_a_person(&error) {
            Some(reason) => MotionError::NotAPerson {
                name: name.to_owned(),
                character: character.name.clone(),
                reason,
                clips: match character.clips.is_empty() {
                    true => "its file has no clips of its own".to_owned(),
                    false => format!("its own clips: {}", list_clips(character)),
                },
            },
            None => error.into(),
        }),
        other => Ok(other?),
    }
}

/// The bones that a character lacks for an embedded clip, if that is why it cannot play it.
fn not_a_person(error: &ClipError) -> Option<String> {
    match error {
        ClipError::Retarget(RetargetError::Target(HumanoidError::MissingBones { bones })) => {
            Some(format!("it has no {bones}"))
        }
        _ => None,
    }
}

/// The clip of a name, or of a number; a name in another case is taken if there is no exact one, and then one that ends in the name
/// behind a separator: Blender writes `Armature|Gallop`.
fn find_clip(clips: &[Clip], name: &str) -> Option<usize> {
    let named = |is: &dyn Fn(&str) -> bool| clips.iter().position(|clip| is(&clip.name));
    let number = || name.parse().ok().filter(|&number| number < clips.len());
    named(&|known| known == name)
        .or_else(number)
        .or_else(|| named(&|known| known.eq_ignore_ascii_case(name)))
        .or_else(|| {
            named(&|known| {
                let last = known.rsplit(['|', ':']).next();
                last.is_some_and(|last| last.trim().eq_ignore_ascii_case(name))
            })
        })
}

fn list_clips(character: &Character) -> String {
    if character.clips.is_empty() {
        return "none".to_owned();
    }
    let names = character.clips.iter().enumerate();
    names
        .map(|(index, clip)| format!("{index} '{}'", clip.name))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A file with motion.
fn read_motion(path: &Path) -> Result<Character, MotionError> {
    let source = formats::load(path, &ReadOptions::default())?;
    if source.clips.is_empty() {
        let path = path.display().to_string();
        return Err(MotionError::NoMotion { path });
    }
    Ok(source)
}

fn from_source(
    character: &Character,
    source: &Character,
    map: Option<&Path>,
    fps: f32,
    retarget: bool,
    notice: &dyn Fn(&str),
) -> Result<Clip, MotionError> {
    let named = map.map_or_else(|| Ok(MapFile::default()), read_map)?;
    let (clip, way) = from_character_by(character, source, named, fps, retarget)?;
    notice(way.text());
    Ok(clip)
}

/// A joint map in TOML.
pub fn read_map(path: &Path) -> Result<MapFile, MotionError> {
    let text = std::fs::read_to_string(path).map_err(|source| FormatError::Io {
        path: path.to_owned(),
        source,
    })?;
    Ok(MapFile::parse(&text)?)
}

/// How a motion of another file gets onto a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// The motion's skeleton is the character's: its tracks are played as they are.
    Direct,
    /// Humanoid bones are matched, and the motion is fitted to the character's proportions.
    Retargeted,
    /// Joints of the same names in other places: they turn in the world as the motion's do.
    SameNames,
}

impl Way {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Direct => {
                "the motion was made for this skeleton and is played joint by joint; it can be retargeted to the body instead"
            }
            Self::Retargeted => {
                "the motion was made for another skeleton and is retargeted from humanoid bone to humanoid bone"
            }
            Self::SameNames => {
                "the motion has joints of the same names on another skeleton, which turn as its own do"
            }
        }
    }
}

/// The first clip of another character: joint by joint if it has the same skeleton, else retargeted to this one, or to each of
/// several people in one file.
pub fn from_character(
    character: &Character,
    source: &Character,
    map: MapFile,
    fps: f32,
) -> Result<Clip, MotionError> {
    from_character_by(character, source, map, fps, false).map(|(clip, _)| clip)
}

/// As [`from_character`], with the way that was taken; `retarget` takes the humanoid way whatever the skeletons.
pub fn from_character_by(
    character: &Character,
    source: &Character,
    map: MapFile,
    fps: f32,
    retarget: bool,
) -> Result<(Clip, Way), MotionError> {
    let clip = source.clips.first().ok_or_else(|| MotionError::NoMotion {
        path: source.name.clone(),
    })?;
    Span::all(clip, fps).check(pose_bytes(character))?;
    let mapped = retarget || !(map.source.is_empty() && map.target.is_empty());
    if !mapped && let Some(clip) = same_skeleton::direct(character, source, clip)? {
        return Ok((clip, Way::Direct));
    }
    let mut options = Options {
        map,
        ..Options::default()
    };
    if options.map.source.is_empty() {
        options.map.source = BoneMap::of(source);
    }
    let standing = standing_rest(&source.skeleton, clip, &options.map.source);
    let skeleton = standing.as_ref().unwrap_or(&source.skeleton);
    let retargeted: Result<Clip, RetargetError> = on_each(character, |one| {
        let mut options = options.clone();
        if options.map.target.is_empty() {
            options.map.target = BoneMap::of(one);
        }
        let retarget = Retarget::new(skeleton, &one.skeleton, &options)?;
        Ok(retarget.with_skin(one).clip(clip, fps))
    });
    match retargeted {
        Err(error) if !mapped => {
            let turned = same_skeleton::with_other_rest(character, source, clip, fps);
            Ok((turned.ok_or(error)?, Way::SameNames))
        }
        other => Ok((other?, Way::Retargeted)),
    }
}
