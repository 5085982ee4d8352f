//! Exact motions: rest, rigid motion, free fall, conserved momenta.

use glam::{Affine3A, DVec3, Quat, Vec3};

use super::{
    Precision, Random, STATE_EPSILON, Trial, cantilever, extent, floating, momenta, moved_targets,
    tissue,
};
use crate::{Backend, Mode, Reference, Settings, measure};

/// At rest nothing moves, up to rounding.
///
/// Double: forces are rounding errors of 1e-16, which vanish when positions are stored in single precision, except for
/// coordinates that are zero. Single: each deformation gradient is off by a few rounding units, so vertices end within a few
/// units of the size.
pub fn rest_pose(backend: &mut dyn Backend, precision: Precision) {
    for model in [tissue(), cantilever(), floating()] {
        for mode in [Mode::Dynamic, Mode::Static] {
            let settings = Settings {
                mode,
                ..Settings::default()
            };
            let mut trial = Trial::new(backend, &model, settings);
            trial.rest(60);
            let bound = match precision {
                Precision::Double => 1e-12 * extent(&model),
                Precision::Single => 16.0 * STATE_EPSILON * extent(&model),
            };
            trial.assert_at(Affine3A::IDENTITY, bound, &format!("at rest ({mode:?})"));
        }
    }
}

/// After a rigid motion of the fixed vertices the body is the rest shape in that motion, to 1e-5 of its size.
pub fn rigid_root_motion(backend: &mut dyn Backend, _: Precision) {
    let model = tissue();
    let frame = |t: f32| {
        let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, -0.5).normalize(), 2.0 * t);
        Affine3A::from_rotation_translation(turn, Vec3::new(0.5, -0.2, 0.3) * t)
    };
    let damped = Settings {
        damping_half_life: 0.02,
        ..Settings::default()
    };
    for settings in [
        Settings {
            mode: Mode::Static,
            ..Settings::default()
        },
        damped,
    ] {
        let mut trial = Trial::new(backend, &model, settings);
        for k in 1..=40 {
            trial.step(&moved_targets(&model, frame(k as f32 / 40.0)));
        }
        trial.hold(&moved_targets(&model, frame(1.0)), 120);
        let mode = trial.settings.mode;
        trial.assert_at(frame(1.0), 1e-5 * extent(&model), &format!("({mode:?})"));
    }
}

/// A body that moves at constant velocity keeps its shape, damped or not: damping is relative to the carrier.
///
/// Positions reach 1 m, and each step rounds them by half a unit; that adds up to less than 1e-5 of the size in 60 steps.
pub fn constant_velocity(backend: &mut dyn Backend, _: Precision) {
    let model = tissue();
    let speed = Vec3::new(0.6, -0.8, 0.0);
    for damping_half_life in [f64::INFINITY, 0.1] {
        let settings = Settings {
            damping_half_life,
            ..Settings::default()
        };
        let step = settings.step as f32;
        let mut trial = Trial::new(backend, &model, settings);
        trial.state.velocities.fill(speed);
        for p in &mut trial.state.fixed_previous {
            *p -= speed * step;
        }
        for k in 1..=60 {
            let frame = Affine3A::from_translation(speed * (k as f32 * step));
            trial.step(&moved_targets(&model, frame));
            trial.assert_at(frame, 1e-5 * extent(&model), &format!("at step {k}"));
        }
    }
}

/// Free fall: implicit Euler gives xₙ = x₀ + g h² n(n+1)/2 for every vertex.
///
/// Single precision rounds every position by eps |x|, and the velocity accumulates it: n^1.5 eps |x| after n steps.
pub fn free_fall(backend: &mut dyn Backend, precision: Precision) {
    let model = floating();
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    let settings = Settings {
        gravity,
        ..Settings::default()
    };
    let mut trial = Trial::new(backend, &model, settings);
    let n = 60;
    trial.rest(n);
    let fall = 9.81 * trial.settings.step.powi(2) * (n * (n + 1)) as f64 / 2.0;
    let frame = Affine3A::from_translation(Vec3::new(0.0, -fall as f32, 0.0));
    let steps = match precision {
        Precision::Double => n as f64,
        Precision::Single => (n as f64).powf(1.5),
    };
    let bound = steps * STATE_EPSILON * fall;
    trial.assert_at(frame, bound, &format!("after {fall} m"));
}

