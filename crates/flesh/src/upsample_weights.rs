//! Weights from simulated to skin vertices: geodesic neighbours, moving least squares [3.2.4, Eqs. 3.2–3.9].

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::geodesic::{NearestSamples, nearest_samples};
use supple_geom::mls::{Basis, MovingLeastSquares, Wanted};
use supple_geom::ring_normals::RingNormals;
use supple_geom::shells::shells;
use supple_geom::simd::{Row, WIDE};

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
/// A normal that linear weights miss by more at rest is put together without their sum being one. Few are: a hundred vertices of
/// 23 thousand, most of them in ears.
const MOST_NORMAL_MISS: f64 = 0.02;

/// What share of a vertex's kernels a sample must have for one vertex of a group at least, or the group does without it: those at
/// the rim have hardly any, and each costs as much as the nearest. At 0.002 neighbours in different groups part visibly where few vertices carry
/// many.
const LEAST_SHARE: f64 = 0.0005;
const LEAST_NORMAL_SHARE: f64 = 0.005;
/// Every vertex keeps at least so many more of its samples than its polynomials have terms.
const SPARE: usize = 1;

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
                normals: normals_that_carry(miss, &place_rows[v], &rest),
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
fn normals_that_carry(vector: DVec3, row: &[(u32, f32)], rest: &Samples) -> Vec<(u32, f32)> {
    let normals: Vec<DVec3> = (row.iter())
        .map(|&(s, _)| dvec(rest.normals[s as usize]))
        .collect();
    let mut square = DMat3::ZERO;
    for &n in &normals {
        square += DMat3::from_cols(n * n.x, n * n.y, n * n.z);
    }
    // A trace of damping: normals that are all alike span one direction only.
    let damped = square + DMat3::from_diagonal(DVec3::splat(1e-6 * normals.len() as f64));
    let solution = damped.inverse() * vector;
    let weights = normals.iter().map(|n| n.dot(solution) as f32);
    row.iter().map(|entry| entry.0).zip(weights).collect()
}

/// Weights with which normals of the nearest samples add up to one that is unlike those of the very nearest, as in an ear whose folds
/// the simulation mesh does not have. The least weights of all, then of those that weigh most; `None` where they are large.
fn sum_to_normal(near: Nearby, rest: &Samples, normal: DVec3) -> Option<Vec<(u32, f32)>> {
    let mut kernels = Vec::new();
    fill_kernels(
        near.distances,
        near.samples.len().saturating_sub(1),
        &mut kernels,
    );
    let mut entries: Vec<(u32, f64)> = near.samples.iter().copied().zip(kernels).collect();
    let mut weights = least_sum(&entries, rest, normal);
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    order.truncate(NORMAL_NEIGHBOURS);
    order.sort_unstable();
    entries = order.iter().map(|&k| entries[k]).collect();
    weights = least_sum(&entries, rest, normal);
    // Not a number where normals do not span space.
    let growth: f64 = weights.iter().map(|weight| weight.abs()).sum();
    let row = entries.iter().zip(&weights);
    (growth < MOST_NORMAL_GROWTH).then(|| row.map(|(entry, &w)| (entry.0, w as f32)).collect())
}

/// Weights wᵢ with Σ wᵢ nᵢ = n that make Σ wᵢ² / ωᵢ least, of samples and their kernels ω.
fn least_sum(entries: &[(u32, f64)], rest: &Samples, normal: DVec3) -> Vec<f64> {
    let of = |sample: u32| dvec(rest.normals[sample as usize]);
    let mut square = DMat3::ZERO;
    for &(sample, kernel) in entries {
        let n = of(sample);
        square += kernel * DMat3::from_cols(n * n.x, n * n.y, n * n.z);
    }
    let solution = square.inverse() * normal;
    let weight = |&(sample, kernel): &(u32, f64)| kernel * of(sample).dot(solution);
    entries.iter().map(weight).collect()
}

/// Samples that the vertices of a group listen to.
struct GroupLists<'a> {
    near: &'a NearestSamples,
    /// How many of its nearest a vertex listens to at most.
    neighbours: usize,
    /// Ascending.
    lists: Vec<Vec<u32>>,
}

