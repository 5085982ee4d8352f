//! Targets computed on the device from the frames of bones and joints [3.2.2].

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use supple_sim::follow::{Anchor, Follows, Frame};

use crate::buffers::buffer;
use crate::{Gpu, GpuError};

/// How vertices follow frames, as plain data: one record per vertex, the model's fixed vertices first.
#[derive(Clone, Debug, Default)]
pub struct FollowTables {
    records: Vec<[u32; 4]>,
    anchors: Vec<[f32; 4]>,
    slides: Vec<[f32; 4]>,
    bases: Vec<[u32; 2]>,
}

const NO_SLIDE: u32 = u32::MAX;
/// Number of vectors of a slide.
const SLIDE_ROWS: usize = 7;

fn rows(anchor: &Anchor) -> [[f32; 4]; 2] {
    let frame = f32::from_bits(anchor.frame);
    [
        anchor.offset.extend(anchor.weight).to_array(),
        [frame, anchor.t, 0.0, 0.0],
    ]
}

impl FollowTables {
    /// Appends a vertex.
    pub fn push(&mut self, vertex: &Follows) {
        let first = (self.anchors.len() / 2) as u32;
        let counts = vertex.anchors.len() as u32 | (vertex.held.len() as u32) << 16;
        let anchors = vertex.anchors.iter().chain(&vertex.held);
        self.anchors.extend(anchors.flat_map(rows));
        let mut at = NO_SLIDE;
        if let Some(slide) = &vertex.slide {
            at = (self.slides.len() / SLIDE_ROWS) as u32;
            self.slides.extend(rows(&slide.joint));
            self.slides.extend(rows(&slide.bone));
            let [low, high] = slide.capsule;
            let [bone, joint] = slide.clearances;
            let last = Vec3::new(bone, joint, 0.0).extend(0.0);
            let rest = [slide.offset.extend(low), slide.axis.extend(high), last];
            self.slides.extend(rest.map(|row| row.to_array()));
        }
        let share = vertex.share.to_bits();
        self.records.push([first, counts, at, share]);
    }

    /// Appends the base point of the next skin point: on a frame's axis, at `t` from 0 to 1.
    pub fn push_base(&mut self, frame: u32, t: f32) {
        self.bases.push([frame, t.to_bits()]);
    }

    /// Records, then base points in the given order, two per vector.
    fn packed(&self, order: &[u32]) -> Vec<[u32; 4]> {
        let base = |v: &u32| self.bases.get(*v as usize).copied().unwrap_or_default();
        let bases: Vec<[u32; 2]> = order.iter().map(base).collect();
        let pair = |pair: &[[u32; 2]]| {
            let [[a, b], [c, d]] = [pair[0], pair.get(1).copied().unwrap_or_default()];
            [a, b, c, d]
        };
        let bases = bases.chunks(2).map(pair);
        self.records.iter().copied().chain(bases).collect()
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Params {
    records: u32,
    fixed_count: u32,
    frames: u32,
    rigid: u32,
    outside: u32,
    bases: u32,
    pad: [u32; 2],
}

/// Contact data that follows a pose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TouchedPlaces<'a> {
    /// Skin point at each index on the device.
    pub points: &'a [u32],
    /// Base points of all bodies.
    pub bases: &'a wgpu::Buffer,
    /// Skin points outside the model, current and previous, of all bodies.
    pub outside: &'a wgpu::Buffer,
    /// Number of skin points outside the model.
    pub outside_count: u32,
}

/// The tables and the frames of all bodies on the device.
#[derive(Debug)]
pub(crate) struct Follow {
    params: Params,
    frames: wgpu::Buffer,
    /// Positions of vertices outside the model.
    pub places: wgpu::Buffer,
    pub bind: wgpu::BindGroup,
    pub bytes: u64,
}

impl Follow {
    /// `targets` holds `fixed` vertices per body. The first `rigid` of the `frames` have a rotation; the others are matrices. With
    /// contact, the first vertices outside the model must be its skin points.
    pub fn new(
        gpu: &Gpu,
        tables: &FollowTables,
        [rigid, frames]: [u32; 2],
        [fixed, bodies]: [u32; 2],
        targets: &wgpu::Buffer,
        touched: Option<TouchedPlaces>,
    ) -> Result<Follow, GpuError> {
        let points = touched.map_or(&[][..], |touched| touched.points);
        let params = Params {
            records: tables.records.len() as u32,
            fixed_count: fixed,
            frames,
            rigid,
            outside: touched.map_or(0, |touched| touched.outside_count),
            bases: points.len() as u32,
            pad: [0; 2],
        };
        let records = tables.packed(points);
        let storage = wgpu::BufferUsages::STORAGE;
        let table = |what, contents| buffer(gpu, what, contents, 0, storage);
        let vectors = |what, entries: u32| {
            let size = 16 * u64::from(entries) * u64::from(bodies);
            buffer(gpu, what, &[], size, storage)
        };
        let uniform = wgpu::BufferUsages::UNIFORM;
        let parameters = bytemuck::bytes_of(&params);
        let parameters = buffer(gpu, "pose parameters", parameters, 0, uniform)?;
        let frames = vectors("frames", 3 * frames)?;
        let records = table("records", bytemuck::cast_slice(&records))?;
        let anchors = table("anchors", bytemuck::cast_slice(&tables.anchors))?;
        let slides = table("slides", bytemuck::cast_slice(&tables.slides))?;
        let places = vectors("places", params.records.saturating_sub(fixed))?;
        // Every binding needs a buffer, also where nothing is written.
        let unused = [vectors("no outside", 1)?, vectors("no bases", 1)?];
        let [outside, bases] = match &touched {
            Some(touched) => [touched.outside, touched.bases],
            None => unused.each_ref(),
        };
        let bind = gpu.pipelines.follow.bind(
            &gpu.device,
            &parameters,
            size_of::<Params>() as u64,
            &[
                &frames, &records, &anchors, &slides, targets, &places, outside, bases,
            ],
        );
        let all = [&parameters, &frames, &records, &anchors, &slides, &places];
        Ok(Follow {
            params,
            bytes: all.iter().map(|buffer| buffer.size()).sum(),
            frames,
            places,
            bind,
        })
    }

    /// Workgroups per body.
    pub fn groups(&self) -> u32 {
        (self.params.records + self.params.bases).div_ceil(64)
    }

    /// Number of vertices outside the model, per body.
    pub fn place_count(&self) -> u32 {
        self.params.records.saturating_sub(self.params.fixed_count)
    }

    /// Sets the frames of a body's pose; surplus frames are ignored.
    pub fn set_frames(&self, gpu: &Gpu, body: u32, frames: &[Frame]) {
        let kept = frames.len().min(self.params.frames as usize);
        let offset = 48 * u64::from(body) * u64::from(self.params.frames);
        let bytes = bytemuck::cast_slice(&frames[..kept]);
        gpu.queue.write_buffer(&self.frames, offset, bytes);
    }
}
