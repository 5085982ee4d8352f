//! The GPU [`Backend`] for one body: the state is uploaded and read back every step.

use std::sync::Arc;

use glam::DVec3;
use supple_sim::backend::check_step;
use supple_sim::contact::{ColliderState, ContactState};
use supple_sim::energy::{objective, predict};
use supple_sim::settings::MatrixKey;
use supple_sim::{Backend, ContactReport, Model, Settings, SolveError, State, StepReport, Targets};

use crate::bodies::Phase;
use crate::contact;
use crate::tables::unsupported;
use crate::{Gpu, GpuBodies, GpuError, Solver};

/// Steps one body on the device. Use [`GpuBodies`] to keep states on the device.
#[derive(Debug)]
pub struct GpuBackend {
    gpu: Arc<Gpu>,
    solver: Solver,
    prepared: Option<Prepared>,
}

#[derive(Debug)]
struct Prepared {
    model: u64,
    key: MatrixKey,
    bodies: GpuBodies,
}

impl GpuBackend {
    /// A backend on an open device.
    pub fn new(gpu: Arc<Gpu>) -> GpuBackend {
        GpuBackend::with_solver(gpu, Solver::default())
    }

    /// A backend with a chosen global solver.
    pub fn with_solver(gpu: Arc<Gpu>, solver: Solver) -> GpuBackend {
        GpuBackend {
            gpu,
            solver,
            prepared: None,
        }
    }

    /// The device.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// The body on the device, once prepared.
    pub fn bodies(&self) -> Option<&GpuBodies> {
        self.prepared.as_ref().map(|prepared| &prepared.bodies)
    }

    fn prepared(&mut self, model: &Model, settings: &Settings) -> Result<&mut GpuBodies, GpuError> {
        let key = settings.matrix_key();
        let fits = |p: &Prepared| p.model == model.id() && p.key == key;
        if !self.prepared.as_ref().is_some_and(fits) || unsupported(model, settings).is_some() {
            self.prepared = None;
        }
        let prepared = match &mut self.prepared {
            Some(ready) => ready,
            empty => empty.insert(Prepared {
                model: model.id(),
                key,
                bodies: GpuBodies::new(&self.gpu, model, settings, 1, self.solver)?,
            }),
        };
        prepared.bodies.configure(model, settings)?;
        Ok(&mut prepared.bodies)
    }
}

impl Backend for GpuBackend {
    fn name(&self) -> &'static str {
        "gpu"
    }

    fn supports(&self, model: &Model, settings: &Settings) -> bool {
        unsupported(model, settings).is_none()
    }

    fn prepare(&mut self, model: &Model, settings: &Settings) -> Result<(), SolveError> {
        self.prepared(model, settings)?;
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &mut State,
    ) -> Result<StepReport, SolveError> {
        check_step(model, settings, targets, state)?;
        if !targets.external.is_empty() {
            return Err(SolveError::Unsupported {
                backend: "gpu",
                what: "external contacts",
            });
        }
        let bodies = self.prepared(model, settings)?;
        let last = &state.contact.colliders;
        bodies.set_colliders(model, settings, &targets.colliders, last)?;
        bodies.upload(0, state);
        bodies.set_targets(0, targets);
        bodies.upload_contacts(0, state, targets);
        let energies = if settings.trace_energy {
            traced_step(bodies, model, settings, targets, state)?
        } else {
            bodies.step()?;
            Vec::new()
        };
        let rows = bodies.request_state(0).wait()?;
        let last = std::mem::take(&mut state.contact.contacts);
        bodies.unpack_state(&rows, targets, state);
        if let Some(surface) = contact::wanted(model, settings) {
            let ContactState {
                contacts,
                bases,
                lost_contacts,
                ..
            } = &mut state.contact;
            let step = settings.step as f32;
            lost_contacts.begin(surface, step, bases, &targets.bases);
            lost_contacts.count(surface, step, (&last, contacts));
        }
        if bodies.touches() {
            state.contact.bases.clone_from(&targets.bases);
            state.contact.outside.clone_from(&targets.outside);
        }
        let colliders = targets.colliders.iter().map(ColliderState::of);
        state.contact.colliders = colliders.collect();
        std::mem::swap(&mut state.fixed, &mut state.fixed_previous);
        state.fixed.clone_from(&targets.fixed);
        Ok(StepReport {
            iterations: settings.iterations,
            residual: bodies.last_move(&rows),
            energies,
            contact: ContactReport::of(state),
        })
    }
}

/// A step that evaluates the objective after each iteration.
fn traced_step(
    bodies: &GpuBodies,
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    state: &State,
) -> Result<Vec<f64>, GpuError> {
    let start = predict(model, settings, targets, state);
    let mut now = state.positions.clone();
    let mut energy = || -> Result<f64, GpuError> {
        bodies.unpack(&bodies.request_positions(0).wait()?, &mut now);
        let free = now.iter().map(|p| p.as_dvec3());
        let z: Vec<DVec3> = free
            .chain(targets.fixed.iter().map(|p| p.as_dvec3()))
            .collect();
        Ok(objective(model, settings, targets, &start, &z))
    };
    bodies.submit(&[Phase::Start])?;
    let mut energies = vec![energy()?];
    for _ in 0..settings.iterations {
        bodies.submit(&[Phase::Iterate])?;
        energies.push(energy()?);
    }
    bodies.submit(&[Phase::Finish])?;
    Ok(energies)
}
