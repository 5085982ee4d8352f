//! A pose: what every joint does at one moment.

use glam::{Affine3A, Quat, Vec3};

use crate::{Skeleton, Transform};

/// Local transforms of all joints, and what bones do along their own length.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    /// `parent_from_joint` of each joint; root motion is the roots' translation.
    pub locals: Vec<Transform>,
    /// Angle by which each bone is wrung about its axis, from nothing at the joint to all of it at the child [rad].
    /// Empty: no bone twists.
    pub twist: Vec<f32>,
    /// Factor on each bone's length, from the joint to its children. Empty: no bone stretches.
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
    /// A stretched bone moves its children away along itself without scaling them; a twisted one turns them about it.
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

    /// Turns a joint by `rotation`, given in its parent's frame, on top of what it does already.
    pub fn rotate(&mut self, joint: usize, rotation: Quat) {
        let local = &mut self.locals[joint];
        local.rotation = (rotation * local.rotation).normalize();
    }

    /// Between `self` (at 0) and `other` (at 1).
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

fn value_or(values: &[f32], index: usize, none: f32) -> f32 {
    values.get(index).copied().unwrap_or(none)
}

fn twist_about(axis: Vec3, angle: f32) -> Quat {
    match axis.try_normalize() {
        Some(axis) if angle != 0.0 => Quat::from_axis_angle(axis, angle),
        _ => Quat::IDENTITY,
    }
}
