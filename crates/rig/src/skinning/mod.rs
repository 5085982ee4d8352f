//! Geometric skinning: the skin as a function of the pose alone.

pub mod cor;
pub mod dqs;
#[cfg(test)]
mod fixtures;
pub mod lbs;
mod skinner;
mod stretch;
pub mod weights;

pub use cor::CentersOfRotation;
pub use dqs::dual_quaternion;
pub use lbs::linear_blend;
pub use skinner::{Method, Skinner};
pub use weights::{WeightsError, automatic_binding, automatic_rebinding};

use glam::{Affine3A, Vec3};
use rayon::prelude::*;

use crate::Part;

/// A posed part, in world space and the part's own vertex order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Posed {
    /// World-space positions \[m\].
    pub positions: Vec<Vec3>,
    /// Unit normals, or empty if the part has none.
    pub normals: Vec<Vec3>,
}

/// Slot of the largest weight, the first among equals, or 0. Blended rotations take its sign.
fn strongest_slot(influences: &[(u32, f32)]) -> u32 {
    let larger = |best: (u32, f32), &next: &(u32, f32)| if next.1 > best.1 { next } else { best };
    influences.iter().fold((0, f32::MIN), larger).0
}

/// `world_from_bind` of every slot of a part: `world_from_joint × joint_from_bind`.
pub fn skin_matrices(part: &Part, worlds: &[Affine3A]) -> Vec<Affine3A> {
    let binding = &part.binding;
    (binding.joints.iter())
        .zip(&binding.inverse_binds)
        .map(|(&joint, &inverse_bind)| match worlds.get(joint) {
            Some(&world) => world * inverse_bind,
            None => inverse_bind,
        })
        .collect()
}

/// A part's vertices in bind space with its morph targets applied; missing weights count as zero.
pub fn morphed(part: &Part, morph_weights: &[f32]) -> Posed {
    let mut shape = Posed {
        positions: part.mesh.positions.clone(),
        normals: part.normals.clone(),
    };
    for (morph, &weight) in part.morphs.iter().zip(morph_weights) {
        if weight == 0.0 {
            continue;
        }
        for (position, &offset) in shape.positions.iter_mut().zip(&morph.positions) {
            *position += weight * offset;
        }
        for (normal, &offset) in shape.normals.iter_mut().zip(&morph.normals) {
            *normal += weight * offset;
        }
    }
    shape
}

/// Weights of a vertex over a part's slots. A vertex without weights follows the first slot.
fn influences(part: &Part, vertex: usize) -> &[(u32, f32)] {
    const FIRST: &[(u32, f32)] = &[(0, 1.0)];
    let weights = &part.binding.influences;
    let own = if vertex < weights.len() {
        weights.of(vertex)
    } else {
        &[]
    };
    if own.is_empty() { FIRST } else { own }
}

/// Transforms every vertex by its own affine map, and its normal by the inverse transpose.
fn transform_each(shape: Posed, world_from_bind: impl Fn(usize, Vec3) -> Affine3A + Sync) -> Posed {
    let has_normals = shape.normals.len() == shape.positions.len();
    let moved: Vec<(Vec3, Vec3)> = (0..shape.positions.len())
        .into_par_iter()
        .map(|vertex| {
            let map = world_from_bind(vertex, shape.positions[vertex]);
            let normal = if has_normals {
                transform_normal(&map, shape.normals[vertex])
            } else {
                Vec3::ZERO
            };
            (map.transform_point3(shape.positions[vertex]), normal)
        })
        .collect();
    let (positions, normals): (Vec<Vec3>, Vec<Vec3>) = moved.into_iter().unzip();
    Posed {
        positions,
        normals: if has_normals { normals } else { Vec::new() },
    }
}

/// A unit normal under the inverse transpose, computed from cofactors so that singular maps are safe.
pub(crate) fn transform_normal(map: &Affine3A, normal: Vec3) -> Vec3 {
    let m = map.matrix3;
    let (x, y, z) = (m.x_axis, m.y_axis, m.z_axis);
    let cofactors = glam::Mat3A::from_cols(y.cross(z), z.cross(x), x.cross(y));
    let sign = if x.dot(y.cross(z)) < 0.0 { -1.0 } else { 1.0 };
    (cofactors * normal * sign).normalize_or(normal)
}
