//! Positions of the driven vertices in a pose, and rigid frames for jumps of the pose.

use glam::{Affine3A, Vec3};
use rayon::prelude::*;
use supple_geom::adjacency::NONE;
use supple_rig::{Pose, Skeleton, Transform};
use supple_sim::Targets;

use crate::FleshError;
use crate::construction::base_points::BasePoint;
use crate::flesh::Flesh;
use crate::motion::follow::{Follow, PoseFrames};
use crate::motion::frames::Frames;

/// Points per parallel task: about a hundred microseconds.
const POINTS_PER_TASK: usize = 512;

impl Flesh {
    /// Targets of the solver for a pose. The bind pose gives the rest positions exactly.
    pub fn targets(&self, pose: &Pose) -> Result<Targets, FleshError> {
        let frames = self.all_frames(pose)?;
        let driven = positions(&self.follow.driven, &frames);
        let mut targets = self.model.targets(&driven, &[]);
        targets.outside = positions(&self.follow.outside, &frames);
        targets.bases = self.base_positions(&frames.rigid);
        targets.colliders = self.colliders_at(pose);
        Ok(targets)
    }

    /// Posed base point of every column \[m\].
    pub(crate) fn base_positions(&self, frames: &Frames) -> Vec<Vec3> {
        let at = |base: &BasePoint| match base.bone {
            Some(bone) => frames.bones[bone]
                .start
                .lerp(frames.bones[bone].end, base.t),
            None => frames.nodes[base.node].position,
        };
        self.base_points
            .iter()
            .map(|base| at(base).as_vec3())
            .collect()
    }

    /// Columns whose skin vertex is not in the model.
    pub(crate) fn outside_columns(&self) -> Vec<u32> {
        (0..self.columns.len() as u32)
            .filter(|&v| self.columns[v as usize].skin == NONE)
            .collect()
    }

    /// Rigid frame per free vertex from one pose to another, for [`supple_sim::State::carry`] when the pose jumps.
    pub fn carry_frames(&self, from: &Pose, to: &Pose) -> Result<Vec<Affine3A>, FleshError> {
        let frames = |pose| {
            let rigid = self.frames(pose)?;
            Ok::<_, FleshError>(PoseFrames {
                rigid,
                ..PoseFrames::default()
            })
        };
        let (before, after) = (frames(from)?, frames(to)?);
        let free = self.model.free_count();
        let mut column_of = vec![None; self.model.vertex_count()];
        for (v, column) in self.columns.iter().enumerate() {
            for vertex in column.vertices() {
                if let Some(slot) = column_of.get_mut(vertex as usize) {
                    *slot = Some(v);
                }
            }
        }
        let frame = |column: usize| {
            let follow = self.carried(column);
            let at = |frames, beside| follow.moved(frames, beside);
            let centre = glam::DVec3::ZERO;
            // The rigid motion of the vertex, from three points around it.
            let corner = |frames, axis: glam::DVec3| at(frames, axis) - at(frames, centre);
            let matrix = |frames| {
                glam::DMat3::from_cols(
                    corner(frames, glam::DVec3::X),
                    corner(frames, glam::DVec3::Y),
                    corner(frames, glam::DVec3::Z),
                )
            };
            let turn = matrix(&after) * matrix(&before).inverse();
            let turn = if turn.is_finite() {
                turn
            } else {
                glam::DMat3::IDENTITY
            };
            let shift = at(&after, centre) - turn * at(&before, centre);
            Affine3A::from_mat3_translation(turn.as_mat3(), shift.as_vec3())
        };
        Ok(self.model.caller_of()[..free]
            .iter()
            .map(|&caller| column_of[caller as usize].map_or(Affine3A::IDENTITY, frame))
            .collect())
    }
}

/// Positions of points in a pose \[m\].
pub(crate) fn positions(points: &[Follow], frames: &PoseFrames) -> Vec<Vec3> {
    (points.par_iter())
        .with_min_len(POINTS_PER_TASK)
        .map(|point| point.position(frames).as_vec3())
        .collect()
}

/// The pose with these world transforms of its joints.
pub(crate) fn pose_of_worlds(skeleton: &Skeleton, worlds: &[Affine3A]) -> Pose {
    let mut pose = Pose::rest(skeleton);
    if worlds == skeleton.rest_worlds().as_slice() {
        return pose;
    }
    for (joint, node) in skeleton.joints().iter().enumerate() {
        let local = match node.parent {
            Some(parent) => worlds[parent].inverse() * worlds[joint],
            None => worlds[joint],
        };
        pose.locals[joint] = Transform::from_matrix(&glam::Mat4::from(local));
    }
    pose
}
