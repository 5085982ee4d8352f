//! Tet strain, eight tets at a time: forces w (R − F) gₐ towards the closest rotation.

// Plain loops: iterator adaptors are not always inlined, and what is not inlined loses the kernel's instruction set.
#![allow(clippy::needless_range_loop)]

use glam::DVec3;
use supple_geom::polar::{rotation_lanes, rotation_lanes_pair};
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

use super::prism::{self, LocalPrism, PrismBatch};

/// One tet in local rows, free corners after a first corner that is fixed if one is.
#[derive(Clone, Debug)]
pub struct Tet {
    /// Rows of the corners.
    pub rows: [u32; 4],
    /// Shape gradients of the last three corners [1/m].
    pub gradients: [DVec3; 3],
    /// Scaled weight.
    pub weight: f64,
}

/// Eight tets, structure of arrays.
#[derive(Clone, Debug)]
struct Batch {
    rows: [[u32; LANES]; 4],
    gradients: [[F32x8; 3]; 3],
    weights: F32x8,
}

/// All tets of a region: those of prisms, and the others sorted by how many of their corners are free: forces on fixed ones are never computed.
#[derive(Clone, Debug, Default)]
pub struct TetBatches {
    prisms: Vec<PrismBatch>,
    by_free: [Vec<Batch>; 4],
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
        }
    }

    /// Adds the tets of prisms.
    pub fn push_prisms(&mut self, prisms: &[LocalPrism]) {
        self.prisms.extend(prism::batches(prisms));
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        size_of_val(&self.prisms[..])
            + self
                .by_free
                .iter()
                .map(|batches| size_of_val(&batches[..]))
                .sum::<usize>()
    }

    /// Adds the forces at positions `x` to `forces`.
    pub fn add_forces(&self, x: &[Row], forces: &mut [Row]) {
        dispatch(Forces {
            tets: self,
            x,
            forces,
        });
    }
}

struct Forces<'a> {
    tets: &'a TetBatches,
    x: &'a [Row],
    forces: &'a mut [Row],
}

impl Kernel for Forces<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        prism::add_forces::<L>(&self.tets.prisms, self.x, self.forces);
        let [one, two, three, four] = &self.tets.by_free;
        add_forces::<L, 1>(one, self.x, self.forces);
        add_forces::<L, 2>(two, self.x, self.forces);
        add_forces::<L, 3>(three, self.x, self.forces);
        add_forces::<L, 4>(four, self.x, self.forces);
    }
}

/// Three rows, or three corners, of eight tets.
pub type Mat<L> = [[L; 3]; 3];

#[inline(always)]
fn add_forces<L: Lanes, const FREE: usize>(batches: &[Batch], x: &[Row], forces: &mut [Row]) {
    for batch in batches {
        let base = L::gather(x, &batch.rows[0]);
        let mut edges = [base; 3];
        for k in 0..3 {
            let corner = L::gather(x, &batch.rows[k + 1]);
            for i in 0..3 {
                edges[k][i] = corner[i] - base[i];
            }
        }
        let g: Mat<L> = load(&batch.gradients);
        let s = stress(&edges, &g, L::load(&batch.weights));
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

/// w (R − F) with F = Σ edge × gradient.
#[inline(always)]
pub fn stress<L: Lanes>(edges: &Mat<L>, g: &Mat<L>, weight: L) -> Mat<L> {
    let f = deformation_gradient(edges, g);
    weighted_difference(rotation_lanes(&f), &f, weight)
}

/// [`stress`] of two batches, their polar decompositions overlapped.
#[inline(always)]
pub fn stress_pair<L: Lanes>(edges: [&Mat<L>; 2], g: [&Mat<L>; 2], weights: [L; 2]) -> [Mat<L>; 2] {
    let (f0, f1) = (
        deformation_gradient(edges[0], g[0]),
        deformation_gradient(edges[1], g[1]),
    );
    let [r0, r1] = rotation_lanes_pair([&f0, &f1]);
    [
        weighted_difference(r0, &f0, weights[0]),
        weighted_difference(r1, &f1, weights[1]),
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
fn weighted_difference<L: Lanes>(mut r: Mat<L>, f: &Mat<L>, weight: L) -> Mat<L> {
    for i in 0..3 {
        for j in 0..3 {
            r[i][j] = (r[i][j] - f[i][j]) * weight;
        }
    }
    r
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
