//! Tissue in poses: settled states and their surfaces.

use supple::flesh::Flesh;
use supple::flesh::construction::rest_skin::RestSkin;
use supple::flesh::flesh::Column;
use supple::flesh::motion::frames::frames;
use supple::geom::{TriMesh, shapes};
use supple::glam::{Affine3A, DVec3, Quat, Vec3};
use supple::sim::{Backend, CpuBackend, Equilibrium, Settings, State, Targets};
use supple::{Character, Pose};

use super::rod;

/// The rest pose with one joint rotated about a world axis.
pub fn turned(character: &Character, joint: &str, axis: Vec3, degrees: f32) -> Pose {
    let mut pose = Pose::rest(&character.skeleton);
    turn(&mut pose, character, joint, axis, degrees);
    pose
}

/// Rotates one joint of a pose about a world axis.
pub fn turn(pose: &mut Pose, character: &Character, joint: &str, axis: Vec3, degrees: f32) {
    let index = character.skeleton.find(joint).unwrap();
    let rotation = Quat::from_axis_angle(axis.normalize(), degrees.to_radians());
    pose.rotate_world(&character.skeleton, index, rotation);
}

/// The tissue of a character.
pub fn build(character: &Character, settings: supple::flesh::Settings) -> Flesh {
    Flesh::builder(character)
        .settings(settings)
        .build()
        .unwrap()
}

/// The tissue at rest in a pose.
pub fn settle(flesh: &Flesh, pose: &Pose) -> State {
    let rest = flesh.rest_pose();
    settle_by(flesh, &mut CpuBackend::new(), Settings::default(), |t| {
        flesh.targets(&rest.blend(pose, t)).unwrap()
    })
}

/// The tissue at rest where targets that move from t = 0 to 1 take it.
pub fn settle_by(
    flesh: &Flesh,
    backend: &mut dyn Backend,
    settings: Settings,
    targets: impl Fn(f32) -> Targets,
) -> State {
    let mut state = State::at_rest(&flesh.model);
    for step in 1..=12 {
        let search = match step {
            12 => Equilibrium::default(),
            _ => Equilibrium::default().iterations(settings.iterations),
        };
        let targets = targets(step as f32 / 12.0);
        search
            .solve(backend, &flesh.model, &settings, &targets, &mut state)
            .unwrap();
    }
    state
}

/// Moves the bone-surface point of a column.
pub fn drive(flesh: &Flesh, targets: &mut Targets, column: usize, to: Vec3) {
    let caller = flesh.columns()[column].bone as usize;
    if let Some(&index) = flesh.model.index_of().get(caller)
        && let Some(fixed) = (index as usize).checked_sub(flesh.model.free_count())
    {
        targets.fixed[fixed] = to;
    }
}

/// The skin at rest, as construction sees it.
pub fn surface(flesh: &Flesh) -> RestSkin {
    let skin = flesh.skin_mesh();
    let positions = skin.positions.iter().map(|p| p.as_dvec3()).collect();
    RestSkin::new(positions, skin.triangles.clone())
}

/// The skin of a state.
pub fn skin(flesh: &Flesh, pose: &Pose, state: &State) -> TriMesh {
    TriMesh {
        positions: flesh.flesh_positions(pose, state).unwrap(),
        triangles: flesh.skin_mesh().triangles.clone(),
    }
}

/// The bone surface of a state, with the skin's triangles.
pub fn bone_surface(flesh: &Flesh, state: &State) -> TriMesh {
    let now = flesh.model.caller_positions(state);
    let columns = flesh.columns().iter().zip(flesh.bone_surface());
    let place = |(column, rest): (&Column, &DVec3)| {
        let simulated = now.get(column.bone as usize).copied();
        simulated.unwrap_or(rest.as_vec3())
    };
    TriMesh {
        positions: columns.map(place).collect(),
        triangles: flesh.skin_mesh().triangles.clone(),
    }
}

/// Capsules and spheres of the volumetric skeleton in a pose.
pub fn volumetric_skeleton(flesh: &Flesh, character: &Character, pose: &Pose) -> TriMesh {
    let (graph, volume) = (flesh.graph(), flesh.volume());
    let frames = frames(graph, &character.skeleton, &character.bind_worlds(), pose);
    let mut mesh = TriMesh::default();
    for (frame, &radius) in frames.nodes.iter().zip(&volume.node_radii) {
        let mut ball = shapes::icosphere(radius as f32, 3);
        ball.transform(&Affine3A::from_translation(frame.position.as_vec3()));
        mesh.append(&ball);
    }
    for (bone, frame) in frames.bones.iter().enumerate() {
        let radius = volume.bone_radii[bone];
        let ends = &graph.bones[bone];
        let length = frame.start.distance(frame.end);
        let inset = |node: usize| match volume.node_radii[node] {
            0.0 => 0.0,
            joint => (joint + radius).min(0.5 * length) / length,
        };
        let from = frame.start.lerp(frame.end, inset(ends.start)).as_vec3();
        let to = frame.end.lerp(frame.start, inset(ends.end)).as_vec3();
        mesh.append(&rod(from, to, radius as f32));
    }
    mesh
}

/// Length of every edge in `now` over its length in `rest`; edges without length are left out.
pub fn edge_stretches(now: &TriMesh, rest: &TriMesh) -> Vec<f32> {
    let mut stretches = Vec::new();
    for t in &rest.triangles {
        for [a, b] in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].map(|e| e.map(|v| v as usize)) {
            let length = |mesh: &TriMesh| mesh.positions[a].distance(mesh.positions[b]);
            if a < b && length(rest) > 1e-5 {
                stretches.push(length(now) / length(rest));
            }
        }
    }
    stretches
}
