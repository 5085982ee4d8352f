//! Tet strain and volume, eight tets at a time: forces (w (R − F) + u (V − F)) gₐ towards the closest rotation R and the
//! closest matrix V of the target volume. Both use the same gradients.
//!
//! Material axes can be chosen for each tet: in axes rotated by Q, F Q has the closest rotation R Q, and Q can be chosen so that
//! the gradients Qᵀ gₐ of three corners form a lower triangle. Free corners come first, so a tet with one free corner needs
//! only one column of its stress.

// Plain loops: iterator adaptors are not always inlined, and code outside the kernel loses its instruction set.
#![allow(clippy::needless_range_loop)]

use glam::DVec3;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

use super::layer::Layer;
use super::prism::{self, LocalPrism, PrismBatch};
use super::stress::{Mat, stresses};
use super::volume_lanes::{NO_VOLUME, VolumeLanes};

/// One tet in local rows. The first corner is fixed if any is; the free corners follow.
#[derive(Clone, Debug)]
pub struct Tet {
    /// Rows of the corners.
    pub rows: [u32; 4],
    /// Shape gradients of the last three corners in the tet's own axes [1/m].
    pub shape: Triangle<f64>,
    /// Scaled weight.
    pub weight: f64,
    /// Scaled weight of its volume constraint; 0 without one.
    pub volume_weight: f64,
    /// Target volume / rest volume.
    pub ratio: f64,
}

/// A lower triangular matrix by rows: 00, 10, 11, 20, 21, 22.
pub type Triangle<T> = [T; 6];

/// Three gradients, in axes in which they form a lower triangle.
pub fn triangle([a, b, c]: [DVec3; 3]) -> Triangle<f64> {
    let x = a.normalize_or(DVec3::X);
    let y = (b - x * x.dot(b)).normalize_or(x.any_orthonormal_vector());
    let z = x.cross(y);
    [a.dot(x), b.dot(x), b.dot(y), c.dot(x), c.dot(y), c.dot(z)]
}

/// Eight tets, structure of arrays.
#[derive(Clone, Debug)]
struct Batch {
    rows: [[u32; LANES]; 4],
    shape: Triangle<F32x8>,
    weights: F32x8,
}

/// All tets of a region: those of prisms, and the others by their number of free corners. Forces on fixed corners are not
/// computed.
///
/// Volume constraints are in separate lists, so that models without any do not read them.
#[derive(Clone, Debug, Default)]
pub struct TetBatches {
    /// Prisms between skin and bone.
    layer: Layer,
    /// Other prisms.
    prisms: Vec<PrismBatch>,
    prism_volumes: Vec<[VolumeLanes; 3]>,
    by_free: [Vec<Batch>; 4],
    volumes: [Vec<VolumeLanes>; 4],
    has_volume: bool,
}

impl TetBatches {
    /// Adds tets with `free` corners: corners 1 to `free`, or all when `free` is 4.
    pub fn push(&mut self, free: usize, tets: &[Tet]) {
        // Lane l of all batches runs through a contiguous part of the list. Neighbouring tets share corners, and a corner that
        // occurs twice in a batch would make its second addition wait for the first.
        let batches = tets.len().div_ceil(LANES);
        for b in 0..batches {
            // A lane past the end repeats the first tet with zero weight: a tet of zeros would give NaN.
            let tet = |lane: usize| tets.get(lane * batches + b);
            let shape = |lane: usize| tet(lane).unwrap_or(&tets[0]);
            let lanes = |value: &dyn Fn(usize) -> f64| {
                F32x8(std::array::from_fn(|lane| value(lane) as f32))
            };
            self.by_free[free - 1].push(Batch {
                rows: std::array::from_fn(|corner| {
                    std::array::from_fn(|lane| shape(lane).rows[corner])
                }),
                shape: std::array::from_fn(|k| lanes(&|l| shape(l).shape[k])),
                weights: lanes(&|lane| tet(lane).map_or(0.0, |t| t.weight)),
            });
            self.volumes[free - 1].push(VolumeLanes {
                weights: lanes(&|lane| tet(lane).map_or(0.0, |t| t.volume_weight)),
                ratios: lanes(&|lane| shape(lane).ratio),
            });
        }
        self.has_volume |= tets.iter().any(|tet| tet.volume_weight > 0.0);
    }

    /// Sets the prisms: those of the layer, and others.
    pub fn set_prisms(&mut self, [layer, others]: &[Vec<LocalPrism>; 2]) {
        self.layer = Layer::new(layer);
        self.prisms = prism::batches(others);
        self.prism_volumes = prism::volumes(others);
        let mut tets = layer.iter().chain(others).flat_map(|(_, tets)| tets);
        self.has_volume |= tets.any(|tet| tet.volume_weight > 0.0);
    }

