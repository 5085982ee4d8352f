//! Shared test files, and hand-made glTF documents.
#![allow(dead_code)]

use std::path::PathBuf;

use serde_json::{Value, json};

/// All glTF files of the shared data.
pub const FILES: [&str; 5] = [
    "body/male.glb",
    "body/female.glb",
    "characters/Fox.glb",
    "characters/CesiumMan.glb",
    "characters/100Avatars_001_Crimsom.vrm",
];

/// Bytes of a shared file; `None` with a printed reason if the folder is missing, which is a failure in CI.
pub fn shared(name: &str) -> Option<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !root.is_dir() {
        assert!(
            std::env::var_os("CI").is_none(),
            "../shared/data is required in CI"
        );
        println!("skipped: ../shared/data was not found");
        return None;
    }
    Some(std::fs::read(root.join(name)).unwrap())
}

/// JSON and binary chunk of a GLB, read independently of Supple.
pub fn split(glb: &[u8]) -> (Value, Vec<u8>) {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let json = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    let bin = glb.get(28 + length..).unwrap_or_default().to_vec();
    (json, bin)
}

/// A GLB from JSON and a binary chunk.
pub fn glb(json: &Value, bin: &[u8]) -> Vec<u8> {
    let mut text = serde_json::to_vec(json).unwrap();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bin = bin.to_vec();
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut bytes = b"glTF".to_vec();
    let total = 12 + 8 + text.len() + 8 + bin.len();
    for word in [2, total as u32, text.len() as u32, 0x4E4F_534A] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(text);
    bytes.extend((bin.len() as u32).to_le_bytes());
    bytes.extend(0x004E_4942u32.to_le_bytes());
    bytes.extend(bin);
    bytes
}

/// A square of two triangles bound to one joint, with a morph target: small enough to break on purpose.
pub fn small() -> (Value, Vec<u8>) {
    let mut bin: Vec<u8> = Vec::new();
    let mut floats = |numbers: &[f32]| numbers.iter().for_each(|n| bin.extend(n.to_le_bytes()));
    floats(&[0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.]); // positions, 48
    floats(&[1., 0., 0., 0.].repeat(4)); // weights, 64 at 48
    floats(&[0., 0., 0.1].repeat(4)); // morph, 48 at 112
    bin.extend([0u8; 16]); // joints at 160
    [0u16, 1, 2, 0, 2, 3]
        .iter()
        .for_each(|i| bin.extend(i.to_le_bytes())); // 12 at 176
    let json = json!({
        "asset": {"version": "2.0"},
        "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [
            {"name": "root", "children": [1, 2]},
            {"name": "bone", "translation": [0, 0, 0]},
            {"name": "skin", "mesh": 0, "skin": 0},
        ],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0, "WEIGHTS_0": 1, "JOINTS_0": 3},
            "indices": 4, "targets": [{"POSITION": 2}],
        }], "weights": [0.0]}],
        "skins": [{"joints": [1]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC4"},
            {"bufferView": 2, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0.1], "max": [0, 0, 0.1]},
            {"bufferView": 3, "componentType": 5121, "count": 4, "type": "VEC4"},
            {"bufferView": 4, "componentType": 5123, "count": 6, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 48},
            {"buffer": 0, "byteOffset": 48, "byteLength": 64},
            {"buffer": 0, "byteOffset": 112, "byteLength": 48},
            {"buffer": 0, "byteOffset": 160, "byteLength": 16},
            {"buffer": 0, "byteOffset": 176, "byteLength": 12},
        ],
        "buffers": [{"byteLength": 188}],
    });
    (json, bin)
}
