//! Regions of the body named by joints: what is left out of the simulation, and what is stiffer.

use std::collections::BTreeMap;

use supple_rig::Skeleton;

use crate::FleshError;
use crate::base_points::Foot;
use crate::bone_graph::BoneGraph;
use crate::settings::matches;

/// The joint that a foot point belongs to.
pub fn joint_of(graph: &BoneGraph, foot: &Foot) -> usize {
    match foot.bone {
        Some(bone) => graph.bones[bone].joint,
        None => graph.nodes[foot.node].joints.first().copied().unwrap_or(0),
    }
}

/// Which skin vertices lie on the bones of joints that match, or of their descendants.
pub fn excluded_columns(
    skeleton: &Skeleton,
    patterns: &[String],
    graph: &BoneGraph,
    feet: &[Foot],
) -> Result<Vec<bool>, FleshError> {
    let mut out = vec![false; skeleton.len()];
    for pattern in patterns {
        let mut any = false;
        for (joint, node) in skeleton.joints().iter().enumerate() {
            if matches(pattern, &node.name) {
                out[joint] = true;
                any = true;
            }
        }
        if !any {
            return Err(no_joint("excluded", pattern));
        }
    }
    for joint in 0..skeleton.len() {
        if let Some(parent) = skeleton.joints()[joint].parent {
            out[joint] |= out[parent];
        }
    }
    Ok(feet.iter().map(|foot| out[joint_of(graph, foot)]).collect())
}

/// Stiffness factor of every skin vertex.
pub fn stiffness_factors(
    skeleton: &Skeleton,
    given: &BTreeMap<String, f64>,
    graph: &BoneGraph,
    feet: &[Foot],
) -> Result<Vec<f64>, FleshError> {
    let mut factors = vec![1.0; skeleton.len()];
    for (pattern, &factor) in given {
        if !(factor.is_finite() && factor >= 0.0) {
            return Err(FleshError::Settings(format!(
                "the stiffness factor of `{pattern}` is {factor}; it must be finite and not negative"
            )));
        }
        let mut any = false;
        for (joint, node) in skeleton.joints().iter().enumerate() {
            if matches(pattern, &node.name) {
                factors[joint] = factor;
                any = true;
            }
        }
        if !any {
            return Err(no_joint("stiffness_factors", pattern));
        }
    }
    Ok(feet
        .iter()
        .map(|foot| factors[joint_of(graph, foot)])
        .collect())
}

fn no_joint(list: &str, pattern: &str) -> FleshError {
    FleshError::Settings(format!(
        "{list} names joint `{pattern}`, which the skeleton does not have"
    ))
}
