//! Where the lists of a character came from in its document.

use crate::Clip;
use crate::character::Units;

/// How a character's joints, parts and clips map to the elements of its document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    /// Node of each joint of the skeleton.
    pub joint_nodes: Vec<usize>,
    /// Origin of each part.
    pub parts: Vec<PartLink>,
    /// Clips as they were read, one an animation.
    pub clips: Vec<Clip>,
    /// The units and axes of the file's numbers.
    pub units: Units,
}

/// The primitive a part came from, and the node that shows it.
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
