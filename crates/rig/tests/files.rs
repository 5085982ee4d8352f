//! Loading and saving by file name: round trips and invalid files.

use std::path::Path;

use glam::{EulerRot, Quat, Vec3};
use supple_rig::character::Up;
use supple_rig::clip::{Interpolation, Track, Values};
use supple_rig::formats::{ReadOptions, load, load_character, save_character};
use supple_rig::skeleton::{Joint, JointKind};
use supple_rig::{Character, Clip, Skeleton, Transform};

fn fails(path: &Path, why: &str) {
    let error = load(path, &ReadOptions::default()).err();
    let error = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains(why), "{}: {error}", path.display());
}

#[test]
fn missing_and_invalid_files_give_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fails(folder.path(), "folder");
    fails(&path("missing.obj"), "missing.obj");
    std::fs::write(path("empty.obj"), "").unwrap();
    fails(&path("empty.obj"), "empty");
    std::fs::write(path("a.blend"), "BLENDER").unwrap();
    fails(&path("a.blend"), "glb, gltf");
    std::fs::write(path("a.ini"), "SIMMESH ../../etc/passwd\n").unwrap();
    fails(&path("a.ini"), "folder");
    for name in [
        "a.obj", "a.ply", "a.off", "a.stl", "a.bvh", "a.skel", "a.anim", "a.fbx", "a.glb", "a.gltf",
    ] {
        std::fs::write(path(name), "hello, this is no such file at all\n").unwrap();
        assert!(
            load(&path(name), &ReadOptions::default()).is_err(),
            "{name}"
        );
    }
}

#[test]
fn unknown_extensions_are_refused_before_writing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xyz");
    let error = save_character(&path, &Character::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("obj, ply"), "{error}");
    assert!(!path.exists());
    assert!(save_character(&folder.path().join("a.obj"), &Character::default()).is_err());
    assert!(save_character(&folder.path().join("a.bvh"), &Character::default()).is_err());
}

fn metres() -> ReadOptions {
    ReadOptions {
        metres_per_unit: Some(1.0),
        up: Some(Up::Y),
    }
}

#[test]
fn meshes_survive_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.obj");
    std::fs::write(&source, include_str!("fuzz/seeds/cube.obj")).unwrap();
    let character = load(&source, &metres()).unwrap();
    assert!(
        character
            .problems
            .iter()
            .any(|problem| problem.text.contains("cube.mtl"))
    );
    let count = |c: &Character| -> (usize, usize) {
        let vertices = c.parts.iter().map(|part| part.mesh.positions.len()).sum();
        (
            vertices,
            c.parts.iter().map(|part| part.mesh.triangles.len()).sum(),
        )
    };
    for extension in ["obj", "ply", "off"] {
        let path = folder.path().join(format!("copy.{extension}"));
        save_character(&path, &character).unwrap();
        let back = load(&path, &metres()).unwrap();
        assert_eq!(count(&back), count(&character), "{extension}");
        let first = |c: &Character| c.parts[0].mesh.positions[..4].to_vec();
        assert_eq!(first(&back), first(&character), "{extension}");
    }
    let path = folder.path().join("copy.glb");
    save_character(&path, &character).unwrap();
    let back = load(&path, &ReadOptions::default()).unwrap();
    assert_eq!(count(&back), count(&character), "glb");
    let path = folder.path().join("copy.stl");
    save_character(&path, &character).unwrap();
    assert_eq!(count(&load(&path, &metres()).unwrap()), (36, 12));
}

