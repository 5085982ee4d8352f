//! Base points: for every skin vertex its closest point on the bone lines, smoothed along the skin [3.2.1, Eq. 3.1].
//!
//! The papers iterate `s ← s + λ Δs`, re-projecting after each sweep, until nothing moves much. The result then depends on
//! the mesh resolution and takes seconds. Here the same heat flow is a few implicit steps `(A + τL) s = A s₀` in metric
//! time, each followed by a re-projection. All of it happens on the stretched-out skeleton.

use glam::DVec3;
use rayon::prelude::*;

use crate::bone_graph::BoneGraph;
use crate::heat_flow::HeatStep;
use crate::rest_skin::RestSkin;
use crate::stretched::stretched_nodes;

/// A base point: a point on the bone graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// The bone, or `None` on a node that has no bone.
    pub bone: Option<usize>,
    /// From 0 at the bone's start to 1 at its end.
    pub t: f64,
    /// The node, where `bone` is `None`.
    pub node: usize,
}

/// Smoothing of the base points.
#[derive(Clone, Copy, Debug)]
pub struct Smoothing {
    /// Diffusion length along the skin, relative to the character's size. Below 0.01 prisms in the armpits fold over;
    /// above 0.03 base points of thick and thin limbs drift into each other.
    pub reach: f64,
    /// Implicit steps, each with a re-projection. Fewer than 5 leave points off the branch they belong to.
    pub steps: usize,
}

impl Default for Smoothing {
    fn default() -> Self {
        Self {
            reach: 0.015,
            steps: 8,
        }
    }
}

/// The base point of every skin vertex.
pub fn base_points(graph: &BoneGraph, skin: &RestSkin, smoothing: Smoothing) -> Vec<Foot> {
    let rest: Vec<DVec3> = graph.nodes.iter().map(|node| node.position).collect();
    let mut feet: Vec<Foot> = (0..skin.len())
        .into_par_iter()
        .map(|v| facing_foot(graph, &rest, skin.positions[v], skin.normals[v]))
        .collect();
    if graph.bones.len() < 2 {
        return feet;
    }
    let nodes = stretched_nodes(graph);
    let fixed: Vec<bool> = feet.iter().map(|foot| at_leaf(graph, foot)).collect();
    let time = (smoothing.reach * skin.size()).powi(2) / smoothing.steps.max(1) as f64;
    let system = HeatStep::new(skin, &|_| time, &fixed);
    let candidates = bones_by_component(graph);
    for _ in 0..smoothing.steps {
        let points: Vec<DVec3> = feet
            .iter()
            .map(|foot| foot_position(graph, &nodes, foot))
            .collect();
        let smooth = system.solve(&points, 1e-8);
        feet = feet
            .par_iter()
            .zip(&smooth)
            .enumerate()
            .map(|(v, (foot, &point))| match foot.bone {
                Some(bone) if !fixed[v] => {
                    nearest_foot(graph, &nodes, &candidates[bone], point).unwrap_or(*foot)
                }
                _ => *foot,
            })
            .collect();
    }
    feet
}

/// Position of a base point for given node positions.
pub fn foot_position(graph: &BoneGraph, nodes: &[DVec3], foot: &Foot) -> DVec3 {
    match foot.bone {
        None => nodes[foot.node],
        Some(bone) => {
            let bone = &graph.bones[bone];
            nodes[bone.start].lerp(nodes[bone.end], foot.t)
        }
    }
}

/// Closest point on the graph, with distances weighted by direction: ×1 straight below the skin, ×1.5 sideways, ×2
/// behind it. Fingers side by side and arms along the body then keep to their own bones.
fn facing_foot(graph: &BoneGraph, nodes: &[DVec3], point: DVec3, normal: DVec3) -> Foot {
    let mut best = Foot {
        bone: None,
        t: 0.0,
        node: 0,
    };
    let mut least = f64::INFINITY;
    let mut consider = |foot: Foot| {
        let inward = foot_position(graph, nodes, &foot) - point;
        let distance = inward.length();
        let cosine = -inward.dot(normal) / distance.max(f64::MIN_POSITIVE);
        let cost = distance * (1.5 - 0.5 * cosine);
        if cost < least {
            least = cost;
            best = foot;
        }
    };
    for bone in 0..graph.bones.len() {
        consider(on_bone(graph, nodes, bone, point).0);
    }
    for node in 0..graph.nodes.len() {
        if graph.incident[node].is_empty() {
            consider(Foot {
                bone: None,
                t: 0.0,
                node,
            });
        }
    }
    best
}

fn nearest_foot(graph: &BoneGraph, nodes: &[DVec3], bones: &[usize], point: DVec3) -> Option<Foot> {
    let mut best: Option<(f64, Foot)> = None;
    for &bone in bones {
        let (foot, distance) = on_bone(graph, nodes, bone, point);
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, foot));
        }
    }
    best.map(|(_, foot)| foot)
}

/// Closest point on one bone, and its squared distance.
fn on_bone(graph: &BoneGraph, nodes: &[DVec3], index: usize, point: DVec3) -> (Foot, f64) {
    let bone = &graph.bones[index];
    let (a, b) = (nodes[bone.start], nodes[bone.end]);
    let direction = b - a;
    let squared = direction.length_squared().max(f64::MIN_POSITIVE);
    let t = ((point - a).dot(direction) / squared).clamp(0.0, 1.0);
    let foot = Foot {
        bone: Some(index),
        t,
        node: 0,
    };
    (foot, point.distance_squared(a + direction * t))
}

/// Whether a base point is at the end of a leaf bone. That is already the best correspondence; smoothing would pull it
/// inwards.
fn at_leaf(graph: &BoneGraph, foot: &Foot) -> bool {
    let Some(bone) = foot.bone.map(|b| &graph.bones[b]) else {
        return true;
    };
    (foot.t <= 0.0 && graph.incident[bone.start].len() == 1)
        || (foot.t >= 1.0 && graph.incident[bone.end].len() == 1)
}

/// For each bone all bones of its component.
fn bones_by_component(graph: &BoneGraph) -> Vec<Vec<usize>> {
    let component = graph.components();
    let of = |bone: usize| component[graph.bones[bone].start];
    (0..graph.bones.len())
        .map(|bone| {
            (0..graph.bones.len())
                .filter(|&other| of(other) == of(bone))
                .collect()
        })
        .collect()
}
