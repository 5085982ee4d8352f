//! Virtual bones (figure 3.21): bones that shape the tissue without holding it. The trunk of an elephant with all its
//! bones, with only its tip held, and without any while the head shakes.

mod common;

use common::{Limb, TILE};
use supple::flesh::{Flesh, Settings};
use supple::glam::{Vec3, vec3};
use supple::picture::{BoneStyle, Camera, DrawMesh, Image, bone_mesh};
use supple::tissue::SoftBody;
use supple::{Character, Pose};

/// Joints of the trunk, from the head to the tip.
const TRUNK: [Vec3; 7] = [
    vec3(0.0, -0.08, 0.26),
    vec3(0.0, -0.2, 0.36),
    vec3(0.0, -0.34, 0.41),
    vec3(0.0, -0.48, 0.42),
    vec3(0.0, -0.61, 0.41),
    vec3(0.0, -0.73, 0.38),
    vec3(0.0, -0.83, 0.34),
];
/// Turns of the head there and back a second.
const SHAKES: f32 = 1.6;

fn main() {
    let elephant = elephant();
    let trunk: Vec<String> = (0..TRUNK.len()).map(|k| format!("trunk{k}")).collect();
    let connected = Settings::default();
    let tip_held = Settings { virtual_bones: trunk[..TRUNK.len() - 2].to_vec(), ..soft() };
    let loose = Settings { virtual_bones: trunk.clone(), ..soft() };

    let mut curled = Pose::rest(&elephant.skeleton);
    for joint in &trunk[1..] {
        common::turn(&mut curled, &elephant, joint, Vec3::X, -28.0);
    }
    let mut tiles = Vec::new();
    let flesh = Flesh::builder(&elephant).settings(connected.clone()).build().unwrap();
    let camera = camera();
    let rest = flesh.rest_pose();
    tiles.push((draw(&flesh, &elephant, &rest, flesh.skin_mesh().positions.clone(), &camera), "at rest".to_owned()));
    let mut free = Vec::new();
    for (name, settings) in [("every bone holds", connected), ("only the tip is held", tip_held)] {
        let flesh = Flesh::builder(&elephant).settings(settings).build().unwrap();
        let state = common::settle(&flesh, &curled);
        let skin = common::skin(&flesh, &curled, &state).positions;
        let share = free_share(&flesh);
        tiles.push((draw(&flesh, &elephant, &curled, skin, &camera), format!("{name}: {:.0} % of the inside is free", 100.0 * share)));
        free.push(share);
    }
    let swing = shake(&elephant, loose, &mut tiles, &camera);
    common::save("virtual_bones", &common::sheet("Virtual bones", &tiles, 4));
    check(&free, swing);
}

fn soft() -> Settings {
    let mut settings = Settings::default();
    settings.tissue.stiffness = 6_000.0;
    settings
}

/// Shakes the head and draws the trunk at some moments; returns how far its tip swings beside the head [m].
fn shake(elephant: &Character, settings: Settings, tiles: &mut Vec<(Image, String)>, camera: &Camera) -> f32 {
    let mut body = SoftBody::new(elephant, settings).unwrap();
    let rest = body.flesh().skin_mesh().positions.clone();
    let tip = (0..rest.len()).min_by(|&a, &b| rest[a].y.total_cmp(&rest[b].y)).unwrap();
    let mut swing: f32 = 0.0;
    for frame in 0..=90 {
        let time = frame as f32 / 60.0;
        let angle = 35.0 * (time * SHAKES * std::f32::consts::TAU).sin();
        let pose = common::turned(elephant, "neck", Vec3::Y, angle);
        body.advance(&pose, 1.0 / 60.0).unwrap();
        let skin = body.flesh().flesh_positions(&pose, body.state()).unwrap();
        let turn = supple::glam::Quat::from_rotation_y(angle.to_radians());
        swing = swing.max((turn.inverse() * skin[tip] - rest[tip]).length());
        if frame >= 42 && (frame - 42) % 12 == 0 && tiles.len() < 8 {
            let image = draw(body.flesh(), elephant, &pose, skin, camera);
            tiles.push((image, format!("no bone holds, head turned by {angle:.0}°")));
        }
    }
    swing
}

