//! Dual quaternion skinning (Kavan et al. 2008, "Geometric Skinning with Approximate Dual Quaternion Blending").

use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A};

use super::stretch::split_rotation;
use super::{Posed, influences, morphed, skin_matrices, strongest_slot, transform_each};
use crate::Part;

/// A skin matrix split into a stretch and a rigid motion.
pub(super) struct DualQuat {
    real: Quat,
    dual: Quat,
    /// Scale and shear, applied before the rigid motion.
    stretch: Mat3A,
}

impl DualQuat {
    /// Splits `M = [R S | t]`; the dual part is `½ t q` with `t` as a pure quaternion.
    pub(super) fn from_matrix(matrix: &Affine3A) -> Self {
        let (real, stretch) = split_rotation(&matrix.matrix3);
        let t = matrix.translation;
        let dual = Quat::from_xyzw(t.x, t.y, t.z, 0.0) * real * 0.5;
        Self {
            real,
            dual,
            stretch,
        }
    }
}

/// Dual quaternion skinning: blends rigid motions as screws, which preserves volume at bent and twisted joints.
///
/// Scale is blended linearly and applied first, as the paper proposes. The arguments are those of [`super::linear_blend`].
pub fn dual_quaternion(part: &Part, worlds: &[Affine3A], morph_weights: &[f32]) -> Posed {
    let motions: Vec<DualQuat> = skin_matrices(part, worlds)
        .iter()
        .map(DualQuat::from_matrix)
        .collect();
    let shape = morphed(part, morph_weights);
    if motions.is_empty() {
        return shape;
    }
    transform_each(shape, |vertex, _| blend(influences(part, vertex), &motions))
}

/// Normalised weighted sum. `q` and `−q` are the same motion, so signs are matched to the largest weight.
fn blend(influences: &[(u32, f32)], motions: &[DualQuat]) -> Affine3A {
    let motion = |slot: u32| motions.get(slot as usize).unwrap_or(&motions[0]);
    let pivot = motion(strongest_slot(influences));
    let zero = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let (mut real, mut dual, mut stretch) = (zero, zero, Mat3A::ZERO);
    for &(slot, weight) in influences {
        let motion = motion(slot);
        let signed = if motion.real.dot(pivot.real) < 0.0 {
            -weight
        } else {
            weight
        };
        real += motion.real * signed;
        dual += motion.dual * signed;
        stretch += motion.stretch * weight;
    }
    let length = real.length();
    if length < 1e-6 {
        (real, dual) = (pivot.real, pivot.dual);
    } else {
        (real, dual) = (real * (1.0 / length), dual * (1.0 / length));
    }
    let t = dual * real.conjugate() * 2.0;
    Affine3A {
        matrix3: Mat3A::from_quat(real) * stretch,
        translation: Vec3A::from(Vec3::new(t.x, t.y, t.z)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{bent_tube, tube_part};
    use super::*;

    /// Blending the identity with a rotation by θ about Z through the origin is a rotation by φ about the same axis, with
    /// tan(φ/2) = w sin(θ/2) / (1 − w + w cos(θ/2)).
    #[test]
    fn pure_bend_in_closed_form() {
        for angle in [0.5_f32, 1.5, 2.8] {
            let part = tube_part(24, 12);
            let posed = dual_quaternion(&part, &bent_tube(angle), &[]);
            for (vertex, &bind) in part.mesh.positions.iter().enumerate() {
                let w = (bind.y + 0.5).clamp(0.0, 1.0);
                let (sin, cos) = (0.5 * angle).sin_cos();
                let turn = 2.0 * (w * sin).atan2(1.0 - w + w * cos);
                let expected = Quat::from_rotation_z(turn) * bind;
                assert!(posed.positions[vertex].distance(expected) < 2e-6);
                let expected = Quat::from_rotation_z(turn) * part.normals[vertex];
                assert!(posed.normals[vertex].distance(expected) < 2e-6);
            }
        }
    }

    #[test]
    fn root_motion_with_scale_is_exact() {
        let part = tube_part(8, 6);
        let motion = Affine3A::from_scale_rotation_translation(
            Vec3::splat(2.0),
            Quat::from_rotation_x(3.0),
            Vec3::new(0.3, -0.2, 1.0),
        );
        let worlds: Vec<Affine3A> = bent_tube(0.0).iter().map(|w| motion * *w).collect();
        let posed = dual_quaternion(&part, &worlds, &[]);
        for (posed, bind) in posed.positions.iter().zip(&part.mesh.positions) {
            assert!(posed.distance(motion.transform_point3(*bind)) < 4e-6);
        }
    }
}
