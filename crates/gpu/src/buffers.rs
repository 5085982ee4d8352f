//! Device buffers of a model and its bodies.

use bytemuck::{Pod, Zeroable};
use supple_sim::contact::rules;
use supple_sim::inertia::largest_relative_motion;
use supple_sim::material::damping_time;
use supple_sim::{Mode, Model, Settings};

use crate::kernels::{Compiled, Touch};
use crate::tables::{Tables, finite};
use crate::{Gpu, GpuError};

/// The uniform of `kernels/common.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Params {
    pub rows: u32,
    pub vertices: u32,
    pub tets: u32,
    pub bodies: u32,
    pub step: f32,
    pub kept: f32,
    pub per_second: f32,
    pub inertia: f32,
    pub gravity: [f32; 3],
    pub scale: f32,
    pub contact_unit: f32,
    pub pressed_kept: f32,
    pub relative_motion: f32,
    pub damping_time: f32,
}

impl Params {
    pub fn new(tables: &Tables, model: &Model, settings: &Settings, count: u32) -> Params {
        let moving = settings.mode == Mode::Dynamic;
        let of_step = |value: f64| if moving { value as f32 } else { 0.0 };
        Params {
            rows: tables.rows() as u32,
            vertices: (tables.rows() + model.fixed_count()) as u32,
            tets: (tables.shapes.len() / 3) as u32,
            bodies: count,
            step: of_step(settings.step),
            kept: settings.damping_factor() as f32,
            per_second: of_step(1.0 / settings.step),
            inertia: (settings.inertia() * tables.scale) as f32,
            gravity: settings.gravity.to_array(),
            scale: tables.scale as f32,
            contact_unit: 0.0,
            pressed_kept: rules::decay(rules::PRESSED_HALF_LIFE, settings.step as f32),
            relative_motion: finite(largest_relative_motion(settings) as f32),
            damping_time: damping_time(settings) as f32,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Buffers {
    pub params: wgpu::Buffer,
    pub positions: wgpu::Buffer,
    pub previous: wgpu::Buffer,
    pub velocities: wgpu::Buffer,
    pub targets: wgpu::Buffer,
    pub external: wgpu::Buffer,
    pub inertial: wgpu::Buffer,
    pub patches: wgpu::Buffer,
    pub columns: wgpu::Buffer,
    pub inverse: wgpu::Buffer,
    pub units: wgpu::Buffer,
    forces: wgpu::Buffer,
    residual: wgpu::Buffer,
    tets: wgpu::Buffer,
    shapes: wgpu::Buffer,
    row_data: wgpu::Buffer,
    pub bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Binds {
    pub predict: wgpu::BindGroup,
    pub project: [wgpu::BindGroup; 2],
    pub patch_solve: [wgpu::BindGroup; 2],
    pub finish: wgpu::BindGroup,
}

/// A buffer with `contents`, or of `size` zero bytes. It is at least one vector long, since empty buffers cannot be bound.
pub(crate) fn buffer(
    gpu: &Gpu,
    what: &'static str,
    contents: &[u8],
    size: u64,
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, GpuError> {
    let bytes = size.max(contents.len() as u64).max(16);
    let limit = gpu.largest_binding();
    if bytes > limit {
        return Err(GpuError::TooLarge { what, bytes, limit });
    }
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(what),
        size: bytes,
        usage: usage | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    if !contents.is_empty() {
        gpu.queue.write_buffer(&buffer, 0, contents);
    }
    Ok(buffer)
}

impl Buffers {
    /// Buffers, their bind groups, and the residual.
    pub fn new(
        gpu: &Gpu,
        tables: &Tables,
        params: &Params,
        fixed: usize,
        count: u32,
    ) -> Result<(Buffers, Binds, wgpu::Buffer), GpuError> {
        let storage = wgpu::BufferUsages::STORAGE;
        let table = |what, contents| buffer(gpu, what, contents, 0, storage);
        let vectors = |what, entries: usize| {
            let size = 16 * entries as u64 * u64::from(count);
            buffer(gpu, what, &[], size, storage)
        };
        let rows = tables.rows();
        let uniform = wgpu::BufferUsages::UNIFORM;
        let params_buffer = buffer(gpu, "parameters", bytemuck::bytes_of(params), 0, uniform)?;
        let positions = vectors("positions", rows + fixed)?;
        let previous = vectors("previous positions", rows + 2 * fixed)?;
        let velocities = vectors("velocities", rows)?;
        let targets = vectors("targets", fixed)?;
        let external = vectors("external forces", rows)?;
        let inertial = vectors("inertial positions", rows)?;
        let forces = vectors("forces", rows)?;
        let residual = vectors("residual", rows)?;
        let patches = table("patches", bytemuck::cast_slice(&tables.patches))?;
        let tets = table("tets", bytemuck::cast_slice(&tables.tets))?;
        let shapes = table("tet shapes", bytemuck::cast_slice(&tables.shapes))?;
        let columns = table("columns", bytemuck::cast_slice(&tables.columns))?;
        let inverse = table("local inverses", bytemuck::cast_slice(&tables.inverse))?;
        let units = table("units", bytemuck::cast_slice(&tables.units))?;
        let row_data = table("masses", bytemuck::cast_slice(&tables.row_data))?;
        let bind = |kernel: &Compiled, list: &[&wgpu::Buffer]| {
            kernel.bind(
                &gpu.device,
                &params_buffer,
                size_of::<Params>() as u64,
                list,
            )
        };
        let kernels = &gpu.pipelines;
        let binds = Binds {
            predict: bind(
                &kernels.predict,
                &[
                    &positions,
                    &previous,
                    &velocities,
                    &row_data,
                    &targets,
                    &external,
                    &inertial,
                    &forces,
                ],
            ),
            project: kernels.project.each_ref().map(|kernel| {
                bind(
                    kernel,
                    &[
                        &positions, &patches, &tets, &shapes, &inertial, &forces, &residual,
                    ],
                )
            }),
            patch_solve: kernels.patch_solve.each_ref().map(|kernel| {
                bind(
                    kernel,
                    &[&positions, &patches, &columns, &inverse, &residual, &units],
                )
            }),
            finish: bind(&kernels.finish, &[&positions, &previous, &velocities]),
        };
        let all = [
            &params_buffer,
            &positions,
            &previous,
            &velocities,
            &targets,
            &external,
            &inertial,
            &forces,
            &residual,
            &patches,
            &tets,
            &shapes,
            &columns,
            &inverse,
            &units,
            &row_data,
        ];
        let bytes = all.iter().map(|buffer| buffer.size()).sum();
        let buffers = Buffers {
            params: params_buffer,
            positions,
            previous,
            velocities,
            targets,
            external,
            inertial,
            patches,
            columns,
            inverse,
            units,
            forces,
            residual: residual.clone(),
            tets,
            shapes,
            row_data,
            bytes,
        };
        Ok((buffers, binds, residual))
    }

    fn bind(&self, gpu: &Gpu, kernel: &Compiled, list: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        kernel.bind(&gpu.device, &self.params, size_of::<Params>() as u64, list)
    }

    /// Bind group of the local step with contact forces.
    pub fn bind_touching_project(&self, gpu: &Gpu, sums: &wgpu::Buffer) -> wgpu::BindGroup {
        let list = [
            &self.positions,
            &self.patches,
            &self.tets,
            &self.shapes,
            &self.inertial,
            &self.forces,
            &self.residual,
            sums,
        ];
        self.bind(gpu, gpu.touching().kernel(Touch::Project), &list)
    }

    /// Bind group of the response to changes of contact forces.
    pub fn bind_touching_shift(&self, gpu: &Gpu, sums: &wgpu::Buffer) -> wgpu::BindGroup {
        let list = [
            &self.positions,
            &self.patches,
            &self.columns,
            &self.inverse,
            sums,
            &self.units,
        ];
        self.bind(gpu, gpu.touching().kernel(Touch::Shift), &list)
    }

    /// Bind group of the end of a step with contact forces.
    pub fn bind_touching_finish(&self, gpu: &Gpu, sums: &wgpu::Buffer) -> wgpu::BindGroup {
        let list = [
            &self.positions,
            &self.previous,
            &self.velocities,
            sums,
            &self.row_data,
        ];
        self.bind(gpu, gpu.touching().kernel(Touch::Finish), &list)
    }
}
