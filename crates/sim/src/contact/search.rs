//! Skin points go down the tree, sixteen neighbours at a time.
//!
//! What was far apart takes time to come together: a point and a leaf of prisms that have been looked at are left alone until the ways
//! that its packet and the leaf have come since add up to the distance that was between them. The result is that of a full search.

// Comparisons are negated so that what is not a number counts as close.
#![allow(clippy::needless_range_loop, clippy::neg_cmp_op_on_partial_ord)]

use glam::Vec3A;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row};

use super::detect::FACING;
use super::fit::{Fit, Leaf, Slab, Way, Wide, dot};

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
    /// Leaves that its points may be in, in the order of the walk, and how far each point is from each.
    pairs: Vec<Pair>,
    apart: Vec<Apart>,
    /// The same before the walk.
    last: (Vec<Pair>, Vec<Apart>),
    /// Points that were looked for.
    wanted: u16,
    /// Sum of its own way and that of all leaves.
    all: Way,
    /// There are no other leaves before the sum of its own way and that of all leaves reaches this.
    complete: Way,
    /// The same for when there is something to do for any leaf.
    quiet: Way,
}

/// How far the sum of both ways has to come before each point of a packet can be in a prism of a leaf \[m\].
type Apart = [F32x8; PACKET / LANES];

impl Packet {
    /// Everything is looked at again.
    pub fn forget(&mut self) {
        self.pairs.clear();
        self.apart.clear();
        self.complete = Way::default();
        self.quiet = Way::default();
    }
}

/// What is known of the points of a packet and a leaf.
#[derive(Clone, Copy, Debug)]
struct Pair {
    leaf: u32,
    /// Sum of both ways from which distances count.
    since: f64,
    /// Sums of both ways and of both turns up to which there is nothing to do.
    until: Way,
}

impl Pair {
    /// Of which nothing is known.
    fn new(leaf: u32, sum: &Way) -> Pair {
        Pair {
            leaf,
            since: sum.path,
            until: Way {
                path: f64::NEG_INFINITY,
                turn: f64::INFINITY,
            },
        }
    }
}

/// Way after which a pair is looked at anew: distances are kept in single precision \[m\].
const LONG_WAY: f64 = 0.1;
/// How far beyond a packet leaves are noted, in the ways of this step: for how many steps, about. With more, longer lists are gone through
/// in every step; with less, the tree is.
const STEPS: f32 = 4.0;
/// The same at least and at most, in margins; where the ways are longer than half of it, the tree is gone through in every step.
const REACH: [f32; 2] = [2.0, 8.0];

