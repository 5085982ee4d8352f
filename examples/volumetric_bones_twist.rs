//! Volumetric bones (figure 3.3): a leg turns about its own bone. Around a bone line the tissue slips back; a volumetric
//! bone takes it along.

mod common;

use common::RED;
use supple::Character;
use supple::embedded::{Body, body};
use supple::flesh::{Flesh, Settings};
use supple::geom::TriMesh;
use supple::glam::{Quat, Vec3, vec3};
use supple::picture::scene::CLAY;
use supple::picture::{Camera, DrawMesh, Image};

/// How far the leg turns outwards [°].
const TWIST: f32 = 70.0;

fn main() {
    let character = body(Body::Female).unwrap();
    let at = |name: &str| {
        let joint = character.skeleton.find(name).unwrap();
        Vec3::from(character.skeleton.rest_worlds()[joint].translation)
    };
    let (hip, knee, ankle) = (at("upperleg01.L"), at("lowerleg01.L"), at("foot.L"));
    let axis = (knee - hip).normalize();
    let pose = common::turned(&character, "upperleg01.L", axis, -TWIST);

    // The kneecap: in front of the joint.
    let marked = |p: Vec3| p.distance(knee + vec3(0.0, 0.0, 0.05)) < 0.045;
    let corners = [ankle - vec3(0.12, -0.08, 0.0), hip + vec3(0.12, 0.02, 0.0)];
    let camera = common::view(&corners, vec3(0.0, 0.1, 1.0));
    let mut tiles = Vec::new();
    let mut turns = Vec::new();
    for (name, settings) in [("bone lines", bone_lines(&character)), ("volumetric bones", settings())] {
        let flesh = Flesh::builder(&character).settings(settings).build().unwrap();
        if tiles.is_empty() {
            let rest = flesh.skin_mesh();
            tiles.push((draw(rest, rest, &marked, &camera), "at rest".to_owned()));
        }
        let state = common::settle(&flesh, &pose);
        let skin = common::skin(&flesh, &pose, &state);
        let turn = mean_turn(&skin, flesh.skin_mesh(), &marked, (knee, axis));
        let caption = format!("{name}: the kneecap turns by {turn:.0}° of {TWIST}°");
        tiles.push((draw(&skin, flesh.skin_mesh(), &marked, &camera), caption));
        turns.push(turn);
    }
    common::save("volumetric_bones_twist", &common::sheet("A leg turned outwards", &tiles, 3));
    check(turns[0], turns[1]);
}

/// Only the leg is simulated.
fn settings() -> Settings {
    Settings {
        excluded: ["spine05", "pelvis.R", "foot.L"].map(str::to_owned).to_vec(),
        ..Settings::default()
    }
}

/// The same with bones and joints a millimetre thick.
fn bone_lines(character: &Character) -> Settings {
    let mut settings = settings();
    for joint in character.skeleton.joints() {
        settings.bone_radii.insert(joint.name.clone(), 1e-3);
        settings.joint_radii.insert(joint.name.clone(), 1e-3);
    }
    settings
}

/// Mean turn of marked vertices about an axis [°].
fn mean_turn(now: &TriMesh, rest: &TriMesh, marked: &dyn Fn(Vec3) -> bool, (centre, axis): (Vec3, Vec3)) -> f32 {
    let across = |p: Vec3| (p - centre).reject_from(axis);
    let marks = (0..rest.positions.len()).filter(|&v| marked(rest.positions[v]));
    let turns: Vec<f32> = marks
        .map(|v| {
            let (before, after) = (across(rest.positions[v]), across(now.positions[v]));
            before.angle_between(after).to_degrees()
        })
        .collect();
    turns.iter().sum::<f32>() / turns.len() as f32
}

fn draw(skin: &TriMesh, rest: &TriMesh, marked: &dyn Fn(Vec3) -> bool, camera: &Camera) -> Image {
    let colour = |&p: &Vec3| if marked(p) { RED } else { CLAY };
    let colours: Vec<Vec3> = rest.positions.iter().map(colour).collect();
    let _ = Quat::IDENTITY;
    common::tile(vec![DrawMesh::owned(skin.clone()).coloured(colours)], vec![], camera)
}

fn check(line: f32, volume: f32) {
    println!("the kneecap turns by {line:.1}° around bone lines, by {volume:.1}° with volumetric bones, of {TWIST}°");
    assert!(line < 0.6 * TWIST && volume > 0.9 * TWIST);
}
