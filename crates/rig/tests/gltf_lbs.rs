//! Skinning of real files, compared to a double-precision evaluation directly from the JSON and the buffer.

mod gltf_common;

use glam::{DAffine3, DMat4, DQuat, DVec3};
use gltf_common::{shared, split};
use serde_json::Value;
use supple_rig::formats::ReadOptions;
use supple_rig::formats::gltf::read_glb;
use supple_rig::skinning::linear_blend;

struct File {
    json: Value,
    bin: Vec<u8>,
}

impl File {
    /// Elements of an accessor, as stored.
    fn numbers(&self, accessor: &Value) -> Vec<Vec<f64>> {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        let view = &self.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let kind = accessor["componentType"].as_u64().unwrap();
        let size = [(5121, 1), (5123, 2), (5125, 4), (5126, 4)]
            .iter()
            .find(|(k, _)| *k == kind)
            .unwrap()
            .1;
        let uint = |value: &Value| value.as_u64().unwrap_or(0) as usize;
        let start = uint(&view["byteOffset"]) + uint(&accessor["byteOffset"]);
        let stride = match uint(&view["byteStride"]) {
            0 => width * size,
            stride => stride,
        };
        (0..uint(&accessor["count"]))
            .map(|element| {
                (0..width)
                    .map(|component| {
                        let at = start + element * stride + component * size;
                        let bytes = &self.bin[at..at + size];
                        match kind {
                            5121 => f64::from(bytes[0]),
                            5123 => f64::from(u16::from_le_bytes(bytes.try_into().unwrap())),
                            5125 => f64::from(u32::from_le_bytes(bytes.try_into().unwrap())),
                            _ => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
                        }
                    })
                    .collect()
            })
            .collect()
    }

    /// An animated property at a time, by linear interpolation.
    fn sample(&self, animation: &Value, node: usize, path: &str, time: f64) -> Option<Vec<f64>> {
        let channels = animation["channels"].as_array().unwrap();
        let channel = channels.iter().find(|channel| {
            channel["target"]["node"] == node && channel["target"]["path"] == path
        })?;
        let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
        let times: Vec<f64> = self.numbers(&sampler["input"]).concat();
        let values = self.numbers(&sampler["output"]);
        let next = times
            .iter()
            .position(|&key| key > time)
            .unwrap_or(times.len());
        if next == 0 || next == times.len() {
            return Some(values[next.saturating_sub(1)].clone());
        }
        let (from, to) = (&values[next - 1], &values[next]);
        let t = (time - times[next - 1]) / (times[next] - times[next - 1]);
        if path == "rotation" {
            return Some(slerp(from, to, t));
        }
        Some(
            from.iter()
                .zip(to)
                .map(|(a, b)| a * (1.0 - t) + b * t)
                .collect(),
        )
    }

    fn local(&self, animation: &Value, node: usize, time: f64) -> DAffine3 {
        let entry = &self.json["nodes"][node];
        if let Some(matrix) = entry.get("matrix") {
            let numbers = floats(matrix);
            return DAffine3::from_mat4(DMat4::from_cols_slice(&numbers));
        }
        let property = |path: &str, default: &[f64]| {
            let at_rest = || entry.get(path).map(floats);
            let animated = self.sample(animation, node, path, time);
            animated
                .or_else(at_rest)
                .unwrap_or_else(|| default.to_vec())
        };
        DAffine3::from_scale_rotation_translation(
            DVec3::from_slice(&property("scale", &[1.0; 3])),
            DQuat::from_slice(&property("rotation", &[0.0, 0.0, 0.0, 1.0])).normalize(),
            DVec3::from_slice(&property("translation", &[0.0; 3])),
        )
    }