/// Calls `found` with numbers among `points` and in the tree's order for all points that may be in prisms that do not face
/// the same way; `near` tells which of a leaf to leave out.
pub struct SearchPacket<'a, N, F> {
    pub fit: &'a Fit,
    pub packet: &'a mut Packet,
    pub points: &'a [u32],
    /// Points that are not looked for.
    pub settled: &'a [bool],
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
        let mut wanted = 0_u16;
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
            wanted |= u16::from(i < count && !self.settled[v]) << i;
            let [_, moved, turned, _] = self.steps[v].0;
            // A comparison with what is not a number is false: it is kept.
            step[0] = if moved <= step[0] { step[0] } else { moved };
            step[1] = if turned <= step[1] { step[1] } else { turned };
        }
        self.packet.way.add(step[0], step[1]);
        let all = self.packet.way.plus(&self.fit.way);
        let before = std::mem::replace(&mut self.packet.all, all);
        if !all.is_before(&self.packet.complete) {
            let splat = |v: Vec3A| {
                let [x, y, z] = v.to_array();
                [L::splat(x), L::splat(y), L::splat(z)]
            };
            let packet = [low, high, low_normal, high_normal].map(splat);
            self.walk::<L>(&packet, &all, &before);
            self.packet.quiet = all;
        } else if !self.fit.restless.is_empty() {
            self.meet_restless([low, high], &all);
        }
        let is_new = wanted & !self.packet.wanted != 0;
        self.packet.wanted = wanted;
        if !is_new && all.is_before(&self.packet.quiet) {
            return;
        }
        // Until the first pair has something to do, as long as its leaf comes no farther than all do.
        let mut quiet = FOR_EVER;
        let Packet {
            way, pairs, apart, ..
        } = &mut *self.packet;
        for (pair, apart) in pairs.iter_mut().zip(apart) {
            let sum = way.plus(&self.fit.ways[pair.leaf as usize]);
            if !is_new && sum.is_before(&pair.until) {
                quiet.end_by(&pair.until, &sum);
                continue;
            }
            if sum.turn >= pair.until.turn || sum.path - pair.since > LONG_WAY {
                *apart = UNKNOWN;
                pair.since = sum.path;
                pair.until.turn = f64::INFINITY;
            }
            let leaf = &self.fit.leaves[pair.leaf as usize];
            let node = &self.fit.levels[0][pair.leaf as usize / LANES];
            let come = (sum.path - pair.since) as f32;
            let mut next = f32::INFINITY;
            for half in 0..PACKET / LANES {
                let asleep = L::splat(come).le_mask(L::load(&apart[half]));
                let wanted = (wanted >> (half * LANES)) as u8;
                let awake = !asleep & wanted;
                if awake != 0 {
                    let eight = probe::<L>(&places[half], &normals[half]);
                    let lane = pair.leaf as usize % LANES;
                    let slab = &self.fit.slabs[pair.leaf as usize];
                    let (out, close, facing) =
                        close_points::<L>(node, lane, slab, &eight, self.margin);
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
                            at[axis] = L::splat(places[half][axis].0[i]);
                            normal[axis] = L::splat(normals[half][axis].0[i]);
                        }
                        let (mut prisms, distance, turned) =
                            close_prisms::<L>(leaf, &at, &normal, self.margin, || {
                                (self.near)(half * LANES + i, pair.leaf)
                            });
                        distances.0[i] = distance;
                        is_turned |= turned;
                        while prisms != 0 {
                            let prism = prisms.trailing_zeros() as usize;
                            prisms &= prisms - 1;
                            (self.found)(half * LANES + i, pair.leaf as usize * LANES + prism);
                        }
                    }
                    let distances = L::load(&distances) + L::splat(come - 2.0 * ROUNDING);
                    let distances = distances.store();
                    if awake == u8::MAX {
                        apart[half] = distances;
                    } else {
                        let mut left = awake;
                        while left != 0 {
                            let i = left.trailing_zeros() as usize;
                            left &= left - 1;
                            apart[half].0[i] = distances.0[i];
                        }
                    }
                    if is_turned {
                        let turn = sum.turn + f64::from(TURN - ROUNDING);
                        pair.until.turn = pair.until.turn.min(turn);
                    }
                }
                let nearest = least(&apart[half].0, wanted);
                // What is not a number is looked at again.
                if !(nearest >= next) {
                    next = nearest;
                }
            }
            pair.until.path = pair.since + f64::from(next);
            quiet.end_by(&pair.until, &sum);
        }
        self.packet.quiet = all.plus(&quiet);
    }
}

