//! Baked motion, checked on the written files.

mod gltf_common;

use glam::{Quat, Vec3};
use gltf_common::{glb, shared, small};
use serde_json::json;
use supple_rig::bake::{
    BakeError, CorrectiveOptions, Frame, Motion, bake_correctives, bake_frames, playback_errors,
    read_mdd, read_pc2, sequence, write_mdd, write_pc2,
};
use supple_rig::formats::ReadOptions;
use supple_rig::formats::gltf::{Document, compare, read_glb};
use supple_rig::skinning::{dual_quaternion, linear_blend};
use supple_rig::{Character, Pose};

fn keep(name: &str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("SUPPLE_KEEP") {
        std::fs::write(std::path::Path::new(&folder).join(name), bytes).unwrap();
    }
}

/// Dual quaternion skinning plus a wave through the body, which linear blending cannot reproduce.
fn wobble(character: &Character, pose: &Pose, frame: usize) -> Vec<Vec<Vec3>> {
    let worlds = pose.worlds(&character.skeleton);
    let wave =
        |point: Vec3| 0.01 * (20.0 * point.y + 0.7 * frame as f32).sin() * Vec3::new(1.0, 0.3, 0.5);
    character
        .parts
        .iter()
        .map(|part| {
            let posed = dual_quaternion(part, &worlds, &part.morph_weights).positions;
            posed.into_iter().map(|point| point + wave(point)).collect()
        })
        .collect()
}

fn motion(character: &Character, frames: usize) -> Motion {
    let fps = 24.0;
    let pose_at = |frame: usize| match character.clips.first() {
        Some(clip) => clip.sample(&character.skeleton, frame as f32 / fps),
        None => {
            let mut pose = Pose::rest(&character.skeleton);
            for joint in 1..character.skeleton.len() {
                let angle = 0.15 * (0.4 * frame as f32 + joint as f32).sin();
                pose.rotate(joint, Quat::from_rotation_z(angle));
            }
            pose
        }
    };
    let poses: Vec<Pose> = (0..frames).map(pose_at).collect();
    Motion {
        fps,
        frames: poses
            .iter()
            .enumerate()
            .map(|(frame, pose)| wobble(character, pose, frame))
            .collect(),
        poses,
        ..Motion::default()
    }
}

#[test]
fn correctives_meet_their_bound_when_read_back() {
    for (name, frames) in [
        ("characters/CesiumMan.glb", 24),
        ("characters/Fox.glb", 24),
        ("characters/100Avatars_001_Crimsom.vrm", 12),
    ] {
        let Some(bytes) = shared(name) else { return };
        let character = read_glb(&bytes, &ReadOptions::default()).unwrap();
        let motion = motion(&character, frames);
        let before = {
            let worlds = motion
                .poses
                .iter()
                .map(|pose| pose.worlds(&character.skeleton));
            let skin = |worlds: Vec<_>| -> Vec<Vec<Vec3>> {
                let parts = character.parts.iter();
                parts
                    .map(|part| linear_blend(part, &worlds, &part.morph_weights).positions)
                    .collect()
            };
            let skinned: Vec<_> = worlds.map(skin).collect();
            motion.errors(|frame| skinned[frame].clone())
        };
        let options = CorrectiveOptions {
            bound_mm: 1.0,
            ..CorrectiveOptions::default()
        };
        let (written, report) = bake_correctives(&character, &motion, &options).unwrap();
        keep(&format!("bake_{}.glb", name.replace('/', "_")), &written);
        println!("{name}: without {before:?}, baked {report:?}");
        assert!(report.bound_met && report.errors.max_mm <= 1.0, "{name}");
        assert!((1..=64).contains(&report.targets), "{name}");

        let units = character.units;
        let errors = playback_errors(&written, units, &motion).unwrap();
        assert_eq!(errors, report.errors, "{name}");
        let original = Document::from_bytes(&bytes).unwrap();
        let baked = Document::from_bytes(&written).unwrap();
        assert_eq!(compare(&original, &baked), [], "{name}");
        let again = read_glb(&written, &ReadOptions::default()).unwrap();
        let own = character.parts[0].morphs.len();
        assert_eq!(again.parts[0].morphs.len(), own + report.targets, "{name}");
        assert_eq!(again.clips.len(), character.clips.len() + 1, "{name}");
        let names: Vec<&str> = again.clips.iter().map(|clip| clip.name.as_str()).collect();
        assert_eq!(names[0], "supple", "{name}");
        // Sliders in other programs are limited to 0..1.
        let weights = &again.clips[0].morphs[0].weights;
        let reach = |weight: &f32| (0.0..=1.0).contains(weight);
        assert!(weights.iter().all(reach), "{name}");

        // With one target fewer, the bound must not be met.
        let fewer = CorrectiveOptions {
            max_targets: report.targets - 1,
            ..options
        };
        let (_, report) = bake_correctives(&character, &motion, &fewer).unwrap();
        assert!(!report.bound_met, "{name}");
    }
}

