//! Where bones and joints are in a pose: a rigid frame a bone, a half-turned frame a joint [3.2.2].

use glam::{Affine3A, DMat3, DQuat, DVec3};
use supple_rig::{Pose, Skeleton};

use crate::bone_graph::BoneGraph;

/// A bone in a pose.
#[derive(Clone, Copy, Debug)]
pub struct BoneFrame {
    /// Posed start \[m\].
    pub start: DVec3,
    /// Posed end \[m\].
    pub end: DVec3,
    /// Turn from rest to pose.
    pub turn: DQuat,
    /// Further turn about the bone, all of it at the end, none at the start \[rad\].
    pub twist: f64,
    /// Factor on distances from the bone's line.
    pub scale: f64,
}

/// A joint in a pose.
#[derive(Clone, Copy, Debug)]
pub struct NodeFrame {
    /// Posed position \[m\].
    pub position: DVec3,
    /// Average turn of the bones that meet here.
    pub turn: DQuat,
    /// Average scale of the bones that meet here.
    pub scale: f64,
}

/// A joint's motion from rest to pose.
#[derive(Clone, Copy, Debug)]
pub struct JointFrame {
    /// Rest position \[m\].
    pub rest: DVec3,
    /// Posed position \[m\].
    pub position: DVec3,
    /// Turn from rest to pose.
    pub turn: DQuat,
    /// Change of scale.
    pub scale: f64,
}

impl JointFrame {
    /// Where a point goes that the joint moves.
    pub fn map(&self, point: DVec3) -> DVec3 {
        self.position + self.turn * (point - self.rest) * self.scale
    }
}

/// All frames of a pose.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// One a bone of the graph.
    pub bones: Vec<BoneFrame>,
    /// One a node of the graph.
    pub nodes: Vec<NodeFrame>,
    /// One a joint of the skeleton.
    pub joints: Vec<JointFrame>,
}

impl BoneFrame {
    /// Turn at `t` of the way along the bone.
    pub fn turn_at(&self, t: f64) -> DQuat {
        let angle = self.twist * t.clamp(0.0, 1.0);
        match (self.end - self.start).try_normalize() {
            Some(axis) if angle != 0.0 => DQuat::from_axis_angle(axis, angle) * self.turn,
            _ => self.turn,
        }
    }

    /// Where a point goes whose foot on the rest bone (`start`, `end`) is at `t`.
    pub fn map(&self, (start, end): (DVec3, DVec3), t: f64, point: DVec3) -> DVec3 {
        // Beyond the ends nothing stretches.
        let t = t.clamp(0.0, 1.0);
        let foot = start.lerp(end, t);
        self.start.lerp(self.end, t) + self.turn_at(t) * (point - foot) * self.scale
    }
}

impl NodeFrame {
    /// Where a point around the joint goes.
    pub fn map(&self, rest: DVec3, point: DVec3) -> DVec3 {
        self.position + self.turn * (point - rest) * self.scale
    }
}

/// Rotation and scale of an affine map, in f64 so that the rest pose comes out exact.
fn turn_and_scale(world: &Affine3A) -> (DQuat, f64) {
    let matrix = DMat3::from_cols(
        world.x_axis.as_dvec3(),
        world.y_axis.as_dvec3(),
        world.z_axis.as_dvec3(),
    );
    let scale = matrix.determinant().abs().cbrt();
    let mut columns = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|c| c.normalize_or_zero());
    if matrix.determinant() < 0.0 {
        columns = columns.map(|c| -c);
    }
    let turn = DQuat::from_mat3(&DMat3::from_cols(columns[0], columns[1], columns[2]));
    let turn = if turn.is_finite() && turn.length_squared() > 0.5 {
        turn.normalize()
    } else {
        DQuat::IDENTITY
    };
    (turn, scale)
}

