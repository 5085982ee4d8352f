//! Broad phase: packets of sixteen neighbouring skin points are tested against the tree.
//!
//! Parts that are far apart need time to meet. A point and a leaf of prisms that have been tested are skipped until the
//! motions of its packet and of the leaf since then add up to the distance between them. The result is that of a full
//! search.

// Plain loops: iterator adaptors are not always inlined, and code that is not inlined loses the kernel's instruction
// set. Comparisons are negated so that NaN counts as close.
#![allow(clippy::needless_range_loop, clippy::neg_cmp_op_on_partial_ord)]

use glam::Vec3A;
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row};

use super::close::{COSINE_ROUNDING, ROUNDING, TURN_MARGIN, least, may_touch, test_leaf};
use super::descent::Stack;
use super::fit::{Fit, MotionBound};

/// Points that are tested together.
pub const PACKET: usize = 16;
/// Points that are tested together, and what is known about them from one search to the next.
#[derive(Clone, Debug, Default)]
pub struct Packet {
    motion: MotionBound,
    /// Leaves that its points may be in, in traversal order, and the distance of each point from each.
    pairs: Vec<Pair>,
    apart: Vec<Apart>,
    /// The same before the last traversal.
    last: (Vec<Pair>, Vec<Apart>),
    /// Mask of the points that were searched for.
    wanted: u16,
    /// Sum of its own motion and that of all leaves.
    all: MotionBound,
    /// No other leaf can be reached before that sum reaches this.
    complete: MotionBound,
    /// No leaf in the list needs a test before that sum reaches this.
    quiet: MotionBound,
}

/// Sum of both motions at which each point of a packet can enter a prism of a leaf \[m\].
type Apart = [F32x8; PACKET / LANES];

impl Packet {
    /// Forces a full search.
    pub fn forget(&mut self) {
        self.pairs.clear();
        self.apart.clear();
        self.complete = MotionBound::default();
        self.quiet = MotionBound::default();
    }
}

/// What is known about the points of a packet and a leaf.
#[derive(Clone, Copy, Debug)]
struct Pair {
    leaf: u32,
    /// Sum of both motions from which distances are counted.
    since: f64,
    /// Sums of both motions and turns up to which no test is needed.
    until: MotionBound,
}

impl Pair {
    /// A pair that has not been tested.
    fn new(leaf: u32, sum: &MotionBound) -> Pair {
        Pair {
            leaf,
            since: sum.path,
            until: MotionBound {
                path: f64::NEG_INFINITY,
                turn: f64::INFINITY,
            },
        }
    }
}

/// Motion after which a pair is tested anew, because distances are kept in single precision \[margins\].
const RETEST_DISTANCE: f32 = 64.0;
/// Distance around a packet in which leaves are listed, in units of this step's motion. It affects cost alone: a larger
/// value makes the lists longer, a smaller one traverses the tree more often.
const LOOK_AHEAD: f32 = 4.0;
/// Least and largest value of that distance \[margins\]. If a step's motion exceeds half of the largest, the tree is
/// traversed in every step.
const REACH_RANGE: [f32; 2] = [2.0, 8.0];

