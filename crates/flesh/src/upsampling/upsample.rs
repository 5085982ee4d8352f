//! Upsampling from the simulation mesh to the full skin by moving least squares: precomputed weights, applied every frame
//! [3.2.4].

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::ring_normals::{RingNormals, unit};
use supple_geom::simd::{
    Kernel, LANES, Lanes, Row, WIDE, Wide, WideKernel, dispatch, dispatch_wide,
};

use crate::upsampling::upsample_groups::{Groups, Index, Indices};

/// Samples (simulated vertices) that the position of a skin vertex is interpolated from [3.2.4].
pub const NEIGHBOURS: usize = 20;
/// Samples that its normal is interpolated from: linear weights need fewer.
pub const NORMAL_NEIGHBOURS: usize = 8;
/// Skin vertices per parallel task; a multiple of the lanes.
const CHUNK: usize = 1024;

/// Correction of a vertex whose rest position the weights do not reproduce: Σ weight × normal of samples is added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offset {
    /// The skin vertex.
    pub vertex: u32,
    /// Samples and the weights of their normals \[m\].
    pub normals: Vec<(u32, f32)>,
}

/// Weights from simulated vertices to skin vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct Upsampling {
    /// Rings of the simulation mesh, for its normals.
    pub rings: RingNormals,
    /// Number of skin vertices.
    pub count: usize,
    /// Weights of positions.
    pub places: Groups,
    /// Weights of normals.
    pub normals: Groups,
    /// Corrections of details outside the span of the samples, sorted by vertex.
    pub offsets: Vec<Offset>,
}

/// Positions and unit normals of all samples: the input of a frame.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Positions \[m\].
    pub places: Vec<Row>,
    /// Unit normals.
    pub normals: Vec<Row>,
}

/// Sample normals computed per parallel task; a multiple of the lanes.
const NORMAL_CHUNK: usize = 512;

impl Samples {
    /// Fills both from positions; normals are weighted by area.
    pub fn fill(&mut self, rings: &RingNormals, positions: &[Vec3]) {
        self.places.clear();
        self.places
            .extend(positions.iter().map(|p| Row::new(p.to_array())));
        self.normals.resize(positions.len(), Row::default());
        let places = &self.places;
        let chunks = self.normals.par_chunks_mut(NORMAL_CHUNK).enumerate();
        chunks.for_each(|(chunk, normals)| {
            dispatch(SampleNormals {
                rings,
                first: chunk * (NORMAL_CHUNK / LANES),
                places,
                normals,
            });
        });
    }

    /// From a mesh.
    pub fn of(mesh: &TriMesh) -> Self {
        let mut samples = Self::default();
        samples.fill(&RingNormals::new(mesh), &mesh.positions);
        samples
    }
}

struct SampleNormals<'a> {
    rings: &'a RingNormals,
    first: usize,
    places: &'a [Row],
    normals: &'a mut [Row],
}

impl Kernel for SampleNormals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (group, normals) in self.normals.chunks_mut(LANES).enumerate() {
            let rows = L::rows(self.rings.group::<L>(self.first + group, self.places));
            normals.copy_from_slice(&rows[..normals.len()]);
        }
    }
}

impl Upsampling {
    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.rings.len()
    }

    /// Least memory traffic of a frame \[bytes\].
    pub fn bytes_per_frame(&self) -> usize {
        // Simulated positions are read; rows of positions and normals are written and read.
        let samples = self.samples() * (12 + 64) + self.rings.bytes();
        self.places.bytes() + self.normals.bytes() + samples + self.count * 24
    }

    /// Writes positions \[m\] and unit normals of all skin vertices. Both slices must have one element per skin vertex.
    pub fn apply(&self, samples: &Samples, positions: &mut [Vec3], normals: &mut [Vec3]) {
        let output = (positions.par_chunks_mut(CHUNK)).zip(normals.par_chunks_mut(CHUNK));
        output
            .enumerate()
            .for_each(|(chunk, (positions, normals))| {
                match (&self.places.indices, &self.normals.indices) {
                    (Indices::Short(places), Indices::Short(turns)) => {
                        self.carry(chunk, [places, turns], samples, positions, normals);
                    }
                    (Indices::Long(places), Indices::Long(turns)) => {
                        self.carry(chunk, [places, turns], samples, positions, normals);
                    }
                    // Both index the same samples, so both have the same width.
                    _ => {}
                }
            });
    }

    fn carry<I: Index>(
        &self,
        chunk: usize,
        indices: [&[I]; 2],
        samples: &Samples,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        let first = chunk * CHUNK;
        let (start, end) = (first as u32, (first + positions.len()) as u32);
        let below = |bound: u32| self.offsets.partition_point(|offset| offset.vertex < bound);
        let offsets = &self.offsets[below(start)..below(end)];
        dispatch_wide(Carry {
            upsampling: self,
            indices,
            samples,
            first,
            positions: bytemuck::cast_slice_mut(positions),
            normals: bytemuck::cast_slice_mut(normals),
        });
        for offset in offsets {
            let sum = offset.normals.iter().map(|&(sample, weight)| {
                weight * Vec3::from_array(samples.normals[sample as usize].xyz())
            });
            positions[offset.vertex as usize - first] += sum.sum::<Vec3>();
        }
    }
}

