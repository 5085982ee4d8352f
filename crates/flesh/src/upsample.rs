//! From the simulation mesh to the full skin by moving least squares: weights that are applied every frame [3.2.4].
//!
//! Eight skin vertices that lie together share most of the simulated vertices they listen to, so a group of eight has one
//! list of those and a weight for each pair: a place is read once for eight vertices, and no index is stored twice.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

/// Simulated vertices that a skin vertex listens to [3.2.4].
pub const NEIGHBOURS: usize = 20;
/// How many of them, the nearest, give it its normal: linear weights need fewer.
pub const NORMAL_NEIGHBOURS: usize = 8;
/// Skin vertices that a task carries; a multiple of the lanes.
const CHUNK: usize = 1024;
/// Entries of a group are a multiple of this, each summed on its own, so that additions do not wait for each other.
const SUMS: usize = 4;

/// Indices in two bytes where they fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Indices {
    /// Of up to 65,536 simulated vertices.
    Short(Vec<u16>),
    /// Of more.
    Long(Vec<u32>),
}

impl Indices {
    /// In two bytes if all of `samples` fit.
    pub fn new(list: Vec<u32>, samples: usize) -> Self {
        match samples <= 1 << 16 {
            true => Self::Short(list.iter().map(|&i| i as u16).collect()),
            false => Self::Long(list),
        }
    }

    /// One of them.
    pub fn get(&self, entry: usize) -> usize {
        match self {
            Self::Short(list) => usize::from(list[entry]),
            Self::Long(list) => list[entry] as usize,
        }
    }

    /// Bytes of all.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Short(list) => 2 * list.len(),
            Self::Long(list) => 4 * list.len(),
        }
    }
}

/// Weights of groups of eight skin vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// Where the entries of each group start, and a last one where they end.
    pub starts: Vec<u32>,
    /// The simulated vertex of each entry.
    pub indices: Indices,
    /// Its weights for the eight skin vertices.
    pub weights: Vec<F32x8>,
}

impl Groups {
    /// From the entries of every skin vertex.
    pub fn new(rows: &[Vec<(u32, f32)>], samples: usize) -> Self {
        let mut starts = vec![0];
        let mut indices = Vec::new();
        let mut weights: Vec<F32x8> = Vec::new();
        for group in rows.chunks(LANES) {
            let mut list: Vec<u32> = group.iter().flatten().map(|entry| entry.0).collect();
            list.sort_unstable();
            list.dedup();
            let first = weights.len();
            // Empty places repeat a sample at no weight.
            let spare = list.first().copied().unwrap_or(0);
            indices.extend(&list);
            indices.resize(indices.len().next_multiple_of(SUMS), spare);
            weights.resize(indices.len(), F32x8::default());
            for (lane, row) in group.iter().enumerate() {
                for &(sample, weight) in row {
                    let entry = list.partition_point(|&other| other < sample);
                    weights[first + entry].0[lane] += weight;
                }
            }
            starts.push(indices.len() as u32);
        }
        Self {
            starts,
            indices: Indices::new(indices, samples),
            weights,
        }
    }

    /// Simulated vertices that a skin vertex listens to, and their weights.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> {
        let (group, lane) = (vertex / LANES, vertex % LANES);
        (self.starts[group] as usize..self.starts[group + 1] as usize)
            .map(move |entry| (self.indices.get(entry), self.weights[entry].0[lane]))
            .filter(|&(_, weight)| weight != 0.0)
    }

    fn bytes(&self) -> usize {
        4 * self.starts.len() + self.indices.bytes() + 4 * LANES * self.weights.len()
    }
}

/// Where a vertex lies that weights alone do not reproduce: Σ weight × normal of simulated vertices is added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offset {
    /// The skin vertex.
    pub vertex: u32,
    /// Simulated vertices and the weights of their normals \[m\].
    pub normals: Vec<(u32, f32)>,
}

