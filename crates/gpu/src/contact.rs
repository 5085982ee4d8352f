//! Contact on the device, with the skin itself and with colliders: detection, persistence and forces, as in
//! supple-sim's contact module.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use supple_sim::contact::{Collider, ColliderState, Contact, ExternalForce, Source, rules};
use supple_sim::{ContactSurface, Mode, Model, Settings, State, Targets};

use crate::buffers::Buffers;
use crate::colliders::{self, SLOTS};
use crate::contact_buffers::ContactBuffers;
use crate::contact_rules::{GIVE_WAY_RATE, NONE};
use crate::contact_tables::{ContactTables, depth_at_rest};
use crate::follow::TouchedPlaces;
use crate::kernels::Touch;
use crate::patches::{GROUP, PATCH};
use crate::tables::Tables;
use crate::{Gpu, GpuError};

/// The uniform of `kernels/contact.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Params {
    pub points: u32,
    triangles: u32,
    pub clusters: u32,
    pub outside: u32,
    rows: u32,
    vertices: u32,
    corners: u32,
    shell: f32,
    gap: f32,
    edge: f32,
    friction: f32,
    recovery: f32,
    unit: f32,
    most: f32,
    pub entries: u32,
    colliders: u32,
    fast_way: f32,
    giving_way: f32,
    covers: u32,
    pad: u32,
}

impl ContactInput<'_> {
    /// The uniform; what depends on settings is [configured](GpuContact::configure).
    fn params(&self, contact: &ContactTables) -> Params {
        let surface = self.surface;
        let slots = if self.has_colliders { SLOTS } else { 0 };
        let points = surface.point_count();
        let vertices = self.buffers.positions.size() / 16 / u64::from(self.count.max(1));
        Params {
            points: points as u32,
            triangles: contact.triangles.len() as u32,
            clusters: contact.clusters() as u32,
            outside: surface.rest_outside().len() as u32,
            rows: self.tables.rows() as u32,
            vertices: vertices as u32,
            corners: contact.corners,
            shell: surface.shell(),
            gap: surface.gap(),
            edge: surface.mean_edge(),
            friction: 0.0,
            recovery: 0.0,
            unit: largest_force(surface, self.tables, self.row_of) / FORCE_UNITS,
            most: MAX_FORCE_UNITS,
            entries: ((1 + slots) * points) as u32,
            colliders: 0,
            fast_way: 0.0,
            giving_way: 0.0,
            covers: contact.covers,
            pad: 0,
        }
    }
}

/// Integer units in the largest force of a typical skin point: the force that pushes it to its bone line.
const FORCE_UNITS: f32 = 4_194_304.0;
/// Largest force of a contact in units: sums of a hundred contacts fit into 32 bits.
const MAX_FORCE_UNITS: f32 = 4.0 * FORCE_UNITS;

/// Tables and contacts of all bodies on the device.
#[derive(Debug)]
pub(crate) struct GpuContact {
    tables: ContactTables,
    params: Params,
    uniform: wgpu::Buffer,
    /// Where each point of the surface gets its position from.
    sources: Vec<Source>,
    corners: Vec<[u32; 3]>,
    bases: wgpu::Buffer,
    outside: wgpu::Buffer,
    pub contacts: wgpu::Buffer,
    pub rows: wgpu::Buffer,
    held_points: wgpu::Buffer,
    /// Present if contacts with colliders are wanted.
    colliders: Option<wgpu::Buffer>,
    /// In the order of [`Touch`]; the last exists only with colliders.
    binds: Vec<wgpu::BindGroup>,
    pub bytes: u64,
    /// Factor from forces \[N\] to those of the scaled system.
    scale: f32,
}

/// What contact is made for.
pub(crate) struct ContactInput<'a> {
    pub surface: &'a ContactSurface,
    pub tables: &'a Tables,
    /// Row of each vertex on the device.
    pub row_of: &'a dyn Fn(u32) -> u32,
    pub buffers: &'a Buffers,
    /// Number of bodies.
    pub count: u32,
    /// Whether contacts with colliders are wanted.
    pub has_colliders: bool,
}

