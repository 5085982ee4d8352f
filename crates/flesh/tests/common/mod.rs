//! Readers for the shared test data, and where to find it.
#![allow(dead_code)]

use std::path::PathBuf;

use glam::{Quat, Vec3};
use supple_geom::TriMesh;
use supple_rig::skeleton::JointKind;
use supple_rig::{Character, Joint, Part, Pose, Skeleton, Transform};

/// `../shared/data/<path>`, or `None` with a printed reason; missing data is a failure in CI.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !root.exists() {
        assert!(
            std::env::var_os("CI").is_none(),
            "../shared/data is required in CI"
        );
        println!("skipped: ../shared/data is not here");
        return None;
    }
    Some(root.join(path))
}

/// One of the fps models in its own units and axes.
pub fn fps(model: &str, mesh: &str) -> Option<Character> {
    let mesh = read_off(&shared(&format!("fps/{model}/{mesh}.off"))?);
    let skeleton = read_skel(&shared(&format!("fps/{model}/{model}.skel"))?);
    Some(Character {
        name: model.to_owned(),
        skeleton,
        parts: vec![Part {
            name: model.to_owned(),
            mesh,
            ..Part::default()
        }],
        ..Character::default()
    })
}

fn read_off(path: &std::path::Path) -> TriMesh {
    let text = std::fs::read_to_string(path).unwrap();
    let mut words = text.split_whitespace().skip(1);
    let mut next = || words.next().unwrap().parse::<f32>().unwrap();
    let (vertices, faces, _) = (next() as usize, next() as usize, next());
    let positions = (0..vertices)
        .map(|_| Vec3::new(next(), next(), next()))
        .collect();
    let triangles = (0..faces)
        .map(|_| {
            assert_eq!(next(), 3.0);
            [next() as u32, next() as u32, next() as u32]
        })
        .collect();
    TriMesh {
        positions,
        triangles,
    }
}

fn read_skel(path: &std::path::Path) -> Skeleton {
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|row| row.len() == 5)
        .collect();
    let position = |row: &[&str]| Vec3::from_array([0, 1, 2].map(|k| row[k].parse().unwrap()));
    let joints = rows
        .iter()
        .map(|row| {
            let parent = rows.iter().position(|other| other[3] == row[4]);
            let origin = parent.map_or(Vec3::ZERO, |p| position(&rows[p]));
            Joint {
                name: row[3].to_owned(),
                parent,
                rest: Transform::from_translation(position(row) - origin),
                tail: None,
                kind: JointKind::Bone,
            }
        })
        .collect();
    Skeleton::from_unordered(joints).unwrap().0
}

/// Little-endian float triples.
pub fn read_f32(path: &std::path::Path) -> Vec<Vec3> {
    let bytes = std::fs::read(path).unwrap();
    let floats: Vec<f32> = bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    floats.chunks_exact(3).map(Vec3::from_slice).collect()
}

/// A pose of the reference index; joints are told by their place.
pub fn reference_pose(skeleton: &Skeleton, entry: &serde_json::Value) -> Pose {
    let mut pose = Pose::rest(skeleton);
    let worlds = skeleton.rest_worlds();
    let Some(joints) = entry["joints"].as_array() else {
        return keyed_pose(skeleton, entry["pose"].as_str().unwrap());
    };
    for joint in joints {
        let rest = Vec3::from_array([0, 1, 2].map(|k| joint["rest"][k].as_f64().unwrap() as f32));
        let distance = |j: usize| Vec3::from(worlds[j].translation).distance(rest);
        let index = (0..skeleton.len())
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
            .unwrap();
        let q: Vec<f32> = joint["quat_wxyz"]
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap() as f32)
            .collect();
        pose.rotate(index, Quat::from_xyzw(q[1], q[2], q[3], q[0]).normalize());
    }
    pose
}

/// A GLB or VRM file.
pub fn glb(path: &std::path::Path) -> Character {
    let bytes = std::fs::read(path).unwrap();
    let mut character =
        supple_rig::formats::gltf::read_glb(&bytes, &supple_rig::formats::ReadOptions::default())
            .unwrap();
    character.name = path.file_name().unwrap().to_string_lossy().into_owned();
    character
}

/// "male0.anim keyframe 2": that key of that file.
fn keyed_pose(skeleton: &Skeleton, text: &str) -> Pose {
    let (file, key) = text.split_once(" keyframe ").unwrap();
    let folder = file
        .trim_end_matches(|c: char| !c.is_alphabetic())
        .trim_end_matches(".anim");
    let folder = folder.trim_end_matches(|c: char| c.is_ascii_digit());
    let path = shared(&format!("fps/{folder}/{file}")).unwrap();
    let words = std::fs::read_to_string(path).unwrap();
    let numbers: Vec<f32> = words
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    let joints = numbers[1] as usize;
    let key: usize = key.parse().unwrap();
    let block = &numbers[2 + key * (1 + 4 * joints)..][1..][..4 * joints];
    let mut pose = Pose::rest(skeleton);
    for joint in 0..joints {
        let axis = Vec3::from_slice(&block[3 * joint..]);
        let angle = block[3 * joints + joint];
        if let Some(axis) = axis.try_normalize() {
            pose.rotate(joint, Quat::from_axis_angle(axis, angle));
        }
    }
    pose
}

/// The character in other units.
pub fn scaled(mut character: Character, factor: f32) -> Character {
    for part in &mut character.parts {
        part.mesh.positions.iter_mut().for_each(|p| *p *= factor);
    }
    for joint in 0..character.skeleton.len() {
        character.skeleton.rest_mut(joint).translation *= factor;
    }
    character
}
