//! Any number of bodies of one model, stepped together, with their states on the device.

mod plan;

pub(crate) use plan::Phase;

use std::sync::Arc;

use glam::Vec3;
use supple_sim::contact::{Collider, ColliderState};
use supple_sim::follow::Frame;
use supple_sim::{Model, Settings, SolveError, State, Targets};

use crate::buffers::{Binds, Buffers, Params};
use crate::colliders;
use crate::contact::{self, ContactInput, GpuContact};
use crate::follow::{Follow, FollowTables};
use crate::kernels::BATCH;
use crate::krylov::{Krylov, Method};
use crate::tables::{NO_VERTEX, Tables};
use crate::{Gpu, GpuError, Pending};

/// How the global step is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// Stored local inverses: one dispatch, the fastest and most accurate.
    #[default]
    Patches,
    /// An iterative solver, for comparison.
    Iterative(Method),
}

/// Bodies of one model on the device. Every dispatch processes all of them.
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
    /// Whether self-contact is enabled.
    touches_itself: bool,
    /// Whether contact with colliders is enabled.
    collides: bool,
}

impl GpuBodies {
    /// Creates `count` bodies at rest on the device.
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

    /// As [`GpuBodies::new`], with tables built before.
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
        let out_of_memory = pollster::block_on(memory.pop());
        let (buffers, binds, residual) = built?;
        if let Some(error) = out_of_memory {
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

    /// Indices of the model's vertices, free ones first, among a body's positions.
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

    /// Device memory \[bytes\].
    pub fn memory(&self) -> u64 {
        let krylov = self.krylov.as_ref().map_or(0, |krylov| krylov.bytes);
        let follow = self.follow.as_ref().map_or(0, |follow| follow.bytes);
        let contact = self.contact.as_ref().map_or(0, |contact| contact.bytes);
        self.buffers.bytes + krylov + follow + contact
    }

    /// Applies settings that the tables do not depend on: gravity, damping, iterations, contact.
    pub fn configure(&mut self, model: &Model, settings: &Settings) -> Result<(), GpuError> {
        self.iterations = settings.iterations;
        self.touches_itself = contact::wanted(model, settings).is_some();
        let surface = contact::touchable(model).filter(|_| self.touches());
        let fits = |contact: &GpuContact| contact.has_colliders() || !self.collides;
        if let Some(surface) = surface.filter(|_| !self.contact.as_ref().is_some_and(fits)) {
            if self.follow.is_some() {
                let what = "enabling contact after GpuBodies::follow was called";
                let backend = "gpu";
                return Err(SolveError::Unsupported { backend, what }.into());
            }
            let vertices: Vec<u32> = (0..model.vertex_count() as u32).collect();
            let rows = self.rows_of(&vertices);
            let input = ContactInput {
                surface,
                tables: &self.tables,
                row_of: &|v| rows[v as usize],
                buffers: &self.buffers,
                count: self.count,
                has_colliders: self.collides,
            };
            let contact = GpuContact::new(&self.gpu, &input)?;
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

    /// Sets the colliders of all bodies for the next step; `last` are their states in the step before.
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
        // Without a contact surface nothing touches colliders.
        self.collides = !colliders.is_empty() && contact::touchable(model).is_some();
        self.configure(model, settings)?;
        if let Some(contact) = &mut self.contact {
            contact.set_colliders(&self.gpu, colliders, last);
        }
        Ok(())
    }

    /// Whether any contact is enabled.
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
        // The device reads the fixed parts only: fixed vertices before the next step, and before the last one.
        positions.extend(
            state
                .fixed_previous
                .iter()
                .map(|p| p.extend(0.0).to_array()),
        );
        self.write(&self.buffers.previous, body, &positions);
        self.write(&self.buffers.velocities, body, &rows(&state.velocities));
    }

    /// Sets the contacts of a body from its last step; `targets` are those of the next.
    pub fn upload_contacts(&self, body: u32, state: &State, targets: &Targets) {
        if let Some(contact) = &self.contact {
            let enabled = [self.touches_itself, self.collides];
            contact.upload(&self.gpu, body, state, targets, enabled);
        }
    }

    /// Sets a body's targets for the next step: fixed vertices, external forces, and the data of contact.
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

    /// Computes targets of fixed vertices, and of contact if it is enabled, from [frames](GpuBodies::set_frames) on the device from now
    /// on. `tables` has the fixed vertices first, then samples of the [skin](crate::GpuSkin) that are not simulated. Each body has
    /// `frames` frames; the first `rigid` have a rotation, the others are matrices.
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

    /// Sets the frames of a body's pose for the next step.
    pub fn set_frames(&self, body: u32, frames: &[Frame]) {
        if let Some(follow) = &self.follow {
            follow.set_frames(&self.gpu, body, frames);
        }
    }

    /// The tables and frames set up by [`GpuBodies::follow`], if any.
    pub(crate) fn followers(&self) -> Option<&Follow> {
        self.follow.as_ref()
    }

    /// Requests the targets of a body's fixed vertices in the last step.
    pub fn request_targets(&self, body: u32) -> Pending {
        let size = 16 * u64::from(self.params.vertices - self.params.rows);
        Pending::new(
            &self.gpu,
            &[(&self.buffers.targets, u64::from(body) * size, size)],
        )
    }

    /// Writes the entries of one body to a buffer of vectors.
    fn write(&self, buffer: &wgpu::Buffer, body: u32, entries: &[[f32; 4]]) {
        let offset = u64::from(body) * 16 * entries.len() as u64;
        let bytes = bytemuck::cast_slice(entries);
        self.gpu.queue.write_buffer(buffer, offset, bytes);
    }

    /// Requests the positions of a body; w holds the squared length of each row's last motion.
    pub fn request_positions(&self, body: u32) -> Pending {
        let size = 16 * self.tables.rows() as u64;
        let offset = u64::from(body) * 16 * u64::from(self.params.vertices);
        Pending::new(&self.gpu, &[(&self.buffers.positions, offset, size)])
    }

    /// Requests the state of a body: positions, velocities, contacts if enabled, and their rows if there are colliders.
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

    /// Reads the result of [`GpuBodies::request_state`] after a step to `targets`.
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

    /// Largest motion of a row in the last iteration, from the rows of a state \[m\].
    pub(crate) fn last_move(&self, rows: &[[f32; 4]]) -> f32 {
        let moves = rows.iter().take(self.tables.rows()).map(|row| row[3]);
        moves.fold(0.0, f32::max).sqrt()
    }

    /// Converts rows of the device to vectors in the order of the free vertices.
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
}
