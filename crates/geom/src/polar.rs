//! The rotation closest to a 3×3 matrix: argmax over SO(3) of tr(RᵀF), always with determinant +1.
//!
//! Written with singular values s₁ ≥ s₂ ≥ |s₃|, where s₃ takes the sign of det F, the rotation is U Vᵀ: an inverted matrix is
//! turned back along its smallest singular direction. It is unique unless s₂ + s₃ = 0.
//!
//! [`rotation_lanes`] is a closed form on eight matrices at once. With λ = s₁+s₂+s₃ the characteristic identities of
//! F = R S give
//!
//! > (λ² − ‖F‖²)² = 8 λ det F + 4 ‖cof F‖²,
//! >
//! > R = ((λ² − k) F + λ cof F − F FᵀF) / (λ k − det F),  k = (λ² − ‖F‖²) / 2.
//!
//! λ is the largest root of the quartic, found by Halley's method from above: all roots ±s₁±s₂±s₃ are real, so that it
//! converges from ‖F‖√3 ≥ λ. This suffices for ordinary strains. An error in λ only stretches R along the singular
//! directions; where it may exceed rounding, one step R ← R (3 − RᵀR)/2 (Newton–Schulz) squares it, and ‖RᵀR − 1‖
//! before that step decides whether the result is accepted. The remaining cases, next to s₂ + s₃ = 0, use a singular
//! value decomposition in double precision ([`rotation_f64`]).

// Plain loops: iterator adaptors are not always inlined, and code that is not inlined loses the kernel's instruction
// set.
#![allow(clippy::needless_range_loop)]

use crate::simd::{F32x8, Kernel, LANES, Lanes, dispatch};
use glam::{DMat3, DQuat, DVec3, Mat3};

/// Halley steps of the usual path: enough for strains of one half.
const HALLEY_STEPS: usize = 2;
/// The same if some lane needs more: enough for all but one in a thousand tets of a body that is pressed flat.
const MAX_HALLEY_STEPS: usize = 4;
/// Halley steps of the careful path before each check of the result, and the number of checks before it falls back to
/// double precision: a random matrix needs one.
const CAREFUL_STEPS: usize = 4;
/// See [`CAREFUL_STEPS`].
const MAX_CHECKS: usize = 2;
/// Last Halley step, relative to λ, after which λ is right to single precision: each step cubes the error.
const CONVERGED: f32 = 5e-3;
/// (s₁+s₂)(s₂+s₃)(s₁+s₃)/λ³ (8/27 at the identity) above which a converged λ gives a rotation to 1e-5: rounding stretches R by
/// the inverse square of this times 1e-7. At 0.2, four times as many inverted tets take the slow path; at 0.05, forces
/// have an error of 4e-5.
const CLEAR_SEPARATION: f32 = 0.1;
/// Largest |RᵀR − 1| before the last Newton–Schulz step, which leaves about its square: 4e-6.
const MAX_STRETCH: f32 = 2e-3;
/// The same bound where a Newton–Schulz step follows: rounding turns R by its inverse times 1e-7. Smaller values lose
/// digits, larger ones send more matrices to the slow path.
const MIN_SEPARATION: f32 = 1e-2;

/// Smallest λ of the usual path: below, its powers underflow single precision.
const MIN_LAMBDA: f32 = 1e-4;

/// The columns of eight matrices.
pub type Columns<L> = [[L; 3]; 3];

/// The closest rotations R to eight matrices F, in terms of F: R = F (a + b FᵀF) + c cof F.
///
/// A caller that needs only some columns of R, or R in a sum with F and cof F, computes no more than that.
#[derive(Clone, Copy)]
pub struct Closest<L> {
    /// λ = s₁ + s₂ + s₃.
    pub lambda: L,
    /// k = s₁s₂ + s₂s₃ + s₁s₃.
    pub k: L,
    /// det F = s₁s₂s₃.
    pub det: L,
    /// Coefficient of F.
    pub a: L,
    /// Coefficient of F FᵀF.
    pub b: L,
    /// Coefficient of cof F.
    pub c: L,
    /// Mask of the lanes with errors below 1e-5; [`careful_rotations`] handles the others.
    pub clear: u8,
}

