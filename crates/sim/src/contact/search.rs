//! Skin points go down the tree, sixteen neighbours at a time.
//!
//! What was far apart takes time to come together: a packet of points and a leaf of prisms that have been looked at are left alone until
//! the ways that both have come since add up to the distance that was between them. The result is that of a full search.

#![allow(clippy::needless_range_loop)]

use glam::Vec3A;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row};

use super::detect::FACING;
use super::fit::{Fit, Leaf, Way, Wide, dot};

/// Points that go down the tree together.
pub const PACKET: usize = 16;
/// Nodes that wait on the way down: seven a level besides the one that is entered.
const STACK: usize = 96;

/// Nodes on the way down a tree.
pub struct Stack {
    nodes: [(u8, u32); STACK],
    count: usize,
}

impl Stack {
    /// At the root.
    #[inline(always)]
    pub fn new(fit: &Fit) -> Stack {
        let mut stack = Stack {
            nodes: [(0, 0); STACK],
            count: 0,
        };
        if !fit.levels.is_empty() {
            stack.push(fit.levels.len() - 1, 0);
        }
        stack
    }

    /// Eleven levels are more prisms than there are numbers for them: there is always room.
    #[inline(always)]
    fn push(&mut self, level: usize, node: u32) {
        self.nodes[self.count] = (level as u8, node);
        self.count += 1;
    }

    /// The next node, and its level.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(usize, u32)> {
        self.count = self.count.checked_sub(1)?;
        let (level, node) = self.nodes[self.count];
        Some((usize::from(level), node))
    }

    /// Children of a node above level 0 that a mask names.
    #[inline(always)]
    pub fn push_children(&mut self, level: usize, node: u32, mut mask: u8) {
        while mask != 0 {
            self.push(level - 1, node * LANES as u32 + mask.trailing_zeros());
            mask &= mask - 1;
        }
    }
}

/// Points that go down together, and what is known of them from one search to the next.
#[derive(Clone, Debug, Default)]
pub struct Packet {
    way: Way,
    /// Leaves whose boxes its own meets, in the order of the walk.
    pairs: Vec<Pair>,
    last: Vec<Pair>,
}

impl Packet {
    /// Everything is looked at again.
    pub fn forget(&mut self) {
        self.pairs.clear();
    }
}

/// A leaf that no point of a packet is in before the sum of both ways reaches this.
#[derive(Clone, Copy, Debug)]
struct Pair {
    leaf: u32,
    until: Way,
}

/// Calls `found` with numbers among `points` and in the tree's order for all points that may be in prisms that do not face
/// the same way; `near` tells which of a leaf to leave out.
pub struct SearchPacket<'a, N, F> {
    pub fit: &'a Fit,
    pub packet: &'a mut Packet,
    pub points: &'a [u32],
    pub skin: &'a [Row],
    pub normals: &'a [Vec3A],
    /// How far each point (second number) and its normal (third) have come since the last search.
    pub steps: &'a [Row],
    /// Points farther from a leaf than this are not looked for in its prisms \[m\].
    pub margin: f32,
    pub near: N,
    pub found: F,
}

/// Cosine beyond [`FACING`] from which on a pair is left alone for that.
const TURN: f32 = 0.1;
/// Points this far outside of a prism are left to the exact test: those on a border are in one of both prisms \[m\].
const ROUNDING: f32 = 1e-5;

/// A point as eight lanes, or eight points.
#[derive(Clone, Copy)]
struct Probe<L> {
    at: [L; 3],
    /// The normal where it is negative, by axis, and minus it where it is positive.
    down: [L; 3],
    up: [L; 3],
}

/// Makes any length beyond rounding a large one.
const FAR: f32 = 1e9;

/// What holds points and prisms apart: least distance, and least cosine beyond [`FACING`], each of those that are held by it.
#[derive(Clone, Copy)]
struct Clearance {
    distance: f32,
    turn: f32,
}

