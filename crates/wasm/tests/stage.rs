//! The API of the page, without a browser.

use supple::Character;
use supple::embedded::{Body, body};
use supple::geom::shapes::capped_tube;
use supple::glam::{Quat, Vec3};
use supple::rig::Part;
use supple::rig::retarget::{BoneMap, HumanBone, Humanoid};
use supple::skin::Method;
use supple_wasm::files::{Reading, read_character};
use supple_wasm::hands::Ball;
use supple_wasm::rigging::Placed;
use supple_wasm::stage::{Shown, Stage};

const STEP: f32 = 1.0 / 60.0;

/// A tube along Y of 1 m with three joints on its axis.
fn tube() -> Stage {
    let bare = Character {
        name: "tube".to_owned(),
        parts: vec![Part {
            name: "tube".to_owned(),
            mesh: capped_tube(0.1, 1.0, 20, 24),
            ..Part::default()
        }],
        ..Character::default()
    };
    let stage = Stage::new(bare).unwrap();
    let bounds = stage.describe().bounds;
    let middle = 0.5 * (bounds[0][1] + bounds[1][1]);
    let joint = |name: &str, parent, y: f32| {
        let origin = Vec3::new(0.02, middle + y, 3.0);
        let found = stage.middle(origin, Vec3::NEG_Z).unwrap();
        // The middle of a chord lies in the plane through the axis.
        assert!(found.z.abs() < 1e-3, "{found}");
        Placed {
            name: name.to_owned(),
            parent,
            position: [0.0, found.y, 0.0],
        }
    };
    let placed = [
        joint("a", None, -0.42),
        joint("b", Some(0), 0.0),
        joint("c", Some(1), 0.42),
    ];
    let mut stage = stage.rigged(&placed).unwrap();
    stage.build(Default::default()).unwrap();
    stage
}

fn shown(stage: &mut Stage, method: Method) -> Vec<f32> {
    let mut shown = Shown::default();
    stage.show(method, &mut shown, true).unwrap();
    assert_eq!(shown.normals.len(), shown.positions.len());
    assert_eq!(3 * shown.strains.len(), shown.positions.len());
    for normal in shown.normals.chunks(3) {
        assert!((Vec3::from_slice(normal).length() - 1.0).abs() < 1e-4);
    }
    shown.positions
}

fn farthest(a: &[f32], b: &[f32]) -> f32 {
    let pairs = a.chunks(3).zip(b.chunks(3));
    pairs
        .map(|(a, b)| Vec3::from_slice(a).distance(Vec3::from_slice(b)))
        .fold(0.0, f32::max)
}

fn pass(stage: &mut Stage, seconds: f32) {
    for _ in 0..(seconds / STEP) as usize {
        stage.advance(STEP, STEP, true).unwrap();
    }
}

#[test]
fn a_pose_is_kept_until_it_is_given_up() {
    let mut stage = tube();
    let rest = shown(&mut stage, Method::Tissue);
    let tip = Vec3::from_slice(&stage.joint_positions()[6..9]);
    stage.grab(2, tip + Vec3::new(0.3, -0.1, 0.0));
    pass(&mut stage, 1.0);
    let posed = shown(&mut stage, Method::Tissue);
    let moved = farthest(&rest, &posed);
    assert!(moved > 0.15, "{moved}");
    stage.release();
    pass(&mut stage, 2.0);
    let sprung = farthest(&posed, &shown(&mut stage, Method::Tissue));
    assert!(sprung < 0.1 * moved, "{sprung} of {moved}");
    let first = stage.kept_pose();
    // A turn about the bone's middle joint, then back to the first pose, then to rest.
    stage.turn(1, Quat::from_rotation_z(-0.8));
    stage.release();
    pass(&mut stage, 2.0);
    let turned = farthest(&posed, &shown(&mut stage, Method::Tissue));
    assert!(turned > 0.1, "{turned}");
    stage.set_kept_pose(&first).unwrap();
    pass(&mut stage, 2.0);
    let back = farthest(&posed, &shown(&mut stage, Method::Tissue));
    assert!(back < 0.1 * moved, "{back} of {moved}");
    stage.set_kept_pose(&[]).unwrap();
    pass(&mut stage, 2.0);
    let left = farthest(&rest, &shown(&mut stage, Method::Tissue));
    assert!(left < 0.02 * moved, "{left} of {moved}");
    assert!(stage.kept_pose().is_empty());
    assert!(stage.set_kept_pose(&first[1..]).is_err());
}

