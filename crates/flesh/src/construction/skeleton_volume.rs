//! The volumetric skeleton: bones are capsules, joints are spheres [3.2.1].

use std::collections::BTreeMap;

use glam::DVec3;
use rayon::prelude::*;

use crate::construction::bone_graph::BoneGraph;
use crate::construction::rest_skin::RestSkin;

/// Radius of a bone relative to its distance from the skin [3.2.1].
pub const RADIUS_SHARE: f64 = 0.75;

/// Radii of bones and joints.
#[derive(Clone, Debug, Default)]
pub struct SkeletonVolume {
    /// One per bone \[m\].
    pub bone_radii: Vec<f64>,
    /// One per node \[m\]; zero at a leaf end, which is closed by the bone's own cap.
    pub node_radii: Vec<f64>,
}

/// Radii given by the user, by bone and by node \[m\].
#[derive(Clone, Debug, Default)]
pub struct GivenRadii {
    /// Of bones.
    pub bones: BTreeMap<usize, f64>,
    /// Of nodes.
    pub nodes: BTreeMap<usize, f64>,
}

/// Radii of bones and joints. Automatic radii are 0.75 × the distance to the skin for bones, and the radius of the thickest
/// bone for joints. All radii, given ones too, are shrunk until `r₁ + r₂ + 2 r_b ≤ l_b`.
pub fn skeleton_volume(graph: &BoneGraph, skin: &RestSkin, given: &GivenRadii) -> SkeletonVolume {
    let samples = skin_samples(skin);
    let bone_radii: Vec<f64> = (0..graph.bones.len())
        .into_par_iter()
        .map(|bone| match given.bones.get(&bone) {
            Some(&radius) => radius,
            None => RADIUS_SHARE * segment_distance(&samples, graph.segment(bone)),
        })
        .collect();
    let node_radii: Vec<f64> = (0..graph.nodes.len())
        .into_par_iter()
        .map(|node| {
            let incident = &graph.incident[node];
            let thickest = incident.iter().map(|&b| bone_radii[b]).fold(0.0, f64::max);
            match given.nodes.get(&node) {
                Some(&radius) => radius,
                None if incident.is_empty() => {
                    let point = graph.nodes[node].position;
                    RADIUS_SHARE * segment_distance(&samples, (point, point))
                }
                None if is_leaf_end(graph, node) => 0.0,
                None => thickest,
            }
        })
        .collect();
    let mut volume = SkeletonVolume {
        bone_radii,
        node_radii,
    };
    shrink_to_lengths(graph, &mut volume);
    volume
}

/// A node at the far end of its only bone.
pub fn is_leaf_end(graph: &BoneGraph, node: usize) -> bool {
    matches!(graph.incident[node].as_slice(), &[bone] if graph.bones[bone].end == node)
}

/// Scales the three radii of every bone that is too short by `l_b / (r₁ + r₂ + 2 r_b)`, in bone order. Shrinking a joint for
/// one bone only makes more room for the next.
fn shrink_to_lengths(graph: &BoneGraph, volume: &mut SkeletonVolume) {
    for (index, bone) in graph.bones.iter().enumerate() {
        let sum = volume.node_radii[bone.start]
            + volume.node_radii[bone.end]
            + 2.0 * volume.bone_radii[index];
        let length = graph.length(index);
        if sum > length {
            // Slightly below equality, so that the cylinder between the caps has a positive length.
            let factor = 0.99 * length / sum;
            volume.bone_radii[index] *= factor;
            volume.node_radii[bone.start] *= factor;
            volume.node_radii[bone.end] *= factor;
        }
    }
}

/// Vertices and triangle centres: on coarse meshes a triangle may be nearer than its corners.
fn skin_samples(skin: &RestSkin) -> Vec<DVec3> {
    let centres = skin.triangles.iter().map(|t| {
        t.map(|v| skin.positions[v as usize])
            .into_iter()
            .sum::<DVec3>()
            / 3.0
    });
    skin.positions.iter().copied().chain(centres).collect()
}

fn segment_distance(points: &[DVec3], (a, b): (DVec3, DVec3)) -> f64 {
    let direction = b - a;
    let inverse = 1.0 / direction.length_squared().max(f64::MIN_POSITIVE);
    points
        .iter()
        .map(|&p| {
            let t = ((p - a).dot(direction) * inverse).clamp(0.0, 1.0);
            p.distance_squared(a + direction * t)
        })
        .fold(f64::INFINITY, f64::min)
        .sqrt()
}
