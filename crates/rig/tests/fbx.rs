//! Reads the FBX of a bending tube and evaluates it: hand-written, exported by Blender 5.0 (binary, bones in a node scaled by
//! 100), and exported by Assimp 5.2 (binary, unterminated lists, metres declared as centimetres).
#![cfg(feature = "fbx")]

use glam::{Quat, Vec3};
use supple_rig::Character;
use supple_rig::character::Up;
use supple_rig::clip::Values;
use supple_rig::formats::fbx::read_fbx;
use supple_rig::formats::{FormatError, ReadOptions, load, save_character};
use supple_rig::skinning::lbs::linear_blend;

const TUBE: &str = include_str!("fixtures/tube.fbx");
const BLENDER: &[u8] = include_bytes!("fixtures/tube_blender.fbx");
const UNTERMINATED: &[u8] = include_bytes!("fixtures/tube_unended.fbx");

fn nothing(name: &str) -> Result<Vec<u8>, FormatError> {
    Err(FormatError::invalid(name, "not there"))
}

fn read(text: &str) -> Result<Character, FormatError> {
    read_fbx(text.as_bytes(), &nothing, &ReadOptions::default())
}

fn read_bytes(bytes: &[u8]) -> Result<Character, FormatError> {
    read_fbx(bytes, &nothing, &ReadOptions::default())
}

/// Vertex positions of a part at a time of the first clip, including blend shapes.
fn posed(character: &Character, time: f32) -> Vec<Vec3> {
    let clip = &character.clips[0];
    let worlds = clip
        .sample(&character.skeleton, time)
        .worlds(&character.skeleton);
    let weights = clip.sample_morphs(0, time).unwrap_or_default();
    linear_blend(&character.parts[0], &worlds, &weights).positions
}

/// Largest distance from a point to the nearest of the others.
fn gap(points: &[Vec3], others: &[Vec3]) -> f32 {
    let nearest = |p: &Vec3| {
        others
            .iter()
            .map(|q| p.distance(*q))
            .fold(f32::MAX, f32::min)
    };
    points.iter().map(nearest).fold(0.0, f32::max)
}

#[test]
fn blender_export_moves_like_the_text_file() {
    let (hand, blender) = (read(TUBE).unwrap(), read_bytes(BLENDER).unwrap());
    assert!(blender.units.declared && blender.units.metres_per_unit == 0.01);
    assert_eq!(blender.parts[0].mesh.positions.len(), 20);
    assert_eq!(blender.parts[0].morphs.len(), 1);
    assert!((blender.clips[0].duration() - 1.0).abs() < 1e-6);
    // 24 frames per second, so that keys do not coincide with samples at 60.
    for frame in 0..=24 {
        let time = frame as f32 / 24.0;
        let (a, b) = (posed(&hand, time), posed(&blender, time));
        let apart = gap(&a, &b).max(gap(&b, &a));
        assert!(apart < 1e-5, "{apart} m at frame {frame}");
    }
}

#[test]
fn unterminated_lists_and_a_wrong_unit() {
    let character = read_bytes(UNTERMINATED).unwrap();
    assert_eq!(character.units.metres_per_unit, 1.0);
    assert!(!character.units.declared);
    assert!(character.problems.iter().any(|p| p.text.contains("0.01 m")));
    let hand = read(TUBE).unwrap();
    let (a, b) = (&hand.parts[0], &character.parts[0]);
    assert!(gap(&a.mesh.positions, &b.mesh.positions) < 1e-6);
    assert_eq!(
        b.binding.influences.entries.len(),
        a.binding.influences.entries.len()
    );
    let given = ReadOptions {
        metres_per_unit: Some(0.01),
        ..ReadOptions::default()
    };
    let small = read_fbx(UNTERMINATED, &nothing, &given).unwrap();
    assert!(small.units.declared);
    assert!((small.height() - 0.003).abs() < 1e-6);
}

#[test]
fn errors_contain_the_message_of_ufbx() {
    let half = read_bytes(&BLENDER[..BLENDER.len() / 2]).unwrap_err();
    assert!(matches!(half, FormatError::Truncated { .. }), "{half}");
    let mut wide = BLENDER.to_vec();
    // Declares far more values than the file contains, in a record of the right size.
    wide[35..39].fill(0xFF);
    let text = read_bytes(&wide).unwrap_err().to_string();
    assert!(text.contains("the FBX: Truncated file"), "{text}");
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
    // 16 positions, plus one vertex per ring at the texture seam.
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
    // The tip, 15 cm above the bend, rotates by 90° about Z, to -X.
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

/// The tube with an additional property on a node.
fn with_property(node: &str, property: &str) -> String {
    let start = TUBE.find(&format!("\"Model::{node}\"")).unwrap();
    let place = start + TUBE[start..].find("Properties70:  {\n").unwrap() + 17;
    format!("{}\t\t\t{property}\n{}", &TUBE[..place], &TUBE[place..])
}

#[test]
fn rest_pose_differs_from_bind_pose() {
    // Joint orientation as written by Maya and Mixamo: the upper bone is bent at rest, but the skin was bound straight.
    let text = with_property(
        "upper",
        r#"P: "PreRotation", "Vector3D", "Vector", "",0,0,-90"#,
    );
    let text = text.replace(
        "Lcl Translation\", \"\", \"A\",0,15,0\n",
        "Lcl Translation\", \"\", \"A\",0,15,0\n\t\t\tP: \"RotationActive\", \"bool\", \"\", \"\",1\n",
    );
    let character = read(&text).unwrap();
    let upper = character.skeleton.find("upper").unwrap();
    let rest = character.skeleton.rest_worlds()[upper];
    assert!(rest.transform_vector3(Vec3::Y).abs_diff_eq(Vec3::X, 1e-5));
    let straight = read(TUBE).unwrap();
    let bound = character.bind_mesh(0).positions;
    for (a, b) in bound.iter().zip(&straight.bind_mesh(0).positions) {
        assert!(a.abs_diff_eq(*b, 1e-6), "{a} is not {b}");
    }
    // The clip rotates by 90°, back to straight.
    let worlds = character.clips[0]
        .sample(&character.skeleton, 1.0)
        .worlds(&character.skeleton);
    let posed = linear_blend(&character.parts[0], &worlds, &[]).positions;
    let still = &character.parts[0].mesh.positions;
    let apart = posed.iter().zip(still).map(|(a, b)| a.distance(*b));
    assert!(apart.fold(0.0, f32::max) < 1e-5);
}

#[test]
fn geometric_translation() {
    let text = with_property(
        "tube",
        r#"P: "GeometricTranslation", "Vector3D", "Vector", "",10,0,0"#,
    );
    let character = read(&text).unwrap();
    let tip = character.parts[0].mesh.positions[15];
    assert!(tip.abs_diff_eq(Vec3::new(0.15, 0.3, -0.05), 1e-6), "{tip}");
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
fn z_up_gives_the_same_character() {
    // The same numbers declared as Z up lie down.
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
fn bad_files_give_errors() {
    assert!(read("").is_err());
    assert!(read("; FBX 7.4.0 project file\n").is_err());
    assert!(read(&TUBE[..TUBE.len() / 2]).is_err());
    assert!(read("not an fbx").is_err());
    let wrong = TUBE.replace("a: 4,5,6,7", "a: 4,5,6,7000");
    let _ = read(&wrong);
}
