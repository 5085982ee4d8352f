//! Singular value decomposition of a 3×3 matrix in double precision: one-sided Jacobi.
//!
//! The reference for every faster decomposition, and their fallback.

use glam::{DMat3, DVec3};

/// A = U diag(σ) Vᵀ with U and V rotations (determinant +1), σ₁ ≥ σ₂ ≥ |σ₃|. The last singular value carries the sign
/// of det A, so that U Vᵀ is the closest rotation to A, inverted matrices included.
///
/// One-sided Jacobi (Hestenes): rotates pairs of columns of A until all are orthogonal. Accurate to a few units in the
/// last place of σ₁ for any matrix with finite entries.
pub fn svd3(a: DMat3) -> (DMat3, DVec3, DMat3) {
    let scale = a
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |m, x| m.max(x.abs()));
    if scale == 0.0 {
        return (DMat3::IDENTITY, DVec3::ZERO, DMat3::IDENTITY);
    }
    // Columns of A V, scaled so that no square over- or underflows.
    let mut columns = [a.x_axis / scale, a.y_axis / scale, a.z_axis / scale];
    let mut v = [DVec3::X, DVec3::Y, DVec3::Z];
    // Quadratic convergence: six sweeps are enough in practice, the bound only guards against a cycle.
    for _ in 0..30 {
        let turned =
            [(0, 1), (0, 2), (1, 2)].map(|(i, j)| orthogonalize(&mut columns, &mut v, i, j));
        if !turned.contains(&true) {
            break;
        }
    }
    sort_descending(&mut columns, &mut v);
    if DMat3::from_cols(v[0], v[1], v[2]).determinant() < 0.0 {
        v[2] = -v[2];
        columns[2] = -columns[2];
    }
    let (u, sigma) = left_vectors(columns);
    (u, sigma * scale, DMat3::from_cols(v[0], v[1], v[2]))
}

/// Rotates columns i and j in their plane until they are orthogonal; false if they already were.
fn orthogonalize(columns: &mut [DVec3; 3], v: &mut [DVec3; 3], i: usize, j: usize) -> bool {
    let (alpha, beta) = (columns[i].length_squared(), columns[j].length_squared());
    let gamma = columns[i].dot(columns[j]);
    if gamma.abs() <= 1e-16 * (alpha * beta).sqrt() || gamma.abs() < 1e-300 {
        return false;
    }
    let zeta = (beta - alpha) / (2.0 * gamma);
    let tan = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let cos = 1.0 / tan.hypot(1.0);
    let sin = cos * tan;
    for pair in [columns, v] {
        (pair[i], pair[j]) = (pair[i] * cos - pair[j] * sin, pair[i] * sin + pair[j] * cos);
    }
    true
}

fn sort_descending(columns: &mut [DVec3; 3], v: &mut [DVec3; 3]) {
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        if columns[i].length_squared() < columns[j].length_squared() {
            columns.swap(i, j);
            v.swap(i, j);
        }
    }
}

/// U and signed σ from the orthogonal columns of A V; directions that A does not determine are completed.
fn left_vectors(columns: [DVec3; 3]) -> (DMat3, DVec3) {
    let first = columns[0].length();
    let u0 = columns[0] / first;
    let rest = columns[1] - u0 * u0.dot(columns[1]);
    let second = rest.length();
    let u1 = if second > 1e-15 * first {
        rest / second
    } else {
        u0.any_orthonormal_vector()
    };
    let u2 = u0.cross(u1);
    (
        DMat3::from_cols(u0, u1, u2),
        DVec3::new(first, second, u2.dot(columns[2])),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: DMat3) {
        let (u, sigma, v) = svd3(a);
        let size = a
            .to_cols_array()
            .iter()
            .fold(0.0_f64, |m, x| m.max(x.abs()));
        let back = u * DMat3::from_diagonal(sigma) * v.transpose() - a;
        let error = back
            .to_cols_array()
            .iter()
            .fold(0.0_f64, |m, x| m.max(x.abs()));
        // A handful of 3×3 products: some tens of rounding units.
        assert!(error <= 1e-14 * size, "{a}: error {error}");
        for q in [u, v] {
            assert!((q * q.transpose()).abs_diff_eq(DMat3::IDENTITY, 1e-14));
            assert!((q.determinant() - 1.0).abs() < 1e-14);
        }
        assert!(sigma.x >= sigma.y && sigma.y >= sigma.z.abs() - 1e-15 * size);
    }

    /// Deterministic numbers in −1..1 (splitmix64).
    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    #[test]
    fn random_flat_and_inverted_matrices_are_rebuilt() {
        let mut seed = 1;
        for n in 0..20_000 {
            let mut c: [DVec3; 3] = std::array::from_fn(|_| {
                DVec3::new(random(&mut seed), random(&mut seed), random(&mut seed))
            });
            match n % 5 {
                1 => c[2] = c[0] * 0.3 + c[1],
                2 => c = [c[0], c[0] * 2.0, c[0] * -1.0],
                3 => c = c.map(|c| c * 1e-9),
                4 => c[1] *= 1e-7,
                _ => {}
            }
            check(DMat3::from_cols(c[0], c[1], c[2]));
        }
    }

    #[test]
    fn special_matrices_are_rebuilt() {
        check(DMat3::IDENTITY);
        check(-DMat3::IDENTITY);
        check(DMat3::from_diagonal(DVec3::new(0.0, 0.0, 5.0)));
        check(DMat3::from_diagonal(DVec3::new(1e-200, 1e-180, 1e-190)));
        check(DMat3::from_diagonal(DVec3::new(1e150, 1.0, 1e-150)));
        let (_, sigma, _) = svd3(DMat3::ZERO);
        assert_eq!(sigma, DVec3::ZERO);
    }
}
