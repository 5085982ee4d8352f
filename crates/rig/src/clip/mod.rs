//! Clips: joint and morph motion over time.

use glam::{Quat, Vec3};

use crate::{Pose, Skeleton};

mod cut;
mod mix;
mod track;

pub use mix::{blend, crossfade, crossfade_duration};

/// Interpolation between keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Step: each key's value holds until the next.
    Step,
    /// Linear; spherical along the shorter arc for rotations.
    #[default]
    Linear,
    /// Cubic Hermite splines. Every key is in-tangent, value, out-tangent, as in glTF.
    Cubic,
}

/// The values of a track. With [`Interpolation::Cubic`] there are three per key.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Local translations \[m\].
    Translation(Vec<Vec3>),
    /// Local rotations.
    Rotation(Vec<Quat>),
    /// Local scales.
    Scale(Vec<Vec3>),
    /// Twist of the bone \[rad\].
    Twist(Vec<f32>),
    /// Length factor of the bone.
    Stretch(Vec<f32>),
}

/// One animated property of one joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Joint index.
    pub joint: usize,
    /// Key times, ascending \[s\].
    pub times: Vec<f32>,
    /// Values at the keys.
    pub values: Values,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
}

/// Animated morph weights of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct MorphTrack {
    /// Part index.
    pub part: usize,
    /// Key times, ascending \[s\].
    pub times: Vec<f32>,
    /// One weight per morph target and key. With [`Interpolation::Cubic`] three: in-tangents, values, out-tangents.
    pub weights: Vec<f32>,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
}

/// A named motion of one skeleton.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clip {
    /// Name in the file; may be empty.
    pub name: String,
    /// Joint tracks.
    pub tracks: Vec<Track>,
    /// Morph tracks.
    pub morphs: Vec<MorphTrack>,
}

impl Clip {
    /// Time of the last key \[s\].
    pub fn duration(&self) -> f32 {
        let joints = self.tracks.iter().map(|track| &track.times);
        let morphs = self.morphs.iter().map(|track| &track.times);
        joints
            .chain(morphs)
            .filter_map(|times| times.last())
            .fold(0.0, |longest, &time| longest.max(time))
    }

    /// The pose at a time \[s\], constant before the first and after the last key. Joints without a track are at rest.
    pub fn sample(&self, skeleton: &Skeleton, time: impl Into<f64>) -> Pose {
        let time: f64 = time.into();
        let time = time as f32;
        let mut pose = Pose::rest(skeleton);
        for track in &self.tracks {
            track.apply(&mut pose, time);
        }
        pose
    }

    /// The pose at a time \[s\] of the repeated clip; negative times count back from the end.
    pub fn sample_looped(&self, skeleton: &Skeleton, time: f32) -> Pose {
        self.sample(skeleton, self.wrap(time))
    }

    /// Maps a time of the repeated clip to a time within the clip \[s\].
    pub fn wrap(&self, time: f32) -> f32 {
        let duration = self.duration();
        if duration > 0.0 {
            time.rem_euclid(duration)
        } else {
            0.0
        }
    }

    /// Morph weights of a part at a time \[s\]; `None` if the clip does not animate them.
    pub fn sample_morphs(&self, part: usize, time: f32) -> Option<Vec<f32>> {
        let track = self.morphs.iter().find(|track| track.part == part)?;
        track.sample(time)
    }

