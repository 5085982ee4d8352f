//! Position and size of joints (figure 3.22): a small joint close to the surface gives a sharp bend, as in fingers and elbows; a
//! large one in the middle gives a smooth one, as in shoulders and knees.

mod common;

use common::{BLUE, arm_settings, cut_away};
use supple::geom::section::{Plane, section};
use supple::geom::{Adjacency, TriMesh};
use supple::glam::{DVec3, Vec3, vec3};
use supple_picture::{DrawMesh, Image};

const BEND: f32 = 110.0;
/// Length of outline over which its rotation is measured [m]: half the tube's radius.
const WINDOW: f64 = 0.05;

fn main() {
    let (sharp_tiles, sharp) = bend(0.055, 0.022, 0.022);
    let (smooth_tiles, smooth) = bend(0.0, 0.05, 0.075);
    let [a, b] = sharp_tiles;
    let [c, d] = smooth_tiles;
    let tiles = [
        (a, "small joint close to the surface".to_owned()),
        (b, format!("a sharp tip: {sharp:.0}° over 5 cm")),
        (c, "large joint in the middle".to_owned()),
        (d, format!("a smooth bulge: {smooth:.0}° over 5 cm")),
    ];
    let sheet = common::sheet("Position and size of a joint", &tiles, 4);
    common::save("joint_position_and_size", &sheet);
    check(sharp, smooth);
}

/// Draws the tube at rest and bent; also returns the largest rotation of its outline [°].
fn bend(depth: f32, bones: f64, joint: f64) -> ([Image; 2], f64) {
    let arm = common::arm(depth);
    let flesh = common::build(&arm, arm_settings(bones, joint));
    let rest = flesh.rest_pose();
    let pose = common::turned(&arm, "elbow", Vec3::Z, BEND);
    let relaxed = supple::sim::State::at_rest(&flesh.model);
    let bent = common::settle(&flesh, &pose);
    let corners = [vec3(0.24, -0.15, 0.0), vec3(0.68, 0.29, 0.0)];
    let camera = common::view(&corners, Vec3::Z);
    let ball = common::dots([vec3(0.5, -depth, 0.0)], joint as f32 * 1.05);
    let images = [(&rest, &relaxed), (&pose, &bent)].map(|(pose, state)| {
        let mut meshes = cut_away(&flesh, &arm, pose, state);
        let mut blue = DrawMesh::owned(ball.clone()).coloured(BLUE);
        blue.casts_shadow = false;
        meshes.push(blue);
        common::tile(meshes, vec![], &camera)
    });
    (images, sharpest_turn(&common::skin(&flesh, &pose, &bent)))
}

/// Largest rotation of the outer outline in the plane z = 0 over [`WINDOW`] [°].
fn sharpest_turn(skin: &TriMesh) -> f64 {
    let plane = Plane {
        point: Vec3::ZERO,
        normal: Vec3::Z,
    };
    let cut = section(skin, &Adjacency::new(skin), plane);
    let outline = &cut.loops[0].points;
    let count = outline.len();
    let direction = |i: usize| outline[(i + 1) % count] - outline[i % count];
    let mut sharpest: f64 = 0.0;
    for start in (0..count).filter(|&i| outer_side(outline[i])) {
        let (mut length, mut turn, mut i) = (0.0, 0.0, start);
        while length < WINDOW {
            let (a, b) = (direction(i), direction(i + 1));
            turn += a.cross(b).z.atan2(a.dot(b));
            length += b.length();
            i += 1;
        }
        sharpest = sharpest.max(turn.to_degrees());
    }
    sharpest
}

/// Around the bend, on the outside of it.
fn outer_side(p: DVec3) -> bool {
    let from_elbow = p - DVec3::new(0.5, 0.0, 0.0);
    let bend = f64::from(BEND).to_radians();
    let outwards = DVec3::X - DVec3::new(bend.cos(), bend.sin(), 0.0);
    from_elbow.length() < 0.25 && from_elbow.dot(outwards) > 0.0
}

fn check(sharp: f64, smooth: f64) {
    println!(
        "rotation of the outline over 5 cm: {sharp:.1}° at the small joint, {smooth:.1}° at the large one"
    );
    assert!(
        sharp > 1.4 * smooth,
        "{sharp} is not much sharper than {smooth}"
    );
}
