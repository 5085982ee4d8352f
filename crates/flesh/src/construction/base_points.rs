//! Base points: for every skin vertex its closest point on the bone lines, smoothed along the skin [3.2.1, Eq. 3.1].
//!
//! The papers iterate `s ← s + λ Δs`, re-projecting after each sweep, until nothing moves much. The result then depends on
//! the mesh resolution and takes seconds. Here the same heat flow is a few implicit steps `(A + τL) s = A s₀` in metric
//! time, each followed by a re-projection. All of it happens on the stretched-out skeleton.

use glam::DVec3;
use rayon::prelude::*;

use crate::construction::bone_graph::BoneGraph;
use crate::construction::heat_flow::HeatStep;
use crate::construction::rest_skin::RestSkin;
use crate::construction::stretched::stretched_nodes;

/// A base point: a point on the bone graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BasePoint {
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
pub fn base_points(graph: &BoneGraph, skin: &RestSkin, smoothing: Smoothing) -> Vec<BasePoint> {
    let rest: Vec<DVec3> = graph.nodes.iter().map(|node| node.position).collect();
    let mut base_points: Vec<BasePoint> = (0..skin.len())
        .into_par_iter()
        .map(|v| facing_base_point(graph, &rest, skin.positions[v], skin.normals[v]))
        .collect();
    if graph.bones.len() < 2 {
        return base_points;
    }
    let nodes = stretched_nodes(graph);
    let fixed: Vec<bool> = base_points
        .iter()
        .map(|base| at_leaf(graph, base))
        .collect();
    let time = (smoothing.reach * skin.size()).powi(2) / smoothing.steps.max(1) as f64;
    let system = HeatStep::new(skin, &|_| time, &fixed);
    let candidates = bones_by_component(graph);
    for _ in 0..smoothing.steps {
        let points: Vec<DVec3> = base_points
            .iter()
            .map(|base| base_position(graph, &nodes, base))
            .collect();
        let smooth = system.solve(&points, 1e-8);
        base_points = base_points
            .par_iter()
            .zip(&smooth)
            .enumerate()
            .map(|(v, (base, &point))| match base.bone {
                Some(bone) if !fixed[v] => {
                    nearest_base_point(graph, &nodes, &candidates[bone], point).unwrap_or(*base)
                }
                _ => *base,
            })
            .collect();
    }
    base_points
}

/// Position of a base point for given node positions.
pub fn base_position(graph: &BoneGraph, nodes: &[DVec3], base: &BasePoint) -> DVec3 {
    match base.bone {
        None => nodes[base.node],
        Some(bone) => {
            let bone = &graph.bones[bone];
            nodes[bone.start].lerp(nodes[bone.end], base.t)
        }
    }
}

/// Closest point on the graph, with distances weighted by direction: ×1 straight below the skin, ×1.5 sideways, ×2
/// behind it. Fingers side by side and arms along the body then keep to their own bones.
fn facing_base_point(graph: &BoneGraph, nodes: &[DVec3], point: DVec3, normal: DVec3) -> BasePoint {
    let mut best = BasePoint {
        bone: None,
        t: 0.0,
        node: 0,
    };
    let mut least = f64::INFINITY;
    let mut consider = |base: BasePoint| {
        let inward = base_position(graph, nodes, &base) - point;
        let distance = inward.length();
        let cosine = -inward.dot(normal) / distance.max(f64::MIN_POSITIVE);
        let cost = distance * (1.5 - 0.5 * cosine);
        if cost < least {
            least = cost;
            best = base;
        }
    };
    for bone in 0..graph.bones.len() {
        consider(on_bone(graph, nodes, bone, point).0);
    }
    for node in 0..graph.nodes.len() {
        if graph.incident[node].is_empty() {
            consider(BasePoint {
                bone: None,
                t: 0.0,
                node,
            });
        }
    }
    best
}

fn nearest_base_point(
    graph: &BoneGraph,
    nodes: &[DVec3],
    bones: &[usize],
    point: DVec3,
) -> Option<BasePoint> {
    let mut best: Option<(f64, BasePoint)> = None;
    for &bone in bones {
        let (base, distance) = on_bone(graph, nodes, bone, point);
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, base));
        }
    }
    best.map(|(_, base)| base)
}

/// Closest point on one bone, and its squared distance.
fn on_bone(graph: &BoneGraph, nodes: &[DVec3], index: usize, point: DVec3) -> (BasePoint, f64) {
    let bone = &graph.bones[index];
    let (a, b) = (nodes[bone.start], nodes[bone.end]);
    let direction = b - a;
    let squared = direction.length_squared().max(f64::MIN_POSITIVE);
    let t = ((point - a).dot(direction) / squared).clamp(0.0, 1.0);
    let base = BasePoint {
        bone: Some(index),
        t,
        node: 0,
    };
    (base, point.distance_squared(a + direction * t))
}

/// Whether a base point is at the end of a leaf bone. That is already the best correspondence; smoothing would pull it
/// inwards.
fn at_leaf(graph: &BoneGraph, base: &BasePoint) -> bool {
    let Some(bone) = base.bone.map(|b| &graph.bones[b]) else {
        return true;
    };
    (base.t <= 0.0 && graph.incident[bone.start].len() == 1)
        || (base.t >= 1.0 && graph.incident[bone.end].len() == 1)
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
