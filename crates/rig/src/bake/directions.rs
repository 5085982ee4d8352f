//! Normal and tangent offsets of morph targets, from the rotation of the skin around each vertex.
//!
//! A viewer adds a target's offsets to normals and tangents before skinning rotates them. The rotation of the surface is
//! the average over the triangles around a vertex, across seams, so hand-edited normals keep their shape.

use glam::{Affine3A, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_geom::eigen::symmetric_eigen;
use supple_geom::turns::vertex_turns;
use supple_geom::weld::weld;

use super::motion::Motion;
use super::residual::{Group, Residuals};
use crate::formats::FormatError;
use crate::formats::gltf::Document;
use crate::{Character, Pose};

/// Frames processed at a time, to bound memory.
const BATCH: usize = 8;

/// Vectors at the vertices of a group, its parts concatenated.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Directions {
    /// Empty if no part has normals.
    pub normals: Vec<Vec3>,
    /// Empty if no part has tangents.
    pub tangents: Vec<Vec3>,
}

impl Directions {
    /// Zeros of the same lengths.
    fn zeros(like: &Self) -> Self {
        Self {
            normals: vec![Vec3::ZERO; like.normals.len()],
            tangents: vec![Vec3::ZERO; like.tangents.len()],
        }
    }

    fn add(&mut self, factor: f32, other: &Self) {
        let add = |sums: &mut [Vec3], others: &[Vec3]| {
            let pairs = sums.iter_mut().zip(others);
            pairs.for_each(|(sum, other)| *sum += factor * *other);
        };
        add(&mut self.normals, &other.normals);
        add(&mut self.tangents, &other.tangents);
    }
}

/// The normals and tangents of a group, and the data to rotate them.
pub(super) struct DirectionOffsets<'a> {
    residuals: Residuals<'a>,
    rest: Directions,
    /// The chosen vertices, ascending. All others keep their normals.
    chosen: &'a [usize],
    /// Vertices around the chosen ones, across seams: the corners of `triangles`.
    around: Vec<usize>,
    triangles: Vec<[u32; 3]>,
    /// Place in `around` of the position of each chosen vertex.
    place: Vec<u32>,
}

impl<'a> DirectionOffsets<'a> {
    /// `None` if the group has no normals, or has its own morph targets without normals.
    pub fn new(
        document: &Document,
        character: &'a Character,
        motion: &'a Motion,
        poses: &'a [Pose],
        group: &'a Group,
        chosen: &'a [usize],
    ) -> Result<Option<Self>, FormatError> {
        let parts = || group.parts.iter().map(|&part| &character.parts[part]);
        let has_normals = parts().all(|part| {
            let count = part.mesh.positions.len();
            // Viewers expect all targets of a mesh to move the same attributes.
            part.normals.len() == count && part.morphs.iter().all(|m| m.normals.len() == count)
        });
        if !has_normals {
            return Ok(None);
        }
        let meshes: Vec<TriMesh> = parts().map(|part| part.mesh.clone()).collect();
        let rest = Directions {
            normals: parts().flat_map(|part| part.normals.clone()).collect(),
            tangents: rest_tangents(document, character, group)?,
        };
        let welded = weld(&TriMesh::merged(&meshes), 0.0);
        let mut near = vec![false; welded.mesh.positions.len()];
        for &vertex in chosen {
            near[welded.welded_from_original[vertex] as usize] = true;
        }
        let mut triangles = welded.mesh.triangles;
        triangles.retain(|triangle| triangle.iter().any(|&v| near[v as usize]));
        let corners = triangles.iter().flatten();
        corners.for_each(|&v| near[v as usize] = true);
        // In the order of the file's vertices, which is that of the welded ones.
        let mut number = vec![u32::MAX; near.len()];
        let mut around = Vec::new();
        for (vertex, _) in near.iter().enumerate().filter(|(_, near)| **near) {
            number[vertex] = around.len() as u32;
            around.push(welded.original_from_welded[vertex] as usize);
        }
        let corners = triangles.iter_mut().flatten();
        corners.for_each(|v| *v = number[*v as usize]);
        let place = |&vertex: &usize| number[welded.welded_from_original[vertex] as usize];
        Ok(Some(Self {
            residuals: Residuals::of_all(character, motion, poses, group),
            rest,
            place: chosen.iter().map(place).collect(),
            chosen,
            around,
            triangles,
        }))
    }

