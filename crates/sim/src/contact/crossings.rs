//! Ray test of whether a skin point is really inside another part.
//!
//! Prisms lean where limbs bend, and a point can be in one without being below the skin. A ray from the point along its
//! normal decides: if the point is inside, the ray leaves the skin once more than it enters.

#![allow(clippy::needless_range_loop)]

use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

use super::descent::Stack;
use super::detect::Detector;
use super::fit::Fit;
use super::surface::ContactSurface;
use super::tree::Tree;

/// Smallest magnitude of a direction's components: avoids division by zero.
const MIN_COMPONENT: f32 = 1e-12;

impl Detector {
    /// Number of times the ray from a skin point along its normal leaves the shell of a triangle, minus the number of
    /// times it enters. Triangles at the point do not count.
    pub(super) fn crossings(&self, surface: &ContactSurface, point: u32, triangle: u32) -> i32 {
        dispatch(Ray {
            shells: &surface.shells,
            shell: surface.shell_of(triangle),
            fit: &self.fit,
            tree: &surface.tree,
            skin: &self.skin,
            point,
            from: self.skin(point).to_array(),
            along: self.normals[point as usize].to_array(),
        })
    }
}

/// Counts signed crossings of a ray from a point: exits minus entries.
struct Ray<'a> {
    /// Shell of each point, and the one that counts.
    shells: &'a [u32],
    shell: u32,
    fit: &'a Fit,
    tree: &'a Tree,
    skin: &'a [Row],
    point: u32,
    from: [f32; 3],
    along: [f32; 3],
}

impl Kernel for Ray<'_> {
    type Output = i32;
    #[inline(always)]
    fn run<L: Lanes>(self) -> i32 {
        let (mut from, mut along, mut inverse) =
            ([L::splat(0.0); 3], [L::splat(0.0); 3], [L::splat(0.0); 3]);
        let mut is_up = [true; 3];
        for axis in 0..3 {
            is_up[axis] = self.along[axis] >= 0.0;
            from[axis] = L::splat(self.from[axis]);
            along[axis] = L::splat(self.along[axis]);
            inverse[axis] = L::splat(1.0 / self.along[axis].abs().max(MIN_COMPONENT));
        }
        let mut count = 0;
        let mut stack = Stack::new(self.fit);
        while let Some((level, number)) = stack.pop() {
            let node = &self.fit.levels[level][number as usize];
            let mut mask = hit_boxes(&node.low, &node.high, &from, &inverse, is_up);
            if level > 0 {
                stack.push_children(level, number, mask);
                continue;
            }
            while mask != 0 {
                let leaf = number as usize * LANES + mask.trailing_zeros() as usize;
                mask &= mask - 1;
                let prisms = &self.fit.leaves[leaf];
                let met = hit_boxes(&prisms.low, &prisms.high, &from, &inverse, is_up);
                if met == 0 {
                    continue;
                }
                let index = &self.tree.corners[leaf];
                let mut corners = [from; 3];
                for k in 0..3 {
                    corners[k] = minus(L::gather(self.skin, &index[k]), from);
                }
                let (leaving, entering) = crossed(corners, along);
                let mut crossed = (leaving | entering) & met;
                while crossed != 0 {
                    let lane = crossed.trailing_zeros() as usize;
                    crossed &= crossed - 1;
                    let is_counted = self.shells[index[0][lane] as usize] == self.shell
                        && index.iter().all(|corner| corner[lane] != self.point);
                    if is_counted {
                        count += i32::from(leaving >> lane & 1) - i32::from(entering >> lane & 1);
                    }
                }
            }
        }
        count
    }
}

/// Mask of the boxes that a ray hits.
#[inline(always)]
fn hit_boxes<L: Lanes>(
    low: &[F32x8; 3],
    high: &[F32x8; 3],
    from: &[L; 3],
    inverse: &[L; 3],
    is_up: [bool; 3],
) -> u8 {
    // Negated exit distances; entry distances.
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

/// Masks of the triangles that a ray from the origin leaves and enters through.
#[inline(always)]
fn crossed<L: Lanes>([a, b, c]: [[L; 3]; 3], along: [L; 3]) -> (u8, u8) {
    // NaN is neither above zero nor below.
    let is_above = |x: L| L::splat(f32::from_bits(1)).le_mask(x);
    let is_below = |x: L| x.le_mask(L::splat(0.0));
    let volumes = [
        dot(along, cross(a, b)),
        dot(along, cross(b, c)),
        dot(along, cross(c, a)),
    ];
    let normal = cross(minus(b, a), minus(c, a));
    // The plane is hit ahead where both have the same sign.
    let is_ahead = is_above(dot(normal, a) * dot(normal, along));
    let (mut leaving, mut entering) = (is_ahead, is_ahead);
    for i in 0..3 {
        leaving &= is_above(volumes[i]);
        entering &= is_below(volumes[i]);
    }
    (leaving, entering)
}

#[inline(always)]
pub fn minus<L: Lanes>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// a × b without fused operations: b × a is the exact opposite, so that no ray slips between two triangles.
#[inline(always)]
fn cross<L: Lanes>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
fn dot<L: Lanes>(a: [L; 3], b: [L; 3]) -> L {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