/// Weights from simulated vertices to skin vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct Upsampling {
    /// Simulated vertices.
    pub samples: usize,
    /// Skin vertices.
    pub count: usize,
    /// Weights of positions.
    pub places: Groups,
    /// Weights of normals.
    pub normals: Groups,
    /// Details that stand out of what the simulated vertices span.
    pub offsets: Vec<Offset>,
}

/// Positions and unit normals of all simulated vertices: the kernel's input.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Where they are \[m\].
    pub places: Vec<Row>,
    /// Where they face.
    pub normals: Vec<Row>,
}

impl Samples {
    /// Fills both from positions; normals are weighted by area.
    pub fn fill(&mut self, triangles: &[[u32; 3]], positions: &[Vec3]) {
        self.places.clear();
        self.places
            .extend(positions.iter().map(|p| Row::new(p.to_array())));
        self.normals.clear();
        self.normals.resize(positions.len(), Row::default());
        for t in triangles {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            let cross = (b - a).cross(c - a).to_array();
            for &v in t {
                let sum = &mut self.normals[v as usize].0;
                (0..3).for_each(|axis| sum[axis] += cross[axis]);
            }
        }
        for normal in &mut self.normals {
            *normal = Row::new(unit(normal.xyz()));
        }
    }

    /// From a mesh.
    pub fn of(mesh: &TriMesh) -> Self {
        let mut samples = Self::default();
        samples.fill(&mesh.triangles, &mesh.positions);
        samples
    }
}

/// A vector of length one; one without length stays.
#[inline(always)]
fn unit([x, y, z]: [f32; 3]) -> [f32; 3] {
    let square = x * x + y * y + z * z;
    let scale = if square > 0.0 {
        1.0 / square.sqrt()
    } else {
        1.0
    };
    [x * scale, y * scale, z * scale]
}

impl Upsampling {
    /// Bytes that a frame reads and writes at least.
    pub fn bytes_per_frame(&self) -> usize {
        self.places.bytes() + self.normals.bytes() + self.samples * 32 + self.count * 24
    }

    /// Positions and unit normals of all skin vertices \[m\]. Both lists are as long as there are skin vertices.
    pub fn apply(&self, samples: &Samples, positions: &mut [Vec3], normals: &mut [Vec3]) {
        let output = (positions.par_chunks_mut(CHUNK)).zip(normals.par_chunks_mut(CHUNK));
        output
            .enumerate()
            .for_each(|(chunk, (positions, normals))| {
                let first = chunk * (CHUNK / LANES);
                match (&self.places.indices, &self.normals.indices) {
                    (Indices::Short(places), Indices::Short(turns)) => {
                        self.carry(first, [places, turns], samples, positions, normals);
                    }
                    (Indices::Long(places), Indices::Long(turns)) => {
                        self.carry(first, [places, turns], samples, positions, normals);
                    }
                    // Both count the same samples, so they have the same width.
                    _ => {}
                }
            });
        for offset in &self.offsets {
            let sum = offset.normals.iter().map(|&(sample, weight)| {
                weight * Vec3::from_array(samples.normals[sample as usize].xyz())
            });
            positions[offset.vertex as usize] += sum.sum::<Vec3>();
        }
    }

    fn carry<I: Index>(
        &self,
        first: usize,
        indices: [&[I]; 2],
        samples: &Samples,
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        let sum = |groups, indices, rows| GroupSum {
            groups,
            indices,
            first,
            rows,
        };
        dispatch(Carry {
            places: sum(&self.places, indices[0], &samples.places),
            turns: sum(&self.normals, indices[1], &samples.normals),
            positions,
            normals,
        });
    }
}

/// An index of either width.
trait Index: Copy + Sync {
    fn get(self) -> usize;
}

impl Index for u16 {
    #[inline(always)]
    fn get(self) -> usize {
        usize::from(self)
    }
}

impl Index for u32 {
    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

/// One kind of weights, from some group on.
struct GroupSum<'a, I> {
    groups: &'a Groups,
    indices: &'a [I],
    first: usize,
    rows: &'a [Row],
}

