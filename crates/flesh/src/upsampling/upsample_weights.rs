//! Upsampling weights from samples (simulated vertices) to skin vertices: geodesic neighbours, moving least squares [3.2.4,
//! Eqs. 3.2–3.9].

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::geodesic::{NearestSamples, nearest_samples};
use supple_geom::mls::{Basis, MovingLeastSquares, Wanted};
use supple_geom::ring_normals::RingNormals;
use supple_geom::shells::shells;
use supple_geom::simd::{Row, WIDE};

use crate::upsampling::upsample::{NORMAL_NEIGHBOURS, Offset, Samples, Upsampling};
use crate::upsampling::upsample_groups::Groups;

/// Error of a vertex's rest position, relative to its shell's size, above which it gets an [`Offset`]. Below 2e-6 rounding
/// alone gives every second vertex of a body one.
const REST_TOLERANCE: f64 = 5e-6;

/// ε of [`falloff`]: the distance, relative to the radius, within which a sample dominates. At 0.1 a bent skin dimples at the
/// samples; above 1 (close to the papers' falloff) folds of the simulation mesh are rounded off.
const PEAK_WIDTH: f64 = 0.2;

/// Largest noise amplification of a position (Σ |Nᵢ|). At 8 single vertices stand out of deep folds; at 4 some regular
/// neighbourhoods lose quadratic precision.
pub const MAX_GROWTH: f64 = 5.0;
/// Noise amplification up to which the falloff is used as it is. Beyond, it is raised to [`FALLOFF_POWERS`] in turn.
const USUAL_GROWTH: f64 = 2.5;
const FALLOFF_POWERS: [f64; 4] = [1.0, 0.5, 0.25, 0.0];
/// Largest noise amplification of a normal. Nearly flat skin has nearly equal normals, which needs large weights.
const MAX_NORMAL_GROWTH: f64 = 16.0;
/// Error of a rest normal above which its weights need not sum to one. That concerns about a hundred vertices of 23
/// thousand, most of them in ears.
const NORMAL_TOLERANCE: f64 = 0.02;

/// Least share of a vertex's total falloff that a sample must have, for at least one vertex, to be kept in a group. Samples
/// at the rim have hardly any, and cost as much as the nearest. At 0.002 a gap between neighbouring groups shows where few
/// samples drive many vertices.
const LEAST_SHARE: f64 = 0.0005;
/// The same for normals.
const LEAST_NORMAL_SHARE: f64 = 0.005;
/// Samples that every vertex keeps beyond the number of terms of its polynomials.
const SPARE_SAMPLES: usize = 1;

/// Falloff of a sample's influence with distance: (1 − r/ρ)³ [Eq. 3.3], divided by (r/ρ)² + ε², which makes the skin
/// nearly interpolate the samples (Lancaster and Salkauskas 1981, with ε = 0).
fn falloff(distance: f64, radius: f64) -> f64 {
    let share = distance / radius;
    (1.0 - share).max(0.0).powi(3) / (share * share + PEAK_WIDTH * PEAK_WIDTH)
}

impl Upsampling {
    /// Weights from `samples`, the vertices of `skin` that form the mesh `coarse`, to all vertices of `skin`, with
    /// `neighbours` samples per vertex and polynomials up to `basis`.
    pub fn new(
        skin: &TriMesh,
        samples: &[u32],
        coarse: &TriMesh,
        neighbours: usize,
        basis: Basis,
    ) -> Self {
        let neighbours = neighbours.max(NORMAL_NEIGHBOURS);
        let near = nearest_samples(skin, samples, neighbours + 1);
        let turn_basis = Basis::Linear.min(basis);
        let lists = [
            GroupLists::new(&near, neighbours, basis, LEAST_SHARE),
            GroupLists::new(&near, NORMAL_NEIGHBOURS, turn_basis, LEAST_NORMAL_SHARE),
        ];
        let (rest, fine) = (Samples::of(coarse), Samples::of(skin));
        let rows: Vec<[Vec<(u32, f32)>; 2]> = (0..skin.positions.len())
            .into_par_iter()
            .map_init(Scratch::default, |scratch, v| {
                let [place, normal] = [fine.places[v], fine.normals[v]].map(dvec);
                [
                    scratch.place(lists[0].near(v), &rest, place, basis),
                    scratch.normal(lists[1].near(v), &rest, normal, turn_basis),
                ]
            })
            .collect();
        let (place_rows, normal_rows): (Vec<_>, Vec<_>) = rows
            .into_iter()
            .map(|[place, normal]| (place, normal))
            .unzip();
        let places = Groups::new(&place_rows, &rest.places);
        let tolerance = tolerances(skin);
        let offset = |v: usize| {
            let reproduced: DVec3 = (places.of(v))
                .map(|(s, w)| f64::from(w) * dvec(rest.places[s]))
                .sum();
            let miss = dvec(fine.places[v]) - reproduced;
            (miss.length() > tolerance[v]).then(|| Offset {
                vertex: v as u32,
                normals: offset_weights(miss, &place_rows[v], &rest),
            })
        };
        Self {
            rings: RingNormals::new(coarse),
            offsets: (0..place_rows.len())
                .into_par_iter()
                .filter_map(offset)
                .collect(),
            normals: Groups::new(&normal_rows, &rest.normals),
            count: place_rows.len(),
            places,
        }
    }
}

