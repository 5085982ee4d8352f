//! Prisms between a triangle of the skin and one of the bone surface: most prisms of a body.
//!
//! The bone surface does not move within a step, so its contribution to the three [tets](super::prism::Prism) is computed once
//! per step. The last column of F is then constant in the second tet, and the last two columns in the third, of which only
//!
//! > M = F₁F₁ᵀ + F₂F₂ᵀ and n = F₁ × F₂
//!
//! are stored: ‖F‖² = F₀² + tr M, ‖cof F‖² = n² + F₀² tr M − F₀·M F₀, det F = F₀·n, and the first columns of F FᵀF and
//! cof F are F₀ F₀² + M F₀ and n.

// Plain loops: iterator adaptors are not always inlined, and code outside the kernel loses its instruction set.
#![allow(clippy::needless_range_loop)]

use supple_geom::polar::{
    Closest, Columns, Invariants, closest_rotations, cofactor_column, cross, dot, gram,
};
use supple_geom::simd::{F32x8, LANES, Lanes, Row};

use super::prism::{LocalPrism, NO_VOLUMES, volumes};
use super::stress::{careful_stress, weighted};
use super::tet_batch::{Triangle, deformation_gradient, force, load, minus, plus};
use super::volume_lanes::{NO_VOLUME, VolumeLanes};

/// All prisms of a region that are free at the skin and fixed at the bone.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    batches: Vec<Batch>,
    volumes: Vec<[VolumeLanes; 3]>,
    below: Vec<Below>,
    fixed_terms: Vec<FixedTerms>,
}

/// Eight prisms, structure of arrays: the data that every iteration reads.
#[derive(Clone, Debug)]
struct Batch {
    /// Rows of a, b and c.
    rows: [[u32; LANES]; 3],
    /// Shape gradients: all of the first tet, of the second those of a and b, of the third that of a.
    first: Triangle<F32x8>,
    second: [F32x8; 3],
    third: F32x8,
    weights: [F32x8; 3],
}

/// The data that is read once per step.
#[derive(Clone, Debug)]
struct Below {
    /// Rows of a′, b′ and c′.
    rows: [[u32; LANES]; 3],
    /// Shape gradients of b′ in the second tet, and of a′ and b′ in the third.
    second: [F32x8; 3],
    third: [F32x8; 5],
}

/// Contribution of the bone surface to the deformation gradients of eight prisms.
#[derive(Clone, Debug, Default)]
struct FixedTerms {
    /// c′ \[m\].
    base: [F32x8; 3],
    /// Second tet: the part of F that does not depend on a and b.
    second: Columns<F32x8>,
    /// Third tet: the part of F₀ that does not depend on a; M (entries 00, 01, 02, 11, 12, 22); n.
    third: [F32x8; 3],
    m: [F32x8; 6],
    n: [F32x8; 3],
}

impl Layer {
    /// Batches of eight prisms, distributed over the lanes as in [`TetBatches`](super::tet_batch::TetBatches).
    pub fn new(prisms: &[LocalPrism]) -> Layer {
        let count = prisms.len().div_ceil(LANES);
        let mut layer = Layer {
            volumes: volumes(prisms),
            fixed_terms: vec![FixedTerms::default(); count],
            ..Layer::default()
        };
        for b in 0..count {
            let prism = |lane: usize| prisms.get(lane * count + b);
            let shape = |lane: usize| prism(lane).unwrap_or(&prisms[0]);
            let lanes = |value: &dyn Fn(usize) -> f64| {
                F32x8(std::array::from_fn(|lane| value(lane) as f32))
            };
            let entry = |tet: usize, k: usize| lanes(&|lane| shape(lane).1[tet].shape[k]);
            let rows = |corner: usize| std::array::from_fn(|lane| shape(lane).0[corner]);
            layer.batches.push(Batch {
                rows: [0, 1, 2].map(rows),
                first: std::array::from_fn(|k| entry(0, k)),
                second: std::array::from_fn(|k| entry(1, k)),
                third: entry(2, 0),
                weights: std::array::from_fn(|t| {
                    lanes(&|lane| prism(lane).map_or(0.0, |prism| prism.1[t].weight))
                }),
            });
            layer.below.push(Below {
                rows: [3, 4, 5].map(rows),
                second: std::array::from_fn(|k| entry(1, k + 3)),
                third: std::array::from_fn(|k| entry(2, k + 1)),
            });
        }
        layer
    }

