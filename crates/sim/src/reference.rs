//! The reference backend: double precision, one constraint at a time, sparse Cholesky.
//!
//! Supports every model and setting. Other backends are compared with it and timed against it.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use supple_geom::simd::Row;
use supple_geom::sparse::{Cholesky, SparseError, Symbolic};

use crate::backend::check_step;
use crate::contact::{ContactSolver, Reach};
use crate::energy::{Prediction, damped_velocity, objective, predict, project_constraints};
use crate::material::{damping_time, dampings};
use crate::settings::MatrixKey;
use crate::{
    Backend, ContactReport, Model, Settings, SolveError, State, StepReport, System, Targets,
    assemble,
};

/// Algorithm 2.1 of the thesis, implemented literally.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    prepared: Option<Prepared>,
    /// The model whose pattern was analysed last, and its analysis, which does not depend on settings.
    analysed: Option<(u64, Arc<Symbolic>)>,
    analyses: usize,
}

#[derive(Clone, Debug)]
struct Prepared {
    model: u64,
    key: MatrixKey,
    system: System,
    factor: Cholesky,
    rhs: Vec<DVec3>,
    column: Vec<f64>,
    /// [Damping](dampings) of the free vertices.
    dampings: Vec<f32>,
    /// Created for the first contact.
    contact: Option<ContactSolver>,
    /// Whether contacts are possible in this step.
    touches: bool,
}

impl Reference {
    /// A backend that has not seen a model yet.
    pub fn new() -> Reference {
        Reference::default()
    }

    /// Number of patterns that have been analysed: one per model, for any weights.
    pub fn analyses(&self) -> usize {
        self.analyses
    }

    /// Entries of the Cholesky factor, once prepared.
    pub fn factor_entries(&self) -> usize {
        self.prepared.as_ref().map_or(0, |p| p.factor.entries())
    }

    /// The cached factorisation, recomputed if the model or the matrix settings have changed.
    fn prepared(
        &mut self,
        model: &Model,
        settings: &Settings,
    ) -> Result<&mut Prepared, SolveError> {
        let key = settings.matrix_key();
        let fits = |p: &Prepared| p.model == model.id() && p.key == key;
        if !self.prepared.as_ref().is_some_and(fits) {
            self.prepared = None;
        }
        match &mut self.prepared {
            Some(ready) => Ok(ready),
            empty => {
                let mut system = assemble(model, settings);
                let symbolic = match &self.analysed {
                    Some((id, symbolic)) if *id == model.id() => Arc::clone(symbolic),
                    _ => {
                        self.analyses += 1;
                        Arc::new(Symbolic::new(&system.matrix))
                    }
                };
                self.analysed = Some((model.id(), Arc::clone(&symbolic)));
                let factor = factorise(&mut system, &symbolic)?;
                let n = model.free_count();
                Ok(empty.insert(Prepared {
                    contact: None,
                    touches: false,
                    model: model.id(),
                    key,
                    system,
                    factor,
                    rhs: vec![DVec3::ZERO; model.vertex_count()],
                    column: vec![0.0; n],
                    dampings: dampings(model, &settings.weights),
                }))
            }
        }
    }
}

impl Backend for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn supports(&self, _: &Model, _: &Settings) -> bool {
        true
    }

    fn prepare(&mut self, model: &Model, settings: &Settings) -> Result<(), SolveError> {
        self.prepared(model, settings).map(|_| ())
    }

    fn step(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &mut State,
    ) -> Result<StepReport, SolveError> {
        check_step(model, settings, targets, state)?;
        let prepared = self.prepared(model, settings)?;
        let prediction = predict(model, settings, targets, state);
        let mut z = prediction.start.clone();
        let mut report = StepReport {
            iterations: settings.iterations,
            ..StepReport::default()
        };
        let trace = |z: &[DVec3], report: &mut StepReport| {
            if settings.trace_energy {
                report
                    .energies
                    .push(objective(model, settings, targets, &prediction, z));
            }
        };
        prepared.begin_contact(model, settings, targets, state, &z);
        trace(&z, &mut report);
        for _ in 0..settings.iterations {
            prepared.right_hand_side(model, settings, targets, &prediction, &z);
            report.residual = prepared.global_step(&mut z) as f32;
            prepared.sweep_contacts(&mut z);
            trace(&z, &mut report);
        }
        store(model, settings, targets, &z, &prepared.dampings, state);
        state.contact.contacts.clear();
        state.contact.external.clear();
        state.contact.colliders.clear();
        if let Some(contact) = prepared.touching() {
            contact.finish(model, settings, targets, state);
            report.contact = ContactReport::of(state);
        } else {
            state.contact.searched.forget();
        }
        Ok(report)
    }
}

/// Contact solver with whole columns of A⁻¹: nothing is cut off.
fn contact_solver(model: &Model, factor: &Cholesky) -> ContactSolver {
    ContactSolver::new(model, 1.0, Reach::FULL, &|x| {
        let mut column = vec![0.0; x.len()];
        for axis in 0..3 {
            for (c, x) in column.iter_mut().zip(x.iter()) {
                *c = f64::from(x[axis]);
            }
            factor.solve(&mut column);
            for (c, x) in column.iter().zip(x.iter_mut()) {
                x[axis] = *c as f32;
            }
        }
    })
}

/// Factorises; adds a growing proximal term if stiffness and mass differ too much for double precision.
fn factorise(system: &mut System, symbolic: &Arc<Symbolic>) -> Result<Cholesky, SolveError> {
    let diagonal = system.diagonal();
    let mut failed = 0;
    for relative in [0.0, 1e-12, 1e-10, 1e-8, 1e-6] {
        if relative > 0.0 {
            let amounts: Vec<f64> = diagonal.iter().map(|d| d * relative).collect();
            system.add_proximal(&amounts);
        }
        match Cholesky::with(Arc::clone(symbolic), &system.matrix) {
            Ok(factor) => return Ok(factor),
            Err(SparseError::NonPositivePivot { index }) => failed = index,
            Err(_) => {}
        }
    }
    Err(SolveError::NotPositiveDefinite { vertex: failed })
}