fn dvec(row: Row) -> DVec3 {
    Vec3::from_array(row.xyz()).as_dvec3()
}

/// Tolerance of every vertex's rest position: a share of its shell's size \[m\].
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
            REST_TOLERANCE * f64::from((*high - *low).max_element())
        })
    };
    shells.of_vertex.iter().map(tolerance).collect()
}

/// The weights of least squares with which normals of samples sum to a vector.
fn offset_weights(vector: DVec3, row: &[(u32, f32)], rest: &Samples) -> Vec<(u32, f32)> {
    let normals: Vec<DVec3> = (row.iter())
        .map(|&(s, _)| dvec(rest.normals[s as usize]))
        .collect();
    let mut square = DMat3::ZERO;
    for &n in &normals {
        square += DMat3::from_cols(n * n.x, n * n.y, n * n.z);
    }
    // A trace of damping, because nearly equal normals span only one direction.
    let damped = square + DMat3::from_diagonal(DVec3::splat(1e-6 * normals.len() as f64));
    let solution = damped.inverse() * vector;
    let weights = normals.iter().map(|n| n.dot(solution) as f32);
    row.iter().map(|entry| entry.0).zip(weights).collect()
}

/// Weights, not summing to one, for a normal outside the span of the nearest samples' normals, as in an ear whose folds the
/// simulation mesh does not have. Minimum-norm weights over all near samples, then over the largest of those; `None` if they
/// amplify noise too much.
fn unnormalised_weights(near: Nearby, rest: &Samples, normal: DVec3) -> Option<Vec<(u32, f32)>> {
    let mut falloffs = Vec::new();
    fill_falloffs(
        near.distances,
        near.samples.len().saturating_sub(1),
        &mut falloffs,
    );
    let mut entries: Vec<(u32, f64)> = near.samples.iter().copied().zip(falloffs).collect();
    let mut weights = minimum_norm(&entries, rest, normal);
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    order.truncate(NORMAL_NEIGHBOURS);
    order.sort_unstable();
    entries = order.iter().map(|&k| entries[k]).collect();
    weights = minimum_norm(&entries, rest, normal);
    // NaN if the normals do not span space; the comparison then fails.
    let growth: f64 = weights.iter().map(|weight| weight.abs()).sum();
    let row = entries.iter().zip(&weights);
    (growth < MAX_NORMAL_GROWTH).then(|| row.map(|(entry, &w)| (entry.0, w as f32)).collect())
}

/// Weights wᵢ with Σ wᵢ nᵢ = n that minimise Σ wᵢ² / ωᵢ, for samples with falloffs ωᵢ.
fn minimum_norm(entries: &[(u32, f64)], rest: &Samples, normal: DVec3) -> Vec<f64> {
    let of = |sample: u32| dvec(rest.normals[sample as usize]);
    let mut square = DMat3::ZERO;
    for &(sample, falloff) in entries {
        let n = of(sample);
        square += falloff * DMat3::from_cols(n * n.x, n * n.y, n * n.z);
    }
    let solution = square.inverse() * normal;
    let weight = |&(sample, falloff): &(u32, f64)| falloff * of(sample).dot(solution);
    entries.iter().map(weight).collect()
}

/// Samples of every group of skin vertices.
struct GroupLists<'a> {
    near: &'a NearestSamples,
    /// Most samples of a vertex.
    neighbours: usize,
    /// Samples of each group, ascending.
    lists: Vec<Vec<u32>>,
}

/// Samples around a vertex, nearest first, with their distances, and the samples of its group.
#[derive(Clone, Copy)]
struct Nearby<'a> {
    samples: &'a [u32],
    distances: &'a [f64],
    neighbours: usize,
    list: &'a [u32],
}

impl<'a> GroupLists<'a> {
    fn near(&self, vertex: usize) -> Nearby<'_> {
        let (samples, distances) = self.near.of(vertex);
        Nearby {
            samples,
            distances,
            neighbours: self.neighbours,
            list: &self.lists[vertex / WIDE],
        }
    }

    fn new(near: &'a NearestSamples, neighbours: usize, basis: Basis, least_share: f64) -> Self {
        let vertices: Vec<usize> = (0..near.samples.len() / near.count).collect();
        let list = |group: &[usize]| {
            let mut list = Vec::new();
            let mut falloffs = Vec::new();
            for &v in group {
                let (samples, distances) = near.of(v);
                fill_falloffs(distances, neighbours, &mut falloffs);
                let least = least_share * falloffs.iter().sum::<f64>();
                let spare = basis.terms() + SPARE_SAMPLES;
                let is_kept = |(k, falloff): (usize, &f64)| k < spare || *falloff >= least;
                let entries = samples.iter().zip(falloffs.iter().enumerate());
                list.extend(
                    entries
                        .filter(|(_, entry)| is_kept(*entry))
                        .map(|(&s, _)| s),
                );
            }
            list.sort_unstable();
            list.dedup();
            list
        };
        Self {
            near,
            neighbours,
            lists: vertices.par_chunks(WIDE).map(list).collect(),
        }
    }
}

