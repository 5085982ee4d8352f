//! What local contact looks at in a step: points and prisms of folds that are awake, eight at a time.
//!
//! Most points are in no box around a prism that they can meet, and their skin's normals are never needed.

// In kernels, closures would lose the instruction set.
#![allow(clippy::needless_range_loop)]

use glam::{Vec3, Vec3A};
use supple_geom::simd::{F32x8, Kernel, LANES, Lanes, Row, dispatch};

use super::detect::{Detector, FACING, Found, NOT_FOUND};
use super::local::{Fold, Level, LocalPairs};
use super::surface::ContactSurface;

/// A point that begins to touch deep inside must face the triangle by this cosine: prisms of bent limbs lean over skin that they are
/// not below. At 0, knees that do not touch are pushed; at −0.7, elbows that are put together stay inside.
const DEEP_FACING: f32 = -0.3;

/// Prisms are at most so many shells high: unit normals are rounded.
const ROUNDED: f32 = 1.01;

/// Memory of local contact.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// What is awake of each fold.
    levels: Vec<Level>,
    boxes: Boxes,
    /// Points in boxes around prisms, with the triangles of these.
    close: Vec<(u32, u32)>,
    /// Points whose normals are needed.
    bent: Once,
}

/// Boxes of what is awake of a fold, with the lower ends negated.
#[derive(Clone, Debug, Default)]
struct Boxes {
    /// Around columns, however the skin bends.
    columns: [Vec<Row>; 2],
    /// Around prisms, eight at a time, and around each eight.
    prisms: Vec<[[F32x8; 3]; 2]>,
    eights: Vec<[[f32; 3]; 2]>,
    /// Points of groups.
    places: Vec<[F32x8; 3]>,
}

/// Numbers, each once.
#[derive(Clone, Debug, Default)]
struct Once {
    list: Vec<u32>,
    seen: Vec<bool>,
}

impl Once {
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

/// Where skin and base points are \[m\].
pub(super) struct Now<'a, S> {
    pub skin: S,
    pub bases: &'a [Vec3],
}

impl<S: Fn(u32) -> Vec3> Now<'_, S> {
    fn skin(&self, point: u32) -> Vec3A {
        Vec3A::from((self.skin)(point))
    }

    fn base(&self, point: u32) -> Vec3A {
        Vec3A::from(self.bases.get(point as usize).copied().unwrap_or_default())
    }

    /// Whether a point is higher above the plane of a triangle than all of its prism, however the skin bends.
    fn is_above(&self, surface: &ContactSurface, point: u32, triangle: u32) -> bool {
        let corners = surface.triangles()[triangle as usize];
        let [a, b, c] = corners.map(|v| self.skin(v));
        let normal = (b - a).cross(c - a);
        let height = |place: Vec3A| (place - a).dot(normal);
        let top = ROUNDED * surface.shell() * normal.length();
        let highest = corners
            .into_iter()
            .fold(top, |top, v| top.max(height(self.base(v))));
        height(self.skin(point)) > highest
    }
}

impl Detector {
    /// Takes positions and normals of some points, and sees what is awake.
    pub(super) fn update_folds(
        &mut self,
        surface: &ContactSurface,
        pairs: &LocalPairs,
        now: &Now<impl Fn(u32) -> Vec3>,
        points: impl Iterator<Item = u32>,
    ) {
        let mut watch = std::mem::take(&mut self.watch);
        watch.levels.clear();
        (watch.levels).extend(pairs.folds.iter().map(|fold| fold.level(now.bases)));
        watch.bent.start(surface.point_count());
        points.for_each(|point| watch.bent.add(&[point]));
        self.take_some(surface, &watch.bent.list, &now.skin, now.bases);
        self.watch = watch;
    }

    /// Looks for the points that are awake in their triangles' prisms, after [`update_folds`](Detector::update_folds).
    pub(super) fn search_folds(
        &mut self,
        surface: &ContactSurface,
        pairs: &LocalPairs,
        now: &Now<impl Fn(u32) -> Vec3>,
    ) {
        let mut watch = std::mem::take(&mut self.watch);
        let known = watch.bent.list.len();
        watch.close.clear();
        for (fold, level) in pairs.folds.iter().zip(&watch.levels) {
            if level.groups > 0 {
                let boxes = &mut watch.boxes;
                boxes.place(fold, level, now, surface.shell(), &self.settled);
                dispatch(LookAtFold {
                    fold,
                    boxes,
                    close: &mut watch.close,
                });
            }
        }
        (watch.close).retain(|&(point, triangle)| !now.is_above(surface, point, triangle));
        for (point, triangle) in &watch.close {
            watch.bent.add([point]);
            watch.bent.add(surface.corners(*triangle));
        }
        self.take_some(surface, &watch.bent.list[known..], &now.skin, now.bases);
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        let of_points = watch.close.chunk_by(|a, b| a.0 == b.0);
        slots.extend(of_points.map(|close| self.least_deep(surface, close)));
        self.slots = slots;
        self.watch = watch;
    }

