//! Polar decomposition of a linear map into rotation and stretch.

use glam::{DMat3, Mat3A, Quat};
use supple_geom::higham::closest_rotation;

/// Splits `M = R S` into the closest rotation and the remainder.
///
/// A reflection stays in `S`. A singular map gives the identity rotation.
pub(super) fn split_rotation(matrix: &Mat3A) -> (Quat, Mat3A) {
    let m = DMat3::from_cols_array(&matrix.to_cols_array().map(f64::from));
    let determinant = m.determinant();
    let size = m
        .x_axis
        .length()
        .max(m.y_axis.length())
        .max(m.z_axis.length());
    if !determinant.is_finite() || determinant.abs() <= 1e-9 * size.powi(3) {
        return (Quat::IDENTITY, *matrix);
    }
    let r = closest_rotation(m * determinant.signum());
    let s = r.transpose() * m;
    let s = Mat3A::from_cols_array(&s.to_cols_array().map(|x| x as f32));
    (glam::DQuat::from_mat3(&r).normalize().as_quat(), s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn finds_rotation_and_symmetric_stretch() {
        let rotation = Quat::from_euler(glam::EulerRot::XYZ, 0.4, -2.0, 1.0);
        let stretch = Mat3A::from_cols_array(&[2.0, 0.3, 0.0, 0.3, 0.5, 0.1, 0.0, 0.1, 1.0]);
        let (r, s) = split_rotation(&(Mat3A::from_quat(rotation) * stretch));
        assert!(r.dot(rotation).abs() > 1.0 - 1e-6);
        assert!((s - stretch).abs_diff_eq(Mat3A::ZERO, 1e-5));
    }

    #[test]
    fn reflections_and_singular_maps_stay_finite() {
        let mirror = Mat3A::from_diagonal(Vec3::new(-1.0, 1.0, 1.0));
        let (r, s) = split_rotation(&mirror);
        assert!((Mat3A::from_quat(r) * s).abs_diff_eq(mirror, 1e-6));
        let (r, s) = split_rotation(&Mat3A::from_diagonal(Vec3::new(1.0, 0.0, 1.0)));
        assert!(r.is_finite() && s.is_finite());
    }
}