    /// Builds a clip from evenly spaced poses.
    ///
    /// Joints that stay at rest get no track.
    pub fn from_poses(name: &str, skeleton: &Skeleton, fps: f32, poses: &[Pose]) -> Self {
        let times: Vec<f32> = (0..poses.len()).map(|frame| frame as f32 / fps).collect();
        let mut tracks = Vec::new();
        let mut push = |joint: usize, moves: bool, values: Values| {
            if moves {
                tracks.push(Track {
                    joint,
                    times: times.clone(),
                    values,
                    interpolation: Interpolation::Linear,
                });
            }
        };
        for (joint, node) in skeleton.joints().iter().enumerate() {
            let rest = node.rest;
            let locals = || poses.iter().map(move |pose| pose.locals[joint]);
            let twist = |pose: &Pose| pose.twist.get(joint).copied().unwrap_or(0.0);
            let stretch = |pose: &Pose| pose.stretch.get(joint).copied().unwrap_or(1.0);
            push(
                joint,
                locals().any(|local| local.translation != rest.translation),
                Values::Translation(locals().map(|local| local.translation).collect()),
            );
            push(
                joint,
                locals().any(|local| local.rotation != rest.rotation),
                Values::Rotation(locals().map(|local| local.rotation).collect()),
            );
            push(
                joint,
                locals().any(|local| local.scale != rest.scale),
                Values::Scale(locals().map(|local| local.scale).collect()),
            );
            push(
                joint,
                poses.iter().any(|pose| twist(pose) != 0.0),
                Values::Twist(poses.iter().map(twist).collect()),
            );
            push(
                joint,
                poses.iter().any(|pose| stretch(pose) != 1.0),
                Values::Stretch(poses.iter().map(stretch).collect()),
            );
        }
        Self {
            name: name.to_owned(),
            tracks,
            morphs: Vec::new(),
        }
    }

    /// The clip resampled to linear keys every `1 / fps` seconds.
    pub fn resampled(&self, fps: f32) -> Self {
        let last = (self.duration() * fps - 1e-3).ceil().max(0.0) as usize;
        let times: Vec<f32> = (0..=last).map(|frame| frame as f32 / fps).collect();
        let morphs = self.morphs.iter().map(|track| MorphTrack {
            part: track.part,
            weights: times
                .iter()
                .filter_map(|&time| track.sample(time))
                .flatten()
                .collect(),
            times: times.clone(),
            interpolation: Interpolation::Linear,
        });
        Self {
            name: self.name.clone(),
            tracks: self
                .tracks
                .iter()
                .map(|track| track.resampled(&times))
                .collect(),
            morphs: morphs.collect(),
        }
    }
}

impl Track {
    /// Writes the track's value at a time into a pose. Joints outside the pose are ignored.
    fn apply(&self, pose: &mut Pose, time: f32) {
        let count = pose.locals.len();
        let Some(local) = pose.locals.get_mut(self.joint) else {
            return;
        };
        match &self.values {
            Values::Translation(keys) => set(&mut local.translation, self.at(keys, time)),
            Values::Rotation(keys) => set(&mut local.rotation, self.at(keys, time)),
            Values::Scale(keys) => set(&mut local.scale, self.at(keys, time)),
            Values::Twist(keys) => {
                pose.twist.resize(count, 0.0);
                set(&mut pose.twist[self.joint], self.at(keys, time));
            }
            Values::Stretch(keys) => {
                pose.stretch.resize(count, 1.0);
                set(&mut pose.stretch[self.joint], self.at(keys, time));
            }
        }
    }

    fn at<T: track::Value>(&self, keys: &[T], time: f32) -> Option<T> {
        track::sample(&self.times, keys, self.interpolation, (1, 0), time)
    }

    fn resampled(&self, times: &[f32]) -> Self {
        fn keys<T: track::Value>(track: &Track, keys: &[T], times: &[f32]) -> Vec<T> {
            times
                .iter()
                .filter_map(|&time| track.at(keys, time))
                .collect()
        }
        Self {
            joint: self.joint,
            times: times.to_vec(),
            values: match &self.values {
                Values::Translation(values) => Values::Translation(keys(self, values, times)),
                Values::Rotation(values) => Values::Rotation(keys(self, values, times)),
                Values::Scale(values) => Values::Scale(keys(self, values, times)),
                Values::Twist(values) => Values::Twist(keys(self, values, times)),
                Values::Stretch(values) => Values::Stretch(keys(self, values, times)),
            },
            interpolation: Interpolation::Linear,
        }
    }
}

impl MorphTrack {
    /// Number of morph targets.
    pub fn targets(&self) -> usize {
        let blocks = if self.interpolation == Interpolation::Cubic {
            3
        } else {
            1
        };
        self.weights.len() / (blocks * self.times.len()).max(1)
    }

    /// All weights at a time \[s\].
    pub fn sample(&self, time: f32) -> Option<Vec<f32>> {
        let targets = self.targets();
        if targets == 0 {
            return None;
        }
        (0..targets)
            .map(|target| {
                track::sample(
                    &self.times,
                    &self.weights,
                    self.interpolation,
                    (targets, target),
                    time,
                )
            })
            .collect()
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
