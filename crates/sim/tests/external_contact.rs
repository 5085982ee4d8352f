//! Contacts that the caller detects.

use glam::Vec3;
use supple_sim::contact::External;
use supple_sim::shapes::prism_layer;
use supple_sim::{
    Backend, CpuBackend, Model, ModelBuilder, Reference, Settings, SolveError, State, Targets,
};

const THICKNESS: f32 = 0.02;
const SQUARES: usize = 6;

/// A layer of tissue, 12 cm wide and 2 cm thick, on a fixed floor.
fn layer() -> Model {
    let mesh = prism_layer(SQUARES, 0.02, THICKNESS);
    let mut builder = ModelBuilder::new();
    for (i, &p) in mesh.positions.iter().enumerate() {
        builder.vertex(p, i < (SQUARES + 1) * (SQUARES + 1));
    }
    for &tet in &mesh.tets {
        builder.tet(tet, 5_000.0);
    }
    builder.distribute_mass(0.3);
    builder.build().expect("a layer")
}

/// A plate above the layer, pushed to `height` and moved sideways.
fn pressed(model: &Model, height: f32, along: [f32; 2], friction: f32) -> Targets {
    let mut targets = model.rest_targets();
    let foot = |v: u32, x: f32| {
        let rest = model.rest()[v as usize];
        Vec3::new(rest.x + x, height, rest.z)
    };
    targets.external = (0..model.free_count() as u32)
        .map(|v| External {
            foot_before: foot(v, along[0]),
            friction,
            body: 3,
            ..External::vertex(v, Vec3::NEG_Y, foot(v, along[1]))
        })
        .collect();
    targets
}

fn backends() -> [Box<dyn Backend>; 2] {
    [Box::new(CpuBackend::new()), Box::new(Reference::new())]
}

#[test]
fn a_plate_presses_tissue_and_lets_go() {
    let model = layer();
    let settings = Settings::default();
    for mut backend in backends() {
        let name = backend.name();
        let mut state = State::at_rest(&model);
        for step in 1..=80 {
            let height = THICKNESS * (1.0 - 0.25 * (step as f32 / 20.0).min(1.0));
            let targets = pressed(&model, height, [0.0; 2], 0.0);
            backend
                .step(&model, &settings, &targets, &mut state)
                .expect("a step");
        }
        let highest = state.positions.iter().fold(0.0, |y, p| f32::max(y, p.y));
        assert!(highest < 0.755 * THICKNESS, "{name}: {highest}");
        let list = &state.contact.external;
        assert_eq!(list.len(), model.free_count(), "{name}");
        let force: Vec3 = list.iter().map(|contact| contact.force).sum();
        // Young's modulus (2 × 5 kPa for these weights, no Poisson effect) × area × strain, and more where the rim bulges.
        let area = (SQUARES as f32 * 0.02).powi(2);
        let expected = 5_000.0 * area * 0.25;
        assert!(
            -force.y > 0.5 * expected && -force.y < 4.0 * expected,
            "{name}: {force} N"
        );
        let speed = state.velocities.iter().map(|v| v.length());
        assert!(speed.fold(0.0, f32::max) < 1e-3, "{name}: held still");
        let free = model.rest_targets();
        for _ in 0..240 {
            backend
                .step(&model, &settings, &free, &mut state)
                .expect("a step");
        }
        assert!(state.contact.external.is_empty());
        let away = model.rest_free().iter().zip(&state.positions);
        let away = away.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(away < 1e-4, "{name}: {away} m from rest");
    }
}

#[test]
fn a_rough_plate_takes_tissue_along() {
    let model = layer();
    let settings = Settings::default();
    let dragged = |backend: &mut dyn Backend, friction: f32| {
        let mut state = State::at_rest(&model);
        let at = |step: i32| 0.0005 * (step - 20).clamp(0, 8) as f32;
        for step in 1..=90 {
            let targets = pressed(&model, 0.8 * THICKNESS, [at(step - 1), at(step)], friction);
            backend
                .step(&model, &settings, &targets, &mut state)
                .expect("a step");
        }
        let moved = state.positions.iter().zip(model.rest_free());
        moved.map(|(a, b)| a.x - b.x).sum::<f32>() / model.free_count() as f32
    };
    for mut backend in backends() {
        let (smooth, rough) = (dragged(&mut *backend, 0.0), dragged(&mut *backend, 2.0));
        let name = backend.name();
        assert!(smooth.abs() < 1e-4, "{name}: {smooth} m");
        assert!((rough - 0.004).abs() < 4e-4, "{name}: {rough} m");
    }
}

#[test]
fn invalid_contacts_are_harmless() {
    let model = layer();
    let settings = Settings::default();
    let mut state = State::at_rest(&model);
    let mut targets = model.rest_targets();
    targets.external = vec![
        External::vertex(u32::MAX, Vec3::Y, Vec3::ZERO),
        External {
            weights: [0.0; 3],
            ..External::vertex(0, Vec3::Y, Vec3::ZERO)
        },
    ];
    let mut backend = CpuBackend::new();
    backend
        .step(&model, &settings, &targets, &mut state)
        .expect("a step");
    assert!(state.contact.external.is_empty());
    targets.external[0] = External::vertex(0, Vec3::NAN, Vec3::ZERO);
    let refused = backend.step(&model, &settings, &targets, &mut state);
    assert!(matches!(
        refused,
        Err(SolveError::NotFinite {
            list: "external",
            index: 0
        })
    ));
}
