//! Holds: blends of joints that drive the bone surface where it does not slide, around joints with several or bent bones.
//!
//! At hips, shoulders and necks a bone-surface point is near many bones, and the papers' choice of a single one separates
//! neighbouring points. There the point follows a blend of joints: those of the file's skin weights if it has any, otherwise those of
//! the base points. Both are smoothed along the skin over the tissue's thickness. Dual quaternions are blended (Kavan et al. 2007), so
//! that nothing collapses.

use glam::DVec3;
use rayon::prelude::*;
use supple_rig::{Character, Skeleton};

use crate::construction::base_points::BasePoint;
use crate::construction::bone_graph::BoneGraph;
use crate::construction::heat_flow::HeatStep;
use crate::construction::rest_skin::RestSkin;
use crate::motion::sliding::{Attachment, along, is_sliding};

/// One of the joints that hold a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influence {
    /// The joint.
    pub joint: usize,
    /// Its bone nearest to the point, if it has one.
    pub bone: Option<usize>,
    /// The closest point on that bone, as a parameter along it.
    pub t: f64,
    /// Its weight; those of a point sum to one.
    pub weight: f64,
}

/// A blend of joints that holds a bone-surface point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hold {
    /// Blend factor from the point's attachment (0) to the blend of joints (1).
    pub share: f64,
    /// The joints.
    pub influences: Vec<Influence>,
}

/// Joints of a vertex and their weights.
pub type Weights = Vec<(u32, f64)>;

/// Diffusion length along the skin, relative to the tissue's thickness, for weights of the file.
const REACH_GIVEN: f64 = 0.35;
/// The same for weights of base points, which jump from one bone to the next.
const REACH_BASES: f64 = 0.55;
/// Joints with a smaller weight are dropped.
const LEAST: f64 = 0.01;
/// Weight of joints other than the attachment's own below which the blend factor is 0, and above which it is 1.
const FOREIGN: (f64, f64) = (0.05, 0.3);

/// Input of the holds.
pub struct HoldInput<'a> {
    /// Bones.
    pub graph: &'a BoneGraph,
    /// All joints.
    pub skeleton: &'a Skeleton,
    /// The skin.
    pub skin: &'a RestSkin,
    /// Base points.
    pub base_points: &'a [BasePoint],
    /// Base points' positions \[m\].
    pub base: &'a [DVec3],
    /// The file's weights, one list per skin vertex; `None` if some vertex has none.
    pub given: Option<Vec<Weights>>,
}

/// Weights of the file on the welded skin, or `None` if some vertex has none.
pub fn given_weights(
    character: &Character,
    part_and_vertex: impl Fn(usize) -> (usize, usize),
    count: usize,
) -> Option<Vec<Weights>> {
    (0..count)
        .map(|column| {
            let (part, vertex) = part_and_vertex(column);
            let binding = &character.parts[part].binding;
            if vertex >= binding.influences.len() {
                return None;
            }
            let list: Weights = (binding.influences.of(vertex).iter())
                .filter_map(|&(slot, weight)| {
                    let joint = *binding.joints.get(slot as usize)?;
                    (weight > 0.0).then_some((joint as u32, f64::from(weight)))
                })
                .collect();
            normalised(list)
        })
        .collect()
}

fn normalised(mut list: Weights) -> Option<Weights> {
    let sum: f64 = list.iter().map(|(_, weight)| weight).sum();
    list.iter_mut().for_each(|(_, weight)| *weight /= sum);
    (sum > 0.0 && sum.is_finite()).then_some(list)
}

/// Joints that hold the flesh at every skin vertex: the file's weights or the base points' bones, smoothed along the skin.
pub fn flesh_weights(input: &HoldInput) -> Vec<Weights> {
    match &input.given {
        Some(given) => spread(input, given, REACH_GIVEN),
        None => {
            let weights: Vec<Weights> = (input.base_points.iter())
                .map(|base| base_weights(input.graph, base))
                .collect();
            spread(input, &weights, REACH_BASES)
        }
    }
}

/// The joint of the base point's bone; at a node the joints of all bones there, equally.
fn base_weights(graph: &BoneGraph, base: &BasePoint) -> Weights {
    let of_node = |node: usize| {
        let bones = graph.incident[node]
            .iter()
            .map(|&b| (graph.bones[b].joint as u32, 1.0));
        normalised(bones.collect())
    };
    let own = match base.bone {
        Some(bone) if base.t <= 0.0 => of_node(graph.bones[bone].start),
        Some(bone) if base.t >= 1.0 => of_node(graph.bones[bone].end),
        Some(bone) => Some(vec![(graph.bones[bone].joint as u32, 1.0)]),
        None => None,
    };
    own.unwrap_or_else(|| {
        let joint = graph.nodes[base.node].joints.first().copied().unwrap_or(0);
        vec![(joint as u32, 1.0)]
    })
}