/// The closest rotations to `N` × eight matrices with these invariants: chains of dependent operations overlap,
/// provided that the caller tests once whether all are clear.
#[inline(always)]
pub fn closest_rotations<L: Lanes, const N: usize>(f: &[Invariants<L>; N]) -> [Closest<L>; N] {
    let mut lambda = [f[0].norm2; N];
    for n in 0..N {
        lambda[n] = f[n].first_lambda();
    }
    let mut step = lambda;
    for steps in 2..=MAX_HALLEY_STEPS {
        for n in 0..N {
            step[n] = f[n].halley_step(lambda[n]);
            lambda[n] = lambda[n] - step[n];
        }
        let mut converged = u8::MAX;
        for n in 0..N {
            converged &= is_converged(lambda[n], step[n]);
        }
        if steps >= HALLEY_STEPS && converged == u8::MAX {
            break;
        }
    }
    let mut closest = [f[0].closest(lambda[0], step[0]); N];
    for n in 1..N {
        closest[n] = f[n].closest(lambda[n], step[n]);
    }
    closest
}

/// The closest rotations to eight matrices.
#[inline(always)]
pub fn rotation_lanes<L: Lanes>(f: &Columns<L>) -> Columns<L> {
    let (gram, cofactors) = (gram(f), cofactor_column(f, 0));
    let [closest] = closest_rotations(&[Invariants::new(f, &gram, &cofactors)]);
    if closest.clear != u8::MAX {
        return load(&careful_rotations(&store(f)));
    }
    let mut r = *f;
    for j in 0..3 {
        r[j] = closest.column(f, &gram, &cofactor_column(f, j), j);
    }
    r
}

impl<L: Lanes> Closest<L> {
    /// Column `j` of F (a + b G) + c C, with G = [FᵀF](gram) and that column of C = cof F.
    #[inline(always)]
    pub fn column(&self, f: &Columns<L>, g: &[L; 6], cofactors: &[L; 3], j: usize) -> [L; 3] {
        let mut m = match j {
            0 => [g[0], g[1], g[2]],
            1 => [g[1], g[3], g[4]],
            _ => [g[2], g[4], g[5]],
        };
        for i in 0..3 {
            m[i] = if i == j {
                m[i].mul_add(self.b, self.a)
            } else {
                m[i] * self.b
            };
        }
        let mut column = *cofactors;
        for i in 0..3 {
            let sum = f[2][i].mul_add(m[2], self.c * cofactors[i]);
            column[i] = f[0][i].mul_add(m[0], f[1][i].mul_add(m[1], sum));
        }
        column
    }
}

/// Invariants that define the quartic.
#[derive(Clone, Copy)]
pub struct Invariants<L> {
    /// ‖F‖².
    pub norm2: L,
    /// ‖cof F‖².
    pub cof2: L,
    /// det F.
    pub det: L,
}

impl<L: Lanes> Invariants<L> {
    /// Invariants of F, from its [`gram`] matrix and the first column of its cofactors.
    #[inline(always)]
    pub fn new(f: &Columns<L>, g: &[L; 6], c: &[L; 3]) -> Self {
        // The sum of the principal minors of FᵀF.
        let minors = g[0].mul_add(g[3], (g[0] + g[3]) * g[5]);
        let squares = g[4].mul_add(g[4], g[2].mul_add(g[2], g[1] * g[1]));
        Invariants {
            norm2: g[0] + g[3] + g[5],
            cof2: minors - squares,
            det: dot(&f[0], c),
        }
    }

    /// One step of Halley's method from ‖F‖√3 ≥ λ.
    #[inline(always)]
    fn first_lambda(&self) -> L {
        let n = self.norm2;
        let lambda = (n * L::splat(3.0)).sqrt();
        let det2 = self.det + self.det;
        let value = n.mul_sub(n, det2.mul_add(lambda, self.cof2));
        let slope = (n + n).mul_sub(lambda, det2);
        let curvature = n * L::splat(4.0);
        lambda - value * slope / value.neg_mul_add(curvature, slope * slope)
    }

