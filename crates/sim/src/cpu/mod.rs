//! The fast CPU backend: single precision, eight tets at a time, a prefactorised matrix.
//!
//! It runs the iteration of [`Reference`](crate::Reference) in residual form: solve A dx = −g, where g is the gradient of the
//! objective at the current positions with fixed projections. Fixed vertices enter only through g, and each iteration corrects
//! the rounding errors of the one before.
//!
//! The free vertices are divided into regions along the elimination tree of A. Every element lies in one region and its
//! border. Threads synchronise once per iteration (`phases.rs`). In between, every region finishes its triangular solve of the
//! last iteration, moves its vertices, projects its elements and starts the next solve. Then the small top of the tree is
//! solved for all. Regions depend on the model only, so results are bit-identical for any number of threads.

mod layer;
mod load;
mod other_constraints;
mod phases;
mod prism;
mod region;
mod rows;
mod stress;
mod tet_batch;
mod touching;
mod volume_lanes;

use std::sync::Mutex;

use glam::DVec3;
use supple_geom::sparse::{Factor, SparseError, Symbolic, solve3_alone};

use crate::backend::check_step;
use crate::contact::{ContactSolver, Reach};
use crate::energy::{Prediction, objective, predict};
use crate::settings::{Fit, MatrixKey};
use crate::{
    Backend, ContactReport, Decompose, Model, Rotations, Settings, SolveError, State, StepReport,
    System, Targets, assemble,
};
use phases::{Cell, lock};
use region::Region;

/// A clock: seconds since an arbitrary moment. The standard library has none in WebAssembly.
pub type Clock = fn() -> f64;

/// Time per stage of the last step \[s\], summed over threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// Projections and right-hand sides.
    pub local: f64,
    /// Triangular solves.
    pub global: f64,
    /// Contact detection.
    pub detect: f64,
    /// Assembly of contact rows.
    pub assemble: f64,
    /// Solving for contact forces.
    pub contact: f64,
}

/// The fast CPU backend.
#[derive(Clone, Debug, Default)]
pub struct CpuBackend {
    prepared: Option<Prepared>,
    /// The model whose pattern was analysed last, and what was found: it does not depend on settings.
    analysed: Option<(u64, Symbolic)>,
    analyses: usize,
    clock: Option<Clock>,
}

#[derive(Clone, Debug)]
struct Prepared {
    model: u64,
    key: MatrixKey,
    /// The parts of the factor, then the top.
    regions: Vec<Region>,
    /// Region and row of each free vertex.
    rows: Vec<(u32, u32)>,
    /// Created when contact is first enabled.
    contact: Option<ContactSolver>,
    /// The factorised matrix is the system matrix times this factor.
    scale: f64,
    /// Stages of contact only.
    timings: Timings,
    bytes_per_solve: usize,
    entries: usize,
}

impl CpuBackend {
    /// A backend without a prepared model.
    pub fn new() -> CpuBackend {
        CpuBackend::default()
    }

    /// Sets the clock that measures the stages of every step; `None` turns measuring off.
    pub fn set_clock(&mut self, clock: Option<Clock>) {
        self.clock = clock;
    }

    /// Time per stage of the last step; zeros without a [clock](CpuBackend::set_clock).
    pub fn timings(&self) -> Timings {
        let mut sum = self
            .prepared
            .as_ref()
            .map_or(Timings::default(), |p| p.timings);
        for region in self.regions() {
            sum.local += region.timings.local;
            sum.global += region.timings.global;
        }
        sum
    }

    /// Bytes of the factor that one global step reads. Memory bandwidth divided by it bounds the solves per second.
    pub fn factor_bytes_per_solve(&self) -> usize {
        self.prepared.as_ref().map_or(0, |p| p.bytes_per_solve)
    }

    /// Entries of the Cholesky factor, once prepared.
    pub fn factor_entries(&self) -> usize {
        self.prepared.as_ref().map_or(0, |p| p.entries)
    }

    /// How many patterns have been analysed: one per model, whatever its weights.
    pub fn analyses(&self) -> usize {
        self.analyses
    }

    /// Memory of the prepared model \[bytes\].
    pub fn memory(&self) -> usize {
        let contact = self.prepared.as_ref().and_then(|p| p.contact.as_ref());
        self.regions().iter().map(Region::memory).sum::<usize>()
            + contact.map_or(0, ContactSolver::memory)
    }