    fn worlds(&self, animation: &Value, time: f64) -> Vec<DAffine3> {
        let nodes = self.json["nodes"].as_array().unwrap();
        let mut parents = vec![None; nodes.len()];
        for (index, node) in nodes.iter().enumerate() {
            for child in node["children"].as_array().into_iter().flatten() {
                parents[child.as_u64().unwrap() as usize] = Some(index);
            }
        }
        let locals: Vec<_> = (0..nodes.len())
            .map(|node| self.local(animation, node, time))
            .collect();
        (0..nodes.len())
            .map(|node| {
                let mut world = locals[node];
                let mut above = parents[node];
                while let Some(parent) = above {
                    world = locals[parent] * world;
                    above = parents[parent];
                }
                world
            })
            .collect()
    }

    /// The only skinned primitive of the file.
    fn skinned(&self, animation: &Value, time: f64) -> Vec<DVec3> {
        let worlds = self.worlds(animation, time);
        let skin = &self.json["skins"][0];
        let inverses = self.numbers(&skin["inverseBindMatrices"]);
        let joints = skin["joints"].as_array().unwrap();
        let matrices: Vec<DAffine3> = joints
            .iter()
            .zip(&inverses)
            .map(|(joint, inverse)| {
                let inverse = DAffine3::from_mat4(DMat4::from_cols_slice(inverse));
                worlds[joint.as_u64().unwrap() as usize] * inverse
            })
            .collect();
        let attributes = &self.json["meshes"][0]["primitives"][0]["attributes"];
        let positions = self.numbers(&attributes["POSITION"]);
        let slots = self.numbers(&attributes["JOINTS_0"]);
        let weights = self.numbers(&attributes["WEIGHTS_0"]);
        (0..positions.len())
            .map(|vertex| {
                let sum: f64 = weights[vertex].iter().sum();
                let point = DVec3::from_slice(&positions[vertex]);
                let corners = slots[vertex].iter().zip(&weights[vertex]);
                corners
                    .map(|(&slot, &weight)| {
                        weight / sum * matrices[slot as usize].transform_point3(point)
                    })
                    .sum()
            })
            .collect()
    }
}

fn floats(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_f64().unwrap())
        .collect()
}

/// glTF 2.0, appendix C.4.
fn slerp(from: &[f64], to: &[f64], t: f64) -> Vec<f64> {
    let dot: f64 = from.iter().zip(to).map(|(a, b)| a * b).sum();
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let angle = dot.abs().min(1.0).acos();
    let (a, b) = match angle < 1e-9 {
        true => (1.0 - t, t),
        false => (
            ((1.0 - t) * angle).sin() / angle.sin(),
            (t * angle).sin() / angle.sin(),
        ),
    };
    from.iter()
        .zip(to)
        .map(|(x, y)| a * x + sign * b * y)
        .collect()
}

#[test]
fn linear_blend_agrees_with_double_precision() {
    for name in ["characters/CesiumMan.glb", "characters/Fox.glb"] {
        let Some(bytes) = shared(name) else { return };
        let (json, bin) = split(&bytes);
        let file = File { json, bin };
        let character = read_glb(&bytes, &ReadOptions::default()).unwrap();
        let metres = f64::from(character.units.metres_per_unit);
        let mut worst: f64 = 0.0;
        for (index, clip) in character.clips.iter().enumerate() {
            let animation = &file.json["animations"][index];
            for step in 0..10 {
                let time = clip.duration() * (step as f32 + 0.37) / 10.0;
                let expected = file.skinned(animation, f64::from(time));
                let worlds = clip
                    .sample(&character.skeleton, time)
                    .worlds(&character.skeleton);
                let posed = linear_blend(&character.parts[0], &worlds, &[]);
                assert_eq!(posed.positions.len(), expected.len());
                let heights = expected.iter().map(|point| point.y * metres);
                let height =
                    heights.clone().fold(f64::MIN, f64::max) - heights.fold(f64::MAX, f64::min);
                for (got, expected) in posed.positions.iter().zip(&expected) {
                    let error = got.as_dvec3().distance(*expected * metres) / height;
                    worst = worst.max(error);
                }
            }
        }
        println!("{name}: {worst:.2e} of the height");
        assert!(worst < 1e-5, "{name}: {worst:e}");
    }
}
