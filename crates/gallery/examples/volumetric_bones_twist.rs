//! Volumetric bones (figure 3.3): a leg rotates about its own bone. Tissue attached to a bone line does not follow; tissue attached to a
//! volumetric bone does.

mod common;

use common::RED;
use supple::embedded::{Body, body};
use supple::flesh::construction::base_points::base_position;
use supple::flesh::motion::frames::frames;
use supple::flesh::{Flesh, Settings};
use supple::geom::TriMesh;
use supple::glam::{DVec3, Vec3, vec3};
use supple::sim::units::STIFFNESS;
use supple::sim::{self, Backend, CpuBackend, Mode, ModelBuilder, State};
use supple::{Character, Pose};
use supple_picture::scene::CLAY;
use supple_picture::{Camera, DrawMesh, Image};

/// Outward rotation of the leg [°].
const TWIST: f32 = 50.0;

fn main() {
    let character = body(Body::Female).unwrap();
    let at = |name: &str| {
        let joint = character.skeleton.find(name).unwrap();
        Vec3::from(character.skeleton.rest_worlds()[joint].translation)
    };
    let (hip, knee, ankle) = (at("upperleg01.L"), at("lowerleg01.L"), at("foot.L"));
    let axis = (knee - hip).normalize();
    let mut pose = common::turned(&character, "upperleg01.L", axis, -TWIST);
    // The foot keeps its direction.
    common::turn(&mut pose, &character, "foot.L", axis, TWIST);

    // The kneecap: in front of the joint.
    let marked = |p: Vec3| {
        let away = p.distance(knee + vec3(0.0, 0.0, 0.06));
        ((0.06 - away) / 0.025).clamp(0.0, 1.0)
    };
    let corners = [ankle - vec3(0.12, -0.08, 0.0), hip + vec3(0.12, 0.02, 0.0)];
    let camera = common::view(&corners, vec3(0.0, 0.1, 1.0));
    let flesh = common::build(&character, settings());
    let rest = flesh.skin_mesh();
    let on_volumes = common::skin(&flesh, &pose, &common::settle(&flesh, &pose));
    let on_lines = around_bone_lines(&flesh, &character, &pose, &on_volumes);
    let turns = [&on_lines, &on_volumes].map(|skin| mean_turn(skin, rest, &marked, (knee, axis)));
    let caption =
        |bones: &str, turn: f32| format!("{bones}: the kneecap turns by {turn:.0}° of {TWIST}°");
    let tiles = [
        (draw(rest, rest, &marked, &camera), "at rest".to_owned()),
        (
            draw(&on_lines, rest, &marked, &camera),
            caption("bone lines", turns[0]),
        ),
        (
            draw(&on_volumes, rest, &marked, &camera),
            caption("volumetric bones", turns[1]),
        ),
    ];
    common::save(
        "volumetric_bones_twist",
        &common::sheet("A leg turned outwards, its foot held", &tiles, 3),
    );
    check(turns[0], turns[1]);
}

/// Only the leg is simulated.
fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.excluded = ["spine05", "pelvis.R", "foot.L"]
        .map(str::to_owned)
        .to_vec();
    settings
}

/// The leg with its tissue attached to the base points on the bone lines, which a twist does not move. `held` has the skin that is not
/// simulated.
fn around_bone_lines(flesh: &Flesh, character: &Character, pose: &Pose, held: &TriMesh) -> TriMesh {
    let (graph, rest) = (flesh.graph(), flesh.skin_mesh());
    let count = rest.positions.len();
    let frames = frames(graph, &character.skeleton, &character.bind_worlds(), pose);
    let nodes: Vec<DVec3> = graph.nodes.iter().map(|node| node.position).collect();
    let posed: Vec<DVec3> = frames.nodes.iter().map(|node| node.position).collect();
    let base_points = flesh.base_points();
    let mut builder = ModelBuilder::new();
    let mut driven = Vec::new();
    for (v, column) in flesh.columns().iter().enumerate() {
        builder.vertex(rest.positions[v], !column.is_free);
        if !column.is_free {
            driven.push(held.positions[v]);
        }
    }
    for base in base_points {
        builder.vertex(base_position(graph, &nodes, base).as_vec3(), true);
        driven.push(base_position(graph, &posed, base).as_vec3());
    }
    let is_free = |&v: &u32| (v as usize) < count && flesh.columns()[v as usize].is_free;
    for tet in flesh
        .collision
        .tets
        .iter()
        .filter(|tet| tet.iter().any(is_free))
    {
        builder.tet(*tet, STIFFNESS);
    }
    let model = builder.build().unwrap();
    let settings = sim::Settings {
        mode: Mode::Static,
        ..sim::Settings::default()
    };
    let mut state = State::at_rest(&model);
    let mut backend = CpuBackend::new();
    for _ in 0..60 {
        backend
            .step(&model, &settings, &model.targets(&driven, &[]), &mut state)
            .unwrap();
    }
    let mut positions = model.caller_positions(&state);
    positions.truncate(count);
    TriMesh {
        positions,
        triangles: rest.triangles.clone(),
    }
}

/// Mean rotation of marked vertices about an axis [°].
fn mean_turn(
    now: &TriMesh,
    rest: &TriMesh,
    marked: &dyn Fn(Vec3) -> f32,
    (centre, axis): (Vec3, Vec3),
) -> f32 {
    let across = |p: Vec3| (p - centre).reject_from(axis);
    let marks = (0..rest.positions.len()).filter(|&v| marked(rest.positions[v]) > 0.5);
    let turns: Vec<f32> = marks
        .map(|v| {
            let (before, after) = (across(rest.positions[v]), across(now.positions[v]));
            before.angle_between(after).to_degrees()
        })
        .collect();
    turns.iter().sum::<f32>() / turns.len() as f32
}

fn draw(skin: &TriMesh, rest: &TriMesh, marked: &dyn Fn(Vec3) -> f32, camera: &Camera) -> Image {
    let colour = |&p: &Vec3| CLAY.lerp(RED, marked(p));
    let colours: Vec<Vec3> = rest.positions.iter().map(colour).collect();
    common::tile(
        vec![DrawMesh::owned(skin.clone()).coloured(colours)],
        vec![],
        camera,
    )
}

fn check(line: f32, volume: f32) {
    println!(
        "rotation of the kneecap: {line:.1}° with bone lines, {volume:.1}° with volumetric bones, of {TWIST}°"
    );
    assert!(line < 0.6 * TWIST && volume > 0.9 * TWIST);
}
