//! Proximity tests, eight at a time: points against leaves of the tree, points against prisms, boxes of points against
//! nodes.

// Plain loops: iterator adaptors are not always inlined, and code that is not inlined loses the kernel's instruction
// set. Comparisons are negated so that NaN counts as close.
#![allow(clippy::needless_range_loop, clippy::neg_cmp_op_on_partial_ord)]

use supple_geom::simd::{F32x8, LANES, Lanes};

use super::fit::{Fit, Leaf, Slab, Wide, dot};
use super::rules;

/// Margin of the cosine beyond [`rules::FACING_COSINE`] above which a pair is skipped until it has turned that far.
pub const TURN_MARGIN: f32 = 0.1;
/// Margin for rounding: points this far outside a prism still get the exact test, so that none falls between two prisms
/// \[margins\].
pub const ROUNDING: f32 = 0.006;
/// Rounding error of cosines.
pub const COSINE_ROUNDING: f32 = 1e-5;

/// A point in eight lanes, or eight points.
#[derive(Clone, Copy)]
struct Probe<L> {
    at: [L; 3],
    /// Negative part of the normal by axis, and negated positive part.
    down: [L; 3],
    up: [L; 3],
}

/// Tests those of eight points that the mask `awake` names against the prisms of a leaf, and calls `found` with indices
/// of points and prisms; `near` masks prisms to leave out for a point. Returns each point's distance to the prisms that
/// face it \[m\], and whether a prism was skipped because it faces the same way.
#[inline(always)]
pub fn test_leaf<L: Lanes>(
    fit: &Fit,
    leaf: usize,
    (places, normals): (&[F32x8; 3], &[F32x8; 3]),
    awake: u8,
    margin: f32,
    near: impl Fn(usize) -> u8,
    mut found: impl FnMut(usize, usize),
) -> (F32x8, bool) {
    let eight = probe::<L>(places, normals);
    let node = &fit.levels[0][leaf / LANES];
    let (out, close, facing) =
        close_points::<L>(node, leaf % LANES, &fit.slabs[leaf], &eight, margin);
    let mut distances = out.store();
    let mut is_turned = awake & close & !facing != 0;
    let mut left = awake & close;
    while left != 0 {
        let i = left.trailing_zeros() as usize;
        left &= left - 1;
        if facing >> i & 1 == 0 {
            distances.0[i] = f32::INFINITY;
            continue;
        }
        let (mut at, mut normal) = ([out; 3], [out; 3]);
        for axis in 0..3 {
            at[axis] = L::splat(places[axis].0[i]);
            normal[axis] = L::splat(normals[axis].0[i]);
        }
        let (mut prisms, distance, turned) =
            close_prisms::<L>(&fit.leaves[leaf], &at, &normal, margin, || near(i));
        distances.0[i] = distance;
        is_turned |= turned;
        while prisms != 0 {
            found(i, prisms.trailing_zeros() as usize);
            prisms &= prisms - 1;
        }
    }
    (distances, is_turned)
}

#[inline(always)]
fn probe<L: Lanes>(at: &[F32x8; 3], normal: &[F32x8; 3]) -> Probe<L> {
    let mut probe = Probe {
        at: [L::splat(0.0); 3],
        down: [L::splat(0.0); 3],
        up: [L::splat(0.0); 3],
    };
    for axis in 0..3 {
        let normal = L::load(&normal[axis]);
        probe.at[axis] = L::load(&at[axis]);
        probe.up[axis] = -normal.max(L::splat(0.0));
        probe.down[axis] = -(-normal).max(L::splat(0.0));
    }
    probe
}

