//! Compressed and quantized files hold the same character as the plain one. `fixtures/compressed/README.md` tells how they were
//! made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use glam::Vec3;
use supple_rig::Character;
use supple_rig::formats::ReadOptions;
use supple_rig::formats::gltf::{Document, read_glb, write_glb};
use supple_rig::rigging::rest_mesh;

const COMPRESSED: [&str; 6] = [
    "tube_quantized.glb",
    "tube_meshopt.glb",
    "tube_meshopt_v1.glb",
    "tube_filtered.glb",
    "tube_draco.glb",
    "tube_draco_sequential.glb",
];

fn bytes(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/compressed");
    std::fs::read(folder.join(name)).unwrap()
}

fn read(bytes: &[u8]) -> Character {
    read_glb(bytes, &ReadOptions::default()).unwrap()
}

/// The tube's vertex at each place of its 10 × 15 texture grid. Encoders may reorder vertices.
fn grid(character: &Character) -> BTreeMap<(i32, i32), usize> {
    let uvs = character.parts[0].uvs.iter().enumerate();
    uvs.map(|(vertex, uv)| {
        let place = (10.0 * uv.x).round() as i32;
        ((place, (15.0 * uv.y).round() as i32), vertex)
    })
    .collect()
}

/// Triangles by the grid places of their corners, from the smallest on.
fn triangles(character: &Character) -> BTreeSet<Vec<(i32, i32)>> {
    let places: BTreeMap<usize, (i32, i32)> = (character.parts[0].uvs.iter().enumerate())
        .map(|(vertex, uv)| {
            let place = ((10.0 * uv.x).round() as i32, (15.0 * uv.y).round() as i32);
            (vertex, place)
        })
        .collect();
    let triangles = character.parts[0].mesh.triangles.iter();
    triangles
        .map(|corners| {
            let corners = corners.map(|corner| places[&(corner as usize)]);
            let first = (0..3).min_by_key(|&k| corners[k]).unwrap();
            (0..3).map(|k| corners[(first + k) % 3]).collect()
        })
        .collect()
}

/// Fails unless the characters are the same but for quantization.
fn assert_same(plain: &Character, other: &Character, name: &str) {
    assert_eq!(triangles(plain), triangles(other), "{name}: triangles");
    let (one, two) = (grid(plain), grid(other));
    let places = [plain, other].map(|character| rest_mesh(character).positions);
    let (a, b) = (&plain.parts[0], &other.parts[0]);
    for (place, &v) in &one {
        let w = two[place];
        // Two metres in 14 bits; normals in 8 bits; colours and weights in 8 bits.
        let off = places[0][v].distance(places[1][w]);
        assert!(off < 2.0 / 8192.0, "{name}: position {off} m off");
        let turn = a.normals[v].angle_between(b.normals[w]);
        assert!(turn < 0.02, "{name}: normal {turn} off");
        let colour = a.colors[v].distance(b.colors[w]);
        assert!(colour < 0.012, "{name}: colour {colour} off");
        let weight = |character: &Character, vertex: usize| -> f32 {
            let binding = &character.parts[0].binding;
            let list = binding.influences.of(vertex).iter();
            list.filter(|(slot, _)| *slot == 1).map(|(_, w)| w).sum()
        };
        let off = (weight(plain, v) - weight(other, w)).abs();
        assert!(off < 0.012, "{name}: weight {off} off");
        let morph =
            [(a, v), (b, w)].map(|(part, vertex)| part.morphs.first().map(|m| m.positions[vertex]));
        if let [Some(x), Some(y)] = morph {
            // Morph targets are in the quantized mesh's own space: compare directions.
            assert!(
                x.angle_between(y) < 0.1 || x.length() < 5e-3,
                "{name}: morph {x} {y}"
            );
        }
    }
    for k in 0..=8 {
        let time = 0.25 * k as f32;
        let pose = |character: &Character| {
            let pose = character.clips[0].sample(&character.skeleton, time);
            let worlds = pose.worlds(&character.skeleton);
            let joint = character.skeleton.find("b").unwrap();
            worlds[joint].transform_point3(Vec3::Y)
        };
        let off = pose(plain).distance(pose(other));
        assert!(off < 2e-3, "{name}: the tip is {off} m off at {time} s");
    }
}

#[test]
fn compressed_files_hold_the_same_character() {
    let plain = read(&bytes("tube.glb"));
    for name in COMPRESSED {
        let other = read(&bytes(name));
        assert_same(&plain, &other, name);
        let warnings: Vec<_> = other.problems.iter().collect();
        assert!(warnings.is_empty(), "{name}: {warnings:?}");
    }
}

#[test]
fn written_files_are_plain_and_the_same() {
    for name in COMPRESSED {
        let read_once = read(&bytes(name));
        let written = write_glb(&read_once).unwrap();
        let document = Document::from_bytes(&written).unwrap();
        let text = document.json.to_string();
        for extension in ["meshopt", "draco"] {
            assert!(!text.contains(extension), "{name} still names {extension}");
        }
        assert_eq!(document.count("buffers"), 1, "{name}");
        let again = read(&written);
        let (a, b) = (&read_once.parts[0], &again.parts[0]);
        assert_eq!(a.mesh.positions, b.mesh.positions, "{name}");
        assert_eq!(a.mesh.triangles, b.mesh.triangles, "{name}");
        assert_eq!(read_once.clips, again.clips, "{name}");
    }
}
