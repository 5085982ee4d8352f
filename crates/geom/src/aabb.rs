//! Axis-aligned boxes.

use glam::Vec3;

/// An axis-aligned box; empty while `min > max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Lower corner \[m\].
    pub min: Vec3,
    /// Upper corner \[m\].
    pub max: Vec3,
}

impl Default for Aabb {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Aabb {
    /// The empty box: the neutral element of [`Aabb::union`].
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// The smallest box around the points that are finite.
    pub fn of_points(points: impl IntoIterator<Item = Vec3>) -> Self {
        let finite = points.into_iter().filter(|p| p.is_finite());
        finite.fold(Self::EMPTY, |bounds, p| Self {
            min: bounds.min.min(p),
            max: bounds.max.max(p),
        })
    }

    /// The smallest box around a ball.
    pub fn around(center: Vec3, radius: f32) -> Self {
        Self {
            min: center - radius,
            max: center + radius,
        }
    }

    /// The smallest box around both.
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// Whether the box is empty.
    pub fn is_empty(&self) -> bool {
        !self.min.cmple(self.max).all()
    }

    /// Edge lengths \[m\]; zero when empty.
    pub fn size(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            self.max - self.min
        }
    }

    /// Middle of the box; the origin when empty.
    pub fn center(&self) -> Vec3 {
        // Halved before the sum, so that huge boxes do not overflow.
        if self.is_empty() {
            Vec3::ZERO
        } else {
            self.min * 0.5 + self.max * 0.5
        }
    }

    /// Length of the diagonal \[m\].
    pub fn diagonal(&self) -> f32 {
        self.size().length()
    }

    /// Half of the surface area \[m²\], the measure of the surface area heuristic.
    pub fn half_area(&self) -> f32 {
        let s = self.size();
        s.x * s.y + s.y * s.z + s.z * s.x
    }

    /// Whether the point lies in the closed box.
    pub fn contains(&self, point: Vec3) -> bool {
        self.min.cmple(point).all() && point.cmple(self.max).all()
    }

    /// Whether the closed boxes have a point in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Squared distance from a point to the box \[m²\]; zero inside, infinite when empty.
    pub fn distance_squared(&self, point: Vec3) -> f64 {
        let (min, max, p) = (self.min.as_dvec3(), self.max.as_dvec3(), point.as_dvec3());
        (min - p)
            .max(p - max)
            .max(glam::DVec3::ZERO)
            .length_squared()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_is_neutral_and_measures_zero() {
        let b = Aabb::of_points([Vec3::ONE, Vec3::new(-1.0, 2.0, 3.0), Vec3::NAN]);
        assert_eq!(b.union(Aabb::EMPTY), b);
        assert_eq!(b.size(), Vec3::new(2.0, 1.0, 2.0));
        assert!(Aabb::EMPTY.is_empty() && !b.is_empty());
        assert_eq!(Aabb::EMPTY.half_area(), 0.0);
        assert_eq!(Aabb::EMPTY.distance_squared(Vec3::ZERO), f64::INFINITY);
    }

    #[test]
    fn distance_is_zero_inside_and_euclidean_outside() {
        let b = Aabb {
            min: Vec3::ZERO,
            max: Vec3::ONE,
        };
        assert_eq!(b.distance_squared(Vec3::splat(0.5)), 0.0);
        assert_eq!(b.distance_squared(Vec3::new(2.0, -1.0, 0.5)), 2.0);
        assert!(b.contains(b.center()) && !b.contains(Vec3::NAN));
    }

    #[test]
    fn boxes_overlap_where_they_touch() {
        let b = Aabb::around(Vec3::ZERO, 1.0);
        assert!(b.overlaps(&Aabb::around(Vec3::new(1.5, 0.0, 0.0), 0.5)));
        assert!(!b.overlaps(&Aabb::around(Vec3::new(0.0, 1.6, 0.0), 0.5)));
        assert!(!b.overlaps(&Aabb::EMPTY));
    }
}