/// Samples of a vertex, nearest first: how far they are, how many count, and which of them its group listens to.
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
            let mut kernels = Vec::new();
            for &v in group {
                let (samples, distances) = near.of(v);
                fill_kernels(distances, neighbours, &mut kernels);
                let least = least_share * kernels.iter().sum::<f64>();
                let spare = basis.terms() + SPARE;
                let heard = |(k, kernel): (usize, &f64)| k < spare || *kernel >= least;
                let entries = samples.iter().zip(kernels.iter().enumerate());
                list.extend(entries.filter(|(_, entry)| heard(*entry)).map(|(&s, _)| s));
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

/// Kernels of the nearest samples. The next one beyond sets the reach [3.2.4]; where there is none, a little beyond the last.
fn fill_kernels(distances: &[f64], neighbours: usize, kernels: &mut Vec<f64>) {
    let reach = match distances.get(neighbours) {
        Some(&beyond) => beyond,
        None => 1.25 * distances.last().copied().unwrap_or(1.0),
    };
    let reach = reach.max(f64::MIN_POSITIVE);
    let near = distances.iter().take(neighbours);
    kernels.clear();
    kernels.extend(near.map(|&d| kernel(d, reach)));
}

#[derive(Default)]
struct Scratch {
    solver: MovingLeastSquares,
    /// What the vertex listens to, and how much.
    samples: Vec<u32>,
    kernel: Vec<f64>,
    points: Vec<DVec3>,
    flat: Vec<f64>,
    weights: Vec<f64>,
}

impl Scratch {
    /// Samples and weights of a place. A vertex that its group's list does not serve as well as its own gets its own.
    fn place(
        &mut self,
        near: Nearby,
        rest: &Samples,
        place: DVec3,
        basis: Basis,
    ) -> Vec<(u32, f32)> {
        let wanted = Wanted {
            most: basis,
            growth: MOST_GROWTH,
        };
        self.listen(near, true, &rest.places);
        if !self.fit_place(place, wanted) {
            self.listen(near, false, &rest.places);
            self.fit_place(place, wanted);
        }
        let mut row = self.row();
        settle_sum(&mut row);
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
            growth: MOST_NORMAL_GROWTH,
        };
        self.listen(near, true, &rest.normals);
        let fit = (self.solver).weights(
            &self.points,
            &self.kernel,
            normal,
            wanted,
            &mut self.weights,
        );
        match fit.miss > MOST_NORMAL_MISS {
            true => sum_to_normal(near, rest, normal).unwrap_or_else(|| self.row()),
            false => self.row(),
        }
    }

    /// Takes the nearest samples, all or those that the group listens to.
    fn listen(&mut self, near: Nearby, with_the_group: bool, of: &[Row]) {
        fill_kernels(near.distances, near.neighbours, &mut self.flat);
        self.samples.clear();
        self.kernel.clear();
        for (&sample, &kernel) in near.samples.iter().zip(&self.flat) {
            if !with_the_group || near.list.binary_search(&sample).is_ok() {
                self.samples.push(sample);
                self.kernel.push(kernel);
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

    /// Weights of places. Where they are large the kernel is flattened step by step: weights of an even kernel are the
    /// smallest that reproduce the same polynomials. Returns whether they are small in the end and reproduce all of them.
    fn fit_place(&mut self, place: DVec3, wanted: Wanted) -> bool {
        let mut least = f64::INFINITY;
        let mut is_whole = false;
        let mut trial = Vec::new();
        for flattening in FLATTENINGS {
            self.flat.clear();
            self.flat
                .extend(self.kernel.iter().map(|w| w.powf(flattening)));
            let fit = (self.solver).weights(&self.points, &self.flat, place, wanted, &mut trial);
            // Poorer polynomials do with smaller weights, which is no gain.
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

/// Lets the largest weight take up what rounding changed in the sum, so that a body far from the origin stays whole.
fn settle_sum(row: &mut [(u32, f32)]) {
    let sum: f64 = row.iter().map(|entry| f64::from(entry.1)).sum();
    if let Some((_, largest)) = row.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1)) {
        *largest = (f64::from(*largest) + 1.0 - sum) as f32;
    }
}