/// Frames of all bones and joints in a pose of the skeleton the graph was made from; `rest` are the joints' worlds then.
pub fn frames(graph: &BoneGraph, skeleton: &Skeleton, rest: &[Affine3A], pose: &Pose) -> Frames {
    let posed = pose.worlds(skeleton);
    let turns: Vec<(DQuat, f64)> = rest
        .iter()
        .zip(&posed)
        .map(|(rest, posed)| {
            let ((rest_turn, rest_scale), (turn, scale)) =
                (turn_and_scale(rest), turn_and_scale(posed));
            let ratio = if rest_scale > 0.0 {
                scale / rest_scale
            } else {
                1.0
            };
            (
                (turn * rest_turn.inverse()).normalize(),
                if ratio.is_finite() { ratio } else { 1.0 },
            )
        })
        .collect();
    let origin = |joint: usize| posed[joint].translation.as_dvec3();
    let rest_origin = |joint: usize| rest[joint].translation.as_dvec3();
    // A node may have been shortened away from its joint, so its offset travels with the joint's frame.
    let carried = |joint: usize, point: DVec3, stretch: f64| {
        let (turn, scale) = turns[joint];
        origin(joint) + turn * (point - rest_origin(joint)) * (scale * stretch)
    };
    let mut positions: Vec<DVec3> = graph
        .nodes
        .iter()
        .map(|node| match node.joints.first() {
            Some(&joint) if rest_origin(joint).distance(node.position) < 1e-6 => origin(joint),
            Some(&joint) => carried(joint, node.position, 1.0),
            None => node.position,
        })
        .collect();
    for bone in &graph.bones {
        // Tail ends have no joint, and shortened leaves lie on their bone: both follow the bone's driver.
        let end = &graph.nodes[bone.end];
        let free_end = match end.joints.first() {
            None => true,
            Some(&joint) => rest_origin(joint).distance(end.position) >= 1e-6,
        };
        if free_end && !bone.is_virtual {
            let stretch = f64::from(pose.stretch.get(bone.joint).copied().unwrap_or(1.0));
            positions[bone.end] = carried(bone.joint, end.position, stretch);
        }
    }
    let bones: Vec<BoneFrame> = (0..graph.bones.len())
        .map(|index| bone_frame(graph, &positions, &turns, pose, index))
        .collect();
    let nodes = (0..graph.nodes.len())
        .map(|node| node_frame(graph, &positions, &bones, &turns, node))
        .collect();
    let joints = (0..turns.len())
        .map(|joint| JointFrame {
            rest: rest_origin(joint),
            position: origin(joint),
            turn: turns[joint].0,
            scale: turns[joint].1,
        })
        .collect();
    Frames {
        bones,
        nodes,
        joints,
    }
}

fn bone_frame(
    graph: &BoneGraph,
    positions: &[DVec3],
    turns: &[(DQuat, f64)],
    pose: &Pose,
    index: usize,
) -> BoneFrame {
    let bone = &graph.bones[index];
    let (a, b) = graph.segment(index);
    let (start, end) = (positions[bone.start], positions[bone.end]);
    let (mut turn, scale) = turns[bone.joint];
    // A child moved on its own (animated translation) swings the bone after it.
    let (now, then) = (
        (end - start).normalize_or_zero(),
        (b - a).normalize_or_zero(),
    );
    let aimed = turn * then;
    if now != DVec3::ZERO && aimed.dot(now) < 1.0 - 1e-10 {
        turn = (DQuat::from_rotation_arc(aimed, now) * turn).normalize();
    }
    BoneFrame {
        start,
        end,
        turn,
        twist: f64::from(pose.twist.get(bone.joint).copied().unwrap_or(0.0)),
        scale,
    }
}

fn node_frame(
    graph: &BoneGraph,
    positions: &[DVec3],
    bones: &[BoneFrame],
    turns: &[(DQuat, f64)],
    node: usize,
) -> NodeFrame {
    let mut drivers = Vec::new();
    let mut sum = [0.0; 4];
    let mut scale = 0.0;
    let mut first: Option<DQuat> = None;
    for &index in &graph.incident[node] {
        let bone = &graph.bones[index];
        let frame = &bones[index];
        // Bones that one joint drives count once; virtual ones only where nothing else is.
        if drivers.contains(&(bone.joint, bone.end == node)) || bone.is_virtual {
            continue;
        }
        drivers.push((bone.joint, bone.end == node));
        let turn = frame.turn_at(if bone.end == node { 1.0 } else { 0.0 });
        let reference = *first.get_or_insert(turn);
        let sign = if reference.dot(turn) < 0.0 { -1.0 } else { 1.0 };
        for (sum, value) in sum.iter_mut().zip(turn.to_array()) {
            *sum += sign * value;
        }
        scale += frame.scale;
    }
    let own = graph.nodes[node].joints.first().map(|&joint| turns[joint]);
    let (turn, scale) = match first {
        Some(reference) => {
            let mean = DQuat::from_array(sum);
            let turn = if mean.length_squared() > 1e-12 {
                mean.normalize()
            } else {
                reference
            };
            (turn, scale / drivers.len() as f64)
        }
        None => own.unwrap_or((DQuat::IDENTITY, 1.0)),
    };
    NodeFrame {
        position: positions[node],
        turn,
        scale,
    }
}
