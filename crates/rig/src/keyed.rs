//! Hand-keyed clips: key poses of a mannequin, written as text, that play on any humanoid.
//!
//! A file keys the joint angles of a mannequin that stands in T-pose, faces +Z and has all joint axes along the world axes.
//! An elbow therefore bends about Y and a knee about X, whatever the joint frames of the character that plays the clip:
//!
//! ```toml
//! title = "Bow"
//! [[key]]
//! time = 0.8
//! spine = [40, 0, 0]          # degrees about x, then y, then z of the parent
//! upperArm = [0, 0, -75]      # without left or right: both sides, mirrored
//! leftLowerArm = [0, -20, 0]
//! [[key]]
//! time = 1.6
//! spine = [0, 0, 0]
//! lift = 0.0                  # height of the lower foot above the ground, in leg lengths
//! ```
//!
//! A channel is zero at time zero, passes through the keys that name it, and is constant after the last one. Keys are joined by
//! monotone cubics (Fritsch & Carlson 1980), which are smooth and do not overshoot.

use std::collections::BTreeMap;

use glam::{EulerRot, Quat, Vec3};

use crate::retarget::{self, BoneMap, Retarget, RetargetError};
use crate::skeleton::JointKind;
use crate::{Character, Clip, Joint, Pose, Skeleton, Transform};

/// The mannequin: VRM bone name, parent, and position \[m\] of the left and middle joints. The right side is mirrored.
const MANNEQUIN: [(&str, &str, [f32; 3]); 16] = [
    ("hips", "", [0.0, 0.95, 0.0]),
    ("spine", "hips", [0.0, 1.05, 0.0]),
    ("chest", "spine", [0.0, 1.18, 0.0]),
    ("upperChest", "chest", [0.0, 1.31, 0.0]),
    ("neck", "upperChest", [0.0, 1.46, 0.0]),
    ("head", "neck", [0.0, 1.56, 0.0]),
    ("leftShoulder", "upperChest", [0.03, 1.42, 0.0]),
    ("leftUpperArm", "leftShoulder", [0.17, 1.42, 0.0]),
    ("leftLowerArm", "leftUpperArm", [0.45, 1.42, 0.0]),
    ("leftHand", "leftLowerArm", [0.70, 1.42, 0.0]),
    ("leftMiddleProximal", "leftHand", [0.79, 1.42, 0.0]),
    ("leftUpperLeg", "hips", [0.09, 0.90, 0.0]),
    ("leftLowerLeg", "leftUpperLeg", [0.09, 0.48, 0.0]),
    ("leftFoot", "leftLowerLeg", [0.09, 0.08, 0.0]),
    ("leftToes", "leftFoot", [0.09, 0.01, 0.14]),
    ("leftToesEnd", "leftToes", [0.09, 0.01, 0.20]),
];

/// Leg length of the mannequin \[m\].
const LEG_LENGTH: f32 = 0.82;
/// Heel, ball and toe tip of the left sole, in the frame of the foot or the toes \[m\].
const SOLE: [(&str, [f32; 3]); 3] = [
    ("Foot", [0.0, -0.08, -0.05]),
    ("Toes", [0.0, -0.01, 0.0]),
    ("Toes", [0.0, -0.01, 0.06]),
];
/// Decay length of a foot's share of the support with its height above the other foot \[m\]. If smaller, the support snaps
/// from foot to foot; if larger, a standing foot slides when the other is lifted.
const SUPPORT_DECAY: f32 = 0.02;

/// A keyed clip of the mannequin.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedClip {
    /// Title for display.
    pub title: String,
    /// Time of the last key \[s\].
    pub duration: f32,
    channels: BTreeMap<String, [Curve; 3]>,
    lift: Curve,
}

/// Why a text could not be parsed as a keyed clip.
#[derive(Debug, thiserror::Error)]
pub enum KeyedError {
    /// Not valid TOML, or not of the expected form.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// The mannequin has no such joint.
    #[error("key {key}: the mannequin has no joint '{name}'")]
    NoSuchJoint {
        /// Index of the key, from 0.
        key: usize,
        /// The unknown joint name.
        name: String,
    },
    /// Key times must be finite and ascending.
    #[error("key {key}: its time must be later than that of the key before")]
    Time {
        /// Index of the key, from 0.
        key: usize,
    },
}

#[derive(serde::Deserialize)]
struct File {
    #[serde(default)]
    title: String,
    key: Vec<Key>,
}

#[derive(serde::Deserialize)]
struct Key {
    time: f32,
    lift: Option<f32>,
    #[serde(flatten)]
    angles: BTreeMap<String, [f32; 3]>,
}