    /// Drops the lists of volume constraints if there are none. Call it after all tets were added.
    pub fn finish(&mut self) {
        if !self.has_volume {
            self.layer.drop_volumes();
            self.prism_volumes = Vec::new();
            self.volumes = Default::default();
        }
    }

    /// Memory \[bytes\].
    pub fn memory(&self) -> usize {
        fn bytes<T>(lists: &[Vec<T>]) -> usize {
            lists.iter().map(|list| size_of_val(&list[..])).sum()
        }
        self.layer.memory()
            + size_of_val(&self.prisms[..])
            + size_of_val(&self.prism_volumes[..])
            + bytes(&self.by_free)
            + bytes(&self.volumes)
    }

    /// Updates the terms of fixed rows from `x`. Fixed rows must not move until the next call.
    pub fn set_fixed(&mut self, x: &[Row]) {
        dispatch(SetFixed(&mut self.layer, x));
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

struct SetFixed<'a>(&'a mut Layer, &'a [Row]);

impl Kernel for SetFixed<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.0.set_fixed::<L>(self.1);
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
        tets.layer.add_forces::<L, VOLUME>(x, forces);
        prism::add_forces::<L, VOLUME>(&tets.prisms, &tets.prism_volumes, x, forces);
        let ([one, two, three, four], [u, v, w, z]) = (&tets.by_free, &tets.volumes);
        add_forces::<L, 1, VOLUME>(one, u, x, forces);
        add_forces::<L, 2, VOLUME>(two, v, x, forces);
        add_forces::<L, 3, VOLUME>(three, w, x, forces);
        add_forces::<L, 4, VOLUME>(four, z, x, forces);
    }
}

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
            edges[k] = minus(L::gather(x, &batch.rows[k + 1]), &base);
        }
        let shape: Triangle<L> = load(&batch.shape);
        let volume = if VOLUME { &volumes[b] } else { &NO_VOLUME };
        let [f] = [deformation_gradient(&edges, &shape)];
        let columns = if FREE == 4 { 3 } else { FREE };
        let [s] = stresses::<L, 1, VOLUME>(&[f], columns, [&batch.weights], [volume]);
        let mut sum = [L::splat(0.0); 3];
        for k in 0..columns {
            let force = force(&s, &shape, k);
            L::scatter_add(forces, &batch.rows[k + 1], force);
            sum = minus(sum, &force);
        }
        if FREE == 4 {
            L::scatter_add(forces, &batch.rows[0], sum);
        }
    }
}

/// a − b.
#[inline(always)]
pub fn minus<L: Lanes>(a: [L; 3], b: &[L; 3]) -> [L; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// a + b.
#[inline(always)]
pub fn plus<L: Lanes>(a: [L; 3], b: &[L; 3]) -> [L; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub fn load<L: Lanes>(m: &Triangle<F32x8>) -> Triangle<L> {
    let mut o = [L::splat(0.0); 6];
    for i in 0..6 {
        o[i] = L::load(&m[i]);
    }
    o
}

/// F = Σ edge × gradient, by columns.
#[inline(always)]
pub fn deformation_gradient<L: Lanes>(edges: &[[L; 3]; 3], shape: &Triangle<L>) -> Mat<L> {
    let (g, mut f) = (shape, *edges);
    for i in 0..3 {
        let [a, b, c] = [edges[0][i], edges[1][i], edges[2][i]];
        f[0][i] = a.mul_add(g[0], b.mul_add(g[1], c * g[3]));
        f[1][i] = b.mul_add(g[2], c * g[4]);
        f[2][i] = c * g[5];
    }
    f
}

/// Stress × gradient of corner `k`.
#[inline(always)]
pub fn force<L: Lanes>(s: &Mat<L>, shape: &Triangle<L>, k: usize) -> [L; 3] {
    let row = k * (k + 1) / 2;
    let mut o = s[0];
    for i in 0..3 {
        o[i] = s[0][i] * shape[row];
        for j in 1..=k {
            o[i] = s[j][i].mul_add(shape[row + j], o[i]);
        }
    }
    o
}

#[cfg(test)]
mod tests {
    use glam::DMat3;

    use super::*;

    #[test]
    fn a_triangle_keeps_lengths_angles_and_handedness() {
        let g = [
            DVec3::new(0.3, -1.0, 2.0),
            DVec3::new(0.7, 0.2, -0.4),
            DVec3::new(-1.5, 0.1, 0.6),
        ];
        let t = triangle(g);
        let h = [
            DVec3::new(t[0], 0.0, 0.0),
            DVec3::new(t[1], t[2], 0.0),
            DVec3::new(t[3], t[4], t[5]),
        ];
        for i in 0..3 {
            for j in 0..3 {
                assert!((g[i].dot(g[j]) - h[i].dot(h[j])).abs() < 1e-14);
            }
        }
        let det = |m: [DVec3; 3]| DMat3::from_cols(m[0], m[1], m[2]).determinant();
        assert!((det(g) - det(h)).abs() < 1e-14);
    }
}
