//! Conversion of a character to metres and Y up.

use glam::{Affine3A, Mat3A, Quat, Vec3};

use crate::Transform;
use crate::character::{Character, Up};
use crate::clip::Values;

/// Scales and rotates everything: positions become `metres_per_unit · R · p`; joint frames are changed so that an
/// unrotated joint stays unrotated.
pub(super) fn convert(character: &mut Character, metres_per_unit: f32, up: Up) {
    let change = Change {
        scale: metres_per_unit,
        turn: match up {
            Up::Y => Quat::IDENTITY,
            Up::Z => Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        },
        up,
    };
    for part in &mut character.parts {
        part.mesh
            .positions
            .iter_mut()
            .for_each(|p| *p = change.point(*p));
        part.normals.iter_mut().for_each(|n| *n = change.axes(*n));
        for morph in &mut part.morphs {
            morph
                .positions
                .iter_mut()
                .for_each(|p| *p = change.point(*p));
            morph.normals.iter_mut().for_each(|n| *n = change.axes(*n));
        }
        for bind in &mut part.binding.inverse_binds {
            *bind = change.affine(bind);
        }
    }
    change_skeleton(character, &change);
    for track in character.clips.iter_mut().flat_map(|clip| &mut clip.tracks) {
        match &mut track.values {
            Values::Translation(values) => values.iter_mut().for_each(|v| *v = change.point(*v)),
            Values::Rotation(values) => values.iter_mut().for_each(|q| *q = change.rotation(*q)),
            Values::Scale(values) => values.iter_mut().for_each(|s| *s = change.factors(*s)),
            Values::Twist(_) | Values::Stretch(_) => {}
        }
    }
}

fn change_skeleton(character: &mut Character, change: &Change) {
    let joints = character
        .skeleton
        .joints()
        .iter()
        .cloned()
        .map(|mut joint| {
            joint.rest = Transform {
                translation: change.point(joint.rest.translation),
                rotation: change.rotation(joint.rest.rotation),
                scale: change.factors(joint.rest.scale),
            };
            joint.tail = joint.tail.map(|tail| change.point(tail));
            joint
        });
    // Parents already come before children, so the order is kept and this cannot fail.
    if let Ok((skeleton, _)) = crate::Skeleton::from_unordered(joints.collect()) {
        character.skeleton = skeleton;
    }
}

struct Change {
    scale: f32,
    turn: Quat,
    up: Up,
}

impl Change {
    /// Swaps axes exactly; a quaternion would add rounding errors.
    fn axes(&self, v: Vec3) -> Vec3 {
        match self.up {
            Up::Y => v,
            Up::Z => Vec3::new(v.x, v.z, -v.y),
        }
    }

    /// Scale factors along the swapped axes, with their signs.
    fn factors(&self, v: Vec3) -> Vec3 {
        match self.up {
            Up::Y => v,
            Up::Z => Vec3::new(v.x, v.z, v.y),
        }
    }

    fn point(&self, p: Vec3) -> Vec3 {
        self.axes(p) * self.scale
    }

    fn rotation(&self, q: Quat) -> Quat {
        let axis = self.axes(Vec3::new(q.x, q.y, q.z));
        Quat::from_xyzw(axis.x, axis.y, axis.z, q.w)
    }

    fn affine(&self, a: &Affine3A) -> Affine3A {
        let turn = Mat3A::from_quat(self.turn);
        Affine3A {
            matrix3: turn * a.matrix3 * turn.transpose(),
            translation: self.point(a.translation.into()).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrored_joints_stay_mirrored() {
        let joint = crate::Joint {
            name: String::new(),
            parent: None,
            rest: Transform {
                scale: Vec3::new(1.0, -2.0, 3.0),
                ..Transform::default()
            },
            tail: None,
            kind: crate::skeleton::JointKind::Bone,
        };
        let mut character = Character {
            skeleton: crate::Skeleton::from_unordered(vec![joint]).unwrap().0,
            ..Character::default()
        };
        convert(&mut character, 1.0, Up::Z);
        let scale = character.skeleton.joints()[0].rest.scale;
        assert_eq!(scale, Vec3::new(1.0, 3.0, -2.0));
    }
}
