//! Odd skeletons: a single joint, unconnected parts, coincident and idle joints, joints outside, virtual bones, regions.

use glam::{Quat, Vec3};
use supple_flesh::motion::sliding::Attachment;
use supple_flesh::{Flesh, Settings};
use supple_geom::{TriMesh, shapes};
use supple_rig::skeleton::JointKind;
use supple_rig::{Character, Joint, Part, Pose, Skeleton, Transform};
use supple_sim::State;

/// A closed tube of radius 0.1 along Y from 0 to 1.
fn tube() -> TriMesh {
    let mut tube = shapes::capped_tube(0.1, 1.0, 24, 30);
    tube.positions.iter_mut().for_each(|p| p.y += 0.5);
    tube
}

fn character(mesh: TriMesh, joints: &[(&str, Option<usize>, Vec3)]) -> Character {
    let joints = joints
        .iter()
        .map(|&(name, parent, offset)| Joint {
            name: name.to_owned(),
            parent,
            rest: Transform::from_translation(offset),
            tail: None,
            kind: JointKind::Bone,
        })
        .collect();
    Character {
        name: "test".to_owned(),
        skeleton: Skeleton::from_unordered(joints).unwrap().0,
        parts: vec![Part {
            name: "skin".to_owned(),
            mesh,
            ..Part::default()
        }],
        ..Character::default()
    }
}

fn sound(flesh: &Flesh) {
    let rest = flesh.model.rest();
    for tet in &flesh.model.tets().vertices {
        let [a, b, c, d] = tet.map(|v| rest[v as usize].as_dvec3());
        assert!((b - a).dot((c - a).cross(d - a)) > 0.0);
    }
    assert!(flesh.model.free_count() > 0);
    let targets = flesh.targets(&flesh.rest_pose()).unwrap();
    for (now, rest) in targets.fixed.iter().zip(flesh.model.rest_fixed()) {
        assert!(now.distance(*rest) < 1e-8, "{now} {rest}");
    }
}

fn y(height: f32) -> Vec3 {
    Vec3::new(0.0, height, 0.0)
}

#[test]
fn a_single_joint() {
    for place in [y(0.5), y(-3.0), Vec3::new(9.0, 0.0, 0.0)] {
        let character = character(tube(), &[("only", None, place)]);
        let flesh = Flesh::builder(&character).build().unwrap();
        sound(&flesh);
    }
}

#[test]
fn coincident_joints_and_joints_outside() {
    let character = character(
        tube(),
        &[
            ("root", None, y(0.1)),
            ("twin", Some(0), Vec3::ZERO),
            ("middle", Some(1), y(0.4)),
            ("top", Some(2), y(0.4)),
            ("far", Some(3), y(5.0)),
        ],
    );
    let flesh = Flesh::builder(&character).build().unwrap();
    sound(&flesh);
    assert_eq!(flesh.graph().bones.len(), 3);
}

#[test]
fn unconnected_parts_are_bridged() {
    let character = character(
        tube(),
        &[
            ("a", None, y(0.05)),
            ("b", Some(0), y(0.25)),
            ("c", None, y(0.7)),
            ("d", Some(2), y(0.25)),
        ],
    );
    let flesh = Flesh::builder(&character).build().unwrap();
    sound(&flesh);
    assert_eq!(
        flesh.graph().bones.iter().filter(|b| b.is_virtual).count(),
        1
    );
    assert!(flesh.attachments().contains(&Attachment::Free));
}

#[test]
fn twist_and_stretch_move_the_bone_surface() {
    let character = character(
        tube(),
        &[
            ("a", None, y(0.05)),
            ("b", Some(0), y(0.45)),
            ("c", Some(1), y(0.45)),
        ],
    );
    let flesh = Flesh::builder(&character).build().unwrap();
    let mut pose = Pose::rest(&character.skeleton);
    pose.stretch = vec![1.0, 1.5, 1.0];
    pose.twist = vec![0.0, 1.0, 0.0];
    let targets = flesh.targets(&pose).unwrap();
    let highest = |points: &[Vec3]| points.iter().map(|p| p.y).fold(0.0, f32::max);
    let grown = highest(&targets.fixed) - highest(flesh.model.rest_fixed());
    assert!((grown - 0.225).abs() < 1e-4, "{grown}");
}

#[test]
fn virtual_bones_and_excluded_regions() {
    let character = character(
        tube(),
        &[
            ("a", None, y(0.05)),
            ("b", Some(0), y(0.45)),
            ("c", Some(1), y(0.45)),
        ],
    );
    let full = Flesh::builder(&character).build().unwrap();
    let mut soft = Settings::default();
    soft.virtual_bones = vec!["b".into()];
    let soft = Flesh::builder(&character).settings(soft).build().unwrap();
    assert!(soft.model.free_count() > full.model.free_count());
    let mut part = Settings::default();
    part.excluded = vec!["b".into()];
    let part = Flesh::builder(&character).settings(part).build().unwrap();
    assert!(part.model.free_count() < full.model.free_count());

    // The excluded half follows its bone, and the whole skin is still reproduced at rest.
    let mut pose = Pose::rest(&character.skeleton);
    pose.rotate(1, Quat::from_rotation_x(1.0));
    let skin = part.skin(&pose, &State::at_rest(&part.model)).unwrap();
    let top = (0..skin[0].len())
        .max_by(|&a, &b| {
            let height = |v: usize| character.parts[0].mesh.positions[v].y;
            height(a).total_cmp(&height(b))
        })
        .unwrap();
    let expected =
        Quat::from_rotation_x(1.0) * (character.parts[0].mesh.positions[top] - y(0.5)) + y(0.5);
    assert!(skin[0][top].distance(expected) < 1e-4);
    let mut unknown = Settings::default();
    unknown.excluded = vec!["nobody".into()];
    assert!(
        Flesh::builder(&character)
            .settings(unknown)
            .build()
            .is_err()
    );
}

#[test]
fn automatic_settings_give_the_same_tissue() {
    let character = character(
        tube(),
        &[
            ("a", None, y(0.05)),
            ("b", Some(0), y(0.45)),
            ("c", Some(1), y(0.45)),
        ],
    );
    let settings = Settings::automatic(&character).unwrap();
    let text = settings.to_toml().unwrap();
    let read = Settings::from_toml(&text).unwrap();
    let flesh = Flesh::builder(&character).settings(read).build().unwrap();
    sound(&flesh);
    assert!((flesh.report.mass - 0.1_f64.powi(2) * 3.1 * 1010.0).abs() < 2.0);
}
