//! Meshes without skeletons, and files with problems, can be moved.

use std::path::Path;

use glam::{Quat, Vec3};
use supple::clips::{Choice, choose};
use supple::embedded::{Body, body};
use supple::rig::formats::save_character;
use supple::rig::markers::{Marker, Markers};
use supple::rig::retarget::{BoneMap, HumanBone, Humanoid, humanoid::Side};
use supple::rig::rigging::{fitted, is_bare, with_skeleton};
use supple::{Character, LoadOptions, Skeleton};

/// The embedded male as a scan: a mesh alone.
fn scan() -> Character {
    with_skeleton(&body(Body::Male).unwrap(), Skeleton::default())
}

fn place(character: &Character, bone: HumanBone) -> Vec3 {
    let humanoid = Humanoid::find(&character.skeleton, &BoneMap::of(character)).unwrap();
    let joint = humanoid.joint(bone).unwrap();
    character.skeleton.rest_worlds()[joint].translation.into()
}

#[test]
fn a_scan_gets_its_joints_wherever_it_looks() {
    let rigged = body(Body::Male).unwrap();
    assert!(!is_bare(&rigged) && is_bare(&scan()));
    for degrees in [0.0, 30.0, 90.0, 200.0] {
        let turn = Quat::from_rotation_y(f32::to_radians(degrees));
        let mut turned = scan();
        for position in &mut turned.parts[0].mesh.positions {
            *position = turn * *position + Vec3::new(3.0, 0.7, -2.0);
        }
        // A floor, and a small shell above the head.
        let mesh = &mut turned.parts[0].mesh;
        for corners in [
            [[-9.0, 0.7, -9.0], [9.0, 0.7, -9.0], [3.0, 0.7, 9.0]],
            [[0.0, 2.6, 0.0], [0.01, 2.6, 0.0], [0.0, 2.6, 0.01]],
        ] {
            let first = mesh.positions.len() as u32;
            mesh.positions.extend(corners.map(Vec3::from));
            mesh.triangles.push([first, first + 1, first + 2]);
        }
        let fitted = fitted(&turned, &Markers::default()).expect("a humanoid");
        for (bone, reach) in [
            (HumanBone::Hips, 0.1),
            (HumanBone::LowerLeg(Side::Left), 0.08),
            (HumanBone::Foot(Side::Right), 0.08),
            (HumanBone::LowerArm(Side::Left), 0.08),
            (HumanBone::Hand(Side::Right), 0.08),
        ] {
            let expected = turn * place(&rigged, bone) + Vec3::new(3.0, 0.7, -2.0);
            let off = place(&fitted, bone).distance(expected);
            assert!(off < reach, "{degrees}°: {bone:?} is {off} m off");
        }
    }
}

#[test]
fn a_skeleton_is_taken_from_any_file_that_fits() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scan.obj");
    save_character(&file, &scan()).unwrap();
    let load = |skeleton: &Path| supple::load_with(&file, &LoadOptions::new().skeleton(skeleton));
    let rigged = load("@male".as_ref()).unwrap();
    assert_eq!(rigged.skeleton.len(), 104);
    assert!(rigged.parts[0].binding.influences.is_empty());
    // A skeleton outside the mesh is an error.
    let mut far = body(Body::Male).unwrap();
    far.skeleton.rest_mut(0).translation += Vec3::new(0.0, 0.0, 5.0);
    far.parts.clear();
    far.source = Default::default();
    let elsewhere = folder.path().join("far.glb");
    save_character(&elsewhere, &far).unwrap();
    let refused = load(&elsewhere).unwrap_err().to_string();
    assert!(refused.contains("far.glb"), "{refused}");
}

#[test]
fn a_skeleton_in_another_pose_is_refused() {
    // A clip of the body itself: arms crossed, as a skeleton's rest pose.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scan.obj");
    save_character(&file, &scan()).unwrap();
    let mut crossed = body(Body::Male).unwrap();
    let clip = choose(&crossed, Choice::Named("arms_crossed", None), 30.0).unwrap();
    let pose = clip.sample(&crossed.skeleton, 0.5 * clip.duration());
    for (joint, local) in pose.locals.iter().enumerate() {
        *crossed.skeleton.rest_mut(joint) = *local;
    }
    crossed.parts.clear();
    crossed.source = Default::default();
    let skeleton = folder.path().join("crossed.glb");
    save_character(&skeleton, &crossed).unwrap();
    let options = LoadOptions::new().skeleton(&skeleton);
    let refused = supple::load_with(&file, &options).unwrap_err().to_string();
    assert!(refused.contains("another pose"), "{refused}");
    assert!(refused.contains("crossed.glb"), "{refused}");
}

