//! The hand-written FBX of a bending tube, read and evaluated.
#![cfg(feature = "fbx")]

use glam::{Quat, Vec3};
use supple_rig::Character;
use supple_rig::character::Up;
use supple_rig::clip::Values;
use supple_rig::formats::fbx::read_fbx;
use supple_rig::formats::{FormatError, ReadOptions, load, save_character};

const TUBE: &str = include_str!("fixtures/tube.fbx");

fn nothing(name: &str) -> Result<Vec<u8>, FormatError> {
    Err(FormatError::invalid(name, "not there"))
}

fn read(text: &str) -> Result<Character, FormatError> {
    read_fbx(text.as_bytes(), &nothing, &ReadOptions::default())
}

#[test]
fn mesh_and_skeleton_in_metres() {
    let character = read(TUBE).unwrap();
    assert_eq!(character.units.metres_per_unit, 0.01);
    assert!(character.units.declared);
    let names: Vec<&str> = character
        .skeleton
        .joints()
        .iter()
        .map(|j| j.name.as_str())
        .collect();
    assert!(
        names.contains(&"lower") && names.contains(&"upper"),
        "{names:?}"
    );
    let part = &character.parts[0];
    // 16 positions, and where the texture wraps around each of the 4 rings a second vertex.
    assert_eq!(part.mesh.positions.len(), 20);
    assert_eq!(part.mesh.triangles.len(), 28);
    assert!(part.mesh.positions[15].abs_diff_eq(Vec3::new(0.05, 0.3, -0.05), 1e-6));
    let volume: f32 = part
        .mesh
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| part.mesh.positions[i as usize]);
            a.dot(b.cross(c)) / 6.0
        })
        .sum();
    assert!((volume - 0.003).abs() < 1e-6, "outward faces: {volume}");
    assert_eq!(part.uvs.len(), 20);
    assert_eq!(character.materials[0].name, "skin");
    assert_eq!(part.material, Some(0));
}

#[test]
fn skin_and_bend() {
    let character = read(TUBE).unwrap();
    let binding = &character.parts[0].binding;
    let upper = character.skeleton.find("upper").unwrap();
    let slot = binding
        .joints
        .iter()
        .position(|&joint| joint == upper)
        .unwrap();
    let bind = binding.inverse_binds[slot];
    assert!(
        bind.transform_point3(Vec3::new(0.0, 0.3, 0.0))
            .abs_diff_eq(Vec3::new(0.0, 0.15, 0.0), 1e-6)
    );
    for vertex in 0..character.parts[0].mesh.positions.len() {
        let sum: f32 = binding
            .influences
            .of(vertex)
            .iter()
            .map(|entry| entry.1)
            .sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }
    let clip = &character.clips[0];
    assert_eq!(clip.name, "bend");
    assert!((clip.duration() - 1.0).abs() < 1e-6);
    let worlds = clip
        .sample(&character.skeleton, 1.0)
        .worlds(&character.skeleton);
    // The tip, 15 cm above the bend, turns by 90° about Z: to -X.
    let tip = (worlds[upper] * bind).transform_point3(Vec3::new(0.0, 0.3, 0.0));
    assert!(tip.abs_diff_eq(Vec3::new(-0.15, 0.15, 0.0), 1e-5), "{tip}");
    let half = clip.sample(&character.skeleton, 0.5).locals[upper].rotation;
    assert!(half.abs_diff_eq(Quat::from_rotation_z(45f32.to_radians()), 1e-4));
    assert!(
        clip.tracks
            .iter()
            .any(|t| matches!(t.values, Values::Rotation(_)))
    );
}

#[test]
fn blend_shape_and_its_weight() {
    let character = read(TUBE).unwrap();
    let part = &character.parts[0];
    assert_eq!(part.morphs.len(), 1);
    assert!(part.morphs[0].positions[4].abs_diff_eq(Vec3::new(0.02, 0.0, 0.02), 1e-6));
    assert_eq!(part.morphs[0].positions[0], Vec3::ZERO);
    let track = &character.clips[0].morphs[0];
    assert_eq!(track.weights.last(), Some(&1.0));
}

#[test]
fn another_up_axis_gives_the_same_character() {
    // The same numbers, declared Z up, lie down: what was Y is now -Z of the file's front, and so on.
    let text = TUBE
        .replace(
            "\"UpAxis\", \"int\", \"Integer\", \"\",1",
            "\"UpAxis\", \"int\", \"Integer\", \"\",2",
        )
        .replace(
            "\"FrontAxis\", \"int\", \"Integer\", \"\",2",
            "\"FrontAxis\", \"int\", \"Integer\", \"\",1",
        )
        .replace(
            "\"FrontAxisSign\", \"int\", \"Integer\", \"\",1",
            "\"FrontAxisSign\", \"int\", \"Integer\", \"\",-1",
        );
    let character = read(&text).unwrap();
    assert_eq!(character.units.up, Up::Z);
    let tip = character.parts[0].mesh.positions[15];
    assert!(tip.abs_diff_eq(Vec3::new(0.05, -0.05, -0.3), 1e-6), "{tip}");
}

#[test]
fn a_fresh_glb_keeps_everything() {
    let character = read(TUBE).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tube.glb");
    save_character(&path, &character).unwrap();
    let back = load(&path, &ReadOptions::default()).unwrap();
    assert_eq!(
        back.parts[0].mesh.triangles,
        character.parts[0].mesh.triangles
    );
    assert_eq!(back.parts[0].morphs.len(), 1);
    let upper = back.skeleton.find("upper").unwrap();
    let worlds = back.clips[0]
        .sample(&back.skeleton, 1.0)
        .worlds(&back.skeleton);
    let up = worlds[upper].transform_vector3(Vec3::Y);
    assert!(up.abs_diff_eq(-Vec3::X, 1e-4), "{up}");
}

#[test]
fn bad_files_say_why() {
    assert!(read("").is_err());
    assert!(read("; FBX 7.4.0 project file\n").is_err());
    assert!(read(&TUBE[..TUBE.len() / 2]).is_err());
    assert!(read("not an fbx").is_err());
    let wrong = TUBE.replace("a: 4,5,6,7", "a: 4,5,6,7000");
    let _ = read(&wrong);
}
