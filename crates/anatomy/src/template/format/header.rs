//! The header of a template file: names and numbers, as JSON.

use std::collections::BTreeMap;

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};
use supple_rig::skeleton::{Joint, JointKind};
use supple_rig::{Skeleton, Transform};

use crate::Sex;
use crate::template::{Group, Landmark, LayeredBody, Side};

/// What is not an array.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub name: String,
    pub sex: Sex,
    pub provenance: String,
    pub joints: Vec<JointHeader>,
    pub bones: Vec<String>,
    pub muscles: Vec<MuscleHeader>,
    pub landmarks: BTreeMap<String, Landmark>,
}

/// A joint: its rest transform in its parent's frame.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct JointHeader {
    name: String,
    parent: Option<usize>,
    translation: [f32; 3],
    rotation: [f32; 4],
    scale: [f32; 3],
    tail: Option<[f32; 3]>,
    moves_skin: bool,
}

/// A muscle without its mesh.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MuscleHeader {
    pub name: String,
    pub group: Group,
    pub side: Option<Side>,
    pub volume: f64,
}

impl Header {
    /// Of a template.
    pub fn of(template: &LayeredBody) -> Self {
        let muscle = |muscle: &crate::template::RiggedMuscle| MuscleHeader {
            name: muscle.name.clone(),
            group: muscle.group,
            side: muscle.side,
            volume: muscle.volume,
        };
        let bones = template.bones.iter();
        Self {
            name: template.name.clone(),
            sex: template.body.sex,
            provenance: template.provenance.clone(),
            joints: (template.body.skeleton.joints().iter())
                .map(JointHeader::of)
                .collect(),
            bones: bones.map(|entry| entry.bone.name.clone()).collect(),
            muscles: template.muscles.iter().map(muscle).collect(),
            landmarks: template.landmarks.clone(),
        }
    }

    /// The skeleton, or why the joints make none.
    pub fn skeleton(&self) -> Result<Skeleton, String> {
        let mut joints = Vec::with_capacity(self.joints.len());
        for (index, joint) in self.joints.iter().enumerate() {
            if joint.parent.is_some_and(|parent| parent >= index) {
                return Err(format!("joint '{}' comes before its parent", joint.name));
            }
            if !joint.is_finite() {
                return Err(format!("joint '{}' is nowhere", joint.name));
            }
            joints.push(joint.joint());
        }
        let built = Skeleton::from_unordered(joints).map_err(|error| error.to_string())?;
        Ok(built.0)
    }
}

impl JointHeader {
    fn of(joint: &Joint) -> Self {
        Self {
            name: joint.name.clone(),
            parent: joint.parent,
            translation: joint.rest.translation.to_array(),
            rotation: joint.rest.rotation.to_array(),
            scale: joint.rest.scale.to_array(),
            tail: joint.tail.map(|tail| tail.to_array()),
            moves_skin: joint.kind == JointKind::Bone,
        }
    }

    fn is_finite(&self) -> bool {
        let numbers = (self.translation.iter())
            .chain(&self.rotation)
            .chain(&self.scale);
        numbers
            .chain(self.tail.iter().flatten())
            .all(|number| number.is_finite())
    }

    fn joint(&self) -> Joint {
        Joint {
            name: self.name.clone(),
            parent: self.parent,
            rest: Transform {
                translation: Vec3::from_array(self.translation),
                rotation: Quat::from_array(self.rotation),
                scale: Vec3::from_array(self.scale),
            },
            tail: self.tail.map(Vec3::from_array),
            kind: match self.moves_skin {
                true => JointKind::Bone,
                false => JointKind::Helper,
            },
        }
    }
}
