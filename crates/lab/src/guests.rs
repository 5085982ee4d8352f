//! Checks of any character: it builds, keeps its bind pose, moves near linear blend skinning, and returns to rest.

mod bends;
mod figure;
mod made;
mod odd;
mod strangers;

use glam::Vec3;
use supple::embedded;
use supple::tissue::{SoftBody, TissueError};
use supple_flesh::Settings;
use supple_geom::Aabb;
use supple_rig::skinning::{Method, Skinner};
use supple_rig::{Character, Clip, Pose};
use supple_sim::ContactMode;

pub use bends::bends;
pub use made::{NAMES, made};
pub use odd::{ODD_NAMES, cord};
pub use strangers::{KEPT_FAMILIES, TUNED_FAMILIES, members};

/// Embedded clips that humanoids play.
pub const CLIPS: [&str; 5] = ["squat", "arms_crossed", "jump", "shake", "sit"];

/// Frames a second, as in bakes.
const FPS: f32 = 30.0;
/// Length of a frame \[s\].
const FRAME: f64 = 1.0 / FPS as f64;
/// The depth is measured in one frame in this many.
const MEASURED: usize = 3;
/// Frames in which a clip's last pose turns into the rest pose.
const RETURN_FRAMES: usize = 15;
/// Frames for which the rest pose is held after that: two seconds.
const REST_FRAMES: usize = 60;

/// Limits: distance from linear blend skinning, and from the bind pose after a motion, relative to the size.
pub const MAX_FROM_BLEND: f32 = 0.15;
/// See [`MAX_FROM_BLEND`].
pub const MAX_LEFT: f32 = 1e-3;
/// Distance from the bind pose before any motion, relative to the size: single precision.
pub const MAX_IN_BIND: f32 = 1e-5;
/// Depth that contact may leave above that without contact, relative to the size.
pub const MAX_ADDED_DEPTH: f32 = 1e-3;
/// Largest acceleration of a vertex: times that of linear blend, plus a share of the size a frame².
pub const MAX_ACCELERATION: (f32, f32) = (3.0, 0.01);
/// Distance by which vertices may leave the box around linear blend skinning, relative to the size.
pub const MAX_OUTSIDE: f32 = 0.1;

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
    /// Depth in the last frame of the motion.
    pub end_depth: f32,
    /// Largest acceleration of a vertex \[1/frame²\].
    pub acceleration: f32,
    /// The same of linear blend skinning.
    pub blend_acceleration: f32,
    /// Largest distance of a vertex from the box around linear blend skinning.
    pub outside: f32,
    /// Largest distance of a vertex from the bind pose after the motion, and two seconds at rest.
    pub left: f32,
}

impl Played {
    /// Largest acceleration relative to the limit: it jerks above one.
    pub fn jerk(&self) -> f32 {
        let (times, plus) = MAX_ACCELERATION;
        self.acceleration / (times * self.blend_acceleration + plus)
    }
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
            let outside = played.outside;
            complain(
                outside > MAX_OUTSIDE,
                format!("{} outside its box", percent(outside)),
            );
            let left = played.left;
            complain(
                left > MAX_LEFT,
                format!("{} from rest afterwards", percent(left)),
            );
        }
        let added = self.added_depth();
        if added > MAX_ADDED_DEPTH {
            let clip = &self.clip;
            list.push(format!("{clip}: contact adds {:.2} % depth", 1e2 * added));
        }
        list
    }

    /// Where it jerks, in words.
    pub fn jerks(&self) -> Vec<String> {
        [("without contact", &self.off), ("with contact", &self.on)]
            .into_iter()
            .filter(|(_, played)| played.jerk() > 1.0)
            .map(|(mode, played)| {
                let (clip, jerk) = (&self.clip, played.jerk());
                format!("{clip} {mode}: jerks, {jerk:.1} times the limit")
            })
            .collect()
    }

    /// Depth that contact adds, to the deepest point or to that of the last frame.
    pub fn added_depth(&self) -> f32 {
        let worst = self.on.depth - self.off.depth;
        worst.max(self.on.end_depth - self.off.end_depth)
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

    /// Where it jerks, in words.
    pub fn jerks(&self) -> Vec<String> {
        self.motions.iter().flat_map(Moved::jerks).collect()
    }
}