impl Clearance {
    #[inline(always)]
    fn hold_apart<L: Lanes>(&mut self, distances: L) {
        let mut least = self.distance;
        for distance in distances.store().0 {
            least = if distance < least { distance } else { least };
        }
        self.distance = least;
    }
}

impl<N: Fn(usize, u32) -> u8, F: FnMut(usize, usize)> Kernel for SearchPacket<'_, N, F> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let (mut low, mut high) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let (mut low_normal, mut high_normal) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let count = self.points.len().min(PACKET);
        let mut places = [[F32x8::default(); 3]; PACKET / LANES];
        let mut normals = [[F32x8::default(); 3]; PACKET / LANES];
        let mut step = [0.0_f32; 2];
        for i in 0..PACKET {
            // The last point fills up.
            let v = self.points[i.min(count - 1)] as usize;
            let at = Vec3A::from_slice(&self.skin[v].0[..3]);
            let normal = self.normals[v];
            low = low.min(at);
            high = high.max(at);
            low_normal = low_normal.min(normal);
            high_normal = high_normal.max(normal);
            for axis in 0..3 {
                places[i / LANES][axis].0[i % LANES] = at[axis];
                normals[i / LANES][axis].0[i % LANES] = normal[axis];
            }
            let [_, moved, turned, _] = self.steps[v].0;
            // A comparison with what is not a number is false: it is kept.
            step[0] = if moved <= step[0] { step[0] } else { moved };
            step[1] = if turned <= step[1] { step[1] } else { turned };
        }
        self.packet.way.add(step[0], step[1]);
        let Packet { way, pairs, last } = &mut *self.packet;
        std::mem::swap(pairs, last);
        pairs.clear();
        let mut at_last = 0;
        let splat = |v: Vec3A| {
            let [x, y, z] = v.to_array();
            [L::splat(x), L::splat(y), L::splat(z)]
        };
        let packet = [low, high, low_normal, high_normal].map(splat);
        let mut stack = Stack::new(self.fit);
        while let Some((level, number)) = stack.pop() {
            let node = &self.fit.levels[level][number as usize];
            let mut touched = may_touch::<L>(node, &packet);
            if level > 0 {
                stack.push_children(level, number, touched);
                continue;
            }
            while touched != 0 {
                // Leaves are met in descending order, as nodes are.
                let lane = 7 - touched.leading_zeros() as usize;
                touched &= !(1 << lane);
                let leaf = number * LANES as u32 + lane as u32;
                while last.get(at_last).is_some_and(|pair| pair.leaf > leaf) {
                    at_last += 1;
                }
                let other = &self.fit.ways[leaf as usize];
                let sum = Way {
                    path: way.path + other.path,
                    turn: way.turn + other.turn,
                };
                if let Some(pair) = last.get(at_last).filter(|pair| pair.leaf == leaf)
                    && sum.path < pair.until.path
                    && sum.turn < pair.until.turn
                {
                    pairs.push(*pair);
                    continue;
                }
                let mut clearance = Clearance {
                    distance: f32::INFINITY,
                    turn: f32::INFINITY,
                };
                for half in 0..count.div_ceil(LANES) {
                    let eight = probe::<L>(&places[half], &normals[half]);
                    let mut close =
                        close_points::<L>(node, lane, &eight, self.margin, &mut clearance);
                    while close != 0 {
                        let i = close.trailing_zeros() as usize;
                        close &= close - 1;
                        if half * LANES + i >= count {
                            continue;
                        }
                        let one = [0, 1, 2].map(|a| F32x8([places[half][a].0[i]; LANES]));
                        let normal = [0, 1, 2].map(|a| F32x8([normals[half][a].0[i]; LANES]));
                        let mut prisms = close_prisms::<L>(
                            &self.fit.leaves[leaf as usize],
                            &probe::<L>(&one, &normal),
                            &mut clearance,
                            || (self.near)(half * LANES + i, leaf),
                        );
                        while prisms != 0 {
                            let prism = prisms.trailing_zeros() as usize;
                            prisms &= prisms - 1;
                            (self.found)(half * LANES + i, leaf as usize * LANES + prism);
                        }
                    }
                }
                pairs.push(Pair {
                    leaf,
                    until: Way {
                        path: sum.path + f64::from(clearance.distance - 2.0 * ROUNDING),
                        turn: sum.turn + f64::from(clearance.turn - ROUNDING),
                    },
                });
            }
        }
    }
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

