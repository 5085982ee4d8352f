//! Closest rotation to a 3×3 matrix in double precision: Higham's Newton iteration with an SVD fallback.

use glam::DMat3;

use crate::svd3::svd3;

/// Below this determinant (of the matrix scaled to Frobenius norm √3) the SVD is used [thesis 3.3].
const SMALLEST_DETERMINANT: f64 = 1e-5;

/// The rotation R that minimises ‖A − R‖, thesis appendix A: R ← (R + R⁻ᵀ)/2 (Higham 1986), and U Vᵀ of the signed SVD
/// where A is close to flat or inverted (det A < 1e-5). Needs finite entries; zero gives the identity.
pub fn closest_rotation(a: DMat3) -> DMat3 {
    let norm =
        (a.x_axis.length_squared() + a.y_axis.length_squared() + a.z_axis.length_squared()).sqrt();
    if norm == 0.0 {
        return DMat3::IDENTITY;
    }
    let a = a * (3f64.sqrt() / norm);
    if a.determinant() < SMALLEST_DETERMINANT {
        rotation_by_svd(a)
    } else {
        rotation_by_newton(a)
    }
}

/// U Vᵀ.
pub fn rotation_by_svd(a: DMat3) -> DMat3 {
    let (u, _, v) = svd3(a);
    u * v.transpose()
}

fn rotation_by_newton(a: DMat3) -> DMat3 {
    let mut r = a;
    // Each step first about halves the distance to a rotation, then squares it; 40 covers determinants of 1e-5.
    for _ in 0..40 {
        let next = (r + r.inverse().transpose()) * 0.5;
        let moved = next - r;
        r = next;
        let change = moved.x_axis.length_squared()
            + moved.y_axis.length_squared()
            + moved.z_axis.length_squared();
        // Quadratic: a change of 1e-9 leaves an error of 1e-18.
        if change < 1e-18 {
            break;
        }
    }
    r
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DQuat, DVec3};

    use super::*;

    #[test]
    fn both_branches_agree_with_the_svd_and_restore_a_known_rotation() {
        for k in 0..2_000 {
            let t = k as f64;
            let q = DQuat::from_euler(glam::EulerRot::XYZ, 0.7 * t, 1.3 * t, 2.1 * t);
            let b = DQuat::from_euler(glam::EulerRot::XYZ, 1.7 * t, 0.4 * t, 0.9 * t);
            let (r, b) = (DMat3::from_quat(q), DMat3::from_quat(b));
            let smallest = [1.0, 1e-2, 1e-5, 1e-8, -1e-3, -0.4][k % 6];
            let stretch = b * DMat3::from_diagonal(DVec3::new(2.0, 0.9, smallest)) * b.transpose();
            let found = closest_rotation(r * stretch);
            assert!((found.determinant() - 1.0).abs() < 1e-12);
            // The rotation is unique (σ₂ + σ₃ ≥ 0.5), its condition is 2/(σ₂ + σ₃).
            assert!(found.abs_diff_eq(rotation_by_svd(r * stretch), 1e-12));
            assert!(found.abs_diff_eq(r, 1e-12), "{smallest}");
        }
        assert_eq!(closest_rotation(DMat3::ZERO), DMat3::IDENTITY);
    }
}
