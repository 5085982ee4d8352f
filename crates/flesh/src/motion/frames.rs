//! Frames of bones and joints in a pose: a rigid frame per bone, a half-rotated frame per joint [3.2.2].

use glam::{Affine3A, DMat3, DQuat, DVec3};
use supple_rig::{Pose, Skeleton};

use crate::construction::bone_graph::BoneGraph;

/// A bone in a pose.
#[derive(Clone, Copy, Debug)]
pub struct BoneFrame {
    /// Posed start \[m\].
    pub start: DVec3,
    /// Posed end \[m\].
    pub end: DVec3,
    /// Rotation from rest to pose.
    pub turn: DQuat,
    /// Additional twist about the bone, from none at the start to all at the end \[rad\].
    pub twist: f64,
    /// Factor on distances from the bone's line.
    pub scale: f64,
    /// Its unit direction in the pose; zero for a bone without length.
    pub axis: DVec3,
    /// Dual part of its motion as a dual quaternion: at the start, and its change from start to end. `None` if the bone twists or
    /// scales.
    pub dual: Option<[DQuat; 2]>,
    /// Its rotation relative to the joints at its start and end.
    pub bends: [Bend; 2],
}

/// The rotation from a joint to one of its bones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bend {
    /// Rotation of the bone; its quaternion is in the joint's hemisphere.
    turn: DQuat,
    /// Angle between both quaternions \[rad\], and one over its sine; zero where they are nearly the same.
    angle: f64,
    over_sine: f64,
    /// Twist: rotation about the bone, in (−π, π] \[rad\].
    pub twist: f64,
}

/// Angle below which quaternions are blended linearly, which is then as accurate as slerp \[rad\].
const SMALL_ANGLE: f64 = 1e-4;

impl Bend {
    /// From the rotations of a joint and of a bone, and the bone's posed direction.
    pub fn new(joint: DQuat, bone: DQuat, axis: DVec3) -> Bend {
        let turn = if joint.dot(bone) < 0.0 { -bone } else { bone };
        // Unlike the inverse cosine, the half angle is accurate for small angles.
        let difference = turn + -joint;
        let angle = 2.0 * (0.5 * difference.length()).min(1.0).asin();
        let is_small = angle < SMALL_ANGLE;
        Bend {
            turn,
            angle: if is_small { 0.0 } else { angle },
            over_sine: if is_small { 0.0 } else { 1.0 / angle.sin() },
            twist: twist_about(axis, bone * joint.inverse()),
        }
    }

    /// The rotation at `weight` between the joint (0) and the bone (1) (slerp).
    pub fn slerp_from(&self, joint: DQuat, weight: f64) -> DQuat {
        if self.angle == 0.0 {
            return (joint * (1.0 - weight) + self.turn * weight).normalize();
        }
        let from = ((1.0 - weight) * self.angle).sin() * self.over_sine;
        let to = (weight * self.angle).sin() * self.over_sine;
        joint * from + self.turn * to
    }
}

/// Angle of a rotation's twist about an axis, in (−π, π].
fn twist_about(axis: DVec3, turn: DQuat) -> f64 {
    let along = DVec3::new(turn.x, turn.y, turn.z).dot(axis);
    let (along, real) = if turn.w < 0.0 {
        (-along, -turn.w)
    } else {
        (along, turn.w)
    };
    2.0 * along.atan2(real)
}

/// The dual part of a rotation followed by a translation \[m\].
pub fn dual_part(turn: DQuat, shift: DVec3) -> DQuat {
    DQuat::from_xyzw(0.5 * shift.x, 0.5 * shift.y, 0.5 * shift.z, 0.0) * turn
}

/// A joint in a pose.
#[derive(Clone, Copy, Debug)]
pub struct NodeFrame {
    /// Posed position \[m\].
    pub position: DVec3,
    /// Average rotation of the bones that meet here.
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
    /// Rotation from rest to pose.
    pub turn: DQuat,
    /// Change of scale.
    pub scale: f64,
    /// The dual part of its motion as a dual quaternion; `None` where it scales.
    pub dual: Option<DQuat>,
}

impl JointFrame {
    /// From rest and posed position, rotation and scale.
    pub fn new(rest: DVec3, position: DVec3, turn: DQuat, scale: f64) -> JointFrame {
        let dual = || dual_part(turn, position - turn * rest);
        JointFrame {
            rest,
            position,
            turn,
            scale,
            dual: (scale == 1.0).then(dual),
        }
    }
}

