//! Fibre directions: blended tangents of a muscle's path that draw together towards its ends, and streamlines along them.

use glam::Vec3;
use supple_geom::Surface;

use crate::template::musculature::atlas::Entry;
use crate::template::musculature::paths::Strip;

/// Directions and tendon shares at points of a muscle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FibreField {
    /// Unit direction at each point, from origin to insertion.
    pub directions: Vec<Vec3>,
    /// How much of each point is tendon, 0 to 1.
    pub tendon: Vec<f32>,
}

/// Fraction of the path over which flesh turns into tendon.
const TENDON_BLEND: f32 = 0.06;

/// Steepest that fibres draw together, across over along.
const STEEPEST: f32 = 0.7;
/// Half width of a tendinous band, as a fraction of the path.
const BAND_HALF_WIDTH: f32 = 0.02;

/// Fibre directions at points of a muscle with the given path, and how much of them is tendon.
pub fn fibre_field(guide: &FibreGuide, points: &[Vec3], entry: &Entry) -> FibreField {
    let belly = entry.belly;
    let mut field = FibreField::default();
    for &p in points {
        let (direction, u) = guide.at(p);
        let outside = (belly[0] - u).max(u - belly[1]);
        field.directions.push(direction);
        let tendon = (0.5 + outside / TENDON_BLEND).clamp(0.0, 1.0);
        let band = (entry.bands.iter())
            .map(|b| 1.0 - (b - u).abs() / BAND_HALF_WIDTH)
            .fold(0.0, f32::max);
        field.tendon.push(tendon.max(band));
    }
    field
}

/// A muscle's path, ready to be asked for directions.
pub struct FibreGuide {
    surface: Surface,
    tangents: Vec<Vec3>,
    /// Change of the logarithm of the thickness per metre, at each step.
    narrowing: Vec<f32>,
    samples: usize,
    length: f32,
}

impl FibreGuide {
    /// Of a muscle's path.
    pub fn new(strip: &Strip) -> Self {
        let n = strip.samples();
        let length = strip.length();
        let logarithm = |j: usize| strip.profile.get(j).map_or(0.0, |p| p.max(1e-3).ln());
        FibreGuide {
            surface: Surface::new(strip.mesh()),
            tangents: strip.tangents(),
            narrowing: (0..n)
                .map(|j| {
                    let (a, b) = (j.saturating_sub(1), (j + 1).min(n - 1));
                    let step = length * (b - a) as f32 / (n - 1) as f32;
                    (logarithm(b) - logarithm(a)) / step.max(1e-6)
                })
                .collect(),
            samples: strip.samples(),
            length,
        }
    }

    /// Unit direction at a point, and the place of the path it belongs to (0 origin, 1 insertion).
    pub fn at(&self, p: Vec3) -> (Vec3, f32) {
        let Some(found) = self.surface.closest_point(p) else {
            return (Vec3::NEG_Y, 0.5);
        };
        let corners = self.surface.mesh().triangles[found.triangle as usize];
        let mut direction = Vec3::ZERO;
        let (mut u, mut narrowing) = (0.0, 0.0);
        for (corner, weight) in corners.into_iter().zip(found.barycentric) {
            direction += weight * self.tangents[corner as usize];
            let j = corner as usize % self.samples;
            u += weight * j as f32 / (self.samples - 1) as f32;
            narrowing += weight * self.narrowing[j];
        }
        let along = direction.normalize_or(self.tangents[corners[0] as usize]);
        // Fibres beside the path keep their place between path and surface, so they draw together as the muscle thins out.
        let across = (p - found.position).reject_from(along);
        let inwards = (narrowing * across).clamp_length_max(STEEPEST);
        ((along + inwards).normalize_or(along), u)
    }

    /// The line along the fibres through a point, from the origin's end to the insertion's, in steps of `step` \[m\].
    pub fn streamline(&self, start: Vec3, step: f32) -> Vec<Vec3> {
        let limit = (3.0 * self.length / step.max(1e-5)) as usize;
        let follow = |sign: f32| {
            let mut p = start;
            let mut line = Vec::new();
            for _ in 0..limit {
                // Midpoint rule.
                let half = p + 0.5 * sign * step * self.at(p).0;
                p += sign * step * self.at(half).0;
                line.push(p);
                let u = self.at(p).1;
                if (sign > 0.0 && u >= 1.0 - 1e-4) || (sign < 0.0 && u <= 1e-4) {
                    break;
                }
            }
            line
        };
        let mut line = follow(-1.0);
        line.reverse();
        line.push(start);
        line.extend(follow(1.0));
        line
    }
}
