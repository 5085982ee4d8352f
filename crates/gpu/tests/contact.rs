//! Self-contact in a fold of tissue, on the device and on the CPU.

mod common;
#[path = "common/layer.rs"]
mod layer;

use common::device;
use glam::Vec3;
use layer::{DEPTH, EDGE, LAYER, SIDE, SQUARES, layer};
use supple_gpu::GpuBackend;
use supple_sim::{Backend, ContactMode, CpuBackend, Model, Settings, State, Targets};

/// Half the length of the bending part \[m\].
const BEND: f32 = 0.05;
/// Angle at which both halves penetrate without contact.
const CLOSED: f32 = 3.5;

/// A point of the layer when it is bent upwards by an angle.
fn bent(p: Vec3, angle: f32) -> Vec3 {
    let along = p.x - 0.5 * SQUARES as f32 * EDGE;
    if angle < 1e-4 {
        return Vec3::new(along, p.y, p.z);
    }
    let radius = 2.0 * BEND / angle;
    let within = along.clamp(-BEND, BEND);
    let turn = within / radius;
    let (sin, cos) = turn.sin_cos();
    // On the arc, then straight on.
    let arc = Vec3::new(radius * sin, radius * (1.0 - cos), 0.0);
    let (ahead, up) = (Vec3::new(cos, sin, 0.0), Vec3::new(-sin, cos, 0.0));
    arc + ahead * (along - within) + up * p.y + Vec3::Z * p.z
}

fn targets(model: &Model, angle: f32) -> Targets {
    let mut targets = model.rest_targets();
    let all = targets.fixed.iter_mut().chain(&mut targets.bases);
    all.for_each(|p| *p = bent(*p, angle));
    targets
}

fn settings(mode: ContactMode) -> Settings {
    let mut settings = Settings::default();
    settings.contact.mode = mode;
    settings
}

fn at_rest(model: &Model) -> State {
    let mut state = State::at_rest(model);
    state.positions.iter_mut().for_each(|p| *p = bent(*p, 0.0));
    state.rebase(&targets(model, 0.0));
    state
}

/// Closes the fold in 40 steps and holds it for 60.
fn close(
    model: &Model,
    settings: &Settings,
    of: &mut dyn FnMut(usize) -> Box<dyn Backend>,
) -> State {
    let mut state = at_rest(model);
    let mut backend = of(0);
    for step in 1..=100 {
        let angle = CLOSED * (step as f32 / 40.0).min(1.0);
        if step % 10 == 0 {
            backend = of(step);
        }
        backend
            .step(model, settings, &targets(model, angle), &mut state)
            .expect("a step");
    }
    state
}

/// Number of points of one half that are beyond their counterparts, and the largest depth \[m\].
fn inside(model: &Model, state: &State) -> (usize, f32) {
    let positions = model.caller_positions(state);
    let at = |i: usize, k: usize| positions[LAYER + i * SIDE + k].x;
    // In the crease points are neighbours of those they meet, and the last row goes past the rim of the other half.
    let right = SIDE / 2 + 2..SIDE - 1;
    let pairs = right.flat_map(|i| (0..SIDE).map(move |k| (i, k)));
    let depths = pairs.map(|(i, k)| at(SQUARES - i, k) - at(i, k));
    depths
        .filter(|depth| *depth > 0.0)
        .fold((0, 0.0), |(count, worst), depth| {
            (count + 1, depth.max(worst))
        })
}

fn speed(state: &State) -> f32 {
    let squares: f32 = state.velocities.iter().map(|v| v.length_squared()).sum();
    (squares / state.velocities.len() as f32).sqrt()
}

/// Both backends hold the fold open and come to rest; so do both alternating.
#[test]
fn a_fold_is_held_open_as_on_the_cpu() {
    let Some(gpu) = device() else { return };
    let model = layer();
    let processor = || Box::new(CpuBackend::new()) as Box<dyn Backend>;
    let graphics = || Box::new(GpuBackend::new(gpu.clone())) as Box<dyn Backend>;
    let off = close(&model, &settings(ContactMode::Off), &mut |_| processor());
    let (through, depth) = inside(&model, &off);
    assert!(
        through > 30 && depth > 0.2 * DEPTH,
        "{through} points, {depth} m"
    );
    let on = settings(ContactMode::Global);
    let expected = close(&model, &on, &mut |_| processor());
    let found = close(&model, &on, &mut |_| graphics());
    let alternating = close(&model, &on, &mut |step| {
        if step % 20 == 0 {
            graphics()
        } else {
            processor()
        }
    });
    let expected_contacts = expected.contact.contacts.len() as f32;
    for (name, state) in [
        ("processor", &expected),
        ("device", &found),
        ("both", &alternating),
    ] {
        let (left, worst) = inside(&model, state);
        let told = format!(
            "{name}: {left} of {through} inside, {worst} of {depth} m, {} m/s, {} contacts",
            speed(state),
            state.contact.contacts.len()
        );
        println!("{told}");
        assert!(left <= through / 20, "{told}");
        assert!(worst < 0.2 * DEPTH, "{told}");
        assert!(speed(state) < 1e-3, "{told}");
        let contacts = state.contact.contacts.len() as f32;
        assert!((contacts / expected_contacts - 1.0).abs() < 0.2, "{told}");
    }
    let pairs = || expected.positions.iter().zip(&found.positions);
    let squares: f32 = pairs().map(|(a, b)| a.distance_squared(*b)).sum();
    let apart = (squares / pairs().len() as f32).sqrt();
    assert!(apart < 0.03 * DEPTH, "{apart} m from the processor's fold");
}

/// Results are bit-identical, and a scrambled state recovers within a second.
#[test]
fn folds_are_deterministic_and_recover_from_garbage() {
    let Some(gpu) = device() else { return };
    let model = layer();
    let on = settings(ContactMode::Global);
    let mut closed = [0, 1].map(|_| {
        let mut backend = GpuBackend::new(gpu.clone());
        let mut state = at_rest(&model);
        for step in 1..=30 {
            let angle = CLOSED * step as f32 / 30.0;
            backend
                .step(&model, &on, &targets(&model, angle), &mut state)
                .expect("a step");
        }
        state
    });
    assert!(closed[0].contact.contacts.len() > 20);
    assert_eq!(closed[0], closed[1]);
    let state = &mut closed[0];
    for (i, p) in state.positions.iter_mut().enumerate() {
        let noise = Vec3::new(12.9898, 78.233, 37.719) * (i + 1) as f32;
        *p += 0.03 * Vec3::from(noise.to_array().map(f32::sin));
    }
    for contact in &mut state.contact.contacts {
        contact.force *= -50.0;
    }
    let mut backend = GpuBackend::new(gpu);
    for _ in 0..60 {
        backend
            .step(&model, &on, &targets(&model, CLOSED), state)
            .expect("a step");
    }
    assert!(state.is_finite());
    let (left, worst) = inside(&model, state);
    assert!(left < 10 && worst < 0.2 * DEPTH, "{left} points, {worst} m");
}