impl Prepared {
    /// Right-hand side of Eq. (2.13), reduced as in [2.2.3]: M/h² y + Qᵀ W p − coupling · z_fixed (+ P z).
    fn right_hand_side(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        prediction: &Prediction,
        z: &[DVec3],
    ) {
        let n = model.free_count();
        let inertia = settings.inertia();
        self.rhs.fill(DVec3::ZERO);
        project_constraints(model, settings, targets, z, &mut self.rhs);
        for (i, rhs) in self.rhs[..n].iter_mut().enumerate() {
            *rhs += prediction.inertial[i] * (model.masses()[i] * inertia) + prediction.forces[i];
            *rhs += z[i] * self.system.proximal[i];
            if let Some(contact) = self.contact.as_ref().filter(|_| self.touches) {
                *rhs += Vec3::from(contact.forces()[i].xyz()).as_dvec3();
            }
            for (fixed, value) in self.system.coupling.column(i) {
                *rhs -= z[n + fixed] * value;
            }
        }
    }

    fn touching(&mut self) -> Option<&mut ContactSolver> {
        self.contact.as_mut().filter(|_| self.touches)
    }

    fn begin_contact(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &State,
        z: &[DVec3],
    ) {
        self.touches = ContactSolver::is_wanted(model, settings, targets);
        if self.touches && self.contact.is_none() {
            self.contact = Some(contact_solver(model, &self.factor));
        }
        if let Some(contact) = self.touching() {
            for (start, z) in contact.start.iter_mut().zip(z) {
                *start = z.as_vec3();
            }
            contact.detect(model, settings, targets, state);
            contact.assemble(model, settings, targets, state);
        }
    }

    fn sweep_contacts(&mut self, z: &mut [DVec3]) {
        if let Some(contact) = self.touching() {
            let (touched, positions) = contact.positions();
            for &v in touched {
                positions[v as usize] = Row::new(z[v as usize].as_vec3().to_array());
            }
            contact.sweep();
            for (z, v) in z.iter_mut().zip(0..contact.start.len() as u32) {
                *z += contact.shift(contact.slot(v)).as_dvec3();
            }
        }
    }

    /// Solves for the three coordinates in turn; returns the largest displacement \[m\].
    fn global_step(&mut self, z: &mut [DVec3]) -> f64 {
        let mut largest = 0.0_f64;
        let mut moved = vec![DVec3::ZERO; self.column.len()];
        for axis in 0..3 {
            for (c, rhs) in self.column.iter_mut().zip(&self.rhs) {
                *c = rhs[axis];
            }
            self.factor.solve(&mut self.column);
            for ((c, z), moved) in self.column.iter().zip(z.iter_mut()).zip(&mut moved) {
                moved[axis] = c - z[axis];
                z[axis] = *c;
            }
        }
        for m in moved {
            largest = largest.max(m.length());
        }
        largest
    }
}

/// Writes positions and velocities, Eq. (2.14).
fn store(
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    z: &[DVec3],
    dampings: &[f32],
    state: &mut State,
) {
    let (kept, time) = (settings.damping_factor(), damping_time(settings));
    let velocities: Vec<Vec3> = (0..model.free_count())
        .map(|i| {
            let moved = z[i] - state.positions[i].as_dvec3();
            let kept = match dampings.get(i) {
                Some(&damping) => kept * (-time * f64::from(damping)).exp2(),
                None => kept,
            };
            damped_velocity(model, settings, targets, state, i, moved, kept).as_vec3()
        })
        .collect();
    for (x, z) in state.positions.iter_mut().zip(z) {
        *x = z.as_vec3();
    }
    state.velocities = velocities;
    std::mem::swap(&mut state.fixed, &mut state.fixed_previous);
    state.fixed.clone_from(&targets.fixed);
}

#[cfg(test)]
mod tests {
    use glam::{Affine3A, Quat};

    use super::*;
    use crate::conformance::{moved_targets, tissue};

    /// Iterations after which a step counts as converged.
    const CONVERGED_ITERATIONS: u32 = 1_000;

    fn stepped(model: &Model, targets: &Targets, iterations: u32) -> State {
        let settings = Settings {
            iterations,
            ..Settings::default()
        };
        let mut state = State::at_rest(model);
        let mut backend = Reference::new();
        backend
            .step(model, &settings, targets, &mut state)
            .expect("a step");
        state
    }

    /// RMS distance over the free vertices \[m\].
    fn distance(a: &State, b: &State) -> f64 {
        let pairs = a.positions.iter().zip(&b.positions);
        let sum: f64 = pairs.map(|(a, b)| f64::from(a.distance_squared(*b))).sum();
        (sum / a.positions.len().max(1) as f64).sqrt()
    }

    #[test]
    fn more_iterations_leave_a_smaller_error() {
        let model = tissue();
        let targets = moved_targets(&model, Affine3A::from_quat(Quat::from_rotation_x(0.5)));
        let converged = stepped(&model, &targets, CONVERGED_ITERATIONS);
        let way = distance(&State::at_rest(&model), &converged);
        let left = [1, 10, 100]
            .map(|iterations| distance(&stepped(&model, &targets, iterations), &converged) / way);
        assert!(left[0] > left[1] && left[1] > left[2], "{left:?}");
        assert!(left[1] < 0.01, "{left:?}");
    }
}
