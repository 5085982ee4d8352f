//! Round trips: files are written back with all their content.

mod gltf_common;

use gltf_common::{FILES, glb, shared, small};
use serde_json::json;
use supple_rig::character::Up;
use supple_rig::formats::gltf::{Document, compare, read_glb, read_gltf, write_glb};
use supple_rig::formats::{ReadOptions, Source};
use supple_rig::skinning::{Method, automatic_rebinding};
use supple_rig::{Character, Clip, Pose};

/// Keeps outputs in the folder `SUPPLE_KEEP`, if set, for inspection with other programs.
fn keep(name: &str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("SUPPLE_KEEP") {
        let name = name.replace('/', "_");
        std::fs::write(std::path::Path::new(&folder).join(name), bytes).unwrap();
    }
}

#[test]
fn every_file_survives_a_round_trip() {
    for name in FILES {
        let Some(bytes) = shared(name) else { return };
        let character = read_glb(&bytes, &ReadOptions::default()).unwrap();
        let written = write_glb(&character).unwrap();
        keep(&format!("same_{name}.glb"), &written);
        let before = Document::from_bytes(&bytes).unwrap();
        let after = Document::from_bytes(&written).unwrap();
        assert!(before.json == after.json, "{name}");
        assert!(before.buffers == after.buffers, "{name}");
        assert_eq!(compare(&before, &after), [], "{name}");
    }
}

#[test]
fn an_added_clip_changes_nothing_else() {
    for name in FILES {
        let Some(bytes) = shared(name) else { return };
        let mut character = read_glb(&bytes, &ReadOptions::default()).unwrap();
        let mut pose = supple_rig::Pose::rest(&character.skeleton);
        let rest = pose.clone();
        for joint in 0..character.skeleton.len() {
            pose.rotate(joint, glam::Quat::from_rotation_x(0.1));
            pose.locals[joint].translation += glam::Vec3::new(0.0, 0.01, 0.0);
        }
        let clip = Clip::from_poses("added", &character.skeleton, 2.0, &[rest, pose.clone()]);
        character.clips.push(clip);
        let written = write_glb(&character).unwrap();
        keep(&format!("clip_{name}.glb"), &written);
        let before = Document::from_bytes(&bytes).unwrap();
        let after = Document::from_bytes(&written).unwrap();
        assert_eq!(compare(&before, &after), [], "{name}");

        let again = read_glb(&written, &ReadOptions::default()).unwrap();
        assert_eq!(again.clips.len(), character.clips.len(), "{name}");
        let added = again.clips.last().unwrap();
        assert_eq!(added.name, "added");
        let back = added.sample(&again.skeleton, 0.5);
        for (a, b) in back.locals.iter().zip(&pose.locals) {
            assert!(a.translation.abs_diff_eq(b.translation, 1e-5), "{name}");
            assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6, "{name}");
        }
    }
}

#[test]
fn a_fresh_file_contains_the_same_character() {
    for name in FILES {
        let Some(bytes) = shared(name) else { return };
        let mut character = read_glb(&bytes, &ReadOptions::default()).unwrap();
        character.source = Source::None;
        let written = write_glb(&character).unwrap();
        keep(&format!("fresh_{name}.glb"), &written);
        let again = read_glb(&written, &ReadOptions::default()).unwrap();
        assert_eq!(again.units.metres_per_unit, 1.0, "{name}");
        assert_eq!(again.skeleton.len(), character.skeleton.len(), "{name}");
        for (a, b) in again.clips.iter().zip(&character.clips) {
            let time = 0.37 * b.duration();
            let (a, b) = (
                a.sample(&again.skeleton, time),
                b.sample(&character.skeleton, time),
            );
            for (a, b) in a.locals.iter().zip(&b.locals) {
                assert!(a.translation.abs_diff_eq(b.translation, 1e-6), "{name}");
                assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6, "{name}");
            }
        }
        assert_eq!(again.materials.len(), character.materials.len(), "{name}");
        for (a, b) in again.parts.iter().zip(&character.parts) {
            assert!(a.mesh == b.mesh, "{name}");
            assert!(a.uvs == b.uvs, "{name}");
            assert_eq!(a.morphs.len(), b.morphs.len(), "{name}");
            assert!(a.binding.inverse_binds == b.binding.inverse_binds, "{name}");
        }
    }
}

#[test]
fn removed_clips_are_gone() {
    let Some(bytes) = shared("characters/Fox.glb") else {
        return;
    };
    let mut character = read_glb(&bytes, &ReadOptions::default()).unwrap();
    character.clips.remove(1);
    let again = read_glb(&write_glb(&character).unwrap(), &ReadOptions::default()).unwrap();
    let names: Vec<_> = again.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert_eq!(names, ["Survey", "Run"]);
}

#[test]
fn external_buffers_and_images_are_embedded() {
    let (mut json, bin) = small();
    let (first, second) = bin.split_at(112);
    json["buffers"] = json!([
        {"byteLength": 112, "uri": "a%20b.bin"},
        {"byteLength": 76, "uri": format!("data:application/octet-stream;base64,{}", encode(second))},
    ]);
    for view in 2..5 {
        let offset = json["bufferViews"][view]["byteOffset"].as_u64().unwrap();
        json["bufferViews"][view]["byteOffset"] = json!(offset - 112);
        json["bufferViews"][view]["buffer"] = json!(1);
    }
    json["images"] = json!([{"uri": "skin.png"}, {"uri": "missing.png"}]);
    let text = serde_json::to_vec(&json).unwrap();
    let mut resolve = |uri: &str| match uri {
        "a%20b.bin" => Ok(first.to_vec()),
        "skin.png" => Ok(vec![0x89, b'P', b'N', b'G']),
        _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    };
    let character = read_gltf(&text, &mut resolve, &ReadOptions::default()).unwrap();
    let before = Document::from_bytes_with(&text, &mut resolve).unwrap();
    let after = Document::from_bytes(&write_glb(&character).unwrap()).unwrap();
    assert_eq!(compare(&before, &after), []);
    assert_eq!(after.buffers.len(), 1);
    assert!(after.json["images"][0].get("bufferView").is_some());
    assert_eq!(after.json["images"][1]["uri"], "missing.png");
}

fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let mut word = [0; 3];
        word[..three.len()].copy_from_slice(three);
        let word = u32::from_be_bytes([0, word[0], word[1], word[2]]);
        for digit in 0..=three.len() {
            text.push(DIGITS[(word >> (18 - 6 * digit)) as usize % 64].into());
        }
        text.extend(std::iter::repeat_n('=', 3 - three.len()));
    }
    text
}

#[test]
fn files_are_written_in_their_own_units() {
    let (json, bin) = small();
    let options = ReadOptions {
        metres_per_unit: Some(0.01),
        up: Some(supple_rig::character::Up::Z),
    };
    let mut character = read_glb(&glb(&json, &bin), &options).unwrap();
    assert_eq!(character.parts[0].mesh.positions[1].x, 0.01);
    assert_eq!(character.parts[0].morphs[0].positions[0].z, 0.001);
    // Z of the file is up.
    let worlds = character.skeleton.rest_worlds();
    let up = worlds[0].transform_vector3(glam::Vec3::Z);
    assert!(up.abs_diff_eq(glam::Vec3::Y, 1e-6));
    let mut pose = supple_rig::Pose::rest(&character.skeleton);
    pose.locals[0].translation.y = 0.05;
    character.clips.push(Clip::from_poses(
        "",
        &character.skeleton,
        1.0,
        &[pose.clone(), pose],
    ));
    let written = write_glb(&character).unwrap();
    let plain = read_glb(
        &written,
        &ReadOptions {
            metres_per_unit: Some(1.0),
            up: None,
        },
    )
    .unwrap();
    let moved = plain.clips[0].sample(&plain.skeleton, 0.0).locals[0];
    assert!(
        moved
            .translation
            .abs_diff_eq(glam::Vec3::new(0.0, 0.0, 5.0), 1e-5)
    );
    assert_eq!(plain.parts[0].mesh.positions[1].x, 1.0);
}

/// Recomputed weights are in the written file, whatever its units, and everything else is unchanged.
#[test]
fn computed_weights_replace_those_of_the_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../supple/assets/female.glb");
    let bytes = std::fs::read(path).unwrap();
    let options = ReadOptions {
        metres_per_unit: Some(0.5),
        up: Some(Up::Z),
    };
    for options in [ReadOptions::default(), options] {
        let file = read_glb(&bytes, &options).unwrap();
        let mut bound = file.clone();
        for (part, old) in bound.parts.iter_mut().zip(&file.parts) {
            part.binding = automatic_rebinding(&file, old).unwrap();
        }
        let back = read_glb(&write_glb(&bound).unwrap(), &options).unwrap();
        assert_eq!(back.materials, file.materials);
        let mut pose = Pose::rest(&file.skeleton);
        let apart = |a: &Character, b: &Character, pose: &Pose| {
            let (a, b) = (a.skin(pose, Method::Lbs), b.skin(pose, Method::Lbs));
            let pairs = a
                .iter()
                .zip(&b)
                .flat_map(|(a, b)| a.positions.iter().zip(&b.positions));
            pairs.fold(0.0_f32, |most, (a, b)| most.max(a.distance(*b)))
        };
        assert!(apart(&file, &bound, &pose) < 1e-4);
        for joint in 0..pose.locals.len() {
            pose.rotate(joint, glam::Quat::from_rotation_x(0.1));
        }
        assert!(
            apart(&file, &bound, &pose) > 1e-3,
            "different weights must move it differently"
        );
        assert!(apart(&back, &bound, &pose) < 1e-4);
    }
}

/// A part bound in its own space (for example centimetres) gets the same weights as in metres.
#[test]
fn computed_weights_do_not_depend_on_the_space_of_the_mesh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../supple/assets/female.glb");
    let file = read_glb(&std::fs::read(path).unwrap(), &ReadOptions::default()).unwrap();
    let mut scaled = file.clone();
    let smaller = glam::Affine3A::from_scale(glam::Vec3::splat(0.01));
    for part in &mut scaled.parts {
        part.mesh.positions.iter_mut().for_each(|p| *p *= 100.0);
        for inverse in &mut part.binding.inverse_binds {
            *inverse *= smaller;
        }
    }
    for (one, other) in file.parts.iter().zip(&scaled.parts) {
        let [one, other] = [(&file, one), (&scaled, other)].map(|(character, part)| {
            let binding = automatic_rebinding(character, part).unwrap();
            (0..part.mesh.positions.len())
                .map(|v| {
                    let list = binding.influences.of(v).iter();
                    list.map(|&(slot, weight)| weight * binding.joints[slot as usize] as f32)
                        .sum::<f32>()
                })
                .collect::<Vec<f32>>()
        });
        let near = one
            .iter()
            .zip(&other)
            .filter(|(a, b)| (**a - **b).abs() < 0.1)
            .count();
        assert!(near * 100 >= 99 * one.len(), "{near} of {}", one.len());
    }
}
