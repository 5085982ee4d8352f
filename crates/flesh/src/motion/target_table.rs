//! The table of all points that follow the pose directly: driven vertices, skin that is not simulated, base points.
//!
//! [`FollowTable`] is built from the results of [`sliding`](crate::motion::sliding) and [`holds`](crate::motion::holds), and evaluated by
//! [`targets`](crate::motion::targets). [`TargetTable`] and [`Flesh::pose_frames`] are the same as plain data, for a GPU that computes
//! targets itself. There, bones, nodes, joints and matrices are all [frames](supple_sim::follow).

use std::collections::BTreeMap;

use glam::{Affine3A, DVec3};
use supple_rig::Pose;
use supple_rig::skinning::skin_matrices;
use supple_sim::follow::{Follows, Frame};

use crate::FleshError;
use crate::construction::base_points::BasePoint;
use crate::flesh::{Driven, Flesh};
use crate::motion::follow::{Anchor, Carrier, Follow, Path, PoseFrames, Slide};
use crate::motion::holds::{Influence, Weights};
use crate::motion::sliding::Attachment;

/// All vertices that follow the pose directly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FollowTable {
    /// The model's driven vertices, in their order.
    pub driven: Vec<Follow>,
    /// Columns that are not in the model, in their order.
    pub outside: Vec<Follow>,
    /// Vertices of the full skin that follow the pose: vertex, blend factor, and what it follows.
    pub kinematic: Vec<(u32, f32, Follow)>,
    /// Part and joint slot of each matrix.
    pub matrices: Vec<(u32, u32)>,
}

/// The same for a GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetTable {
    /// The model's driven vertices, in their order.
    pub driven: Vec<Follows>,
    /// Columns that are not in the model, in their order.
    pub outside: Vec<Follows>,
    /// Vertices of the full skin that follow the pose: vertex, blend factor, and what it follows.
    pub kinematic: Vec<(u32, f32, Follows)>,
    /// Base point of every column: its frame, and its parameter along the frame's axis.
    pub bases: Vec<(u32, f32)>,
    /// Number of frames with a rotation; matrices follow.
    pub rigid: u32,
    /// Number of matrices.
    pub matrices: u32,
}

impl Flesh {
    /// All points that follow the pose, for a GPU.
    pub fn target_table(&self) -> TargetTable {
        let (bones, nodes) = (self.graph.bones.len(), self.graph.nodes.len());
        let rigid = bones + nodes + self.bind_worlds.len();
        let number = |carrier: Carrier| {
            let number = match carrier {
                Carrier::Bone(bone) => bone,
                Carrier::Node(node) => bones + node,
                Carrier::Joint(joint) => bones + nodes + joint,
                Carrier::Matrix(matrix) => rigid + matrix,
            };
            number as u32
        };
        let frame_and_t = |base: &BasePoint| match base.bone {
            Some(bone) => (number(Carrier::Bone(bone)), base.t as f32),
            None => (number(Carrier::Node(base.node)), 0.0),
        };
        let table = &self.follow;
        let each = |list: &[Follow]| list.iter().map(|one| one.for_device(number)).collect();
        let kinematic = table.kinematic.iter();
        TargetTable {
            driven: each(&table.driven),
            outside: each(&table.outside),
            kinematic: kinematic
                .map(|(v, share, follow)| (*v, *share, follow.for_device(number)))
                .collect(),
            bases: self.base_points.iter().map(frame_and_t).collect(),
            rigid: rigid as u32,
            matrices: table.matrices.len() as u32,
        }
    }

    /// Frames of a pose, in the order of [`TargetTable`].
    pub fn pose_frames(&self, pose: &Pose) -> Result<Vec<Frame>, FleshError> {
        let PoseFrames { rigid, matrices } = self.all_frames(pose)?;
        let rows = |turn: glam::DQuat, place: DVec3, scale: f64, line: DVec3, twist: f64| {
            [
                turn.as_quat().to_array(),
                place.as_vec3().extend(scale as f32).to_array(),
                line.as_vec3().extend(twist as f32).to_array(),
            ]
        };
        let bones = rigid.bones.iter();
        let bones = bones.map(|f| rows(f.turn, f.start, f.scale, f.end - f.start, f.twist));
        let nodes = rigid.nodes.iter();
        let nodes = nodes.map(|f| rows(f.turn, f.position, f.scale, DVec3::ZERO, 0.0));
        let joints = rigid.joints.iter();
        let joints = joints.map(|f| rows(f.turn, f.position, f.scale, DVec3::ZERO, 0.0));
        let matrices = matrices.iter().map(|&matrix| {
            let rows = glam::Mat4::from(matrix).transpose();
            [0, 1, 2].map(|row| rows.col(row).to_array())
        });
        Ok(bones.chain(nodes).chain(joints).chain(matrices).collect())
    }