/// Calls `found` with indices into `points` and into the tree's order for all points that may be in prisms that do not
/// face the same way; `near` masks the prisms of a leaf to leave out.
pub struct SearchPacket<'a, N, F> {
    pub fit: &'a Fit,
    pub packet: &'a mut Packet,
    pub points: &'a [u32],
    /// Points that the search skips.
    pub skipped: &'a [bool],
    pub skin: &'a [Row],
    pub normals: &'a [Vec3A],
    /// Motion of each point (second number) and turn of its normal (third) since the last search.
    pub steps: &'a [Row],
    /// Points farther from a leaf than this are not tested against its prisms \[m\].
    pub margin: f32,
    pub near: N,
    pub found: F,
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
            // Padding repeats the last point.
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
            wanted |= u16::from(i < count && !self.skipped[v]) << i;
            let [_, moved, turned, _] = self.steps[v].0;
            // Comparisons with NaN are false, so NaN is kept.
            step[0] = if moved <= step[0] { step[0] } else { moved };
            step[1] = if turned <= step[1] { step[1] } else { turned };
        }
        self.packet.motion.add(step[0], step[1]);
        let all = self.packet.motion.plus(&self.fit.motion);
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
            self.add_restless([low, high], &all);
        }
        let is_new = wanted & !self.packet.wanted != 0;
        self.packet.wanted = wanted;
        if !is_new && all.is_before(&self.packet.quiet) {
            return;
        }
        // Time until the first pair needs a test, provided that its leaf moves no farther than the bound of all leaves.
        let mut quiet = UNBOUNDED;
        let Packet {
            motion,
            pairs,
            apart,
            ..
        } = &mut *self.packet;
        for (pair, apart) in pairs.iter_mut().zip(apart) {
            let sum = motion.plus(&self.fit.motions[pair.leaf as usize]);
            if !is_new && sum.is_before(&pair.until) {
                quiet.end_by(&pair.until, &sum);
                continue;
            }
            if sum.turn >= pair.until.turn
                || sum.path - pair.since > f64::from(RETEST_DISTANCE * self.margin)
            {
                *apart = UNKNOWN;
                pair.since = sum.path;
                pair.until.turn = f64::INFINITY;
            }
            let leaf = pair.leaf as usize;
            let moved = (sum.path - pair.since) as f32;
            let mut next = f32::INFINITY;
            for half in 0..PACKET / LANES {
                let asleep = L::splat(moved).le_mask(L::load(&apart[half]));
                let wanted = (wanted >> (half * LANES)) as u8;
                let awake = !asleep & wanted;
                if awake != 0 {
                    let first = half * LANES;
                    let (near, found) = (&self.near, &mut self.found);
                    let (distances, is_turned) = test_leaf::<L>(
                        self.fit,
                        leaf,
                        (&places[half], &normals[half]),
                        awake,
                        self.margin,
                        |i| near(first + i, pair.leaf),
                        |i, prism| found(first + i, leaf * LANES + prism),
                    );
                    let distances =
                        L::load(&distances) + L::splat(moved - 2.0 * ROUNDING * self.margin);
                    put(&mut apart[half], &distances.store(), awake);
                    if is_turned {
                        let turn = sum.turn + f64::from(TURN_MARGIN - COSINE_ROUNDING);
                        pair.until.turn = pair.until.turn.min(turn);
                    }
                }
                let nearest = least(&apart[half].0, wanted);
                // NaN is tested again.
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
    /// Adds restless leaves that have come near the box of the packet.
    fn add_restless(&mut self, [low, high]: [Vec3A; 2], all: &MotionBound) {
        let Packet {
            motion,
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
                Pair::new(leaf, &motion.plus(&self.fit.motions[leaf as usize])),
            );
            apart.insert(at, UNKNOWN);
        }
    }

    /// Lists the leaves that points of the packet may be in; keeps what is known about them.
    #[inline(always)]
    fn walk<L: Lanes>(&mut self, packet: &[[L; 3]; 4], all: &MotionBound, before: &MotionBound) {
        let Packet {
            motion,
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
        *complete = MotionBound {
            path: all.path + f64::from(reach - 2.0 * ROUNDING * self.margin),
            turn: all.turn + f64::from(TURN_MARGIN - COSINE_ROUNDING),
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
                // Leaves are visited in descending order, like nodes.
                let lane = 7 - touched.leading_zeros() as usize;
                touched &= !(1 << lane);
                let leaf = number * LANES as u32 + lane as u32;
                while last.0.get(at_last).is_some_and(|pair| pair.leaf > leaf) {
                    at_last += 1;
                }
                let sum = motion.plus(&self.fit.motions[leaf as usize]);
                let known = last.0.get(at_last).filter(|pair| pair.leaf == leaf);
                pairs.push(known.copied().unwrap_or(Pair::new(leaf, &sum)));
                apart.push(known.map_or(UNKNOWN, |_| last.1[at_last]));
            }
        }
    }
}

/// Largest motion and turn of a leaf in a step for which packets keep their lists for some steps.
pub fn calm_limits(margin: f32) -> [f32; 2] {
    [0.25 * REACH_RANGE[1] * margin, 0.2 * TURN_MARGIN]
}

/// Distance in which leaves are listed, for the motion of a step \[m\].
fn reach(motion: f64, margin: f32) -> f32 {
    let [least, most] = REACH_RANGE.map(|reach| reach * margin);
    let wanted = LOOK_AHEAD * motion as f32;
    // Motion that fast needs a new traversal in any case.
    if wanted <= 0.5 * LOOK_AHEAD * most {
        wanted.clamp(least, most)
    } else {
        2.0 * ROUNDING * margin
    }
}

const UNBOUNDED: MotionBound = MotionBound {
    path: f64::INFINITY,
    turn: f64::INFINITY,
};

/// Nothing is known about any point.
const UNKNOWN: Apart = [F32x8([f32::NEG_INFINITY; LANES]); PACKET / LANES];

/// Copies the masked lanes.
#[inline(always)]
fn put(to: &mut F32x8, from: &F32x8, mut mask: u8) {
    if mask == u8::MAX {
        *to = *from;
        return;
    }
    while mask != 0 {
        let i = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        to.0[i] = from.0[i];
    }
}

#[cfg(test)]
mod tests {
    use crate::contact::{ContactSurface, Detector, Filter, Found, Source, SurfaceInput};
    use glam::Vec3;

    const SIDE: usize = 15;

    /// Two sheets that face each other, with a layer of flesh behind each.
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

    /// The upper sheet comes down fast, presses, waves and leaves; the lower one trembles; both move along together.
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
    fn skipped_tests_do_not_change_results() {
        let surface = sheets();
        let input = surface.input();
        let mut kept = Detector::new(&surface);
        let (mut most, mut searches) = (0, 0);
        for step in 0..80 {
            // It jumps now and then.
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
