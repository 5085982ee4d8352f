//! Points that follow the pose directly: what each one follows, and its position in a pose [3.2.2].
//!
//! [`target_table`](crate::motion::target_table) holds all such points. The CPU evaluates them here, in double precision, so that the rest pose is
//! exact. The GPU gets them in single precision, as [`Follows`].

use glam::{Affine3A, DQuat, DVec3};
use supple_sim::follow::{Anchor as DeviceAnchor, Follows, Slide as DeviceSlide};

use crate::motion::frames::{BoneFrame, Frames, NodeFrame, dual_part};

/// A frame that a point follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A bone of the graph.
    Bone(usize),
    /// A node of the graph.
    Node(usize),
    /// A joint of the skeleton.
    Joint(usize),
    /// A matrix of linear blend skinning, by its index in the table.
    Matrix(usize),
}

/// A point in the frame of its carrier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// The frame.
    pub carrier: Carrier,
    /// Parameter of its axis point along a bone, clamped to 0..1: beyond the ends nothing stretches.
    pub t: f64,
    /// From the axis point (or the joint) to the point at rest; for a matrix the point itself \[m\].
    pub offset: DVec3,
    /// Its weight in a blend.
    pub weight: f64,
}

/// A point that slides between a ring around a joint and a ring around a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slide {
    /// The node.
    pub node: usize,
    /// The bone.
    pub bone: usize,
    /// Which end of the bone the node is: 0 its start, 1 its end.
    pub end: usize,
    /// Anchor on the joint ring. Its weight is the point's position between the rings: 0 on the joint ring, 1 on the bone ring.
    pub on_joint: Anchor,
    /// Anchor on the bone ring.
    pub on_bone: Anchor,
    /// From the blended anchors to the point at rest \[m\].
    pub offset: DVec3,
    /// Unit direction of the bone at rest.
    pub axis: DVec3,
    /// Start and end of the axis of its capsule, as parameters along the bone.
    pub capsule: [f64; 2],
    /// Least distances from that axis and from the joint \[m\].
    pub clearances: [f64; 2],
}

/// What a point follows apart from its [hold](crate::motion::holds).
#[derive(Clone, Debug, PartialEq)]
pub enum Path {
    /// One frame.
    Carried(Anchor),
    /// Several frames, blended linearly.
    Blended(Vec<Anchor>),
    /// Between two rings.
    Slid(Box<Slide>),
}

/// A point that follows the pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Follow {
    /// The point at rest \[m\].
    pub point: DVec3,
    /// What it follows apart from its hold.
    pub path: Path,
    /// Anchors of its hold, blended as dual quaternions.
    pub held: Vec<Anchor>,
    /// Blend factor from the path (0) to the hold (1).
    pub share: f64,
}

/// All frames of a pose: those of bones, nodes and joints, and the matrices of linear blend skinning.
#[derive(Clone, Debug, Default)]
pub struct PoseFrames {
    /// Of bones, nodes and joints.
    pub rigid: Frames,
    /// Matrices of linear blend skinning, in the order of the table.
    pub matrices: Vec<Affine3A>,
}

impl Follow {
    /// Position of the point in a pose \[m\].
    pub fn position(&self, frames: &PoseFrames) -> DVec3 {
        self.moved(frames, DVec3::ZERO)
    }

    /// Position of a point that is offset by `beside` at rest and follows the same frames \[m\].
    pub fn moved(&self, frames: &PoseFrames, beside: DVec3) -> DVec3 {
        if self.share >= 1.0 {
            return held(&frames.rigid, &self.held, self.point, beside);
        }
        let free = self.unheld(frames, beside);
        match self.share > 0.0 {
            true => free.lerp(
                held(&frames.rigid, &self.held, self.point, beside),
                self.share,
            ),
            false => free,
        }
    }

    /// The same without the hold.
    pub fn unheld(&self, frames: &PoseFrames, beside: DVec3) -> DVec3 {
        match &self.path {
            Path::Carried(anchor) => anchor.position(frames, beside),
            Path::Blended(anchors) => (anchors.iter())
                .map(|anchor| anchor.weight * anchor.position(frames, beside))
                .sum(),
            Path::Slid(slide) => slide.position(&frames.rigid, beside),
        }
    }