/// A root and two bones with rotated rest frames.
fn arm() -> Character {
    let joint = |name: &str, parent, translation, rotation| Joint {
        name: name.into(),
        parent,
        rest: Transform {
            translation,
            rotation,
            scale: Vec3::ONE,
        },
        tail: None,
        kind: JointKind::Bone,
    };
    let turned = Quat::from_euler(EulerRot::XYZ, 0.3, -0.8, 1.1);
    let joints = vec![
        joint("body", None, Vec3::new(0.0, 1.0, 0.0), turned),
        joint(
            "upper arm",
            Some(0),
            Vec3::new(0.3, 0.1, 0.0),
            turned.inverse(),
        ),
        joint("hand", Some(1), Vec3::new(0.0, 0.4, 0.1), turned),
    ];
    let (skeleton, _) = Skeleton::from_unordered(joints).unwrap();
    let track = |joint, values| Track {
        joint,
        times: vec![0.0, 1.0],
        values,
        interpolation: Interpolation::Linear,
    };
    let clip = Clip {
        tracks: vec![
            track(
                0,
                Values::Translation(vec![Vec3::Y, Vec3::new(0.5, 1.2, -1.0)]),
            ),
            track(
                0,
                Values::Rotation(vec![turned, Quat::from_rotation_y(1.0)]),
            ),
            track(
                1,
                Values::Rotation(vec![turned.inverse(), Quat::from_rotation_x(2.0)]),
            ),
        ],
        ..Clip::default()
    };
    Character {
        skeleton,
        clips: vec![clip],
        ..Character::default()
    }
}

#[test]
fn a_clip_survives_bvh() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.bvh");
    let character = arm();
    save_character(&path, &character).unwrap();
    let centimetres = ReadOptions {
        metres_per_unit: Some(0.01),
        up: Some(Up::Y),
    };
    let back = load(&path, &centimetres).unwrap();
    assert_eq!(back.skeleton.len(), 3);
    assert_eq!(back.clips[0].name, "arm");
    for frame in 0..=60 {
        let time = frame as f32 / 60.0;
        let ours = character.clips[0]
            .sample(&character.skeleton, time)
            .worlds(&character.skeleton);
        let theirs = back.clips[0]
            .sample(&back.skeleton, time)
            .worlds(&back.skeleton);
        for (ours, theirs) in ours.iter().zip(&theirs) {
            // Angles are written to f32 precision in degrees; bones are below a metre.
            assert!(
                ours.translation.abs_diff_eq(theirs.translation, 1e-5),
                "{time}"
            );
        }
    }
}

#[test]
fn a_skeleton_survives_skel() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.skel");
    let character = arm();
    save_character(&path, &character).unwrap();
    let back = load(&path, &metres()).unwrap();
    assert_eq!(back.skeleton.joints()[1].name, "upper_arm");
    for (ours, theirs) in character
        .skeleton
        .rest_worlds()
        .iter()
        .zip(back.skeleton.rest_worlds())
    {
        assert!(ours.translation.abs_diff_eq(theirs.translation, 1e-6));
    }
}

#[test]
fn mesh_skeleton_and_motion_must_match() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let mesh = put("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    let skeleton = put("a.skel", "2\n0 1 0 b a\n0 0 0 a root\n");
    let fits = put("a.anim", "1 2\n0\n1 0 0\n0 1 0\n1 0\n");
    let fewer = put("b.anim", "1 1\n0\n1 0 0\n1\n");
    let wrong = put("c.anim", "1 3\n0\n1 0 0\n0 1 0\n0 1 0\n1 0 0\n");
    let options = ReadOptions::default();
    let character = load_character(&mesh, Some(&skeleton), &[&fits], &options).unwrap();
    // The file lists the child first; the track must follow it to its new index.
    assert_eq!(character.skeleton.joints()[1].name, "b");
    assert_eq!(character.clips[0].tracks[0].joint, 1);
    // Fewer joints are the first ones of the file.
    let character = load_character(&mesh, Some(&skeleton), &[&fewer], &options).unwrap();
    assert_eq!(character.clips[0].tracks[0].joint, 1);
    let noted = |character: &Character, text: &str| {
        let mut notes = character.problems.iter();
        assert!(notes.any(|note| note.text.contains(text)), "{text}");
    };
    noted(&character, "the first 1 of 2");
    let error = load_character(&mesh, Some(&skeleton), &[&wrong], &options).unwrap_err();
    assert!(error.to_string().contains("3 joints"), "{error}");
    // A mesh to show that is missing is a note, if there is another.
    let text = "SIMMESH a.off\nVISMESH fine.off\nSKELETON a.skel\n";
    let character = load(&put("a.ini", text), &options).unwrap();
    assert_eq!(character.parts[0].mesh.positions.len(), 3);
    noted(&character, "fine.off");
    let error = load_character(&skeleton, None, &[], &options).unwrap_err();
    assert!(error.to_string().contains("bare mesh"), "{error}");
}