    /// Offsets in bind space for a frame.
    pub fn offsets(&self, frame: usize) -> Directions {
        let around = self.residuals.placed(frame, &self.around);
        let maps = self.residuals.placed(frame, self.chosen).maps;
        let rest = TriMesh {
            positions: around.shape,
            triangles: self.triangles.clone(),
        };
        let turns = vertex_turns(&rest, &around.wanted);
        let offsets = |list: &[Vec3], back: &dyn Fn(&Affine3A, Vec3) -> Vec3| -> Vec<Vec3> {
            let mut all = vec![Vec3::ZERO; list.len()];
            if list.is_empty() {
                return all;
            }
            for ((&vertex, map), &place) in self.chosen.iter().zip(&maps).zip(&self.place) {
                let rest = list[vertex];
                let wanted = back(map, turns[place as usize] * rest);
                all[vertex] = wanted
                    .try_normalize()
                    .map_or(Vec3::ZERO, |unit| unit * rest.length() - rest);
            }
            all
        };
        Directions {
            // Skinning transforms normals by the inverse transpose, tangents by the matrix itself.
            normals: offsets(&self.rest.normals, &|map, n| {
                (map.matrix3.transpose() * glam::Vec3A::from(n)).into()
            }),
            tangents: offsets(&self.rest.tangents, &|map, t| {
                let inverse = map.matrix3.inverse();
                if inverse.is_finite() {
                    (inverse * glam::Vec3A::from(t)).into()
                } else {
                    t
                }
            }),
        }
    }

    /// Offsets for all frames.
    pub fn of_frames(&self) -> Vec<Directions> {
        let frames = (0..self.residuals.motion.frames.len()).into_par_iter();
        frames.map(|frame| self.offsets(frame)).collect()
    }

    /// Offsets for each mode: the least-squares fit, at the modes' weights, to the offsets of all frames.
    pub fn of_modes(&self, weights: &[Vec<f32>]) -> Vec<Directions> {
        let mut modes = vec![Directions::zeros(&self.rest); weights.len()];
        let factors = pseudo_inverse(weights);
        let frames: Vec<usize> = (0..self.residuals.motion.frames.len()).collect();
        for batch in frames.chunks(BATCH) {
            let offsets: Vec<Directions> = (batch.par_iter())
                .map(|&frame| self.offsets(frame))
                .collect();
            modes
                .par_iter_mut()
                .zip(&factors)
                .for_each(|(mode, factors)| {
                    for (&frame, offsets) in batch.iter().zip(&offsets) {
                        mode.add(factors[frame] as f32, offsets);
                    }
                });
        }
        modes
    }
}

/// Tangents of a group's primitives: zero for primitives without, empty if none has any.
fn rest_tangents(
    document: &Document,
    character: &Character,
    group: &Group,
) -> Result<Vec<Vec3>, FormatError> {
    let mut tangents = Vec::new();
    let mut any = false;
    for &part in &group.parts {
        let link = &document.links.parts[part];
        let path = format!(
            "/meshes/{}/primitives/{}/attributes/TANGENT",
            link.mesh, link.primitive
        );
        let accessor = document
            .json
            .pointer(&path)
            .and_then(|index| index.as_u64());
        let numbers = match accessor {
            Some(accessor) => document.numbers(accessor as usize, 4)?,
            None => Vec::new(),
        };
        let count = character.parts[part].mesh.positions.len();
        let found = numbers.chunks_exact(4).map(|t| Vec3::from_slice(t));
        let sound = found.map(|t| if t.is_finite() { t } else { Vec3::ZERO });
        tangents.extend(sound.chain(std::iter::repeat(Vec3::ZERO)).take(count));
        any |= accessor.is_some();
    }
    if !any {
        tangents.clear();
    }
    Ok(tangents)
}

/// (W Wᵀ)⁺ W for the matrix W given by its rows.
fn pseudo_inverse(rows: &[Vec<f32>]) -> Vec<Vec<f64>> {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let gram: Vec<Vec<f64>> = (rows.iter())
        .map(|a| rows.iter().map(|b| dot(a, b)).collect())
        .collect();
    let eigen = symmetric_eigen(&gram).unwrap_or_default();
    let largest = eigen.values.last().copied().unwrap_or(0.0);
    let columns = rows.first().map_or(0, Vec::len);
    let mut result = vec![vec![0.0; columns]; rows.len()];
    let sound = eigen.values.iter().zip(&eigen.vectors);
    for (value, vector) in sound.filter(|(value, _)| **value > 1e-10 * largest) {
        for column in 0..columns {
            let along: f64 = (rows.iter().zip(vector))
                .map(|(row, v)| f64::from(row[column]) * v)
                .sum();
            for (row, v) in result.iter_mut().zip(vector) {
                row[column] += v * along / value;
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_squares_recovers_a_linear_combination() {
        let weights = [vec![1.0, 0.5, -0.2, 0.0], vec![0.0, 1.0, 0.3, -0.7]];
        let inverse = pseudo_inverse(&weights);
        for (i, row) in inverse.iter().enumerate() {
            for (j, weights) in weights.iter().enumerate() {
                let sum: f64 = row
                    .iter()
                    .zip(weights)
                    .map(|(a, b)| a * f64::from(*b))
                    .sum();
                assert!((sum - f64::from(u8::from(i == j))).abs() < 1e-6);
            }
        }
    }
}