    /// Drops the data of volume constraints.
    pub fn drop_volumes(&mut self) {
        self.volumes = Vec::new();
    }

    /// Memory \[bytes\].
    pub fn memory(&self) -> usize {
        size_of_val(&self.batches[..])
            + size_of_val(&self.volumes[..])
            + size_of_val(&self.below[..])
            + size_of_val(&self.fixed_terms[..])
    }

    /// Updates the terms of the bone surface from `x`. Call it when fixed rows have moved.
    #[inline(always)]
    pub fn set_fixed<L: Lanes>(&mut self, x: &[Row]) {
        for (below, fixed_terms) in self.below.iter().zip(&mut self.fixed_terms) {
            let base = L::gather(x, &below.rows[2]);
            let a = minus(L::gather(x, &below.rows[0]), &base);
            let b = minus(L::gather(x, &below.rows[1]), &base);
            fixed_terms.base = lanes(&base);
            for k in 0..3 {
                fixed_terms.second[k] = lanes(&times(&b, L::load(&below.second[k])));
            }
            let mut third = [L::splat(0.0); 5];
            for k in 0..5 {
                third[k] = L::load(&below.third[k]);
            }
            let [a0, a1, b0, b1, b2] = third;
            fixed_terms.third = lanes(&plus(times(&a, a0), &times(&b, b0)));
            let f1 = plus(times(&a, a1), &times(&b, b1));
            let f2 = times(&b, b2);
            fixed_terms.n = lanes(&cross(&f1, &f2));
            for (entry, (i, j)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
                .into_iter()
                .enumerate()
            {
                fixed_terms.m[entry] = f1[i].mul_add(f1[j], f2[i] * f2[j]).store();
            }
        }
    }

    /// Adds the forces at positions `x` to `forces`.
    #[inline(always)]
    pub fn add_forces<L: Lanes, const VOLUME: bool>(&self, x: &[Row], forces: &mut [Row]) {
        let mut strained = Strained::default();
        for (i, (batch, fixed_terms)) in self.batches.iter().zip(&self.fixed_terms).enumerate() {
            let volumes = if VOLUME {
                &self.volumes[i]
            } else {
                &NO_VOLUMES
            };
            let (on, unclear) = on_skin::<L, VOLUME>(batch, fixed_terms, volumes, x);
            for k in 0..3 {
                L::scatter_add(forces, &batch.rows[k], on[k]);
            }
            if unclear != [0; 3] {
                strained.push(i, unclear, |eight| {
                    add_strained::<VOLUME>(self, eight, x, forces)
                });
            }
        }
        if !strained.is_empty() {
            add_strained::<VOLUME>(self, strained.tets(), x, forces);
        }
    }
}

/// Forces on a, b and c, without those of tets whose closest rotation is ill-conditioned, and a mask of these lanes for each
/// tet of the prism.
#[inline(always)]
fn on_skin<L: Lanes, const VOLUME: bool>(
    batch: &Batch,
    fixed_terms: &FixedTerms,
    volumes: &[VolumeLanes; 3],
    x: &[Row],
) -> ([[L; 3]; 3], [u8; 3]) {
    let base = vector::<L>(&fixed_terms.base);
    let a = minus(L::gather(x, &batch.rows[0]), &base);
    let b = minus(L::gather(x, &batch.rows[1]), &base);
    let c = minus(L::gather(x, &batch.rows[2]), &base);
    let g: Triangle<L> = load(&batch.first);
    let (h0, h1, h2) = (
        L::load(&batch.second[0]),
        L::load(&batch.second[1]),
        L::load(&batch.second[2]),
    );
    let k0 = L::load(&batch.third);

    let (mut f, mut s, mut t) = ([a; 3], [a; 3], a);
    for i in 0..3 {
        f[0][i] = a[i].mul_add(g[0], b[i].mul_add(g[1], c[i] * g[3]));
        f[1][i] = b[i].mul_add(g[2], c[i] * g[4]);
        f[2][i] = c[i] * g[5];
        s[0][i] = a[i].mul_add(h0, b[i].mul_add(h1, L::load(&fixed_terms.second[0][i])));
        s[1][i] = b[i].mul_add(h2, L::load(&fixed_terms.second[1][i]));
        s[2][i] = L::load(&fixed_terms.second[2][i]);
        t[i] = a[i].mul_add(k0, L::load(&fixed_terms.third[i]));
    }
    let (f_gram, s_gram) = (gram(&f), gram(&s));
    let (f_cof, s_cof) = (cofactor_column(&f, 0), cofactor_column(&s, 0));
    let n = vector::<L>(&fixed_terms.n);
    let (mt, trace) = times_m(&fixed_terms.m, &t);
    let t2 = dot(&t, &t);
    let closest = closest_rotations(&[
        Invariants::new(&f, &f_gram, &f_cof),
        Invariants::new(&s, &s_gram, &s_cof),
        Invariants {
            norm2: t2 + trace,
            cof2: t2.mul_add(trace, dot(&n, &n) - dot(&t, &mt)),
            det: dot(&t, &n),
        },
    ]);
    // Computed for all three tets together so that their divisions overlap.
    let mut sums = [
        weighted::<L, VOLUME>(&closest[0], &batch.weights[0], &volumes[0]),
        weighted::<L, VOLUME>(&closest[1], &batch.weights[1], &volumes[1]),
        weighted::<L, VOLUME>(&closest[2], &batch.weights[2], &volumes[2]),
    ];
    let unclear = [!closest[0].clear, !closest[1].clear, !closest[2].clear];
    if unclear != [0; 3] {
        for tet in 0..3 {
            sums[tet] = without(&sums[tet], unclear[tet]);
        }
    }
    let [u, v, w] = sums;
    let mut stress = f;
    stress[0] = u.column(&f, &f_gram, &f_cof, 0);
    stress[1] = u.column(&f, &f_gram, &cofactor_column(&f, 1), 1);
    stress[2] = u.column(&f, &f_gram, &cofactor_column(&f, 2), 2);
    let on_c = force(&stress, &g, 2);
    let mut on_b = force(&stress, &g, 1);
    let mut on_a = force(&stress, &g, 0);

    let stress = [
        v.column(&s, &s_gram, &s_cof, 0),
        v.column(&s, &s_gram, &cofactor_column(&s, 1), 1),
    ];
    let on_t = t2.mul_add(w.b, w.a);
    for i in 0..3 {
        on_a[i] = stress[0][i].mul_add(h0, on_a[i]);
        on_b[i] = stress[1][i].mul_add(h2, stress[0][i].mul_add(h1, on_b[i]));
        let column = t[i].mul_add(on_t, mt[i].mul_add(w.b, n[i] * w.c));
        on_a[i] = column.mul_add(k0, on_a[i]);
    }
    ([on_a, on_b, on_c], unclear)
}

/// Sets coefficients to zero in some lanes.
#[inline(always)]
fn without<L: Lanes>(sum: &Closest<L>, lanes: u8) -> Closest<L> {
    let mut coefficients = [sum.a.store(), sum.b.store(), sum.c.store()];
    for lane in 0..LANES {
        if lanes >> lane & 1 == 1 {
            for k in 0..3 {
                coefficients[k].0[lane] = 0.0;
            }
        }
    }
    let [a, b, c] = coefficients;
    Closest {
        a: L::load(&a),
        b: L::load(&b),
        c: L::load(&c),
        ..*sum
    }
}

/// A queue for flat, inverted or strongly strained tets, which are processed eight at a time. Such tets are close on the body
/// and therefore in different batches.
#[derive(Default)]
struct Strained {
    tets: [StrainedTet; LANES],
    count: usize,
}

/// A tet of a layer.
#[derive(Clone, Copy, Default)]
struct StrainedTet {
    batch: usize,
    tet: usize,
    lane: usize,
}

impl Strained {
    /// Adds the tets of a batch that `masks` select, and calls `process` whenever there are eight.
    #[inline(always)]
    fn push(&mut self, batch: usize, masks: [u8; 3], mut process: impl FnMut(&[StrainedTet])) {
        for tet in 0..3 {
            let mut mask = masks[tet];
            while mask != 0 {
                let lane = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                self.tets[self.count] = StrainedTet { batch, tet, lane };
                self.count += 1;
                if self.count == LANES {
                    process(&self.tets);
                    self.count = 0;
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn tets(&self) -> &[StrainedTet] {
        &self.tets[..self.count]
    }
}

/// Adds the forces of up to eight tets, with the robust closest rotation.
#[cold]
#[inline(never)]
fn add_strained<const VOLUME: bool>(
    layer: &Layer,
    tets: &[StrainedTet],
    x: &[Row],
    forces: &mut [Row],
) {
    let mut edges = [[F32x8::default(); 3]; 3];
    let mut shape = [F32x8::default(); 6];
    let (mut weights, mut volume) = (F32x8::default(), NO_VOLUME);
    // Unused lanes are at rest.
    for k in 0..3 {
        edges[k][k] = F32x8([1.0; LANES]);
        shape[[0, 2, 5][k]] = F32x8([1.0; LANES]);
    }
    for (to, &StrainedTet { batch, tet, lane }) in tets.iter().enumerate() {
        let (above, below) = (&layer.batches[batch], &layer.below[batch]);
        let at = |rows: &[u32; LANES]| x[rows[lane] as usize];
        let base = at(&below.rows[2]);
        let corners = [
            [&above.rows[0], &above.rows[1], &above.rows[2]],
            [&above.rows[0], &above.rows[1], &below.rows[1]],
            [&above.rows[0], &below.rows[0], &below.rows[1]],
        ];
        for k in 0..3 {
            let edge = at(corners[tet][k]) - base;
            for axis in 0..3 {
                edges[k][axis].0[to] = edge.0[axis];
            }
        }
        let (h, k) = (&above.second, &below.third);
        let [h3, h4, h5] = &below.second;
        let from = [
            above.first.each_ref(),
            [&h[0], &h[1], &h[2], h3, h4, h5],
            [&above.third, &k[0], &k[1], &k[2], &k[3], &k[4]],
        ];
        for k in 0..6 {
            shape[k].0[to] = from[tet][k].0[lane];
        }
        weights.0[to] = above.weights[tet].0[lane];
        if VOLUME {
            volume.weights.0[to] = layer.volumes[batch][tet].weights.0[lane];
            volume.ratios.0[to] = layer.volumes[batch][tet].ratios.0[lane];
        }
    }
    let f = deformation_gradient(&edges, &shape);
    let stress = careful_stress::<VOLUME>(&f, &weights, &volume);
    for corner in 0..3 {
        let rows = F32x8::rows(force(&stress, &shape, corner));
        for (row, &StrainedTet { batch, tet, lane }) in rows.iter().zip(tets) {
            if corner + tet < 3 {
                let to = &mut forces[layer.batches[batch].rows[corner][lane] as usize];
                *to = *to + *row;
            }
        }
    }
}

#[inline(always)]
fn vector<L: Lanes>(v: &[F32x8; 3]) -> [L; 3] {
    [L::load(&v[0]), L::load(&v[1]), L::load(&v[2])]
}

#[inline(always)]
fn lanes<L: Lanes>(v: &[L; 3]) -> [F32x8; 3] {
    [v[0].store(), v[1].store(), v[2].store()]
}

#[inline(always)]
fn times<L: Lanes>(v: &[L; 3], s: L) -> [L; 3] {
    [v[0] * s, v[1] * s, v[2] * s]
}

/// M v and tr M.
#[inline(always)]
fn times_m<L: Lanes>(m: &[F32x8; 6], v: &[L; 3]) -> ([L; 3], L) {
    let mut e = [v[0]; 6];
    for i in 0..6 {
        e[i] = L::load(&m[i]);
    }
    (
        [
            e[0].mul_add(v[0], e[1].mul_add(v[1], e[2] * v[2])),
            e[1].mul_add(v[0], e[3].mul_add(v[1], e[4] * v[2])),
            e[2].mul_add(v[0], e[4].mul_add(v[1], e[5] * v[2])),
        ],
        e[0] + e[3] + e[5],
    )
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::super::prism::{self, CORNERS, find_prisms};
    use super::super::rows::{local_tet, volume_of_tets};
    use super::*;
    use crate::{Model, ModelBuilder, Weights, shapes};

    fn model() -> Model {
        let mesh = shapes::prism_layer(5, 0.1, 0.08);
        let mut builder = ModelBuilder::new();
        for (v, &p) in mesh.positions.iter().enumerate() {
            builder.vertex(p, v < mesh.positions.len() / 2);
        }
        for (k, &tet) in mesh.tets.iter().enumerate() {
            let tet = builder.tet(tet, 1e3);
            builder.tet_volume(tet, 3e3, 1.0 + 0.01 * (k % 5) as f64);
        }
        builder.build().expect("a valid model")
    }

    fn local_prisms(model: &Model) -> Vec<LocalPrism> {
        let (volumes, weights) = (volume_of_tets(model), Weights::default());
        let local = |prism: prism::Prism| {
            let tet = |t: usize| {
                let [i, j, k] = CORNERS[t].map(|corner| prism.corners[corner]);
                let order = [prism.corners[5], i, j, k];
                local_tet(
                    model,
                    (&weights, 1.0),
                    &volumes,
                    prism.tets[t],
                    order,
                    [0; 4],
                )
            };
            (prism.corners, [0, 1, 2].map(tet))
        };
        find_prisms(model).into_iter().map(local).collect()
    }

    /// The rest positions, displaced by up to `most` \[m\].
    fn shaken(model: &Model, most: f32) -> Vec<Row> {
        let shake = |v: usize, k: usize| most * ((v * 3 + k) as f32 * 1.7).sin();
        let moved =
            |(v, p): (usize, &Vec3)| Row::new(std::array::from_fn(|k| p.as_ref()[k] + shake(v, k)));
        model.rest().iter().enumerate().map(moved).collect()
    }

    fn compare<const VOLUME: bool>(most: f32, tolerance: f32) {
        let model = model();
        let prisms = local_prisms(&model);
        let x = shaken(&model, most);
        let zeros = vec![Row::default(); x.len()];
        let (mut found, mut expected) = (zeros.clone(), zeros);
        let mut layer = Layer::new(&prisms);
        layer.set_fixed::<F32x8>(&x);
        layer.add_forces::<F32x8, VOLUME>(&x, &mut found);
        let (batches, volumes) = (prism::batches(&prisms), prism::volumes(&prisms));
        prism::add_forces::<F32x8, VOLUME>(&batches, &volumes, &x, &mut expected);
        let largest = (expected.iter().flat_map(|row| row.0)).fold(0.0, |m: f32, f| m.max(f.abs()));
        assert!(largest > 0.0);
        for (a, b) in found.iter().zip(&expected).take(model.free_count()) {
            for k in 0..3 {
                let error = (a.0[k] - b.0[k]).abs();
                assert!(error <= tolerance * largest, "{most}: {a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn layer_forces_equal_prism_forces() {
        for (most, tolerance) in [(0.002, 1e-4), (0.01, 2e-5), (0.02, 2e-5)] {
            compare::<false>(most, tolerance);
            compare::<true>(most, tolerance);
        }
    }

    /// Displaced by more than the layer's thickness, many tets are flat or inverted.
    #[test]
    fn forces_of_inverted_tets_agree() {
        compare::<false>(0.15, 2e-4);
        compare::<true>(0.15, 2e-4);
    }
}