/// Captured motion is not a sum of a few shapes: here every one of a hundred frames has a shape of its own.
#[test]
fn a_long_motion_gets_as_many_targets_as_it_needs() {
    let Some(bytes) = shared("characters/CesiumMan.glb") else {
        return;
    };
    let character = read_glb(&bytes, &ReadOptions::default()).unwrap();
    let mut motion = motion(&character, 100);
    let noise = |k: usize| ((k as f32 * 12.9898).sin() * 43_758.547).fract() - 0.5;
    let noisy = motion.frames.iter().enumerate().map(|(frame, parts)| {
        let mut parts = parts.into_owned();
        for (vertex, point) in parts.iter_mut().flatten().enumerate() {
            *point += 0.02 * noise(7919 * frame + vertex) * Vec3::new(1.0, 0.5, -0.5);
        }
        parts
    });
    motion.frames = noisy.collect();
    let options = CorrectiveOptions::default();
    let (_, report) = bake_correctives(&character, &motion, &options).unwrap();
    assert!(report.bound_met, "{report:?}");
    assert!(report.targets > 64, "{report:?}");
}

#[test]
fn linear_blending_needs_no_targets() {
    let Some(bytes) = shared("characters/CesiumMan.glb") else {
        return;
    };
    let character = read_glb(&bytes, &ReadOptions::default()).unwrap();
    let mut motion = motion(&character, 6);
    let frames = motion.poses.iter().map(|pose| {
        let worlds = pose.worlds(&character.skeleton);
        vec![linear_blend(&character.parts[0], &worlds, &[]).positions]
    });
    motion.frames = frames.collect();
    let (_, report) = bake_correctives(&character, &motion, &CorrectiveOptions::default()).unwrap();
    assert_eq!(report.targets, 0);
    assert!(report.errors.max_mm < 0.01);
}

#[test]
fn one_target_per_frame_is_exact() {
    let Some(bytes) = shared("characters/Fox.glb") else {
        return;
    };
    let character = read_glb(&bytes, &ReadOptions::default()).unwrap();
    let motion = motion(&character, 10);
    let (written, report) = bake_frames(&character, &motion, "frames").unwrap();
    keep("frames_fox.glb", &written);
    println!("{report:?}");
    assert_eq!(report.targets, 10);
    // Single precision over a character of 1.5 m, stored in centimetres.
    assert!(report.errors.max_mm < 0.005);
}

/// Two nodes that share one mesh with an animated morph target.
fn instanced() -> Character {
    let (mut json, mut bin) = small();
    json["nodes"][0]["children"] = json!([1, 2, 3]);
    json["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "second", "mesh": 0, "translation": [2, 0, 0]}));
    [0f32, 1.0, 0.25, 0.75]
        .iter()
        .for_each(|number| bin.extend(number.to_le_bytes()));
    json["buffers"][0]["byteLength"] = json!(204);
    let views = json["bufferViews"].as_array_mut().unwrap();
    views.push(json!({"buffer": 0, "byteOffset": 188, "byteLength": 8}));
    views.push(json!({"buffer": 0, "byteOffset": 196, "byteLength": 8}));
    let accessors = json["accessors"].as_array_mut().unwrap();
    accessors.push(json!({"bufferView": 5, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1]}));
    accessors.push(json!({"bufferView": 6, "componentType": 5126, "count": 2, "type": "SCALAR"}));
    json["animations"] = json!([{
        "name": "face",
        "samplers": [{"input": 5, "output": 6}],
        "channels": [{"sampler": 0, "target": {"node": 2, "path": "weights"}}],
    }]);
    read_glb(&glb(&json, &bin), &ReadOptions::default()).unwrap()
}