impl GpuContact {
    /// Tables, buffers and bind groups of a contact surface; `None` if the device's numbers cannot hold it.
    pub fn new(gpu: &Gpu, input: &ContactInput) -> Result<Option<GpuContact>, GpuError> {
        let Some(tables) = ContactTables::new(input.surface, input.row_of) else {
            return Ok(None);
        };
        let params = input.params(&tables);
        let buffers = ContactBuffers::new(gpu, input, &tables, &params)?;
        Ok(Some(GpuContact {
            bytes: buffers.bytes(),
            binds: buffers.binds(gpu, input.buffers),
            params,
            sources: input.surface.input().sources.clone(),
            corners: input.surface.triangles().to_vec(),
            tables,
            uniform: buffers.uniform,
            bases: buffers.bases,
            outside: buffers.outside,
            contacts: buffers.contacts,
            rows: buffers.rows,
            held_points: buffers.held_points,
            colliders: buffers.colliders,
            scale: input.tables.scale as f32,
        }))
    }

    /// Force of one unit of the sums, of the scaled system.
    pub fn unit(&self) -> f32 {
        self.params.unit
    }

    /// Number of vectors of a body's contacts.
    pub fn entries(&self) -> usize {
        3 * self.params.entries as usize
    }

    /// Whether there are slots for contacts with colliders.
    pub fn has_colliders(&self) -> bool {
        self.colliders.is_some()
    }

    /// Sets the colliders and their previous poses.
    pub fn set_colliders(&mut self, gpu: &Gpu, colliders: &[Collider], last: &[ColliderState]) {
        let Some(buffer) = &self.colliders else {
            return;
        };
        write(gpu, buffer, 0, &colliders::records(colliders, last));
        self.params.colliders = colliders.len() as u32;
        let bytes = bytemuck::bytes_of(&self.params);
        gpu.queue.write_buffer(&self.uniform, 0, bytes);
    }

