//! How driven vertices follow the skeleton, as plain data for a device that computes targets from the frames of a pose.
//!
//! Bones, nodes and joints all become [frames](supple_sim::follow). [`TargetTable`] holds which frames a vertex follows and how, with the
//! rules of [`sliding`](crate::sliding) and [`holds`](crate::holds); [`Flesh::pose_frames`] gives the frames of a pose.

use std::collections::BTreeMap;

use glam::DVec3;
use supple_rig::Pose;
use supple_rig::skinning::skin_matrices;
use supple_sim::follow::{Anchor, Follows, Frame, Slide};

use crate::FleshError;
use crate::base_points::Foot;
use crate::flesh::{Driven, Flesh};
use crate::sliding::Attachment;

/// All vertices that follow the pose directly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetTable {
    /// The model's driven vertices, in their order.
    pub driven: Vec<Follows>,
    /// Columns that are not in the model, in their order.
    pub outside: Vec<Follows>,
    /// Vertices of the full skin that follow the pose: vertex, blend factor, and how.
    pub kinematic: Vec<(u32, f32, Follows)>,
    /// Base point of every column: its frame, and its parameter along the frame's axis.
    pub bases: Vec<(u32, f32)>,
    /// Number of frames with a rotation; matrices follow.
    pub rigid: u32,
    /// Part and slot of each matrix.
    pub matrices: Vec<(u32, u32)>,
}

impl Flesh {
    /// Builds the table.
    pub fn target_table(&self) -> TargetTable {
        let mut maker = Maker {
            flesh: self,
            rigid: (self.graph.bones.len() + self.graph.nodes.len() + self.bind_worlds.len())
                as u32,
            matrices: BTreeMap::new(),
        };
        let driven = (self.driven.iter())
            .map(|driven| match *driven {
                Driven::Bone(column) => maker.driven(column as usize),
                Driven::Skin(column) => maker.skin(column as usize),
            })
            .collect();
        let outside = self.outside_columns();
        let outside = outside.iter().map(|&c| maker.skin(c as usize)).collect();
        let mut kinematic = Vec::new();
        if let Some(detail) = &self.detail {
            for &(v, share) in &detail.kinematic {
                if let Some(anchors) = maker.blend(detail.original_of[v as usize]) {
                    kinematic.push((v, share, anchors.into()));
                }
            }
        }
        let bones = self.graph.bones.len();
        let base = |foot: &Foot| match foot.bone {
            Some(bone) => (bone as u32, foot.t as f32),
            None => ((bones + foot.node) as u32, 0.0),
        };
        let bases = self.feet.iter().map(base).collect();
        let mut matrices = vec![(0, 0); maker.matrices.len()];
        for (key, index) in maker.matrices {
            matrices[index as usize] = key;
        }
        TargetTable {
            driven,
            outside,
            kinematic,
            bases,
            rigid: maker.rigid,
            matrices,
        }
    }

    /// Frames of a pose, in the order of the table.
    pub fn pose_frames(&self, table: &TargetTable, pose: &Pose) -> Result<Vec<Frame>, FleshError> {
        let frames = self.frames(pose)?;
        let rows = |turn: glam::DQuat, place: DVec3, scale: f64, line: DVec3, twist: f64| {
            [
                turn.as_quat().to_array(),
                place.as_vec3().extend(scale as f32).to_array(),
                line.as_vec3().extend(twist as f32).to_array(),
            ]
        };
        let bones = frames.bones.iter();
        let bones = bones.map(|f| rows(f.turn, f.start, f.scale, f.end - f.start, f.twist));
        let nodes = frames.nodes.iter();
        let nodes = nodes.map(|f| rows(f.turn, f.position, f.scale, DVec3::ZERO, 0.0));
        let joints = frames.joints.iter();
        let joints = joints.map(|f| rows(f.turn, f.position, f.scale, DVec3::ZERO, 0.0));
        let mut list: Vec<Frame> = bones.chain(nodes).chain(joints).collect();
        let worlds = pose.worlds(&self.character.skeleton);
        let mut of_part: BTreeMap<u32, Vec<glam::Affine3A>> = BTreeMap::new();
        for &(part, slot) in &table.matrices {
            let matrices = of_part.entry(part).or_insert_with(|| {
                let part = self.character.parts.get(part as usize);
                part.map_or_else(Vec::new, |part| skin_matrices(part, &worlds))
            });
            let matrix = matrices.get(slot as usize).copied().unwrap_or_default();
            let rows = glam::Mat4::from(matrix).transpose();
            list.push([0, 1, 2].map(|row| rows.col(row).to_array()));
        }
        Ok(list)
    }
}

/// No part: its matrix is the identity.
const NOWHERE: u32 = u32::MAX;

fn still_anchor(frame: u32, point: DVec3) -> Anchor {
    Anchor {
        frame,
        t: 0.0,
        offset: point.as_vec3(),
        weight: 1.0,
    }
}

/// Fills the table.
struct Maker<'a> {
    flesh: &'a Flesh,
    rigid: u32,
    /// Number of each part and slot.
    matrices: BTreeMap<(u32, u32), u32>,
}