impl<N, F> SearchPacket<'_, N, F> {
    /// Notes restless leaves that have come near the box of the packet.
    fn meet_restless(&mut self, [low, high]: [Vec3A; 2], all: &Way) {
        let Packet {
            way,
            pairs,
            apart,
            complete,
            quiet,
            ..
        } = &mut *self.packet;
        let reach = Vec3A::splat((complete.path - all.path) as f32);
        for &leaf in &self.fit.restless {
            let node = &self.fit.levels[0][leaf as usize / LANES];
            let lane = leaf as usize % LANES;
            let end = |ends: &[F32x8; 3]| Vec3A::from(ends.map(|end| end.0[lane]));
            let out = (-high - end(&node.low)).max(low - end(&node.high));
            let at = pairs.partition_point(|pair| pair.leaf > leaf);
            let is_known = pairs.get(at).is_some_and(|pair| pair.leaf == leaf);
            if !is_known && out.cmpgt(reach).any() {
                continue;
            }
            *quiet = *all;
            if is_known {
                continue;
            }
            pairs.insert(
                at,
                Pair::new(leaf, &way.plus(&self.fit.ways[leaf as usize])),
            );
            apart.insert(at, UNKNOWN);
        }
    }

    /// Notes the leaves that points of the packet may be in; what is known of them is kept.
    #[inline(always)]
    fn walk<L: Lanes>(&mut self, packet: &[[L; 3]; 4], all: &Way, before: &Way) {
        let Packet {
            way,
            pairs,
            apart,
            last,
            complete,
            ..
        } = &mut *self.packet;
        std::mem::swap(pairs, &mut last.0);
        std::mem::swap(apart, &mut last.1);
        pairs.clear();
        apart.clear();
        let reach = reach(all.path - before.path, self.margin);
        *complete = Way {
            path: all.path + f64::from(reach - 2.0 * ROUNDING),
            turn: all.turn + f64::from(TURN - ROUNDING),
        };
        let mut at_last = 0;
        let mut stack = Stack::new(self.fit);
        while let Some((level, number)) = stack.pop() {
            let node = &self.fit.levels[level][number as usize];
            let mut touched = may_touch::<L>(node, packet, reach);
            if level > 0 {
                stack.push_children(level, number, touched);
                continue;
            }
            while touched != 0 {
                // Leaves are met in descending order, as nodes are.
                let lane = 7 - touched.leading_zeros() as usize;
                touched &= !(1 << lane);
                let leaf = number * LANES as u32 + lane as u32;
                while last.0.get(at_last).is_some_and(|pair| pair.leaf > leaf) {
                    at_last += 1;
                }
                let sum = way.plus(&self.fit.ways[leaf as usize]);
                let known = last.0.get(at_last).filter(|pair| pair.leaf == leaf);
                pairs.push(known.copied().unwrap_or(Pair::new(leaf, &sum)));
                apart.push(known.map_or(UNKNOWN, |_| last.1[at_last]));
            }
        }
    }
}

/// Leaves that come and turn no farther in a step let packets keep their lists for some.
pub fn calm(margin: f32) -> [f32; 2] {
    [0.25 * REACH[1] * margin, 0.2 * TURN]
}

/// How far to look if so much of it will be used up in a step \[m\].
fn reach(way: f64, margin: f32) -> f32 {
    let [least, most] = REACH.map(|reach| reach * margin);
    let wanted = STEPS * way as f32;
    // What moves too fast is gone through again in any case.
    if wanted <= 0.5 * STEPS * most {
        wanted.clamp(least, most)
    } else {
        2.0 * ROUNDING
    }
}

const FOR_EVER: Way = Way {
    path: f64::INFINITY,
    turn: f64::INFINITY,
};

/// Nothing is known of any point.
const UNKNOWN: Apart = [F32x8([f32::NEG_INFINITY; LANES]); PACKET / LANES];

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

/// How far the points in the lanes are outside of a leaf, child `lane` of a node \[m\], which are close to it, and which may face
/// a normal there.
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
    (out, close, least.le_mask(L::splat(FACING + TURN)))
}

/// Prisms of a leaf that a point may be in, and whose triangles do not face the same way; how far it is outside of those that do not
/// \[m\], and whether some do. Those that are `near` on the skin are left out where it matters.
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
    let turned = !cosine.le_mask(L::splat(FACING + TURN));
    let found = out.le_mask(L::splat(ROUNDING)) & cosine.le_mask(L::splat(FACING));
    let out = out.store().0;
    let distance = least(&out, !turned);
    // What is not a number counts as close.
    if distance > margin {
        return (0, distance, turned != 0);
    }
    let left = !near();
    (found & left, least(&out, !turned & left), turned != 0)
}

/// The least of those that a mask names; what is not a number is less.
#[inline(always)]
fn least(values: &[f32; LANES], mut mask: u8) -> f32 {
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

/// Children that points of a packet may get into within a reach, while normals may come to oppose each other.
#[inline(always)]
fn may_touch<L: Lanes>(
    node: &Wide,
    [low, high, low_normal, high_normal]: &[[L; 3]; 4],
    reach: f32,
) -> u8 {
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
    apart.le_mask(L::splat(reach)) & L::splat(-FACING - TURN).le_mask(least)
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
