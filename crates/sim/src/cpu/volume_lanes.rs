//! Closest matrices with a given determinant, eight at a time, without singular values.
//!
//! As [`closest_with_determinant`](crate::constraints::volume::closest_with_determinant): with V = F + D, the constraint is
//! linearised at V and F projected to it, D ← C (C:D − det V + ratio)/‖C‖², C = cof V, so that D becomes parallel to the
//! gradient of the determinant at V. The first linearisation is at the closest rotation, where C = R: it makes the mean
//! stretch right, whether F is flat, inverted or neither.

// Plain loops: iterator adaptors are not always inlined, and code outside the kernel loses its instruction set.
#![allow(clippy::needless_range_loop)]

use supple_geom::simd::{F32x8, Lanes};

use super::stress::Mat;

/// Weights and target ratios of eight tets.
#[derive(Clone, Debug)]
pub struct VolumeLanes {
    /// Scaled weights; 0 without a constraint.
    pub weights: F32x8,
    /// Target volume / rest volume.
    pub ratios: F32x8,
}

/// No volume constraint.
pub const NO_VOLUME: VolumeLanes = VolumeLanes {
    weights: F32x8([0.0; 8]),
    ratios: F32x8([1.0; 8]),
};

/// Projections after the first. D then has an error of 1e-4 for strains of 0.2, and of a few hundredths for strains of 0.5.
const PROJECTIONS: usize = 2;
/// Lower bound of the first shift of the stretches. A larger one would make stretches below the mean negative.
const MIN_SHIFT: f32 = -0.1;
/// Lower bound of ‖C‖², which is at least 3 where det V = 1. Keeps D bounded where V has nearly collapsed to a line.
const MIN_COFACTORS: f32 = 0.05;

/// [`volume_shift`] for well-conditioned R: D = x R + y F + z cof F, from the invariants λ, k and det of F only.
///
/// After the first linearisation V = R X with X = S + t, and cof V = R Y with Y = cof X. After the second V = R (X − t + c Y).
/// Everything that follows is a polynomial in X, reduced to 1, X and Y by the characteristic equation.
#[inline(always)]
pub fn volume_terms<L: Lanes>(lambda: L, k: L, det: L, ratio: L) -> [L; 3] {
    let t = ((ratio + L::splat(2.0) - lambda) * L::splat(1.0 / 3.0)).max(L::splat(MIN_SHIFT));
    // Invariants of X; traces of X², Y² and X Y.
    let e1 = t.mul_add(L::splat(3.0), lambda);
    let e2 = t.mul_add(lambda + e1, k);
    let e3 = t.mul_add(t.mul_add(lambda + t, k), det);
    let xx = e1.mul_sub(e1, e2 + e2);
    let yy = e2.mul_sub(e2, (e1 + e1) * e3);
    let xy = e3 * L::splat(3.0);
    let least = L::splat(MIN_COFACTORS);
    let c = (t.mul_add(e2, ratio) - e3) / yy.max(least);
    // cof(X − t + c Y) = i + x X + y Y, and its traces with 1, X and Y.
    let q = e1 - t;
    let i = c.mul_add(e2.mul_sub(q, e3), -(t * q));
    let x = c.mul_add(c.mul_sub(e3, e2), t);
    let y = c.neg_mul_add(q, L::splat(1.0));
    let on_one = i.mul_add(L::splat(3.0), x.mul_add(e1, y * e2));
    let on_x = i.mul_add(e1, x.mul_add(xx, y * xy));
    let on_y = i.mul_add(e2, x.mul_add(xy, y * yy));
    let shift = c * on_y;
    let det = (t.neg_mul_add(on_one, on_x) + shift) * L::splat(1.0 / 3.0);
    let squares = i.mul_add(on_one, x.mul_add(on_x, y * on_y)).max(least);
    let d = (shift - det + ratio) / squares;
    // R X = F + t R and R Y = cof F − t F + t (λ + t) R.
    let (x, y, i) = (x * d, y * d, i * d);
    [
        t.mul_add(y.mul_add(lambda + t, x), i),
        t.neg_mul_add(y, x),
        y,
    ]
}

/// D = V − F for matrices F with closest rotations R.
#[inline(always)]
pub fn volume_shift<L: Lanes>(f: &Mat<L>, r: &Mat<L>, ratio: L) -> Mat<L> {
    let shift = (ratio + L::splat(2.0) - contract(f, r)) * L::splat(1.0 / 3.0);
    let mut d = scaled(r, shift.max(L::splat(MIN_SHIFT)));
    for _ in 0..PROJECTIONS {
        let mut v = d;
        for i in 0..3 {
            for j in 0..3 {
                v[i][j] = f[i][j] + d[i][j];
            }
        }
        let c = cofactors(&v);
        let det = v[0][0].mul_add(c[0][0], v[0][1].mul_add(c[0][1], v[0][2] * c[0][2]));
        let squares = contract(&c, &c).max(L::splat(MIN_COFACTORS));
        d = scaled(&c, (contract(&c, &d) - det + ratio) / squares);
    }
    d
}

/// Σ aᵢⱼ bᵢⱼ, with three independent sums.
#[inline(always)]
fn contract<L: Lanes>(a: &Mat<L>, b: &Mat<L>) -> L {
    let mut sums = [a[0][0]; 3];
    for i in 0..3 {
        sums[i] = a[i][2].mul_add(b[i][2], a[i][1].mul_add(b[i][1], a[i][0] * b[i][0]));
    }
    sums[0] + sums[1] + sums[2]
}

