//! Scene files (TOML): characters, their places and motions, and colliders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{Quat, Vec3};
use serde::Deserialize;
use supple_flesh::settings::{ColliderSettings, Ground};
use supple_flesh::{Flesh, FleshError};
use supple_rig::bake::{Frames, Motion};
use supple_rig::formats::FormatError;
use supple_rig::rigging::{fitted, is_bare};
use supple_rig::{Character, Clip, Pose};
use supple_sim::Collider;
use supple_sim::contact::Placement;

use crate::Error;
use crate::clips::{Choice, MotionError, choose};
use crate::hug::hug;
use crate::load::load;
use crate::play::between;
use crate::scene::{Scene, facing_at};
use crate::settings::{load_settings, make_relative_to, settings_beside};
use crate::skin::{Method, Span, TooLong, bind_missing, frame_bytes};
use crate::tissue::SoftBody;

/// Contents of a scene file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SceneFile {
    /// Frames per second.
    pub fps: f32,
    /// Duration; by default that of the longest motion \[s\].
    pub seconds: Option<f32>,
    /// `true`: a floor at height 0; a number: a floor at that height.
    pub ground: Ground,
    /// Characters.
    pub character: Vec<ActorFile>,
    /// Colliders.
    pub collider: Vec<ColliderSettings>,
}

/// A character of a scene.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActorFile {
    /// Character file, relative to the scene file, or `@male` or `@female`.
    pub file: String,
    /// A clip of the file, or an embedded clip; with `motion`, a clip of that file. `hug`, for two characters: they meet halfway between
    /// their positions and hug.
    pub clip: Option<String>,
    /// A motion from another file.
    pub motion: Option<String>,
    /// Position \[m\].
    pub position: [f32; 3],
    /// Rotation about the vertical \[degrees\]; at 0 it faces +Z, whatever its file.
    pub turn: f32,
    /// Tissue settings; by default those beside the character file.
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
    /// The scene file is invalid.
    #[error("{path}: {reason}", path = path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },
    /// A motion was not found, or cannot be played on the character.
    #[error("character {number}: {source}")]
    Motion {
        /// Number of the character, from 1.
        number: usize,
        /// The cause.
        source: MotionError,
    },
    /// The motion does not fit into memory.
    #[error("the scene is too long: {0}; shorten it with `seconds = 10.0` in its file")]
    TooLong(#[from] TooLong),
}

/// A simulated scene.
pub struct Played {
    /// Characters with their motions, in the file's order. Names are made unique.
    pub characters: Vec<(Character, Motion)>,
    /// Colliders of every frame.
    pub colliders: Vec<Vec<Collider>>,
    /// Number of skin points inside a body in every frame, and the largest depth \[m\].
    pub inside: Vec<(usize, f32)>,
}

/// Reads a scene file.
pub fn read_scene(path: &Path) -> Result<SceneFile, Error> {
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
            "no [[character]]; add two lines: `[[character]]` and `file = \"@male\"`".to_owned(),
        )
        .into());
    }
    if !(0.1..=1000.0).contains(&scene.fps) {
        return Err(bad(format!("fps is {}; it must be from 0.1 to 1000", scene.fps)).into());
    }
    if scene.seconds.is_some_and(|s| !(0.0..=3600.0).contains(&s)) {
        return Err(bad("seconds must be from 0 to 3600".to_owned()).into());
    }
    for actor in &scene.character {
        if !(actor.turn.is_finite() && Vec3::from(actor.position).is_finite()) {
            return Err(bad(format!(
                "position and turn of {} must be finite numbers",
                actor.file
            ))
            .into());
        }
    }
    for collider in &mut scene.collider {
        make_relative_to(path, collider);
        let check = collider.check().map_err(|error| bad(error.to_string()));
        check?;
        if collider.joint.is_some() {
            let reason = "colliders of a scene cannot follow a joint; put this one into the settings of its character";
            return Err(bad(reason.to_owned()).into());
        }
    }
    Ok(scene)
}

