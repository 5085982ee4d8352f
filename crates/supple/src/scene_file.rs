//! Scenes in TOML: who is in them, where, doing what, among which things.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::Vec3;
use serde::Deserialize;
use supple_flesh::settings::{ColliderSettings, Ground};
use supple_flesh::{Flesh, FleshError};
use supple_rig::bake::{Frames, Motion};
use supple_rig::formats::FormatError;
use supple_rig::rigging::{fitted, is_bare};
use supple_rig::skinning::weights::WeightsError;
use supple_rig::{Character, Clip, Pose};
use supple_sim::Collider;

use crate::clips::{Choice, MotionError, choose};
use crate::load::load;
use crate::play::between;
use crate::scene::{Scene, standing_at};
use crate::settings::{load_settings, make_relative_to, settings_beside};
use crate::skin::{Method, Span, TooLong, bind_missing, frame_bytes};
use crate::tissue::TissueError;

/// A scene as its file has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneFile {
    /// Frames a second.
    pub fps: f32,
    /// Length; left out, that of the longest motion \[s\].
    pub seconds: Option<f32>,
    /// `true`: a floor at height 0; a number: a floor at that height.
    pub ground: Ground,
    /// Who is in it.
    pub character: Vec<ActorFile>,
    /// Things that nobody goes through.
    pub collider: Vec<ColliderSettings>,
}

/// A character of a scene.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActorFile {
    /// Its file, relative to the scene's, or `@male` or `@female`.
    pub file: String,
    /// A clip of the file, or an embedded one.
    pub clip: Option<String>,
    /// A motion from another file.
    pub motion: Option<String>,
    /// Where it stands \[m\].
    pub position: [f32; 3],
    /// Turn about the vertical \[degrees\].
    pub turn: f32,
    /// Tissue settings; left out, those beside its file.
    pub settings: Option<String>,
}

impl Default for SceneFile {
    fn default() -> Self {
        Self {
            fps: 30.0,
            seconds: None,
            ground: Ground::default(),
            character: Vec::new(),
            collider: Vec::new(),
        }
    }
}

