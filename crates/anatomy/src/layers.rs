//! Skin, muscle surface and skeleton surface: three surfaces of one connectivity.

use glam::Vec3;

/// The layers of a body. Vertex i of each surface belongs together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layers {
    /// Triangles of all three surfaces.
    pub triangles: Vec<[u32; 3]>,
    /// Skin \[m\].
    pub skin: Vec<Vec3>,
    /// Muscle surface \[m\].
    pub muscle: Vec<Vec3>,
    /// Skeleton surface \[m\].
    pub skeleton: Vec<Vec3>,
    /// Whether a vertex has layers; elsewhere all three surfaces are the skin.
    pub layered: Vec<bool>,
}
