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

/// Positions of free vertices after a step of `h` seconds (0: without inertia) \[m\]: in `rigid` if they move rigidly with
/// their carriers, in `moving` if they also keep their velocities relative to them. Rows (one per vertex) of vertices
/// without a carrier are left unchanged.
///
/// The relative velocity matters: ten iterations remove only half of the initial error, so leaving it out would damp motion.
pub fn carried(
    model: &Model,
    targets: &Targets,
    state: &State,
    vertices: &[u32],
    h: f32,
    rigid: &mut [Row],
    moving: &mut [Row],
) {
    dispatch(CarriedKernel {
        model,
        targets,
        state,
        vertices,
        h,
        rigid,
        moving,
    });
}

struct CarriedKernel<'a> {
    model: &'a Model,
    targets: &'a Targets,
    state: &'a State,
    vertices: &'a [u32],
    h: f32,
    rigid: &'a mut [Row],
    moving: &'a mut [Row],
}

impl Kernel for CarriedKernel<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let rows = self.rigid.chunks_mut(LANES);
        let rows = rows.zip(self.moving.chunks_mut(LANES));
        for (vertices, (rigid, moving)) in self.vertices.chunks(LANES).zip(rows) {
            let eight = Eight::new(self.model, vertices);
            if eight.is_carried == [false; LANES] {
                continue;
            }
            let positions = read::<L>(&self.state.positions, &eight.ids);
            let velocities = read::<L>(&self.state.velocities, &eight.ids);
            let own = times(velocities, L::splat(self.h));
            let found = Carried::new(&eight, self.state, self.targets, positions, own, self.h);
            let (to_rigid, to_moving) = (L::rows(found.rigid), L::rows(found.moving));
            for lane in 0..vertices.len() {
                if eight.is_carried[lane] {
                    rigid[lane] = to_rigid[lane];
                    moving[lane] = to_moving[lane];
                }
            }
        }
    }
}

/// Up to eight free vertices and the triangles that carry them. Unused lanes and lanes without carriers hold the first
/// vertex and fixed vertex 0; what is computed there means nothing.
pub(crate) struct Eight {
    pub ids: [usize; LANES],
    corners: [[usize; LANES]; 3],
    pub is_carried: [bool; LANES],
}

impl Eight {
    #[inline(always)]
    pub fn new(model: &Model, vertices: &[u32]) -> Eight {
        let frames = model.carrier_frames();
        let mut eight = Eight {
            ids: [vertices[0] as usize; LANES],
            corners: [[0; LANES]; 3],
            is_carried: [false; LANES],
        };
        for (lane, &v) in vertices.iter().enumerate() {
            eight.ids[lane] = v as usize;
            let frame = frames[v as usize];
            eight.is_carried[lane] = frame[0] != NO_CARRIER;
            for k in 0..3 {
                eight.corners[k][lane] = if eight.is_carried[lane] {
                    frame[k] as usize
                } else {
                    0
                };
            }
        }
        eight
    }
}

pub(crate) type Vector<L> = [L; 3];

/// Positions of eight vertices after a step, as by [`carried`].
pub(crate) struct Carried<L> {
    /// Moved rigidly with their carriers.
    pub rigid: Vector<L>,
    /// With the velocities relative to them.
    pub moving: Vector<L>,
}

impl<L: Lanes> Carried<L> {
    /// From their positions and their motion `own` in a step of `h` seconds without carriers \[m\].
    #[inline(always)]
    pub fn new(
        eight: &Eight,
        state: &State,
        targets: &Targets,
        positions: Vector<L>,
        own: Vector<L>,
        h: f32,
    ) -> Carried<L> {
        let corners = &eight.corners;
        let now = triangle::<L>(&state.fixed, corners);
        let next = triangle::<L>(&targets.fixed, corners);
        let turn = Turn::new(&now, &next);
        let offset = minus(positions, now[0]);
        let rigid = plus(next[0], turn.of(offset));
        if h <= 0.0 {
            return Carried {
                rigid,
                moving: rigid,
            };
        }
        let before = triangle::<L>(&state.fixed_previous, corners);
        let last = minus(
            plus(minus(now[0], before[0]), offset),
            Turn::new(&now, &before).of(offset),
        );
        let own = minus(own, last);
        let most = L::splat(MAX_RELATIVE_MOTION) * dot(offset, offset).sqrt();
        let length = dot(own, own).sqrt();
        let kept = most / length.max(most).max(L::splat(MIN_LENGTH));
        let offset = plus(offset, times(own, kept));
        Carried {
            rigid,
            moving: plus(next[0], turn.of(offset)),
        }
    }
}

/// Rotation of eight triangles between two positions. It is none if the triangles are equal, one is degenerate, or the
/// rotation is too large for one step.
struct Turn<L> {
    from: Frame<L>,
    to: Frame<L>,
    /// Lanes that rotate.
    mask: u8,
}

impl<L: Lanes> Turn<L> {
    #[inline(always)]
    fn new(before: &[Vector<L>; 3], after: &[Vector<L>; 3]) -> Turn<L> {
        let (from, to) = (frame(before), frame(after));
        // The trace of the rotation `to fromᵀ`, which is not formed.
        let trace = dot(from.x, to.x) + dot(from.y, to.y) + dot(from.z, to.z);
        let mut change = L::splat(0.0);
        for k in 0..3 {
            let moved = minus(after[k], before[k]);
            change = change + (moved[0].abs() + moved[1].abs() + moved[2].abs());
        }
        let is_still = change.le_mask(L::splat(0.0));
        let is_valid = from.is_valid & to.is_valid & !is_still;
        let mut is_limb = L::splat(2.0 * MIN_COSINE + 1.0).le_mask(trace);
        // Rotations that large are rare.
        if is_valid & !is_limb != 0 {
            is_limb |=
                L::splat(2.0 * MIN_RIGID_COSINE + 1.0).le_mask(trace) & congruent(before, after);
        }
        Turn {
            mask: is_limb & is_valid,
            from,
            to,
        }
    }

    /// The rotated vectors.
    #[inline(always)]
    fn of(&self, vector: Vector<L>) -> Vector<L> {
        if self.mask == 0 {
            return vector;
        }
        let (from, to) = (&self.from, &self.to);
        let [x, y, z] = [
            dot(from.x, vector),
            dot(from.y, vector),
            dot(from.z, vector),
        ];
        let turned = plus(plus(times(to.x, x), times(to.y, y)), times(to.z, z));
        choose(self.mask, turned, vector)
    }
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
pub(crate) fn read<L: Lanes>(list: &[Vec3], index: &[usize; LANES]) -> Vector<L> {
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
pub(crate) fn plus<L: Lanes>(a: Vector<L>, b: Vector<L>) -> Vector<L> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn minus<L: Lanes>(a: Vector<L>, b: Vector<L>) -> Vector<L> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn times<L: Lanes>(a: Vector<L>, s: L) -> Vector<L> {
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
        let found = Turn::new(&before.map(lanes), &after.map(lanes)).of(lanes(vector));
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
