//! Weights from simulated to skin vertices: geodesic neighbours, moving least squares [3.2.4, Eqs. 3.2–3.9].

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::geodesic::nearest_samples;
use supple_geom::mls::{Basis, MovingLeastSquares};
use supple_geom::ring_normals::RingNormals;
use supple_geom::simd::Row;

use crate::upsample::{NORMAL_NEIGHBOURS, Offset, Samples, Upsampling};
use crate::upsample_groups::Groups;

/// What weights leave of a vertex's place at rest is carried by normals if it is more than this share of the skin's size.
const EXACT: f64 = 1e-6;

/// How near to its sample a vertex must be, in reaches, to follow it more than others. At 0.1 a bent skin dimples at
/// simulated vertices; above 1 (the kernel of the papers) it rounds off folds that the simulated vertices have.
const CLOSE: f64 = 0.3;

/// Kernel of a sample at a distance: (1 − r/ρ)³ [Eq. 3.3], divided by (r/ρ)² + ε² which draws the skin towards simulated
/// vertices (Lancaster and Salkauskas 1981, whose ε is zero).
fn kernel(distance: f64, reach: f64) -> f64 {
    let share = distance / reach;
    (1.0 - share).max(0.0).powi(3) / (share * share + CLOSE * CLOSE)
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
        let neighbours = neighbours.max(NORMAL_NEIGHBOURS);
        let near = nearest_samples(skin, samples, neighbours + 1);
        let (rest, fine) = (Samples::of(coarse), Samples::of(skin));
        let size = f64::from(skin.bounds().size().max_element());
        let rows: Vec<VertexWeights> = (0..skin.positions.len())
            .into_par_iter()
            .map_init(Scratch::default, |scratch, v| {
                let (samples, distances) = near.of(v);
                let place = [fine.places[v], fine.normals[v]].map(dvec);
                let weights = scratch.solve(samples, distances, &rest, place, neighbours, basis);
                weights.with_offset(&rest, place[0], EXACT * size)
            })
            .collect();
        let pairs = |pick: fn(&VertexWeights) -> &[f32]| -> Vec<Vec<(u32, f32)>> {
            let pair = |row: &VertexWeights| {
                let entries = row.samples.iter().copied().zip(pick(row).iter().copied());
                entries.collect()
            };
            rows.iter().map(pair).collect()
        };
        Self {
            rings: RingNormals::new(coarse),
            places: Groups::new(&pairs(|row| &row.weights), &rest.places),
            normals: Groups::new(&pairs(|row| &row.normal_weights), &rest.normals),
            count: rows.len(),
            offsets: (0..rows.len() as u32)
                .zip(rows)
                .filter(|(_, row)| !row.normals.is_empty())
                .map(|(vertex, row)| Offset {
                    vertex,
                    normals: row.normals,
                })
                .collect(),
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
    weights: Vec<f32>,
    normal_weights: Vec<f32>,
    normals: Vec<(u32, f32)>,
}

impl VertexWeights {
    /// Carries what the weights leave of the vertex's place at rest by normals of its samples: the least such weights.
    fn with_offset(mut self, rest: &Samples, place: DVec3, tolerance: f64) -> Self {
        let entries = self.samples.iter().zip(&self.weights);
        let reproduced: DVec3 = entries
            .map(|(&s, &w)| f64::from(w) * dvec(rest.places[s as usize]))
            .sum();
        let miss = place - reproduced;
        if miss.length() <= tolerance {
            return self;
        }
        let normals: Vec<DVec3> = (self.samples.iter())
            .map(|&s| dvec(rest.normals[s as usize]))
            .collect();
        let mut square = DMat3::ZERO;
        for &n in &normals {
            square += DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        }
        // A trace of damping: normals that are all alike span one direction only.
        let damped = square + DMat3::from_diagonal(DVec3::splat(1e-6 * normals.len() as f64));
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
        rest: &Samples,
        [place, normal]: [DVec3; 2],
        neighbours: usize,
        basis: Basis,
    ) -> VertexWeights {
        let count = samples.len().min(neighbours);
        let samples = &samples[..count];
        self.places.clear();
        self.places
            .extend(samples.iter().map(|&s| dvec(rest.places[s as usize])));
        self.fill_kernel(distances, neighbours);
        self.solver
            .weights(&self.places, &self.kernel, place, basis, &mut self.weights);
        self.turns.clear();
        let nearest = samples.iter().take(NORMAL_NEIGHBOURS);
        self.turns
            .extend(nearest.map(|&s| dvec(rest.normals[s as usize])));
        self.fill_kernel(distances, NORMAL_NEIGHBOURS.min(neighbours));
        let linear = Basis::Linear.min(basis);
        let normal_weights = &mut self.normal_weights;
        self.solver
            .weights(&self.turns, &self.kernel, normal, linear, normal_weights);
        let mut weights: Vec<f32> = self.weights.iter().map(|&n| n as f32).collect();
        settle_sum(&mut weights);
        VertexWeights {
            samples: samples.to_vec(),
            weights,
            normal_weights: self.normal_weights.iter().map(|&n| n as f32).collect(),
            normals: Vec::new(),
        }
    }
}

impl Scratch {
    /// Kernels of the nearest samples. The next one beyond sets the reach [3.2.4]; where there is none, a little beyond the
    /// last.
    fn fill_kernel(&mut self, distances: &[f64], neighbours: usize) {
        let reach = match distances.get(neighbours) {
            Some(&beyond) => beyond,
            None => 1.25 * distances.last().copied().unwrap_or(1.0),
        };
        let reach = reach.max(f64::MIN_POSITIVE);
        let near = distances.iter().take(neighbours);
        self.kernel.clear();
        self.kernel.extend(near.map(|&d| kernel(d, reach)));
    }
}

/// Lets the largest weight take up what rounding changed in the sum, so that a body far from the origin stays whole.
fn settle_sum(weights: &mut [f32]) {
    let sum: f64 = weights.iter().map(|&w| f64::from(w)).sum();
    if let Some(largest) = weights.iter_mut().max_by(|a, b| a.total_cmp(b)) {
        *largest = (f64::from(*largest) + 1.0 - sum) as f32;
    }
}
