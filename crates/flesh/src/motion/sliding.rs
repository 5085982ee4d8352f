//! How bone-surface points follow the skeleton: rigidly on bones, half-rotated on joints, and sliding around joints between nearly
//! collinear bones [3.2.2].

use glam::DVec3;

use crate::construction::bone_graph::BoneGraph;
use crate::construction::bone_surface::{Contact, Hit};
use crate::construction::skeleton_volume::SkeletonVolume;
use crate::motion::follow::nearest_on;

/// Position of the bone ring, relative to the bone's length. Beyond it nothing slides.
pub const RING: f64 = 0.4;
/// Least cosine of the bend between two bones for a joint to slide. A hip that turns the chain by 90° has no closed ring.
pub const STRAIGHT: f64 = 0.5;

/// The bone or joint that a bone-surface point follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Attachment {
    /// Rigid on a bone, at `t` along it.
    Bone {
        /// The bone.
        bone: usize,
        /// Closest point on the bone's line, as a parameter; may lie beyond its ends.
        t: f64,
    },
    /// Rotates with a joint.
    Node {
        /// The node.
        node: usize,
    },
    /// Between a joint ring and a bone ring: the anchors on both are blended, and the rest offset rotates with the blend.
    Slide {
        /// The node.
        node: usize,
        /// The bone.
        bone: usize,
        /// 0 on the joint ring, 1 on the bone ring.
        weight: f64,
        /// Anchor on the joint ring at rest \[m\].
        joint_anchor: DVec3,
        /// Anchor on the bone ring at rest \[m\].
        bone_anchor: DVec3,
        /// Parameter of the bone anchor along the bone.
        t: f64,
        /// Least distances of the point from bone and joint.
        clearance: Clearance,
    },
    /// On a virtual bone [3.4.1] or between a joint and its bone: an unknown of the simulation.
    Free,
}

/// Least distances of a sliding point from the axis of its bone's capsule and from its joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance {
    /// Start and end of the capsule's axis, as parameters along the bone.
    pub capsule: [f64; 2],
    /// From that axis \[m\].
    pub of_bone: f64,
    /// From the joint \[m\].
    pub of_node: f64,
}

/// Attachments of all bone-surface points. `hits` are the primitives they lie on, `points` their positions after repair.
pub fn attachments(
    graph: &BoneGraph,
    volume: &SkeletonVolume,
    hits: &[Hit],
    points: &[DVec3],
    slide: bool,
) -> Vec<Attachment> {
    let joints: Vec<Option<SlidingJoint>> = (0..graph.nodes.len())
        .map(|node| sliding_joint(graph, node).filter(|_| slide))
        .collect();
    hits.iter()
        .zip(points)
        .map(|(hit, &point)| attachment(graph, volume, &joints, hit.contact, point))
        .collect()
}

/// A joint between two nearly collinear bones.
struct SlidingJoint {
    /// Unit normal of the plane between the bones, from the first to the second.
    across: DVec3,
    bones: [usize; 2],
}

fn sliding_joint(graph: &BoneGraph, node: usize) -> Option<SlidingJoint> {
    let &[first, second] = graph.incident[node].as_slice() else {
        return None;
    };
    if graph.bones[first].is_virtual || graph.bones[second].is_virtual {
        return None;
    }
    let [a, b] = [first, second].map(|bone| outward(graph, bone, node));
    (-a.dot(b) > STRAIGHT)
        .then(|| (b - a).try_normalize())
        .flatten()
        .map(|across| SlidingJoint {
            across,
            bones: [first, second],
        })
}

/// Whether the bone surface slides over a node.
pub fn is_sliding(graph: &BoneGraph, node: usize) -> bool {
    sliding_joint(graph, node).is_some()
}

/// Unit direction of a bone away from one of its nodes.
fn outward(graph: &BoneGraph, bone: usize, node: usize) -> DVec3 {
    let other = graph.opposite(bone, node);
    (graph.nodes[other].position - graph.nodes[node].position).normalize_or_zero()
}