/// Head, ears and trunk.
fn elephant() -> Character {
    let limb = |a: Vec3, b: Vec3, r: [f32; 2]| Limb { ends: [a, b], radii: r };
    let mut limbs = vec![
        limb(vec3(0.0, 0.06, -0.12), vec3(0.0, 0.0, 0.08), [0.25, 0.2]),
        limb(vec3(0.2, 0.16, -0.1), vec3(0.5, 0.1, -0.22), [0.06, 0.05]),
        limb(vec3(-0.2, 0.16, -0.1), vec3(-0.5, 0.1, -0.22), [0.06, 0.05]),
        limb(vec3(0.22, 0.02, -0.1), vec3(0.44, -0.14, -0.2), [0.06, 0.05]),
        limb(vec3(-0.22, 0.02, -0.1), vec3(-0.44, -0.14, -0.2), [0.06, 0.05]),
    ];
    for k in 0..TRUNK.len() - 1 {
        let radius = |k: usize| 0.125 - 0.012 * k as f32;
        limbs.push(limb(TRUNK[k], TRUNK[k + 1], [radius(k), radius(k + 1)]));
    }
    let mut joints = vec![
        ("neck", None, vec3(0.0, 0.06, -0.15)),
        ("head", Some(0), vec3(0.0, 0.02, 0.1)),
        ("ear.L", Some(0), vec3(0.24, 0.08, -0.13)),
        ("ear_end.L", Some(2), vec3(0.46, 0.02, -0.21)),
        ("ear.R", Some(0), vec3(-0.24, 0.08, -0.13)),
        ("ear_end.R", Some(4), vec3(-0.46, 0.02, -0.21)),
    ];
    let names = ["trunk0", "trunk1", "trunk2", "trunk3", "trunk4", "trunk5", "trunk6"];
    for (k, (name, place)) in names.into_iter().zip(TRUNK).enumerate() {
        joints.push((name, Some(if k == 0 { 1 } else { joints.len() - 1 }), place));
    }
    common::character("elephant", common::blob(&limbs, 0.12, 0.026), &joints)
}

fn camera() -> Camera {
    let corners = [vec3(-0.5, -0.9, 0.0), vec3(0.5, 0.32, 0.0)];
    common::view_in((TILE.0, TILE.1 + 30), &corners, vec3(0.55, 0.12, 1.0))
}

/// The elephant with the bones that hold, seen through it.
fn draw(flesh: &Flesh, elephant: &Character, pose: &Pose, positions: Vec<Vec3>, camera: &Camera) -> Image {
    let worlds = pose.worlds(&elephant.skeleton);
    let at = |joint: usize| Vec3::from(worlds[joint].translation);
    let graph = flesh.graph();
    let mut bones = Vec::new();
    let mut joints = Vec::new();
    for bone in graph.bones.iter().filter(|bone| !bone.is_virtual) {
        let ends = [bone.start, bone.end].map(|node| graph.nodes[node].joints.first().map(|&j| at(j)));
        if let [Some(a), Some(b)] = ends {
            bones.push((a, b));
            joints.extend([a, b]);
        }
    }
    let skin = supple::geom::TriMesh { positions, triangles: flesh.skin_mesh().triangles.clone() };
    let skin = DrawMesh::owned(skin).coloured(supple::picture::hex(0xb9b6bd));
    let style = BoneStyle { opacity: 0.7, ..BoneStyle::default() };
    common::tile_in((TILE.0, TILE.1 + 30), vec![skin, bone_mesh(&bones, &joints, &style)], vec![], camera)
}

/// Share of the bone surface that the simulation moves.
fn free_share(flesh: &Flesh) -> f64 {
    let free = flesh.attachments().iter().filter(|a| **a == supple::flesh::sliding::Attachment::Free);
    free.count() as f64 / flesh.attachments().len() as f64
}

fn check(free: &[f64], swing: f32) {
    println!("free inside: {:.3} connected, {:.3} with virtual bones; the loose tip swings by {swing:.3} m", free[0], free[1]);
    assert!(free[1] > free[0] + 0.1);
    assert!((0.05..1.0).contains(&swing));
}