/// Why a scene could not be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The scene's file, or one that it names, cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The file is no scene.
    #[error("{path}: {reason}", path = path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },
    /// A motion was not found or does not fit.
    #[error("character {number}: {source}")]
    Motion {
        /// Which, from 1.
        number: usize,
        /// Why.
        source: MotionError,
    },
    /// A character could not be made soft or moved.
    #[error(transparent)]
    Tissue(#[from] TissueError),
    /// It would fill the memory.
    #[error("the scene is too long: {0}; `seconds = 10.0` in its file makes it shorter")]
    TooLong(#[from] TooLong),
    /// Weights could not be computed for a character that has none.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// A scene that was played: characters, and how each moved.
pub struct Played {
    /// Characters with their motion, in the file's order; names are made different.
    pub characters: Vec<(Character, Motion)>,
    /// Colliders of every frame.
    pub colliders: Vec<Vec<Collider>>,
    /// Skin points inside themselves or others in every frame, and the depth of the deepest \[m\].
    pub inside: Vec<(usize, f32)>,
}

/// Reads a scene.
pub fn read_scene(path: &Path) -> Result<SceneFile, SceneError> {
    let text = std::fs::read_to_string(path).map_err(|source| FormatError::Io {
        path: path.to_owned(),
        source,
    })?;
    let bad = |reason: String| SceneError::Text {
        path: path.to_owned(),
        reason,
    };
    let mut scene: SceneFile = toml::from_str(&text).map_err(|error| bad(error.to_string()))?;
    if scene.character.is_empty() {
        return Err(bad(
            "it has no [[character]]; two lines make one: `[[character]]` and `file = \"@male\"`"
                .to_owned(),
        ));
    }
    if !(0.1..=1000.0).contains(&scene.fps) {
        return Err(bad(format!(
            "fps is {}; it must be from 0.1 to 1000",
            scene.fps
        )));
    }
    if scene.seconds.is_some_and(|s| !(0.0..=3600.0).contains(&s)) {
        return Err(bad("seconds must be from 0 to 3600".to_owned()));
    }
    for actor in &scene.character {
        if !(actor.turn.is_finite() && Vec3::from(actor.position).is_finite()) {
            return Err(bad(format!("the place of {} is not finite", actor.file)));
        }
    }
    for collider in &mut scene.collider {
        make_relative_to(path, collider);
        let check = collider.check().map_err(|error| bad(error.to_string()));
        check?;
        if collider.joint.is_some() {
            let reason = "a scene's collider follows no joint: put it into the settings of the character it belongs to";
            return Err(bad(reason.to_owned()));
        }
    }
    Ok(scene)
}

/// Plays a scene; `frame_done` hears each frame's number and how many there are.
pub fn play(
    file: &SceneFile,
    path: &Path,
    frame_done: &mut dyn FnMut(usize, usize),
) -> Result<Played, SceneError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut cast: Vec<(Character, Clip)> = Vec::new();
    let mut bodies = Vec::new();
    for (index, actor) in file.character.iter().enumerate() {
        let (character, clip, flesh) = engage(actor, folder, index + 1, file.fps, &cast)?;
        let placement = standing_at(actor.position.into(), actor.turn);
        bodies.push((Arc::new(flesh), character.skeleton.clone(), placement));
        cast.push((character, clip));
    }
    let mut scene = Scene::new(bodies, colliders(file)?);
    let longest = cast.iter().map(|(_, clip)| clip.duration());
    let span = Span {
        from: 0.0,
        to: file.seconds.unwrap_or(longest.fold(0.0, f32::max)),
        fps: file.fps,
    };
    let bytes = cast.iter().map(|(c, _)| frame_bytes(c, Method::Lbs));
    span.check(bytes.sum())?;
    let motion = Motion {
        fps: file.fps,
        ..Motion::default()
    };
    let mut played = Played {
        characters: (cast.iter().map(|(c, _)| (c.clone(), motion.clone()))).collect(),
        colliders: Vec::new(),
        inside: Vec::new(),
    };
    let poses = |time: f32| -> Vec<Pose> {
        let each = cast.iter();
        each.map(|(character, clip)| clip.sample(&character.skeleton, time.min(clip.duration())))
            .collect()
    };
    let times = span.times();
    let mut frames = vec![Vec::new(); cast.len()];
    for (frame, &time) in times.iter().enumerate() {
        match frame {
            0 => scene.place(&poses(time))?,
            _ => {
                let step = scene.solver_settings().step;
                for (time, seconds) in between(times[frame - 1], time, step) {
                    scene.advance(&poses(time), seconds)?;
                }
            }
        }
        for (body, (_, motion)) in played.characters.iter_mut().enumerate() {
            frames[body].push(scene.positions(body));
            motion.poses.push(scene.pose(body).clone());
        }
        let inside = scene.penetration()?;
        played.inside.push((inside.count(), inside.worst()));
        played.colliders.push(scene.colliders_now());
        frame_done(frame, times.len());
    }
    for ((_, motion), frames) in played.characters.iter_mut().zip(frames) {
        motion.frames = Frames::Kept(frames);
    }
    Ok(played)
}

/// A character with its motion and its tissue, under a name that is not in the cast yet.
fn engage(
    actor: &ActorFile,
    folder: &Path,
    number: usize,
    fps: f32,
    cast: &[(Character, Clip)],
) -> Result<(Character, Clip, Flesh), SceneError> {
    let beside = |file: &str| match file.starts_with('@') {
        true => PathBuf::from(file),
        false => folder.join(file),
    };
    let file = beside(&actor.file);
    let mut character = load(&file)?;
    if is_bare(&character)
        && let Some(rigged) = fitted(&character)
    {
        character = rigged;
    }
    if !character.skeleton.is_empty() {
        bind_missing(&mut character, false)?;
    }
    let motion = actor.motion.as_deref().map(beside);
    let choice = match (&actor.clip, &motion) {
        (Some(name), _) => Choice::Named(name, None),
        (None, Some(path)) => Choice::File(path, None),
        (None, None) => Choice::Default,
    };
    let clip =
        choose(&character, choice, fps).map_err(|source| SceneError::Motion { number, source })?;
    let settings = match &actor.settings {
        Some(settings) => load_settings(&folder.join(settings))?,
        None => settings_beside(&file)?,
    };
    let flesh = Flesh::builder(&character)
        .settings(settings)
        .build()
        .map_err(TissueError::from)?;
    let base = character.name.clone();
    let mut next = 2;
    while cast.iter().any(|(other, _)| other.name == character.name) {
        character.name = format!("{base}-{next}");
        next += 1;
    }
    Ok((character, clip, flesh))
}

fn colliders(file: &SceneFile) -> Result<Vec<Collider>, SceneError> {
    let height = match file.ground {
        Ground::Switch(false) => None,
        Ground::Switch(true) => Some(0.0),
        Ground::Height(height) => Some(height as f32),
    };
    let things = file.collider.iter().map(supple_flesh::colliders::collider);
    let things = things.collect::<Result<Vec<_>, FleshError>>();
    let mut all: Vec<Collider> = height.map(Collider::ground).into_iter().collect();
    all.extend(things.map_err(TissueError::from)?);
    Ok(all)
}