    /// Number of vertices of each region, the top last: shows the load balance.
    pub fn region_sizes(&self) -> Vec<usize> {
        self.regions().iter().map(Region::own).collect()
    }

    fn regions(&self) -> &[Region] {
        self.prepared.as_ref().map_or(&[], |p| &p.regions)
    }

    fn prepared(
        &mut self,
        model: &Model,
        settings: &Settings,
    ) -> Result<&mut Prepared, SolveError> {
        if let Some(what) = unsupported(settings) {
            return Err(SolveError::Unsupported {
                backend: "cpu",
                what,
            });
        }
        let key = settings.matrix_key();
        let fits = |p: &Prepared| p.model == model.id() && p.key == key;
        if !self.prepared.as_ref().is_some_and(fits) {
            self.prepared = None;
        }
        match &mut self.prepared {
            Some(ready) => Ok(ready),
            empty => {
                let system = assemble(model, settings);
                if (self.analysed.as_ref()).is_none_or(|(id, _)| *id != model.id()) {
                    self.analysed = Some((model.id(), Symbolic::new(&system.matrix)));
                    self.analyses += 1;
                }
                let (_, symbolic) = self.analysed.get_or_insert_with(Default::default);
                Ok(empty.insert(Prepared::new(model, settings, system, symbolic)?))
            }
        }
    }
}

/// The alternatives of figures 2.4 and 2.5 and rotations per prism are supported by the reference backend only.
fn unsupported(settings: &Settings) -> Option<&'static str> {
    if settings.strain.fit != Fit::Gradients || settings.strain.decompose != Decompose::Gradient {
        return Some("this strain formulation");
    }
    (settings.rotations != Rotations::PerTet).then_some("rotations per cluster")
}

impl Backend for CpuBackend {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn supports(&self, _: &Model, settings: &Settings) -> bool {
        unsupported(settings).is_none()
    }

    fn prepare(&mut self, model: &Model, settings: &Settings) -> Result<(), SolveError> {
        let prepared = self.prepared(model, settings)?;
        if ContactSolver::is_wanted(model, settings, &Targets::default()) {
            prepared.prepare_contact(model);
        }
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
        let clock = self.clock;
        let prepared = self.prepared(model, settings)?;
        let touches = ContactSolver::is_wanted(model, settings, targets);
        if touches {
            prepared.prepare_contact(model);
        }
        let step = Step {
            model,
            settings,
            targets,
            touches,
            clock,
        };
        let mut report = StepReport {
            iterations: settings.iterations,
            ..StepReport::default()
        };
        if settings.trace_energy {
            report.energies = prepared.iterate_traced(&step, state);
        } else {
            prepared.iterate(&step, state);
        }
        report.residual = prepared
            .regions
            .iter()
            .fold(0.0, |m, region| f32::max(m, region.moved));
        for region in &prepared.regions {
            region.store(&step, state);
        }
        std::mem::swap(&mut state.fixed, &mut state.fixed_previous);
        state.fixed.clone_from(&targets.fixed);
        state.contact.contacts.clear();
        state.contact.external.clear();
        state.contact.colliders.clear();
        if let Some(contact) = prepared.contact.as_mut().filter(|_| touches) {
            contact.finish(model, settings, targets, state);
            report.contact = ContactReport::of(state);
        } else {
            state.contact.searched.forget();
        }
        Ok(report)
    }
}

/// Input of a step.
#[derive(Clone, Copy)]
struct Step<'a> {
    model: &'a Model,
    settings: &'a Settings,
    targets: &'a Targets,
    /// Whether contact is enabled.
    touches: bool,
    clock: Option<Clock>,
}

