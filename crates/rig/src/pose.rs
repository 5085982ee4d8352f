//! A pose: the local transforms of all joints at one moment.

use glam::{Affine3A, Quat, Vec3};

use crate::{Skeleton, Transform};

/// Local transforms of all joints, and the twist and stretch of their bones.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    /// `parent_from_joint` of each joint. Root motion is the translation of the roots.
    pub locals: Vec<Transform>,
    /// Twist of each bone about its axis \[rad\], growing linearly from zero at the joint to this angle at the child.
    /// Empty if no bone twists.
    pub twist: Vec<f32>,
    /// Length factor of each bone. Empty if no bone stretches.
    pub stretch: Vec<f32>,
}

impl Pose {
    /// The skeleton's rest pose.
    pub fn rest(skeleton: &Skeleton) -> Self {
        Self {
            locals: skeleton.joints().iter().map(|joint| joint.rest).collect(),
            twist: Vec::new(),
            stretch: Vec::new(),
        }
    }

    /// Forward kinematics: `world_from_joint` of every joint.
    ///
    /// A stretched bone moves its children along its axis without scaling them. A twisted bone rotates them about its axis.
    pub fn worlds(&self, skeleton: &Skeleton) -> Vec<Affine3A> {
        let mut worlds: Vec<Affine3A> = Vec::with_capacity(skeleton.len());
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let local = self.locals[index];
            let world = match joint.parent {
                None => local.to_affine(),
                Some(parent) => {
                    let offset = local.translation * value_or(&self.stretch, parent, 1.0);
                    let twist = twist_about(offset, value_or(&self.twist, parent, 0.0));
                    let local = Transform {
                        translation: offset,
                        rotation: twist * local.rotation,
                        ..local
                    };
                    worlds[parent] * local.to_affine()
                }
            };
            worlds.push(world);
        }
        worlds
    }

    /// Rotates a joint by `rotation`, given in the parent's frame, on top of its current rotation.
    pub fn rotate(&mut self, joint: usize, rotation: Quat) {
        let local = &mut self.locals[joint];
        local.rotation = (rotation * local.rotation).normalize();
    }

    /// World rotation of every joint, without scale. For a mirrored joint (negative scale) it is the rotation that remains after
    /// removing the point reflection, which commutes with all rotations.
    pub fn world_rotations(&self, skeleton: &Skeleton) -> Vec<Quat> {
        let mut rotations: Vec<Quat> = Vec::with_capacity(skeleton.len());
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let local = self.locals[index];
            rotations.push(match joint.parent {
                None => local.rotation * mirror_turn(local.scale),
                Some(parent) => {
                    let twist = twist_about(local.translation, value_or(&self.twist, parent, 0.0));
                    let local = local.rotation * mirror_turn(local.scale);
                    (rotations[parent] * twist * local).normalize()
                }
            });
        }
        rotations
    }

    /// Rotates a joint and its descendants about the joint's position by `rotation`, given in world space.
    pub fn rotate_world(&mut self, skeleton: &Skeleton, joint: usize, rotation: Quat) {
        let own = self.locals[joint].rotation * mirror_turn(self.locals[joint].scale);
        let world = self.world_rotations(skeleton)[joint];
        // With world = carrier · own, the new world is rotation · carrier · own.
        let carrier = world * own.inverse();
        self.rotate(joint, carrier.inverse() * rotation * carrier);
    }

    /// Interpolates from `self` (t = 0) to `other` (t = 1).
    pub fn blend(&self, other: &Self, t: f32) -> Self {
        let mix = |a: &[f32], b: &[f32], none: f32| -> Vec<f32> {
            let count = a.len().max(b.len());
            (0..count)
                .map(|i| value_or(a, i, none) * (1.0 - t) + value_or(b, i, none) * t)
                .collect()
        };
        Self {
            locals: self
                .locals
                .iter()
                .zip(&other.locals)
                .map(|(a, b)| a.lerp(b, t))
                .collect(),
            twist: mix(&self.twist, &other.twist, 0.0),
            stretch: mix(&self.stretch, &other.stretch, 1.0),
        }
    }
}

/// The rotation in a scale's signs: two negative signs are a half turn; one or three are that up to a point reflection.
pub(crate) fn mirror_turn(scale: Vec3) -> Quat {
    let negative = scale.to_array().map(|s| s < 0.0);
    match negative {
        [true, false, false] | [false, true, true] => Quat::from_xyzw(1.0, 0.0, 0.0, 0.0),
        [false, true, false] | [true, false, true] => Quat::from_xyzw(0.0, 1.0, 0.0, 0.0),
        [false, false, true] | [true, true, false] => Quat::from_xyzw(0.0, 0.0, 1.0, 0.0),
        [false, false, false] | [true, true, true] => Quat::IDENTITY,
    }
}

