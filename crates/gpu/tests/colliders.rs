//! Colliders pressed into tissue, on the device and on the CPU.

mod common;
#[path = "common/layer.rs"]
mod layer;

use std::sync::Arc;

use common::device;
use glam::{Quat, Vec3};
use layer::{DEPTH, EDGE, LAYER, SQUARES, layer};
use supple_geom::TriMesh;
use supple_gpu::GpuBackend;
use supple_sim::contact::{Collider, ColliderMesh, Placement, Shape};
use supple_sim::{Backend, ContactMode, CpuBackend, Model, Settings, SolveError, State, Targets};

/// Depth to which colliders are pressed into the layer \[m\].
const PRESS: f32 = DEPTH / 3.0;
/// Side length of the layer \[m\].
const WIDTH: f32 = SQUARES as f32 * EDGE;

fn settings(mode: ContactMode) -> Settings {
    let mut settings = Settings::default();
    settings.contact.mode = mode;
    settings
}

fn with(model: &Model, colliders: Vec<Collider>) -> Targets {
    Targets {
        colliders,
        ..model.rest_targets()
    }
}

/// A collider over the middle of the layer, with its lowest point at `depth` below the skin; `low` is the distance of that point
/// below its origin.
fn over(shape: &Shape, rotation: Quat, low: f32, depth: f32) -> Collider {
    let place = Vec3::new(0.5 * WIDTH, DEPTH + low - depth, 0.5 * WIDTH);
    let placement = Placement {
        rotation,
        translation: place,
    };
    Collider::driven(shape.clone(), placement)
}

/// Presses colliders into the layer in 20 steps and holds them for 40. `of` may change the backend every ten steps.
fn press(
    model: &Model,
    settings: &Settings,
    colliders: &dyn Fn(f32) -> Vec<Collider>,
    of: &mut dyn FnMut(usize) -> Box<dyn Backend>,
) -> State {
    let mut state = State::at_rest(model);
    let mut backend = of(0);
    for step in 1..=60 {
        if step % 10 == 0 {
            backend = of(step);
        }
        let targets = with(model, colliders(PRESS * (step as f32 / 20.0).min(1.0)));
        backend
            .step(model, settings, &targets, &mut state)
            .expect("a step");
    }
    state
}

/// Signed distance of the deepest skin point from the colliders \[m\].
fn clearance(model: &Model, state: &State, colliders: &[Collider]) -> f32 {
    let skin = &model.caller_positions(state)[LAYER..];
    let near = |p: &Vec3, c: &Collider| c.shape.nearest(c.placement.local(*p), Vec3::Y, 1.0);
    skin.iter()
        .flat_map(|p| colliders.iter().filter_map(move |c| near(p, c)))
        .fold(f32::INFINITY, |least, near| least.min(near.distance))
}

/// Sum of all forces on the layer \[N\].
fn force(state: &State) -> Vec3 {
    state.contact.external.iter().map(|c| c.force).sum()
}

