//! From the simulation mesh to the full skin by moving least squares: weights built once, applied every frame [3.2.4].
//!
//! Every skin vertex listens to the k simulated vertices nearest along the surface. Positions are carried by quadratic
//! (or linear) weights, normals by linear weights in the space of normals.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::geodesic::nearest_samples;
use supple_geom::mls::{Basis, MovingLeastSquares};
use supple_geom::simd::{Kernel, Lanes, Quad, Row, dispatch};

/// Simulated vertices that a skin vertex listens to [3.2.4].
pub const NEIGHBOURS: usize = 20;
/// Skin vertices that a task carries.
const CHUNK: usize = 1024;
/// What weights leave of a vertex's place at rest is carried by normals if it is more than this share of the skin's size.
const EXACT: f64 = 1e-6;

/// Indices in two bytes where they fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Indices {
    /// Of up to 65,536 simulated vertices.
    Short(Vec<u16>),
    /// Of more.
    Long(Vec<u32>),
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
    /// Entries a skin vertex; even.
    pub neighbours: usize,
    /// Which simulated vertices.
    pub indices: Indices,
    /// Their weights for positions and for normals.
    pub weights: Vec<[f32; 2]>,
    /// Details that stand out of what the simulated vertices span.
    pub offsets: Vec<Offset>,
}

/// Position and normal of every simulated vertex, side by side for the kernel.
pub type Samples = Vec<[Row; 2]>;

