//! Posing by linear blend skinning, and its inverse.

use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use supple_rig::{Pose, Skeleton};

use super::BodyModel;

/// A body of the space in a pose.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Figure {
    /// Coefficients of the fields.
    pub coefficients: Vec<f64>,
    /// Rotation of each joint relative to its parent.
    pub locals: Vec<DQuat>,
    /// Translation of the root from its place at rest \[m\].
    pub translation: DVec3,
}

/// World rotations and places of joints in a pose.
#[derive(Clone, Debug)]
pub struct Frames {
    /// World rotation of each joint.
    pub rotations: Vec<DMat3>,
    /// World position of each joint \[m\].
    pub joints: Vec<DVec3>,
    /// `world = rotation × rest + offset` for points that move with the joint alone \[m\].
    pub offsets: Vec<DVec3>,
}

impl Figure {
    /// The mean body at rest.
    pub fn mean(model: &BodyModel) -> Self {
        Figure {
            coefficients: vec![0.0; model.field_count()],
            locals: vec![DQuat::IDENTITY; model.joint_count()],
            translation: DVec3::ZERO,
        }
    }

    /// Forward kinematics over joints whose rest places are given.
    pub fn frames(&self, model: &BodyModel, rest_joints: &[DVec3]) -> Frames {
        let count = model.joint_count();
        let mut turns: Vec<DQuat> = Vec::with_capacity(count);
        let mut frames = Frames {
            rotations: Vec::with_capacity(count),
            joints: Vec::with_capacity(count),
            offsets: Vec::with_capacity(count),
        };
        for joint in 0..count {
            let local = self.locals[joint];
            let (turn, place) = match model.parents[joint] {
                None => (local, rest_joints[joint] + self.translation),
                Some(parent) => (
                    (turns[parent] * local).normalize(),
                    frames.joints[parent]
                        + turns[parent] * (rest_joints[joint] - rest_joints[parent]),
                ),
            };
            turns.push(turn);
            frames.rotations.push(DMat3::from_quat(turn));
            frames.joints.push(place);
            frames.offsets.push(place - turn * rest_joints[joint]);
        }
        frames
    }

    /// Posed vertices \[m\].
    pub fn vertices(&self, model: &BodyModel) -> Vec<DVec3> {
        let frames = self.frames(model, &model.rest_joints(&self.coefficients));
        (0..model.vertex_count())
            .into_par_iter()
            .map(|v| frames.place(model, v, model.rest_point(v, &self.coefficients)))
            .collect()
    }

    /// The pose for a rig that was made of these rest joints by [`BodyModel::skeleton`].
    pub fn pose(&self, skeleton: &Skeleton) -> Pose {
        let mut pose = Pose::rest(skeleton);
        for (local, turn) in pose.locals.iter_mut().zip(&self.locals) {
            local.rotation = turn.as_quat();
        }
        if let Some(root) = pose.locals.first_mut() {
            root.translation += self.translation.as_vec3();
        }
        pose
    }
}

impl Frames {
    /// Blended rotation and offset of a vertex.
    pub fn blend(&self, model: &BodyModel, vertex: usize) -> (DMat3, DVec3) {
        let mut sum = (DMat3::ZERO, DVec3::ZERO);
        for &(joint, weight) in &model.weights[vertex] {
            let (joint, weight) = (usize::from(joint), f64::from(weight));
            if weight > 0.0 {
                sum.0 += self.rotations[joint] * weight;
                sum.1 += self.offsets[joint] * weight;
            }
        }
        sum
    }

    /// Posed place of a vertex at `rest` \[m\].
    pub fn place(&self, model: &BodyModel, vertex: usize, rest: DVec3) -> DVec3 {
        let (rotation, offset) = self.blend(model, vertex);
        rotation * rest + offset
    }

    /// Rest place of a vertex that is posed at `posed` \[m\].
    pub fn unplace(&self, model: &BodyModel, vertex: usize, posed: DVec3) -> DVec3 {
        let (rotation, offset) = self.blend(model, vertex);
        // Blended rotations of a standing pose are far from singular: joints turn by less than a right angle.
        rotation.inverse() * (posed - offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sex;

    #[test]
    fn posing_inverts_and_agrees_with_the_rig() {
        let model = BodyModel::embedded(Sex::Female);
        let mut figure = Figure::mean(model);
        figure.coefficients[3] = 0.4;
        figure.translation = DVec3::new(0.3, 0.1, -0.2);
        figure.locals[model.joint("upperarm01.L")] = DQuat::from_rotation_z(0.6);
        figure.locals[model.joint("root")] = DQuat::from_rotation_y(2.0);
        figure.locals[model.joint("lowerleg01.R")] = DQuat::from_rotation_x(0.5);
        let rest_joints = model.rest_joints(&figure.coefficients);
        let frames = figure.frames(model, &rest_joints);
        let posed = figure.vertices(model);
        for (v, &at) in posed.iter().enumerate() {
            let rest = model.rest_point(v, &figure.coefficients);
            assert!(frames.unplace(model, v, at).distance(rest) < 1e-9);
        }
        let skeleton = model.skeleton(&rest_joints);
        let worlds = figure.pose(&skeleton).worlds(&skeleton);
        for (world, joint) in worlds.iter().zip(&frames.joints) {
            assert!(glam::Vec3::from(world.translation).distance(joint.as_vec3()) < 1e-5);
        }
    }
}