    /// Buffers that follow poses on the device.
    pub fn followers(&self) -> TouchedPlaces<'_> {
        TouchedPlaces {
            points: &self.tables.points,
            bases: &self.bases,
            outside: &self.outside,
            outside_count: self.params.outside,
        }
    }

    /// Applies settings.
    pub fn configure(&mut self, gpu: &Gpu, settings: &Settings) {
        let (contact, step) = (&settings.contact, settings.step as f32);
        let params = Params {
            friction: contact.friction,
            fast_way: rules::SLIDE_SPEED * self.params.edge * step,
            giving_way: GIVE_WAY_RATE * step,
            recovery: match settings.mode {
                Mode::Dynamic => contact.recovery * settings.step as f32,
                Mode::Static => 1e30,
            },
            ..self.params
        };
        if params != self.params {
            self.params = params;
            let bytes = bytemuck::bytes_of(&self.params);
            gpu.queue.write_buffer(&self.uniform, 0, bytes);
        }
    }

    /// Bind group, and workgroups per body.
    pub fn dispatch(&self, kernel: Touch) -> (&wgpu::BindGroup, u32) {
        let p = &self.params;
        let groups = match kernel {
            Touch::Points => p.points.max(p.rows).div_ceil(64),
            Touch::Boxes => p.clusters,
            Touch::Search => p.points.div_ceil(32),
            Touch::Answers => p.entries.div_ceil(8),
            Touch::Forces => p.entries.div_ceil(64),
            Touch::Collide => p.points.div_ceil(64),
            Touch::Project => p.rows / GROUP as u32,
            Touch::Shift => p.rows / PATCH as u32,
            Touch::Finish => p.vertices.div_ceil(64),
        };
        (&self.binds[kernel as usize], groups)
    }

    /// Sets a body's base points, and its skin points outside the model, for the next step.
    pub fn set_targets(&self, gpu: &Gpu, body: u32, targets: &Targets) {
        let at = |v: &u32| targets.bases.get(*v as usize).copied().unwrap_or_default();
        let bases: Vec<[f32; 4]> = self.tables.points.iter().map(|v| row(at(v))).collect();
        write(
            gpu,
            &self.bases,
            u64::from(body) * bases.len() as u64,
            &bases,
        );
        let places = 2 * u64::from(body) * u64::from(self.params.outside);
        write(
            gpu,
            &self.outside,
            places,
            &self.outside_rows(&targets.outside),
        );
    }

    /// Uploads a body's contacts after its last step (with itself, and with colliders if wanted), and the positions of
    /// its skin points outside the model at that time.
    pub fn upload(
        &self,
        gpu: &Gpu,
        body: u32,
        state: &State,
        targets: &Targets,
        [with_itself, with_colliders]: [bool; 2],
    ) {
        let points = self.tables.points.len();
        let mut rows = vec![[0.0; 4]; 3 * self.params.entries as usize];
        for rows in rows.chunks_exact_mut(3) {
            rows[1][3] = f32::from_bits(NONE);
        }
        if with_colliders {
            self.upload_touched(&state.contact.external, &mut rows);
        }
        let own_contacts = state.contact.contacts.iter().filter(|_| with_itself);
        for contact in own_contacts {
            let place = self.tables.place_of_point.get(contact.point as usize);
            let triangle = self.tables.place_of_triangle.get(contact.triangle as usize);
            let (Some(&place), Some(&triangle)) = (place, triangle) else {
                continue;
            };
            let own = &mut rows[3 * place as usize..][..3];
            let [x, y, z, _] = own[2];
            let force = contact.force * self.scale;
            // There is one slot per point: it takes the contact that presses most.
            let is_taken = own[1][3].to_bits() != NONE;
            if is_taken && Vec3::new(x, y, z).length_squared() >= force.length_squared() {
                continue;
            }
            let [u, v, w] = contact.weights;
            own[0] = contact.normal.extend(contact.distance).to_array();
            own[1] = [u, v, w, f32::from_bits(triangle)];
            own[2] = row(force);
        }
        write(
            gpu,
            &self.contacts,
            u64::from(body) * rows.len() as u64,
            &rows,
        );
        let mut held = vec![0_u32; held_words(points)];
        let last_word = held.len() - 1;
        held[last_word] = (1.0 - state.contact.lost_contacts.recovery_factor()).to_bits();
        for (k, &point) in self.tables.points.iter().enumerate() {
            if state.contact.lost_contacts.is_held(point) {
                held[k / 32] |= 1 << (k % 32);
            }
        }
        let offset = 4 * u64::from(body) * held.len() as u64;
        let bytes = bytemuck::cast_slice(&held);
        gpu.queue.write_buffer(&self.held_points, offset, bytes);
        let last = &state.contact.outside;
        let is_known = last.len() == targets.outside.len();
        let before = if is_known { last } else { &targets.outside };
        let outside = u64::from(self.params.outside);
        let places = 2 * u64::from(body) * outside + outside;
        write(gpu, &self.outside, places, &self.outside_rows(before));
    }

    /// Contacts with colliders, each in a free slot of its point.
    fn upload_touched(&self, external: &[ExternalForce], rows: &mut [[f32; 4]]) {
        let first = self.tables.points.len();
        for force in external {
            let Some((vertex, number)) = colliders::known(force) else {
                continue;
            };
            let is_point = |source: &Source| *source == Source::Vertex(vertex);
            let Some(point) = self.sources.iter().position(is_point) else {
                continue;
            };
            let place = self.tables.place_of_point[point] as usize;
            let places = rows[3 * (first + SLOTS * place)..].chunks_exact_mut(3);
            let mut places = places.take(SLOTS);
            if let Some(own) = places.find(|own| own[1][3].to_bits() == NONE) {
                own[0] = row(force.contact.normal);
                own[1] = [force.contact.friction, 0.0, 0.0, f32::from_bits(number)];
                own[2] = row(force.force * self.scale);
            }
        }
    }

    fn outside_rows(&self, list: &[Vec3]) -> Vec<[f32; 4]> {
        let at = |i: usize| list.get(i).copied().unwrap_or_default();
        let count = self.params.outside as usize;
        (0..count).map(|i| row(at(i))).collect()
    }

    /// Byte offset and size of a body's contacts and of their rows.
    pub fn range(&self, body: u32) -> (u64, u64) {
        let size = 48 * u64::from(self.params.entries);
        (u64::from(body) * size, size)
    }

    /// Contacts of a body with colliders, sorted by collider and vertex, from its contacts and their rows; `state` has
    /// the positions at the end of the step and the colliders at its beginning.
    pub fn unpack_touched(
        &self,
        contacts: &[[f32; 4]],
        rows: &[[f32; 4]],
        targets: &Targets,
        state: &State,
    ) -> Vec<ExternalForce> {
        let first = 3 * self.tables.points.len();
        let both = contacts.iter().zip(rows).skip(first);
        let both: Vec<([f32; 4], [f32; 4])> = both.map(|(a, b)| (*a, *b)).collect();
        let mut found = Vec::new();
        for (k, both) in both.chunks_exact(3).enumerate() {
            let own = [both[0].0, both[1].0, both[2].0];
            let point = self.tables.points[k / SLOTS] as usize;
            let Source::Vertex(vertex) = self.sources[point] else {
                continue;
            };
            let [x, y, z, _] = both[1].1;
            let (foot, last) = (-Vec3::new(x, y, z), &state.contact.colliders);
            let contact = colliders::contact_with(&targets.colliders, last, vertex, &own, foot);
            let Some(mut contact) = contact else { continue };
            let Some(position) = state.positions.get(vertex as usize) else {
                continue;
            };
            contact.force /= self.scale;
            // Feet are in front of their colliders by the gap.
            let apart = *position - foot;
            contact.distance = apart.dot(contact.contact.normal) + self.params.gap;
            found.push(contact);
        }
        found.sort_by_key(|force| (force.contact.body, force.contact.vertices));
        found
    }

    /// Contacts of a body from its rows, sorted by point; `state` has the positions at the end of the step.
    pub fn unpack(&self, rows: &[[f32; 4]], targets: &Targets, state: &State) -> Vec<Contact> {
        let free = state.positions.len();
        let position = |v: u32| {
            let found = match self.sources[v as usize] {
                Source::Vertex(v) if (v as usize) < free => state.positions.get(v as usize),
                Source::Vertex(v) => targets.fixed.get(v as usize - free),
                Source::Outside(i) => targets.outside.get(i as usize),
            };
            found.copied().unwrap_or_default()
        };
        let mut contacts = Vec::new();
        // Contacts with colliders follow.
        for (rows, &point) in rows.chunks_exact(3).zip(&self.tables.points) {
            let [u, v, w, triangle] = rows[1];
            let triangle = self.tables.triangles.get(triangle.to_bits() as usize);
            let Some(&triangle) = triangle else { continue };
            let vector = |[x, y, z, _]: [f32; 4]| Vec3::new(x, y, z);
            let (normal, weights) = (vector(rows[0]), [u, v, w]);
            let corners = self.corners[triangle as usize].iter().zip(weights);
            let foot: Vec3 = corners.map(|(&v, w)| position(v) * w).sum();
            contacts.push(Contact {
                point,
                triangle,
                weights,
                normal,
                force: vector(rows[2]) / self.scale,
                distance: (position(point) - foot).dot(normal),
            });
        }
        contacts.sort_unstable_by_key(|contact| contact.point);
        contacts
    }
}

