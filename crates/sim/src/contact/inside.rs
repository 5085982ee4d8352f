//! Point-in-tetrahedron test.

use glam::Vec3A;

use super::rules;

/// Barycentric weights if the point is in the tet; `None` if not, or if the tet is flat or inverted.
#[inline]
pub fn weights_inside(corners: [Vec3A; 4], point: Vec3A) -> Option<[f32; 4]> {
    let [a, b, c] = [1, 2, 3].map(|i| corners[i] - corners[0]);
    let p = point - corners[0];
    let bc = b.cross(c);
    let determinant = a.dot(bc);
    // The face opposite to corner 1 first: one product rejects half of all points.
    let first = p.dot(bc);
    if first < rules::TET_TOLERANCE * determinant
        || first > (1.0 - rules::TET_TOLERANCE) * determinant
    {
        return None;
    }
    let length = a
        .length_squared()
        .max(b.length_squared())
        .max(c.length_squared());
    if determinant <= rules::FLAT_TET * length * length.sqrt() {
        return None;
    }
    let inverse = 1.0 / determinant;
    let wa = first * inverse;
    let pa = p.cross(a);
    let wb = -pa.dot(c) * inverse;
    let wc = pa.dot(b) * inverse;
    let weights = [1.0 - wa - wb - wc, wa, wb, wc];
    (weights.iter().all(|&w| w >= rules::TET_TOLERANCE)).then_some(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn weights_are_barycentric() {
        let corners = [
            Vec3A::new(0.1, 0.2, 0.0),
            Vec3A::new(1.0, 0.1, 0.1),
            Vec3A::new(0.2, 1.1, 0.0),
            Vec3A::new(0.0, 0.3, 0.9),
        ];
        for weights in [
            [0.25; 4],
            [0.7, 0.1, 0.1, 0.1],
            [0.1, 0.6, 0.2, 0.1],
            [0.05, 0.05, 0.1, 0.8],
        ] {
            let point: Vec3A = (0..4).map(|i| corners[i] * weights[i]).sum();
            let found = weights_inside(corners, point).unwrap();
            for (a, b) in found.iter().zip(weights) {
                assert!((a - b).abs() < 1e-5, "{found:?} {weights:?}");
            }
            let [a, b, c, d] = corners;
            assert!(weights_inside([b, a, c, d], point).is_none(), "inside out");
        }
        for outside in [
            Vec3::NEG_ONE,
            Vec3::ONE,
            Vec3::new(0.5, 0.0, 0.9),
            Vec3::X * 1.2,
        ] {
            assert!(weights_inside(corners, outside.into()).is_none());
        }
        assert!(weights_inside([corners[0]; 4], corners[0]).is_none());
    }
}
