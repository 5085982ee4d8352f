//! Prisms of tissue: three tets between a triangle of the skin and one of the bone surface.
//!
//! Processed as a prism, three tets read each corner once instead of twice and add to each corner once.

// Plain loops: iterator adaptors are not always inlined, and code outside the kernel loses its instruction set.
#![allow(clippy::needless_range_loop)]

use supple_geom::simd::{F32x8, LANES, Lanes, Row};

use super::stress::stresses;
use super::tet_batch::{Tet, Triangle, deformation_gradient, force, load, minus, plus};
use super::volume_lanes::{NO_VOLUME, VolumeLanes};
use crate::Model;

/// A chain of three tets, each sharing a face with the next: `(a, b, c; c′)`, `(a, b; b′, c′)`, `(a; a′, b′, c′)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prism {
    /// The tets in this order.
    pub tets: [usize; 3],
    /// a, b, c, a′, b′, c′.
    pub corners: [u32; 6],
}

impl Prism {
    /// Whether a, b and c are free and a′, b′ and c′ are fixed, as in most prisms between skin and bone surface.
    pub fn is_layer(&self, free: usize) -> bool {
        let [a, b, c, rest @ ..] = self.corners.map(|v| (v as usize) < free);
        a && b && c && rest == [false; 3]
    }
}

/// The prisms formed by three consecutive tets with weight.
pub fn find_prisms(model: &Model) -> Vec<Prism> {
    let tets = model.tets();
    let mut prisms = Vec::new();
    let mut t = 0;
    while t + 2 < tets.len() {
        let found = (tets.weights[t..t + 3].iter().all(|&w| w > 0.0))
            .then(|| prism(model, t))
            .flatten();
        t += if found.is_some() { 3 } else { 1 };
        prisms.extend(found);
    }
    prisms
}

/// The prism of the tets `first`, `first + 1` and `first + 2`, if they form one.
fn prism(model: &Model, first: usize) -> Option<Prism> {
    let free = |v: u32| (v as usize) < model.free_count();
    let tet = |t: usize| &model.tets().vertices[t];
    let orders = [[0, 1, 2], [1, 0, 2], [0, 2, 1]].map(|order| order.map(|k| first + k));
    let middle = |&&[i, j, k]: &&[usize; 3]| {
        shared(tet(i), tet(j)) == 3 && shared(tet(j), tet(k)) == 3 && shared(tet(i), tet(k)) == 2
    };
    let &[mut i, j, mut k] = orders.iter().find(middle)?;
    // The tet at the skin, with the most free corners, comes first.
    let count = |t: usize| tet(t).iter().filter(|&&v| free(v)).count();
    if count(i) < count(k) {
        (i, k) = (k, i);
    }
    let only = |t: usize, not: usize| tet(t).iter().copied().find(|v| !tet(not).contains(v));
    let (c, b_below, b, a_below) = (only(i, j)?, only(j, i)?, only(j, k)?, only(k, j)?);
    let mut common = tet(i).iter().copied().filter(|v| tet(k).contains(v));
    let (mut a, mut c_below) = (common.next()?, common.next()?);
    if free(c_below) && !free(a) {
        (a, c_below) = (c_below, a);
    }
    Some(Prism {
        tets: [i, j, k],
        corners: [a, b, c, a_below, b_below, c_below],
    })
}

/// Number of corners that two tets share.
fn shared(p: &[u32; 4], q: &[u32; 4]) -> usize {
    p.iter().filter(|v| q.contains(v)).count()
}

/// Corners of the three tets besides c′, in the order a, b, c, a′, b′ of [`Prism`].
pub const CORNERS: [[usize; 3]; 3] = [[0, 1, 2], [0, 1, 4], [0, 3, 4]];

/// Eight prisms, structure of arrays.
#[derive(Clone, Debug)]
pub struct PrismBatch {
    /// Rows of a, b, c, a′, b′, c′.
    rows: [[u32; LANES]; 6],
    shapes: [Triangle<F32x8>; 3],
    weights: [F32x8; 3],
}

/// Rows of a, b, c, a′, b′, c′ and the three tets.
pub type LocalPrism = ([u32; 6], [Tet; 3]);

/// Batches of eight prisms, distributed over the lanes as in [`TetBatches`](super::tet_batch::TetBatches).
pub fn batches(prisms: &[LocalPrism]) -> Vec<PrismBatch> {
    let count = prisms.len().div_ceil(LANES);
    let batch = |b: usize| {
        let prism = |lane: usize| prisms.get(lane * count + b);
        let shape = |lane: usize| prism(lane).unwrap_or(&prisms[0]);
        let lanes =
            |value: &dyn Fn(usize) -> f64| F32x8(std::array::from_fn(|lane| value(lane) as f32));
        PrismBatch {
            rows: std::array::from_fn(|corner| std::array::from_fn(|lane| shape(lane).0[corner])),
            shapes: std::array::from_fn(|t| {
                std::array::from_fn(|k| lanes(&|l| shape(l).1[t].shape[k]))
            }),
            weights: std::array::from_fn(|t| lanes(&|l| prism(l).map_or(0.0, |p| p.1[t].weight))),
        }
    };
    (0..count).map(batch).collect()
}

