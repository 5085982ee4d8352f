//! Detection for local contact: active points and prisms of folds, eight at a time.
//!
//! Most points are in no box around a prism that they can touch, so that their normals are never needed.

// No closures in kernels: they would lose the instruction set.
#![allow(clippy::needless_range_loop)]

use glam::{Vec3, Vec3A};
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

use super::crossings::minus;
use super::detect::{Detector, Found, NOT_FOUND, vector};
use super::fit::{cross, dot};
use super::local::{Fold, Level, LocalPairs};
use super::moment::Moment;
use super::rules;
use super::surface::{ContactSurface, Source};

/// Tolerance by which prisms are raised \[shells\]: far more than the rounding error.
const ROUNDING: f32 = 0.01;

/// Scratch memory of local contact.
#[derive(Clone, Debug, Default)]
pub struct LocalSearch {
    /// Active part of each fold.
    levels: Vec<Level>,
    active: ActiveFold,
    /// Points in boxes around prisms, with the triangles of the prisms.
    close: Vec<(u32, u32)>,
    /// Points whose normals are needed.
    updated: IndexSet,
}

/// Active part of a fold.
#[derive(Clone, Debug, Default)]
struct ActiveFold {
    shell: f32,
    /// Ends of the columns.
    skins: Vec<Row>,
    bases: Vec<Row>,
    /// Boxes around eight prisms each.
    boxes: Vec<[Vec3A; 2]>,
    /// Bounds of these prisms, once they are needed.
    prisms: Vec<Option<Prisms>>,
    /// Positions of the groups' points.
    places: Vec<[F32x8; 3]>,
}

/// Outer bounds of eight prisms.
#[derive(Clone, Copy, Debug)]
struct Prisms {
    low: [F32x8; 3],
    high: [F32x8; 3],
    /// Normals of the skin, twice the area long, and the extent of each prism along its own.
    normal: [F32x8; 3],
    top: F32x8,
}

/// Unique indices.
#[derive(Clone, Debug, Default)]
struct IndexSet {
    list: Vec<u32>,
    seen: Vec<bool>,
}

impl IndexSet {
    fn start(&mut self, count: usize) {
        if self.seen.len() == count {
            for i in self.list.drain(..) {
                self.seen[i as usize] = false;
            }
        } else {
            self.list.clear();
            self.seen.clear();
            self.seen.resize(count, false);
        }
    }

    fn add<'a>(&mut self, numbers: impl IntoIterator<Item = &'a u32>) {
        for &i in numbers {
            if let Some(seen) = self.seen.get_mut(i as usize)
                && !std::mem::replace(seen, true)
            {
                self.list.push(i);
            }
        }
    }
}

/// Positions of skin and base points.
pub(super) struct Now<'a> {
    pub moment: &'a Moment<'a>,
    pub sources: &'a [Source],
    pub bases: &'a [Vec3],
}

impl Now<'_> {
    /// A skin point \[m\].
    #[inline]
    pub fn skin(&self, point: u32) -> Vec3 {
        self.moment.position(self.sources[point as usize])
    }

    /// A base point \[m\].
    #[inline]
    pub fn base(&self, point: u32) -> Vec3 {
        self.bases.get(point as usize).copied().unwrap_or_default()
    }
}

impl Detector {
    /// Updates positions and normals of some points, and finds the active parts of folds.
    pub(super) fn update_folds(
        &mut self,
        surface: &ContactSurface,
        pairs: &LocalPairs,
        now: &Now,
        points: impl Iterator<Item = u32>,
    ) {
        let mut search = std::mem::take(&mut self.local_search);
        search.levels.clear();
        (search.levels).extend(pairs.folds.iter().map(|fold| fold.level(now.bases)));
        search.updated.start(surface.point_count());
        points.for_each(|point| search.updated.add(&[point]));
        self.update_some(surface, &search.updated.list, now);
        self.local_search = search;
    }

    /// Tests the active points against the prisms of their triangles, after [`update_folds`](Detector::update_folds).
    pub(super) fn search_folds(&mut self, surface: &ContactSurface, pairs: &LocalPairs, now: &Now) {
        let mut search = std::mem::take(&mut self.local_search);
        let known = search.updated.list.len();
        search.close.clear();
        for (number, fold) in pairs.folds.iter().enumerate() {
            let level = search.levels[number];
            if level.groups > 0 {
                let LocalSearch { active, close, .. } = &mut search;
                active.place(fold, &level, now, surface.shell(), &self.skipped);
                dispatch(TestFold {
                    fold,
                    active,
                    close,
                });
            }
        }
        for (point, triangle) in &search.close {
            search.updated.add([point]);
            search.updated.add(surface.corners(*triangle));
        }
        self.update_some(surface, &search.updated.list[known..], now);
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        let of_points = search.close.chunk_by(|a, b| a.0 == b.0);
        slots.extend(of_points.map(|close| self.least_deep(surface, close)));
        self.slots = slots;
        self.local_search = search;
    }

    /// The prism that a point is least deep in.
    fn least_deep(&self, surface: &ContactSurface, close: &[(u32, u32)]) -> Found {
        let mut best = NOT_FOUND;
        for &(point, triangle) in close {
            if surface.are_together(point, triangle) {
                continue;
            }
            let Some(found) = self.point_in_prism(surface, point, triangle) else {
                continue;
            };
            let cosine = found.normal.dot(self.normals[point as usize]);
            if cosine > rules::FACING_COSINE {
                continue;
            }
            let deep = found.distance < -rules::RAY_CHECK_DEPTH * surface.mean_edge();
            if deep && cosine > rules::LOCAL_DEEP_COSINE && !self.is_trusted(point) {
                continue;
            }
            if best.point == u32::MAX || found.distance > best.distance {
                best = found;
            }
        }
        best
    }
}