#[test]
fn markers_are_honoured() {
    let character = scan();
    let automatic = fitted(&character, &Markers::default()).unwrap();
    let wrist = place(&automatic, HumanBone::Hand(Side::Left)) - Vec3::new(0.03, 0.0, 0.0);
    let knee = place(&automatic, HumanBone::LowerLeg(Side::Right)) + Vec3::new(0.0, 0.04, 0.0);
    let markers: Markers = [
        (Marker::Wrist(Side::Left), wrist),
        (Marker::Knee(Side::Right), knee),
    ]
    .into_iter()
    .collect();
    let marked = fitted(&character, &markers).unwrap();
    let off = |bone, to: Vec3| place(&marked, bone).distance(to);
    assert!(off(HumanBone::Hand(Side::Left), wrist) < 1e-4);
    assert!(off(HumanBone::LowerLeg(Side::Right), knee) < 1e-4);
    // What is not marked stays.
    let head = place(&automatic, HumanBone::Head);
    assert!(off(HumanBone::Head, head) < 1e-4);
}

#[test]
fn a_body_in_pieces_is_fitted_like_the_whole() {
    // Every third of the triangles by height and side becomes a shell of its own.
    let whole = scan();
    let mut pieces = scan();
    let mesh = &whole.parts[0].mesh;
    let mut cut = supple::geom::TriMesh::default();
    let place_of = |triangle: &[u32; 3]| {
        let centre = triangle
            .iter()
            .map(|&v| mesh.positions[v as usize])
            .sum::<Vec3>()
            / 3.0;
        let step = |x: f32| (x / 0.15).floor() as i32;
        (step(centre.x), step(centre.y))
    };
    let mut vertices = std::collections::HashMap::new();
    for triangle in &mesh.triangles {
        let piece = place_of(triangle);
        let corners = triangle.map(|v| {
            *vertices.entry((piece, v)).or_insert_with(|| {
                // A little shrunk, so that welding does not join the pieces again.
                let middle = Vec3::new(piece.0 as f32 + 0.5, piece.1 as f32 + 0.5, 0.0) * 0.15;
                let at = mesh.positions[v as usize];
                cut.positions
                    .push(at + 0.02 * (Vec3::new(middle.x, middle.y, at.z) - at));
                cut.positions.len() as u32 - 1
            })
        });
        cut.triangles.push(corners);
    }
    pieces.parts[0].mesh = cut;
    let fit = |character| fitted(character, &Markers::default()).unwrap();
    let (one, many) = (fit(&whole), fit(&pieces));
    for (bone, reach) in [
        (HumanBone::Hips, 0.05),
        (HumanBone::Head, 0.05),
        (HumanBone::LowerLeg(Side::Left), 0.05),
        (HumanBone::Hand(Side::Right), 0.05),
    ] {
        let off = place(&one, bone).distance(place(&many, bone));
        assert!(off < reach, "{bone:?} is {off} m off");
    }
}

#[test]
fn a_map_names_the_joints_for_embedded_clips_too() {
    let mut character = body(Body::Male).unwrap();
    let clip = |character: &Character, map| choose(character, Choice::Named("knee", map), 30.0);
    let expected = clip(&character, None).unwrap();
    let joints = Humanoid::find(&character.skeleton, &BoneMap::of(&character)).unwrap();
    let mut map = String::from("[target]\n");
    for (&bone, joints) in &joints.bones {
        if matches!(bone, HumanBone::Finger(..)) {
            continue;
        }
        map.push_str(&format!("{} = \"x{}\"\n", bone.name(), joints[0]));
    }
    let mut renamed = character.skeleton.joints().to_vec();
    for (index, joint) in renamed.iter_mut().enumerate() {
        joint.name = format!("x{index}");
    }
    character.skeleton = Skeleton::from_unordered(renamed).unwrap().0;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.toml");
    std::fs::write(&path, map).unwrap();
    let mapped = clip(&character, Some(path.as_path())).unwrap();
    let knee = joints.joint(HumanBone::LowerLeg(Side::Left)).unwrap();
    let at = |clip: &supple::Clip| {
        clip.sample(&character.skeleton, 0.5 * expected.duration())
            .locals[knee]
            .rotation
    };
    let off = at(&mapped).angle_between(at(&expected)).to_degrees();
    assert!(off < 1.0, "the knee is {off}° off");
}

#[test]
fn computed_weights_do_not_change_the_tissue() {
    let bare = fitted(&scan(), &Markers::default()).unwrap();
    let mut bound = bare.clone();
    assert_eq!(supple::skin::bind_missing(&mut bound, false).unwrap(), 1);
    let clip = choose(&bare, Choice::Named("elbow", None), 30.0).unwrap();
    let skin = |character: &Character| {
        let mut settings = supple::flesh::Settings::default();
        settings.detail.resolution = supple::flesh::settings::Resolution::Vertices(1500);
        let mut body = supple::tissue::SoftBody::new(character, settings).unwrap();
        let pose = clip.sample(&character.skeleton, 0.5 * clip.duration());
        body.advance(&pose, 0.1).unwrap();
        body.positions()
    };
    assert_eq!(skin(&bare), skin(&bound));
}