/// A character being measured.
pub struct Measure<'a> {
    character: &'a Character,
    body: SoftBody,
    skinner: Skinner,
    bind: Vec<Vec<Vec3>>,
    size: f32,
    is_quick: bool,
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
            is_quick: false,
        })
    }

    /// Leaves out the return to rest.
    pub fn quickly(self) -> Self {
        Self {
            is_quick: true,
            ..self
        }
    }

    /// World positions of every part's vertices in the middle of a clip, with contact \[m\].
    pub fn at_half(&mut self, clip: &Clip) -> Result<Vec<Vec<Vec3>>, TissueError> {
        let pose = |frame: usize| clip.sample(&self.character.skeleton, frame as f32 / FPS);
        self.body.solver_settings().contact.mode = ContactMode::Global;
        self.body.reset(&pose(0))?;
        for frame in 1..=(clip.duration() * 0.5 * FPS) as usize {
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

    /// A step that cannot be taken ends the motion, and counts as not finite.
    fn play(&mut self, clip: &Clip, rest: &Pose, mode: ContactMode) -> Result<Played, TissueError> {
        let mut played = Played {
            is_finite: true,
            ..Played::default()
        };
        match self.play_on(clip, rest, mode, &mut played) {
            Err(TissueError::Solve(_)) => played.is_finite = false,
            other => other?,
        }
        Ok(played)
    }

    fn play_on(
        &mut self,
        clip: &Clip,
        rest: &Pose,
        mode: ContactMode,
        played: &mut Played,
    ) -> Result<(), TissueError> {
        let skeleton = &self.character.skeleton;
        let frames = (clip.duration() * FPS) as usize;
        let pose = |frame: usize| clip.sample(skeleton, frame as f32 / FPS);
        self.body.solver_settings().contact.mode = mode;
        self.body.reset(&pose(0))?;
        let mut measured = 0;
        let (mut soft, mut blended) = (Path::default(), Path::default());
        for frame in 0..=frames {
            if frame > 0 {
                self.body.advance(&pose(frame), FRAME)?;
            }
            self.measure_motion(&pose(frame), (&mut soft, &mut blended), played);
            if frame % MEASURED == 0 || frame == frames {
                self.measure_depth(played)?;
                measured += 1;
            }
        }
        played.acceleration = soft.acceleration / self.size;
        played.blend_acceleration = blended.acceleration / self.size;
        played.depth_sum /= measured as f32;
        if self.is_quick {
            return Ok(());
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
        Ok(())
    }

    fn measure_motion(&self, pose: &Pose, paths: (&mut Path, &mut Path), played: &mut Played) {
        let worlds = pose.worlds(&self.character.skeleton);
        let blend = self.skinner.skin_all(self.character, &worlds);
        let blend: Vec<Vec<Vec3>> = blend.into_iter().map(|part| part.positions).collect();
        let soft = self.body.positions();
        let far = largest(&soft, &blend) / self.size;
        played.is_finite &= far.is_finite();
        played.from_blend = played.from_blend.max(far);
        played.way = played.way.max(largest(&blend, &self.bind) / self.size);
        let bounds = Aabb::of_points(blend.iter().flatten().copied());
        let outside = |p: &Vec3| (*p - bounds.max).max(bounds.min - *p).max_element();
        let outside = soft.iter().flatten().map(outside).fold(0.0, f32::max);
        played.outside = played.outside.max(outside / self.size);
        paths.0.go_on(soft);
        paths.1.go_on(blend);
    }

    fn measure_depth(&self, played: &mut Played) -> Result<(), TissueError> {
        let inside = self.body.penetration()?;
        played.end_depth = inside.worst() / self.size;
        played.depth = played.depth.max(played.end_depth);
        played.depth_sum += inside.depths.iter().sum::<f32>() / self.size;
        Ok(())
    }
}

/// Places of all vertices in the last two frames, and the largest acceleration so far \[m/frame²\].
#[derive(Default)]
struct Path {
    last: [Vec<Vec<Vec3>>; 2],
    acceleration: f32,
}

impl Path {
    fn go_on(&mut self, now: Vec<Vec<Vec3>>) {
        let [before, last] = &self.last;
        let lists = now.iter().flatten().zip(last.iter().flatten());
        let lists = lists.zip(before.iter().flatten());
        let changes = lists.map(|((now, last), before)| (*now - 2.0 * *last + *before).length());
        self.acceleration = changes.fold(self.acceleration, f32::max);
        let [_, last] = std::mem::take(&mut self.last);
        self.last = [last, now];
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
