//! Stress w (R − F) + u (V − F) of eight tets, by columns, computing only the columns that are needed.
//!
//! Except for strongly deformed tets, R and V − F have the form F (a + b FᵀF) + c cof F with scalars a, b, c of the tet. So does
//! their sum, and neither matrix is formed.

// Plain loops: iterator adaptors are not always inlined, and code outside the kernel loses its instruction set.
#![allow(clippy::needless_range_loop)]

use supple_geom::polar::{
    Closest, Columns, Invariants, careful_rotations, closest_rotations, cofactor_column, gram,
};
use supple_geom::simd::{F32x8, Kernel, Lanes, dispatch};

use super::volume_lanes::{VolumeLanes, volume_shift, volume_terms};

/// Three columns of eight matrices.
pub type Mat<L> = Columns<L>;

/// The first `columns` columns of the stress of `N` times eight tets; the others are not defined.
#[inline(always)]
pub fn stresses<L: Lanes, const N: usize, const VOLUME: bool>(
    f: &[Mat<L>; N],
    columns: usize,
    weights: [&F32x8; N],
    volumes: [&VolumeLanes; N],
) -> [Mat<L>; N] {
    let mut grams = [gram(&f[0]); N];
    let mut cofactors = [cofactor_column(&f[0], 0); N];
    for n in 1..N {
        grams[n] = gram(&f[n]);
        cofactors[n] = cofactor_column(&f[n], 0);
    }
    let mut invariants = [Invariants::new(&f[0], &grams[0], &cofactors[0]); N];
    for n in 1..N {
        invariants[n] = Invariants::new(&f[n], &grams[n], &cofactors[n]);
    }
    let closest = closest_rotations(&invariants);
    // Computed for all tets together so that their divisions overlap.
    let mut sums = closest;
    for n in 0..N {
        sums[n] = weighted::<L, VOLUME>(&closest[n], weights[n], volumes[n]);
    }
    let (mut s, mut clear) = (*f, u8::MAX);
    for n in 0..N {
        s[n][0] = sums[n].column(&f[n], &grams[n], &cofactors[n], 0);
        for j in 1..columns {
            s[n][j] = sums[n].column(&f[n], &grams[n], &cofactor_column(&f[n], j), j);
        }
        clear &= closest[n].clear;
    }
    // One branch for all tets: a branch between them would serialise them.
    if clear != u8::MAX {
        for n in 0..N {
            if closest[n].clear != u8::MAX {
                let f = store(&f[n]);
                s[n] = load(&careful_stress::<VOLUME>(&f, weights[n], volumes[n]));
            }
        }
    }
    s
}

/// The coefficients of w (R − F) + u (V − F) in place of those of R.
#[inline(always)]
pub fn weighted<L: Lanes, const VOLUME: bool>(
    r: &Closest<L>,
    weight: &F32x8,
    volume: &VolumeLanes,
) -> Closest<L> {
    let weight = L::load(weight);
    let mut s = *r;
    if VOLUME {
        let [on_r, on_f, on_cofactors] =
            volume_terms(r.lambda, r.k, r.det, L::load(&volume.ratios));
        let u = L::load(&volume.weights);
        let w = u.mul_add(on_r, weight);
        s.a = w.mul_add(r.a, u.mul_sub(on_f, weight));
        s.b = w * r.b;
        s.c = w.mul_add(r.c, u * on_cofactors);
    } else {
        s.a = r.a.mul_sub(weight, weight);
        s.b = r.b * weight;
        s.c = r.c * weight;
    }
    s
}

/// All columns of the stress of eight tets, robust for flat, inverted and strongly strained ones.
#[cold]
#[inline(never)]
pub fn careful_stress<const VOLUME: bool>(
    f: &Mat<F32x8>,
    weights: &F32x8,
    volume: &VolumeLanes,
) -> Mat<F32x8> {
    dispatch(CarefulStress::<VOLUME> { f, weights, volume })
}

struct CarefulStress<'a, const VOLUME: bool> {
    f: &'a Mat<F32x8>,
    weights: &'a F32x8,
    volume: &'a VolumeLanes,
}

impl<const VOLUME: bool> Kernel for CarefulStress<'_, VOLUME> {
    type Output = Mat<F32x8>;
    #[inline(always)]
    fn run<L: Lanes>(self) -> Mat<F32x8> {
        let f: Mat<L> = load(self.f);
        let r: Mat<L> = load(&careful_rotations(self.f));
        let (w, u) = (L::load(self.weights), L::load(&self.volume.weights));
        let mut s = f;
        for j in 0..3 {
            for i in 0..3 {
                s[j][i] = (r[j][i] - f[j][i]) * w;
            }
        }
        if VOLUME {
            let d = volume_shift(&f, &r, L::load(&self.volume.ratios));
            for j in 0..3 {
                for i in 0..3 {
                    s[j][i] = d[j][i].mul_add(u, s[j][i]);
                }
            }
        }
        store(&s)
    }
}

#[inline(always)]
pub fn load<L: Lanes>(m: &Mat<F32x8>) -> Mat<L> {
    let mut o = [[L::splat(0.0); 3]; 3];
    for j in 0..3 {
        for i in 0..3 {
            o[j][i] = L::load(&m[j][i]);
        }
    }
    o
}

#[inline(always)]
pub fn store<L: Lanes>(m: &Mat<L>) -> Mat<F32x8> {
    let mut o = [[F32x8::default(); 3]; 3];
    for j in 0..3 {
        for i in 0..3 {
            o[j][i] = m[j][i].store();
        }
    }
    o
}
