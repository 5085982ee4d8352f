//! Whether a skin point is really inside another part.
//!
//! Prisms lean over where limbs bend, and points can be in one without being below skin. A ray from the point, away from its own
//! flesh, tells: it leaves the skin once more than it enters it where the point is inside.

#![allow(clippy::needless_range_loop)]

use glam::Vec3A;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, dispatch};

use super::descent::Stack;
use super::detect::Detector;
use super::fit::Fit;
use super::surface::ContactSurface;
use super::tree::NONE;

/// Parts of a direction below this count as this: boxes are then met far away, and nothing is divided by zero.
const LEAST: f32 = 1e-12;

impl Detector {
    /// How often the ray from a skin point along its normal leaves the skin, less how often it enters; triangles at the point
    /// do not count.
    pub(super) fn crossings(&self, surface: &ContactSurface, point: u32) -> i32 {
        let (from, along) = (self.skin(point), self.normals[point as usize]);
        let mut count = 0;
        dispatch(Ray {
            fit: &self.fit,
            from: from.to_array(),
            along: along.to_array(),
            met: |number: usize| {
                let triangle = surface.tree.order[number];
                if triangle == NONE {
                    return;
                }
                let corners = surface.triangles()[triangle as usize];
                if !corners.contains(&point) {
                    count += crossing(corners.map(|v| self.skin(v) - from), along);
                }
            },
        });
        count
    }
}

/// Calls `met` with numbers of prisms in the order of the tree whose boxes a ray meets.
struct Ray<'a, F> {
    fit: &'a Fit,
    from: [f32; 3],
    along: [f32; 3],
    met: F,
}

impl<F: FnMut(usize)> Kernel for Ray<'_, F> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let (mut from, mut inverse) = ([L::splat(0.0); 3], [L::splat(0.0); 3]);
        let mut is_up = [true; 3];
        for axis in 0..3 {
            is_up[axis] = self.along[axis] >= 0.0;
            from[axis] = L::splat(self.from[axis]);
            inverse[axis] = L::splat(1.0 / self.along[axis].abs().max(LEAST));
        }
        let mut stack = Stack::new(self.fit);
        while let Some((level, number)) = stack.pop() {
            let node = &self.fit.levels[level][number as usize];
            let mut mask = meets(&node.low, &node.high, &from, &inverse, is_up);
            if level > 0 {
                stack.push_children(level, number, mask);
                continue;
            }
            while mask != 0 {
                let leaf = number as usize * LANES + mask.trailing_zeros() as usize;
                mask &= mask - 1;
                let prisms = &self.fit.leaves[leaf];
                let mut mask = meets(&prisms.low, &prisms.high, &from, &inverse, is_up);
                while mask != 0 {
                    (self.met)(leaf * LANES + mask.trailing_zeros() as usize);
                    mask &= mask - 1;
                }
            }
        }
    }
}

/// Which of eight boxes a ray meets.
#[inline(always)]
fn meets<L: Lanes>(
    low: &[F32x8; 3],
    high: &[F32x8; 3],
    from: &[L; 3],
    inverse: &[L; 3],
    is_up: [bool; 3],
) -> u8 {
    // Negated: how far away boxes end; how far they begin.
    let (mut near, mut far) = (L::splat(0.0), L::splat(f32::NEG_INFINITY));
    for axis in 0..3 {
        let below = -L::load(&low[axis]) - from[axis];
        let above = L::load(&high[axis]) - from[axis];
        let (begin, end) = match is_up[axis] {
            true => (below, -above),
            false => (-above, below),
        };
        near = near.max(begin * inverse[axis]);
        far = far.max(end * inverse[axis]);
    }
    near.le_mask(-far)
}

/// 1 where a ray from the origin leaves through a triangle, −1 where it enters, 0 where it misses.
fn crossing([a, b, c]: [Vec3A; 3], along: Vec3A) -> i32 {
    let volumes = [
        along.dot(a.cross(b)),
        along.dot(b.cross(c)),
        along.dot(c.cross(a)),
    ];
    let is_leaving = volumes.iter().all(|&v| v > 0.0);
    let is_entering = volumes.iter().all(|&v| v <= 0.0);
    let normal = (b - a).cross(c - a);
    // The plane is met ahead where both have the same sign.
    let is_ahead = normal.dot(a) * normal.dot(along) > 0.0;
    match (is_leaving && is_ahead, is_entering && is_ahead) {
        (true, _) => 1,
        (_, true) => -1,
        _ => 0,
    }
}
