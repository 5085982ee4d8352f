//! Residual of linear blend skinning, as offsets in bind space.

use std::ops::Range;

use glam::{Affine3A, DMat3, DVec3, Mat3A, Vec3, Vec3A};
use rayon::prelude::*;

use super::motion::Motion;
use super::principal::Offsets;
use crate::skinning::skin_matrices;
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

/// `world_from_bind` of some vertices of a part.
pub(super) fn blended(
    part: &Part,
    worlds: &[Affine3A],
    vertices: impl Iterator<Item = usize>,
) -> Vec<Affine3A> {
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

/// Positions of some vertices of a part under its own morph targets.
pub(super) fn shape(
    part: &Part,
    weights: &[f32],
    vertices: impl Iterator<Item = usize>,
) -> Vec<Vec3> {
    let moving: Vec<_> = (part.morphs.iter().zip(weights))
        .filter(|(_, weight)| **weight != 0.0)
        .collect();
    let place = |vertex: usize| {
        let mut place = part.mesh.positions[vertex];
        for (morph, weight) in &moving {
            if let Some(&offset) = morph.positions.get(vertex) {
                place += **weight * offset;
            }
        }
        place
    };
    vertices.map(place).collect()
}

/// Some vertices of a frame: where the file's own shape, its skinning and the motion have them.
pub(super) struct Placed {
    /// Bind space.
    pub shape: Vec<Vec3>,
    /// `world_from_bind`.
    pub maps: Vec<Affine3A>,
    /// World space.
    pub wanted: Vec<Vec3>,
}

/// Bind-space offsets that make skinning with `poses` reproduce the motion, the group's parts concatenated.
pub(super) struct Residuals<'a> {
    pub character: &'a Character,
    pub motion: &'a Motion,
    pub poses: &'a [Pose],
    pub group: &'a Group,
    /// The vertices that need offsets, ascending.
    pub vertices: Vec<usize>,
}

impl<'a> Residuals<'a> {
    /// Offsets of all vertices.
    pub fn of_all(
        character: &'a Character,
        motion: &'a Motion,
        poses: &'a [Pose],
        group: &'a Group,
    ) -> Self {
        let count = |&part: &usize| character.parts[part].mesh.positions.len();
        let all = group.parts.iter().map(count).sum();
        Self {
            character,
            motion,
            poses,
            group,
            vertices: (0..all).collect(),
        }
    }

    /// Offsets of the vertices that skinning alone leaves farther than `least` from the motion in some frame \[m\].
    pub fn of_those_beyond(mut self, least: f32) -> Self {
        let farthest = (0..self.motion.frames.len())
            .into_par_iter()
            .map(|frame| {
                let placed = self.placed(frame, &self.vertices);
                let each = placed.shape.iter().zip(&placed.maps).zip(&placed.wanted);
                each.map(|((&shape, map), wanted)| map.transform_point3(shape).distance(*wanted))
                    .collect()
            })
            .reduce(Vec::new, |mut a: Vec<f32>, b| {
                if a.is_empty() {
                    return b;
                }
                a.iter_mut().zip(b).for_each(|(a, b)| *a = a.max(b));
                a
            });
        let farthest = farthest.into_iter();
        let beyond = self.vertices.iter().zip(farthest);
        // NaN counts as far.
        self.vertices = beyond
            .filter(|(_, distance)| distance.is_nan() || *distance > least)
            .map(|(&vertex, _)| vertex)
            .collect();
        self
    }

    /// Chosen vertices of the group in a frame; `vertices` are ascending.
    pub fn placed(&self, frame: usize, vertices: &[usize]) -> Placed {
        let worlds = worlds(self.character, self.poses, frame);
        let moved = self.motion.frames.get(frame);
        let mut placed = Placed {
            shape: Vec::with_capacity(vertices.len()),
            maps: Vec::with_capacity(vertices.len()),
            wanted: Vec::with_capacity(vertices.len()),
        };
        let (mut start, mut rest) = (0, vertices);
        for &index in &self.group.parts {
            let part = &self.character.parts[index];
            let end = start + part.mesh.positions.len();
            let (own, others) = rest.split_at(rest.partition_point(|&vertex| vertex < end));
            rest = others;
            if !own.is_empty() {
                let own = || own.iter().map(|&vertex| vertex - start);
                let weights = self.motion.weights(self.character, frame, index);
                placed.shape.extend(shape(part, weights, own()));
                placed.maps.extend(blended(part, &worlds, own()));
                placed
                    .wanted
                    .extend(own().map(|vertex| moved[index][vertex]));
            }
            start = end;
        }
        placed
    }

    /// Offsets of chosen vertices in a frame \[m\], and the largest distance that they leave.
    pub fn of_frame(&self, frame: usize, vertices: &[usize]) -> (Vec<Vec3>, f32) {
        let placed = self.placed(frame, vertices);
        let mut worst = 0.0_f32;
        let each = placed.shape.iter().zip(&placed.maps).zip(&placed.wanted);
        let offsets = each.map(|((&shape, map), &wanted)| {
            let offset = offset(map, shape, wanted);
            worst = worst.max(map.transform_point3(shape + offset).distance(wanted));
            offset
        });
        (offsets.collect(), worst)
    }
}

impl Offsets for Residuals<'_> {
    fn frames(&self) -> usize {
        self.motion.frames.len()
    }

    fn vertices(&self) -> usize {
        self.vertices.len()
    }

    fn of(&self, vertices: Range<usize>) -> Vec<Vec<Vec3>> {
        let frames = (0..self.frames()).into_par_iter();
        let vertices = &self.vertices[vertices];
        frames
            .map(|frame| self.of_frame(frame, vertices).0)
            .collect()
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