impl ActiveFold {
    /// Sets columns and points of a fold; skipped points get NaN positions.
    fn place(&mut self, fold: &Fold, level: &Level, now: &Now, shell: f32, skipped: &[bool]) {
        self.shell = shell;
        self.skins.clear();
        self.bases.clear();
        for &(v, source) in &fold.corners[..level.corners] {
            (self.skins).push(Row::new(now.moment.position(source).to_array()));
            (self.bases).push(Row::new(now.base(v).to_array()));
        }
        self.boxes.clear();
        for b in 0..level.boxes as u32 {
            let (mut low, mut high) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
            for &corner in fold.box_corners.of(b) {
                let [skin, base] =
                    [&self.skins, &self.bases].map(|ends| vector(ends[corner as usize]));
                low = low.min(base).min(skin - shell);
                high = high.max(base).max(skin + shell);
            }
            self.boxes.push([low, high]);
        }
        self.prisms.clear();
        self.prisms.resize(level.boxes, None);
        self.places.clear();
        for points in &fold.groups[..level.groups] {
            let mut places = [F32x8([f32::NAN; LANES]); 3];
            for (k, &point) in points.iter().enumerate() {
                if point != u32::MAX && !skipped[point as usize] {
                    let place = now.skin(point).to_array();
                    for (lanes, x) in places.iter_mut().zip(place) {
                        lanes.0[k] = x;
                    }
                }
            }
            self.places.push(places);
        }
    }
}

/// Lists points of a fold that may be in prisms, by point.
struct TestFold<'a> {
    fold: &'a Fold,
    active: &'a mut ActiveFold,
    close: &'a mut Vec<(u32, u32)>,
}

impl Kernel for TestFold<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let TestFold {
            fold,
            active,
            close,
        } = self;
        for (group, place) in active.places.iter().enumerate() {
            let first = close.len();
            let (numbers, bits) = fold.group_boxes.with(group as u32, &fold.bits);
            for (&number, &bits) in numbers.iter().zip(bits) {
                let number = number as usize;
                let mut points = are_in::<L>(place, &active.boxes[number]);
                while points != 0 {
                    let k = points.trailing_zeros() as usize;
                    points &= points - 1;
                    let can_meet = (bits >> (k * LANES)) as u8;
                    if can_meet == 0 {
                        continue;
                    }
                    let prisms = match &mut active.prisms[number] {
                        Some(prisms) => prisms,
                        unknown => {
                            let ends = [&*active.skins, &active.bases];
                            unknown.insert(prisms::<L>(ends, &fold.boxes[number], active.shell))
                        }
                    };
                    let place = [place[0].0[k], place[1].0[k], place[2].0[k]];
                    let mut met = can_meet & may_contain::<L>(prisms, &place);
                    while met != 0 {
                        let i = met.trailing_zeros() as usize;
                        met &= met - 1;
                        let triangle = fold.triangles[number * LANES + i];
                        close.push((fold.groups[group][k], triangle));
                    }
                }
            }
            close[first..].sort_by_key(|(point, _)| *point);
        }
    }
}

/// Bounds of prisms between skin and base points, however the skin bends.
#[inline(always)]
fn prisms<L: Lanes>(
    [skins, bases]: [&[Row]; 2],
    corners: &[[u32; LANES]; 3],
    shell: f32,
) -> Prisms {
    let [a, b, c] = corners;
    let (p, q, r) = (
        L::gather(skins, a),
        L::gather(skins, b),
        L::gather(skins, c),
    );
    let (s, t, u) = (
        L::gather(bases, a),
        L::gather(bases, b),
        L::gather(bases, c),
    );
    let mut low = [F32x8::default(); 3];
    let mut high = [F32x8::default(); 3];
    for axis in 0..3 {
        let skin = p[axis].max(q[axis]).max(r[axis]) + L::splat(shell);
        let base = s[axis].max(t[axis]).max(u[axis]);
        high[axis] = skin.max(base).store();
        let skin = (-p[axis]).max(-q[axis]).max(-r[axis]) + L::splat(shell);
        let base = (-s[axis]).max(-t[axis]).max(-u[axis]);
        low[axis] = (-skin.max(base)).store();
    }
    let normal = cross(minus(q, p), minus(r, p));
    let shell = L::splat(shell) * dot(normal, normal).sqrt();
    let top = shell
        .max(dot(minus(s, p), normal))
        .max(dot(minus(t, p), normal))
        .max(dot(minus(u, p), normal));
    let top = top + L::splat(ROUNDING) * shell + dot(p, normal);
    Prisms {
        low,
        high,
        normal: [normal[0].store(), normal[1].store(), normal[2].store()],
        top: top.store(),
    }
}

/// Mask of the places that are in a box; NaN never is.
#[inline(always)]
fn are_in<L: Lanes>(places: &[F32x8; 3], [low, high]: &[Vec3A; 2]) -> u8 {
    let mut inside = u8::MAX;
    for axis in 0..3 {
        let x = L::load(&places[axis]);
        inside &= L::splat(low[axis]).le_mask(x) & x.le_mask(L::splat(high[axis]));
    }
    inside
}

/// Mask of the prisms that a place may be in.
#[inline(always)]
fn may_contain<L: Lanes>(prisms: &Prisms, place: &[f32; 3]) -> u8 {
    let mut around = u8::MAX;
    let mut height = L::splat(0.0);
    for axis in 0..3 {
        let x = L::splat(place[axis]);
        around &= L::load(&prisms.low[axis]).le_mask(x) & x.le_mask(L::load(&prisms.high[axis]));
        height = x.mul_add(L::load(&prisms.normal[axis]), height);
    }
    around & height.le_mask(L::load(&prisms.top))
}