impl<I: Index> GroupSum<'_, I> {
    /// Σ weight × row for the eight skin vertices of a group.
    #[inline(always)]
    fn of<L: Lanes>(&self, group: usize) -> [L; 3] {
        let starts = &self.groups.starts[self.first + group..];
        let range = starts[0] as usize..starts[1] as usize;
        let indices = self.indices[range.clone()].as_chunks::<SUMS>().0;
        let weights = self.groups.weights[range].as_chunks::<SUMS>().0;
        let mut sums = [[L::splat(0.0); 3]; SUMS];
        for (indices, weights) in indices.iter().zip(weights) {
            for k in 0..SUMS {
                let row = &self.rows[indices[k].get()].0;
                let weight = L::load(&weights[k]);
                sums[k][0] = weight.mul_add(L::splat(row[0]), sums[k][0]);
                sums[k][1] = weight.mul_add(L::splat(row[1]), sums[k][1]);
                sums[k][2] = weight.mul_add(L::splat(row[2]), sums[k][2]);
            }
        }
        let mut total = [L::splat(0.0); 3];
        for axis in 0..3 {
            total[axis] = (sums[0][axis] + sums[1][axis]) + (sums[2][axis] + sums[3][axis]);
        }
        total
    }
}

/// The kernel: eight skin vertices at a time, positions and normals in one pass.
struct Carry<'a, I> {
    places: GroupSum<'a, I>,
    turns: GroupSum<'a, I>,
    positions: &'a mut [Vec3],
    normals: &'a mut [Vec3],
}

impl<I: Index> Kernel for Carry<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let output = (self.positions.chunks_mut(LANES)).zip(self.normals.chunks_mut(LANES));
        for (group, (positions, normals)) in output.enumerate() {
            write(positions, self.places.of::<L>(group));
            let turn = self.turns.of::<L>(group);
            let square = turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2];
            let scale = L::splat(1.0) / square.max(L::splat(1e-30)).sqrt();
            write(normals, [turn[0] * scale, turn[1] * scale, turn[2] * scale]);
        }
    }
}

/// Lanes to vectors; the last group may be short.
#[inline(always)]
fn write<L: Lanes>(vectors: &mut [Vec3], lanes: [L; 3]) {
    let (x, y, z) = (lanes[0].store().0, lanes[1].store().0, lanes[2].store().0);
    for (lane, vector) in vectors.iter_mut().enumerate() {
        *vector = Vec3::new(x[lane], y[lane], z[lane]);
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
        samples.fill(&coarse.triangles, &moved);
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
            assert!(largest_error(|p| p, basis) < 1e-6);
            assert!(largest_error(|p| turn * p + Vec3::new(3.0, 1.0, 2.0), basis) < 3e-6);
            let shear = |p: Vec3| Vec3::new(p.x + 0.5 * p.y, 1.3 * p.y - p.z, 0.7 * p.z);
            assert!(largest_error(shear, basis) < 1e-5);
        }
        let bend = |p: Vec3| Vec3::new(p.x + 0.6 * p.y * p.y, p.y - p.x * p.z, p.z + p.x * p.x);
        let error = largest_error(bend, Basis::Quadratic);
        assert!(error < 1e-5, "{error}");
        assert!(largest_error(bend, Basis::Linear) > 1e-4);
    }

    #[test]
    fn normals_turn_along_and_threads_do_not_matter() {
        let (skin, kept, coarse) = body();
        let upsampling = Upsampling::new(&skin, &kept, &coarse, NEIGHBOURS, Basis::Quadratic);
        assert!(matches!(upsampling.places.indices, Indices::Short(_)));
        let turn = glam::Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.2);
        let moved: Vec<Vec3> = coarse.positions.iter().map(|&p| turn * p).collect();
        let mut samples = Samples::default();
        samples.fill(&coarse.triangles, &moved);
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
    fn small_shells_have_what_they_need() {
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
            assert!(rest.distance(*now) < 1e-6);
        }
    }
}
