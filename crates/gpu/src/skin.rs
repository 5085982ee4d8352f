//! The full skin on the device, upsampled from the simulated vertices [3.2.4].

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::buffers::buffer;
use crate::stage_times::Timestamps;
use crate::{Gpu, GpuBodies, GpuError, Pending};

/// Weights from simulated skin vertices ("samples") to vertices of the full skin, as plain data.
#[derive(Clone, Debug, Default)]
pub struct SkinTables {
    /// Vertex of the model at each sample, free ones first; `None` if the sample is not simulated and its position is
    /// [given](GpuSkin::set_given).
    pub vertices: Vec<Option<u32>>,
    /// Triangles of samples, for their normals.
    pub triangles: Vec<[u32; 3]>,
    /// Samples per skin vertex.
    pub neighbours: usize,
    /// Samples of every skin vertex, `neighbours` each; those with a weight for normals should come first.
    pub indices: Vec<u32>,
    /// Their weights for positions and for normals.
    pub weights: Vec<[f32; 2]>,
    /// Corrections of skin vertices: weights of their samples' normals, added to the position \[m\].
    pub extras: Vec<(u32, Vec<f32>)>,
    /// Skin vertices that also follow the pose, and their blend factors; their positions are given after those of the samples.
    pub kinematic: Vec<(u32, f32)>,
}