    /// One step of Halley's method on the quartic: the decrement of λ.
    #[inline(always)]
    fn halley_step(&self, lambda: L) -> L {
        let a = lambda.mul_sub(lambda, self.norm2);
        let half_a = a * L::splat(0.5);
        let det2 = self.det + self.det;
        // A quarter of the value, of the first and of half the second derivative.
        let value = half_a.mul_sub(half_a, det2.mul_add(lambda, self.cof2));
        let slope = lambda.mul_sub(a, det2);
        let curvature = lambda.mul_add(lambda, half_a);
        value * slope / value.neg_mul_add(curvature, slope * slope)
    }

    /// R from λ and the last step that led there.
    #[inline(always)]
    fn closest(&self, lambda: L, step: L) -> Closest<L> {
        let lambda2 = lambda * lambda;
        let k = (lambda2 - self.norm2) * L::splat(0.5);
        // (s₁+s₂)(s₂+s₃)(s₁+s₃)
        let separation = lambda.mul_sub(k, self.det);
        let minus = L::splat(-1.0) / separation;
        let clear = (lambda * lambda2 * L::splat(CLEAR_SEPARATION)).le_mask(separation);
        Closest {
            lambda,
            k,
            det: self.det,
            a: (k - lambda2) * minus,
            b: minus,
            c: -(lambda * minus),
            clear: clear & is_converged(lambda, step),
        }
    }
}

/// Mask of the lanes in which λ has converged, given the last step.
#[inline(always)]
fn is_converged<L: Lanes>(lambda: L, step: L) -> u8 {
    step.abs().le_mask(lambda * L::splat(CONVERGED)) & L::splat(MIN_LAMBDA).le_mask(lambda)
}

/// [`rotation_lanes`] for matrices that are strongly strained, flat or inverted. A separate kernel keeps the usual path
/// short.
#[cold]
#[inline(never)]
pub fn careful_rotations(f: &Columns<F32x8>) -> Columns<F32x8> {
    dispatch(Careful(f))
}

struct Careful<'a>(&'a Columns<F32x8>);

impl Kernel for Careful<'_> {
    type Output = Columns<F32x8>;
    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let f: Columns<L> = load(self.0);
        let cofactors = [
            cofactor_column(&f, 0),
            cofactor_column(&f, 1),
            cofactor_column(&f, 2),
        ];
        let g = gram(&f);
        let start = Invariants {
            // Minors of FᵀF lose digits if F is flat.
            cof2: norm2(&cofactors),
            ..Invariants::new(&f, &g, &cofactors[0])
        };
        let mut lambda = start.first_lambda();
        let mut result = (f, 0);
        for _ in 0..MAX_CHECKS {
            let mut step = lambda;
            for _ in 0..CAREFUL_STEPS {
                step = start.halley_step(lambda);
                lambda = lambda - step;
            }
            let closest = start.closest(lambda, step);
            let mut r = f;
            for j in 0..3 {
                r[j] = closest.column(&f, &g, &cofactors[j], j);
            }
            let (r, orthogonal) = schulz_step(&r);
            let separation = lambda.mul_sub(closest.k, closest.det);
            let separated =
                (lambda * lambda * lambda * L::splat(MIN_SEPARATION)).le_mask(separation);
            result = (r, separated & orthogonal);
            if result.1 == u8::MAX {
                return store(&r);
            }
        }
        repair(self.0, store(&result.0), result.1)
    }
}