/// The kernel: sixteen skin vertices at a time, positions and normals in one pass over a chunk.
struct Carry<'a, I> {
    upsampling: &'a Upsampling,
    indices: [&'a [I]; 2],
    samples: &'a Samples,
    /// First vertex of the chunk.
    first: usize,
    positions: &'a mut [[f32; 3]],
    normals: &'a mut [[f32; 3]],
}

impl<I: Index> WideKernel for Carry<'_, I> {
    type Output = ();

    // Loops, not closures: a closure would not be compiled with the SIMD features of its kernel.
    #[inline(always)]
    fn run<W: Wide>(self) {
        let Upsampling {
            places, normals, ..
        } = self.upsampling;
        let output = (self.positions.chunks_mut(WIDE)).zip(self.normals.chunks_mut(WIDE));
        for (group, (positions, turns)) in output.enumerate() {
            let group = self.first / WIDE + group;
            let place = places.sum::<W, I>(self.indices[0], group, &self.samples.places);
            write_wide(positions, halves(place));
            let turn = normals.sum::<W, I>(self.indices[1], group, &self.samples.normals);
            let [low, high] = halves(turn);
            write_wide(turns, [unit(low), unit(high)]);
        }
    }
}

#[inline(always)]
fn halves<W: Wide>([x, y, z]: [W; 3]) -> [[W::Half; 3]; 2] {
    let ([x, last_x], [y, last_y], [z, last_z]) = (x.halves(), y.halves(), z.halves());
    [[x, y, z], [last_x, last_y, last_z]]
}

#[inline(always)]
fn write_wide<L: Lanes>(vectors: &mut [[f32; 3]], [low, high]: [[L; 3]; 2]) {
    let (first, last) = vectors.split_at_mut(vectors.len().min(LANES));
    write(first, low);
    write(last, high);
}

