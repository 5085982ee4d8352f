//! How much of a skin is inside other parts of it.

use glam::Vec3;

use super::detect::{Detector, Filter};
use super::surface::ContactSurface;

/// What is inside other parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Penetration {
    /// Skin points inside other parts.
    pub points: Vec<u32>,
    /// Depth of each \[m\].
    pub depths: Vec<f32>,
}

impl Penetration {
    /// How many points are inside.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// Depth of the deepest \[m\].
    pub fn worst(&self) -> f32 {
        self.depths.iter().copied().fold(0.0, f32::max)
    }
}

/// Skin points inside prisms of other parts, whatever they face. Depth is the distance to the skin above; what
/// overlaps at rest does not count.
pub fn measure_penetration(surface: &ContactSurface, skin: &[Vec3], bases: &[Vec3]) -> Penetration {
    let count = surface.point_count();
    if skin.len() < count || bases.len() < count {
        return Penetration::default();
    }
    let mut detector = Detector::new(surface);
    detector.update(surface, |i| skin[i], |i| bases[i]);
    detector.search(surface, Filter::Any);
    let mut result = Penetration::default();
    let mut found: Vec<_> = detector
        .found()
        .filter(|f| surface.rest_depths[f.point as usize] == 0.0)
        .map(|f| (f.point, -f.distance))
        .filter(|&(_, depth)| depth > 0.0)
        .collect();
    found.sort_unstable_by_key(|&(point, _)| point);
    for (point, depth) in found {
        result.points.push(point);
        result.depths.push(depth);
    }
    result
}
