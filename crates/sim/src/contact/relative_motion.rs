//! Motion of points relative to their common motion: a body that is moved as a whole does not move relative to itself.

use glam::Vec3;

/// Motion of points in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelativeMotion {
    /// Mean motion \[m\].
    pub together: Vec3,
    /// Largest motion relative to the mean \[m\].
    pub farthest: f32,
}

impl RelativeMotion {
    /// From `before` to `now`; `None` if the numbers of points differ.
    pub fn new(before: &[Vec3], now: &[Vec3]) -> Option<RelativeMotion> {
        if before.len() != now.len() {
            return None;
        }
        if before == now {
            return Some(RelativeMotion {
                together: Vec3::ZERO,
                farthest: 0.0,
            });
        }
        let ways = || now.iter().zip(before).map(|(a, b)| *a - *b);
        let together = ways().sum::<Vec3>() / now.len().max(1) as f32;
        let squares = ways().map(|way| way.distance_squared(together));
        let farthest = squares.fold(0.0, f32::max).sqrt();
        Some(RelativeMotion { together, farthest })
    }
}