    /// All frames of a pose.
    pub(crate) fn all_frames(&self, pose: &Pose) -> Result<PoseFrames, FleshError> {
        Ok(PoseFrames {
            rigid: self.frames(pose)?,
            matrices: self.matrices(pose),
        })
    }

    /// Matrices of linear blend skinning that some vertex follows.
    pub(crate) fn matrices(&self, pose: &Pose) -> Vec<Affine3A> {
        let table = &self.follow.matrices;
        if table.is_empty() {
            return Vec::new();
        }
        let worlds = pose.worlds(&self.character.skeleton);
        let mut of_part: BTreeMap<u32, Vec<Affine3A>> = BTreeMap::new();
        let matrix = |&(part, slot): &(u32, u32)| {
            let matrices = of_part.entry(part).or_insert_with(|| {
                let part = self.character.parts.get(part as usize);
                part.map_or_else(Vec::new, |part| skin_matrices(part, &worlds))
            });
            matrices.get(slot as usize).copied().unwrap_or_default()
        };
        table.iter().map(matrix).collect()
    }

    /// Fills the table.
    pub(crate) fn find_follows(&mut self) {
        let mut maker = Maker {
            flesh: self,
            matrices: BTreeMap::new(),
        };
        let driven = (self.driven.iter())
            .map(|driven| match *driven {
                Driven::Bone(column) => maker.driven(column as usize),
                Driven::Skin(column) => maker.skin(column as usize),
                Driven::Core(index) => maker.core(index as usize),
            })
            .collect();
        let outside = self.outside_columns();
        let outside = outside.iter().map(|&c| maker.skin(c as usize)).collect();
        let mut kinematic = Vec::new();
        if let Some(detail) = &self.detail {
            for &(v, share) in &detail.kinematic {
                if let Some(follow) = maker.blend(detail.original_of[v as usize]) {
                    kinematic.push((v, share, follow));
                }
            }
        }
        let mut matrices = vec![(0, 0); maker.matrices.len()];
        for (key, index) in maker.matrices {
            matrices[index] = key;
        }
        self.follow = FollowTable {
            driven,
            outside,
            kinematic,
            matrices,
        };
    }

    /// The skin vertex of a column carried by the column's frame: rigidly on bones, half-rotated on joints, blended in between.
    pub(crate) fn carried(&self, column: usize) -> Follow {
        let maker = Maker {
            flesh: self,
            matrices: BTreeMap::new(),
        };
        maker.carried(column)
    }
}

/// Number of a missing part; its matrix is the identity.
const NOWHERE: u32 = u32::MAX;

/// Builds the entries of the table.
struct Maker<'a> {
    flesh: &'a Flesh,
    /// Index of the matrix of each part and slot.
    matrices: BTreeMap<(u32, u32), usize>,
}