/// Falloffs of the nearest samples. Their radius is the distance of the next sample [3.2.4] or, without one, a little beyond
/// the last.
fn fill_falloffs(distances: &[f64], neighbours: usize, falloffs: &mut Vec<f64>) {
    let radius = match distances.get(neighbours) {
        Some(&beyond) => beyond,
        None => 1.25 * distances.last().copied().unwrap_or(1.0),
    };
    let radius = radius.max(f64::MIN_POSITIVE);
    let near = distances.iter().take(neighbours);
    falloffs.clear();
    falloffs.extend(near.map(|&d| falloff(d, radius)));
}

#[derive(Default)]
struct Scratch {
    solver: MovingLeastSquares,
    /// Samples of the vertex, and their falloffs.
    samples: Vec<u32>,
    falloff: Vec<f64>,
    points: Vec<DVec3>,
    flat: Vec<f64>,
    weights: Vec<f64>,
}

impl Scratch {
    /// Samples and weights of a position. A vertex that the group's samples cannot reproduce well uses all its own.
    fn place(
        &mut self,
        near: Nearby,
        rest: &Samples,
        place: DVec3,
        basis: Basis,
    ) -> Vec<(u32, f32)> {
        let wanted = Wanted {
            most: basis,
            growth: MAX_GROWTH,
        };
        self.select(near, true, &rest.places);
        if !self.solve_place(place, wanted) {
            self.select(near, false, &rest.places);
            self.solve_place(place, wanted);
        }
        let mut row = self.row();
        normalise_sum(&mut row);
        row
    }

    /// Samples and weights of a normal.
    fn normal(
        &mut self,
        near: Nearby,
        rest: &Samples,
        normal: DVec3,
        basis: Basis,
    ) -> Vec<(u32, f32)> {
        let wanted = Wanted {
            most: basis,
            growth: MAX_NORMAL_GROWTH,
        };
        self.select(near, true, &rest.normals);
        let fit = (self.solver).weights(
            &self.points,
            &self.falloff,
            normal,
            wanted,
            &mut self.weights,
        );
        match fit.miss > NORMAL_TOLERANCE {
            true => unnormalised_weights(near, rest, normal).unwrap_or_else(|| self.row()),
            false => self.row(),
        }
    }

    /// Selects the nearest samples: all, or only those of the group.
    fn select(&mut self, near: Nearby, of_group: bool, of: &[Row]) {
        fill_falloffs(near.distances, near.neighbours, &mut self.flat);
        self.samples.clear();
        self.falloff.clear();
        for (&sample, &falloff) in near.samples.iter().zip(&self.flat) {
            if !of_group || near.list.binary_search(&sample).is_ok() {
                self.samples.push(sample);
                self.falloff.push(falloff);
            }
        }
        let places = self.samples.iter().map(|&s| dvec(of[s as usize]));
        self.points.clear();
        self.points.extend(places);
    }

    fn row(&self) -> Vec<(u32, f32)> {
        let weights = self.weights.iter().map(|&n| n as f32);
        self.samples.iter().copied().zip(weights).collect()
    }

    /// Weights of a position. If they are large, the falloff is flattened step by step: a constant falloff gives the smallest
    /// weights that reproduce the same polynomials. Returns whether they end up small and reproduce all polynomials.
    fn solve_place(&mut self, place: DVec3, wanted: Wanted) -> bool {
        let mut least = f64::INFINITY;
        let mut is_whole = false;
        let mut trial = Vec::new();
        for power in FALLOFF_POWERS {
            self.flat.clear();
            self.flat.extend(self.falloff.iter().map(|w| w.powf(power)));
            let fit = (self.solver).weights(&self.points, &self.flat, place, wanted, &mut trial);
            // A lower degree always has smaller weights; that is no improvement.
            let growth = match fit.basis == wanted.most {
                true => fit.growth,
                false => wanted.growth,
            };
            if growth < least {
                least = growth;
                is_whole = fit.is_whole && fit.basis == wanted.most;
                self.weights.clone_from(&trial);
            }
            if growth <= USUAL_GROWTH {
                break;
            }
        }
        is_whole && least <= USUAL_GROWTH
    }
}

/// Adds the rounding error of the sum to the largest weight: the sum must be exactly one for bodies far from the origin.
fn normalise_sum(row: &mut [(u32, f32)]) {
    let sum: f64 = row.iter().map(|entry| f64::from(entry.1)).sum();
    if let Some((_, largest)) = row.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1)) {
        *largest = (f64::from(*largest) + 1.0 - sum) as f32;
    }
}
