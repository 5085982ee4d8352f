//! Virtual bones (figure 3.21): bones that shape the tissue but do not hold it. The trunk of an elephant with all its bones, with only
//! its tip held, and without any while the head shakes.

mod common;

use common::{Limb, edge_stretches};
use supple::flesh::{Flesh, Settings};
use supple::glam::{Vec3, vec3};
use supple::tissue::SoftBody;
use supple::{Character, Pose};
use supple_picture::{BoneStyle, DrawMesh, Image, bone_mesh};

/// Joints of the trunk, from the head to the tip.
const TRUNK: [Vec3; 6] = [
    vec3(0.0, -0.08, 0.22),
    vec3(0.0, -0.18, 0.31),
    vec3(0.0, -0.3, 0.35),
    vec3(0.0, -0.42, 0.35),
    vec3(0.0, -0.53, 0.33),
    vec3(0.0, -0.63, 0.29),
];
/// Width and height of a tile [px].
const SIZE: (usize, usize) = (255, 285);
/// Frequency of the head's rotation [Hz].
const SHAKES: f32 = 1.0;

fn main() {
    let elephant = elephant();
    let trunk: Vec<String> = (0..TRUNK.len()).map(|k| format!("trunk{k}")).collect();
    let connected = Settings::default();
    let with_virtual = |bones: &[String]| {
        let mut settings = soft();
        settings.virtual_bones = bones.to_vec();
        settings
    };
    let tip_held = with_virtual(&trunk[..TRUNK.len() - 2]);
    let loose = with_virtual(&trunk);

    let mut curled = Pose::rest(&elephant.skeleton);
    common::turn(&mut curled, &elephant, "trunk2", Vec3::X, -70.0);
    common::turn(&mut curled, &elephant, "trunk3", Vec3::X, -60.0);
    let mut tiles = Vec::new();
    let flesh = common::build(&elephant, connected.clone());
    let rest = flesh.rest_pose();
    let at_rest = draw(
        &flesh,
        &elephant,
        &rest,
        flesh.skin_mesh().positions.clone(),
    );
    tiles.push((at_rest, "at rest".to_owned()));
    let mut stretches = Vec::new();
    for (name, settings) in [
        ("every bone holds", connected),
        ("only head and tip hold", tip_held),
    ] {
        let flesh = common::build(&elephant, settings);
        let state = common::settle(&flesh, &curled);
        let skin = common::skin(&flesh, &curled, &state);
        let largest = edge_stretches(&skin, flesh.skin_mesh())
            .into_iter()
            .fold(0.0, f32::max);
        let image = draw(&flesh, &elephant, &curled, skin.positions);
        tiles.push((image, format!("{name}: skin × {largest:.2}")));
        stretches.push(largest);
    }
    let swing = shake(&elephant, loose, &mut tiles);
    common::save("virtual_bones", &common::sheet("Virtual bones", &tiles, 4));
    check(&stretches, swing);
}

fn soft() -> Settings {
    let mut settings = Settings::default();
    settings.tissue.stiffness = 20_000.0;
    settings.solver.damping_half_life = 0.3;
    settings
}

/// Shakes the head and draws the trunk at some times; returns the sideways swing of its tip relative to the head [m].
fn shake(elephant: &Character, settings: Settings, tiles: &mut Vec<(Image, String)>) -> f32 {
    let mut body = SoftBody::new(elephant, settings).unwrap();
    let rest = body.flesh().skin_mesh().positions.clone();
    let tip = (0..rest.len())
        .min_by(|&a, &b| rest[a].y.total_cmp(&rest[b].y))
        .unwrap();
    let mut swing: f32 = 0.0;
    for frame in 0..=150 {
        let time = frame as f32 / 60.0;
        let angle = 30.0 * (time * SHAKES * std::f32::consts::TAU).sin();
        let pose = common::turned(elephant, "neck", Vec3::Y, angle);
        body.advance(&pose, 1.0 / 60.0).unwrap();
        let skin = body.flesh().flesh_positions(&pose, body.state()).unwrap();
        let turn = supple::glam::Quat::from_rotation_y(angle.to_radians());
        swing = swing.max((turn.inverse() * skin[tip] - rest[tip]).length());
        if frame >= 90 && frame % 12 == 0 && tiles.len() < 8 {
            let image = draw(body.flesh(), elephant, &pose, skin);
            tiles.push((image, format!("no bone holds, head turned by {angle:.0}°")));
        }
    }
    swing
}