fn value_or(values: &[f32], index: usize, none: f32) -> f32 {
    values.get(index).copied().unwrap_or(none)
}

fn twist_about(axis: Vec3, angle: f32) -> Quat {
    match axis.try_normalize() {
        Some(axis) if angle != 0.0 => Quat::from_axis_angle(axis, angle),
        _ => Quat::IDENTITY,
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;

    use super::*;
    use crate::Joint;
    use crate::skeleton::JointKind;

    /// Three joints in a row, one metre apart along X; the first is rotated so that the row runs along Y.
    fn row() -> Skeleton {
        let joint = |parent, rest| Joint {
            name: String::new(),
            parent,
            rest,
            tail: None,
            kind: JointKind::Bone,
        };
        let turn = Transform::from_rotation(Quat::from_rotation_z(FRAC_PI_2));
        let step = Transform::from_translation(Vec3::X);
        let joints = vec![
            joint(None, turn),
            joint(Some(0), step),
            joint(Some(1), step),
        ];
        Skeleton::from_unordered(joints).unwrap().0
    }

    fn place(world: &Affine3A) -> Vec3 {
        world.translation.into()
    }

    #[test]
    fn stretch_lengthens_one_bone_only() {
        let skeleton = row();
        let mut pose = Pose::rest(&skeleton);
        pose.stretch = vec![1.5];
        let worlds = pose.worlds(&skeleton);
        assert!(place(&worlds[1]).distance(Vec3::Y * 1.5) < 1e-6);
        assert!(place(&worlds[2]).distance(Vec3::Y * 2.5) < 1e-6);
        assert!((worlds[1].matrix3.determinant() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn twist_rotates_the_children_about_the_bone() {
        let skeleton = row();
        let mut pose = Pose::rest(&skeleton);
        pose.twist = vec![FRAC_PI_2];
        pose.locals[1].rotation = Quat::from_rotation_z(FRAC_PI_2);
        let worlds = pose.worlds(&skeleton);
        // Untwisted, the last joint is at (−1, 1, 0); a quarter turn about +Y takes −X to +Z.
        assert!(place(&worlds[2]).distance(Vec3::new(0.0, 1.0, 1.0)) < 1e-6);
        let rotations = pose.world_rotations(&skeleton);
        for (world, rotation) in worlds.iter().zip(rotations) {
            let expected = glam::Mat3A::from_quat(rotation);
            assert!(world.matrix3.abs_diff_eq(expected, 1e-6));
        }
    }

    #[test]
    fn world_rotations_keep_the_joint_position() {
        let skeleton = row();
        let mut pose = Pose::rest(&skeleton);
        pose.rotate(0, Quat::from_rotation_x(0.3));
        let before = pose.worlds(&skeleton);
        let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 0.8);
        pose.rotate_world(&skeleton, 1, turn);
        let after = pose.worlds(&skeleton);
        assert!(place(&after[1]).distance(place(&before[1])) < 1e-6);
        let bone = turn * (place(&before[2]) - place(&before[1]));
        assert!((place(&after[2]) - place(&after[1])).distance(bone) < 1e-6);
    }

    /// A mirrored joint follows a world-space rotation, and its world rotation changes by exactly that rotation.
    #[test]
    fn mirrored_joints_follow_world_rotations() {
        let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 0.8);
        for scale in [
            [-1.0, 1.0, 1.0],
            [1.0, 1.0, -1.0],
            [-1.0, -1.0, 1.0],
            [-1.0; 3],
        ] {
            let mut skeleton = row();
            skeleton.rest_mut(0).scale = scale.into();
            skeleton.rest_mut(1).scale = Vec3::new(1.0, -1.0, 1.0);
            let mut pose = Pose::rest(&skeleton);
            let before = (pose.worlds(&skeleton), pose.world_rotations(&skeleton));
            pose.rotate_world(&skeleton, 1, turn);
            let after = (pose.worlds(&skeleton), pose.world_rotations(&skeleton));
            let bone = turn * (place(&before.0[2]) - place(&before.0[1]));
            assert!((place(&after.0[2]) - place(&after.0[1])).distance(bone) < 1e-6);
            let turned = after.1[2] * before.1[2].inverse();
            assert!(turned.angle_between(turn) < 1e-3, "{scale:?}");
        }
    }
}
