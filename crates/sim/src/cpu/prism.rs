//! Prisms of tissue: three tets between a free triangle (skin) and a fixed one (bone surface).
//!
//! Seen together, eight prisms read each corner once instead of twice and add to each free corner once.

// Plain loops: iterator adaptors are not always inlined, and what is not inlined loses the kernel's instruction set.
#![allow(clippy::needless_range_loop)]

use std::collections::BTreeMap;

use supple_geom::simd::{F32x8, LANES, Lanes, Row};

use super::tet_batch::{Mat, Tet, force, load, stress, stress_pair};
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

/// All prisms among the tets with weight, in the order of their first tet.
pub fn find_prisms(model: &Model) -> Vec<Prism> {
    let tets = model.tets();
    let mut by_free: [Vec<(usize, Vec<u32>, Vec<u32>)>; 5] = Default::default();
    for (i, corners) in tets.vertices.iter().enumerate().filter(|&(i, _)| tets.weights[i] > 0.0) {
        let (mut free, fixed): (Vec<u32>, Vec<u32>) =
            corners.iter().partition(|&&v| (v as usize) < model.free_count());
        free.sort_unstable();
        by_free[free.len()].push((i, free, fixed));
    }
    let [_, ones, twos, threes, _] = &by_free;
    let mut by_corner: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    ones.iter().enumerate().for_each(|(k, (_, free, _))| by_corner.entry(free[0]).or_default().push(k));
    let mut by_edge: BTreeMap<&[u32], Vec<usize>> = BTreeMap::new();
    twos.iter().enumerate().for_each(|(k, (_, free, _))| by_edge.entry(free).or_default().push(k));
    let (mut used_ones, mut used_twos) = (vec![false; ones.len()], vec![false; twos.len()]);
    let mut prisms = Vec::new();
    for (three, free, fixed) in threes {
        let edges = [[free[0], free[1]], [free[0], free[2]], [free[1], free[2]]];
        let twos_here = edges.iter().flat_map(|edge| by_edge.get(&edge[..]).into_iter().flatten());
        let with_two = twos_here.filter(|&&k| !used_twos[k] && twos[k].2.contains(&fixed[0]));
        let mut found = with_two.flat_map(|&k| {
            let (twos, ones, used_ones) = (&twos, &ones, &used_ones);
            let ones_here = twos[k].1.iter().flat_map(|v| by_corner.get(v).into_iter().flatten());
            let fits = move |&&j: &&usize| twos[k].2.iter().all(|v| ones[j].2.contains(v));
            ones_here.filter(move |&&j| !used_ones[j]).filter(fits).map(move |&j| (k, j))
        });
        let Some((k, j)) = found.next() else { continue };
        let (two, one) = (&twos[k], &ones[j]);
        let other = |list: &[u32], not: &[u32]| list.iter().copied().find(|v| !not.contains(v));
        let (a, c_fixed) = (one.1[0], fixed[0]);
        let (Some(b), Some(c)) = (other(&two.1, &[a]), other(free, &two.1)) else { continue };
        let (Some(b_fixed), Some(a_fixed)) = (other(&two.2, &[c_fixed]), other(&one.2, &two.2)) else { continue };
        (used_twos[k], used_ones[j]) = (true, true);
        prisms.push(Prism {
            tets: [*three, two.0, one.0],
            free: [a, b, c],
            fixed: [a_fixed, b_fixed, c_fixed],
        });
    }
    prisms
}

/// Corners of the three tets after their first, c′, in the order a, b, c, a′, b′ of [`Prism`].
pub const CORNERS: [[usize; 3]; 3] = [[0, 1, 2], [0, 1, 4], [0, 3, 4]];

/// Eight prisms, structure of arrays.
#[derive(Clone, Debug)]
pub struct PrismBatch {
    /// Rows of a, b, c, a′, b′, c′.
    rows: [[u32; LANES]; 6],
    gradients: [[[F32x8; 3]; 3]; 3],
    weights: [F32x8; 3],
}

/// Rows of a, b, c, a′, b′, c′ and the three tets.
pub type LocalPrism = ([u32; 6], [Tet; 3]);

/// Eight prisms each, spread over the lanes as [`TetBatches`](super::tet_batch::TetBatches) does it.
pub fn batches(prisms: &[LocalPrism]) -> Vec<PrismBatch> {
    let count = prisms.len().div_ceil(LANES);
    let batch = |b: usize| {
        let prism = |lane: usize| prisms.get(lane * count + b);
        let shape = |lane: usize| prism(lane).unwrap_or(&prisms[0]);
        let lanes = |value: &dyn Fn(usize) -> f64| F32x8(std::array::from_fn(|lane| value(lane) as f32));
        PrismBatch {
            rows: std::array::from_fn(|corner| std::array::from_fn(|lane| shape(lane).0[corner])),
            gradients: std::array::from_fn(|t| {
                std::array::from_fn(|k| std::array::from_fn(|c| lanes(&|l| shape(l).1[t].gradients[k][c])))
            }),
            weights: std::array::from_fn(|t| lanes(&|l| prism(l).map_or(0.0, |p| p.1[t].weight))),
        }
    };
    (0..count).map(batch).collect()
}

/// Adds the forces of prisms at positions `x` to `forces`.
#[inline(always)]
pub fn add_forces<L: Lanes>(batches: &[PrismBatch], x: &[Row], forces: &mut [Row]) {
    for batch in batches {
        let base = L::gather(x, &batch.rows[5]);
        let mut edges = [base; 5];
        for k in 0..5 {
            let corner = L::gather(x, &batch.rows[k]);
            for i in 0..3 {
                edges[k][i] = corner[i] - base[i];
            }
        }
        let [a, b, c, a_fixed, b_fixed] = edges;
        let (g, h): (Mat<L>, Mat<L>) = (load(&batch.gradients[0]), load(&batch.gradients[1]));
        let weights = [L::load(&batch.weights[0]), L::load(&batch.weights[1])];
        let [s, t] = stress_pair([&[a, b, c], &[a, b, b_fixed]], [&g, &h], weights);
        let zero = [L::splat(0.0); 3];
        let mut on_a = force(&t, &h[0], force(&s, &g[0], zero));
        let on_b = force(&t, &h[1], force(&s, &g[1], zero));
        L::scatter_add(forces, &batch.rows[2], force(&s, &g[2], zero));
        L::scatter_add(forces, &batch.rows[1], on_b);
        let g: Mat<L> = load(&batch.gradients[2]);
        let s = stress(&[a, a_fixed, b_fixed], &g, L::load(&batch.weights[2]));
        on_a = force(&s, &g[0], on_a);
        L::scatter_add(forces, &batch.rows[0], on_a);
    }
}
