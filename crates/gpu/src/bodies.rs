//! Any number of bodies of one model, stepped together and kept on the device.

use std::sync::Arc;

use glam::Vec3;
use supple_sim::contact::{Collider, ColliderState};
use supple_sim::follow::Frame;
use supple_sim::{Model, Settings, SolveError, State, Targets};

use crate::buffers::{Binds, Buffers, Params};
use crate::colliders;
use crate::contact::{self, GpuContact};
use crate::follow::{Follow, FollowTables};
use crate::kernels::{BATCH, Compiled, Touch};
use crate::krylov::{Krylov, Method, Stage};
use crate::stage_times::Timestamps;
use crate::tables::{NO_VERTEX, Tables};
use crate::{Gpu, GpuError, Pending, StageTimes};

/// How the global step is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// Stored local inverses, one dispatch: the fastest and the most exact.
    #[default]
    Patches,
    /// An iterative solver, for comparison.
    Iterative(Method),
}

/// Bodies of one model on the device: one dispatch of a kernel serves them all.
#[derive(Debug)]
pub struct GpuBodies {
    gpu: Arc<Gpu>,
    count: u32,
    tables: Tables,
    params: Params,
    iterations: u32,
    /// Whether bodies share workgroups.
    batched: bool,
    buffers: Buffers,
    binds: Binds,
    krylov: Option<Krylov>,
    follow: Option<Follow>,
    contact: Option<GpuContact>,
    /// Whether contacts of bodies with themselves are looked for.
    touches_itself: bool,
    /// Whether contacts with colliders are.
    collides: bool,
}

/// A part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Targets in, prediction.
    Start,
    /// One local/global iteration.
    Iterate,
    /// Velocities.
    Finish,
}

/// One dispatch.
#[derive(Clone, Copy)]
enum Dispatch {
    Follow,
    Predict,
    Contact(Touch),
    Project,
    PatchSolve,
    Krylov(Stage, u32),
    Finish,
}

impl Dispatch {
    fn stage(self) -> &'static str {
        match self {
            Dispatch::Follow => "targets",
            Dispatch::Predict => "predict",
            Dispatch::Contact(Touch::Points | Touch::Boxes) => "contact boxes",
            Dispatch::Contact(Touch::Search | Touch::Collide) => "contact search",
            Dispatch::Contact(Touch::Answers) => "contact rows",
            Dispatch::Contact(Touch::Forces) => "contact forces",
            Dispatch::Contact(Touch::Shift) => "contact answer",
            Dispatch::Project | Dispatch::Contact(Touch::Project) => "local",
            Dispatch::PatchSolve | Dispatch::Krylov(..) => "global",
            Dispatch::Finish | Dispatch::Contact(Touch::Finish) => "velocities",
        }
    }
}

impl GpuBodies {
    /// Puts `count` bodies at rest on the device.
    pub fn new(
        gpu: &Arc<Gpu>,
        model: &Model,
        settings: &Settings,
        count: u32,
        solver: Solver,
    ) -> Result<GpuBodies, GpuError> {
        gpu.check()?;
        let tables = Tables::new(model, settings)?;
        GpuBodies::with_tables(gpu, model, settings, tables, count, solver)
    }

    /// As [`GpuBodies::new`] with tables made before.
    pub fn with_tables(
        gpu: &Arc<Gpu>,
        model: &Model,
        settings: &Settings,
        tables: Tables,
        count: u32,
        solver: Solver,
    ) -> Result<GpuBodies, GpuError> {
        let memory = gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let params = Params::new(&tables, model, settings, count);
        let built = Buffers::new(gpu, &tables, &params, model.fixed_count(), count);
        let lack = pollster::block_on(memory.pop());
        let (buffers, binds, residual) = built?;
        if let Some(error) = lack {
            return Err(GpuError::Lost(error.to_string()));
        }
        let krylov = match solver {
            Solver::Patches => None,
            Solver::Iterative(method) => Some(Krylov::new(
                gpu,
                method,
                &tables.matrix,
                params.vertices,
                count,
                &residual,
                &buffers.positions,
            )?),
        };
        let mut bodies = GpuBodies {
            gpu: gpu.clone(),
            count,
            params,
            iterations: settings.iterations,
            batched: count >= BATCH,
            tables,
            buffers,
            binds,
            krylov,
            follow: None,
            contact: None,
            touches_itself: false,
            collides: false,
        };
        bodies.configure(model, settings)?;
        let rest = State::at_rest(model);
        let targets = model.rest_targets();
        for body in 0..count {
            bodies.upload(body, &rest);
            bodies.set_targets(body, &targets);
            bodies.upload_contacts(body, &rest, &targets);
        }
        bodies.gpu.check()?;
        Ok(bodies)
    }

