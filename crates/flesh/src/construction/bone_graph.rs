//! The bone graph: which joints carry tissue, and the line segments between them [3.2.1].

use glam::{Affine3A, DVec3};
use supple_rig::Skeleton;
use supple_rig::skeleton::JointKind;

use crate::motion::joint_use::JointUse;

/// A point where bones meet or end.
#[derive(Clone, Debug)]
pub struct Node {
    /// Rest position \[m\].
    pub position: DVec3,
    /// Joints at this point; empty at the free end of a tail.
    pub joints: Vec<usize>,
}

/// A straight bone between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// Node at the driving joint.
    pub start: usize,
    /// Node at the child, or the tail's end.
    pub end: usize,
    /// The joint whose rotation moves the bone.
    pub joint: usize,
    /// Whether the bone is virtual [3.4.1]: it shapes the tissue but does not hold it.
    pub is_virtual: bool,
}

/// A forest of bones. A node without a bone is an isolated joint.
#[derive(Clone, Debug, Default)]
pub struct BoneGraph {
    /// Points where bones meet or end.
    pub nodes: Vec<Node>,
    /// Line segments between nodes.
    pub bones: Vec<Bone>,
    /// Bones at each node.
    pub incident: Vec<Vec<usize>>,
}

impl BoneGraph {
    /// End points of a bone.
    pub fn segment(&self, bone: usize) -> (DVec3, DVec3) {
        let bone = &self.bones[bone];
        (
            self.nodes[bone.start].position,
            self.nodes[bone.end].position,
        )
    }

    /// Length of a bone \[m\].
    pub fn length(&self, bone: usize) -> f64 {
        let (a, b) = self.segment(bone);
        a.distance(b)
    }

    /// The node at the other end of a bone.
    pub fn opposite(&self, bone: usize, node: usize) -> usize {
        let bone = &self.bones[bone];
        if bone.start == node {
            bone.end
        } else {
            bone.start
        }
    }

    /// Component number of every node, counted from zero.
    pub fn components(&self) -> Vec<usize> {
        let mut component = vec![usize::MAX; self.nodes.len()];
        let mut count = 0;
        for root in 0..self.nodes.len() {
            if component[root] != usize::MAX {
                continue;
            }
            let mut stack = vec![root];
            component[root] = count;
            while let Some(node) = stack.pop() {
                for &bone in &self.incident[node] {
                    let other = self.opposite(bone, node);
                    if component[other] == usize::MAX {
                        component[other] = count;
                        stack.push(other);
                    }
                }
            }
            count += 1;
        }
        component
    }

    fn link(&mut self) {
        self.incident = vec![Vec::new(); self.nodes.len()];
        for (index, bone) in self.bones.iter().enumerate() {
            self.incident[bone.start].push(index);
            self.incident[bone.end].push(index);
        }
    }
}

/// A leaf joint with less than this share of its parent's skin weight (an eye on a head) gets no bone: its line would
/// attract the base points around it.
const MINOR_LEAF_SHARE: f64 = 0.1;

/// What the graph is built from.
pub struct GraphInput<'a> {
    /// The whole skeleton.
    pub skeleton: &'a Skeleton,
    /// `world_from_joint` in the pose the skin was bound in.
    pub worlds: &'a [Affine3A],
    /// How much flesh each joint moves, if the file has skin weights.
    pub uses: Option<&'a [JointUse]>,
    /// Whether a point is inside the flesh.
    pub inside: &'a dyn Fn(DVec3) -> bool,
    /// Joints closer than this share a node \[m\].
    pub merge_distance: f64,
    /// Names of joints whose bones are virtual [3.4.1].
    pub virtual_bones: &'a [String],
}

/// The bone graph of a skeleton. Helpers and joints without skin weights are left out, and coincident joints are merged.
/// Leaves that move skin get a tail. Unconnected parts are bridged by virtual bones where the bridge stays inside the flesh.
pub fn bone_graph(input: &GraphInput) -> BoneGraph {
    let kept = kept_joints(input);
    let joints = input.skeleton.joints();
    let position = |joint: usize| input.worlds[joint].translation.as_dvec3();
    let mut graph = BoneGraph::default();
    let mut node_of = vec![usize::MAX; joints.len()];
    for joint in 0..joints.len() {
        if !kept[joint] {
            continue;
        }
        let parent = kept_ancestor(input.skeleton, &kept, joint);
        let here = position(joint);
        // Only a joint's parent and siblings may share its node: anything else could close a cycle.
        let parent_node = parent.map(|parent| node_of[parent]);
        let twin = parent_node.and_then(|node| {
            let siblings = graph
                .bones
                .iter()
                .filter(|bone| bone.start == node)
                .map(|b| b.end);
            std::iter::once(node)
                .chain(siblings)
                .find(|&n| graph.nodes[n].position.distance(here) <= input.merge_distance)
        });
        if let Some(node) = twin {
            graph.nodes[node].joints.push(joint);
            node_of[joint] = node;
            continue;
        }
        node_of[joint] = graph.nodes.len();
        graph.nodes.push(Node {
            position: here,
            joints: vec![joint],
        });
        if let (Some(parent), Some(start)) = (parent, parent_node) {
            graph.bones.push(Bone {
                start,
                end: node_of[joint],
                joint: parent,
                is_virtual: input.virtual_bones.contains(&joints[parent].name),
            });
        }
    }
    add_tails(input, &mut graph, &node_of);
    graph.link();
    add_bridges(input, &mut graph);
    pull_leaves_inside(input, &mut graph);
    graph
}

/// Nearest kept joint above.
fn kept_ancestor(skeleton: &Skeleton, kept: &[bool], joint: usize) -> Option<usize> {
    let mut above = skeleton.joints()[joint].parent;
    while let Some(parent) = above {
        if kept[parent] {
            return Some(parent);
        }
        above = skeleton.joints()[parent].parent;
    }
    None
}