impl Prepared {
    fn new(
        model: &Model,
        settings: &Settings,
        mut system: System,
        symbolic: &Symbolic,
    ) -> Result<Prepared, SolveError> {
        // A common factor changes nothing, but keeps entries within the range of single precision.
        let largest = system.diagonal().into_iter().fold(0.0, f64::max);
        let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        let factor = factorise(&mut system, scale, symbolic)?;
        let (bytes_per_solve, entries) = (factor.bytes_per_solve(), factor.entries);
        let regions = region::build(model, settings, factor, scale);
        let mut rows = vec![(0, 0); model.free_count()];
        for (k, region) in regions.iter().enumerate() {
            for (row, &v) in region.own_vertices().iter().enumerate() {
                rows[v as usize] = (k as u32, row as u32);
            }
        }
        Ok(Prepared {
            model: model.id(),
            key: settings.matrix_key(),
            regions,
            rows,
            contact: None,
            scale,
            timings: Timings::default(),
            bytes_per_solve,
            entries,
        })
    }

    fn prepare_contact(&mut self, model: &Model) {
        let Some((top, parts)) = self.regions.split_last() else {
            return;
        };
        self.contact.get_or_insert_with(|| {
            ContactSolver::new(model, self.scale, Reach::default(), &|x| {
                solve3_alone(parts.iter().map(Region::part), top.part(), x)
            })
        });
    }

    fn iterate(&mut self, step: &Step, state: &State) {
        if step.touches {
            return self.iterate_touching(step, state);
        }
        let iterations = step.settings.iterations as usize;
        self.iterate_alone(step, iterations, &|region| {
            region.load(step, state);
            region.set_fixed();
        });
    }

    /// Iterations without contacts, after `begin`. One phase per iteration, which also finishes the iteration before, and a
    /// last phase.
    fn iterate_alone(
        &mut self,
        step: &Step,
        iterations: usize,
        begin: &(dyn Fn(&mut Region) + Sync),
    ) {
        let work = |region: &mut Region, _, phase: usize| {
            if phase == 0 {
                begin(region);
            } else {
                region.apply(step.clock);
            }
            if phase < iterations {
                region.gather(step);
                region.start_solve(&[], step.clock);
            }
        };
        let between = |regions: &[Mutex<Cell<Region>>], phase: usize| {
            if phase < iterations {
                solve_top(regions, step.clock);
            }
        };
        phases::run(&mut self.regions, iterations + 1, work, &(), between);
    }

    /// As [`Prepared::iterate`], but every iteration is finished before its energy is evaluated.
    fn iterate_traced(&mut self, step: &Step, state: &State) -> Vec<f64> {
        let start = predict(step.model, step.settings, step.targets, state);
        for region in &mut self.regions {
            region.load(step, state);
            region.set_fixed();
        }
        self.begin_contact(step, state);
        let mut energies = vec![self.energy(step, &start)];
        for _ in 0..step.settings.iterations {
            self.iterate_with_contacts(step, 1, None);
            energies.push(self.energy(step, &start));
        }
        energies
    }

    fn energy(&self, step: &Step, start: &Prediction) -> f64 {
        let mut z: Vec<DVec3> = start.start.clone();
        for region in &self.regions {
            region.read_positions(&mut z, |p| p.as_dvec3());
        }
        objective(step.model, step.settings, step.targets, start, &z)
    }
}

/// The serial part of the solve: sums the borders of all regions, solves the top, and gives the solution back to the borders.
fn solve_top(regions: &[Mutex<Cell<Region>>], clock: Option<Clock>) {
    let Some((top, parts)) = regions.split_last() else {
        return;
    };
    let mut top = lock(top);
    let top = top.item();
    for part in parts {
        top.add_border_of(lock(part).item());
    }
    top.solve_as_top(clock);
    for part in parts {
        lock(part).item().read_border_from(top);
    }
}

/// Factorises the matrix. If that fails, a growing proximal term is added to the diagonal (mass and stiffness too different
/// for single precision).
fn factorise(system: &mut System, scale: f64, symbolic: &Symbolic) -> Result<Factor, SolveError> {
    let diagonal = system.diagonal();
    let mut failed = 0;
    for relative in [0.0, 1e-9, 1e-8, 1e-7, 1e-6] {
        if relative > 0.0 {
            let amounts: Vec<f64> = diagonal.iter().map(|d| d * relative).collect();
            system.add_proximal(&amounts);
        }
        match Factor::with(symbolic, &system.matrix.scaled(scale)) {
            Ok(factor) => return Ok(factor),
            Err(SparseError::NonPositivePivot { index }) => failed = index,
            Err(_) => {}
        }
    }
    Err(SolveError::NotPositiveDefinite { vertex: failed })
}
