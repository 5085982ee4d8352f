//! How far points go, apart from what all go together: a body that is carried along does not move against itself.

use glam::Vec3;

/// Ways of points in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ways {
    /// The mean \[m\].
    pub together: Vec3,
    /// How far the farthest point went besides \[m\].
    pub farthest: f32,
}

impl Ways {
    /// From `before` to `now`; `None` where these are not the same points.
    pub fn new(before: &[Vec3], now: &[Vec3]) -> Option<Ways> {
        if before.len() != now.len() {
            return None;
        }
        if before == now {
            return Some(Ways {
                together: Vec3::ZERO,
                farthest: 0.0,
            });
        }
        let ways = || now.iter().zip(before).map(|(a, b)| *a - *b);
        let together = ways().sum::<Vec3>() / now.len().max(1) as f32;
        let squares = ways().map(|way| way.distance_squared(together));
        let farthest = squares.fold(0.0, f32::max).sqrt();
        Some(Ways { together, farthest })
    }
}