#[inline(always)]
fn scaled<L: Lanes>(a: &Mat<L>, factor: L) -> Mat<L> {
    let mut o = *a;
    for i in 0..3 {
        for j in 0..3 {
            o[i][j] = a[i][j] * factor;
        }
    }
    o
}

#[inline(always)]
fn cofactors<L: Lanes>(f: &Mat<L>) -> Mat<L> {
    [
        cross(&f[1], &f[2]),
        cross(&f[2], &f[0]),
        cross(&f[0], &f[1]),
    ]
}

#[inline(always)]
fn cross<L: Lanes>(a: &[L; 3], b: &[L; 3]) -> [L; 3] {
    [
        a[2].neg_mul_add(b[1], a[1] * b[2]),
        a[0].neg_mul_add(b[2], a[2] * b[0]),
        a[1].neg_mul_add(b[0], a[0] * b[1]),
    ]
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DQuat, DVec3};
    use supple_geom::polar::rotation_f64;

    use super::*;
    use crate::constraints::volume::closest_with_determinant;

    fn shift(f: DMat3, ratio: f64) -> DMat3 {
        let lanes = |m: DMat3| {
            let rows = m.transpose();
            [rows.x_axis, rows.y_axis, rows.z_axis]
                .map(|row| row.to_array().map(|x| F32x8([x as f32; 8])))
        };
        let d = volume_shift(&lanes(f), &lanes(rotation_f64(f)), F32x8([ratio as f32; 8]));
        let row = |i: usize| DVec3::from(d[i].map(|x| f64::from(x.0[3])));
        DMat3::from_cols(row(0), row(1), row(2)).transpose()
    }

    fn length(m: DMat3) -> f64 {
        crate::constraints::norm_squared(m).sqrt()
    }

    #[test]
    fn close_to_the_exact_projection() {
        let turn = |k: f64| DMat3::from_quat(DQuat::from_axis_angle(DVec3::ONE.normalize(), k));
        for (stretch, tolerance) in [
            (DVec3::new(1.0, 1.0, 1.0), 1e-6),
            (DVec3::new(1.1, 0.95, 0.9), 1e-3),
            (DVec3::new(0.8, 0.9, 1.2), 3e-3),
            (DVec3::new(1.5, 0.8, 0.5), 3e-2),
            (DVec3::new(1.0, 1.0, 0.1), 5e-2),
            (DVec3::new(1.0, 0.9, -0.2), 2e-1),
        ] {
            for ratio in [1.0, 1.05] {
                let f = turn(0.7) * DMat3::from_diagonal(stretch) * turn(-0.2);
                let exact = closest_with_determinant(f, ratio) - f;
                let error = length(shift(f, ratio) - exact);
                assert!(error <= tolerance, "{stretch}, {ratio}: {error}");
            }
        }
    }

    /// x R + y F + z cof F of [`volume_terms`].
    fn shift_from_invariants(f: DMat3, ratio: f64) -> DMat3 {
        let r = rotation_f64(f);
        let stretch = r.transpose() * f;
        let trace = |m: DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
        let lambda = trace(stretch);
        let k = 0.5 * (lambda * lambda - trace(stretch * stretch));
        let cofactors = DMat3::from_cols(
            f.y_axis.cross(f.z_axis),
            f.z_axis.cross(f.x_axis),
            f.x_axis.cross(f.y_axis),
        );
        let lanes = |x: f64| F32x8([x as f32; 8]);
        let terms = volume_terms(
            lanes(lambda),
            lanes(k),
            lanes(f.determinant()),
            lanes(ratio),
        );
        let [x, y, z] = terms.map(|t| f64::from(t.0[5]));
        r * x + f * y + cofactors * z
    }

    #[test]
    fn invariants_give_the_same_shift() {
        let turn = |k: f64| DMat3::from_quat(DQuat::from_axis_angle(DVec3::ONE.normalize(), k));
        for stretch in [
            DVec3::ONE,
            DVec3::new(1.1, 0.95, 0.9),
            DVec3::new(1.5, 0.8, 0.5),
            DVec3::new(1.2, 1.0, -0.1),
            DVec3::new(3.0, 2.0, 2.5),
            DVec3::new(0.2, 0.3, 0.25),
        ] {
            for ratio in [1.0, 1.05] {
                let f = turn(-0.3) * DMat3::from_diagonal(stretch) * turn(1.1);
                let (d, e) = (shift_from_invariants(f, ratio), shift(f, ratio));
                let error = length(d - e);
                assert!(
                    error < 2e-5 * (1.0 + length(f)),
                    "{stretch}, {ratio}: {error}"
                );
            }
        }
    }

    #[test]
    fn bounded_for_any_matrix() {
        for x in [-1e4, -1.0, 0.0, 1.0, 1e4] {
            for y in [-1e4, -1.0, 0.0, 1e-3, 1e4] {
                for z in [-1e4, -1.0, 0.0, 0.5, 1e4] {
                    let f = DMat3::from_diagonal(DVec3::new(x, y, z));
                    let d = length(shift(f, 1.0));
                    // No farther than a few times the way to the rotation, which has the determinant 1 as well.
                    let bound = 4.0 * length(f - rotation_f64(f)) + 1.0;
                    assert!(d <= bound, "{x} {y} {z}: {d} > {bound}");
                }
            }
        }
    }
}