#[test]
fn instances_and_existing_targets_are_kept() {
    let character = instanced();
    assert_eq!(character.parts.len(), 2);
    assert_eq!(character.clips[0].morphs.len(), 1);
    let mut motion = motion(&character, 5);
    motion.morph_weights = (0..5)
        .map(|frame| vec![vec![0.2 * frame as f32]; 2])
        .collect();
    let options = CorrectiveOptions {
        bound_mm: 0.05,
        ..CorrectiveOptions::default()
    };
    let (written, report) = bake_correctives(&character, &motion, &options).unwrap();
    keep("bake_instanced.glb", &written);
    assert!(report.bound_met, "{report:?}");
    let again = read_glb(&written, &ReadOptions::default()).unwrap();
    let document = Document::from_bytes(&written).unwrap();
    assert_eq!(document.json["meshes"].as_array().unwrap().len(), 2);
    // The file's own animation is unchanged, with the new targets at rest.
    let face = again.clips[1].sample_morphs(0, 0.5).unwrap();
    assert_eq!(face.len(), again.parts[0].morphs.len());
    assert!((face[0] - 0.5).abs() < 1e-6 && face[1..].iter().all(|&weight| weight == 0.0));
    // The new animation includes the file's own target.
    let baked = again.clips[0].sample_morphs(0, motion.time(3)).unwrap();
    assert!((baked[0] - 0.6).abs() < 1e-6);
}

#[test]
fn point_caches_are_exact() {
    let character = instanced();
    let motion = motion(&character, 4);
    let flat: Vec<Vec<Vec3>> = motion.frames.iter().map(|frame| frame.concat()).collect();
    let mut bytes = Vec::new();
    write_pc2(&motion, &mut bytes).unwrap();
    let mut cache = read_pc2(bytes.as_slice(), 24.0).unwrap();
    assert_eq!(cache.frames, 4);
    for frame in &flat {
        assert_eq!(cache.next_frame().unwrap(), *frame);
    }
    assert!(cache.next_frame().is_err());
    let mut bytes = Vec::new();
    write_mdd(&motion, &mut bytes).unwrap();
    assert_eq!(bytes.len(), 8 + 4 * 4 + 4 * 8 * 12);
    let mut cache = read_mdd(bytes.as_slice()).unwrap();
    assert!((cache.fps - 24.0).abs() < 1e-4);
    for frame in &flat {
        assert_eq!(cache.next_frame().unwrap(), *frame);
    }
    assert!(read_mdd(&bytes[..20]).is_err() && read_pc2(bytes.as_slice(), 1.0).is_err());
    // A header with too large counts allocates nothing.
    let mut greedy = bytes[..24].to_vec();
    greedy[4..8].fill(0xff);
    assert!(read_mdd(greedy.as_slice()).unwrap().next_frame().is_err());
}

#[test]
fn a_sequence_contains_each_frame() {
    let character = instanced();
    let motion = motion(&character, 3);
    let mut seen = Vec::new();
    sequence::<BakeError>(&character, &motion, |frame, still| {
        seen.push(frame);
        assert_eq!(still.parts[1].mesh.positions, motion.frames.get(frame)[1]);
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, [0, 1, 2]);
}

#[test]
fn motions_of_other_characters_are_refused() {
    let character = instanced();
    let good = motion(&character, 3);
    let frames: Vec<Frame> = good.frames.iter().map(|frame| frame.into_owned()).collect();
    let with = |change: &dyn Fn(&mut Vec<Frame>)| {
        let mut frames = frames.clone();
        change(&mut frames);
        Motion {
            frames: frames.into(),
            ..good.clone()
        }
    };
    let bad = with(&|frames| {
        frames[1][0].pop();
    });
    assert!(matches!(bad.check(&character), Err(BakeError::Mismatch(_))));
    let bad = with(&|frames| frames[2][1][3].y = f32::NAN);
    let error = bad.check(&character);
    assert!(matches!(
        error,
        Err(BakeError::NotFinite {
            frame: 2,
            part: 1,
            vertex: 3
        })
    ));
    let mut bad = good;
    bad.poses.clear();
    assert!(matches!(bad.check(&character), Err(BakeError::Mismatch(_))));
}
