//! Residual of linear blend skinning, as offsets in bind space.

use std::ops::Range;

use glam::{Affine3A, DMat3, DVec3, Mat3A, Vec3, Vec3A};
use rayon::prelude::*;

use super::motion::{ErrorSum, Motion};
use super::principal::{Modes, Offsets};
use crate::skinning::{morphed, skin_matrices};
use crate::{Character, Part, Pose};

/// Damping of the inverse of a blended matrix, relative to the matrix norm. The matrix is singular where skinning collapses (a
/// forearm twisted by 180°): below 1e-3 offsets of metres appear there; above 0.1 regular vertices lose accuracy.
const DAMPING: f64 = 1e-2;

/// Parts of one node. They share morph weights.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub node: usize,
    pub parts: Vec<usize>,
}

/// `world_from_bind` of each vertex of a part.
pub(super) fn blended(part: &Part, worlds: &[Affine3A]) -> Vec<Affine3A> {
    blended_in(part, worlds, 0..part.mesh.positions.len())
}

/// `world_from_bind` of a range of vertices.
fn blended_in(part: &Part, worlds: &[Affine3A], vertices: Range<usize>) -> Vec<Affine3A> {
    let matrices = skin_matrices(part, worlds);
    let influences = &part.binding.influences;
    vertices
        .map(|vertex| {
            if matrices.is_empty() || vertex >= influences.len() {
                return Affine3A::IDENTITY;
            }
            let mut sum = Affine3A {
                matrix3: Mat3A::ZERO,
                translation: Vec3A::ZERO,
            };
            for &(slot, weight) in influences.of(vertex) {
                let matrix = matrices[slot as usize];
                sum.matrix3 += matrix.matrix3 * weight;
                sum.translation += matrix.translation * weight;
            }
            sum
        })
        .collect()
}

/// Bind-space offsets that make skinning with `poses` reproduce the motion, the group's parts concatenated.
pub(super) struct Residuals<'a> {
    pub character: &'a Character,
    pub motion: &'a Motion,
    pub poses: &'a [Pose],
    pub group: &'a Group,
}

impl Offsets for Residuals<'_> {
    fn frames(&self) -> usize {
        self.motion.frames.len()
    }

    fn vertices(&self) -> usize {
        let count = |&part: &usize| self.character.parts[part].mesh.positions.len();
        self.group.parts.iter().map(count).sum()
    }

    fn of(&self, vertices: Range<usize>) -> Vec<Vec<Vec3>> {
        let frames = (0..self.frames()).into_par_iter();
        frames
            .map(|frame| self.of_frame(frame, &vertices))
            .collect()
    }
}

impl Residuals<'_> {
    fn of_frame(&self, frame: usize, vertices: &Range<usize>) -> Vec<Vec3> {
        let worlds = worlds(self.character, self.poses, frame);
        let moved = self.motion.frames.get(frame);
        let mut offsets = Vec::with_capacity(vertices.len());
        let mut start = 0;
        for &index in &self.group.parts {
            let part = &self.character.parts[index];
            let count = part.mesh.positions.len();
            let inside = |vertex: usize| vertex.clamp(start, start + count) - start;
            let chosen = inside(vertices.start)..inside(vertices.end);
            start += count;
            if chosen.is_empty() {
                continue;
            }
            let weights = self.motion.weights(self.character, frame, index);
            let shape = morphed(part, weights).positions;
            let maps = blended_in(part, &worlds, chosen.clone());
            let wanted = &moved[index][chosen.clone()];
            let points = shape[chosen].iter().zip(&maps).zip(wanted);
            offsets.extend(points.map(|((&shape, map), &wanted)| offset(map, shape, wanted)));
        }
        offsets
    }
}

/// `world_from_joint` of a frame.
pub(super) fn worlds(character: &Character, poses: &[Pose], frame: usize) -> Vec<Affine3A> {
    let pose = poses.get(frame);
    pose.map_or_else(Vec::new, |pose| pose.worlds(&character.skeleton))
}

/// Damped least squares for `map (shape + d) = wanted`, with one step of refinement.
fn offset(map: &Affine3A, shape: Vec3, wanted: Vec3) -> Vec3 {
    let linear = DMat3::from_cols(
        Vec3::from(map.matrix3.x_axis).as_dvec3(),
        Vec3::from(map.matrix3.y_axis).as_dvec3(),
        Vec3::from(map.matrix3.z_axis).as_dvec3(),
    );
    let moved = linear * shape.as_dvec3() + Vec3::from(map.translation).as_dvec3();
    let missing = wanted.as_dvec3() - moved;
    let square = linear.transpose() * linear;
    let size = (square.x_axis.x + square.y_axis.y + square.z_axis.z) / 3.0;
    if size <= 0.0 || !size.is_finite() {
        return Vec3::ZERO;
    }
    let inverse = (square + DMat3::from_diagonal(DVec3::splat(DAMPING * DAMPING * size))).inverse();
    let solve = |missing: DVec3| inverse * (linear.transpose() * missing);
    let first = solve(missing);
    let refined = first + solve(missing - linear * first);
    if refined.is_finite() {
        refined.as_vec3()
    } else {
        Vec3::ZERO
    }
}

/// Error of skinning with the first `count` modes, evaluated in single precision as a viewer does.
pub(super) fn mode_errors(
    character: &Character,
    motion: &Motion,
    poses: &[Pose],
    group: &Group,
    modes: &Modes,
    count: usize,
) -> ErrorSum {
    let frames: Vec<ErrorSum> = (0..motion.frames.len())
        .into_par_iter()
        .map(|frame| {
            let worlds = worlds(character, poses, frame);
            let mut sum = ErrorSum::default();
            let moved = motion.frames.get(frame);
            let mut start = 0;
            for &index in &group.parts {
                let part = &character.parts[index];
                let mut shape = morphed(part, motion.weights(character, frame, index)).positions;
                let end = start + shape.len();
                for mode in 0..count {
                    let weight = modes.weights[mode][frame];
                    let offsets = &modes.shapes[mode][start..end];
                    shape
                        .iter_mut()
                        .zip(offsets)
                        .for_each(|(point, offset)| *point += weight * *offset);
                }
                let maps = blended(part, &worlds);
                for ((map, point), wanted) in maps.iter().zip(shape).zip(&moved[index]) {
                    sum.add(map.transform_point3(point), *wanted);
                }
                start = end;
            }
            sum
        })
        .collect();
    frames.into_iter().fold(ErrorSum::default(), ErrorSum::join)
}
