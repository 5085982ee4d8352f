//! Joints that hang from a humanoid: chains for hair, skirts, tails and cords, which are no part of its body.

use glam::DVec3;
use supple_rig::Character;
use supple_rig::retarget::{BoneMap, Humanoid};

use crate::construction::rest_skin::size_of;
use crate::motion::follow::nearest_on;

/// Number of joints from which a chain hangs, if it leaves the bones at all. Breasts have one or two joints and are flesh.
const LONG_CHAIN: usize = 3;
/// Distance from the humanoid's bones, relative to its size, from which a long chain hangs. Joints for twist stay on their
/// bone.
const LEAST_DISTANCE: f64 = 0.03;
/// The same for a chain of two joints.
const LEAST_DISTANCE_OF_TWO: f64 = 0.08;

/// Marks hanging joints. A chain hangs if none of its joints is one of the humanoid's bones, or
/// carries one, and it is long and far enough from them. Skeletons that are no humanoid have none.
pub fn hanging_joints(character: &Character) -> Vec<bool> {
    let joints = character.skeleton.joints();
    let mut hanging = vec![false; joints.len()];
    let Ok(humanoid) = Humanoid::find(&character.skeleton, &BoneMap::of(character)) else {
        return hanging;
    };
    let places: Vec<DVec3> = (character.bind_worlds().iter())
        .map(|world| world.translation.as_dvec3())
        .collect();
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
    let body: Vec<DVec3> = (0..joints.len())
        .filter(|&joint| is_bone[joint])
        .map(|joint| places[joint])
        .collect();
    let size = size_of(&body);
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

#[cfg(test)]
mod tests {
    use supple_rig::Transform;
    use supple_rig::retarget::HumanBone;
    use supple_rig::skeleton::{Joint, JointKind, Skeleton};

    use super::*;

    fn male() -> (Character, usize) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../supple/assets/male.glb");
        let bytes = std::fs::read(path).unwrap();
        let male = supple_rig::formats::gltf::read_glb(&bytes, &Default::default()).unwrap();
        let humanoid = Humanoid::find(&male.skeleton, &BoneMap::of(&male)).unwrap();
        let hips = humanoid.joint(HumanBone::Hips).unwrap();
        (male, hips)
    }

    /// Fingers, toes, breasts and twist joints belong to the body; a tail does not.
    #[test]
    fn a_tail_hangs_and_the_body_does_not() {
        let (mut male, hips) = male();
        let body = male.skeleton.len();
        let humanoid = Humanoid::find(&male.skeleton, &BoneMap::of(&male)).unwrap();
        let head = humanoid.joint(HumanBone::Head).unwrap();
        let joints = male.skeleton.joints();
        let below_head = |joint: usize| {
            let parent = |&j: &usize| joints[j].parent;
            std::iter::successors(Some(joint), parent).any(|j| j == head)
        };
        let found = hanging_joints(&male);
        let wrong = (0..body).find(|&joint| found[joint] && !below_head(joint));
        assert_eq!(wrong.map(|joint| joints[joint].name.clone()), None);
        let mut joints = joints.to_vec();
        for k in 0..4 {
            joints.push(Joint {
                name: format!("tail{k}"),
                parent: Some(if k == 0 { hips } else { body + k - 1 }),
                rest: Transform::from_translation(glam::Vec3::new(0.0, 0.0, -0.15)),
                tail: None,
                kind: JointKind::Bone,
            });
        }
        male.skeleton = Skeleton::from_unordered(joints).unwrap().0;
        let found = hanging_joints(&male);
        assert!(found[body..].iter().all(|&hangs| hangs), "{found:?}");
    }
}
