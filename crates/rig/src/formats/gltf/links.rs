//! Maps a character's joints, parts and clips to the elements of its document.

use crate::Clip;
use crate::character::Units;

/// How a character's joints, parts and clips map to the elements of its document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    /// Node of each joint of the skeleton.
    pub joint_nodes: Vec<usize>,
    /// Origin of each part.
    pub parts: Vec<PartLink>,
    /// The clips as read, one per animation.
    pub clips: Vec<Clip>,
    /// Units and axes of the file.
    pub units: Units,
}

/// The primitive a part was read from, and the node that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLink {
    /// Index of the node.
    pub node: usize,
    /// Index of the mesh.
    pub mesh: usize,
    /// Index within the mesh.
    pub primitive: usize,
    /// Number of vertices.
    pub vertices: usize,
}
