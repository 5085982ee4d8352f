//! Frames of any duration over the fixed time step.

use glam::{Affine3A, Quat, Vec3};
use supple_sim::advance::{MAX_STEPS, displayed};
use supple_sim::shapes::prism_layer;
use supple_sim::{Model, ModelBuilder, Reference, Settings, State, Targets, advance};

fn tissue() -> Model {
    let n = 6;
    let mesh = prism_layer(n, 0.02, 0.02);
    let mut builder = ModelBuilder::new();
    for (i, &p) in mesh.positions.iter().enumerate() {
        builder.vertex(p, i < (n + 1) * (n + 1));
    }
    for &t in &mesh.tets {
        builder.tet(t, 2_500.0);
    }
    builder.distribute_mass(0.3);
    builder.build().unwrap()
}

fn targets(model: &Model, frame: Affine3A) -> Targets {
    let fixed: Vec<Vec3> = model
        .rest_fixed()
        .iter()
        .map(|p| frame.transform_point3(*p))
        .collect();
    model.targets(&fixed, &[])
}

/// 1.5 s of a swinging motion at `rate` frames per second; returns the displayed positions at the end, and the steps taken.
fn swing(rate: u32) -> (Vec<Vec3>, u32) {
    let model = tissue();
    let settings = Settings {
        damping_half_life: 0.3,
        ..Settings::default()
    };
    let mut backend = Reference::new();
    let mut state = State::at_rest(&model);
    let mut steps = 0;
    for frame in 1..=rate * 3 / 2 {
        let time = f64::from(frame) / f64::from(rate);
        let turn = Quat::from_rotation_z((0.3 * (2.0 * time).sin()) as f32);
        let targets = targets(&model, Affine3A::from_quat(turn));
        let report = advance(
            &mut backend,
            &model,
            &settings,
            &targets,
            1.0 / f64::from(rate),
            &mut state,
        )
        .unwrap();
        steps += report.steps;
    }
    (displayed(&model, &settings, &state), steps)
}

#[test]
fn motion_does_not_depend_on_the_frame_rate() {
    let (expected, steps) = swing(60);
    assert_eq!(steps, 90);
    for rate in [30, 48, 144, 240] {
        let (found, steps) = swing(rate);
        assert!((89..=90).contains(&steps), "{rate}: {steps}");
        let apart = found
            .iter()
            .zip(&expected)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max);
        // Poses between frames are interpolated linearly: off by θ̈ dt²/8 · r = 1.2 · (1/30)²/8 · 0.17 m ≈ 3e-5 m, and
        // the tissue's response to that.
        assert!(apart < 2e-4, "{rate}: {apart}");
    }
}

#[test]
fn displayed_positions_do_not_lag_behind_the_bones() {
    let model = tissue();
    let settings = Settings::default();
    let mut backend = Reference::new();
    let mut state = State::at_rest(&model);
    let speed = Vec3::new(3.0, 0.0, 0.0);
    state.velocities.fill(speed);
    for p in &mut state.fixed_previous {
        *p -= speed * settings.step as f32;
    }
    for frame in 1..=100 {
        let dt = 1.0 / 137.0;
        let at = Affine3A::from_translation(speed * (frame as f32 * dt as f32));
        advance(
            &mut backend,
            &model,
            &settings,
            &targets(&model, at),
            dt,
            &mut state,
        )
        .unwrap();
        let shown = displayed(&model, &settings, &state);
        let off = shown
            .iter()
            .zip(model.rest())
            .map(|(a, b)| a.distance(at.transform_point3(*b)))
            .fold(0.0, f32::max);
        // Interpolating targets in single precision wobbles them by eps · 2 m, velocities by eps · 2 m / h.
        assert!(off < 2e-5, "frame {frame}: {off}");
    }
}

#[test]
fn a_jump_carries_the_tissue_along() {
    let model = tissue();
    let settings = Settings::default();
    let mut backend = Reference::new();
    let mut state = State::at_rest(&model);
    let far = Affine3A::from_translation(Vec3::new(5.0, 0.0, 0.0));
    let report = advance(
        &mut backend,
        &model,
        &settings,
        &targets(&model, far),
        1.0 / 60.0,
        &mut state,
    )
    .unwrap();
    assert!(report.jumped);
    let off = |x: &[Vec3]| {
        x.iter()
            .zip(model.rest())
            .map(|(a, b)| a.distance(far.transform_point3(*b)))
            .fold(0.0, f32::max)
    };
    assert!(off(&state.positions) < 1e-5);
    assert!(state.velocities.iter().all(|v| v.length() < 1e-3));
}

#[test]
fn a_long_frame_drops_time_and_invalid_ones_are_rejected() {
    let model = tissue();
    let settings = Settings::default();
    let mut backend = Reference::new();
    let mut state = State::at_rest(&model);
    let rest = model.rest_targets();
    let report = advance(&mut backend, &model, &settings, &rest, 2.0, &mut state).unwrap();
    assert_eq!(report.steps, MAX_STEPS);
    assert!((report.dropped - (2.0 - f64::from(MAX_STEPS) / 60.0)).abs() < 0.02);
    assert!(state.remainder < settings.step);
    for dt in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(advance(&mut backend, &model, &settings, &rest, dt, &mut state).is_err());
    }
    let report = advance(&mut backend, &model, &settings, &rest, 0.0, &mut state).unwrap();
    assert_eq!(report.steps, 0);
}
