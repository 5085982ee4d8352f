//! Weights from simulated to skin vertices: geodesic neighbours, moving least squares [3.2.4, Eqs. 3.2–3.9].

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::geodesic::nearest_samples;
use supple_geom::mls::{Basis, MovingLeastSquares, Wanted};
use supple_geom::ring_normals::RingNormals;
use supple_geom::shells::shells;
use supple_geom::simd::Row;

use crate::upsample::{NORMAL_NEIGHBOURS, Offset, Samples, Upsampling};
use crate::upsample_groups::Groups;

/// What weights, rounded, leave of a vertex's place at rest is carried by normals if it is more than this share of its
/// shell's size. Below 2e-6 rounding alone sends every second vertex of a body that way.
const EXACT: f64 = 5e-6;

/// How near to its sample a vertex must be, in reaches, to follow it more than others. At 0.1 a bent skin dimples at
/// simulated vertices; above 1 (the kernel of the papers) it rounds off folds that the simulated vertices have.
const CLOSE: f64 = 0.2;

/// How much noise of the simulated vertices may grow (Σ |Nᵢ|). At 8 single vertices stand out of deep folds, at 4 some even
/// neighbourhoods lose quadratic precision.
pub const MOST_GROWTH: f64 = 5.0;
/// How much it grows without more ado; beyond, the kernel is raised to these powers one after the other.
const USUAL_GROWTH: f64 = 2.5;
const FLATTENINGS: [f64; 4] = [1.0, 0.5, 0.25, 0.0];
/// The same for normals, which weights of this size must tell apart where the skin is nearly flat.
const MOST_NORMAL_GROWTH: f64 = 16.0;

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
        let rows: Vec<VertexWeights> = (0..skin.positions.len())
            .into_par_iter()
            .map_init(Scratch::default, |scratch, v| {
                let (samples, distances) = near.of(v);
                let place = [fine.places[v], fine.normals[v]].map(dvec);
                scratch.solve(samples, distances, &rest, place, neighbours, basis)
            })
            .collect();
        let pairs = |pick: fn(&VertexWeights) -> &[f32]| -> Vec<Vec<(u32, f32)>> {
            let pair = |row: &VertexWeights| {
                let entries = row.samples.iter().copied().zip(pick(row).iter().copied());
                entries.collect()
            };
            rows.iter().map(pair).collect()
        };
        let places = Groups::new(&pairs(|row| &row.weights), &rest.places);
        let tolerance = tolerances(skin);
        let offset = |v: usize| {
            let reproduced: DVec3 = (places.of(v))
                .map(|(s, w)| f64::from(w) * dvec(rest.places[s]))
                .sum();
            let miss = dvec(fine.places[v]) - reproduced;
            (miss.length() > tolerance[v]).then(|| Offset {
                vertex: v as u32,
                normals: normals_that_carry(miss, &rows[v].samples, &rest),
            })
        };
        Self {
            rings: RingNormals::new(coarse),
            offsets: (0..rows.len()).into_par_iter().filter_map(offset).collect(),
            normals: Groups::new(&pairs(|row| &row.normal_weights), &rest.normals),
            count: rows.len(),
            places,
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
}

/// How far from its place at rest every vertex may be: a share of its shell's size \[m\].
fn tolerances(skin: &TriMesh) -> Vec<f64> {
    let shells = shells(skin);
    let mut bounds = vec![(Vec3::INFINITY, Vec3::NEG_INFINITY); shells.count];
    for (&p, &shell) in skin.positions.iter().zip(&shells.of_vertex) {
        if let Some((low, high)) = bounds.get_mut(shell as usize) {
            (*low, *high) = (low.min(p), high.max(p));
        }
    }
    let tolerance = |&shell: &u32| {
        let bounds = bounds.get(shell as usize);
        bounds.map_or(0.0, |(low, high)| {
            EXACT * f64::from((*high - *low).max_element())
        })
    };
    shells.of_vertex.iter().map(tolerance).collect()
}

/// The least weights with which normals of samples add up to a vector.
fn normals_that_carry(vector: DVec3, samples: &[u32], rest: &Samples) -> Vec<(u32, f32)> {
    let normals: Vec<DVec3> = (samples.iter())
        .map(|&s| dvec(rest.normals[s as usize]))
        .collect();
    let mut square = DMat3::ZERO;
    for &n in &normals {
        square += DMat3::from_cols(n * n.x, n * n.y, n * n.z);
    }
    // A trace of damping: normals that are all alike span one direction only.
    let damped = square + DMat3::from_diagonal(DVec3::splat(1e-6 * normals.len() as f64));
    let solution = damped.inverse() * vector;
    let weights = normals.iter().map(|n| n.dot(solution) as f32);
    samples.iter().copied().zip(weights).collect()
}

#[derive(Default)]
struct Scratch {
    solver: MovingLeastSquares,
    places: Vec<DVec3>,
    turns: Vec<DVec3>,
    kernel: Vec<f64>,
    flat: Vec<f64>,
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
        let wanted = Wanted {
            most: basis,
            growth: MOST_GROWTH,
        };
        self.fit_places(place, wanted);
        self.turns.clear();
        let nearest = samples.iter().take(NORMAL_NEIGHBOURS);
        self.turns
            .extend(nearest.map(|&s| dvec(rest.normals[s as usize])));
        self.fill_kernel(distances, NORMAL_NEIGHBOURS.min(neighbours));
        let linear = Wanted {
            most: Basis::Linear.min(basis),
            growth: MOST_NORMAL_GROWTH,
        };
        let normal_weights = &mut self.normal_weights;
        self.solver
            .weights(&self.turns, &self.kernel, normal, linear, normal_weights);
        let mut weights: Vec<f32> = self.weights.iter().map(|&n| n as f32).collect();
        settle_sum(&mut weights);
        VertexWeights {
            samples: samples.to_vec(),
            weights,
            normal_weights: self.normal_weights.iter().map(|&n| n as f32).collect(),
        }
    }
}

impl Scratch {
    /// Weights of places. Where they are large the kernel is flattened step by step: weights of an even kernel are the
    /// smallest that reproduce the same polynomials.
    fn fit_places(&mut self, place: DVec3, wanted: Wanted) {
        let mut least = f64::INFINITY;
        let mut trial = Vec::new();
        for flattening in FLATTENINGS {
            self.flat.clear();
            self.flat
                .extend(self.kernel.iter().map(|w| w.powf(flattening)));
            let fit = (self.solver).weights(&self.places, &self.flat, place, wanted, &mut trial);
            // Poorer polynomials do with smaller weights, which is no gain.
            let growth = match fit.basis == wanted.most {
                true => fit.growth,
                false => wanted.growth,
            };
            if growth < least {
                least = growth;
                self.weights.clone_from(&trial);
            }
            if growth <= USUAL_GROWTH {
                break;
            }
        }
    }

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
