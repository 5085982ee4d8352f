//! Initial guess of a step: every free vertex moves rigidly with the fixed vertices that carry it.
//!
//! Started from the inertial prediction alone, the skin of a fast limb stays behind, and elements are inverted before the
//! first iteration. The global step is exact for given projections, so the guess only affects the projected rotations; the
//! minimum of (2.8) is the same.

// Plain loops: iterator adaptors are not always inlined, and code outside the kernel loses its instruction set.
#![allow(clippy::needless_range_loop)]

use glam::Vec3;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

use crate::model::NO_CARRIER;
use crate::{Model, State, Targets};

/// Least cosine of a rotation in one step. A larger rotation is that of a collapsed triangle, not of a limb, unless the
/// triangle keeps its shape: captured limbs flip about their axis in one frame.
const MIN_COSINE: f32 = 0.0;

/// Least cosine of a rotation of a triangle that keeps its shape. One with a corner that crosses the opposite side looks turned
/// by 180°.
const MIN_RIGID_COSINE: f32 = -0.9998;

/// Largest change of a triangle that keeps its shape: of the products of its sides, relative to the larger square. At 0.9
/// collapsed triangles are taken for limbs: a shin of captured motion loses a third of its section.
const MAX_CHANGE: f32 = 0.1;

/// Largest motion of a vertex relative to its carriers in one step, relative to its distance from them. Without a limit a
/// velocity kept through a teleport inverts tissue; jiggle stays below 0.1.
const MAX_RELATIVE_MOTION: f32 = 0.5;

/// Shortest vector with a direction: the square of a shorter one underflows.
const MIN_LENGTH: f32 = 1e-18;

/// Positions of free vertices after a step of `h` seconds (0: without inertia) if they keep their velocities relative to
/// their carriers \[m\]. Rows of `starts` (one per vertex) without a carrier are left unchanged.
///
/// The relative velocity matters: ten iterations remove only half of the initial error, so leaving it out would damp motion.
pub fn carried(
    model: &Model,
    targets: &Targets,
    state: &State,
    vertices: &[u32],
    h: f32,
    starts: &mut [Row],
) {
    dispatch(Carried {
        model,
        targets,
        state,
        vertices,
        h,
        starts,
    });
}

struct Carried<'a> {
    model: &'a Model,
    targets: &'a Targets,
    state: &'a State,
    vertices: &'a [u32],
    h: f32,
    starts: &'a mut [Row],
}

impl Kernel for Carried<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let frames = self.model.carrier_frames();
        for (vertices, starts) in self
            .vertices
            .chunks(LANES)
            .zip(self.starts.chunks_mut(LANES))
        {
            // Unused lanes and lanes without carriers hold arbitrary values and are not written.
            let mut ids = [vertices[0] as usize; LANES];
            let mut corners = [[0; LANES]; 3];
            let mut is_carried = [false; LANES];
            for (lane, &v) in vertices.iter().enumerate() {
                ids[lane] = v as usize;
                let frame = frames[v as usize];
                is_carried[lane] = frame[0] != NO_CARRIER;
                for k in 0..3 {
                    corners[k][lane] = if is_carried[lane] {
                        frame[k] as usize
                    } else {
                        0
                    };
                }
            }
            if is_carried == [false; LANES] {
                continue;
            }
            let found = carried_lanes::<L>(self.state, self.targets, &ids, &corners, self.h);
            let [x, y, z] = [found[0].store().0, found[1].store().0, found[2].store().0];
            for (lane, start) in starts.iter_mut().enumerate() {
                if is_carried[lane] {
                    *start = Row::new([x[lane], y[lane], z[lane]]);
                }
            }
        }
    }
}

type Vector<L> = [L; 3];

