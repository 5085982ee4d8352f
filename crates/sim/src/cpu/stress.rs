//! Stress w (R − F) + u (V − F) of eight tets, by columns and only those asked for.
//!
//! For all but strongly deformed tets R and V − F are F (a + b FᵀF) + c cof F with numbers a, b, c of the tet: the sum of
//! both is, too, and neither matrix is formed.

// Plain loops: iterator adaptors are not always inlined, and what is not inlined loses the kernel's instruction set.
#![allow(clippy::needless_range_loop)]

use supple_geom::polar::{Closest, Columns, careful_rotations, closest_rotations, cofactor_column};
use supple_geom::simd::{F32x8, Kernel, Lanes, dispatch};

use super::volume_lanes::{VolumeLanes, volume_shift, volume_terms};

/// Three columns of eight matrices.
pub type Mat<L> = Columns<L>;

/// The first `columns` columns of the stress of `N` times eight tets; the others are not defined.
#[inline(always)]
pub fn stresses<L: Lanes, const N: usize, const VOLUME: bool>(
    f: &[Mat<L>; N],
    columns: [usize; N],
    weights: [&F32x8; N],
    volumes: [&VolumeLanes; N],
) -> [Mat<L>; N] {
    let closest = closest_rotations(f);
    // For all before the first branch, so that their divisions overlap.
    let mut sums = closest;
    for n in 0..N {
        sums[n] = weighted::<L, VOLUME>(&closest[n], weights[n], volumes[n]);
    }
    let mut s = *f;
    for n in 0..N {
        if sums[n].is_clear {
            s[n][0] = sums[n].column(&f[n], &sums[n].cofactors, 0);
            for j in 1..columns[n] {
                s[n][j] = sums[n].column(&f[n], &cofactor_column(&f[n], j), j);
            }
        } else {
            s[n] = load(&careful(&store(&f[n]), weights[n], volumes[n]));
        }
    }
    s
}

/// The coefficients of w (R − F) + u (V − F) in place of those of R.
#[inline(always)]
fn weighted<L: Lanes, const VOLUME: bool>(
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

/// All columns where some tet is flat, inverted or strongly strained.
#[cold]
#[inline(never)]
fn careful(f: &Mat<F32x8>, weights: &F32x8, volume: &VolumeLanes) -> Mat<F32x8> {
    let r = &careful_rotations(f);
    dispatch(Careful {
        f,
        r,
        weights,
        volume,
    })
}

struct Careful<'a> {
    f: &'a Mat<F32x8>,
    r: &'a Mat<F32x8>,
    weights: &'a F32x8,
    volume: &'a VolumeLanes,
}

impl Kernel for Careful<'_> {
    type Output = Mat<F32x8>;
    #[inline(always)]
    fn run<L: Lanes>(self) -> Mat<F32x8> {
        let (f, r): (Mat<L>, Mat<L>) = (load(self.f), load(self.r));
        let (w, u) = (L::load(self.weights), L::load(&self.volume.weights));
        let d = volume_shift(&f, &r, L::load(&self.volume.ratios));
        let mut s = f;
        for j in 0..3 {
            for i in 0..3 {
                s[j][i] = d[j][i].mul_add(u, (r[j][i] - f[j][i]) * w);
            }
        }
        store(&s)
    }
}

#[inline(always)]
fn load<L: Lanes>(m: &Mat<F32x8>) -> Mat<L> {
    let mut o = [[L::splat(0.0); 3]; 3];
    for j in 0..3 {
        for i in 0..3 {
            o[j][i] = L::load(&m[j][i]);
        }
    }
    o
}

#[inline(always)]
fn store<L: Lanes>(m: &Mat<L>) -> Mat<F32x8> {
    let mut o = [[F32x8::default(); 3]; 3];
    for j in 0..3 {
        for i in 0..3 {
            o[j][i] = m[j][i].store();
        }
    }
    o
}