/// Points in the lanes that may be in a leaf, child `lane` of a node; the others count for the clearance.
#[inline(always)]
fn close_points<L: Lanes>(
    node: &Wide,
    lane: usize,
    probe: &Probe<L>,
    margin: f32,
    clearance: &mut Clearance,
) -> u8 {
    let mut out = L::splat(f32::NEG_INFINITY);
    // Least product of a normal and an interval: with its lower end where it is positive, with its upper one elsewhere.
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
    let facing = least.le_mask(L::splat(FACING + TURN));
    if close != u8::MAX {
        // Those that are close are not held apart by their distance.
        let beyond = (L::splat(margin) - out).max(L::splat(0.0));
        clearance.hold_apart(beyond.mul_add(L::splat(FAR), out));
    }
    if close & !facing != 0 {
        clearance.turn = clearance.turn.min(TURN);
    }
    close & facing
}

/// Prisms of a leaf that a point may be in, and whose triangles do not face the same way; the others count for the clearance.
#[inline(always)]
fn close_prisms<L: Lanes>(
    leaf: &Leaf,
    probe: &Probe<L>,
    clearance: &mut Clearance,
    near: impl Fn() -> u8,
) -> u8 {
    let mut out = L::splat(f32::NEG_INFINITY);
    let mut cosine = L::splat(0.0);
    for axis in 0..3 {
        out = out
            .max(-probe.at[axis] - L::load(&leaf.low[axis]))
            .max(probe.at[axis] - L::load(&leaf.high[axis]));
        let normal = probe.down[axis] - probe.up[axis];
        cosine = normal.mul_add(L::load(&leaf.normal[axis]), cosine);
    }
    for plane in &leaf.planes {
        let direction = [L::load(&plane[0]), L::load(&plane[1]), L::load(&plane[2])];
        out = out.max(dot(direction, probe.at) - L::load(&plane[3]));
    }
    let mut found = out.le_mask(L::splat(ROUNDING)) & cosine.le_mask(L::splat(FACING));
    // Those that face the same way are not held apart by their distance.
    let turned = (cosine - L::splat(FACING + TURN)).max(L::splat(0.0));
    let apart = turned.mul_add(L::splat(FAR), out);
    let mut closer = apart.le_mask(L::splat(clearance.distance)) | found;
    if closer != 0 {
        let near = near();
        found &= !near;
        closer &= !near;
        let apart = apart.store().0;
        while closer != 0 {
            let lane = closer.trailing_zeros() as usize;
            closer &= closer - 1;
            clearance.distance = clearance.distance.min(apart[lane]);
        }
    }
    if !cosine.le_mask(L::splat(FACING + TURN)) != 0 {
        clearance.turn = clearance.turn.min(TURN);
    }
    found
}

/// Children that points of a packet may be in while normals may oppose each other.
#[inline(always)]
fn may_touch<L: Lanes>(node: &Wide, [low, high, low_normal, high_normal]: &[[L; 3]; 4]) -> u8 {
    let mut apart = L::splat(f32::NEG_INFINITY);
    // The least product of two intervals, negated.
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
    apart.le_mask(L::splat(ROUNDING)) & L::splat(-FACING).le_mask(least)
}

#[cfg(test)]
mod tests {
    use crate::contact::{ContactSurface, Detector, Filter, Found, Source, SurfaceInput};
    use glam::Vec3;

