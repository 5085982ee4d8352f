//! Checks of any character: it builds, keeps its bind pose, moves near linear blend skinning, and returns to rest.

mod bends;
mod figure;
mod made;
mod odd;

use glam::Vec3;
use supple::embedded;
use supple::tissue::{SoftBody, TissueError};
use supple_flesh::Settings;
use supple_rig::skinning::{Method, Skinner};
use supple_rig::{Character, Clip, Pose};
use supple_sim::ContactMode;

pub use bends::bends;
pub use made::{NAMES, made};
pub use odd::{ODD_NAMES, cord};

/// Embedded clips that humanoids play.
pub const CLIPS: [&str; 3] = ["squat", "arms_crossed", "jump"];

/// Length of a frame \[s\].
const FRAME: f64 = 1.0 / 60.0;
/// One frame in this many is measured.
const MEASURED: usize = 4;
/// Frames in which a clip's last pose turns into the rest pose.
const RETURN_FRAMES: usize = 30;
/// Frames for which the rest pose is held after that: two seconds.
const REST_FRAMES: usize = 120;

/// Limits: distance from linear blend skinning, and from the bind pose after a motion, relative to the size.
pub const MAX_FROM_BLEND: f32 = 0.15;
/// See [`MAX_FROM_BLEND`].
pub const MAX_LEFT: f32 = 1e-3;
/// Distance from the bind pose before any motion, relative to the size: single precision.
pub const MAX_IN_BIND: f32 = 1e-5;
/// Depth that contact may leave above that without contact, relative to the size.
pub const MAX_ADDED_DEPTH: f32 = 1e-3;

/// Least motion, relative to the size: a character that does not move shows nothing.
const MIN_WAY: f32 = 0.01;

/// Measures of one motion in one contact mode. Lengths are relative to the size of the character.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Played {
    /// Whether every vertex was finite in every frame.
    pub is_finite: bool,
    /// Largest distance of a vertex from linear blend skinning.
    pub from_blend: f32,
    /// Largest distance of linear blend skinning from the bind pose.
    pub way: f32,
    /// Largest depth of a skin point in other skin.
    pub depth: f32,
    /// Sum of all depths, averaged over frames.
    pub depth_sum: f32,
    /// Largest distance of a vertex from the bind pose after the motion, and two seconds at rest.
    pub left: f32,
}

/// One motion of a guest.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// Name of the clip.
    pub clip: String,
    /// Without contact.
    pub off: Played,
    /// With global contact.
    pub on: Played,
}

impl Moved {
    /// What is out of bounds, in words.
    pub fn complaints(&self) -> Vec<String> {
        let mut list = Vec::new();
        for (mode, played) in [("without contact", &self.off), ("with contact", &self.on)] {
            let mut complain = |is_bad: bool, what: String| {
                if is_bad {
                    list.push(format!("{} {mode}: {what}", self.clip));
                }
            };
            let percent = |share: f32| format!("{:.2} %", 1e2 * share);
            complain(!played.is_finite, "not finite".to_owned());
            complain(played.way < MIN_WAY, "nothing moves".to_owned());
            let far = played.from_blend;
            complain(
                far > MAX_FROM_BLEND,
                format!("{} from linear blend", percent(far)),
            );
            let left = played.left;
            complain(
                left > MAX_LEFT,
                format!("{} from rest afterwards", percent(left)),
            );
        }
        let added = self.on.depth - self.off.depth;
        if added > MAX_ADDED_DEPTH {
            let clip = &self.clip;
            list.push(format!("{clip}: contact adds {:.2} % depth", 1e2 * added));
        }
        list
    }
}

/// All measures of one character.
#[derive(Clone, Debug, PartialEq)]
pub struct Guest {
    /// Number of vertices of the file.
    pub vertices: usize,
    /// Number of connected components of the file.
    pub shells: usize,
    /// Size \[m\]: height of a humanoid, else the longest side of its box.
    pub size: f32,
    /// Largest distance of a vertex from the bind pose before any motion, relative to the size.
    pub in_bind: f32,
    /// Its motions.
    pub motions: Vec<Moved>,
}

impl Guest {
    /// What is out of bounds, in words.
    pub fn complaints(&self) -> Vec<String> {
        let bind = (self.in_bind > MAX_IN_BIND)
            .then(|| format!("{:.4} % from the bind pose", 1e2 * self.in_bind));
        let motions = self.motions.iter().flat_map(Moved::complaints);
        bind.into_iter().chain(motions).collect()
    }
}

/// A character being measured.
pub struct Measure<'a> {
    character: &'a Character,
    body: SoftBody,
    skinner: Skinner,
    bind: Vec<Vec<Vec3>>,
    size: f32,
}

impl<'a> Measure<'a> {
    /// Builds the tissue of a character with default settings.
    pub fn new(character: &'a Character) -> Result<Self, TissueError> {
        Self::with(character, Default::default())
    }