impl Maker<'_> {
    /// On a bone, at `t` along it; no stretch beyond the ends.
    fn on_bone(&self, bone: usize, t: f64, point: DVec3, weight: f64) -> Anchor {
        let t = t.clamp(0.0, 1.0);
        let (start, end) = self.flesh.graph.segment(bone);
        Anchor {
            carrier: Carrier::Bone(bone),
            t,
            offset: point - start.lerp(end, t),
            weight,
        }
    }

    fn on_node(&self, node: usize, point: DVec3, weight: f64) -> Anchor {
        Anchor {
            carrier: Carrier::Node(node),
            t: 0.0,
            offset: point - self.flesh.graph.nodes[node].position,
            weight,
        }
    }

    fn on_joint(&self, joint: usize, point: DVec3, weight: f64) -> Anchor {
        let rest = self.flesh.bind_worlds[joint].translation.as_dvec3();
        Anchor {
            carrier: Carrier::Joint(joint),
            t: 0.0,
            offset: point - rest,
            weight,
        }
    }

    /// The bone-surface point of a column.
    fn driven(&mut self, column: usize) -> Follow {
        let flesh = self.flesh;
        let point = flesh.bone[column];
        if let Some(layers) = (flesh.layers.as_ref()).filter(|layers| layers.layered[column]) {
            return self.linear(point, &layers.influences[column]);
        }
        let path = match flesh.attachments[column] {
            Attachment::Bone { bone, t } => Path::Carried(self.on_bone(bone, t, point, 1.0)),
            Attachment::Node { node } => Path::Carried(self.on_node(node, point, 1.0)),
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
                Path::Slid(Box::new(Slide {
                    node,
                    bone,
                    end: usize::from(flesh.graph.bones[bone].end == node),
                    on_joint: self.on_node(node, joint_anchor, weight),
                    on_bone: self.on_bone(bone, t, bone_anchor, weight),
                    offset: point - joint_anchor.lerp(bone_anchor, weight),
                    axis: (end - start).normalize_or_zero(),
                    capsule: clearance.capsule,
                    clearances: [clearance.of_bone, clearance.of_node],
                }))
            }
            Attachment::Free => Path::Carried(Anchor {
                carrier: self.matrix(NOWHERE, 0),
                t: 0.0,
                offset: point,
                weight: 1.0,
            }),
        };
        self.held(column, point, path)
    }

    /// A point of the skeleton surface that follows joints by linear blend [4.3.3].
    fn linear(&self, point: DVec3, weights: &Weights) -> Follow {
        let anchor = |&(joint, weight): &(u32, f64)| self.on_joint(joint as usize, point, weight);
        Follow {
            point,
            path: Path::Blended(weights.iter().map(anchor).collect()),
            held: Vec::new(),
            share: 0.0,
        }
    }

    /// A point of a column with its hold.
    fn held(&self, column: usize, point: DVec3, path: Path) -> Follow {
        let hold = &self.flesh.holds[column];
        let held = match hold.share > 0.0 {
            true => self.anchors(point, &hold.influences),
            false => Vec::new(),
        };
        Follow {
            point,
            path,
            held,
            share: hold.share.max(0.0),
        }
    }

    /// Anchors of a point on the joints that hold it.
    fn anchors(&self, point: DVec3, influences: &[Influence]) -> Vec<Anchor> {
        let anchor = |influence: &Influence| match influence.bone {
            Some(bone) => self.on_bone(bone, influence.t, point, influence.weight),
            None => self.on_joint(influence.joint, point, influence.weight),
        };
        influences.iter().map(anchor).collect()
    }

    /// A point below the free skeleton surface: a smooth blend of the joints around it.
    fn core(&self, index: usize) -> Follow {
        let cores = self.flesh.layers.as_ref().map(|layers| &layers.cores);
        let (point, influences) = match cores.and_then(|cores| cores.get(index)) {
            Some(core) => (core.point, &core.influences[..]),
            None => (DVec3::ZERO, &[][..]),
        };
        Follow {
            point,
            path: Path::Blended(Vec::new()),
            held: self.anchors(point, influences),
            share: 1.0,
        }
    }

    /// A skin vertex that is not simulated: it follows its weights, or its column's frame if it has none.
    fn skin(&mut self, column: usize) -> Follow {
        let blended = self.blend(self.flesh.original_of[column]);
        blended.unwrap_or_else(|| self.carried(column))
    }

    fn carried(&self, column: usize) -> Follow {
        let flesh = self.flesh;
        let point = flesh.skin.positions[column].as_dvec3();
        let base = flesh.base_points[column];
        let path = match flesh.attachments[column] {
            Attachment::Bone { bone, t } => Path::Carried(self.on_bone(bone, t, point, 1.0)),
            Attachment::Node { node } => Path::Carried(self.on_node(node, point, 1.0)),
            Attachment::Slide {
                node, bone, weight, ..
            } => Path::Blended(vec![
                self.on_node(node, point, 1.0 - weight),
                self.on_bone(bone, base.t, point, weight),
            ]),
            Attachment::Free => Path::Carried(match base.bone {
                Some(bone) => self.on_bone(bone, base.t, point, 1.0),
                None => self.on_node(base.node, point, 1.0),
            }),
        };
        self.held(column, point, path)
    }

    /// Index of the matrix of a part's slot.
    fn matrix(&mut self, part: u32, slot: u32) -> Carrier {
        let next = self.matrices.len();
        Carrier::Matrix(*self.matrices.entry((part, slot)).or_insert(next))
    }

    /// Linear blend of an original vertex; `None` without weights.
    fn blend(&mut self, original: u32) -> Option<Follow> {
        let (part, vertex) = self.flesh.part_of(original as usize);
        let influences = &self.flesh.character.parts[part].binding.influences;
        if vertex >= influences.len() {
            return None;
        }
        let point = self.flesh.shapes[part][vertex].as_dvec3();
        let mut anchors = Vec::new();
        for &(slot, weight) in influences.of(vertex) {
            anchors.push(Anchor {
                carrier: self.matrix(part as u32, slot),
                t: 0.0,
                offset: point,
                weight: f64::from(weight),
            });
        }
        Some(Follow {
            point,
            path: Path::Blended(anchors),
            held: Vec::new(),
            share: 0.0,
        })
    }
}