/// Writes lanes to vectors; a last group may be shorter.
#[inline(always)]
pub(crate) fn write<L: Lanes>(vectors: &mut [[f32; 3]], lanes: [L; 3]) {
    match <&mut [[f32; 3]; LANES]>::try_from(&mut *vectors) {
        Ok(all) => L::write(lanes, all),
        Err(_) => {
            let mut all = [[0.0; 3]; LANES];
            L::write(lanes, &mut all);
            vectors.copy_from_slice(&all[..vectors.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::decimate::{Decimation, decimate};
    use supple_geom::mls::Basis;
    use supple_geom::shapes;

    fn body() -> (TriMesh, Vec<u32>, TriMesh) {
        let mut skin = shapes::icosphere(0.5, 5);
        skin.transform(&glam::Affine3A::from_scale(Vec3::new(0.5, 1.0, 0.3)));
        let settings = Decimation {
            target: 900,
            ..Decimation::default()
        };
        let small = decimate(&skin, &settings);
        (skin, small.kept, small.mesh)
    }

    fn largest_error(motion: impl Fn(Vec3) -> Vec3, basis: Basis) -> f32 {
        let (skin, kept, coarse) = body();
        let upsampling = Upsampling::new(&skin, &kept, &coarse, NEIGHBOURS, basis);
        let moved: Vec<Vec3> = coarse.positions.iter().map(|&p| motion(p)).collect();
        let mut samples = Samples::default();
        samples.fill(&upsampling.rings, &moved);
        let mut positions = vec![Vec3::ZERO; skin.positions.len()];
        let mut normals = positions.clone();
        upsampling.apply(&samples, &mut positions, &mut normals);
        let rest = skin.positions.iter().zip(&positions);
        rest.map(|(&rest, now)| motion(rest).distance(*now))
            .fold(0.0, f32::max)
    }

    #[test]
    fn rest_affine_and_quadratic_motions_are_exact() {
        let turn = glam::Quat::from_rotation_y(2.0);
        for basis in [Basis::Linear, Basis::Quadratic] {
            assert!(largest_error(|p| p, basis) < 5e-6);
            assert!(largest_error(|p| turn * p + Vec3::new(3.0, 1.0, 2.0), basis) < 5e-6);
            let shear = |p: Vec3| Vec3::new(p.x + 0.5 * p.y, 1.3 * p.y - p.z, 0.7 * p.z);
            assert!(largest_error(shear, basis) < 1e-5);
        }
        let bend = |p: Vec3| Vec3::new(p.x + 0.6 * p.y * p.y, p.y - p.x * p.z, p.z + p.x * p.x);
        let error = largest_error(bend, Basis::Quadratic);
        assert!(error < 1e-5, "{error}");
        assert!(largest_error(bend, Basis::Linear) > 1e-4);
    }

    #[test]
    fn normals_rotate_and_threads_do_not_matter() {
        let (skin, kept, coarse) = body();
        let upsampling = Upsampling::new(&skin, &kept, &coarse, NEIGHBOURS, Basis::Quadratic);
        assert!(matches!(upsampling.places.indices, Indices::Short(_)));
        let turn = glam::Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.2);
        let moved: Vec<Vec3> = coarse.positions.iter().map(|&p| turn * p).collect();
        let mut samples = Samples::default();
        samples.fill(&upsampling.rings, &moved);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let mut positions = vec![Vec3::ZERO; skin.positions.len()];
            let mut normals = positions.clone();
            pool.install(|| upsampling.apply(&samples, &mut positions, &mut normals));
            (positions, normals)
        };
        let (one, three) = (run(1), run(3));
        assert!(one == three);
        let expected = supple_geom::normals::vertex_normals(&skin);
        let worst = (one.1.iter().zip(&expected))
            .map(|(now, rest)| now.angle_between(turn * *rest).to_degrees())
            .fold(0.0, f32::max);
        assert!(worst < 3.0, "{worst} degrees");
    }

    #[test]
    fn normals_of_pits_between_samples_are_kept() {
        let mut skin = shapes::icosphere(0.5, 5);
        let mut coarse = shapes::icosphere(0.5, 3);
        // A finer icosphere begins with the vertices of a coarser one.
        let kept: Vec<u32> = (0..coarse.positions.len() as u32).collect();
        coarse.positions = skin.positions[..kept.len()].to_vec();
        // A pit in the middle of every fiftieth simulated triangle.
        for corners in coarse.triangles.iter().step_by(50) {
            let [a, b, c] = corners.map(|v| coarse.positions[v as usize]);
            let centre = 0.5 * (a + b + c).normalize();
            for p in &mut skin.positions[kept.len()..] {
                if p.distance(centre) < 0.03 {
                    *p *= 0.9;
                }
            }
        }
        let upsampling = Upsampling::new(&skin, &kept, &coarse, NEIGHBOURS, Basis::Quadratic);
        let (samples, expected) = (Samples::of(&coarse), Samples::of(&skin));
        let mut positions = vec![Vec3::ZERO; skin.positions.len()];
        let mut normals = positions.clone();
        upsampling.apply(&samples, &mut positions, &mut normals);
        let angle = |(now, rest): (&Vec3, &Row)| {
            let rest = Vec3::from_array(rest.xyz());
            now.angle_between(rest).to_degrees()
        };
        let angles: Vec<f32> = normals.iter().zip(&expected.normals).map(angle).collect();
        let worst = angles.iter().copied().fold(0.0, f32::max);
        assert!(worst < 3.0, "{worst} degrees");
    }

    #[test]
    fn small_shells_are_reproduced() {
        let skin = shapes::icosphere(0.1, 1);
        let settings = Decimation {
            target: 8,
            least_of_shell: 8,
            ..Decimation::default()
        };
        let small = decimate(&skin, &settings);
        let upsampling = Upsampling::new(&skin, &small.kept, &small.mesh, 20, Basis::Quadratic);
        let samples = Samples::of(&small.mesh);
        let mut positions = vec![Vec3::ZERO; skin.positions.len()];
        let mut normals = positions.clone();
        upsampling.apply(&samples, &mut positions, &mut normals);
        for (rest, now) in skin.positions.iter().zip(&positions) {
            assert!(rest.distance(*now) < 1e-5 * 0.2);
        }
    }
}
