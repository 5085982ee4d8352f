//! Positions of the driven vertices in a pose, and rigid frames for jumps of the pose.

use glam::{Affine3A, Vec3};
use rayon::prelude::*;
use supple_geom::adjacency::NONE;
use supple_rig::{Pose, Skeleton, Transform};
use supple_sim::Targets;

use crate::FleshError;
use crate::base_points::Foot;
use crate::flesh::{Driven, Flesh};
use crate::frames::Frames;

/// Points per parallel task: about a hundred microseconds.
const POINTS_A_PIECE: usize = 512;

impl Flesh {
    /// Targets of the solver for a pose. The bind pose gives the rest positions exactly.
    pub fn targets(&self, pose: &Pose) -> Result<Targets, FleshError> {
        let frames = self.frames(pose)?;
        let skins: Vec<u32> = self
            .driven
            .iter()
            .filter_map(|driven| match driven {
                Driven::Skin(column) => Some(*column),
                Driven::Bone(_) => None,
            })
            .collect();
        let outside = self.outside_columns();
        let kinematic: Vec<u32> = skins.iter().chain(&outside).copied().collect();
        let mut skins = self.kinematic_positions(pose, &kinematic)?.into_iter();
        let bone = |column: usize| self.driven_position(&frames, column);
        let mut positions: Vec<Vec3> = (self.driven.par_iter())
            .with_min_len(POINTS_A_PIECE)
            .map(|driven| match *driven {
                Driven::Skin(_) => Vec3::ZERO,
                Driven::Bone(column) => {
                    let column = column as usize;
                    bone(column).unwrap_or(self.bone[column]).as_vec3()
                }
            })
            .collect();
        for (position, driven) in positions.iter_mut().zip(&self.driven) {
            if let Driven::Skin(_) = driven {
                *position = skins.next().unwrap_or_default();
            }
        }
        let mut targets = self.model.targets(&positions, &[]);
        targets.outside = skins.collect();
        targets.bases = self.base_positions(&frames);
        targets.colliders = self.colliders_at(pose);
        Ok(targets)
    }

    /// Base point of every column.
    pub(crate) fn base_positions(&self, frames: &Frames) -> Vec<Vec3> {
        let at = |foot: &Foot| match foot.bone {
            Some(bone) => frames.bones[bone]
                .start
                .lerp(frames.bones[bone].end, foot.t),
            None => frames.nodes[foot.node].position,
        };
        self.feet.iter().map(|foot| at(foot).as_vec3()).collect()
    }

    /// Columns whose skin vertex is not in the model.
    pub(crate) fn outside_columns(&self) -> Vec<u32> {
        (0..self.columns.len() as u32)
            .filter(|&v| self.columns[v as usize].skin == NONE)
            .collect()
    }

    /// Rigid frame per free vertex from one pose to another, for [`supple_sim::State::carry`] when the pose jumps.
    pub fn carry_frames(&self, from: &Pose, to: &Pose) -> Result<Vec<Affine3A>, FleshError> {
        let (before, after) = (self.frames(from)?, self.frames(to)?);
        let free = self.model.free_count();
        let mut column_of = vec![None; self.model.vertex_count()];
        for (v, column) in self.columns.iter().enumerate() {
            for vertex in [column.skin, column.bone] {
                if let Some(slot) = column_of.get_mut(vertex as usize) {
                    *slot = Some(v);
                }
            }
        }
        let frame = |column: usize| {
            let at = |frames, p| self.carried_position(frames, column, p);
            let centre = self.skin.positions[column].as_dvec3();
            // The rigid motion follows from three points around the vertex.
            let corner = |frames, axis: glam::DVec3| at(frames, centre + axis) - at(frames, centre);
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

/// The pose with the given world transforms of joints.
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