/// Every format of a pose has the vertices that are shown.
#[test]
fn a_pose_is_exported() {
    let mut stage = tube();
    let tip = Vec3::from_slice(&stage.joint_positions()[6..9]);
    stage.grab(2, tip + Vec3::new(0.3, -0.1, 0.0));
    pass(&mut stage, 2.0);
    let posed = shown(&mut stage, Method::Tissue);
    let obj = stage.still("obj").unwrap();
    let read = read_character(&[("still.obj".to_owned(), obj)], &Reading::default()).unwrap();
    let flat = |points: &[Vec3]| points.iter().flat_map(|p| p.to_array()).collect::<Vec<_>>();
    let mesh = flat(&read.parts[0].mesh.positions);
    // The reader may guess another height above the ground, so sizes are compared.
    let span = |values: &[f32], axis: usize| {
        let along = || values.iter().skip(axis).step_by(3).copied();
        along().fold(f32::MIN, f32::max) - along().fold(f32::MAX, f32::min)
    };
    assert_eq!(mesh.len(), posed.len());
    for axis in 0..3 {
        assert!((span(&mesh, axis) - span(&posed, axis)).abs() < 1e-4);
    }
    let pc2 = stage.still("pc2").unwrap();
    let mut cache = supple::bake::read_pc2(pc2.as_slice(), 1.0).unwrap();
    assert!(farthest(&flat(&cache.next_frame().unwrap()), &posed) < 1e-5);
    let glb = stage.still("glb").unwrap();
    let files = [("still.glb".to_owned(), glb)];
    let mut again = Stage::from_files(&files, &Reading::default()).unwrap();
    assert_eq!(again.describe().clips[0].name, "pose");
    assert!(farthest(&shown(&mut again, Method::Lbs), &posed) < 1e-3);
    assert!(stage.still("xyz").is_err());
}

#[test]
fn pulled_and_poked_flesh_gives_way_and_returns() {
    let mut stage = tube();
    let rest = shown(&mut stage, Method::Tissue);
    let side = Vec3::from_slice(&rest[3 * 200..]);
    let out = Vec3::new(side.x, 0.0, side.z).normalize();
    stage.pull(Some(side), side + 0.1 * out);
    pass(&mut stage, 0.5);
    let moved = shown(&mut stage, Method::Tissue);
    let pulled = Vec3::from_slice(&moved[600..]).dot(out) - side.dot(out);
    assert!(pulled > 0.01, "pulled by {pulled}");
    stage.release();
    pass(&mut stage, 2.0);
    assert!(farthest(&rest, &shown(&mut stage, Method::Tissue)) < 0.2 * pulled);
    stage.poke(Some(Ball {
        centre: side + 0.03 * out,
        radius: 0.05,
    }));
    pass(&mut stage, 0.5);
    let poked = shown(&mut stage, Method::Tissue);
    let pushed = farthest(&rest, &poked);
    assert!(pushed > 0.003, "pushed by {pushed}");
    // The ball is pushed in by 2 cm, and no vertex is inside it.
    let nearest = (poked.chunks(3))
        .map(|p| Vec3::from_slice(p).distance(side + 0.03 * out))
        .fold(f32::INFINITY, f32::min);
    assert!(nearest > 0.049, "{nearest}");
    assert!(stage.contacts().len() >= 6);
    stage.release();
    pass(&mut stage, 2.0);
    assert!(farthest(&rest, &shown(&mut stage, Method::Tissue)) < 0.2 * pushed);
}

#[test]
fn a_shake_moves_the_whole_and_ends() {
    let mut stage = tube();
    let rest = shown(&mut stage, Method::Lbs);
    stage.shake(0.05 * Vec3::X);
    pass(&mut stage, 0.2);
    assert!(farthest(&rest, &shown(&mut stage, Method::Lbs)) > 0.005);
    pass(&mut stage, 2.0);
    assert!(farthest(&rest, &shown(&mut stage, Method::Lbs)) < 1e-6);
}

