//! Robustness against bad models, states and input; agreement with the reference.

use glam::{Affine3A, Quat, Vec3};

use super::{Precision, Random, Trial, extent, moved_targets, tissue};
use crate::shapes::prism_layer;
use crate::{Backend, Mode, Model, ModelBuilder, Reference, Settings, SolveError, State};

/// From any state (inverted, flattened, scrambled, 5 m away) and with long steps: the state stays finite and bounded, and
/// returns to rest, to 1e-3 of the size.
pub fn recovers_from_garbage(backend: &mut dyn Backend, _: Precision) {
    let model = tissue();
    let size = extent(&model) as f32;
    for step_scale in [1.0, 10.0] {
        for garbage in 0..5 {
            let mut random = Random(garbage);
            let settings = Settings {
                step: Settings::default().step * step_scale,
                damping_half_life: 0.05 * step_scale,
                ..Settings::default()
            };
            let mut trial = Trial::new(backend, &model, settings);
            for x in &mut trial.state.positions {
                *x = match garbage {
                    0 => Vec3::new(x.x, -x.y, x.z),
                    1 => Vec3::new(x.x, 0.0, x.z),
                    2 => *x + random.vector() * 0.3 * size,
                    3 => Vec3::splat(0.01),
                    _ => *x + Vec3::new(5.0, 0.0, 0.0),
                };
            }
            let when = format!("after garbage {garbage}");
            for _ in 0..400 {
                trial.rest(1);
                trial.assert_at(Affine3A::IDENTITY, 20.0, &when);
            }
            trial.assert_at(Affine3A::IDENTITY, 1e-3 * f64::from(size), &when);
        }
    }
}

/// Half of the fixed vertices jump to a random angle of up to ±170° about the middle every frame: the state stays finite and
/// bounded, and returns to rest, to 1e-3 of the size, once the targets do.
pub fn violent_motion(backend: &mut dyn Backend, _: Precision) {
    let model = tissue();
    let middle = Vec3::new(0.08, 0.0, 0.0);
    let settings = Settings {
        damping_half_life: 0.05,
        ..Settings::default()
    };
    let mut random = Random(5);
    let mut trial = Trial::new(backend, &model, settings);
    for _ in 0..300 {
        let turn = Quat::from_rotation_z(random.next() * 170f32.to_radians());
        let moved = |p: &Vec3| {
            if p.x > middle.x {
                middle + turn * (*p - middle)
            } else {
                *p
            }
        };
        let fixed: Vec<Vec3> = model.rest_fixed().iter().map(moved).collect();
        trial.step(&model.targets(&fixed, &[]));
        trial.assert_at(Affine3A::IDENTITY, 1.0, "while it is shaken");
    }
    trial.rest(400);
    trial.assert_at(Affine3A::IDENTITY, 1e-3 * extent(&model), "afterwards");
}

/// Flat, inverted, duplicate and sliver tets, zero and huge stiffness, vertices without mass or constraint, mass ratios of
/// 1e9: the state stays finite and bounded while the fixed vertices are shaken.
pub fn degenerate_models(backend: &mut dyn Backend, _: Precision) {
    for kind in 0..8 {
        let model = degenerate(kind);
        for mode in [Mode::Dynamic, Mode::Static] {
            let settings = Settings {
                mode,
                gravity: Vec3::new(0.0, -9.81, 0.0),
                ..Settings::default()
            };
            let mut trial = Trial::new(backend, &model, settings);
            for k in 0..60 {
                let turn = Quat::from_rotation_z((k as f32 * 0.4).sin());
                trial.step(&moved_targets(&model, Affine3A::from_quat(turn)));
            }
            let what = format!("(degenerate {kind}, {mode:?})");
            trial.assert_at(Affine3A::IDENTITY, 50.0, &what);
        }
    }
}

/// A layer of tissue with one kind of defect.
fn degenerate(kind: usize) -> Model {
    let n = 4;
    let mesh = prism_layer(n, 0.02, 0.02);
    let mut builder = ModelBuilder::new();
    for (i, &p) in mesh.positions.iter().enumerate() {
        // Slivers: prisms with a height of 1e-4 of their width.
        let p = if kind == 6 && i % 2 == 0 {
            p * Vec3::new(1.0, 1e-4, 1.0)
        } else {
            p
        };
        let v = builder.vertex(p, i < (n + 1) * (n + 1));
        match kind {
            0 if i % 3 != 0 => {}
            7 => builder.mass(v, [1e-8, 1e-3, 10.0][i % 3]),
            _ => builder.mass(v, 1e-3),
        }
    }
    for (t, &[a, b, c, d]) in mesh.tets.iter().enumerate() {
        let stiffness = match kind {
            1 if t % 2 == 0 => 0.0,
            2 => 0.0,
            3 if t % 2 == 0 => 1e12,
            _ => 2_500.0,
        };
        match kind {
            4 if t % 3 == 0 => builder.tet([b, a, c, d], stiffness),
            5 if t % 3 == 0 => builder.tet([a, a, c, d], stiffness),
            _ => builder.tet([a, b, c, d], stiffness),
        };
    }
    // An unconstrained vertex.
    builder.vertex(Vec3::ONE, false);
    builder.build().expect("degenerate body")
}