/// R (3 − RᵀR)/2, and the mask of lanes in which |RᵀR − 1| was small enough for it.
#[inline(always)]
fn schulz_step<L: Lanes>(r: &Columns<L>) -> (Columns<L>, u8) {
    let g = gram(r);
    let one = L::splat(1.0);
    let diagonal = (g[0] - one)
        .abs()
        .max((g[3] - one).abs())
        .max((g[5] - one).abs());
    let stretch = diagonal.max(g[1].abs()).max(g[2].abs().max(g[4].abs()));
    let (h, o) = (L::splat(-0.5), L::splat(1.5));
    let off = [g[1] * h, g[2] * h, g[4] * h];
    let m = [
        [g[0].mul_add(h, o), off[0], off[1]],
        [off[0], g[3].mul_add(h, o), off[2]],
        [off[1], off[2], g[5].mul_add(h, o)],
    ];
    let mut next = *r;
    for i in 0..3 {
        for j in 0..3 {
            next[j][i] = r[0][i].mul_add(m[0][j], r[1][i].mul_add(m[1][j], r[2][i] * m[2][j]));
        }
    }
    // A maximum may lose a NaN; every NaN in R is also in a diagonal entry of RᵀR.
    let finite = (g[0] + g[3] + g[5]).le_mask(L::splat(4.0));
    (next, stretch.le_mask(L::splat(MAX_STRETCH)) & finite)
}

/// Column `j` of the matrix of cofactors: the cross product of the other two columns.
#[inline(always)]
pub fn cofactor_column<L: Lanes>(f: &Columns<L>, j: usize) -> [L; 3] {
    cross(&f[(j + 1) % 3], &f[(j + 2) % 3])
}

/// a × b.
#[inline(always)]
pub fn cross<L: Lanes>(a: &[L; 3], b: &[L; 3]) -> [L; 3] {
    [
        a[2].neg_mul_add(b[1], a[1] * b[2]),
        a[0].neg_mul_add(b[2], a[2] * b[0]),
        a[1].neg_mul_add(b[0], a[0] * b[1]),
    ]
}

/// ‖M‖².
#[inline(always)]
fn norm2<L: Lanes>(m: &Columns<L>) -> L {
    let g = gram(m);
    g[0] + g[3] + g[5]
}

/// FᵀF: entries 00, 01, 02, 11, 12, 22.
#[inline(always)]
pub fn gram<L: Lanes>(f: &Columns<L>) -> [L; 6] {
    [
        dot(&f[0], &f[0]),
        dot(&f[0], &f[1]),
        dot(&f[0], &f[2]),
        dot(&f[1], &f[1]),
        dot(&f[1], &f[2]),
        dot(&f[2], &f[2]),
    ]
}

/// a · b.
#[inline(always)]
pub fn dot<L: Lanes>(a: &[L; 3], b: &[L; 3]) -> L {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

#[inline(always)]
fn load<L: Lanes>(m: &Columns<F32x8>) -> Columns<L> {
    let mut o = [[L::splat(0.0); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            o[i][j] = L::load(&m[i][j]);
        }
    }
    o
}

#[inline(always)]
fn store<L: Lanes>(m: &Columns<L>) -> Columns<F32x8> {
    let mut o = [[F32x8::default(); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            o[i][j] = m[i][j].store();
        }
    }
    o
}

/// Replaces the lanes that are not `good` by the double-precision result.
#[cold]
#[inline(never)]
fn repair(f: &Columns<F32x8>, mut r: Columns<F32x8>, good: u8) -> Columns<F32x8> {
    for lane in (0..LANES).filter(|lane| good >> lane & 1 == 0) {
        let column = |j: usize| {
            DVec3::new(
                f[j][0].0[lane].into(),
                f[j][1].0[lane].into(),
                f[j][2].0[lane].into(),
            )
        };
        let rotation = rotation_f64(DMat3::from_cols(column(0), column(1), column(2)));
        for (j, column) in r.iter_mut().enumerate() {
            for (i, entry) in column.iter_mut().enumerate() {
                entry.0[lane] = rotation.col(j)[i] as f32;
            }
        }
    }
    r
}

/// The closest rotation, in double precision, by one-sided Jacobi rotations: right for flat, inverted and rank-one matrices.
/// Zero and non-finite matrices give the identity.
pub fn rotation_f64(f: DMat3) -> DMat3 {
    let largest = f
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |m, x| m.max(x.abs()));
    if !f.is_finite() || largest == 0.0 {
        return DMat3::IDENTITY;
    }
    // B = F V with orthogonal columns: B = U Σ.
    let mut b = (f * (1.0 / largest)).to_cols_array_2d().map(DVec3::from);
    let mut v = [DVec3::X, DVec3::Y, DVec3::Z];
    for _ in 0..12 {
        let mut off = 0.0_f64;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            off = off.max(orthogonalise(&mut b, &mut v, p, q));
        }
        if off < 1e-15 {
            break;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| b[j].length_squared().total_cmp(&b[i].length_squared()));
    let (v0, v1) = (v[order[0]], v[order[1]]);
    let u0 = b[order[0]].normalize();
    let b1 = b[order[1]] - u0 * u0.dot(b[order[1]]);
    if b1.length() <= 1e-14 {
        // Rank one: every turn about u₀ is as close; take the smallest rotation.
        return DMat3::from_quat(DQuat::from_rotation_arc(v0, u0));
    }
    let u1 = b1.normalize();
    // Completed by cross products, U and V both have determinant +1 and the sign goes to the smallest value.
    DMat3::from_cols(u0, u1, u0.cross(u1)) * DMat3::from_cols(v0, v1, v0.cross(v1)).transpose()
}