/// Up axis, unit and weights, as on the command line.
#[test]
fn reading_options_are_applied() {
    let glb = tube().glb().unwrap();
    let files = [("tube.glb".to_owned(), glb)];
    let read = |up: &str, unit: &str, auto_weights| {
        let (up, unit) = (up.to_owned(), unit.to_owned());
        Stage::from_files(
            &files,
            &Reading {
                up,
                unit,
                auto_weights,
            },
        )
    };
    let size = |stage: &Stage| {
        let [low, high] = stage.describe().bounds.map(Vec3::from);
        high - low
    };
    let plain = size(&read("", "", false).unwrap());
    assert!(plain.y > 0.9 && plain.z < 0.3);
    let lying = size(&read("z", "", true).unwrap());
    assert!(lying.distance(Vec3::new(plain.x, plain.z, plain.y)) < 1e-4);
    let small = size(&read("y", "cm", false).unwrap());
    assert!(small.distance(0.01 * plain) < 1e-5);
    for (up, unit) in [("x", ""), ("", "ell"), ("", "-1")] {
        assert!(read(up, unit, false).is_err(), "{up} {unit}");
    }
}

#[test]
fn a_rig_survives_files() {
    let stage = tube();
    let glb = stage.glb().unwrap();
    let back = Stage::from_files(&[("tube.glb".to_owned(), glb)], &Reading::default()).unwrap();
    let bones = back
        .describe()
        .joints
        .iter()
        .filter(|joint| joint.bone)
        .count();
    assert_eq!(bones, 3);
    // A mesh and its exported .skel agree in the file's own units.
    let mut off = String::from("OFF\n4 4 0\n");
    for [x, y, z] in [[0, 0, 0], [2000, 0, 0], [0, 2000, 0], [0, 0, 1800]] {
        off.push_str(&format!("{x} {y} {z}\n"));
    }
    off.push_str("3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n");
    let mesh = ("a b.off".to_owned(), off.into_bytes());
    let bare = Stage::from_files(std::slice::from_ref(&mesh), &Reading::default()).unwrap();
    let inside = |x: f32| Placed {
        name: format!("j{x}"),
        parent: (x > 0.2).then_some(0),
        position: [x, 0.2, 0.2],
    };
    let rigged = bare.rigged(&[inside(0.2), inside(0.7)]).unwrap();
    let skel = ("rig.skel".to_owned(), rigged.skel().unwrap().into_bytes());
    let both = read_character(&[mesh, skel], &Reading::default()).unwrap();
    let worlds = both.skeleton.rest_worlds();
    for (world, placed) in worlds.iter().zip(rigged.placed()) {
        let at = Vec3::from(world.translation);
        assert!(
            at.distance(placed.position.into()) < 1e-3,
            "{at} {:?}",
            placed.position
        );
    }
}

#[test]
fn a_fitted_humanoid_lies_near_the_bodys_own_joints() {
    for (name, which) in [("male", Body::Male), ("female", Body::Female)] {
        let stage = Stage::embedded(name).unwrap();
        let body = body(which).unwrap();
        let placed = stage.fitted(&Default::default()).unwrap();
        let own = Humanoid::find(&body.skeleton, &BoneMap::of(&body)).unwrap();
        let worlds = body.skeleton.rest_worlds();
        for joint in &placed {
            let bone = HumanBone::from_name(&joint.name);
            let Some(index) = bone.and_then(|bone| own.joint(bone)) else {
                continue;
            };
            let miss = Vec3::from(worlds[index].translation).distance(joint.position.into());
            // A hand's width; users correct the rest by dragging.
            assert!(
                miss < 0.075 * stage.height(),
                "{name}: {} is {miss} m off",
                joint.name
            );
        }
    }
}

#[test]
fn invalid_files_are_rejected_with_a_message() {
    for (name, bytes) in [
        ("a.glb", &b"glTF"[..]),
        ("a.bvh", b"HIERARCHY"),
        ("a.txt", b"x"),
        ("a.off", b""),
    ] {
        let error = Stage::from_files(&[(name.to_owned(), bytes.to_vec())], &Reading::default())
            .err()
            .unwrap();
        assert!(error.to_string().len() > 8, "{name}: {error}");
    }
    assert!(Stage::from_files(&[], &Reading::default()).is_err());
}