fn row(v: Vec3) -> [f32; 4] {
    v.extend(0.0).to_array()
}

/// Writes vectors from an index on.
fn write(gpu: &Gpu, buffer: &wgpu::Buffer, first: u64, rows: &[[f32; 4]]) {
    gpu.queue
        .write_buffer(buffer, 16 * first, bytemuck::cast_slice(rows));
}

/// Force that pushes the stiffest skin point to its bone line, of the scaled system.
fn largest_force(surface: &ContactSurface, tables: &Tables, row_of: &dyn Fn(u32) -> u32) -> f32 {
    let of = |(point, source): (usize, &Source)| match *source {
        Source::Vertex(v) if (row_of(v) as usize) < tables.rows() => {
            depth_at_rest(surface, point as u32) / tables.inverse_diagonal(row_of(v) as usize)
        }
        _ => 0.0,
    };
    let forces = surface.input().sources.iter().enumerate().map(of);
    let largest = forces.filter(|f| f.is_finite()).fold(0.0, f32::max);
    if largest > 0.0 { largest } else { 1.0 }
}

/// The skin that can have contacts, with itself or with colliders, if there is any.
pub(crate) fn touchable(model: &Model) -> Option<&ContactSurface> {
    let surface = model.contact_surface();
    surface.filter(|surface| !surface.triangles().is_empty())
}

/// The contact surface if a step of the model has self-contact.
pub(crate) fn wanted<'a>(model: &'a Model, settings: &Settings) -> Option<&'a ContactSurface> {
    let is_on = settings.contact.mode != supple_sim::ContactMode::Off;
    touchable(model).filter(|_| is_on)
}

/// Words per body: one bit per point that is held, and the reduction of the recovery speed of the others.
pub(crate) fn held_words(points: usize) -> usize {
    points.div_ceil(32) + 1
}