/// Turns columns p and q of B and V until those of B are orthogonal; the cosine of their angle before.
fn orthogonalise(b: &mut [DVec3; 3], v: &mut [DVec3; 3], p: usize, q: usize) -> f64 {
    let (pp, qq, pq) = (b[p].length_squared(), b[q].length_squared(), b[p].dot(b[q]));
    let cosine = pq.abs() / (pp * qq).sqrt();
    if cosine.is_nan() || cosine < 1e-16 {
        return 0.0;
    }
    let zeta = (qq - pp) / (2.0 * pq);
    let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = c * t;
    for m in [b, v] {
        (m[p], m[q]) = (m[p] * c - m[q] * s, m[p] * s + m[q] * c);
    }
    cosine
}

/// The closest rotation to one matrix.
pub fn rotation(f: Mat3) -> Mat3 {
    rotation_f64(f.as_dmat3()).as_mat3()
}

/// The closest rotation to each matrix, eight at a time.
pub fn rotations(f: &[Mat3]) -> Vec<Mat3> {
    dispatch(Rotations(f))
}

struct Rotations<'a>(&'a [Mat3]);

impl Kernel for Rotations<'_> {
    type Output = Vec<Mat3>;
    #[inline(always)]
    fn run<L: Lanes>(self) -> Vec<Mat3> {
        let mut out = Vec::with_capacity(self.0.len());
        for chunk in self.0.chunks(LANES) {
            let mut f = [[F32x8::default(); 3]; 3];
            for (j, column) in f.iter_mut().enumerate() {
                for (i, entry) in column.iter_mut().enumerate() {
                    for lane in 0..LANES {
                        entry.0[lane] = chunk[lane.min(chunk.len() - 1)].col(j)[i];
                    }
                }
            }
            let r = store(&rotation_lanes::<L>(&load(&f)));
            for lane in 0..chunk.len() {
                let column = |j: usize| glam::Vec3::from(r[j].map(|x: F32x8| x.0[lane]));
                out.push(Mat3::from_cols(column(0), column(1), column(2)));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatched_lanes_match_the_portable_twin() {
        let matrix = |k: usize| {
            Mat3::from_cols_array(&std::array::from_fn(|e| ((k * 9 + e) as f32 * 1.7).sin()))
        };
        let matrices: Vec<Mat3> = (0..1003).map(matrix).collect();
        let (fast, twin) = (rotations(&matrices), Rotations(&matrices).run::<F32x8>());
        assert_eq!(fast.len(), twin.len());
        for (f, (a, b)) in matrices.iter().zip(fast.iter().zip(&twin)) {
            assert!(a.abs_diff_eq(*b, 2e-5), "{a} and {b} of {f}");
        }
    }
}