    /// Number of bodies.
    pub fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) fn positions(&self) -> &wgpu::Buffer {
        &self.buffers.positions
    }

    /// Stride of positions from body to body.
    pub(crate) fn vertices(&self) -> u32 {
        self.params.vertices
    }

    /// Where vertices of the model, free ones first, are among a body's positions.
    pub(crate) fn rows_of(&self, vertices: &[u32]) -> Vec<u32> {
        let rows = self.tables.vertex_of_row.iter().zip(0..);
        let mut at: Vec<(u32, u32)> = rows.map(|(&v, row)| (v, row)).collect();
        at.sort_unstable();
        at.retain(|&(v, _)| v != NO_VERTEX);
        let (free, rows) = (at.len() as u32, self.tables.rows() as u32);
        let row = |&v: &u32| match at.get(v as usize) {
            Some(&(_, row)) => row,
            None => rows + v - free,
        };
        vertices.iter().map(row).collect()
    }

    /// Bytes of device memory held.
    pub fn memory(&self) -> u64 {
        let krylov = self.krylov.as_ref().map_or(0, |krylov| krylov.bytes);
        let follow = self.follow.as_ref().map_or(0, |follow| follow.bytes);
        let contact = self.contact.as_ref().map_or(0, |contact| contact.bytes);
        self.buffers.bytes + krylov + follow + contact
    }

    /// Dispatches of one step.
    pub fn dispatches(&self) -> usize {
        self.plan(&self.whole_step()).len()
    }

    /// Takes over settings that the tables do not depend on: gravity, damping, iterations, contact.
    pub fn configure(&mut self, model: &Model, settings: &Settings) -> Result<(), GpuError> {
        self.iterations = settings.iterations;
        self.touches_itself = contact::wanted(model, settings).is_some();
        let surface = contact::touchable(model).filter(|_| self.touches());
        let fits = |contact: &GpuContact| contact.has_colliders() || !self.collides;
        if let Some(surface) = surface.filter(|_| !self.contact.as_ref().is_some_and(fits)) {
            if self.follow.is_some() {
                let what = "contact that begins after poses are followed";
                let backend = "gpu";
                return Err(SolveError::Unsupported { backend, what }.into());
            }
            let vertices: Vec<u32> = (0..model.vertex_count() as u32).collect();
            let rows = self.rows_of(&vertices);
            let contact = GpuContact::new(
                &self.gpu,
                surface,
                &self.tables,
                &|v| rows[v as usize],
                &self.buffers,
                self.count,
                self.collides,
            )?;
            let refused = SolveError::Unsupported {
                backend: "gpu",
                what: "a contact surface of this size",
            };
            self.contact = Some(contact.ok_or(refused)?);
        }
        if let Some(contact) = &mut self.contact {
            contact.configure(&self.gpu, settings);
        }
        let params = Params {
            contact_unit: self.contact.as_ref().map_or(0.0, GpuContact::unit),
            ..Params::new(&self.tables, model, settings, self.count)
        };
        if params != self.params {
            self.params = params;
            let bytes = bytemuck::bytes_of(&self.params);
            self.gpu.queue.write_buffer(&self.buffers.params, 0, bytes);
        }
        Ok(())
    }

    /// Sets what all bodies collide with in the next step; `last` is where it was before.
    pub(crate) fn set_colliders(
        &mut self,
        model: &Model,
        settings: &Settings,
        colliders: &[Collider],
        last: &[ColliderState],
    ) -> Result<(), GpuError> {
        if let Some(what) = colliders::unsupported(colliders) {
            let backend = "gpu";
            return Err(SolveError::Unsupported { backend, what }.into());
        }
        // Nothing touches colliders without a skin.
        self.collides = !colliders.is_empty() && contact::touchable(model).is_some();
        self.configure(model, settings)?;
        if let Some(contact) = &mut self.contact {
            contact.set_colliders(&self.gpu, colliders, last);
        }
        Ok(())
    }

    /// Whether anything may touch.
    pub(crate) fn touches(&self) -> bool {
        self.touches_itself || self.collides
    }

    /// Sets positions and velocities of a body.
    pub fn upload(&self, body: u32, state: &State) {
        let at_row = |list: &[Vec3], v: u32| list.get(v as usize).copied().unwrap_or(Vec3::ZERO);
        let rows = |list: &[Vec3]| -> Vec<[f32; 4]> {
            let of = |&v: &u32| at_row(list, v).extend(0.0).to_array();
            self.tables.vertex_of_row.iter().map(of).collect()
        };
        let mut positions = rows(&state.positions);
        positions.extend(state.fixed.iter().map(|p| p.extend(0.0).to_array()));
        self.write(&self.buffers.positions, body, &positions);
        // The device reads the fixed parts only: where the fixed vertices were before the next step, and the last.
        positions.extend(
            state
                .fixed_previous
                .iter()
                .map(|p| p.extend(0.0).to_array()),
        );
        self.write(&self.buffers.previous, body, &positions);
        self.write(&self.buffers.velocities, body, &rows(&state.velocities));
    }

    /// Sets the contacts that a body has from its last step; `targets` are those of the next.
    pub fn upload_contacts(&self, body: u32, state: &State, targets: &Targets) {
        if let Some(contact) = &self.contact {
            let looked_for = [self.touches_itself, self.collides];
            contact.upload(&self.gpu, body, state, targets, looked_for);
        }
    }

    /// Sets where a body's fixed vertices go in the next step, and what contact follows.
    pub fn set_targets(&self, body: u32, targets: &Targets) {
        let fixed: Vec<[f32; 4]> = targets
            .fixed
            .iter()
            .map(|p| p.extend(0.0).to_array())
            .collect();
        self.write(&self.buffers.targets, body, &fixed);
        let force = |&v: &u32| {
            let force = targets.forces.get(v as usize).copied();
            force.unwrap_or(Vec3::ZERO).extend(0.0).to_array()
        };
        let forces: Vec<[f32; 4]> = self.tables.vertex_of_row.iter().map(force).collect();
        self.write(&self.buffers.external, body, &forces);
        if let Some(contact) = &self.contact {
            contact.set_targets(&self.gpu, body, targets);
        }
    }

    /// From now on the fixed vertices follow [frames](GpuBodies::set_frames) on the device instead of targets, and so does what contact
    /// looks at, if the settings ask for it. `tables` has the fixed vertices first; what comes behind them are samples of the
    /// [skin](crate::GpuSkin) that are not simulated.
    /// `frames` a body, of which the first `rigid` have a turn and the others are matrices.
    pub fn follow(
        &mut self,
        tables: &FollowTables,
        rigid: u32,
        frames: u32,
    ) -> Result<(), GpuError> {
        let fixed = self.params.vertices - self.params.rows;
        let sizes = [fixed, self.count];
        let targets = &self.buffers.targets;
        let touched = self.contact.as_ref().map(GpuContact::followers);
        let follow = Follow::new(&self.gpu, tables, [rigid, frames], sizes, targets, touched)?;
        self.follow = Some(follow);
        Ok(())
    }

    /// Sets the frames of the pose that a body goes to in the next step.
    pub fn set_frames(&self, body: u32, frames: &[Frame]) {
        if let Some(follow) = &self.follow {
            follow.set_frames(&self.gpu, body, frames);
        }
    }

    /// What follows a pose on the device, if anything.
    pub(crate) fn followers(&self) -> Option<&Follow> {
        self.follow.as_ref()
    }

    /// Where a body's fixed vertices go, as the last step had it.
    pub fn request_targets(&self, body: u32) -> Pending {
        let size = 16 * u64::from(self.params.vertices - self.params.rows);
        Pending::new(
            &self.gpu,
            &[(&self.buffers.targets, u64::from(body) * size, size)],
        )
    }

    /// Entries of one body in a buffer of vectors.
    fn write(&self, buffer: &wgpu::Buffer, body: u32, entries: &[[f32; 4]]) {
        let offset = u64::from(body) * 16 * entries.len() as u64;
        let bytes = bytemuck::cast_slice(entries);
        self.gpu.queue.write_buffer(buffer, offset, bytes);
    }

    /// One step of all bodies; returns at once.
    pub fn step(&self) -> Result<(), GpuError> {
        self.submit(&self.whole_step())
    }

    /// Submits parts of a step.
    pub(crate) fn submit(&self, phases: &[Phase]) -> Result<(), GpuError> {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for dispatch in self.plan(phases) {
            self.dispatch(&mut pass, dispatch);
        }
        drop(pass);
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.check()
    }

    fn whole_step(&self) -> Vec<Phase> {
        let mut phases = vec![Phase::Start];
        phases.extend((0..self.iterations).map(|_| Phase::Iterate));
        phases.push(Phase::Finish);
        phases
    }

    fn plan(&self, phases: &[Phase]) -> Vec<Dispatch> {
        let global = match &self.krylov {
            None => vec![Dispatch::PatchSolve],
            Some(krylov) => krylov
                .plan()
                .into_iter()
                .map(|(stage, it)| Dispatch::Krylov(stage, it))
                .collect(),
        };
        let either = |touching, alone| match self.touches() {
            true => Dispatch::Contact(touching),
            false => alone,
        };
        let mut plan = Vec::new();
        for phase in phases {
            match phase {
                Phase::Start => {
                    plan.extend(self.follow.as_ref().map(|_| Dispatch::Follow));
                    plan.push(Dispatch::Predict);
                    let find = [
                        (Touch::Points, self.touches()),
                        (Touch::Boxes, self.touches_itself),
                        (Touch::Search, self.touches_itself),
                        (Touch::Collide, self.collides),
                        (Touch::Answers, self.touches()),
                    ];
                    let wanted = find.into_iter().filter(|(_, is_wanted)| *is_wanted);
                    plan.extend(wanted.map(|(kernel, _)| Dispatch::Contact(kernel)));
                }
                Phase::Iterate => {
                    plan.push(either(Touch::Project, Dispatch::Project));
                    plan.extend_from_slice(&global);
                    let answer = [Touch::Forces, Touch::Shift].map(Dispatch::Contact);
                    plan.extend(answer.into_iter().filter(|_| self.touches()));
                }
                Phase::Finish => plan.push(either(Touch::Finish, Dispatch::Finish)),
            }
        }
        plan
    }

    fn dispatch(&self, pass: &mut wgpu::ComputePass, dispatch: Dispatch) {
        let kernels = &self.gpu.pipelines;
        let (variant, batches) = match self.batched {
            false => (0, self.count),
            true => (1, self.count.div_ceil(BATCH)),
        };
        let by_vertex = self.params.vertices.div_ceil(64);
        let (kernel, bind, groups, bodies): (&Compiled, _, _, _) = match dispatch {
            Dispatch::Krylov(stage, it) => {
                if let Some(krylov) = &self.krylov {
                    krylov.dispatch(pass, stage, it, self.count);
                }
                return;
            }
            Dispatch::Contact(which) => {
                let Some(contact) = &self.contact else { return };
                let (bind, groups) = contact.dispatch(which);
                let kernel = self.gpu.touching().kernel(which);
                (kernel, bind, groups, self.count)
            }
            Dispatch::Follow => match &self.follow {
                Some(follow) => (&kernels.follow, &follow.bind, follow.groups(), self.count),
                None => return,
            },
            Dispatch::Predict => (&kernels.predict, &self.binds.predict, by_vertex, self.count),
            Dispatch::Project => (
                &kernels.project[variant],
                &self.binds.project[variant],
                self.tables.group_count() as u32,
                batches,
            ),
            Dispatch::PatchSolve => (
                &kernels.patch_solve[variant],
                &self.binds.patch_solve[variant],
                self.tables.patch_count() as u32,
                batches,
            ),
            Dispatch::Finish => (&kernels.finish, &self.binds.finish, by_vertex, self.count),
        };
        pass.set_pipeline(&kernel.pipeline);
        pass.set_bind_group(0, bind, &[]);
        pass.dispatch_workgroups(groups, bodies, 1);
    }

    /// Asks for the positions of a body: w holds the squared length of each row's last move.
    pub fn request_positions(&self, body: u32) -> Pending {
        let size = 16 * self.tables.rows() as u64;
        let offset = u64::from(body) * 16 * u64::from(self.params.vertices);
        Pending::new(&self.gpu, &[(&self.buffers.positions, offset, size)])
    }

    /// Asks for positions, then velocities of a body, then its contacts if it may have any, then their rows if some may be with colliders.
    pub(crate) fn request_state(&self, body: u32) -> Pending {
        let size = 16 * self.tables.rows() as u64;
        let offset = u64::from(body) * 16 * u64::from(self.params.vertices);
        let mut ranges = vec![
            (&self.buffers.positions, offset, size),
            (&self.buffers.velocities, u64::from(body) * size, size),
        ];
        if let Some(contact) = self.contact.as_ref().filter(|_| self.touches()) {
            let (offset, size) = contact.range(body);
            ranges.push((&contact.contacts, offset, size));
            if self.collides {
                ranges.push((&contact.rows, offset, size));
            }
        }
        Pending::new(&self.gpu, &ranges)
    }

    /// Takes over what [`GpuBodies::request_state`] was asked for after a step to `targets`.
    pub(crate) fn unpack_state(&self, rows: &[[f32; 4]], targets: &Targets, state: &mut State) {
        let count = self.tables.rows();
        let (positions, rest) = rows.split_at(count.min(rows.len()));
        let (velocities, contacts) = rest.split_at(count.min(rest.len()));
        self.unpack(positions, &mut state.positions);
        self.unpack(velocities, &mut state.velocities);
        state.contact.contacts.clear();
        state.contact.external.clear();
        let Some(contact) = self.contact.as_ref().filter(|_| self.touches()) else {
            return;
        };
        let (contacts, rows) = contacts.split_at(contact.entries().min(contacts.len()));
        if self.touches_itself {
            state.contact.contacts = contact.unpack(contacts, targets, state);
        }
        if self.collides {
            state.contact.external = contact.unpack_touched(contacts, rows, targets, state);
        }
    }

    /// Length of the longest move of a row in the last iteration, of rows of a state \[m\].
    pub(crate) fn last_move(&self, rows: &[[f32; 4]]) -> f32 {
        let moves = rows.iter().take(self.tables.rows()).map(|row| row[3]);
        moves.fold(0.0, f32::max).sqrt()
    }

    /// Vectors in the order of the free vertices, from rows of the device.
    pub fn unpack(&self, rows: &[[f32; 4]], out: &mut [Vec3]) {
        for (row, &v) in rows.iter().zip(&self.tables.vertex_of_row) {
            if v != NO_VERTEX {
                out[v as usize] = Vec3::new(row[0], row[1], row[2]);
            }
        }
    }

    /// Waits for all submitted steps.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.gpu.wait()
    }

    /// Takes a step and waits for it; its time by the device's clock \[ms\], `None` without one.
    pub fn timed_step(&self) -> Result<Option<f64>, GpuError> {
        let Some(mut times) = Timestamps::new(&self.gpu, 1) else {
            self.step()?;
            self.wait()?;
            return Ok(None);
        };
        let plan = self.plan(&self.whole_step());
        Ok(Some(self.timed(&mut times, &[&plan])?.iter().sum()))
    }

    /// Takes a step with a pass for each dispatch: where the time goes \[ms\]. The passes cost time of their own.
    pub fn timed_stages(&self) -> Result<StageTimes, GpuError> {
        let plan = self.plan(&self.whole_step());
        let mut stages = StageTimes::default();
        if let Some(mut times) = Timestamps::new(&self.gpu, plan.len() as u32) {
            let single: Vec<&[Dispatch]> = plan.chunks(1).collect();
            for (dispatch, time) in plan.iter().zip(self.timed(&mut times, &single)?) {
                stages.add(dispatch.stage(), time);
            }
        }
        Ok(stages)
    }

    /// Milliseconds of each pass.
    fn timed(&self, times: &mut Timestamps, passes: &[&[Dispatch]]) -> Result<Vec<f64>, GpuError> {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        for dispatches in passes {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: Some(times.writes()),
            });
            for &dispatch in *dispatches {
                self.dispatch(&mut pass, dispatch);
            }
        }
        times.resolve(&mut encoder);
        self.gpu.queue.submit([encoder.finish()]);
        times.read(&self.gpu)
    }
}