    /// The same in single precision, for the GPU. `number` gives the index of a frame.
    pub fn for_device(&self, number: impl Fn(Carrier) -> u32) -> Follows {
        let anchor = |anchor: &Anchor| DeviceAnchor {
            frame: number(anchor.carrier),
            t: anchor.t as f32,
            offset: anchor.offset.as_vec3(),
            weight: anchor.weight as f32,
        };
        let mut follows = Follows {
            held: self.held.iter().map(anchor).collect(),
            share: self.share as f32,
            ..Follows::default()
        };
        match &self.path {
            Path::Carried(one) => follows.anchors = vec![anchor(one)],
            Path::Blended(several) => follows.anchors = several.iter().map(anchor).collect(),
            Path::Slid(slide) => {
                follows.slide = Some(DeviceSlide {
                    joint: anchor(&slide.on_joint),
                    bone: anchor(&slide.on_bone),
                    offset: slide.offset.as_vec3(),
                    axis: slide.axis.as_vec3(),
                    capsule: slide.capsule.map(|t| t as f32),
                    clearances: slide.clearances.map(|d| d as f32),
                });
            }
        }
        follows
    }
}

impl Anchor {
    fn position(&self, frames: &PoseFrames, beside: DVec3) -> DVec3 {
        match self.carrier {
            Carrier::Matrix(matrix) => {
                let point = (self.offset + beside).as_vec3();
                let matrix = frames.matrices.get(matrix);
                matrix
                    .map_or(point, |matrix| matrix.transform_point3(point))
                    .as_dvec3()
            }
            _ => self.on_frame(&frames.rigid, beside),
        }
    }

    fn on_frame(&self, frames: &Frames, beside: DVec3) -> DVec3 {
        let offset = self.offset + beside;
        match self.carrier {
            Carrier::Bone(bone) => {
                let frame = &frames.bones[bone];
                let on_axis = frame.start.lerp(frame.end, self.t);
                on_axis + frame.turn_at(self.t) * offset * frame.scale
            }
            Carrier::Node(node) => {
                let frame = &frames.nodes[node];
                frame.position + frame.turn * offset * frame.scale
            }
            Carrier::Joint(joint) => {
                let frame = &frames.joints[joint];
                frame.position + frame.turn * offset * frame.scale
            }
            Carrier::Matrix(_) => offset,
        }
    }

    /// Its motion of a point, as a dual quaternion.
    fn motion(&self, frames: &Frames, point: DVec3, beside: DVec3) -> (DQuat, DQuat) {
        let turn = match self.carrier {
            Carrier::Bone(bone) => {
                let frame = &frames.bones[bone];
                if let Some([start, along]) = frame.dual {
                    return (frame.turn, start + along * self.t);
                }
                frame.turn_at(self.t)
            }
            Carrier::Node(node) => frames.nodes[node].turn,
            Carrier::Joint(joint) => {
                let frame = &frames.joints[joint];
                if let Some(dual) = frame.dual {
                    return (frame.turn, dual);
                }
                frame.turn
            }
            Carrier::Matrix(_) => DQuat::IDENTITY,
        };
        let shift = self.on_frame(frames, beside) - turn * (point + beside);
        (turn, dual_part(turn, shift))
    }
}

/// Position of a point held by anchors: a blend of dual quaternions (Kavan et al. 2007).
fn held(frames: &Frames, anchors: &[Anchor], point: DVec3, beside: DVec3) -> DVec3 {
    let mut real = DQuat::from_array([0.0; 4]);
    let mut dual = real;
    let mut reference: Option<DQuat> = None;
    for anchor in anchors {
        let (turn, half) = anchor.motion(frames, point, beside);
        let sign = match reference {
            Some(first) if first.dot(turn) < 0.0 => -1.0,
            _ => 1.0,
        };
        reference.get_or_insert(turn);
        real += turn * (sign * anchor.weight);
        dual += half * (sign * anchor.weight);
    }
    let length = real.length();
    if length < 1e-9 {
        return point + beside;
    }
    let (real, dual) = (real * (1.0 / length), dual * (1.0 / length));
    let shift = dual * real.conjugate();
    real * (point + beside) + 2.0 * DVec3::new(shift.x, shift.y, shift.z)
}