    /// Builds the tissue of a character.
    pub fn with(character: &'a Character, settings: Settings) -> Result<Self, TissueError> {
        let body = SoftBody::new(character, settings)?;
        let bind = (0..character.parts.len())
            .map(|part| character.bind_mesh(part).positions)
            .collect();
        Ok(Self {
            body,
            skinner: Skinner::new(character, Method::Lbs),
            bind,
            size: size(character),
            character,
        })
    }

    /// World positions of every part's vertices in the middle of a clip, with contact \[m\].
    pub fn at_half(&mut self, clip: &Clip) -> Result<Vec<Vec<Vec3>>, TissueError> {
        let pose = |frame: usize| clip.sample(&self.character.skeleton, frame as f32 / 60.0);
        self.body.solver_settings().contact.mode = ContactMode::Global;
        self.body.reset(&pose(0))?;
        for frame in 1..=(clip.duration() * 30.0) as usize {
            self.body.advance(&pose(frame), FRAME)?;
        }
        Ok(self.body.positions())
    }

    /// Plays each clip without and with contact.
    pub fn all(&mut self, clips: &[Clip]) -> Result<Guest, TissueError> {
        let rest = self.body.flesh().rest_pose();
        self.body.solver_settings().contact.mode = ContactMode::Off;
        let in_bind = largest(&self.body.positions(), &self.bind) / self.size;
        let mut motions = Vec::new();
        for clip in clips {
            motions.push(Moved {
                clip: clip.name.clone(),
                off: self.play(clip, &rest, ContactMode::Off)?,
                on: self.play(clip, &rest, ContactMode::Global)?,
            });
        }
        Ok(Guest {
            vertices: self.bind.iter().map(Vec::len).sum(),
            shells: self.body.flesh().report.shells.len(),
            size: self.size,
            in_bind,
            motions,
        })
    }

    fn play(&mut self, clip: &Clip, rest: &Pose, mode: ContactMode) -> Result<Played, TissueError> {
        let skeleton = &self.character.skeleton;
        let frames = (clip.duration() * 60.0) as usize;
        let pose = |frame: usize| clip.sample(skeleton, frame as f32 / 60.0);
        self.body.solver_settings().contact.mode = mode;
        self.body.reset(&pose(0))?;
        let mut played = Played {
            is_finite: true,
            ..Played::default()
        };
        let mut measured = 0;
        for frame in 0..=frames {
            if frame > 0 {
                self.body.advance(&pose(frame), FRAME)?;
            }
            if frame % MEASURED == 0 {
                self.measure(&pose(frame), &mut played)?;
                measured += 1;
            }
        }
        let last = pose(frames);
        for frame in 1..=RETURN_FRAMES {
            let share = frame as f32 / RETURN_FRAMES as f32;
            self.body.advance(&last.blend(rest, share), FRAME)?;
        }
        for _ in 0..REST_FRAMES {
            self.body.advance(rest, FRAME)?;
        }
        played.left = largest(&self.body.positions(), &self.bind) / self.size;
        played.is_finite &= played.left.is_finite();
        played.depth_sum /= measured as f32;
        Ok(played)
    }

    fn measure(&self, pose: &Pose, played: &mut Played) -> Result<(), TissueError> {
        let worlds = pose.worlds(&self.character.skeleton);
        let blend = self.skinner.skin_all(self.character, &worlds);
        let blend: Vec<Vec<Vec3>> = blend.into_iter().map(|part| part.positions).collect();
        let far = largest(&self.body.positions(), &blend) / self.size;
        played.is_finite &= far.is_finite();
        played.from_blend = played.from_blend.max(far);
        played.way = played.way.max(largest(&blend, &self.bind) / self.size);
        let inside = self.body.penetration()?;
        played.depth = played.depth.max(inside.worst() / self.size);
        played.depth_sum += inside.depths.iter().sum::<f32>() / self.size;
        Ok(())
    }
}

/// Clips that a character is checked with: embedded ones for a humanoid, [`bends`] of all joints for others.
pub fn motions(character: &Character) -> Vec<Clip> {
    let embedded: Vec<Clip> = (CLIPS.iter())
        .filter_map(|name| embedded::clip(name, character).ok())
        .collect();
    if embedded.is_empty() {
        bends(character)
    } else {
        embedded
    }
}

/// Height of a humanoid, else the longest side of the box at rest \[m\].
fn size(character: &Character) -> f32 {
    let is_humanoid = embedded::clip(CLIPS[0], character).is_ok();
    let sides = character
        .bounds()
        .map_or(Vec3::ONE, |(low, high)| high - low);
    if is_humanoid {
        sides.y
    } else {
        sides.max_element()
    }
}

/// Largest distance between the vertices of two skins; NaN if any is not finite.
fn largest(a: &[Vec<Vec3>], b: &[Vec<Vec3>]) -> f32 {
    let pairs = a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b));
    let mut largest = 0.0;
    for (a, b) in pairs {
        let distance = a.distance(*b);
        if !distance.is_finite() {
            return f32::NAN;
        }
        largest = f32::max(largest, distance);
    }
    largest
}