fn kept_joints(input: &GraphInput) -> Vec<bool> {
    let joints = input.skeleton.joints();
    let count = joints.len();
    let any_bone = joints.iter().any(|joint| joint.kind == JointKind::Bone);
    let mut kept: Vec<bool> = joints
        .iter()
        .map(|joint| !any_bone || joint.kind == JointKind::Bone)
        .collect();
    let children = input.skeleton.children();
    if let Some(uses) = input.uses {
        let mut busy: Vec<bool> = (0..count)
            .map(|joint| {
                let is_side = children[joint].is_empty()
                    && joints[joint].parent.is_some_and(|parent| {
                        uses[joint].weight < MINOR_LEAF_SHARE * uses[parent].weight
                    });
                uses[joint].weight > 0.0 && !is_side
            })
            .collect();
        for joint in (0..count).rev() {
            if let Some(parent) = joints[joint].parent {
                busy[parent] |= busy[joint];
            }
        }
        for joint in 0..count {
            // A weightless only child marks the end of its parent's bone; other weightless joints would only attract skin.
            let marks_end = joints[joint]
                .parent
                .is_some_and(|p| uses[p].weight > 0.0 && children[p].len() == 1);
            kept[joint] &= busy[joint] || marks_end;
        }
    }
    trim_roots(input, &children, &mut kept);
    if kept.iter().all(|&k| !k) {
        kept = vec![true; count];
    }
    kept
}

/// Leaves out roots that move no skin themselves: those with a single child, and those outside the flesh.
fn trim_roots(input: &GraphInput, children: &[Vec<usize>], kept: &mut [bool]) {
    for joint in 0..kept.len() {
        let is_root = kept_ancestor(input.skeleton, kept, joint).is_none();
        if !kept[joint] || !is_root {
            continue;
        }
        let idle = input.uses.is_some_and(|uses| uses[joint].weight <= 0.0);
        let kept_children = children[joint].iter().filter(|&&c| kept[c]).count();
        if kept_children == 0 {
            continue;
        }
        let outside = || !(input.inside)(input.worlds[joint].translation.as_dvec3());
        let only_carries = idle && kept_children == 1;
        if only_carries || ((idle || input.uses.is_none()) && outside()) {
            kept[joint] = false;
        }
    }
}

fn add_tails(input: &GraphInput, graph: &mut BoneGraph, node_of: &[usize]) {
    let mut has_bone = vec![false; input.skeleton.len()];
    for bone in &graph.bones {
        has_bone[bone.joint] = true;
    }
    for (joint, &node) in node_of.iter().enumerate() {
        if node == usize::MAX || has_bone[joint] || graph.nodes[node].joints.len() > 1 {
            continue;
        }
        let start = graph.nodes[node].position;
        let given = input.skeleton.joints()[joint]
            .tail
            .map(|tail| input.worlds[joint].transform_point3(tail).as_dvec3());
        let grown = || {
            let usage = &input.uses?[joint];
            (usage.weight > 0.0)
                .then(|| usage.tail_from(start))
                .flatten()
        };
        let Some(end) = given.or_else(grown) else {
            continue;
        };
        if end.is_finite() && end.distance(start) > input.merge_distance {
            let end_node = graph.nodes.len();
            graph.nodes.push(Node {
                position: end,
                joints: Vec::new(),
            });
            graph.bones.push(Bone {
                start: node,
                end: end_node,
                joint,
                is_virtual: false,
            });
        }
    }
}

/// Connects components by their nearest nodes if the segment between them lies inside the flesh [3.4.1].
fn add_bridges(input: &GraphInput, graph: &mut BoneGraph) {
    let mut tried = std::collections::BTreeSet::new();
    loop {
        let component = graph.components();
        let mut best: Option<(f64, usize, usize)> = None;
        for a in 0..graph.nodes.len() {
            for b in a + 1..graph.nodes.len() {
                if component[a] == component[b] || tried.contains(&(a, b)) {
                    continue;
                }
                let distance = graph.nodes[a].position.distance(graph.nodes[b].position);
                if best.is_none_or(|(least, ..)| distance < least) {
                    best = Some((distance, a, b));
                }
            }
        }
        // After a few failed bridges the parts are taken to lie in separate bodies.
        let Some((_, a, b)) = best.filter(|_| tried.len() < 16) else {
            return;
        };
        tried.insert((a, b));
        let (pa, pb) = (graph.nodes[a].position, graph.nodes[b].position);
        if (1..8).all(|k| (input.inside)(pa.lerp(pb, f64::from(k) / 8.0))) {
            let joint = graph.nodes[a].joints.first().copied().unwrap_or(0);
            graph.bones.push(Bone {
                start: a,
                end: b,
                joint,
                is_virtual: true,
            });
            graph.link();
        }
    }
}

/// Shortens leaf bones whose ends stick out of the skin.
fn pull_leaves_inside(input: &GraphInput, graph: &mut BoneGraph) {
    for node in 0..graph.nodes.len() {
        let &[bone] = graph.incident[node].as_slice() else {
            continue;
        };
        let end = graph.nodes[node].position;
        let start = graph.nodes[graph.opposite(bone, node)].position;
        if (input.inside)(end) || !(input.inside)(start) {
            continue;
        }
        let inside_share = (1..16)
            .rev()
            .map(|k| f64::from(k) / 16.0)
            .find(|&t| (0..=4).all(|s| (input.inside)(start.lerp(end, t * f64::from(s) / 4.0))));
        graph.nodes[node].position = start.lerp(end, 0.9 * inside_share.unwrap_or(1.0 / 16.0));
    }
}
