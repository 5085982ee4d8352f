//! The indexed triangle mesh.

use glam::Vec3;

/// Triangles over shared vertices. Plain data: indices may be out of range until [`TriMesh::check`] has said otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions [m].
    pub positions: Vec<Vec3>,
    /// Corner indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}
