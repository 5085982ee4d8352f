//! What linear blend skinning misses, in bind space.

use glam::{Affine3A, DMat3, DVec3, Mat3A, Vec3, Vec3A};
use rayon::prelude::*;

use super::motion::{Motion, Sum};
use super::principal::Modes;
use crate::skinning::{morphed, skin_matrices};
use crate::{Character, Part, Pose};

/// Damping of the inverse of a blended matrix, as a fraction of its size. Where skinning collapses (a forearm wrung by
/// 180°) the matrix is singular: below 1e-3 offsets of metres appear there, above 0.1 sound vertices lose accuracy.
const DAMPING: f64 = 1e-2;

/// Parts of one node: they share morph weights.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub node: usize,
    pub parts: Vec<usize>,
}

/// `world_from_bind` of each vertex of a part.
pub(super) fn blended(part: &Part, worlds: &[Affine3A]) -> Vec<Affine3A> {
    let matrices = skin_matrices(part, worlds);
    let influences = &part.binding.influences;
    (0..part.mesh.positions.len())
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

/// Offsets in bind space that make skinning with `poses` reproduce the motion: one list a frame, the group's parts one
/// after the other.
pub(super) fn bind_residuals(
    character: &Character,
    motion: &Motion,
    poses: &[Pose],
    group: &Group,
) -> Vec<Vec<Vec3>> {
    (0..motion.frames.len())
        .into_par_iter()
        .map(|frame| {
            let worlds = worlds(character, poses, frame);
            let mut offsets = Vec::new();
            for &index in &group.parts {
                let part = &character.parts[index];
                let shape = morphed(part, motion.weights(character, frame, index)).positions;
                let maps = blended(part, &worlds);
                let wanted = &motion.frames[frame][index];
                let points = shape.iter().zip(&maps).zip(wanted);
                offsets.extend(points.map(|((&shape, map), &wanted)| offset(map, shape, wanted)));
            }
            offsets
        })
        .collect()
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
) -> Sum {
    let frames: Vec<Sum> = (0..motion.frames.len())
        .into_par_iter()
        .map(|frame| {
            let worlds = worlds(character, poses, frame);
            let mut sum = Sum::default();
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
                for ((map, point), wanted) in
                    maps.iter().zip(shape).zip(&motion.frames[frame][index])
                {
                    sum.add(map.transform_point3(point), *wanted);
                }
                start = end;
            }
            sum
        })
        .collect();
    frames.into_iter().fold(Sum::default(), Sum::join)
}