/// Fills the kernel's input: positions, and unit normals weighted by area.
pub fn fill_samples(triangles: &[[u32; 3]], positions: &[Vec3], samples: &mut Samples) {
    samples.clear();
    samples.extend(
        positions
            .iter()
            .map(|p| [Row::new(p.to_array()), Row::default()]),
    );
    for t in triangles {
        let [a, b, c] = t.map(|v| positions[v as usize]);
        let cross = (b - a).cross(c - a).to_array();
        for &v in t {
            let sum = &mut samples[v as usize][1].0;
            (0..3).for_each(|axis| sum[axis] += cross[axis]);
        }
    }
    for [_, normal] in samples {
        *normal = Row::new(unit(normal.xyz()));
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

/// Kernel of a sample at a distance: (1 − r/ρ)³ [Eq. 3.3].
fn kernel(distance: f64, reach: f64) -> f64 {
    (1.0 - distance / reach).max(0.0).powi(3)
}

impl Upsampling {
    /// Weights from `samples`, vertices of `skin` that `coarse` is the mesh of, to all vertices of `skin`, with `neighbours`
    /// each and polynomials up to `basis`.
    pub fn new(
        skin: &TriMesh,
        samples: &[u32],
        coarse: &TriMesh,
        neighbours: usize,
        basis: Basis,
    ) -> Self {
        let neighbours = neighbours.max(1).next_multiple_of(2);
        let near = nearest_samples(skin, samples, neighbours + 1);
        let mut rest = Samples::new();
        fill_samples(&coarse.triangles, &coarse.positions, &mut rest);
        let mut fine = Samples::new();
        fill_samples(&skin.triangles, &skin.positions, &mut fine);
        let size = f64::from(skin.bounds().size().max_element());
        let rows: Vec<VertexWeights> = (0..skin.positions.len())
            .into_par_iter()
            .map_init(Scratch::default, |scratch, v| {
                let (samples, distances) = near.of(v);
                let place = [fine[v][0], fine[v][1]].map(dvec);
                let weights = scratch.solve(samples, distances, &rest, place, neighbours, basis);
                weights.with_offset(&rest, place[0], EXACT * size)
            })
            .collect();
        Self::from_rows(rows, rest.len(), neighbours)
    }

    fn from_rows(rows: Vec<VertexWeights>, samples: usize, neighbours: usize) -> Self {
        let mut indices = Vec::with_capacity(rows.len() * neighbours);
        let mut weights = Vec::with_capacity(rows.len() * neighbours);
        let mut offsets = Vec::new();
        for (v, row) in rows.into_iter().enumerate() {
            // Empty places repeat a sample at no weight.
            let spare = row.samples.first().copied().unwrap_or(0);
            let missing = neighbours - row.samples.len();
            indices.extend(row.samples.iter().copied());
            weights.extend(row.weights);
            indices.extend(std::iter::repeat_n(spare, missing));
            weights.extend(std::iter::repeat_n([0.0; 2], missing));
            if !row.normals.is_empty() {
                offsets.push(Offset {
                    vertex: v as u32,
                    normals: row.normals,
                });
            }
        }
        Self {
            samples,
            neighbours,
            indices: if samples <= 1 << 16 {
                Indices::Short(indices.iter().map(|&i| i as u16).collect())
            } else {
                Indices::Long(indices)
            },
            weights,
            offsets,
        }
    }

    /// Skin vertices.
    pub fn len(&self) -> usize {
        self.weights.len() / self.neighbours
    }

    /// Whether there is no skin vertex.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Simulated vertices a skin vertex listens to, and the weights of their positions.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> {
        let range = vertex * self.neighbours..(vertex + 1) * self.neighbours;
        range.map(|entry| {
            let index = match &self.indices {
                Indices::Short(list) => usize::from(list[entry]),
                Indices::Long(list) => list[entry] as usize,
            };
            (index, self.weights[entry][0])
        })
    }

    /// Bytes that a frame reads and writes at least.
    pub fn bytes_per_frame(&self) -> usize {
        let index = match &self.indices {
            Indices::Short(_) => 2,
            Indices::Long(_) => 4,
        };
        self.weights.len() * (8 + index) + self.samples * 32 + self.len() * 24
    }

    /// Positions and unit normals of all skin vertices \[m\]. Both lists are as long as there are skin vertices.
    pub fn apply(&self, samples: &[[Row; 2]], positions: &mut [Vec3], normals: &mut [Vec3]) {
        match &self.indices {
            Indices::Short(list) => self.apply_with(list, samples, positions, normals),
            Indices::Long(list) => self.apply_with(list, samples, positions, normals),
        }
        for offset in &self.offsets {
            let sum = offset.normals.iter().map(|&(sample, weight)| {
                weight * Vec3::from_array(samples[sample as usize][1].xyz())
            });
            positions[offset.vertex as usize] += sum.sum::<Vec3>();
        }
    }

    fn apply_with<I: Index>(
        &self,
        indices: &[I],
        samples: &[[Row; 2]],
        positions: &mut [Vec3],
        normals: &mut [Vec3],
    ) {
        let entries = CHUNK * self.neighbours;
        let input = indices
            .par_chunks(entries)
            .zip(self.weights.par_chunks(entries));
        let output = positions
            .par_chunks_mut(CHUNK)
            .zip(normals.par_chunks_mut(CHUNK));
        input
            .zip(output)
            .for_each(|((indices, weights), (positions, normals))| {
                dispatch(Carry {
                    neighbours: self.neighbours,
                    indices,
                    weights,
                    samples,
                    positions,
                    normals,
                });
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

/// The kernel: every row holds a sample's position and normal, so one index fetches both.
struct Carry<'a, I> {
    neighbours: usize,
    indices: &'a [I],
    weights: &'a [[f32; 2]],
    samples: &'a [[Row; 2]],
    positions: &'a mut [Vec3],
    normals: &'a mut [Vec3],
}

impl<I: Index> Kernel for Carry<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let rows = self
            .indices
            .chunks_exact(self.neighbours)
            .zip(self.weights.chunks_exact(self.neighbours));
        let output = self.positions.iter_mut().zip(self.normals);
        for ((indices, weights), (position, normal)) in rows.zip(output) {
            // Two sums each, so that additions do not wait for each other.
            let zero = L::Quad::splat(0.0);
            let (mut p, mut n) = ([zero; 2], [zero; 2]);
            for (indices, weights) in indices.chunks_exact(2).zip(weights.chunks_exact(2)) {
                for lane in 0..2 {
                    let [place, turn] = &self.samples[indices[lane].get()];
                    let [weight, normal_weight] = weights[lane];
                    p[lane] = L::Quad::splat(weight).mul_add(L::Quad::load(place), p[lane]);
                    n[lane] = L::Quad::splat(normal_weight).mul_add(L::Quad::load(turn), n[lane]);
                }
            }
            *position = Vec3::from_array((p[0] + p[1]).store().xyz());
            *normal = Vec3::from_array(unit((n[0] + n[1]).store().xyz()));
        }
    }
}

fn dvec(row: Row) -> DVec3 {
    Vec3::from_array(row.xyz()).as_dvec3()
}

/// What one skin vertex listens to.
#[derive(Default)]
struct VertexWeights {
    samples: Vec<u32>,
    weights: Vec<[f32; 2]>,
    normals: Vec<(u32, f32)>,
}

impl VertexWeights {
    /// Carries what the weights leave of the vertex's place at rest by normals of its samples: the least such weights.
    fn with_offset(mut self, rest: &[[Row; 2]], place: DVec3, tolerance: f64) -> Self {
        let entries = self.samples.iter().zip(&self.weights);
        let reproduced: DVec3 = entries
            .map(|(&s, w)| f64::from(w[0]) * dvec(rest[s as usize][0]))
            .sum();
        let miss = place - reproduced;
        if miss.length() <= tolerance {
            return self;
        }
        let normals: Vec<DVec3> = (self.samples.iter())
            .map(|&s| dvec(rest[s as usize][1]))
            .collect();
        let mut square = glam::DMat3::ZERO;
        for &n in &normals {
            square += glam::DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        }
        // A trace of damping: normals that are all alike span one direction only.
        let damped = square + glam::DMat3::from_diagonal(DVec3::splat(1e-6 * normals.len() as f64));
        let solution = damped.inverse() * miss;
        let weights = normals.iter().map(|n| n.dot(solution) as f32);
        self.normals = self.samples.iter().copied().zip(weights).collect();
        self
    }
}

#[derive(Default)]
struct Scratch {
    solver: MovingLeastSquares,
    places: Vec<DVec3>,
    turns: Vec<DVec3>,
    kernel: Vec<f64>,
    weights: Vec<f64>,
    normal_weights: Vec<f64>,
}

impl Scratch {
    fn solve(
        &mut self,
        samples: &[u32],
        distances: &[f64],
        rest: &[[Row; 2]],
        [place, normal]: [DVec3; 2],
        neighbours: usize,
        basis: Basis,
    ) -> VertexWeights {
        // The next one beyond sets the reach [3.2.4]; where there is none, a little beyond the last.
        let reach = match distances.get(neighbours) {
            Some(&beyond) => beyond,
            None => 1.25 * distances.last().copied().unwrap_or(1.0),
        };
        let reach = reach.max(f64::MIN_POSITIVE);
        let count = samples.len().min(neighbours);
        let samples = &samples[..count];
        let of = |k: usize| move |&s: &u32| dvec(rest[s as usize][k]);
        self.kernel.clear();
        self.kernel
            .extend(distances[..count].iter().map(|&d| kernel(d, reach)));
        self.places.clear();
        self.places.extend(samples.iter().map(of(0)));
        self.turns.clear();
        self.turns.extend(samples.iter().map(of(1)));
        self.solver
            .weights(&self.places, &self.kernel, place, basis, &mut self.weights);
        self.solver.weights(
            &self.turns,
            &self.kernel,
            normal,
            Basis::Linear.min(basis),
            &mut self.normal_weights,
        );
        let pairs = self.weights.iter().zip(&self.normal_weights);
        let mut weights: Vec<[f32; 2]> = pairs.map(|(&n, &m)| [n as f32, m as f32]).collect();
        settle_sum(&mut weights);
        VertexWeights {
            samples: samples.to_vec(),
            weights,
            normals: Vec::new(),
        }
    }
}

/// Lets the largest weight take up what rounding changed in the sum, so that a body far from the origin stays whole.
fn settle_sum(weights: &mut [[f32; 2]]) {
    let sum: f64 = weights.iter().map(|w| f64::from(w[0])).sum();
    let largest = weights.iter_mut().max_by(|a, b| a[0].total_cmp(&b[0]));
    if let Some(largest) = largest {
        largest[0] = (f64::from(largest[0]) + 1.0 - sum) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::decimate::{Decimation, decimate};
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
        let mut samples = Samples::new();
        fill_samples(&coarse.triangles, &moved, &mut samples);
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
        assert!(matches!(upsampling.indices, Indices::Short(_)));
        let turn = glam::Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.2);
        let moved: Vec<Vec3> = coarse.positions.iter().map(|&p| turn * p).collect();
        let mut samples = Samples::new();
        fill_samples(&coarse.triangles, &moved, &mut samples);
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
        let mut samples = Samples::new();
        fill_samples(&small.mesh.triangles, &small.mesh.positions, &mut samples);
        let mut positions = vec![Vec3::ZERO; skin.positions.len()];
        let mut normals = positions.clone();
        upsampling.apply(&samples, &mut positions, &mut normals);
        for (rest, now) in skin.positions.iter().zip(&positions) {
            assert!(rest.distance(*now) < 1e-6);
        }
    }
}