fn farthest(a: &State, b: &State) -> f32 {
    let pairs = a.positions.iter().zip(&b.positions);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// The device, the CPU and both alternating agree.
fn all_agree(name: &str, mode: ContactMode, colliders: &dyn Fn(f32) -> Vec<Collider>) {
    let Some(gpu) = device() else { return };
    let (model, settings) = (layer(), settings(mode));
    let processor = || Box::new(CpuBackend::new()) as Box<dyn Backend>;
    let graphics = || Box::new(GpuBackend::new(gpu.clone())) as Box<dyn Backend>;
    let expected = press(&model, &settings, colliders, &mut |_| processor());
    let alone = press(&model, &settings, colliders, &mut |_| graphics());
    let both = press(&model, &settings, colliders, &mut |step| {
        if step % 20 == 0 {
            graphics()
        } else {
            processor()
        }
    });
    for (who, state) in [("device", &alone), ("both", &both)] {
        let left = clearance(&model, state, &colliders(PRESS));
        let fastest = state.velocities.iter().map(|v| v.length());
        let fastest = fastest.fold(0.0, f32::max);
        let told = format!(
            "{name}, {who}: {left} m apart, {fastest} m/s, {:?} of {:?} N, {} of {} contacts, {} m away",
            force(state),
            force(&expected),
            state.contact.external.len(),
            expected.contact.external.len(),
            farthest(state, &expected),
        );
        println!("{told}");
        assert!(left > -0.02 * DEPTH && left < 0.1 * EDGE, "{told}");
        assert!(fastest < 2e-3, "{told}");
        assert!(force(&expected).length() > 1.0, "{told}");
        let missing = force(state).distance(force(&expected));
        assert!(missing < 0.05 * force(&expected).length(), "{told}");
        assert!(farthest(state, &expected) < 0.05 * DEPTH, "{told}");
    }
}

#[test]
fn shapes_press_as_on_the_cpu() {
    let lying = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    let over_head = Quat::from_rotation_x(std::f32::consts::PI);
    let (radius, length) = (0.03, 0.06);
    let half = Vec3::new(0.04, 0.02, 0.03);
    let shapes = [
        ("plane", Shape::Plane, over_head, 0.0),
        (
            "sphere",
            Shape::Sphere { radius: 0.04 },
            Quat::IDENTITY,
            0.04,
        ),
        ("capsule", Shape::Capsule { radius, length }, lying, radius),
        ("box", Shape::Box { half }, Quat::IDENTITY, half.y),
    ];
    for (name, shape, rotation, low) in shapes {
        let colliders = |depth: f32| vec![over(&shape, rotation, low, depth)];
        all_agree(name, ContactMode::Off, &colliders);
    }
}

/// Points at the rim touch two colliders at once; self-contact is on too.
#[test]
fn a_corner_holds_points_on_both_sides() {
    let corner = |depth: f32| {
        let lid = over(
            &Shape::Plane,
            Quat::from_rotation_x(std::f32::consts::PI),
            0.0,
            depth,
        );
        let wall = Placement {
            rotation: Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
            translation: Vec3::X * (WIDTH - 0.5 * depth),
        };
        vec![lid, Collider::driven(Shape::Plane, wall)]
    };
    all_agree("corner", ContactMode::Global, &corner);
}

/// Contacts vanish with their collider, also if it moves faster than tissue can follow.
#[test]
fn contacts_of_removed_colliders_vanish() {
    let Some(gpu) = device() else { return };
    let (model, settings) = (layer(), settings(ContactMode::Off));
    let ball = |height: f32| {
        let place = Vec3::new(0.5 * WIDTH, height, 0.5 * WIDTH);
        with(
            &model,
            vec![Collider::driven(
                Shape::Sphere { radius: 0.04 },
                Placement::at(place),
            )],
        )
    };
    let mut backend = GpuBackend::new(gpu);
    let mut state = State::at_rest(&model);
    for height in [0.1, 0.05, 0.3, -0.2, 0.3] {
        backend
            .step(&model, &settings, &ball(height), &mut state)
            .expect("a step");
        assert!(state.is_finite());
    }
    for _ in 0..120 {
        backend
            .step(&model, &settings, &model.rest_targets(), &mut state)
            .expect("a step");
    }
    assert!(state.contact.external.is_empty() && state.contact.colliders.is_empty());
    let away = farthest(&state, &State::at_rest(&model));
    assert!(away < 1e-4, "{away} m from rest");
}

/// Unsupported colliders are named in the error.
#[test]
fn unsupported_colliders_are_rejected() {
    let Some(gpu) = device() else { return };
    let (model, settings) = (layer(), settings(ContactMode::Off));
    let mesh = Shape::Mesh(Arc::new(ColliderMesh::new(&TriMesh::default())));
    let far = Placement::at(Vec3::Y * 9.0);
    let ball = Shape::Sphere { radius: 0.1 };
    let many = vec![Collider::driven(ball.clone(), far); 65];
    let mut backend = GpuBackend::new(gpu);
    for (refused, colliders) in [
        ("triangle-mesh colliders", vec![Collider::driven(mesh, far)]),
        (
            "free colliders (with a mass)",
            vec![Collider::falling(ball, far, 1.0)],
        ),
        ("more than 64 colliders", many),
    ] {
        let mut state = State::at_rest(&model);
        let result = backend.step(&model, &settings, &with(&model, colliders), &mut state);
        let is_named = matches!(
            result,
            Err(SolveError::Unsupported { what, .. }) if what == refused
        );
        assert!(is_named, "{refused}: {result:?}");
    }
}