#[inline(always)]
fn carried_lanes<L: Lanes>(
    state: &State,
    targets: &Targets,
    ids: &[usize; LANES],
    corners: &[[usize; LANES]; 3],
    h: f32,
) -> Vector<L> {
    let now = triangle::<L>(&state.fixed, corners);
    let next = triangle::<L>(&targets.fixed, corners);
    let mut offset = minus(read::<L>(&state.positions, ids), now[0]);
    if h > 0.0 {
        let before = triangle::<L>(&state.fixed_previous, corners);
        let rigid = minus(
            plus(minus(now[0], before[0]), offset),
            turned(&now, &before, offset),
        );
        let velocities = read::<L>(&state.velocities, ids);
        let own = minus(times(velocities, L::splat(h)), rigid);
        let most = L::splat(MAX_RELATIVE_MOTION) * dot(offset, offset).sqrt();
        let length = dot(own, own).sqrt();
        let kept = most / length.max(most).max(L::splat(MIN_LENGTH));
        offset = plus(offset, times(own, kept));
    }
    plus(next[0], turned(&now, &next, offset))
}

/// A vector rotated like a triangle from `before` to `after`. It is unchanged if the triangles are equal, one is degenerate,
/// or the rotation is too large for one step.
#[inline(always)]
fn turned<L: Lanes>(
    before: &[Vector<L>; 3],
    after: &[Vector<L>; 3],
    vector: Vector<L>,
) -> Vector<L> {
    let (from, to) = (frame(before), frame(after));
    // The trace of the rotation `to fromᵀ`, which is not formed.
    let trace = dot(from.x, to.x) + dot(from.y, to.y) + dot(from.z, to.z);
    let [x, y, z] = [
        dot(from.x, vector),
        dot(from.y, vector),
        dot(from.z, vector),
    ];
    let turned = plus(plus(times(to.x, x), times(to.y, y)), times(to.z, z));
    let mut change = L::splat(0.0);
    for k in 0..3 {
        let moved = minus(after[k], before[k]);
        change = change + (moved[0].abs() + moved[1].abs() + moved[2].abs());
    }
    let is_limb = L::splat(2.0 * MIN_COSINE + 1.0).le_mask(trace)
        | (L::splat(2.0 * MIN_RIGID_COSINE + 1.0).le_mask(trace) & congruent(before, after));
    let is_still = change.le_mask(L::splat(0.0));
    choose(
        is_limb & from.is_valid & to.is_valid & !is_still,
        turned,
        vector,
    )
}

/// Lanes in which two triangles have the same shape.
#[inline(always)]
fn congruent<L: Lanes>(before: &[Vector<L>; 3], after: &[Vector<L>; 3]) -> u8 {
    let products = |t: &[Vector<L>; 3]| {
        let (b, c) = (minus(t[1], t[0]), minus(t[2], t[0]));
        [dot(b, b), dot(c, c), dot(b, c)]
    };
    let (from, to) = (products(before), products(after));
    let most = from[0].max(from[1]) * L::splat(MAX_CHANGE);
    let mut change = L::splat(0.0);
    for k in 0..3 {
        change = change.max((to[k] - from[k]).abs());
    }
    change.le_mask(most)
}

/// `a` in the lanes of the mask, `b` in the others.
#[inline(always)]
fn choose<L: Lanes>(mask: u8, a: Vector<L>, b: Vector<L>) -> Vector<L> {
    if mask == u8::MAX {
        return a;
    }
    let mut o = b;
    for i in 0..3 {
        let (a, mut mixed) = (a[i].store(), b[i].store());
        for lane in 0..LANES {
            if mask >> lane & 1 == 1 {
                mixed.0[lane] = a.0[lane];
            }
        }
        o[i] = L::load(&mixed);
    }
    o
}

/// Orthonormal axes of eight triangles: their first edge and their normal.
struct Frame<L> {
    x: Vector<L>,
    y: Vector<L>,
    z: Vector<L>,
    /// Lanes whose triangle is not degenerate.
    is_valid: u8,
}

#[inline(always)]
fn frame<L: Lanes>(&[a, b, c]: &[Vector<L>; 3]) -> Frame<L> {
    let edge = minus(b, a);
    let normal = cross(edge, minus(c, a));
    let (edge_length, area) = (dot(edge, edge).sqrt(), dot(normal, normal).sqrt());
    let least = L::splat(MIN_LENGTH);
    let x = times(edge, L::splat(1.0) / edge_length.max(least));
    let z = times(normal, L::splat(1.0) / area.max(least));
    Frame {
        x,
        y: cross(z, x),
        z,
        is_valid: least.le_mask(edge_length) & least.le_mask(area),
    }
}

