//! How a segment's points move: turned, shifted, and scaled so that heads of long bones keep their shape.

use glam::{DMat3, DVec3};

/// How a segment may be scaled. World = turn · Σ sₖ eₖ(p) + at is linear in the scales sₖ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stretch {
    /// One scale.
    Uniform,
    /// One scale along each axis of the segment's frame.
    Axes,
    /// Long bones: a scale for all, and another for the length. y' = c y + (l − c) L S(y), where S rises smoothly from 0
    /// to 1 along the shaft: both heads are scaled by c alone, and the distance of the joints by l.
    Long {
        /// Distance L of the two joints \[m\].
        length: f64,
        /// Coordinates between which the shaft is \[m\].
        shaft: [f64; 2],
    },
}

/// What changes a segment's shape before it is placed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Shape {
    /// Nothing.
    #[default]
    AsIs,
    /// A man's pelvis made a woman's: wider, most at the bottom (subpubic angle), lower, and less deep at the crests.
    Female {
        /// Heights of its bottom and top \[m\].
        height: [f64; 2],
    },
}

/// A woman's pelvis against a man's of the same stature. Breadth at the crests and at the seat, height: bi-iliac
/// breadth is about equal in both sexes at a woman's smaller stature (+6 %), the distance of the ischial tuberosities
/// and the subpubic angle are larger (+13 %), the hip bone is lower (−4 %).
const FEMALE_BREADTH: [f64; 2] = [1.06, 1.13];
const FEMALE_HEIGHT: f64 = 0.96;

/// Segment's frame in the bones' frame, and how it scales.
#[derive(Clone, Debug)]
pub(super) struct Map {
    /// Origin: where the segment hangs \[m\].
    pub origin: DVec3,
    /// Axes of the segment as columns; y along a long bone.
    pub frame: DMat3,
    pub stretch: Stretch,
    pub shape: Shape,
}

/// Where a segment is in the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placement {
    pub turn: DMat3,
    pub at: DVec3,
    pub scales: [f64; 3],
}

impl Map {
    /// Number of scales.
    pub fn scales(&self) -> usize {
        match self.stretch {
            Stretch::Uniform => 1,
            Stretch::Axes => 3,
            Stretch::Long { .. } => 2,
        }
    }

    /// The eₖ of a point of the bones' frame, in the segment's frame.
    pub fn basis(&self, point: DVec3) -> [DVec3; 3] {
        let p = self.frame.transpose() * (self.shaped(point) - self.shaped(self.origin));
        match self.stretch {
            Stretch::Uniform => [p, DVec3::ZERO, DVec3::ZERO],
            Stretch::Axes => [DVec3::X * p.x, DVec3::Y * p.y, DVec3::Z * p.z],
            Stretch::Long {
                length,
                shaft: [low, high],
            } => {
                let t = ((p.y - low) / (high - low)).clamp(0.0, 1.0);
                let grown = DVec3::Y * (length * t * t * (3.0 - 2.0 * t));
                [p - grown, grown, DVec3::ZERO]
            }
        }
    }

    fn shaped(&self, p: DVec3) -> DVec3 {
        match self.shape {
            Shape::AsIs => p,
            Shape::Female {
                height: [low, high],
            } => {
                let t = ((p.y - low) / (high - low)).clamp(0.0, 1.0);
                let [top, bottom] = FEMALE_BREADTH;
                let breadth = bottom + (top - bottom) * t;
                DVec3::new(p.x * breadth, p.y * FEMALE_HEIGHT, p.z)
            }
        }
    }
}

impl Placement {
    /// Where the point with these eₖ is in the body.
    pub fn point(&self, basis: &[DVec3; 3]) -> DVec3 {
        self.turn * self.arm(basis) + self.at
    }

    /// The point from the segment's origin, in its frame.
    pub fn arm(&self, basis: &[DVec3; 3]) -> DVec3 {
        basis[0] * self.scales[0] + basis[1] * self.scales[1] + basis[2] * self.scales[2]
    }
}

/// Axes with y along `along` and x as near `side` as that allows.
pub(super) fn frame(along: DVec3, side: DVec3) -> DMat3 {
    let y = along.normalize_or(DVec3::Y);
    let x = side
        .reject_from_normalized(y)
        .normalize_or(y.any_orthonormal_vector());
    DMat3::from_cols(x, y, x.cross(y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_long_bones_keep_their_shape() {
        let map = Map {
            origin: DVec3::ZERO,
            frame: DMat3::IDENTITY,
            stretch: Stretch::Long {
                length: 0.4,
                shaft: [0.06, 0.34],
            },
            shape: Shape::AsIs,
        };
        let placed = Placement {
            turn: DMat3::IDENTITY,
            at: DVec3::ZERO,
            scales: [1.1, 1.3, 1.0],
        };
        let at = |x: f64, y: f64| placed.point(&map.basis(DVec3::new(x, y, 0.0)));
        assert!(at(0.0, 0.4).distance(DVec3::new(0.0, 0.4 * 1.3, 0.0)) < 1e-12);
        let near = at(0.02, 0.03) - at(0.0, 0.01);
        let far = at(0.02, 0.41) - at(0.0, 0.39);
        assert!(near.distance(1.1 * DVec3::new(0.02, 0.02, 0.0)) < 1e-12);
        assert!(far.distance(near) < 1e-12);
    }
}
