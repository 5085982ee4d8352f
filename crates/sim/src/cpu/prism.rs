//! Prisms of tissue: three tets between a free triangle (skin) and a fixed one (bone surface).
//!
//! Seen together, eight prisms read each corner once instead of twice and add to each free corner once.

// Plain loops: iterator adaptors are not always inlined, and what is not inlined loses the kernel's instruction set.
#![allow(clippy::needless_range_loop)]

use std::collections::BTreeMap;

use supple_geom::simd::{F32x8, LANES, Lanes, Row};

use super::stress::stresses;
use super::tet_batch::{Tet, Triangle, deformation_gradient, force, load, minus, plus};
use super::volume_lanes::{NO_VOLUME, VolumeLanes};
use crate::Model;

/// The three tets of a prism, by the number of their free corners: `(a, b, c; c′)`, `(a, b; b′, c′)`, `(a; a′, b′, c′)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prism {
    /// Tets with three, two and one free corner.
    pub tets: [usize; 3],
    /// a, b, c.
    pub free: [u32; 3],
    /// a′, b′, c′.
    pub fixed: [u32; 3],
}

/// A tet's free and fixed corners.
struct Corners {
    tet: usize,
    free: Vec<u32>,
    fixed: Vec<u32>,
    used: bool,
}

/// All prisms among the tets with weight, in the order of their first tet.
pub fn find_prisms(model: &Model) -> Vec<Prism> {
    let [_, mut ones, mut twos, threes, _] = tets_by_free_corners(model);
    let mut at_corner: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (k, one) in ones.iter().enumerate() {
        at_corner.entry(one.free[0]).or_default().push(k);
    }
    let mut at_edge: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
    for (k, two) in twos.iter().enumerate() {
        at_edge
            .entry([two.free[0], two.free[1]])
            .or_default()
            .push(k);
    }
    let mut prisms = Vec::new();
    for three in &threes {
        let [a, b, c] = [three.free[0], three.free[1], three.free[2]];
        let on_edges = [[a, b], [a, c], [b, c]]
            .into_iter()
            .filter_map(|edge| at_edge.get(&edge))
            .flatten();
        let fits = |two: &Corners| !two.used && two.fixed.contains(&three.fixed[0]);
        let Some(two) = on_edges.copied().find(|&k| fits(&twos[k])) else {
            continue;
        };
        let on_corners = twos[two]
            .free
            .iter()
            .filter_map(|v| at_corner.get(v))
            .flatten();
        let fits =
            |one: &Corners| !one.used && twos[two].fixed.iter().all(|v| one.fixed.contains(v));
        let Some(one) = on_corners.copied().find(|&k| fits(&ones[k])) else {
            continue;
        };
        if let Some(prism) = prism(three, &twos[two], &ones[one]) {
            prisms.push(prism);
            (twos[two].used, ones[one].used) = (true, true);
        }
    }
    prisms
}

/// Tets with weight that have no, one, …, four free corners.
fn tets_by_free_corners(model: &Model) -> [Vec<Corners>; 5] {
    let tets = model.tets();
    let mut lists: [Vec<Corners>; 5] = Default::default();
    for (tet, corners) in tets
        .vertices
        .iter()
        .enumerate()
        .filter(|&(t, _)| tets.weights[t] > 0.0)
    {
        let is_free = |&&v: &&u32| (v as usize) < model.free_count();
        let (mut free, fixed): (Vec<u32>, Vec<u32>) = corners.iter().partition(is_free);
        free.sort_unstable();
        lists[free.len()].push(Corners {
            tet,
            free,
            fixed,
            used: false,
        });
    }
    lists
}

/// Names the corners of three tets with three, two and one free corner.
fn prism(three: &Corners, two: &Corners, one: &Corners) -> Option<Prism> {
    let other = |list: &[u32], not: &[u32]| list.iter().copied().find(|v| !not.contains(v));
    let (a, c_fixed) = (one.free[0], three.fixed[0]);
    let (b, c) = (other(&two.free, &[a])?, other(&three.free, &two.free)?);
    let (a_fixed, b_fixed) = (
        other(&one.fixed, &two.fixed)?,
        other(&two.fixed, &[c_fixed])?,
    );
    let tets = [three.tet, two.tet, one.tet];
    Some(Prism {
        tets,
        free: [a, b, c],
        fixed: [a_fixed, b_fixed, c_fixed],
    })
}

/// Corners of the three tets after their first, c′, in the order a, b, c, a′, b′ of [`Prism`].
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

/// Eight prisms each, spread over the lanes as [`TetBatches`](super::tet_batch::TetBatches) does it.
pub fn batches(prisms: &[LocalPrism]) -> (Vec<PrismBatch>, Vec<[VolumeLanes; 3]>) {
    let count = prisms.len().div_ceil(LANES);
    let batch = |b: usize| {
        let prism = |lane: usize| prisms.get(lane * count + b);
        let shape = |lane: usize| prism(lane).unwrap_or(&prisms[0]);
        let lanes =
            |value: &dyn Fn(usize) -> f64| F32x8(std::array::from_fn(|lane| value(lane) as f32));
        let batch = PrismBatch {
            rows: std::array::from_fn(|corner| std::array::from_fn(|lane| shape(lane).0[corner])),
            shapes: std::array::from_fn(|t| {
                std::array::from_fn(|k| lanes(&|l| shape(l).1[t].shape[k]))
            }),
            weights: std::array::from_fn(|t| lanes(&|l| prism(l).map_or(0.0, |p| p.1[t].weight))),
        };
        let volumes = std::array::from_fn(|t| VolumeLanes {
            weights: lanes(&|l| prism(l).map_or(0.0, |p| p.1[t].volume_weight)),
            ratios: lanes(&|l| shape(l).1[t].ratio),
        });
        (batch, volumes)
    };
    (0..count).map(batch).unzip()
}

const NO_VOLUMES: [VolumeLanes; 3] = [NO_VOLUME, NO_VOLUME, NO_VOLUME];

/// Adds the forces of prisms at positions `x` to `forces`.
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
        let [a, b, c, a_fixed, b_fixed] = edges;
        let [g, h, k]: [Triangle<L>; 3] = [
            load(&batch.shapes[0]),
            load(&batch.shapes[1]),
            load(&batch.shapes[2]),
        ];
        let f = [
            deformation_gradient(&[a, b, c], &g),
            deformation_gradient(&[a, b, b_fixed], &h),
            deformation_gradient(&[a, a_fixed, b_fixed], &k),
        ];
        let [w0, w1, w2] = &batch.weights;
        let [s, t, u] =
            stresses::<L, 3, VOLUME>(&f, [3, 2, 1], [w0, w1, w2], [first, second, third]);
        L::scatter_add(forces, &batch.rows[2], force(&s, &g, 2));
        let on_b = plus(force(&s, &g, 1), &force(&t, &h, 1));
        L::scatter_add(forces, &batch.rows[1], on_b);
        let on_a = plus(force(&s, &g, 0), &force(&t, &h, 0));
        L::scatter_add(forces, &batch.rows[0], plus(on_a, &force(&u, &k, 0)));
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
            let vertices: Vec<u32> = prism.free.iter().chain(&prism.fixed).copied().collect();
            assert!(prism.tets.iter().all(|&t| {
                model.tets().vertices[t]
                    .iter()
                    .all(|v| vertices.contains(v))
            }));
        }
    }
}