/// Volume constraints of the same batches.
pub fn volumes(prisms: &[LocalPrism]) -> Vec<[VolumeLanes; 3]> {
    let count = prisms.len().div_ceil(LANES);
    let of = |b: usize, t: usize| {
        let tet = |lane: usize| prisms.get(lane * count + b).map(|prism| &prism.1[t]);
        let lanes = |value: &dyn Fn(&Tet) -> f64, none: f64| {
            F32x8(std::array::from_fn(|l| tet(l).map_or(none, value) as f32))
        };
        VolumeLanes {
            weights: lanes(&|tet| tet.volume_weight, 0.0),
            ratios: lanes(&|tet| tet.ratio, 1.0),
        }
    };
    (0..count)
        .map(|b| std::array::from_fn(|t| of(b, t)))
        .collect()
}

/// No volume constraints.
pub const NO_VOLUMES: [VolumeLanes; 3] = [NO_VOLUME, NO_VOLUME, NO_VOLUME];

/// Adds the forces of prisms at positions `x` to `forces`, on all six corners.
#[inline(always)]
pub fn add_forces<L: Lanes, const VOLUME: bool>(
    batches: &[PrismBatch],
    volumes: &[[VolumeLanes; 3]],
    x: &[Row],
    forces: &mut [Row],
) {
    for (b, batch) in batches.iter().enumerate() {
        let [first, second, third] = if VOLUME { &volumes[b] } else { &NO_VOLUMES };
        let base = L::gather(x, &batch.rows[5]);
        let mut edges = [base; 5];
        for k in 0..5 {
            edges[k] = minus(L::gather(x, &batch.rows[k]), &base);
        }
        let [a, b, c, a_below, b_below] = edges;
        let [g, h, k]: [Triangle<L>; 3] = [
            load(&batch.shapes[0]),
            load(&batch.shapes[1]),
            load(&batch.shapes[2]),
        ];
        let f = [
            deformation_gradient(&[a, b, c], &g),
            deformation_gradient(&[a, b, b_below], &h),
            deformation_gradient(&[a, a_below, b_below], &k),
        ];
        let [w0, w1, w2] = &batch.weights;
        let [s, t, u] = stresses::<L, 3, VOLUME>(&f, 3, [w0, w1, w2], [first, second, third]);
        let on_c = force(&s, &g, 2);
        let on_b = plus(force(&s, &g, 1), &force(&t, &h, 1));
        let on_a = plus(force(&s, &g, 0), &force(&t, &h, 0));
        let on_a = plus(on_a, &force(&u, &k, 0));
        let on_a_below = force(&u, &k, 1);
        let on_b_below = plus(force(&t, &h, 2), &force(&u, &k, 2));
        let sum = plus(
            plus(plus(on_a, &on_b), &on_c),
            &plus(on_a_below, &on_b_below),
        );
        let on_c_below = [-sum[0], -sum[1], -sum[2]];
        let on = [on_a, on_b, on_c, on_a_below, on_b_below, on_c_below];
        for k in 0..6 {
            L::scatter_add(forces, &batch.rows[k], on[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelBuilder, shapes};

    #[test]
    fn finds_every_prism_of_a_layer() {
        let mesh = shapes::prism_layer(7, 0.1, 0.1);
        let mut builder = ModelBuilder::new();
        for (v, &p) in mesh.positions.iter().enumerate() {
            builder.vertex(p, v < mesh.positions.len() / 2);
        }
        for &tet in &mesh.tets {
            builder.tet(tet, 1.0);
        }
        let model = builder.build().expect("a valid model");
        let prisms = find_prisms(&model);
        assert_eq!(prisms.len(), mesh.cells.len());
        let mut tets: Vec<usize> = prisms.iter().flat_map(|p| p.tets).collect();
        tets.sort_unstable();
        assert!(tets.iter().copied().eq(0..mesh.tets.len()));
        for prism in &prisms {
            assert!(prism.is_layer(model.free_count()));
            let [a, b, c, d, e, f] = prism.corners;
            for (&t, corners) in prism
                .tets
                .iter()
                .zip([[a, b, c, f], [a, b, e, f], [a, d, e, f]])
            {
                let tet = &model.tets().vertices[t];
                assert!(tet.iter().all(|v| corners.contains(v)));
            }
        }
    }
}