    const SIDE: usize = 15;

    /// Two sheets that face each other, a layer of flesh behind each.
    fn sheets() -> ContactSurface {
        let mut input = SurfaceInput::default();
        for sheet in 0..2 {
            let (height, down) = if sheet == 0 {
                (0.0, -0.04)
            } else {
                (0.1, 0.04)
            };
            let first = (sheet * SIDE * SIDE) as u32;
            for i in 0..SIDE * SIDE {
                let (x, y) = ((i % SIDE) as f32 * 0.02, (i / SIDE) as f32 * 0.02);
                input.skin.push(Vec3::new(x, y, height));
                input.bases.push(Vec3::new(x, y, height + down));
                input.sources.push(Source::Vertex(first + i as u32));
            }
            for y in 0..SIDE - 1 {
                for x in 0..SIDE - 1 {
                    let a = first + (y * SIDE + x) as u32;
                    let [b, c, d] = [a + 1, a + SIDE as u32, a + SIDE as u32 + 1];
                    for [p, q, r] in [[a, b, d], [a, d, c]] {
                        (input.triangles).push(if sheet == 0 { [p, q, r] } else { [p, r, q] });
                    }
                }
            }
        }
        let n = input.skin.len() as u32;
        for (t, &[a, b, c]) in input.triangles.iter().enumerate() {
            for tet in [
                [a, b, c, c + n],
                [a, b, c + n, b + n],
                [a, b + n, c + n, a + n],
            ] {
                let corner = |v: u32| match v < n {
                    true => input.skin[v as usize],
                    false => input.bases[(v - n) as usize],
                };
                let [p, q, r, s] = tet.map(corner);
                let is_right = (q - p).dot((r - p).cross(s - p)) > 0.0;
                let tet = if is_right {
                    tet
                } else {
                    [tet[1], tet[0], tet[2], tet[3]]
                };
                input.tets.push((tet, t as u32));
            }
        }
        ContactSurface::new(input)
    }

    /// The upper sheet comes down fast, presses, waves and goes; the lower one trembles; both run away together.
    fn moved(rest: Vec3, is_upper: bool, step: usize) -> Vec3 {
        let t = step as f32 / 40.0;
        let wave = 0.01 * (9.0 * rest.x + 7.0 * t).sin() * (8.0 * rest.y).cos();
        let depth = 0.105 * (std::f32::consts::PI * t).sin();
        let run = Vec3::new(0.3 * t, 0.1 * t, 0.0);
        match is_upper {
            true => rest + run + Vec3::Z * (wave - depth),
            false => rest + run + Vec3::Z * (0.0002 * (40.0 * t + 50.0 * rest.x).sin()),
        }
    }

    #[test]
    fn what_is_remembered_changes_nothing() {
        let surface = sheets();
        let input = surface.input();
        let mut kept = Detector::new(&surface);
        let (mut most, mut searches) = (0, 0);
        for step in 0..80 {
            // Now and then it jumps.
            let step = if step % 17 == 16 { 3 * step } else { step };
            let is_upper = |i: usize| i >= SIDE * SIDE;
            let skin = |i: usize| moved(input.skin[i], is_upper(i), step);
            let base = |i: usize| moved(input.bases[i], is_upper(i), step);
            let mut fresh = Detector::new(&surface);
            for detector in [&mut kept, &mut fresh] {
                detector.update(&surface, skin, base);
                detector.search(&surface, Filter::Deepest);
            }
            let found = |detector: &Detector| detector.found().copied().collect::<Vec<Found>>();
            assert_eq!(found(&kept), found(&fresh), "step {step}");
            most = most.max(found(&kept).len());
            searches += usize::from(found(&kept).is_empty());
        }
        assert!(most > 200, "the sheets met: {most}");
        assert!(searches > 10, "and parted: {searches}");
    }
}