/// Distance of the points in the lanes from leaf `lane` of a node \[m\]; masks of those that are close to it, and of
/// those that may face a normal of it.
#[inline(always)]
fn close_points<L: Lanes>(
    node: &Wide,
    lane: usize,
    slab: &Slab,
    probe: &Probe<L>,
    margin: f32,
) -> (L, u8, u8) {
    let [x, y, z] = slab.direction;
    let along = dot([L::splat(x), L::splat(y), L::splat(z)], probe.at);
    let mut out = (along - L::splat(slab.high)).max(-along - L::splat(slab.low));
    // Least product of a normal and an interval: lower end where the normal is positive, upper end elsewhere.
    let mut least = L::splat(0.0);
    for axis in 0..3 {
        let (low, high) = (node.low[axis].0[lane], node.high[axis].0[lane]);
        out = out
            .max(-probe.at[axis] - L::splat(low))
            .max(probe.at[axis] - L::splat(high));
        least = probe.up[axis].mul_add(L::splat(node.low_normal[axis].0[lane]), least);
        least = probe.down[axis].mul_add(L::splat(node.high_normal[axis].0[lane]), least);
    }
    let close = out.le_mask(L::splat(margin));
    (
        out,
        close,
        least.le_mask(L::splat(rules::FACING_COSINE + TURN_MARGIN)),
    )
}

/// Mask of the prisms of a leaf that a point may be in and whose triangles do not face the same way; its distance from
/// these \[m\], and whether some face the same way. Prisms `near` the point on the skin are left out where it matters.
#[inline(always)]
fn close_prisms<L: Lanes>(
    leaf: &Leaf,
    at: &[L; 3],
    normal: &[L; 3],
    margin: f32,
    near: impl Fn() -> u8,
) -> (u8, f32, bool) {
    let mut out = L::splat(f32::NEG_INFINITY);
    let mut cosine = L::splat(0.0);
    for axis in 0..3 {
        out = out
            .max(-at[axis] - L::load(&leaf.low[axis]))
            .max(at[axis] - L::load(&leaf.high[axis]));
        cosine = normal[axis].mul_add(L::load(&leaf.normal[axis]), cosine);
    }
    for plane in &leaf.planes {
        let direction = [L::load(&plane[0]), L::load(&plane[1]), L::load(&plane[2])];
        out = out.max(dot(direction, *at) - L::load(&plane[3]));
    }
    let turned = !cosine.le_mask(L::splat(rules::FACING_COSINE + TURN_MARGIN));
    let found =
        out.le_mask(L::splat(ROUNDING * margin)) & cosine.le_mask(L::splat(rules::FACING_COSINE));
    let out = out.store().0;
    let distance = least(&out, !turned);
    // NaN counts as close.
    if distance > margin {
        return (0, distance, turned != 0);
    }
    let left = !near();
    (found & left, least(&out, !turned & left), turned != 0)
}

/// Least of the masked values; NaN if any is.
#[inline(always)]
pub fn least(values: &[f32; LANES], mut mask: u8) -> f32 {
    if mask == u8::MAX {
        let less = |a: f32, b: f32| if a >= b { b } else { a };
        let [a, b, c, d, e, f, g, h] = *values;
        let (a, b) = (less(less(b, a), less(d, c)), less(less(f, e), less(h, g)));
        return less(b, a);
    }
    let mut least = f32::INFINITY;
    while mask != 0 {
        let value = values[mask.trailing_zeros() as usize];
        mask &= mask - 1;
        if !(value >= least) {
            least = value;
        }
    }
    least
}

/// Mask of the children that points of a packet may enter within `reach`, with normals that may come to oppose each
/// other.
#[inline(always)]
pub fn may_touch<L: Lanes>(
    node: &Wide,
    [low, high, low_normal, high_normal]: &[[L; 3]; 4],
    reach: f32,
) -> u8 {
    let mut apart = L::splat(f32::NEG_INFINITY);
    // Negated least product of two intervals.
    let mut least = L::splat(0.0);
    for axis in 0..3 {
        apart = apart
            .max(-high[axis] - L::load(&node.low[axis]))
            .max(low[axis] - L::load(&node.high[axis]));
        let (down, up) = (
            L::load(&node.low_normal[axis]),
            L::load(&node.high_normal[axis]),
        );
        let a = (down * low_normal[axis]).max(down * high_normal[axis]);
        let b = (-(up * low_normal[axis])).max(-(up * high_normal[axis]));
        least = least + a.max(b);
    }
    apart.le_mask(L::splat(reach)) & L::splat(-rules::FACING_COSINE - TURN_MARGIN).le_mask(least)
}