/// Eight vectors of a list.
#[inline(always)]
fn read<L: Lanes>(list: &[Vec3], index: &[usize; LANES]) -> Vector<L> {
    let mut o = [F32x8::default(); 3];
    for lane in 0..LANES {
        let p = list[index[lane]];
        o[0].0[lane] = p.x;
        o[1].0[lane] = p.y;
        o[2].0[lane] = p.z;
    }
    [L::load(&o[0]), L::load(&o[1]), L::load(&o[2])]
}

#[inline(always)]
fn triangle<L: Lanes>(list: &[Vec3], corners: &[[usize; LANES]; 3]) -> [Vector<L>; 3] {
    [
        read(list, &corners[0]),
        read(list, &corners[1]),
        read(list, &corners[2]),
    ]
}

#[inline(always)]
fn plus<L: Lanes>(a: Vector<L>, b: Vector<L>) -> Vector<L> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn minus<L: Lanes>(a: Vector<L>, b: Vector<L>) -> Vector<L> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn times<L: Lanes>(a: Vector<L>, s: L) -> Vector<L> {
    [a[0] * s, a[1] * s, a[2] * s]
}

#[inline(always)]
fn dot<L: Lanes>(a: Vector<L>, b: Vector<L>) -> L {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

#[inline(always)]
fn cross<L: Lanes>(a: Vector<L>, b: Vector<L>) -> Vector<L> {
    [
        a[1].mul_sub(b[2], a[2] * b[1]),
        a[2].mul_sub(b[0], a[0] * b[2]),
        a[0].mul_sub(b[1], a[1] * b[0]),
    ]
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    const TRIANGLE: [Vec3; 3] = [
        Vec3::new(0.1, 0.2, 0.3),
        Vec3::new(0.5, 0.1, 0.2),
        Vec3::new(0.2, 0.6, 0.1),
    ];

    fn turned_once(before: [Vec3; 3], after: [Vec3; 3], vector: Vec3) -> Vec3 {
        let lanes = |v: Vec3| v.to_array().map(F32x8::splat);
        let found = turned(&before.map(lanes), &after.map(lanes), lanes(vector));
        Vec3::from(found.map(|c| c.0[0]))
    }

    #[test]
    fn a_rigid_motion_is_found() {
        let motion = Quat::from_axis_angle(Vec3::new(1.0, -2.0, 0.5).normalize(), 1.2);
        let moved = TRIANGLE.map(|p| motion * p + Vec3::X);
        let vector = Vec3::new(0.4, -0.3, 0.8);
        let found = turned_once(TRIANGLE, moved, vector);
        assert!(found.abs_diff_eq(motion * vector, 1e-6));
    }

    #[test]
    fn a_triangle_that_keeps_its_shape_turns_by_any_angle() {
        for angle in [1.7, 2.6, 3.08] {
            let motion = Quat::from_axis_angle(Vec3::new(1.0, -2.0, 0.5).normalize(), angle);
            let vector = Vec3::new(0.4, -0.3, 0.8);
            let moved = TRIANGLE.map(|p| motion * p + Vec3::X);
            let found = turned_once(TRIANGLE, moved, vector);
            assert!(found.abs_diff_eq(motion * vector, 1e-6), "{angle}");
            let stretched = TRIANGLE.map(|p| motion * (p * Vec3::new(1.0, 1.5, 1.0)));
            assert_eq!(turned_once(TRIANGLE, stretched, vector), vector, "{angle}");
        }
    }

    #[test]
    fn degenerate_flipped_and_resting_triangles_do_not_rotate() {
        let triangle = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let others = [
            [Vec3::ZERO, Vec3::X, Vec3::X],
            [Vec3::ZERO, Vec3::ZERO, Vec3::X],
            [Vec3::ZERO, Vec3::X, -Vec3::Y],
            triangle,
        ];
        for other in others {
            assert_eq!(turned_once(triangle, other, Vec3::Z), Vec3::Z);
        }
        let still = turned_once(TRIANGLE, TRIANGLE, Vec3::new(0.1, 0.7, 0.3));
        assert_eq!(still, Vec3::new(0.1, 0.7, 0.3));
    }
}
