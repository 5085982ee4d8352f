//! The closed-form rotation against a double-precision singular value decomposition, on a million matrices.

use glam::{DMat3, DVec3, Mat3, dvec3};
use rayon::prelude::*;
use supple_geom::polar::{rotation_f64, rotations};
use supple_geom::svd3::svd3;

/// Angle error allowed in single precision where the rotation is unique.
const MAX_ANGLE: f64 = 1e-4;

/// SplitMix64: small, seedable, good enough to spread matrices.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    fn matrix(&mut self) -> DMat3 {
        DMat3::from_cols_array(&[0.0; 9].map(|_| self.signed()))
    }

    fn rotation(&mut self) -> DMat3 {
        rotation_f64(self.matrix())
    }

    /// Matrices of nine kinds in turn: random, mildly strained, flat, nearly flat, inverted, nearly ambiguous, rank one,
    /// extreme scales, reflections.
    fn test_matrix(&mut self, kind: usize) -> Mat3 {
        let with = |s: &mut Self, d: DVec3| s.rotation() * DMat3::from_diagonal(d) * s.rotation();
        let (a, b) = (self.unit(), self.unit());
        let m = match kind % 9 {
            0 => self.matrix(),
            1 => self.rotation() * (DMat3::IDENTITY + self.matrix() * 0.3),
            2 => with(self, dvec3(1.0, 0.1 + a, 0.0)),
            3 => with(self, dvec3(1.0, 0.1 + a, 1e-6 * (b - 0.5))),
            4 => with(self, dvec3(0.5 + a, 0.5 + b, -0.4)),
            5 => with(
                self,
                dvec3(1.0, 0.2 + 0.3 * a, -0.2 - 0.3 * a + 10f64.powf(-6.0 * b)),
            ),
            6 => with(self, dvec3(1.0, 1e-7 * a, 1e-9 * b)),
            7 => self.matrix() * 10f64.powf(60.0 * a - 30.0),
            _ => DMat3::from_diagonal(dvec3(-1.0, -1.0 - a, -2.0 - b)),
        };
        m.as_mat3()
    }
}

/// U diag(1, 1, det(U Vᵀ)) Vᵀ and the gap s₂ + s₃ (signed), relative to s₁.
fn svd_rotation(f: DMat3) -> (DMat3, f64) {
    let (u, s, v) = svd3(f);
    let sign = (u.determinant() * v.determinant()).signum();
    let rotation = u * DMat3::from_diagonal(dvec3(1.0, 1.0, sign)) * v.transpose();
    (rotation, (s[1] + sign * s[2]) / s[0])
}

/// Angle of A Bᵀ, from the Frobenius distance: accurate for small angles.
fn angle(a: DMat3, b: DMat3) -> f64 {
    let d = (a - b)
        .to_cols_array()
        .iter()
        .map(|x| x * x)
        .sum::<f64>()
        .sqrt();
    2.0 * (d / 8f64.sqrt()).min(1.0).asin()
}

#[test]
fn a_million_matrices_match_the_svd() {
    let worst = (0..250u64)
        .into_par_iter()
        .map(|seed| {
            let mut random = Random(seed);
            let matrices: Vec<Mat3> = (0..4000).map(|k| random.test_matrix(k)).collect();
            let mut worst = 0.0_f64;
            for (f, r) in matrices.iter().zip(rotations(&matrices)) {
                let r = r.as_dmat3();
                let orthogonality = angle(r.transpose() * r, DMat3::IDENTITY);
                assert!(
                    orthogonality < 1e-5 && r.determinant() > 0.9,
                    "not a rotation: {r} of {f}"
                );
                let (expected, gap) = svd_rotation(f.as_dmat3());
                // Closer to s₂ + s₃ = 0 even the double-precision reference means nothing.
                if gap > 1e-9 {
                    let error = angle(r, expected);
                    assert!(
                        error < MAX_ANGLE,
                        "angle error {error}, gap {gap}: {r} instead of {expected} of {f}"
                    );
                    worst = worst.max(error);
                }
            }
            worst
        })
        .reduce(|| 0.0, f64::max);
    println!("largest angle error {worst:.1e}");
}

#[test]
fn double_precision_matches_the_svd() {
    let mut random = Random(7);
    for k in 0..20_000 {
        let f = random.test_matrix(k).as_dmat3();
        let (expected, gap) = svd_rotation(f);
        if gap > 1e-6 {
            let error = angle(rotation_f64(f), expected);
            assert!(
                error < 1e-13 / gap.min(0.1),
                "angle error {error}, gap {gap}, {f}"
            );
        }
    }
}

#[test]
fn degenerate_input_gives_a_rotation() {
    let zero = Mat3::ZERO;
    let nan = Mat3::from_cols_array(&[f32::NAN; 9]);
    let one_nan = Mat3::from_diagonal(glam::vec3(1.0, f32::NAN, 1.0));
    let infinite = Mat3::from_diagonal(glam::vec3(f32::INFINITY, 1.0, 1.0));
    for (f, r) in [zero, nan, one_nan, infinite]
        .iter()
        .zip(rotations(&[zero, nan, one_nan, infinite]))
    {
        assert_eq!(r, Mat3::IDENTITY, "{f}");
    }
    let reflected = rotations(&[Mat3::from_diagonal(glam::vec3(2.0, 3.0, -1.0))])[0];
    assert!(reflected.abs_diff_eq(Mat3::IDENTITY, 1e-6), "{reflected}");
}
