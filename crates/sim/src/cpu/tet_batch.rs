//! Tet strain and volume, eight tets at a time: forces (w (R − F) + u (V − F)) gₐ towards the closest rotation R and the
//! closest matrix V of the right volume. Both fit the same gradients.

// Plain loops: iterator adaptors are not always inlined, and what is not inlined loses the kernel's instruction set.
#![allow(clippy::needless_range_loop)]

use glam::DVec3;
use supple_geom::polar::{rotation_lanes, rotation_lanes_pair};
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

use super::prism::{self, LocalPrism, PrismBatch};
use super::volume_lanes::{NO_VOLUME, VolumeLanes, volume_shift};

/// One tet in local rows, free corners after a first corner that is fixed if one is.
#[derive(Clone, Debug)]
pub struct Tet {
    /// Rows of the corners.
    pub rows: [u32; 4],
    /// Shape gradients of the last three corners [1/m].
    pub gradients: [DVec3; 3],
    /// Scaled weight.
    pub weight: f64,
    /// Scaled weight of its volume; 0: none.
    pub volume_weight: f64,
    /// Target volume / rest volume.
    pub ratio: f64,
}

/// Eight tets, structure of arrays.
#[derive(Clone, Debug)]
struct Batch {
    rows: [[u32; LANES]; 4],
    gradients: [[F32x8; 3]; 3],
    weights: F32x8,
}

/// All tets of a region: those of prisms, and the others sorted by how many of their corners are free: forces on fixed ones are never computed.
///
/// Volumes are lists beside them, so that tets without any do not read them.
#[derive(Clone, Debug, Default)]
pub struct TetBatches {
    prisms: Vec<PrismBatch>,
    prism_volumes: Vec<[VolumeLanes; 3]>,
    by_free: [Vec<Batch>; 4],
    volumes: [Vec<VolumeLanes>; 4],
    has_volume: bool,
}

impl TetBatches {
    /// Adds tets with `free` corners: corners 1 to `free`, or all when `free` is 4.
    pub fn push(&mut self, free: usize, tets: &[Tet]) {
        // Lane l of all batches together walks one stretch of the list: neighbouring tets share corners, and a corner
        // that occurs twice in a batch would make its second sum wait for the first.
        let batches = tets.len().div_ceil(LANES);
        for b in 0..batches {
            // A lane past the end repeats the first tet without weight: zeros would give NaN.
            let tet = |lane: usize| tets.get(lane * batches + b);
            let shape = |lane: usize| tet(lane).unwrap_or(&tets[0]);
            let lanes = |value: &dyn Fn(usize) -> f64| {
                F32x8(std::array::from_fn(|lane| value(lane) as f32))
            };
            self.by_free[free - 1].push(Batch {
                rows: std::array::from_fn(|corner| {
                    std::array::from_fn(|lane| shape(lane).rows[corner])
                }),
                gradients: std::array::from_fn(|k| {
                    std::array::from_fn(|c| lanes(&|l| shape(l).gradients[k][c]))
                }),
                weights: lanes(&|lane| tet(lane).map_or(0.0, |t| t.weight)),
            });
            self.volumes[free - 1].push(VolumeLanes {
                weights: lanes(&|lane| tet(lane).map_or(0.0, |t| t.volume_weight)),
                ratios: lanes(&|lane| shape(lane).ratio),
            });
        }
        self.has_volume |= tets.iter().any(|tet| tet.volume_weight > 0.0);
    }

    /// Adds the tets of prisms.
    pub fn push_prisms(&mut self, prisms: &[LocalPrism]) {
        let (batches, volumes) = prism::batches(prisms);
        self.prisms.extend(batches);
        self.prism_volumes.extend(volumes);
        let tets = prisms.iter().flat_map(|(_, tets)| tets);
        self.has_volume |= tets.into_iter().any(|tet| tet.volume_weight > 0.0);
    }

    /// Drops what only volumes need where there are none. Call it when all tets are in.
    pub fn finish(&mut self) {
        if !self.has_volume {
            self.prism_volumes = Vec::new();
            self.volumes = Default::default();
        }
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let single = self.by_free.iter().zip(&self.volumes);
        size_of_val(&self.prisms[..])
            + size_of_val(&self.prism_volumes[..])
            + single
                .map(|(batches, volumes)| size_of_val(&batches[..]) + size_of_val(&volumes[..]))
                .sum::<usize>()
    }

    /// Adds the forces at positions `x` to `forces`.
    pub fn add_forces(&self, x: &[Row], forces: &mut [Row]) {
        let tets = self;
        if self.has_volume {
            dispatch(Forces::<true> { tets, x, forces });
        } else {
            dispatch(Forces::<false> { tets, x, forces });
        }
    }
}

/// `VOLUME`: whether any tet has a volume constraint.
struct Forces<'a, const VOLUME: bool> {
    tets: &'a TetBatches,
    x: &'a [Row],
    forces: &'a mut [Row],
}