#[test]
fn ground_and_contact_change_without_a_rebuild() {
    let mut stage = tube();
    pass(&mut stage, 0.1);
    assert!(stage.contacts().is_empty());
    let low = stage.describe().bounds[0][1];
    stage.set_ground(Some(low + 0.02));
    pass(&mut stage, 0.5);
    let contacts = stage.contacts();
    assert!(contacts.len() >= 6 && contacts.len().is_multiple_of(6));
    // The floor pushes up.
    assert!(contacts.chunks(6).all(|c| c[4] > 0.0));
    let lowest = |stage: &mut Stage| {
        let all = shown(stage, Method::Tissue);
        all.chunks(3).map(|p| p[1]).fold(f32::INFINITY, f32::min)
    };
    assert!(lowest(&mut stage) > low + 0.018);
    stage.set_ground(None);
    pass(&mut stage, 2.0);
    assert!((lowest(&mut stage) - low).abs() < 1e-3);
    stage.set_contact("global").unwrap();
    pass(&mut stage, 0.2);
    assert_eq!(stage.inside().unwrap().0, 0);
    assert!(stage.set_contact("everything").is_err());
}

#[test]
fn descriptions_report_bare_flipped_and_facing() {
    let male = Stage::embedded("male").unwrap().describe();
    assert!(!male.bare && !male.two_sided && male.facing.abs() < 0.1);
    let ball = supple::geom::shapes::icosphere(0.5, 2);
    let obj = |turned: bool| {
        let mut text = String::new();
        for p in &ball.positions {
            text.push_str(&format!("v {} {} {}\n", p.x, p.y, p.z));
        }
        for [a, b, c] in &ball.triangles {
            let (b, c) = if turned { (c, b) } else { (b, c) };
            text.push_str(&format!("f {} {} {}\n", a + 1, b + 1, c + 1));
        }
        let files = [("ball.obj".to_owned(), text.into_bytes())];
        Stage::from_files(&files, &Reading::default())
            .unwrap()
            .describe()
    };
    assert!(obj(false).bare && !obj(false).two_sided);
    assert!(obj(true).two_sided);
}

/// A shell's kind can be read for every vertex, changed, and left to Supple again.
#[test]
fn the_kind_of_a_shell_is_changed() {
    let mut stage = Stage::embedded("male").unwrap();
    assert!(stage.shells().is_empty() && stage.shell_of_vertices().is_empty());
    stage.build(Default::default()).unwrap();
    let shells = stage.shells();
    let of_vertex = stage.shell_of_vertices();
    assert_eq!(3 * of_vertex.len(), shown(&mut stage, Method::Tissue).len());
    assert!((of_vertex.iter()).all(|&s| s == u32::MAX || (s as usize) < shells.len()));
    let number = shells.iter().position(|s| s.kind != "flesh").unwrap();
    stage.set_shell_kind(number, "hair").unwrap();
    assert_eq!(stage.shells()[number].kind, "hair");
    let error = stage.set_shell_kind(number, "stone").unwrap_err();
    assert!(error.to_string().contains("flesh"), "{error}");
    assert!(stage.set_shell_kind(shells.len(), "hair").is_err());
    assert_eq!(stage.shells()[number].kind, "hair");
    stage.set_shell_kind(number, "automatic").unwrap();
    assert_eq!(stage.shells(), shells);
}

/// Markers are shown where joints were found, are honoured, and stand in for what is not found.
#[test]
fn markers_and_templates() {
    let male = Stage::embedded("male").unwrap();
    let mut markers = male.markers();
    assert_eq!(markers.len(), 8);
    markers.get_mut("wrist.L").unwrap()[1] += 0.05;
    let placed = male.fitted(&markers).unwrap();
    let hand = placed
        .iter()
        .find(|joint| joint.name == "leftHand")
        .unwrap();
    let off = Vec3::from(hand.position).distance(markers["wrist.L"].into());
    assert!(off < 1e-4, "{off}");
    let unknown = [("tail".to_owned(), [0.0; 3])].into();
    assert!(
        male.fitted(&unknown)
            .unwrap_err()
            .to_string()
            .contains("tail")
    );
    for (kind, joint) in [("humanoid", "leftHand"), ("quadruped", "tail")] {
        let placed = male.template(kind).unwrap();
        assert!(placed.iter().any(|placed| placed.name == joint), "{kind}");
    }
    assert!(male.template("snake").is_err());
}
