//! Quadrics: squared distances to many planes in ten numbers (Garland and Heckbert 1997).

use glam::DVec3;
use std::ops::{Add, AddAssign};

/// Sum of weighted squared distances to planes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quadric {
    /// Σ w n nᵀ: xx, xy, xz, yy, yz, zz.
    a: [f64; 6],
    /// Σ w d n.
    b: DVec3,
    /// Σ w d².
    c: f64,
}

impl Quadric {
    /// Of one plane through a point with a unit normal.
    pub fn plane(point: DVec3, normal: DVec3, weight: f64) -> Self {
        let d = -normal.dot(point);
        let DVec3 { x, y, z } = normal;
        Self {
            a: [x * x, x * y, x * z, y * y, y * z, z * z].map(|value| weight * value),
            b: weight * d * normal,
            c: weight * d * d,
        }
    }

    /// The sum of squared distances at a point; rounding never makes it negative.
    pub fn at(&self, p: DVec3) -> f64 {
        let [xx, xy, xz, yy, yz, zz] = self.a;
        let square = p.x * (xx * p.x + 2.0 * (xy * p.y + xz * p.z))
            + p.y * (yy * p.y + 2.0 * yz * p.z)
            + zz * p.z * p.z;
        (square + 2.0 * self.b.dot(p) + self.c).max(0.0)
    }
}

impl Add for Quadric {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Quadric {
    fn add_assign(&mut self, other: Self) {
        self.a.iter_mut().zip(other.a).for_each(|(a, b)| *a += b);
        self.b += other.b;
        self.c += other.c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_add_up() {
        let normal = DVec3::new(1.0, 2.0, -2.0) / 3.0;
        let origin = DVec3::new(0.3, -0.2, 0.9);
        let one = Quadric::plane(origin, normal, 2.0);
        let two = one + Quadric::plane(DVec3::ZERO, DVec3::Z, 0.5);
        let point = DVec3::new(0.7, 0.1, -0.4);
        let expected = 2.0 * normal.dot(point - origin).powi(2) + 0.5 * point.z * point.z;
        assert!((two.at(point) - expected).abs() < 1e-14);
        assert_eq!(
            one.at(origin + DVec3::new(2.0, -1.0, 0.0)).to_bits() >> 63,
            0
        );
    }
}