/// Head, ears and trunk.
fn elephant() -> Character {
    let limb = |a: Vec3, b: Vec3, r: [f32; 2]| Limb {
        ends: [a, b],
        radii: r,
        flat: 1.0,
    };
    let ear = |side: f32| Limb {
        ends: [vec3(0.2 * side, 0.1, -0.1), vec3(0.36 * side, 0.06, -0.1)],
        radii: [0.15, 0.19],
        flat: 4.0,
    };
    let head = limb(vec3(0.0, 0.06, -0.1), vec3(0.0, 0.0, 0.08), [0.24, 0.19]);
    let mut limbs = vec![head, ear(1.0), ear(-1.0)];
    for k in 0..TRUNK.len() - 1 {
        let radius = |k: usize| 0.11 - 0.01 * k as f32;
        limbs.push(limb(TRUNK[k], TRUNK[k + 1], [radius(k), radius(k + 1)]));
    }
    let mut joints = vec![
        ("neck", None, vec3(0.0, 0.06, -0.15)),
        ("head", Some(0), vec3(0.0, 0.02, 0.1)),
        ("ear.L", Some(0), vec3(0.24, 0.09, -0.1)),
        ("ear_end.L", Some(2), vec3(0.44, 0.05, -0.1)),
        ("ear.R", Some(0), vec3(-0.24, 0.09, -0.1)),
        ("ear_end.R", Some(4), vec3(-0.44, 0.05, -0.1)),
    ];
    let names = ["trunk0", "trunk1", "trunk2", "trunk3", "trunk4", "trunk5"];
    for (k, (name, place)) in names.into_iter().zip(TRUNK).enumerate() {
        joints.push((name, Some(if k == 0 { 1 } else { joints.len() - 1 }), place));
    }
    common::character("elephant", common::blob(&limbs, 0.08, 0.024), &joints)
}

/// The elephant with the bones that hold it drawn on top.
fn draw(flesh: &Flesh, elephant: &Character, pose: &Pose, positions: Vec<Vec3>) -> Image {
    let (ears, trunk) = (
        [vec3(-0.55, 0.05, -0.1), vec3(0.55, 0.05, -0.1)],
        [vec3(0.0, -0.7, 0.33), vec3(0.0, 0.3, 0.0)],
    );
    let camera = common::view_in(SIZE, &[ears, trunk].concat(), vec3(0.6, 0.15, 1.0));
    let worlds = pose.worlds(&elephant.skeleton);
    let at = |joint: usize| Vec3::from(worlds[joint].translation);
    let graph = flesh.graph();
    let mut bones = Vec::new();
    let mut joints = Vec::new();
    for bone in graph.bones.iter().filter(|bone| !bone.is_virtual) {
        let ends =
            [bone.start, bone.end].map(|node| graph.nodes[node].joints.first().map(|&j| at(j)));
        if let [Some(a), Some(b)] = ends {
            bones.push((a, b));
            joints.extend([a, b]);
        }
    }
    let skin = supple::geom::TriMesh {
        positions,
        triangles: flesh.skin_mesh().triangles.clone(),
    };
    let skin = DrawMesh::owned(skin).coloured(supple_picture::hex(0xb9b6bd));
    let head = worlds[0] * elephant.skeleton.rest_worlds()[0].inverse();
    let eyes = [1.0, -1.0].map(|side| head.transform_point3(vec3(0.14 * side, 0.1, 0.15)));
    let eyes = DrawMesh::owned(common::dots(eyes, 0.025)).coloured(supple_picture::hex(0x25282d));
    let style = BoneStyle {
        opacity: 0.7,
        ..BoneStyle::default()
    };
    common::tile_in(
        SIZE,
        vec![skin, eyes, bone_mesh(&bones, &joints, &style)],
        vec![],
        &camera,
    )
}

fn check(stretches: &[f32], swing: f32) {
    println!(
        "the curled trunk's skin is stretched by up to {:.2} with every bone, {:.2} with virtual ones; \
         the loose tip swings {swing:.3} m beside the head",
        stretches[0], stretches[1]
    );
    assert!(stretches[1] - 1.0 < 0.8 * (stretches[0] - 1.0));
    assert!((0.1..0.7).contains(&swing));
}
