//! Bodies with layers, on a torso made by formulas: a rib cage, a spine and a pelvis inside an upright ellipse.

use glam::{Quat, Vec3};
use supple::flesh::settings::ContactMode;
use supple::flesh::{Flesh, GivenLayers};
use supple::rig::skeleton::JointKind;
use supple::rig::{Joint, Part, Skeleton, Transform};
use supple::tissue::SoftBody;
use supple::{Character, Pose};
use supple_geom::shapes::capsule;
use supple_lab::layered_motion::{SideJump, folds, mean_shear, triangles_within};

/// Pelvis, two lumbar joints, chest and neck: height of each joint \[m\].
const JOINTS: [(&str, f32); 5] = [
    ("pelvis", 0.1),
    ("lumbar", 0.24),
    ("waist", 0.36),
    ("chest", 0.48),
    ("neck", 0.9),
];
/// Half of the width and depth of the torso \[m\].
const RADII: [f32; 2] = [0.2, 0.16];
/// Heights between which it has layers, below which the pelvis is, and above which the rib cage is \[m\].
const LAYERED: [f32; 2] = [0.06, 0.88];
const PELVIS: f32 = 0.2;
const RIBS: f32 = 0.46;

fn step(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// How much of the pelvis (0), belly (1) and rib cage (2) there is at a height.
fn parts_at(y: f32) -> [f32; 3] {
    let ribs = step(RIBS - 0.06, RIBS, y);
    let pelvis = 1.0 - step(PELVIS - 0.04, PELVIS + 0.02, y);
    [pelvis, 1.0 - ribs - pelvis, ribs]
}

struct Torso {
    character: Character,
    layers: GivenLayers,
    belly: Vec<u32>,
    ribs: Vec<u32>,
    waist: Vec<u32>,
}

fn torso() -> Torso {
    let mut mesh = capsule(1.0, 5.0, 36, 44);
    let bounds = mesh.bounds();
    let height = bounds.max.y - bounds.min.y;
    for p in &mut mesh.positions {
        let y = (p.y - bounds.min.y) / height * 0.96;
        *p = Vec3::new(p.x * RADII[0], y, p.z * RADII[1]);
    }
    let joints = (JOINTS.iter().enumerate()).map(|(k, &(name, y))| Joint {
        name: name.to_owned(),
        parent: k.checked_sub(1),
        rest: Transform::from_translation(Vec3::new(
            0.0,
            y - k.checked_sub(1).map_or(0.0, |p| JOINTS[p].1),
            if k == 0 { -0.06 } else { 0.0 },
        )),
        tail: None,
        kind: JointKind::Bone,
    });
    let skeleton = Skeleton::from_unordered(joints.collect()).unwrap().0;
    let mut layers = GivenLayers {
        vertices: (0..mesh.positions.len() as u32).collect(),
        ..GivenLayers::default()
    };
    let (mut belly, mut ribs, mut waist) = (Vec::new(), Vec::new(), Vec::new());
    for (v, &p) in mesh.positions.iter().enumerate() {
        let [a, b, c] = parts_at(p.y);
        let is_layered = (LAYERED[0]..LAYERED[1]).contains(&p.y);
        // Pelvis and rib cage are wide, the spine is narrow and at the back.
        let (width, back) = (0.8 * a + 0.22 * b + 0.85 * c, -0.06 * b);
        let inner = Vec3::new(width * p.x, p.y, width * p.z + back);
        let fat = (0.014 * (a + c) + 0.03 * b) / p.distance(inner).max(1e-6);
        let muscle = p.lerp(inner, fat.clamp(0.05, 0.6));
        layers.skeleton.push(if is_layered { inner } else { p });
        layers.muscle.push(if is_layered { muscle } else { p });
        layers.layered.push(is_layered);
        layers.held.push(b < 0.02);
        layers.hollow.push(b >= 0.02);
        layers.on_bone.push(false);
        // Each vertebra hangs on one joint.
        let vertebra = if p.y < JOINTS[2].1 { 1 } else { 2 };
        layers.influences.push(match (a > 0.98, c > 0.98) {
            (true, _) => vec![(0, 1.0)],
            (_, true) => vec![(3, 1.0)],
            _ => vec![(vertebra, 1.0)],
        });
        if b > 0.9 && p.z > 0.05 {
            belly.push(v as u32);
        }
        if (RIBS + 0.04..LAYERED[1] - 0.1).contains(&p.y) {
            ribs.push(v as u32);
        }
        if (PELVIS - 0.05..RIBS + 0.1).contains(&p.y) {
            waist.push(v as u32);
        }
    }
    let part = Part {
        name: "torso".to_owned(),
        mesh,
        ..Part::default()
    };
    let character = Character {
        name: "torso".to_owned(),
        skeleton,
        parts: vec![part],
        ..Character::default()
    };
    Torso {
        character,
        layers,
        belly,
        ribs,
        waist,
    }
}

impl Torso {
    fn triangles(&self) -> &[[u32; 3]] {
        &self.character.parts[0].mesh.triangles
    }

    fn two(&self) -> SoftBody {
        SoftBody::builder(&self.character).build().unwrap()
    }

    fn three(&self) -> SoftBody {
        self.with(&self.layers)
    }

    fn with(&self, layers: &GivenLayers) -> SoftBody {
        let builder = SoftBody::builder(&self.character).layers(layers.clone());
        builder.build().unwrap()
    }

    /// A turn shared out over the spine.
    fn turned(&self, axis: Vec3, degrees: f32) -> Pose {
        let mut pose = Pose::rest(&self.character.skeleton);
        for (name, share) in [("lumbar", 0.35), ("waist", 0.35), ("chest", 0.3)] {
            let joint = self.character.skeleton.find(name).unwrap();
            let turn = Quat::from_axis_angle(axis, (share * degrees).to_radians());
            pose.rotate(joint, turn);
        }
        pose
    }

    /// Skin at rest, and at rest in a pose.
    fn settled(&self, body: &mut SoftBody, pose: &Pose) -> [Vec<Vec3>; 2] {
        let rest = body.flesh().rest_pose();
        [&rest, pose].map(|pose| {
            body.reset(pose).unwrap();
            body.positions().swap_remove(0)
        })
    }
}

#[test]
fn layers_are_nested_at_rest() {
    let torso = torso();
    let body = torso.three();
    let report = &body.flesh().report;
    assert_eq!(report.untangled.dropped, 0, "{:?}", report.untangled);
    assert_eq!(body.quality().inverted, 0);
    let layered = torso.layers.layered.iter().filter(|&&l| l).count();
    assert_eq!(report.layered, layered);
    let flesh = body.flesh();
    let muscles = (flesh.columns().iter()).filter(|c| c.muscle != u32::MAX);
    assert_eq!(muscles.count(), layered);
    // Fat is lighter than water, muscle heavier, and both together about as heavy.
    let volume = f64::from(torso.character.parts[0].mesh.signed_volume().abs() as f32);
    let density = report.mass / volume;
    assert!((930.0..1060.0).contains(&density), "{density}");
    // The rest pose leaves everything where it is.
    let targets = flesh.targets(&flesh.rest_pose()).unwrap();
    let rest = &flesh.model.rest()[flesh.model.free_count()..];
    let off = (targets.fixed.iter().zip(rest)).map(|(a, b)| a.distance(*b));
    assert!(off.fold(0.0, f32::max) < 1e-6);
    let [muscle, skeleton] = (flesh
        .layer_positions(&flesh.rest_pose(), body.state())
        .unwrap())
    .expect("layers");
    for (v, &p) in torso.layers.skeleton.iter().enumerate() {
        let [m, s] = [muscle[v], skeleton[v]];
        assert!(m.distance(torso.layers.muscle[v]) < 1e-6 && s.distance(p) < 1e-6);
    }
    // One entry of the device's table for each driven vertex, and the sliding region has none.
    let driven = flesh.target_table().driven.len();
    assert_eq!(driven, flesh.model.fixed_count());
    let held = torso.with(&GivenLayers {
        held: vec![true; torso.layers.held.len()],
        ..torso.layers.clone()
    });
    let is_free = |v: &usize| torso.layers.layered[*v] && !torso.layers.held[*v];
    let free = (0..torso.layers.held.len()).filter(is_free).count();
    let cores = flesh.layers().map_or(0, |layers| layers.cores.len());
    assert!(cores > 0);
    assert_eq!(held.flesh().model.fixed_count() + cores - driven, free);
}

#[test]
fn the_belly_swings_and_the_rib_cage_does_not() {
    let torso = torso();
    let ratio = |mut body: SoftBody| {
        let regions = [&torso.belly[..], &torso.ribs[..]];
        let swings = SideJump::default().swings(&mut body, 0, &regions).unwrap();
        println!("belly {:.4} m, rib cage {:.4} m", swings[0], swings[1]);
        swings[0] / swings[1]
    };
    let (two, three) = (ratio(torso.two()), ratio(torso.three()));
    assert!(three > 3.0 * two, "{three} {two}");
}

#[test]
fn the_rib_cage_turns_without_shear() {
    let torso = torso();
    let pose = torso.turned(Vec3::Y, 45.0);
    let ribs = triangles_within(torso.triangles(), &torso.ribs);
    let shear = |mut body: SoftBody| {
        let [rest, now] = torso.settled(&mut body, &pose);
        mean_shear(&ribs, &rest, &now)
    };
    let (two, three) = (shear(torso.two()), shear(torso.three()));
    println!("shear {two:.2} and {three:.2} degrees");
    assert!(three < 0.5 * two, "{three} {two}");
}

#[test]
fn sliding_regions_bend_without_folds() {
    let torso = torso();
    let pose = torso.turned(Vec3::NEG_X, 30.0);
    let waist = triangles_within(torso.triangles(), &torso.waist);
    let count = |layers: &GivenLayers| {
        let [rest, now] = torso.settled(&mut torso.with(layers), &pose);
        [20.0, 30.0].map(|degrees| folds(&waist, &rest, &now, degrees))
    };
    let held = GivenLayers {
        held: vec![true; torso.layers.held.len()],
        ..torso.layers.clone()
    };
    let (free, held) = (count(&torso.layers), count(&held));
    println!("folds of 20 and 30 degrees: {free:?} with sliding regions, {held:?} without");
    assert_eq!(free, [0, 0]);
    assert!(held[0] > 5 && held[1] > 0);
}

#[test]
fn wild_poses_and_contact_come_back_to_rest() {
    let torso = torso();
    for (rate, mode) in [
        (30.0, ContactMode::Off),
        (60.0, ContactMode::Local),
        (120.0, ContactMode::Global),
        (240.0, ContactMode::Off),
    ] {
        let mut settings = supple::Settings::default();
        settings.solver.steps_per_second = rate;
        settings.contact.mode = mode;
        let builder = SoftBody::builder(&torso.character).settings(settings);
        let mut body = builder
            .layers(torso.layers.clone())
            .ground(-0.02)
            .build()
            .unwrap();
        let rest = body.flesh().rest_pose();
        let before = body.positions().concat();
        for frame in 0..40 {
            let angle = 80.0 * (0.7 * frame as f32).sin();
            let axis = Vec3::new((frame as f32).cos(), 0.3, (frame as f32).sin());
            let mut pose = torso.turned(axis.normalize(), angle);
            // A teleport.
            pose.locals[0].translation.x += if frame > 25 { 3.0 } else { 0.0 };
            body.advance(&pose, 1.0 / 60.0).unwrap();
            assert!(body.positions().concat().iter().all(|p| p.is_finite()));
        }
        body.place(&rest).unwrap();
        let after = body.positions().concat();
        let off = before.iter().zip(&after).map(|(a, b)| a.distance(*b));
        let off = off.fold(0.0, f32::max);
        assert!(off < 1e-3, "{off} m at {rate} steps a second");
    }
}

#[test]
fn layers_that_do_not_fit_are_refused() {
    let torso = torso();
    let refused = |change: &dyn Fn(&mut GivenLayers)| {
        let mut layers = torso.layers.clone();
        change(&mut layers);
        let builder = Flesh::builder(&torso.character).layers(&layers);
        builder.build().map(|_| ()).unwrap_err().to_string()
    };
    for (message, word) in [
        (refused(&|l| l.part = 3), "part 3"),
        (refused(&|l| l.muscle.truncate(5)), "muscle"),
        (refused(&|l| l.vertices[0] = 1_000_000), "1000000"),
        (refused(&|l| l.skeleton[200] = Vec3::NAN), "finite"),
        (
            refused(&|l| l.influences[torso.ribs[0] as usize] = vec![(99, 1.0)]),
            "weights",
        ),
    ] {
        assert!(message.contains(word), "{message}");
    }
}