impl Maker<'_> {
    /// On a bone, at `t` along it; no stretch beyond the ends.
    fn on_bone(&self, bone: usize, t: f64, point: DVec3, weight: f64) -> Anchor {
        let t = t.clamp(0.0, 1.0);
        let (start, end) = self.flesh.graph.segment(bone);
        Anchor {
            frame: bone as u32,
            t: t as f32,
            offset: (point - start.lerp(end, t)).as_vec3(),
            weight: weight as f32,
        }
    }

    fn on_node(&self, node: usize, point: DVec3, weight: f64) -> Anchor {
        Anchor {
            frame: (self.flesh.graph.bones.len() + node) as u32,
            t: 0.0,
            offset: (point - self.flesh.graph.nodes[node].position).as_vec3(),
            weight: weight as f32,
        }
    }

    fn on_joint(&self, joint: usize, point: DVec3, weight: f64) -> Anchor {
        let graph = &self.flesh.graph;
        let rest = self.flesh.bind_worlds[joint].translation.as_dvec3();
        Anchor {
            frame: (graph.bones.len() + graph.nodes.len() + joint) as u32,
            t: 0.0,
            offset: (point - rest).as_vec3(),
            weight: weight as f32,
        }
    }

    /// The bone-surface point of a column.
    fn driven(&mut self, column: usize) -> Follows {
        let flesh = self.flesh;
        let point = flesh.bone[column];
        let mut follows = self.held(column, point);
        match flesh.attachments[column] {
            Attachment::Bone { bone, t } => {
                follows.anchors = vec![self.on_bone(bone, t, point, 1.0)];
            }
            Attachment::Node { node } => follows.anchors = vec![self.on_node(node, point, 1.0)],
            Attachment::Slide {
                node,
                bone,
                weight,
                joint_anchor,
                bone_anchor,
                t,
                clearance,
            } => {
                let (start, end) = flesh.graph.segment(bone);
                follows.slide = Some(Slide {
                    joint: self.on_node(node, joint_anchor, weight),
                    bone: self.on_bone(bone, t, bone_anchor, weight),
                    offset: (point - joint_anchor.lerp(bone_anchor, weight)).as_vec3(),
                    axis: (end - start).normalize_or_zero().as_vec3(),
                    capsule: clearance.capsule.map(|t| t as f32),
                    clearances: [clearance.of_bone as f32, clearance.of_node as f32],
                });
            }
            Attachment::Free => {
                let still = self.matrix(NOWHERE, 0);
                follows.anchors = vec![still_anchor(still, point)];
            }
        }
        follows
    }

    /// The hold of a column's point, without its attachment.
    fn held(&self, column: usize, point: DVec3) -> Follows {
        let hold = &self.flesh.holds[column];
        if hold.share <= 0.0 {
            return Follows::default();
        }
        let anchor = |influence: &crate::holds::Influence| match influence.bone {
            Some(bone) => self.on_bone(bone, influence.t, point, influence.weight),
            None => self.on_joint(influence.joint, point, influence.weight),
        };
        Follows {
            held: hold.influences.iter().map(anchor).collect(),
            share: hold.share as f32,
            ..Follows::default()
        }
    }

    /// A skin vertex that is not simulated: by its skin weights, or rigidly with its column's frame.
    fn skin(&mut self, column: usize) -> Follows {
        let flesh = self.flesh;
        if let Some(anchors) = self.blend(flesh.original_of[column]) {
            return anchors.into();
        }
        let point = flesh.skin.positions[column].as_dvec3();
        let foot = flesh.feet[column];
        let mut follows = self.held(column, point);
        follows.anchors = match flesh.attachments[column] {
            Attachment::Bone { bone, t } => vec![self.on_bone(bone, t, point, 1.0)],
            Attachment::Node { node } => vec![self.on_node(node, point, 1.0)],
            Attachment::Slide {
                node, bone, weight, ..
            } => vec![
                self.on_node(node, point, 1.0 - weight),
                self.on_bone(bone, foot.t, point, weight),
            ],
            Attachment::Free => vec![self.on_foot(&foot, point)],
        };
        follows
    }

    fn on_foot(&self, foot: &Foot, point: DVec3) -> Anchor {
        match foot.bone {
            Some(bone) => self.on_bone(bone, foot.t, point, 1.0),
            None => self.on_node(foot.node, point, 1.0),
        }
    }

    /// Frame of the matrix of a part's slot.
    fn matrix(&mut self, part: u32, slot: u32) -> u32 {
        let next = self.matrices.len() as u32;
        self.rigid + *self.matrices.entry((part, slot)).or_insert(next)
    }

    /// Linear blend of an original vertex; `None` without weights.
    fn blend(&mut self, original: u32) -> Option<Vec<Anchor>> {
        let (part, vertex) = self.flesh.part_of(original as usize);
        let influences = &self.flesh.character.parts[part].binding.influences;
        if vertex >= influences.len() {
            return None;
        }
        let place = self.flesh.shapes[part][vertex];
        let mut anchors = Vec::new();
        for &(slot, weight) in influences.of(vertex) {
            anchors.push(Anchor {
                frame: self.matrix(part as u32, slot),
                t: 0.0,
                offset: place,
                weight,
            });
        }
        Some(anchors)
    }
}