impl SkinTables {
    /// Number of given positions: samples, then vertices of the skin.
    pub fn given(&self) -> usize {
        self.vertices.iter().filter(|v| v.is_none()).count() + self.kinematic.len()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Params {
    samples: u32,
    skin: u32,
    neighbours: u32,
    vertices: u32,
    given: u32,
    normal_entries: u32,
    pad: [u32; 2],
}

/// Most samples: their indices have two bytes.
const MAX_SAMPLES: usize = 1 << 16;
/// Integer weight of 1 for normals: two bytes for −8 to 8.
const NORMAL_WEIGHT_SCALE: f32 = 4096.0;
/// Largest integer weight for positions.
const MAX_WEIGHT: f64 = 32766.0;
const NO_EXTRA: u32 = 0xff_ffff;
/// The entries of a vertex are padded to a multiple of this: the number that the kernel reads at once.
const ENTRY_MULTIPLE: usize = 4;

/// The full skin of all bodies.
#[derive(Debug)]
pub struct GpuSkin {
    gpu: Arc<Gpu>,
    params: Params,
    count: u32,
    samples: wgpu::BindGroup,
    upsample: wgpu::BindGroup,
    given: wgpu::Buffer,
    skin: wgpu::Buffer,
    bytes: u64,
}

impl GpuSkin {
    /// Uploads the tables. If the bodies [follow](GpuBodies::follow) poses on the device with the same number of vertices outside
    /// the model, the given positions need not be set.
    pub fn new(bodies: &GpuBodies, tables: &SkinTables) -> Result<GpuSkin, GpuError> {
        let gpu = bodies.gpu();
        let samples = tables.vertices.len();
        if samples > MAX_SAMPLES {
            return Err(GpuError::TooLarge {
                what: "simulated skin vertices",
                bytes: samples as u64,
                limit: MAX_SAMPLES as u64,
            });
        }
        let skin = tables.indices.len() / tables.neighbours.max(1);
        let params = Params {
            samples: samples as u32,
            skin: skin as u32,
            neighbours: tables.neighbours.next_multiple_of(ENTRY_MULTIPLE) as u32,
            vertices: bodies.vertices(),
            given: tables.given() as u32,
            normal_entries: normal_entries(tables) as u32,
            pad: [0; 2],
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let table = |what, contents| buffer(gpu, what, contents, 0, storage);
        let vectors = |what, entries: usize| {
            let size = 16 * entries as u64 * u64::from(bodies.count());
            buffer(gpu, what, &[], size, storage)
        };
        let rows = places(bodies, &tables.vertices);
        let (places, rings) = rings(&rows, &tables.triangles);
        let (mut extra_of, extras) = extras(tables, skin);
        let (entries, exponents) = entries(tables, skin);
        for (word, exponent) in extra_of.iter_mut().zip(exponents) {
            *word |= exponent << 24;
        }
        let normal_weights = normal_weights(tables, skin);
        let uniform = wgpu::BufferUsages::UNIFORM;
        let params_buffer = buffer(
            gpu,
            "skin parameters",
            bytemuck::bytes_of(&params),
            0,
            uniform,
        )?;
        let places = table("samples", bytemuck::cast_slice(&places))?;
        let rings = table("rings", bytemuck::cast_slice(&rings))?;
        let entries = table("skin weights", bytemuck::cast_slice(&entries))?;
        let normal_weights = table("normal weights", bytemuck::cast_slice(&normal_weights))?;
        let extra_of = table("skin details", bytemuck::cast_slice(&extra_of))?;
        let extras = table("detail weights", bytemuck::cast_slice(&extras))?;
        let data = vectors("sample data", 2 * samples)?;
        let given = match bodies.followers() {
            Some(follow) if follow.place_count() == params.given => follow.places.clone(),
            _ => vectors("given places", params.given as usize)?,
        };
        let skin = vectors("skin", skin)?;
        let size = size_of::<Params>() as u64;
        let kernels = &gpu.pipelines;
        let samples = kernels.skin_samples.bind(
            &gpu.device,
            &params_buffer,
            size,
            &[bodies.positions(), &places, &rings, &given, &data],
        );
        let upsample = kernels.upsample.bind(
            &gpu.device,
            &params_buffer,
            size,
            &[
                &data,
                &entries,
                &extra_of,
                &extras,
                &skin,
                &given,
                &normal_weights,
            ],
        );
        let all = [
            &places,
            &rings,
            &entries,
            &normal_weights,
            &extra_of,
            &extras,
            &given,
            &data,
            &skin,
        ];
        Ok(GpuSkin {
            gpu: gpu.clone(),
            params,
            count: bodies.count(),
            samples,
            upsample,
            bytes: all.iter().map(|buffer| buffer.size()).sum(),
            given,
            skin,
        })
    }

    /// Device memory \[bytes\].
    pub fn memory(&self) -> u64 {
        self.bytes
    }

    /// Sets the given positions of a body \[m\].
    pub fn set_given(&self, body: u32, places: &[Vec3]) {
        let vectors: Vec<[f32; 4]> = places.iter().map(|p| p.extend(0.0).to_array()).collect();
        let offset = 16 * u64::from(body) * u64::from(self.params.given);
        let bytes = bytemuck::cast_slice(&vectors);
        self.gpu.queue.write_buffer(&self.given, offset, bytes);
    }

    /// Computes the skin of all bodies; returns immediately.
    pub fn update(&self) -> Result<(), GpuError> {
        self.submit(None)
    }

    /// As [`GpuSkin::update`], but waits, and returns the device time \[ms\]; `None` without timestamps.
    pub fn timed_update(&self) -> Result<Option<f64>, GpuError> {
        let Some(mut times) = Timestamps::new(&self.gpu, 1) else {
            self.update()?;
            self.gpu.wait()?;
            return Ok(None);
        };
        self.submit(Some(&mut times))?;
        Ok(Some(times.read(&self.gpu)?.iter().sum()))
    }

    fn submit(&self, mut times: Option<&mut Timestamps>) -> Result<(), GpuError> {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: None,
            timestamp_writes: times.as_mut().map(|times| times.writes()),
        });
        let kernels = &self.gpu.pipelines;
        pass.set_pipeline(&kernels.skin_samples.pipeline);
        pass.set_bind_group(0, &self.samples, &[]);
        pass.dispatch_workgroups(self.params.samples.div_ceil(64), self.count, 1);
        pass.set_pipeline(&kernels.upsample.pipeline);
        pass.set_bind_group(0, &self.upsample, &[]);
        pass.dispatch_workgroups(self.params.skin.div_ceil(64), self.count, 1);
        drop(pass);
        if let Some(times) = times {
            times.resolve(&mut encoder);
        }
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.check()
    }

    /// Requests a body's skin, for [`unpack_skin`].
    pub fn request(&self, body: u32) -> Pending {
        let size = 16 * u64::from(self.params.skin);
        Pending::new(&self.gpu, &[(&self.skin, u64::from(body) * size, size)])
    }
}

/// Position and unit normal of a skin vertex that was read back; a zero normal if it is undefined. See `kernels/upsample.wgsl`.
pub fn unpack_skin([x, y, z, facing]: [f32; 4]) -> (Vec3, Vec3) {
    const NOWHERE: u32 = 0x8000_8000;
    let word = facing.to_bits();
    let coordinate = |half: u32| f32::from(half as u16 as i16) / 32767.0;
    let (u, v) = (coordinate(word), coordinate(word >> 16));
    // The lower half of the octahedron is folded outwards.
    let w = 1.0 - u.abs() - v.abs();
    let under = (-w).max(0.0);
    let fold = |c: f32| c - under.copysign(c);
    let normal = match word {
        NOWHERE => Vec3::ZERO,
        _ => Vec3::new(fold(u), fold(v), w).normalize_or_zero(),
    };
    (Vec3::new(x, y, z), normal)
}

/// Marks indices of given positions.
const GIVEN: u32 = 1 << 31;

/// Indices of the samples: rows on the device, or given positions.
fn places(bodies: &GpuBodies, vertices: &[Option<u32>]) -> Vec<u32> {
    let simulated: Vec<u32> = vertices.iter().filter_map(|v| *v).collect();
    let mut rows = bodies.rows_of(&simulated).into_iter();
    let mut given = GIVEN..;
    let place = |v: &Option<u32>| match v {
        Some(_) => rows.next(),
        None => given.next(),
    };
    vertices.iter().filter_map(place).collect()
}

/// Rows of the samples with the offsets of their rings, and the rings: the other two corners of each triangle.
fn rings(rows: &[u32], triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<[u32; 2]>) {
    let mut of: Vec<Vec<[u32; 2]>> = vec![Vec::new(); rows.len()];
    for &[a, b, c] in triangles {
        for [a, b, c] in [[a, b, c], [b, c, a], [c, a, b]] {
            of[a as usize].push([rows[b as usize], rows[c as usize]]);
        }
    }
    let mut places = rows.to_vec();
    let mut at = 0;
    places.push(at);
    for ring in &of {
        at += ring.len() as u32;
        places.push(at);
    }
    (places, of.concat())
}

/// Number of leading entries per vertex that contain all weights for normals.
fn normal_entries(tables: &SkinTables) -> usize {
    let rows = tables.weights.chunks(tables.neighbours.max(1));
    let last = rows.filter_map(|row| row.iter().rposition(|[_, normal]| *normal != 0.0));
    last.max()
        .map_or(0, |last| (last + 1).next_multiple_of(ENTRY_MULTIPLE))
}

/// Samples and weights of all vertices, and the exponents of their units. A weight is an integer multiple of its vertex's unit,
/// a power of two. Weights that already are such multiples are unchanged, and sums always are.
fn entries(tables: &SkinTables, skin: usize) -> (Vec<u32>, Vec<u32>) {
    let count = tables.neighbours.next_multiple_of(ENTRY_MULTIPLE);
    let (mut entries, mut exponents) = (vec![0; count * skin], Vec::with_capacity(skin));
    for v in 0..skin {
        let own = v * tables.neighbours..(v + 1) * tables.neighbours;
        let (indices, weights) = (&tables.indices[own.clone()], &tables.weights[own]);
        let largest = weights.iter().fold(1e-3_f32, |m, [w, _]| m.max(w.abs()));
        let exponent = (f64::from(largest) / MAX_WEIGHT).log2().ceil();
        let unit = exponent.exp2();
        exponents.push((exponent as i32 + 127) as u32);
        let exact = || weights.iter().map(|[w, _]| f64::from(*w) / unit);
        let mut whole: Vec<f64> = exact().map(f64::round).collect();
        let left = (exact().sum::<f64>() - whole.iter().sum::<f64>()).round();
        let heaviest = (0..whole.len()).max_by(|&a, &b| whole[a].abs().total_cmp(&whole[b].abs()));
        if let Some(heaviest) = heaviest {
            whole[heaviest] += left;
        }
        for k in 0..count {
            // Padding repeats the first sample with zero weight.
            let sample = indices.get(k).or(indices.first()).copied().unwrap_or(0);
            let weight = whole.get(k).copied().unwrap_or(0.0) as i16;
            entries[k * skin + v] = sample | u32::from(weight as u16) << 16;
        }
    }
    (entries, exponents)
}

/// Weights of normals, two per word.
fn normal_weights(tables: &SkinTables, skin: usize) -> Vec<u32> {
    let weight = |v: usize, k: usize| {
        let found = (k < tables.neighbours).then(|| tables.weights[v * tables.neighbours + k][1]);
        let whole = (found.unwrap_or(0.0) * NORMAL_WEIGHT_SCALE).round();
        u32::from(whole.clamp(-32768.0, 32767.0) as i16 as u16)
    };
    let pairs = (0..normal_entries(tables)).step_by(2);
    pairs
        .flat_map(|k| (0..skin).map(move |v| weight(v, k) | weight(v, k + 1) << 16))
        .collect()
}

/// The block of each vertex, if it has one, and the blocks: blend factor and index of the given position, weights of normals.
fn extras(tables: &SkinTables, skin: usize) -> (Vec<u32>, Vec<f32>) {
    let mut of = vec![NO_EXTRA; skin];
    let mut blocks: Vec<Vec<f32>> = Vec::new();
    let mut block_of = |vertex: u32, blocks: &mut Vec<Vec<f32>>| -> usize {
        let of = &mut of[vertex as usize];
        if *of == NO_EXTRA {
            *of = blocks.len() as u32;
            blocks.push(vec![
                0.0;
                tables.neighbours.next_multiple_of(ENTRY_MULTIPLE) + 2
            ]);
        }
        *of as usize
    };
    for (vertex, weights) in &tables.extras {
        let block = block_of(*vertex, &mut blocks);
        let places = blocks[block][2..].iter_mut();
        places.zip(weights).for_each(|(place, w)| *place = *w);
    }
    let first = tables.given() - tables.kinematic.len();
    for (k, &(vertex, share)) in tables.kinematic.iter().enumerate() {
        let block = block_of(vertex, &mut blocks);
        blocks[block][0] = share;
        blocks[block][1] = f32::from_bits((first + k) as u32);
    }
    (of, blocks.concat())
}