/// Simulates a scene. `frame_done` is called with the number of each frame and the number of frames.
pub fn play(
    file: &SceneFile,
    path: &Path,
    frame_done: &mut dyn FnMut(usize, usize),
) -> Result<Played, Error> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut cast: Vec<(Character, Clip)> = Vec::new();
    let mut bodies = Vec::new();
    let mut hugging = Vec::new();
    for (index, actor) in file.character.iter().enumerate() {
        let (character, clip, flesh) = engage(actor, folder, index + 1, file.fps, &cast)?;
        let placement = facing_at(&character, actor.position.into(), actor.turn);
        bodies.push((flesh, character.skeleton.clone(), placement));
        if clip.is_none() {
            hugging.push(index);
        }
        cast.push((character, clip.unwrap_or_default()));
    }
    match hugging[..] {
        [] => {}
        [one, other] => {
            let hug = hug([&cast[one].0, &cast[other].0]).map_err(|error| SceneError::Motion {
                number: one + 1,
                source: error.into(),
            })?;
            let place = |index: usize| Vec3::from(file.character[index].position);
            let meeting = meeting_at(place(one), place(other));
            for ((index, clip), own) in [one, other].into_iter().zip(hug.clips).zip(hug.placements)
            {
                cast[index].1 = clip;
                bodies[index].2 = Placement {
                    rotation: meeting.rotation * own.rotation,
                    translation: meeting.point(own.translation),
                };
            }
        }
        _ => {
            return Err(SceneError::Text {
                path: path.to_owned(),
                reason: format!(
                    "{} characters have `clip = \"hug\"`; a hug takes two",
                    hugging.len()
                ),
            }
            .into());
        }
    }
    let mut scene = Scene::new(bodies, colliders(file)?);
    let longest = cast.iter().map(|(_, clip)| clip.duration());
    let span = Span {
        from: 0.0,
        to: file.seconds.unwrap_or(longest.fold(0.0, f32::max)),
        fps: file.fps,
    };
    let bytes = cast.iter().map(|(c, _)| frame_bytes(c, Method::Lbs));
    span.check(bytes.sum()).map_err(SceneError::from)?;
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

/// The place between two positions, and the turn from +Z to the direction from one to the other.
fn meeting_at(one: Vec3, other: Vec3) -> Placement {
    let way = other - one;
    Placement {
        rotation: Quat::from_rotation_y(way.x.atan2(way.z)),
        translation: 0.5 * (one + other),
    }
}

/// A character with its motion and tissue, and a unique name. It has no clip of its own if it hugs another one.
fn engage(
    actor: &ActorFile,
    folder: &Path,
    number: usize,
    fps: f32,
    cast: &[(Character, Clip)],
) -> Result<(Character, Option<Clip>, Arc<Flesh>), Error> {
    let beside = |file: &str| match file.starts_with('@') {
        true => PathBuf::from(file),
        false => folder.join(file),
    };
    let file = beside(&actor.file);
    let mut subject = load(&file)?;
    if is_bare(&subject)
        && let Ok(rigged) = fitted(&subject, &Default::default())
    {
        subject = rigged.into();
    }
    let mut character = subject.character().clone();
    if !character.skeleton.is_empty() {
        bind_missing(&mut character, false)?;
    }
    let motion = actor.motion.as_deref().map(beside);
    let choice = match (&actor.clip, &motion) {
        (Some(name), Some(path)) => Choice::FileClip(path, name, None),
        (Some(name), None) => Choice::Named(name, None),
        (None, Some(path)) => Choice::File(path, None),
        (None, None) => Choice::Default,
    };
    let own = |name: &str| character.clips.iter().any(|clip| clip.name == name);
    let clip = match choice {
        Choice::Named("hug", _) if !own("hug") => None,
        _ => Some(
            choose(&character, choice, fps)
                .map_err(|source| SceneError::Motion { number, source })?,
        ),
    };
    let settings = match &actor.settings {
        Some(settings) => load_settings(&folder.join(settings))?,
        None => settings_beside(&file)?,
    };
    let flesh = SoftBody::new(subject, settings)?.shared_flesh();
    let base = character.name.clone();
    let mut next = 2;
    while cast.iter().any(|(other, _)| other.name == character.name) {
        character.name = format!("{base}-{next}");
        next += 1;
    }
    Ok((character, clip, flesh))
}

fn colliders(file: &SceneFile) -> Result<Vec<Collider>, Error> {
    let height = match file.ground {
        Ground::Switch(false) => None,
        Ground::Switch(true) => Some(0.0),
        Ground::Height(height) => Some(height as f32),
    };
    let things = file
        .collider
        .iter()
        .map(supple_flesh::motion::colliders::collider);
    let things = things.collect::<Result<Vec<_>, FleshError>>();
    let mut all: Vec<Collider> = height.map(Collider::ground).into_iter().collect();
    all.extend(things?);
    Ok(all)
}