/// Linear momentum of a free body is conserved by every iteration, converged or not: internal constraints are
/// translation-invariant, so the rows of Eq. (2.13) sum to Σ m z = Σ m y.
///
/// Each step rounds velocities by eps |v|, and in single precision by eps |x| / h.
pub fn linear_momentum(backend: &mut dyn Backend, _: Precision) {
    let model = floating();
    let mut random = Random(3);
    let mut trial = Trial::new(backend, &model, Settings::default());
    for v in &mut trial.state.velocities {
        *v = random.vector();
    }
    let (before, _) = momenta(&model, &trial.state);
    let n = 60;
    trial.rest(n);
    let (after, _) = momenta(&model, &trial.state);
    let mass: f64 = model.masses().iter().sum();
    let bound = n as f64 * STATE_EPSILON * mass * (1.0 + extent(&model) / trial.settings.step);
    let found = before.distance(after);
    assert!(found <= bound, "{found} of {}", before.length());
}

/// Angular momentum of a free body. Internal forces at the new positions have no torque, so a converged step has exactly
/// L' = L + h Σ m v' × v: the loss of implicit Euler. A body spinning at ω loses about (ωh)² of L per step and never gains.
///
/// The identity is checked to 1 % of the loss (the step is converged with 300 iterations).
pub fn angular_momentum(backend: &mut dyn Backend, _: Precision) {
    let model = floating();
    let settings = Settings {
        iterations: 300,
        ..Settings::default()
    };
    let spin = 3.0;
    let mut trial = Trial::new(backend, &model, settings);
    let centre = Vec3::new(0.15, 0.05, 0.05);
    for (v, x) in trial.state.velocities.iter_mut().zip(model.rest_free()) {
        *v = Vec3::new(0.0, spin, 0.0).cross(*x - centre);
    }
    let h = trial.settings.step;
    for step in 0..30 {
        let (_, before) = momenta(&model, &trial.state);
        let velocities = trial.state.velocities.clone();
        trial.rest(1);
        let (_, after) = momenta(&model, &trial.state);
        let pairs = trial.state.velocities.iter().zip(&velocities);
        let lost =
            |((new, old), m): ((&Vec3, &Vec3), &f64)| new.as_dvec3().cross(old.as_dvec3()) * *m * h;
        let loss: DVec3 = pairs.zip(model.masses()).map(lost).sum();
        let found = after.distance(before + loss);
        assert!(
            found <= 0.01 * loss.length(),
            "step {step}: {found}, loss {}",
            loss.length()
        );
        let relative = 1.0 - after.length() / before.length();
        let expected = (f64::from(spin) * h).powi(2);
        assert!(
            (0.0..=1.5 * expected).contains(&relative),
            "step {step}: lost {relative}"
        );
    }
}

/// Tissue that is thrown and flipped faster than its wave speed keeps its shape: no tet turns inside out, as many do without the
/// bound on inertia, and it moves as on the reference backend.
pub fn thrown_tissue(backend: &mut dyn Backend, precision: Precision) {
    let model = tissue();
    let frame = |k: usize| {
        // Up to 5 m/s, and a flip by 150° in one step.
        let phase = 0.5 * k as f32;
        let flip = if k < 25 { 0.0 } else { 2.6 };
        let turn = Quat::from_axis_angle(Vec3::new(0.2, 1.0, 0.4).normalize(), flip);
        Affine3A::from_rotation_translation(turn, Vec3::new(0.17 * phase.sin(), 0.0, 0.0))
    };
    let bounded = Settings::default();
    let unbounded = Settings {
        max_relative_speed: f64::INFINITY,
        ..Settings::default()
    };
    let mut reference = Reference::new();
    let mut expected = Trial::new(&mut reference, &model, bounded.clone());
    let mut found = Trial::new(backend, &model, bounded);
    let mut inverted = 0;
    for k in 1..=40 {
        let targets = moved_targets(&model, frame(k));
        found.step(&targets);
        expected.step(&targets);
        inverted += measure(&model, &found.state).inverted;
        let bound = precision.of_the_reference() * extent(&model);
        found.assert_like(&expected.state, bound, &format!("at step {k}"));
    }
    assert_eq!(inverted, 0, "tets inside out");
    let mut thrown = Trial::new(&mut reference, &model, unbounded);
    for k in 1..=40 {
        thrown.step(&moved_targets(&model, frame(k)));
        inverted += measure(&model, &thrown.state).inverted;
    }
    assert!(inverted > 100, "the motion is slow: {inverted}");
}