impl Slide {
    fn position(&self, frames: &Frames, beside: DVec3) -> DVec3 {
        let (bone, node) = (&frames.bones[self.bone], &frames.nodes[self.node]);
        let weight = self.on_joint.weight;
        let bend = bone.bend_at(self.on_bone.t, self.end, node.turn);
        // Both anchors are first twisted to the point's share of the twist. Blending points at different angles around
        // the bone would pull them towards it.
        let (axis, twist) = (bone.axis, bend.twist);
        let on_joint = self.on_joint.on_frame(frames, DVec3::ZERO);
        let on_joint = turned_about(on_joint, node.position, axis, twist * weight);
        let on_bone = self.on_bone.on_frame(frames, DVec3::ZERO);
        let on_bone = turned_about(on_bone, bone.start, axis, twist * (weight - 1.0));
        let scale = node.scale + (bone.scale - node.scale) * weight;
        let turn = bend.slerp_from(node.turn, weight);
        let slid = on_joint.lerp(on_bone, weight) + turn * (self.offset + beside) * scale;
        self.push_out(bone, node, slid)
    }

    /// Pushes a point out of its joint's sphere and its bone, to its distance at rest.
    fn push_out(&self, bone: &BoneFrame, node: &NodeFrame, point: DVec3) -> DVec3 {
        let [of_bone, of_node] = self.clearances;
        let on_axis = nearest_on(bone.start, bone.end, self.capsule, point);
        let point = pushed(point, on_axis, of_bone * bone.scale);
        pushed(point, node.position, of_node * node.scale)
    }
}

/// Smaller rotations move a point by less than the rounding of single precision \[rad\].
const LEAST_TURN: f64 = 1e-7;

fn turned_about(point: DVec3, centre: DVec3, axis: DVec3, angle: f64) -> DVec3 {
    if angle.abs() < LEAST_TURN || axis == DVec3::ZERO {
        return point;
    }
    centre + DQuat::from_axis_angle(axis, angle) * (point - centre)
}

/// The point of a segment nearest to `point`, between two parameters along it.
pub(crate) fn nearest_on(a: DVec3, b: DVec3, [low, high]: [f64; 2], point: DVec3) -> DVec3 {
    let direction = b - a;
    let t = (point - a).dot(direction) / direction.length_squared().max(f64::MIN_POSITIVE);
    a.lerp(b, t.clamp(low, high))
}

/// Moves `point` away from `centre` until it is `clearance` away. Exact rest positions do not change.
fn pushed(point: DVec3, centre: DVec3, clearance: f64) -> DVec3 {
    let offset = point - centre;
    let squared = offset.length_squared();
    if squared >= clearance * clearance * (1.0 - 2e-9) || squared <= 0.0 {
        point
    } else {
        centre + offset * (clearance / squared.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::frames::JointFrame;

    fn anchors(weights: &[f64], offset: DVec3) -> Vec<Anchor> {
        let anchor = |(joint, &weight): (usize, &f64)| Anchor {
            carrier: Carrier::Joint(joint),
            t: 0.0,
            offset,
            weight,
        };
        weights.iter().enumerate().map(anchor).collect()
    }

    fn frames(turns: &[DQuat], centre: DVec3, shift: DVec3) -> Frames {
        let joint = |&turn: &DQuat| JointFrame::new(centre, centre + shift, turn, 1.0);
        Frames {
            joints: turns.iter().map(joint).collect(),
            ..Frames::default()
        }
    }

    /// Joints with the same motion move the point rigidly; q and −q are the same rotation.
    #[test]
    fn one_motion_is_kept() {
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -1.0).normalize(), 2.0);
        let (centre, shift) = (DVec3::new(0.1, 1.0, 0.2), DVec3::new(3.0, 0.0, 1.0));
        let frames = frames(&[turn, -turn, turn], centre, shift);
        let (point, beside) = (DVec3::new(0.3, 0.9, -0.4), DVec3::new(0.0, 0.02, 0.01));
        let anchors = anchors(&[0.2, 0.5, 0.3], point - centre);
        let held = held(&frames, &anchors, point, beside);
        let expected = centre + shift + turn * (point + beside - centre);
        assert!(held.distance(expected) < 1e-14);
    }

    /// Between two rotations about one centre, the point rotates half way and keeps its distance.
    #[test]
    fn turns_are_halved_without_collapse() {
        let turns = [DQuat::IDENTITY, DQuat::from_rotation_z(2.8)];
        let frames = frames(&turns, DVec3::ZERO, DVec3::ZERO);
        let anchors = anchors(&[0.5, 0.5], DVec3::X);
        let held = held(&frames, &anchors, DVec3::X, DVec3::ZERO);
        assert!(held.distance(DQuat::from_rotation_z(1.4) * DVec3::X) < 1e-14);
    }
}
