//! Device buffers of contact, and the bind groups of its kernels.

use crate::buffers::{Buffers, buffer};
use crate::colliders::{MAX_COLLIDERS, RECORD};
use crate::contact::{ContactInput, Params, held_words};
use crate::contact_tables::ContactTables;
use crate::kernels::Touch;
use crate::{Gpu, GpuError};

/// Buffers of all bodies.
pub(crate) struct ContactBuffers {
    pub uniform: wgpu::Buffer,
    rings: wgpu::Buffer,
    records: wgpu::Buffer,
    pub bases: wgpu::Buffer,
    pub outside: wgpu::Buffer,
    skin: wgpu::Buffer,
    boxes: wgpu::Buffer,
    pub contacts: wgpu::Buffer,
    pub rows: wgpu::Buffer,
    sums: wgpu::Buffer,
    pub held_points: wgpu::Buffer,
    /// Present if contacts with colliders are wanted.
    pub colliders: Option<wgpu::Buffer>,
}

impl ContactBuffers {
    pub fn new(
        gpu: &Gpu,
        input: &ContactInput,
        tables: &ContactTables,
        params: &Params,
    ) -> Result<ContactBuffers, GpuError> {
        let (storage, uniform) = (wgpu::BufferUsages::STORAGE, wgpu::BufferUsages::UNIFORM);
        let table = |what, contents| buffer(gpu, what, contents, 0, storage);
        let vectors = |what, entries: u32| {
            let size = 16 * u64::from(entries) * u64::from(input.count);
            buffer(gpu, what, &[], size, storage)
        };
        let bytes = bytemuck::bytes_of(params);
        let words = held_words(params.points as usize) as u64 * u64::from(input.count);
        let records = (16 * RECORD * MAX_COLLIDERS) as u64;
        let colliders = || buffer(gpu, "colliders", &[], records, storage);
        Ok(ContactBuffers {
            uniform: buffer(gpu, "contact parameters", bytes, 0, uniform)?,
            rings: table("contact rings", bytemuck::cast_slice(&tables.rings))?,
            records: table("contact triangles", bytemuck::cast_slice(&tables.records))?,
            bases: vectors("base points", params.points)?,
            outside: vectors("outside points", 2 * params.outside)?,
            skin: vectors("contact points", 4 * params.points)?,
            boxes: vectors("contact boxes", 36 * params.clusters)?,
            contacts: vectors("contacts", 3 * params.entries)?,
            rows: vectors("contact rows", 3 * params.entries)?,
            sums: vectors("contact sums", 2 * input.tables.rows() as u32)?,
            held_points: buffer(gpu, "points that are held", &[], 4 * words, storage)?,
            colliders: input.has_colliders.then(colliders).transpose()?,
        })
    }

    /// Size of all but the list of colliders, and of that \[bytes\].
    pub fn bytes(&self) -> u64 {
        let all = [
            &self.uniform,
            &self.rings,
            &self.records,
            &self.bases,
            &self.outside,
            &self.skin,
            &self.boxes,
            &self.contacts,
            &self.rows,
            &self.sums,
            &self.held_points,
        ];
        let all = all.into_iter().chain(&self.colliders);
        all.map(wgpu::Buffer::size).sum()
    }

    /// Bind groups in the order of [`Touch`]; the last exists only with colliders.
    pub fn binds(&self, gpu: &Gpu, body: &Buffers) -> Vec<wgpu::BindGroup> {
        let kernels = gpu.touching();
        let bind = |kernel: Touch, list: &[&wgpu::Buffer]| {
            let kernel = kernels.kernel(kernel);
            kernel.bind(&gpu.device, &self.uniform, size_of::<Params>() as u64, list)
        };
        let (skin, contacts, rows, sums) = (&self.skin, &self.contacts, &self.rows, &self.sums);
        let mut binds = vec![
            bind(
                Touch::Points,
                &[
                    &body.positions,
                    &body.previous,
                    &body.inertial,
                    &self.rings,
                    &self.outside,
                    &self.bases,
                    skin,
                    sums,
                ],
            ),
            bind(Touch::Boxes, &[&self.records, skin, &self.boxes]),
            bind(
                Touch::Search,
                &[
                    &self.records,
                    skin,
                    &self.boxes,
                    &self.rings,
                    contacts,
                    rows,
                    sums,
                    &self.held_points,
                ],
            ),
            bind(
                Touch::Answers,
                &[
                    contacts,
                    rows,
                    sums,
                    &body.patches,
                    &body.columns,
                    &body.inverse,
                    &body.units,
                ],
            ),
            bind(Touch::Forces, &[&body.positions, contacts, rows, sums]),
            body.bind_touching_project(gpu, sums),
            body.bind_touching_shift(gpu, sums),
            body.bind_touching_finish(gpu, sums),
        ];
        if let Some(list) = &self.colliders {
            let bound = [skin, &self.rings, list, contacts, rows, sums];
            binds.push(bind(Touch::Collide, &bound));
        }
        binds
    }
}
