//! Skin sliding (figures 3.6 and 3.7): around a joint the bone surface follows rings of anchors on the bones and the joint, so that
//! the stretch of a bend is distributed over a longer distance.

mod common;

use common::{BLUE, RED, cut_away, dots, edge_stretches};
use supple::Character;
use supple::Pose;
use supple::embedded::{Body, body};
use supple::flesh::Flesh;
use supple::flesh::motion::frames::frames;
use supple::flesh::motion::sliding::{Attachment, along};
use supple::geom::TriMesh;
use supple::glam::{Vec3, vec3};
use supple::sim::State;
use supple_picture::{Camera, DrawMesh, Image, Ramp, heat_colours};

const BEND: f32 = 100.0;

fn main() {
    let arm = common::arm(0.0);
    let [(stick, stuck), (slide, slid)] = [false, true].map(|sliding| {
        let mut settings = common::arm_settings(0.05, 0.06);
        settings.tissue.sliding = sliding;
        let flesh = common::build(&arm, settings);
        let state = common::settle(&flesh, &common::turned(&arm, "elbow", Vec3::Z, BEND));
        (flesh, state)
    });
    let pose = common::turned(&arm, "elbow", Vec3::Z, BEND);
    let relaxed = State::at_rest(&slide.model);
    let arm_stretch = [
        stretch_of_inside(&stick, &stuck),
        stretch_of_inside(&slide, &slid),
    ];

    let corners = [vec3(0.26, -0.13, 0.0), vec3(0.66, 0.27, 0.0)];
    let camera = common::view(&corners, Vec3::Z);
    let mut tiles = vec![
        (
            rings(&slide, &arm, &slide.rest_pose(), &relaxed, &camera),
            "inner surface (red), rings of anchors (blue)".to_owned(),
        ),
        (
            rings(&stick, &arm, &pose, &stuck, &camera),
            format!("sticking: inner edges × {:.2}", arm_stretch[0]),
        ),
        (
            rings(&slide, &arm, &pose, &slid, &camera),
            format!("sliding: inner edges × {:.2}", arm_stretch[1]),
        ),
    ];
    let knee_stretch = knee(&mut tiles);
    let sheet = common::sheet("Skin slides over joints", &tiles, 3);
    common::save("sliding", &sheet);
    check(arm_stretch, knee_stretch);
}

/// A cut-away drawing with the bone surface's vertices in the cut and their anchors.
fn rings(flesh: &Flesh, arm: &Character, pose: &Pose, state: &State, camera: &Camera) -> Image {
    let mut meshes = cut_away(flesh, arm, pose, state);
    let inside = common::bone_surface(flesh, state);
    let rest = flesh.skin_mesh();
    let (graph, worlds) = (flesh.graph(), arm.bind_worlds());
    let frames = frames(graph, &arm.skeleton, &worlds, pose);
    let in_cut = (0..rest.positions.len()).filter(|&c| rest.positions[c].z.abs() < 1e-4);
    let (mut points, mut anchors) = (Vec::new(), Vec::new());
    for column in in_cut {
        points.push(inside.positions[column]);
        if let Attachment::Slide {
            node,
            bone,
            joint_anchor,
            bone_anchor,
            ..
        } = flesh.attachments()[column]
        {
            anchors.push(
                frames.nodes[node]
                    .map(graph.nodes[node].position, joint_anchor)
                    .as_vec3(),
            );
            let t = along(graph, bone, bone_anchor);
            anchors.push(
                frames.bones[bone]
                    .map(graph.segment(bone), t, bone_anchor)
                    .as_vec3(),
            );
        }
    }
    meshes.push(DrawMesh::owned(dots(points, 0.0045)).coloured(RED));
    meshes.push(DrawMesh::owned(dots(anchors, 0.008)).coloured(BLUE));
    common::tile(meshes, vec![], camera)
}

/// Draws a knee coloured by the stretch of its skin; returns its RMS stretch without and with sliding.
fn knee(tiles: &mut Vec<(Image, String)>) -> [f32; 2] {
    let character = body(Body::Male).unwrap();
    let pose = common::turned(&character, "lowerleg01.L", Vec3::X, 110.0);
    let worlds = character.skeleton.rest_worlds();
    let joint = Vec3::from(worlds[character.skeleton.find("lowerleg01.L").unwrap()].translation);
    let around = [joint - 0.22, joint + 0.22];
    let camera = common::view(&around, vec3(1.0, 0.15, 0.55));
    let mut results = [0.0; 2];
    for (k, name) in ["sticking", "sliding"].into_iter().enumerate() {
        let mut settings = supple::flesh::Settings::default();
        settings.tissue.sliding = k == 1;
        settings.excluded = ["spine05", "pelvis.R", "foot.L"]
            .map(str::to_owned)
            .to_vec();
        let flesh = common::build(&character, settings);
        let state = common::settle(&flesh, &pose);
        let skin = common::skin(&flesh, &pose, &state);
        let stretch = vertex_stretch(&skin, flesh.skin_mesh());
        let near: Vec<f32> = (flesh.skin_mesh().positions.iter().zip(&stretch))
            .filter(|(p, _)| p.distance(joint) < 0.2)
            .map(|(_, s)| (s - 1.0).powi(2))
            .collect();
        results[k] = (near.iter().sum::<f32>() / near.len() as f32).sqrt();
        if k == 0 {
            let rest = DrawMesh::owned(flesh.skin_mesh().clone());
            tiles.push((
                common::tile(vec![rest], vec![], &camera),
                "a knee at rest".to_owned(),
            ));
        }
        let colours = heat_colours(&stretch, 1.0, 2.0, Ramp::Ember);
        let drawn = DrawMesh::owned(skin).coloured(colours);
        let caption = format!(
            "{name}: {:.1} % RMS stretch of the skin",
            100.0 * results[k]
        );
        tiles.push((common::tile(vec![drawn], vec![], &camera), caption));
    }
    results
}

/// Mean stretch of the edges at each vertex.
fn vertex_stretch(now: &TriMesh, rest: &TriMesh) -> Vec<f32> {
    let mut sums = vec![(0.0, 0.0); rest.positions.len()];
    for t in &rest.triangles {
        for [a, b] in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].map(|e| e.map(|v| v as usize)) {
            let length = |mesh: &TriMesh| mesh.positions[a].distance(mesh.positions[b]);
            for v in [a, b] {
                sums[v].0 += length(now);
                sums[v].1 += length(rest);
            }
        }
    }
    sums.into_iter()
        .map(|(now, rest)| now / f32::max(rest, 1e-9))
        .collect()
}

/// Largest stretch of an edge of the bone surface.
fn stretch_of_inside(flesh: &Flesh, state: &State) -> f32 {
    let rest = common::bone_surface(flesh, &State::at_rest(&flesh.model));
    let now = common::bone_surface(flesh, state);
    edge_stretches(&now, &rest).into_iter().fold(0.0, f32::max)
}

fn check(arm: [f32; 2], knee: [f32; 2]) {
    println!(
        "largest stretch of the arm's bone surface: {:.2} without sliding, {:.2} with it",
        arm[0], arm[1]
    );
    println!(
        "RMS stretch of the knee's skin: {:.3} without sliding, {:.3} with it",
        knee[0], knee[1]
    );
    assert!(arm[1] - 1.0 < 0.8 * (arm[0] - 1.0), "the inside of the arm");
    assert!(knee[1] < knee[0], "the skin of the knee");
}