/// The mannequin's skeleton, with VRM joint names.
pub fn mannequin() -> Skeleton {
    let mut joints: Vec<Joint> = Vec::new();
    let mut positions: Vec<Vec3> = Vec::new();
    for side in ["left", "right"] {
        for (name, parent, position) in MANNEQUIN {
            let sided = name.starts_with("left");
            if !sided && side == "right" {
                continue;
            }
            let parent_name = parent.replace("left", side);
            let parent = joints.iter().position(|joint| joint.name == parent_name);
            let mirror = if side == "left" { 1.0 } else { -1.0 };
            let position = Vec3::from(position) * Vec3::new(mirror, 1.0, 1.0);
            let origin = parent.map_or(Vec3::ZERO, |parent| positions[parent]);
            joints.push(Joint {
                name: name.replace("left", side),
                parent,
                rest: Transform::from_translation(position - origin),
                tail: None,
                kind: JointKind::Bone,
            });
            positions.push(position);
        }
    }
    match Skeleton::from_unordered(joints) {
        Ok((skeleton, _)) => skeleton,
        Err(error) => unreachable!("the mannequin's table names parents first: {error}"),
    }
}

impl KeyedClip {
    /// Parses the text form.
    pub fn parse(text: &str) -> Result<Self, KeyedError> {
        let file: File = toml::from_str(text)?;
        let skeleton = mannequin();
        let mut channels: BTreeMap<String, [Curve; 3]> = BTreeMap::new();
        let mut lift = Curve::default();
        let mut last = -f32::MIN_POSITIVE;
        for (index, key) in file.key.iter().enumerate() {
            if !key.time.is_finite() || key.time <= last {
                return Err(KeyedError::Time { key: index });
            }
            last = key.time;
            if let Some(value) = key.lift {
                lift.push(key.time, value);
            }
            for (name, angles) in &key.angles {
                for (joint, mirror) in
                    named_joints(&skeleton, name).ok_or_else(|| KeyedError::NoSuchJoint {
                        key: index,
                        name: name.clone(),
                    })?
                {
                    let curves = channels.entry(joint).or_default();
                    for (curve, (angle, sign)) in curves.iter_mut().zip(angles.iter().zip(mirror)) {
                        curve.push(key.time, angle * sign);
                    }
                }
            }
        }
        Ok(Self {
            title: file.title,
            duration: last.max(0.0),
            channels,
            lift,
        })
    }

    /// The mannequin's pose at a time \[s\], with the hips placed so that supporting feet do not slide.
    pub fn pose(&self, skeleton: &Skeleton, time: f32) -> Pose {
        let mut pose = Pose::rest(skeleton);
        for (name, curves) in &self.channels {
            if let Some(joint) = skeleton.find(name) {
                let [x, y, z] = [0, 1, 2].map(|axis: usize| curves[axis].at(time).to_radians());
                // Rotations about the fixed axes x, y, z equal rotations about the moving axes z, y, x.
                pose.locals[joint].rotation = Quat::from_euler(EulerRot::ZYX, z, y, x);
            }
        }
        let mut shift = stand(skeleton, &pose);
        shift.y += self.lift(time) * LEG_LENGTH;
        pose.locals[0].translation += shift;
        pose
    }

    /// Retargets the clip to a humanoid, which stands on the soles of its skin.
    pub fn on(&self, character: &Character, fps: f32) -> Result<Clip, RetargetError> {
        let mannequin = mannequin();
        let frames = (self.duration * fps).round() as usize;
        let poses: Vec<Pose> = (0..=frames)
            .map(|frame| self.pose(&mannequin, frame as f32 / fps))
            .collect();
        let map = retarget::MapFile {
            target: BoneMap::of(character),
            ..retarget::MapFile::default()
        };
        let options = retarget::Options {
            map,
            ground: Some(0.0),
        };
        let retarget =
            Retarget::new(&mannequin, &character.skeleton, &options)?.with_skin(character);
        Ok(retarget.clip(&Clip::from_poses(&self.title, &mannequin, fps, &poses), fps))
    }

    /// Height of the lower foot above the ground at a time \[s\], in leg lengths.
    pub fn lift(&self, time: f32) -> f32 {
        self.lift.at(time)
    }
}

/// Translation that puts the lower foot of a pose on the ground and the supporting feet at their rest positions.
fn stand(skeleton: &Skeleton, pose: &Pose) -> Vec3 {
    let rest = skeleton.rest_worlds();
    let worlds = pose.worlds(skeleton);
    let feet: Vec<(f32, Vec3)> = ["left", "right"]
        .iter()
        .filter_map(|side| {
            let foot = skeleton.find(&format!("{side}Foot"))?;
            let height = SOLE.iter().filter_map(|(bone, point)| {
                let joint = skeleton.find(&format!("{side}{bone}"))?;
                Some(worlds[joint].transform_point3(Vec3::from(*point)).y)
            });
            let moved = Vec3::from(worlds[foot].translation - rest[foot].translation);
            Some((height.fold(f32::MAX, f32::min), moved))
        })
        .collect();
    let lowest = feet
        .iter()
        .fold(f32::MAX, |lowest, &(height, _)| lowest.min(height));
    let (mut shift, mut total) = (Vec3::ZERO, 0.0);
    for (height, moved) in feet {
        let weight = ((lowest - height) / SUPPORT_DECAY).exp();
        shift -= moved * weight;
        total += weight;
    }
    (shift / total).with_y(-lowest)
}

