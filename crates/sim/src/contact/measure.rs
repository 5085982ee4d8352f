//! How much of a skin is inside other parts of it, and inside colliders.

use glam::Vec3;

use super::collider::Collider;
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

/// Skin points inside colliders; each is as deep as in the collider it is deepest in.
pub fn measure_in_colliders(skin: &[Vec3], colliders: &[Collider]) -> Penetration {
    let mut result = Penetration::default();
    for (point, &position) in skin.iter().enumerate() {
        let depth = |collider: &Collider| {
            let local = collider.placement.local(position);
            let near = collider.shape.nearest(local, Vec3::Y, 0.0);
            near.map_or(0.0, |near| -near.distance)
        };
        let deepest = colliders.iter().map(depth).fold(0.0, f32::max);
        if deepest > 0.0 {
            result.points.push(point as u32);
            result.depths.push(deepest);
        }
    }
    result
}