fn attachment(
    graph: &BoneGraph,
    volume: &SkeletonVolume,
    joints: &[Option<SlidingJoint>],
    contact: Contact,
    point: DVec3,
) -> Attachment {
    match contact {
        Contact::Node(node) => {
            let incident = &graph.incident[node];
            if !incident.is_empty() && incident.iter().all(|&b| graph.bones[b].is_virtual) {
                return Attachment::Free;
            }
            match &joints[node] {
                Some(joint) => {
                    let side = (point - graph.nodes[node].position).dot(joint.across) >= 0.0;
                    slide(
                        graph,
                        volume,
                        joint,
                        node,
                        joint.bones[usize::from(side)],
                        point,
                    )
                    .unwrap_or(Attachment::Node { node })
                }
                None => Attachment::Node { node },
            }
        }
        Contact::Bone(bone) if graph.bones[bone].is_virtual => Attachment::Free,
        Contact::Bone(bone) => {
            let t = along(graph, bone, point);
            let node = if t < 0.5 {
                graph.bones[bone].start
            } else {
                graph.bones[bone].end
            };
            joints[node]
                .as_ref()
                .and_then(|joint| slide(graph, volume, joint, node, bone, point))
                .unwrap_or(Attachment::Bone { bone, t })
        }
        // Between sphere and capsule there is no bone to hold the tissue; it may stretch there.
        Contact::Frustum { .. } => Attachment::Free,
    }
}

/// Parameter of the closest point on a bone's line; may be outside 0..1.
pub fn along(graph: &BoneGraph, bone: usize, point: DVec3) -> f64 {
    let (a, b) = graph.segment(bone);
    let direction = b - a;
    let squared = direction.length_squared();
    if squared > 0.0 {
        (point - a).dot(direction) / squared
    } else {
        0.0
    }
}

/// `None` beyond the bone ring.
fn slide(
    graph: &BoneGraph,
    volume: &SkeletonVolume,
    joint: &SlidingJoint,
    node: usize,
    bone: usize,
    point: DVec3,
) -> Option<Attachment> {
    let centre = graph.nodes[node].position;
    let offset = point - centre;
    let outward = outward(graph, bone, node);
    let across = if bone == joint.bones[1] {
        joint.across
    } else {
        -joint.across
    };
    let ring = RING * graph.length(bone);
    let past_joint = offset.dot(across).max(0.0);
    let to_ring = ring - offset.dot(outward);
    if to_ring <= 0.0 {
        return None;
    }
    let weight = past_joint / (past_joint + to_ring);
    let around = |axis: DVec3| (offset - axis * offset.dot(axis)).normalize_or_zero();
    let bone_anchor = centre + outward * ring + around(outward) * volume.bone_radii[bone];
    Some(Attachment::Slide {
        node,
        bone,
        weight,
        joint_anchor: centre + around(across) * volume.node_radii[node],
        bone_anchor,
        t: along(graph, bone, bone_anchor),
        clearance: clearance(graph, volume, (node, bone), point),
    })
}

fn clearance(
    graph: &BoneGraph,
    volume: &SkeletonVolume,
    (node, bone): (usize, usize),
    rest: DVec3,
) -> Clearance {
    let (a, b) = graph.segment(bone);
    let capsule = capsule(graph, volume, bone);
    let of_bone = rest.distance(nearest_on(a, b, capsule, rest));
    let of_node = rest.distance(graph.nodes[node].position);
    Clearance {
        capsule,
        of_bone: of_bone.min(volume.bone_radii[bone]),
        of_node: of_node.min(volume.node_radii[node]),
    }
}

/// Start and end of a capsule's axis, as parameters along its bone.
fn capsule(graph: &BoneGraph, volume: &SkeletonVolume, bone: usize) -> [f64; 2] {
    let length = graph.length(bone).max(f64::MIN_POSITIVE);
    let radius = volume.bone_radii[bone];
    let inset = |node: usize| match volume.node_radii[node] {
        0.0 => 0.0,
        joint_radius => ((joint_radius + radius) / length).min(0.5),
    };
    let low = inset(graph.bones[bone].start);
    [low, (1.0 - inset(graph.bones[bone].end)).max(low)]
}
