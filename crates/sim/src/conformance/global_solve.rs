//! Accuracy of one global step, compared with the papers' iterative solver.

use glam::{Affine3A, DVec3, Quat, Vec3};
use supple_geom::sparse::conjugate_gradients;

use super::{Precision, Random, STATE_EPSILON, extent, moved_targets, run, tissue};
use crate::energy::{predict, project_constraints};
use crate::{Backend, Model, Reference, Settings, State, Targets, assemble};

/// One local/global iteration is at least as close to the exact solution as ten iterations of Jacobi-preconditioned conjugate
/// gradients from the same initial guess (the papers' GPU solver [3.2.3]), up to rounding of the state.
pub fn global_step_beats_ten_cg_iterations(backend: &mut dyn Backend, precision: Precision) {
    beats_ten_cg_iterations(backend, precision, &tissue());
}

/// The same on any model.
pub fn beats_ten_cg_iterations(backend: &mut dyn Backend, precision: Precision, model: &Model) {
    let settings = Settings {
        iterations: 1,
        ..Settings::default()
    };
    let targets = moved_targets(model, Affine3A::from_quat(Quat::from_rotation_x(0.4)));
    let mut random = Random(21);
    let mut start = State::at_rest(model);
    for x in &mut start.positions {
        *x += random.vector() * 0.005;
    }
    let (mut exact, mut found) = (start.clone(), start.clone());
    run(
        &mut Reference::new(),
        model,
        &settings,
        &targets,
        &mut exact,
        1,
    );
    run(backend, model, &settings, &targets, &mut found, 1);
    let iterative = ten_cg_iterations(model, &settings, &targets, &start);
    let from_exact = |x: &[Vec3]| {
        let pairs = x.iter().zip(&exact.positions);
        pairs
            .map(|(a, b)| f64::from(a.distance_squared(*b)))
            .sum::<f64>()
            .sqrt()
    };
    let rounding = match precision {
        Precision::Double => STATE_EPSILON,
        Precision::Single => 16.0 * STATE_EPSILON,
    };
    let allowed =
        from_exact(&iterative) + rounding * extent(model) * (model.free_count() as f64).sqrt();
    let error = from_exact(&found.positions);
    assert!(
        error <= allowed,
        "{}: {error} m, ten CG iterations reach {allowed} m",
        backend.name()
    );
}

fn ten_cg_iterations(
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    state: &State,
) -> Vec<Vec3> {
    let system = assemble(model, settings);
    let start = predict(model, settings, targets, state);
    let n = model.free_count();
    let mut rhs = vec![DVec3::ZERO; model.vertex_count()];
    project_constraints(model, settings, targets, &start.start, &mut rhs);
    for (i, rhs) in rhs[..n].iter_mut().enumerate() {
        *rhs += start.inertial[i] * (model.masses()[i] * settings.inertia()) + start.forces[i];
        for (fixed, value) in system.coupling.column(i) {
            *rhs -= start.start[n + fixed] * value;
        }
    }
    let mut z = start.start[..n].to_vec();
    for axis in 0..3 {
        let b: Vec<f64> = rhs[..n].iter().map(|r| r[axis]).collect();
        let mut x: Vec<f64> = z.iter().map(|z| z[axis]).collect();
        conjugate_gradients(&system.matrix, &b, &mut x, 10);
        for (z, x) in z.iter_mut().zip(x) {
            z[axis] = x;
        }
    }
    z.iter().map(|z| z.as_vec3()).collect()
}
