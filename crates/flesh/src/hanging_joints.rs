//! Joints that hang from a humanoid: chains for hair, skirts, tails and cords, which are no part of its body.

use glam::DVec3;
use supple_rig::Character;
use supple_rig::retarget::{BoneMap, Humanoid};

use crate::follow::nearest_on;

/// Number of joints from which a chain hangs, if it leaves the bones at all. Breasts have one or two joints and are flesh.
const LONG_CHAIN: usize = 3;
/// Distance from the humanoid's bones, relative to its size, from which a long chain hangs. Joints for twist stay on their
/// bone.
const LEAST_DISTANCE: f64 = 0.03;
/// The same for a chain of two joints.
const LEAST_DISTANCE_OF_TWO: f64 = 0.08;

/// Marks hanging joints, given the places of all joints \[m\]. A chain hangs if none of its joints is one of the humanoid's bones, or
/// carries one, and it is long and far enough from them. Skeletons that are no humanoid have none.
pub fn hanging_joints(character: &Character, places: &[DVec3], size: f64) -> Vec<bool> {
    let joints = character.skeleton.joints();
    let mut hanging = vec![false; joints.len()];
    let Ok(humanoid) = Humanoid::find(&character.skeleton, &BoneMap::of(character)) else {
        return hanging;
    };
    let mut is_bone = vec![false; joints.len()];
    for &joint in humanoid.bones.values().flatten() {
        is_bone[joint] = true;
    }
    let mut is_body = is_bone.clone();
    for joint in (0..joints.len()).rev() {
        if let (Some(parent), true) = (joints[joint].parent, is_body[joint]) {
            is_body[parent] = true;
        }
    }
    let bones: Vec<(DVec3, DVec3)> = (0..joints.len())
        .filter(|&joint| is_bone[joint])
        .filter_map(|joint| {
            let parent = joints[joint].parent?;
            is_body[parent].then(|| (places[parent], places[joint]))
        })
        .collect();
    // Length and reach of the chain below each joint, children first.
    let mut length = vec![1_usize; joints.len()];
    let mut reach: Vec<f64> = (places.iter())
        .map(|&place| {
            let gap =
                |&(a, b): &(DVec3, DVec3)| nearest_on(a, b, [0.0, 1.0], place).distance(place);
            bones.iter().map(gap).fold(f64::INFINITY, f64::min)
        })
        .collect();
    for joint in (0..joints.len()).rev() {
        if let Some(parent) = joints[joint].parent.filter(|_| !is_body[joint]) {
            length[parent] = length[parent].max(1 + length[joint]);
            reach[parent] = reach[parent].max(reach[joint]);
        }
    }
    // Roots of chains decide for the whole chain, parents first.
    for joint in 0..joints.len() {
        let Some(parent) = joints[joint].parent.filter(|_| !is_body[joint]) else {
            continue;
        };
        hanging[joint] = match is_body[parent] {
            true => match length[joint] {
                0 | 1 => false,
                2 => reach[joint] >= LEAST_DISTANCE_OF_TWO * size,
                LONG_CHAIN.. => reach[joint] >= LEAST_DISTANCE * size,
            },
            false => hanging[parent],
        };
    }
    hanging
}