/// Steps of random models agree with the reference backend: to rounding of the state in double precision, to 1e-4 of the size
/// in single (20 steps, each amplifying rounding by its condition number, here below 100).
pub fn agrees_with_the_reference(backend: &mut dyn Backend, precision: Precision) {
    for seed in 0..4 {
        let mut random = Random(seed + 10);
        let model = random_tissue(&mut random);
        let axis = random.vector().normalize_or(Vec3::X);
        let settings = Settings {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            damping_half_life: 0.2,
            ..Settings::default()
        };
        let mut reference = Reference::new();
        let mut expected = Trial::new(&mut reference, &model, settings.clone());
        let mut found = Trial::new(backend, &model, settings);
        for k in 0..20 {
            let turn = Quat::from_axis_angle(axis, 0.5 * (k as f32 * 0.2).sin());
            let targets = moved_targets(&model, Affine3A::from_quat(turn));
            found.step(&targets);
            expected.step(&targets);
        }
        let bound = precision.of_the_reference() * extent(&model);
        found.assert_like(&expected.state, bound, &format!("(seed {seed})"));
    }
}

/// A bumpy layer with stiffness between 0.5 and 50 kPa and some vertices without mass.
fn random_tissue(random: &mut Random) -> Model {
    let n = 6;
    let mesh = prism_layer(n, 0.02, 0.02);
    let mut builder = ModelBuilder::new();
    for (i, &p) in mesh.positions.iter().enumerate() {
        let v = builder.vertex(p + random.vector() * 0.003, i < (n + 1) * (n + 1));
        let mass = 0.004 * f64::from(random.next() + 1.0);
        builder.mass(v, if i % 7 == 0 { 0.0 } else { mass });
    }
    for &tet in &mesh.tets {
        builder.tet(tet, 5_000.0 * 10f64.powf(f64::from(random.next())));
    }
    builder.build().expect("random body")
}

/// A jump carried with the bones' frames only changes the position: the motion continues as if the whole world had been
/// moved. Positions of 5 m are rounded by 3e-7, which damped motion does not amplify.
pub fn carried_jump(backend: &mut dyn Backend, _: Precision) {
    let model = tissue();
    let settings = Settings {
        damping_half_life: 0.2,
        ..Settings::default()
    };
    let turn = Quat::from_axis_angle(Vec3::new(0.3, 1.0, 0.2).normalize(), 1.2);
    let jump = Affine3A::from_rotation_translation(turn, Vec3::new(4.0, 0.0, -3.0));
    let shake =
        |k: usize| Affine3A::from_translation(Vec3::new(0.0, 0.02 * (k as f32 * 0.5).sin(), 0.0));
    let mut trial = Trial::new(backend, &model, settings);
    for k in 0..20 {
        trial.step(&moved_targets(&model, shake(k)));
    }
    let here = trial.state.clone();
    for k in 20..40 {
        trial.step(&moved_targets(&model, shake(k)));
    }
    let mut stayed = std::mem::replace(&mut trial.state, here);
    trial.state.carry(&vec![jump; model.free_count()]);
    trial.state.rebase(&moved_targets(&model, jump * shake(19)));
    // The carried state also has the bones' last velocity, so the same shake continues.
    trial.state.fixed_previous = moved_targets(&model, jump * shake(18)).fixed;
    for k in 20..40 {
        trial.step(&moved_targets(&model, jump * shake(k)));
    }
    for p in &mut stayed.positions {
        *p = jump.transform_point3(*p);
    }
    trial.assert_like(&stayed, 1e-4 * extent(&model), "after a jump");
}

/// The same input gives the same bits.
pub fn deterministic(make: impl Fn() -> Box<dyn Backend>) {
    let model = random_tissue(&mut Random(77));
    let settings = Settings {
        gravity: Vec3::new(0.0, -9.81, 0.0),
        ..Settings::default()
    };
    let simulate = || {
        let mut backend = make();
        let mut trial = Trial::new(&mut *backend, &model, settings.clone());
        for k in 0..10 {
            let frame = Affine3A::from_rotation_x(0.1 * k as f32);
            trial.step(&moved_targets(&model, frame));
        }
        trial.state
    };
    assert_eq!(simulate(), simulate());
}

/// Wrong lengths and non-finite numbers are errors and leave the state unchanged.
pub fn refuses_bad_input(backend: &mut dyn Backend, _: Precision) {
    let model = tissue();
    let settings = Settings::default();
    let mut state = State::at_rest(&model);
    let mut targets = model.rest_targets();
    targets.fixed[3].y = f32::NAN;
    let found = backend.step(&model, &settings, &targets, &mut state);
    assert_eq!(
        found,
        Err(SolveError::NotFinite {
            list: "fixed",
            index: 3
        })
    );
    targets = model.rest_targets();
    targets.fixed.pop();
    assert!(matches!(
        backend.step(&model, &settings, &targets, &mut state),
        Err(SolveError::Length { .. })
    ));
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let settings = Settings {
            step,
            ..Settings::default()
        };
        let found = backend.step(&model, &settings, &model.rest_targets(), &mut state);
        assert!(
            matches!(found, Err(SolveError::Setting { .. })),
            "step {step}"
        );
    }
    assert_eq!(state, State::at_rest(&model));
}