impl<const VOLUME: bool> Kernel for Forces<'_, VOLUME> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Forces { tets, x, forces } = self;
        prism::add_forces::<L, VOLUME>(&tets.prisms, &tets.prism_volumes, x, forces);
        let ([one, two, three, four], [u, v, w, z]) = (&tets.by_free, &tets.volumes);
        add_forces::<L, 1, VOLUME>(one, u, x, forces);
        add_forces::<L, 2, VOLUME>(two, v, x, forces);
        add_forces::<L, 3, VOLUME>(three, w, x, forces);
        add_forces::<L, 4, VOLUME>(four, z, x, forces);
    }
}

/// Three rows, or three corners, of eight tets.
pub type Mat<L> = [[L; 3]; 3];

#[inline(always)]
fn add_forces<L: Lanes, const FREE: usize, const VOLUME: bool>(
    batches: &[Batch],
    volumes: &[VolumeLanes],
    x: &[Row],
    forces: &mut [Row],
) {
    for (b, batch) in batches.iter().enumerate() {
        let base = L::gather(x, &batch.rows[0]);
        let mut edges = [base; 3];
        for k in 0..3 {
            let corner = L::gather(x, &batch.rows[k + 1]);
            for i in 0..3 {
                edges[k][i] = corner[i] - base[i];
            }
        }
        let g: Mat<L> = load(&batch.gradients);
        let volume = if VOLUME { &volumes[b] } else { &NO_VOLUME };
        let s = stress::<L, VOLUME>(&edges, &g, &batch.weights, volume);
        let zero = [L::splat(0.0); 3];
        for k in 0..FREE.min(3) {
            L::scatter_add(forces, &batch.rows[k + 1], force(&s, &g[k], zero));
        }
        if FREE == 4 {
            let mut minus = zero;
            for j in 0..3 {
                minus[j] = -(g[0][j] + g[1][j] + g[2][j]);
            }
            L::scatter_add(forces, &batch.rows[0], force(&s, &minus, zero));
        }
    }
}

#[inline(always)]
pub fn load<L: Lanes>(m: &Mat<F32x8>) -> Mat<L> {
    let mut o = [[L::splat(0.0); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            o[i][j] = L::load(&m[i][j]);
        }
    }
    o
}

/// w (R − F) + u (V − F) with F = Σ edge × gradient.
#[inline(always)]
pub fn stress<L: Lanes, const VOLUME: bool>(
    edges: &Mat<L>,
    g: &Mat<L>,
    weight: &F32x8,
    volume: &VolumeLanes,
) -> Mat<L> {
    let f = deformation_gradient(edges, g);
    weighted_sum::<L, VOLUME>(rotation_lanes(&f), &f, weight, volume)
}

/// [`stress`] of two batches, their polar decompositions overlapped.
#[inline(always)]
pub fn stress_pair<L: Lanes, const VOLUME: bool>(
    edges: [&Mat<L>; 2],
    g: [&Mat<L>; 2],
    weights: [&F32x8; 2],
    volumes: [&VolumeLanes; 2],
) -> [Mat<L>; 2] {
    let (f0, f1) = (
        deformation_gradient(edges[0], g[0]),
        deformation_gradient(edges[1], g[1]),
    );
    let [r0, r1] = rotation_lanes_pair([&f0, &f1]);
    [
        weighted_sum::<L, VOLUME>(r0, &f0, weights[0], volumes[0]),
        weighted_sum::<L, VOLUME>(r1, &f1, weights[1], volumes[1]),
    ]
}

#[inline(always)]
fn deformation_gradient<L: Lanes>(edges: &Mat<L>, g: &Mat<L>) -> Mat<L> {
    let mut f = *g;
    for i in 0..3 {
        for j in 0..3 {
            f[i][j] =
                edges[0][i].mul_add(g[0][j], edges[1][i].mul_add(g[1][j], edges[2][i] * g[2][j]));
        }
    }
    f
}

#[inline(always)]
fn weighted_sum<L: Lanes, const VOLUME: bool>(
    r: Mat<L>,
    f: &Mat<L>,
    weight: &F32x8,
    volume: &VolumeLanes,
) -> Mat<L> {
    let weight = L::load(weight);
    let mut s = r;
    for i in 0..3 {
        for j in 0..3 {
            s[i][j] = (r[i][j] - f[i][j]) * weight;
        }
    }
    if VOLUME {
        let d = volume_shift(f, &r, L::load(&volume.ratios));
        let weight = L::load(&volume.weights);
        for i in 0..3 {
            for j in 0..3 {
                s[i][j] = d[i][j].mul_add(weight, s[i][j]);
            }
        }
    }
    s
}

/// Stress × gradient, added to `sum`.
#[inline(always)]
pub fn force<L: Lanes>(s: &Mat<L>, g: &[L; 3], sum: [L; 3]) -> [L; 3] {
    let mut o = sum;
    for i in 0..3 {
        o[i] = s[i][0].mul_add(g[0], s[i][1].mul_add(g[1], s[i][2].mul_add(g[2], sum[i])));
    }
    o
}