/// The joints a key name refers to, each with the signs of its angles. `None` if the mannequin has no such joint.
fn named_joints(skeleton: &Skeleton, name: &str) -> Option<Vec<(String, [f32; 3])>> {
    const UNMIRRORED: [f32; 3] = [1.0, 1.0, 1.0];
    // A reflection in the plane x = 0 negates rotations about y and z.
    const MIRRORED: [f32; 3] = [1.0, -1.0, -1.0];
    if skeleton.find(name).is_some() {
        return Some(vec![(name.to_owned(), UNMIRRORED)]);
    }
    let mut letters = name.chars();
    let capital: String = letters.next()?.to_uppercase().chain(letters).collect();
    let (left, right) = (format!("left{capital}"), format!("right{capital}"));
    skeleton.find(&left)?;
    Some(vec![(left, UNMIRRORED), (right, MIRRORED)])
}

/// A monotone cubic through its keys.
#[derive(Clone, Debug, Default, PartialEq)]
struct Curve {
    keys: Vec<(f32, f32)>,
}

impl Curve {
    fn push(&mut self, time: f32, value: f32) {
        if self.keys.is_empty() && time > 0.0 {
            self.keys.push((0.0, 0.0));
        }
        self.keys.push((time, value));
    }

    fn at(&self, time: f32) -> f32 {
        let after = self.keys.partition_point(|&(key, _)| key <= time);
        let Some(&(t1, v1)) = self.keys.get(after) else {
            return self.keys.last().map_or(0.0, |&(_, value)| value);
        };
        if after == 0 {
            return v1;
        }
        let (t0, v0) = self.keys[after - 1];
        let width = t1 - t0;
        let s = (time - t0) / width;
        let (m0, m1) = (self.slope(after - 1) * width, self.slope(after) * width);
        let (s2, s3) = (s * s, s * s * s);
        v0 * (2.0 * s3 - 3.0 * s2 + 1.0)
            + m0 * (s3 - 2.0 * s2 + s)
            + v1 * (3.0 * s2 - 2.0 * s3)
            + m1 * (s3 - s2)
    }

    /// Harmonic mean of the neighbouring slopes; zero at extrema and ends.
    fn slope(&self, key: usize) -> f32 {
        if key == 0 || key + 1 >= self.keys.len() {
            return 0.0;
        }
        let rise = |k: usize| {
            (self.keys[k + 1].1 - self.keys[k].1) / (self.keys[k + 1].0 - self.keys[k].0)
        };
        let (before, after) = (rise(key - 1), rise(key));
        if before * after <= 0.0 {
            0.0
        } else {
            2.0 * before * after / (before + after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_through_keys_mirrors_and_does_not_overshoot() {
        let clip = KeyedClip::parse(
            "[[key]]\ntime = 1.0\nlowerArm = [0, -130, 0]\n[[key]]\ntime = 2.0\nlowerArm = [0, 0, 0]\nlift = 0.5\n",
        )
        .unwrap();
        let skeleton = mannequin();
        let left = skeleton.find("leftLowerArm").unwrap();
        let right = skeleton.find("rightLowerArm").unwrap();
        for step in 0..=40 {
            let pose = clip.pose(&skeleton, step as f32 * 0.05);
            let angle = pose.locals[left].rotation.to_axis_angle().1.to_degrees();
            assert!(angle <= 130.001, "{angle}");
        }
        let worlds = clip.pose(&skeleton, 1.0).worlds(&skeleton);
        let forward = |joint: usize, along: f32| worlds[joint].transform_vector3(Vec3::X * along);
        let expected = Vec3::new(130f32.to_radians().cos(), 0.0, 130f32.to_radians().sin());
        assert!(forward(left, 1.0).abs_diff_eq(expected, 1e-5));
        assert!(forward(right, -1.0).abs_diff_eq(expected * Vec3::new(-1.0, 1.0, 1.0), 1e-5));
        assert_eq!(clip.lift(2.5), 0.5);
        assert_eq!(clip.duration, 2.0);
    }

    #[test]
    fn bad_texts_are_typed_errors() {
        assert!(matches!(
            KeyedClip::parse("[[key]]\ntime = 0.0\ntail = [0, 0, 0]\n"),
            Err(KeyedError::NoSuchJoint { key: 0, .. })
        ));
        assert!(matches!(
            KeyedClip::parse("[[key]]\ntime = 1.0\n[[key]]\ntime = 1.0\n"),
            Err(KeyedError::Time { key: 1 })
        ));
        assert!(matches!(
            KeyedClip::parse("key = 3"),
            Err(KeyedError::Toml(_))
        ));
    }
}