    /// The prism that a point is least deep in.
    fn least_deep(&self, surface: &ContactSurface, close: &[(u32, u32)]) -> Found {
        let mut best = NOT_FOUND;
        for &(point, triangle) in close {
            let Some(found) = self.point_in_prism(surface, point, triangle) else {
                continue;
            };
            let cosine = found.normal.dot(self.normals[point as usize]);
            if cosine > FACING {
                continue;
            }
            let deep = found.distance < -super::detect::DEEP * surface.mean_edge();
            if deep && cosine > DEEP_FACING && !self.is_trusted(point) {
                continue;
            }
            if best.point == u32::MAX || found.distance > best.distance {
                best = found;
            }
        }
        best
    }
}

impl Boxes {
    /// Takes columns and points of a fold; those that are settled are nowhere.
    fn place(
        &mut self,
        fold: &Fold,
        level: &Level,
        now: &Now<impl Fn(u32) -> Vec3>,
        shell: f32,
        settled: &[bool],
    ) {
        let [lows, highs] = &mut self.columns;
        lows.clear();
        highs.clear();
        for &v in &fold.corners[..level.corners] {
            let (skin, base) = (now.skin(v), now.base(v));
            lows.push(Row::new((-base.min(skin - shell)).to_array()));
            highs.push(Row::new(base.max(skin + shell).to_array()));
        }
        self.prisms.clear();
        self.prisms.resize(level.boxes, Default::default());
        self.eights.clear();
        self.places.clear();
        for points in &fold.groups[..level.groups] {
            let mut places = [F32x8([f32::NAN; LANES]); 3];
            for (k, &point) in points.iter().enumerate() {
                if point != u32::MAX && !settled[point as usize] {
                    let place = (now.skin)(point).to_array();
                    for (lanes, x) in places.iter_mut().zip(place) {
                        lanes.0[k] = x;
                    }
                }
            }
            self.places.push(places);
        }
    }
}

/// Notes points of a fold in boxes around prisms, by point.
struct LookAtFold<'a> {
    fold: &'a Fold,
    boxes: &'a mut Boxes,
    close: &'a mut Vec<(u32, u32)>,
}

impl Kernel for LookAtFold<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let LookAtFold { fold, boxes, close } = self;
        for (prisms, [a, b, c]) in boxes.prisms.iter_mut().zip(&fold.boxes) {
            let mut eight = [[0.0; 3]; 2];
            for end in 0..2 {
                let ends = &boxes.columns[end];
                let (a, b, c) = (L::gather(ends, a), L::gather(ends, b), L::gather(ends, c));
                for axis in 0..3 {
                    let lanes = a[axis].max(b[axis]).max(c[axis]).store();
                    eight[end][axis] = farthest(&lanes);
                    prisms[end][axis] = lanes;
                }
            }
            boxes.eights.push(eight);
        }
        for (group, place) in boxes.places.iter().enumerate() {
            let first = close.len();
            let (numbers, bits) = fold.group_boxes.with(group as u32, &fold.bits);
            for (&number, &bits) in numbers.iter().zip(bits) {
                let number = number as usize;
                let mut points = are_in_box::<L>(place, &boxes.eights[number]);
                while points != 0 {
                    let k = points.trailing_zeros() as usize;
                    points &= points - 1;
                    let can_meet = (bits >> (k * LANES)) as u8;
                    if can_meet == 0 {
                        continue;
                    }
                    let place = [place[0].0[k], place[1].0[k], place[2].0[k]];
                    let mut met = can_meet & are_around::<L>(&boxes.prisms[number], &place);
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

#[inline(always)]
fn farthest(lanes: &F32x8) -> f32 {
    let mut farthest = lanes.0[0];
    for i in 1..LANES {
        farthest = farthest.max(lanes.0[i]);
    }
    farthest
}

/// Which places are in a box; what is not a number never is.
#[inline(always)]
fn are_in_box<L: Lanes>(places: &[F32x8; 3], [low, high]: &[[f32; 3]; 2]) -> u8 {
    let mut inside = u8::MAX;
    for axis in 0..3 {
        let x = L::load(&places[axis]);
        inside &= (-x).le_mask(L::splat(low[axis])) & x.le_mask(L::splat(high[axis]));
    }
    inside
}

/// Which boxes a place is in.
#[inline(always)]
fn are_around<L: Lanes>([low, high]: &[[F32x8; 3]; 2], place: &[f32; 3]) -> u8 {
    let mut around = u8::MAX;
    for axis in 0..3 {
        let x = L::splat(place[axis]);
        around &= (-x).le_mask(L::load(&low[axis])) & x.le_mask(L::load(&high[axis]));
    }
    around
}