/// All frames of a pose.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// One per bone of the graph.
    pub bones: Vec<BoneFrame>,
    /// One per node of the graph.
    pub nodes: Vec<NodeFrame>,
    /// One per joint of the skeleton.
    pub joints: Vec<JointFrame>,
}

impl BoneFrame {
    /// Rotation at `t` along the bone.
    pub fn turn_at(&self, t: f64) -> DQuat {
        let angle = self.twist * t.clamp(0.0, 1.0);
        if angle == 0.0 {
            return self.turn;
        }
        match (self.end - self.start).try_normalize() {
            Some(axis) => DQuat::from_axis_angle(axis, angle) * self.turn,
            None => self.turn,
        }
    }

    /// [`Bend`] of a point on the bone relative to the joint at its start (0) or end (1).
    pub fn bend_at(&self, t: f64, end: usize, joint: DQuat) -> Bend {
        if self.twist == 0.0 {
            self.bends[end]
        } else {
            Bend::new(joint, self.turn_at(t), self.axis)
        }
    }

    /// Position of a point whose closest point on the rest bone (`start`, `end`) is at `t`.
    pub fn map(&self, (start, end): (DVec3, DVec3), t: f64, point: DVec3) -> DVec3 {
        // No stretch beyond the ends.
        let t = t.clamp(0.0, 1.0);
        let on_axis = start.lerp(end, t);
        self.start.lerp(self.end, t) + self.turn_at(t) * (point - on_axis) * self.scale
    }
}

impl NodeFrame {
    /// Position of a point around the joint.
    pub fn map(&self, rest: DVec3, point: DVec3) -> DVec3 {
        self.position + self.turn * (point - rest) * self.scale
    }
}

/// Rotation and scale of an affine map, in f64 so that the rest pose is reproduced exactly.
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

/// Changes of scale below this are rounding errors of a chain of joints in single precision.
const LEAST_SCALE: f64 = 2e-6;

/// Frames of all bones and joints in a pose. `rest` are the joints' world transforms when the graph was made.
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
            let is_scaled = ratio.is_finite() && (ratio - 1.0).abs() > LEAST_SCALE;
            (
                (turn * rest_turn.inverse()).normalize(),
                if is_scaled { ratio } else { 1.0 },
            )
        })
        .collect();
    let origin = |joint: usize| posed[joint].translation.as_dvec3();
    let rest_origin = |joint: usize| rest[joint].translation.as_dvec3();
    // A node may have been moved from its joint by shortening; its offset follows the joint's frame.
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
        // Tail ends have no joint, and shortened leaves lie on their bone: both follow the bone's joint.
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
    let mut bones: Vec<BoneFrame> = (0..graph.bones.len())
        .map(|index| bone_frame(graph, &positions, &turns, pose, index))
        .collect();
    let nodes: Vec<NodeFrame> = (0..graph.nodes.len())
        .map(|node| node_frame(graph, &positions, &bones, &turns, node))
        .collect();
    for (bone, frame) in graph.bones.iter().zip(&mut bones) {
        let bend = |node: usize| Bend::new(nodes[node].turn, frame.turn, frame.axis);
        frame.bends = [bend(bone.start), bend(bone.end)];
    }
    let joints = (0..turns.len())
        .map(|joint| {
            let (turn, scale) = turns[joint];
            JointFrame::new(rest_origin(joint), origin(joint), turn, scale)
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
    // An animated translation of the child also rotates the bone.
    let (now, then) = (
        (end - start).normalize_or_zero(),
        (b - a).normalize_or_zero(),
    );
    let aimed = turn * then;
    if now != DVec3::ZERO && aimed.dot(now) < 1.0 - 1e-10 {
        turn = (DQuat::from_rotation_arc(aimed, now) * turn).normalize();
    }
    let twist = f64::from(pose.twist.get(bone.joint).copied().unwrap_or(0.0));
    // A point at t is turned, then shifted by start + t (end − start) − turn (a + t (b − a)).
    let dual = || {
        let along = (end - start) - turn * (b - a);
        [dual_part(turn, start - turn * a), dual_part(turn, along)]
    };
    BoneFrame {
        start,
        end,
        turn,
        twist,
        scale,
        axis: turn * then,
        dual: (twist == 0.0 && scale == 1.0).then(dual),
        bends: Default::default(),
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
        // Bones of one joint count once; virtual ones only if there are no others.
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
