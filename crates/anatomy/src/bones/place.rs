//! Bones into a body.

use std::collections::BTreeMap;

use glam::{Affine3A, Vec3};
use rayon::prelude::*;

use super::articulations::articulations;
use super::fit::{Problem, fit};
use super::landmarks::{Landmark, landmarks};
use super::push::push_inside;
use super::read::{BoneError, BoneSet};
use super::report::{PlacementReport, report};
use super::rig::{BoneWeights, bone_motion, bone_weights};
use super::segments::{Joints, joint_points, segments};
use super::sites::sites;
use super::targets::targets;
use crate::{Body, Bone};

/// Bones in a body's rest pose.
#[derive(Clone, Debug, Default)]
pub struct PlacedBones {
    /// The bones, in the order of the set they came from \[m\].
    pub bones: Vec<Bone>,
    /// Centres of joints by name: `hip_l`, `L4_L5`, `index_medial_l` \[m\].
    pub joints: BTreeMap<String, Vec3>,
    /// Joints of the body's rig that move each bone, and their weights.
    pub weights: Vec<BoneWeights>,
    /// Points close under the skin by name: `asis_l`, `c7`, `lateral_malleolus_r`.
    pub landmarks: BTreeMap<String, Landmark>,
    /// How well it went.
    pub report: PlacementReport,
}

impl PlacedBones {
    /// The bones in another pose, given the world matrices of all joints at rest and now.
    pub fn posed(&self, rest: &[Affine3A], now: &[Affine3A]) -> Vec<Bone> {
        (self.bones.iter().zip(&self.weights))
            .map(|(bone, weights)| {
                let mut bone = bone.clone();
                bone.mesh.transform(&bone_motion(weights, rest, now));
                bone
            })
            .collect()
    }

    /// A bone by its name.
    pub fn bone(&self, name: &str) -> Option<&Bone> {
        self.bones.iter().find(|bone| bone.name == name)
    }
}

/// Skin and soles around a skeleton: a body is this much taller than its bones \[m\].
const SKIN_HEIGHT: f64 = 0.021;

/// Places bones in a body: by its joints, then all segments together so that joints stay closed and bones inside the skin.
pub fn place_bones(set: &BoneSet, body: &Body) -> Result<PlacedBones, BoneError> {
    let height = (set.bones.iter())
        .map(|bone| f64::from(bone.mesh.bounds().max.y))
        .fold(0.0, f64::max);
    if height <= 0.0 {
        let name = "skull".to_owned();
        return Err(BoneError::Missing { name });
    }
    let size = (f64::from(body.height()) - SKIN_HEIGHT) / height;
    let articulations = articulations(set);
    let targets = targets(body, size)?;
    let joints = Joints {
        source: joint_points(&articulations),
        targets: &targets,
    };
    let mut segments = segments(set, body, &joints, size)?;
    let skin = body.outer_surface();
    let sites = sites(set, body.sex);
    let problem = Problem {
        set,
        skin: &skin,
        joints: &articulations,
        sites: &sites,
        targets: &targets,
        size,
    };
    fit(&problem, &mut segments)?;
    let mut of_bone = vec![None; set.bones.len()];
    for (s, segment) in segments.iter().enumerate() {
        segment
            .bones
            .iter()
            .for_each(|&bone| of_bone[bone] = Some(s));
    }
    let mut bones: Vec<Bone> = (set.bones.par_iter().zip(&of_bone))
        .filter_map(|(bone, segment)| {
            let segment = &segments[(*segment)?];
            let mut bone = bone.clone();
            for p in &mut bone.mesh.positions {
                *p = segment
                    .placed
                    .point(&segment.map.basis(p.as_dvec3()))
                    .as_vec3();
            }
            Some(bone)
        })
        .collect();
    let at = |name: &str, p| {
        let segment = segments.iter().find(|segment| segment.name == name)?;
        Some(segment.placed.point(&segment.map.basis(p)).as_vec3())
    };
    let joints = (articulations.iter())
        .filter_map(|joint| Some((joint.name.clone(), at(&joint.segments[0], joint.at[0])?)))
        .collect();
    let pushed = push_inside(&mut bones, &skin);
    let mut report = report(&bones, &skin, &segments, &articulations, size);
    report.pushed = pushed;
    Ok(PlacedBones {
        weights: bone_weights(&bones, body),
        landmarks: landmarks(set, &bones, body),
        bones,
        joints,
        report,
    })
}