/// Heat flow of every joint's weights, three joints at a time.
fn spread(input: &HoldInput, weights: &[Weights], reach: f64) -> Vec<Weights> {
    let skin = input.skin;
    let time: Vec<f64> = (skin.positions.iter().zip(input.base))
        .map(|(p, base)| (reach * p.distance(*base)).powi(2))
        .collect();
    let fixed = vec![false; skin.len()];
    let step = HeatStep::new(skin, &|v| time[v], &fixed);
    let mut joints: Vec<u32> = weights.iter().flatten().map(|&(joint, _)| joint).collect();
    joints.sort_unstable();
    joints.dedup();
    let mut out: Vec<Weights> = vec![Vec::new(); skin.len()];
    for three in joints.chunks(3) {
        let values: Vec<DVec3> = (weights.iter())
            .map(|list| {
                let mut value = [0.0; 3];
                for &(joint, weight) in list {
                    if let Some(k) = three.iter().position(|&j| j == joint) {
                        value[k] += weight;
                    }
                }
                DVec3::from_array(value)
            })
            .collect();
        for (list, value) in out.iter_mut().zip(step.solve(&values, 1e-6)) {
            for (&joint, weight) in three.iter().zip(value.to_array()) {
                if weight > LEAST {
                    list.push((joint, weight));
                }
            }
        }
    }
    (out.into_iter().zip(weights))
        .map(|(list, before)| normalised(list).unwrap_or_else(|| before.clone()))
        .collect()
}

/// The holds of all bone-surface points, given their positions, their attachments and the weights of [`flesh_weights`].
pub fn holds(
    input: &HoldInput,
    points: &[DVec3],
    attachments: &[Attachment],
    weights: &[Weights],
) -> Vec<Hold> {
    let owners = bone_owners(input.graph, input.skeleton);
    let bones_of = bones_by_joint(input);
    (0..attachments.len())
        .into_par_iter()
        .with_min_len(256)
        .map(|v| {
            let share = share(input.graph, &attachments[v], &weights[v], &owners);
            let influences = match share > 0.0 {
                true => influences(input.graph, &bones_of, &weights[v], points[v]),
                false => Vec::new(),
            };
            Hold { share, influences }
        })
        .collect()
}

/// Bones that each joint drives.
pub(crate) fn bones_by_joint(input: &HoldInput) -> Vec<Vec<usize>> {
    let mut bones_of = vec![Vec::new(); input.skeleton.len()];
    for (index, bone) in input.graph.bones.iter().enumerate() {
        bones_of[bone.joint].push(index);
    }
    bones_of
}

/// The joints of some weights as influences on a point.
pub(crate) fn influences(
    graph: &BoneGraph,
    bones_of: &[Vec<usize>],
    weights: &Weights,
    point: DVec3,
) -> Vec<Influence> {
    let of = |&(joint, weight): &(u32, f64)| {
        let bones = &bones_of[joint as usize];
        influence(graph, bones, joint as usize, weight, point)
    };
    weights.iter().map(of).collect()
}

fn influence(graph: &BoneGraph, bones: &[usize], joint: usize, weight: f64, p: DVec3) -> Influence {
    let distance = |bone: usize| {
        let (a, b) = graph.segment(bone);
        p.distance_squared(a.lerp(b, along(graph, bone, p).clamp(0.0, 1.0)))
    };
    let bone = (bones.iter().copied())
        .filter(|&bone| !graph.bones[bone].is_virtual)
        .min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    Influence {
        joint,
        bone,
        t: bone.map_or(0.0, |bone| along(graph, bone, p)),
        weight,
    }
}

/// For each joint the nearest ancestor, or itself, that drives a bone.
fn bone_owners(graph: &BoneGraph, skeleton: &Skeleton) -> Vec<usize> {
    let mut drives = vec![false; skeleton.len()];
    for bone in &graph.bones {
        drives[bone.joint] = true;
    }
    let mut owners: Vec<usize> = (0..skeleton.len()).collect();
    for joint in 0..skeleton.len() {
        if let (false, Some(parent)) = (drives[joint], skeleton.joints()[joint].parent) {
            owners[joint] = owners[parent];
        }
    }
    owners
}

/// Blend factor of a hold: 1 at joints that do not slide, and where joints other than the attachment's own move the flesh.
fn share(graph: &BoneGraph, attachment: &Attachment, weights: &Weights, owners: &[usize]) -> f64 {
    let own: Vec<usize> = match *attachment {
        Attachment::Node { node } if !is_sliding(graph, node) => return 1.0,
        Attachment::Node { node } | Attachment::Slide { node, .. } => graph.incident[node].clone(),
        Attachment::Bone { bone, .. } => with_neighbours(graph, bone),
        // Free points stay free: driving them inverts more tets where hips and shoulders fold.
        Attachment::Free => return 0.0,
    };
    let is_own = |joint: usize| own.iter().any(|&bone| graph.bones[bone].joint == joint);
    let foreign: f64 = (weights.iter())
        .filter(|&&(joint, _)| !is_own(owners[joint as usize]))
        .map(|&(_, weight)| weight)
        .sum();
    let t = ((foreign - FOREIGN.0) / (FOREIGN.1 - FOREIGN.0)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A bone and those that continue it over sliding joints.
fn with_neighbours(graph: &BoneGraph, bone: usize) -> Vec<usize> {
    let mut bones = vec![bone];
    for node in [graph.bones[bone].start, graph.bones[bone].end] {
        if is_sliding(graph, node) {
            bones.extend(&graph.incident[node]);
        }
    }
    bones
}
