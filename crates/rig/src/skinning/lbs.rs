//! Linear blend skinning.

use glam::{Affine3A, Mat3A, Vec3A};

use super::{Posed, influences, morphed, skin_matrices, transform_each};
use crate::Part;

/// Linear blend skinning: every vertex moves by the weighted mean of its joints' matrices.
///
/// `worlds` holds `world_from_joint` of the whole skeleton, as returned by [`crate::Pose::worlds`]. A part without joints
/// is not moved.
pub fn linear_blend(part: &Part, worlds: &[Affine3A], morph_weights: &[f32]) -> Posed {
    let matrices = skin_matrices(part, worlds);
    let shape = morphed(part, morph_weights);
    if matrices.is_empty() {
        return shape;
    }
    transform_each(shape, |vertex, _| {
        blend_matrices(influences(part, vertex), &matrices)
    })
}

/// Weighted sum of matrices; slots out of range count as the first.
pub(super) fn blend_matrices(influences: &[(u32, f32)], matrices: &[Affine3A]) -> Affine3A {
    let mut sum = Affine3A {
        matrix3: Mat3A::ZERO,
        translation: Vec3A::ZERO,
    };
    for &(slot, weight) in influences {
        let matrix = matrices.get(slot as usize).unwrap_or(&matrices[0]);
        sum.matrix3 += matrix.matrix3 * weight;
        sum.translation += matrix.translation * weight;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{bent_tube, tube_part};
    use super::*;
    use glam::{DAffine3, DMat3, DVec3, Quat, Vec3};

    #[test]
    fn agrees_with_a_direct_evaluation_in_f64() {
        let part = tube_part(24, 12);
        let worlds = bent_tube(1.1);
        let posed = linear_blend(&part, &worlds, &[]);
        let wide = |m: &Affine3A| {
            let m = m.to_cols_array().map(f64::from);
            DAffine3::from_cols_array(&m)
        };
        for (vertex, &bind) in part.mesh.positions.iter().enumerate() {
            let mut direct = DVec3::ZERO;
            for &(slot, weight) in part.binding.influences.of(vertex) {
                let slot = slot as usize;
                let map = wide(&worlds[part.binding.joints[slot]])
                    * wide(&part.binding.inverse_binds[slot]);
                direct += f64::from(weight) * map.transform_point3(bind.as_dvec3());
            }
            // Tolerance: a few f32 rounding errors at metre scale.
            assert!((posed.positions[vertex].as_dvec3() - direct).length() < 1e-6);
        }
    }

    #[test]
    fn root_motion_is_rigid() {
        let part = tube_part(8, 6);
        let motion = Affine3A::from_rotation_translation(
            Quat::from_rotation_z(0.7),
            Vec3::new(0.3, -0.2, 1.0),
        );
        let worlds: Vec<Affine3A> = bent_tube(0.0).iter().map(|w| motion * *w).collect();
        let posed = linear_blend(&part, &worlds, &[]);
        for (posed, bind) in posed.positions.iter().zip(&part.mesh.positions) {
            assert!(posed.distance(motion.transform_point3(*bind)) < 1e-6);
        }
        for (posed, bind) in posed.normals.iter().zip(&part.normals) {
            assert!(posed.distance(motion.transform_vector3(*bind)) < 1e-6);
        }
    }

    #[test]
    fn normals_use_the_inverse_transpose() {
        let map = Affine3A::from_scale(Vec3::new(2.0, 1.0, -1.0));
        let normal = Vec3::new(1.0, 2.0, 0.5).normalize();
        let direct = DMat3::from_diagonal(DVec3::new(0.5, 1.0, -1.0)) * normal.as_dvec3();
        let found = super::super::transform_normal(&map, normal);
        assert!((found.as_dvec3() - direct.normalize()).length() < 1e-6);
    }

    #[test]
    fn a_part_without_joints_does_not_move() {
        let mut part = tube_part(4, 4);
        part.binding = Default::default();
        let posed = linear_blend(&part, &[], &[]);
        assert_eq!(posed.positions, part.mesh.positions);
    }
}
