//! Half-rotated joints (figure 3.5): the bone surface around a joint rotates by the mean of its two bones. If it rotates with the
//! child bone only, it is stretched on one side of the joint.

mod common;

use common::{cut_away, edge_stretches, turned};
use supple::flesh::Flesh;
use supple::flesh::motion::frames::{NodeFrame, frames};
use supple::flesh::motion::sliding::Attachment;
use supple::glam::{Vec3, vec3};
use supple::sim::{self, CpuBackend, State, Targets};
use supple::{Character, Pose};

const BEND: f32 = 100.0;

fn main() {
    let character = common::arm(0.0);
    let mut settings = common::arm_settings(0.05, 0.06);
    settings.tissue.sliding = false;
    let flesh = common::build(&character, settings);

    let rest = flesh.rest_pose();
    let pose = turned(&character, "elbow", Vec3::Z, BEND);
    let relaxed = State::at_rest(&flesh.model);
    let half = common::settle(&flesh, &pose);
    let full = common::settle_by(
        &flesh,
        &mut CpuBackend::new(),
        sim::Settings::default(),
        |t| full_turn(&flesh, &character, &rest.blend(&pose, t)),
    );

    let stretch = |state: &State| largest_stretch(&flesh, state);
    let (torn, even) = (stretch(&full), stretch(&half));
    draw(
        &flesh,
        &character,
        [(&rest, &relaxed), (&pose, &full), (&pose, &half)],
        [torn, even],
    );
    check(torn, even);
}

/// Targets with joints that rotate with the bone that starts at them.
fn full_turn(flesh: &Flesh, character: &Character, pose: &Pose) -> Targets {
    let mut targets = flesh.targets(pose).unwrap();
    let graph = flesh.graph();
    let frames = frames(graph, &character.skeleton, &character.bind_worlds(), pose);
    for (column, attachment) in flesh.attachments().iter().enumerate() {
        let Attachment::Node { node } = *attachment else {
            continue;
        };
        let child = (graph.incident[node].iter()).find(|&&bone| graph.bones[bone].start == node);
        if let Some(&bone) = child {
            let frame = NodeFrame {
                turn: frames.bones[bone].turn,
                ..frames.nodes[node]
            };
            let place = frame.map(graph.nodes[node].position, flesh.bone_surface()[column]);
            common::drive(flesh, &mut targets, column, place.as_vec3());
        }
    }
    targets
}

/// Largest stretch of an edge of the bone surface.
fn largest_stretch(flesh: &Flesh, state: &State) -> f32 {
    let rest = common::bone_surface(flesh, &State::at_rest(&flesh.model));
    let now = common::bone_surface(flesh, state);
    edge_stretches(&now, &rest).into_iter().fold(0.0, f32::max)
}

fn draw(
    flesh: &Flesh,
    character: &Character,
    states: [(&Pose, &State); 3],
    [torn, even]: [f32; 2],
) {
    let captions = [
        "at rest".to_owned(),
        format!("turned with the child bone: inner edges × {torn:.1}"),
        format!("half-turned: inner edges × {even:.1}"),
    ];
    let corners = [vec3(0.28, -0.12, 0.0), vec3(0.64, 0.24, 0.0)];
    let camera = common::view(&corners, vec3(0.0, 0.0, 1.0));
    let tiles = states
        .into_iter()
        .zip(captions)
        .map(|((pose, state), caption)| {
            (
                common::tile(cut_away(flesh, character, pose, state), vec![], &camera),
                caption,
            )
        });
    let tiles: Vec<_> = tiles.collect();
    common::save(
        "half_rotated_joints",
        &common::sheet("Joints turn half-way", &tiles, 3),
    );
}

fn check(torn: f32, even: f32) {
    println!(
        "largest stretch of the bone surface: {torn:.2} rotated with the child bone, {even:.2} half-rotated"
    );
    assert!(
        even - 1.0 < 0.65 * (torn - 1.0),
        "{even} is not well below {torn}"
    );
}
