//! Contact around joints alone: who may meet whom is known beforehand [seed 001 §5].
//!
//! Pairs come in folds, one for every two bones that can meet. A point of a fold sleeps until two base points, one at the far end of each
//! bone, come as near as they were before it was found first. Points that are awake are looked for in the prisms of their own few
//! triangles; what is found is a contact like any other. Most are in no box around such prisms, and their skin's normals are never needed.

use glam::{Vec3, Vec3A};

use super::detect::{Detector, FACING, Found, NOT_FOUND};
use super::surface::{ContactSurface, Lists};

/// Folds with fewer pairs are left out: prisms that lean over.
const FEWEST: usize = 4;
/// Share of a fold's pairs that may meet before any of its points wakes, for the same reason.
const EARLY: f32 = 0.03;
/// Points in a group, and triangles in a box.
const TOGETHER: usize = 8;
/// Share of their distance at rest below which sentinels wake a fold in any case: at 1, what lies close at rest never sleeps.
const BENT: f32 = 0.95;
/// A point that begins to touch deep inside must face the triangle by this cosine: prisms of bent limbs lean over skin that they are
/// not below. At 0, knees that do not touch are pushed; at −0.7, elbows that are put together stay inside.
const DEEP_FACING: f32 = -0.3;

/// A point that was found in the prism of a triangle, and what tells that it may be again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalPair {
    /// Pairs of the same number have the same sentinels.
    pub fold: u32,
    /// The skin point.
    pub point: u32,
    /// The triangle.
    pub triangle: u32,
    /// Points whose base points are far out on the bones of the fold.
    pub sentinels: [u32; 2],
    /// How near those came before the point was found \[m\].
    pub distance: f32,
}

/// Points with triangles that they can meet.
#[derive(Clone, Debug, Default)]
pub struct LocalPairs {
    folds: Vec<Fold>,
}

/// All lists are in the order in which they wake.
#[derive(Clone, Debug, Default)]
struct Fold {
    sentinels: [u32; 2],
    levels: Vec<Level>,
    /// Points that are looked for together; the last ones of a level are filled up with `u32::MAX`.
    groups: Vec<[u32; TOGETHER]>,
    /// Boxes with triangles that points of each group can meet.
    group_boxes: Lists,
    /// For each of these and each point, the triangles: a bit for each of the box, a byte for each point.
    bits: Vec<u64>,
    /// Triangles, [`TOGETHER`] to each box, filled up likewise.
    triangles: Vec<u32>,
    /// Corners of triangles, each once.
    corners: Vec<u32>,
    /// Which of these each triangle has, and each box.
    triangle_corners: Vec<[u32; 3]>,
    box_corners: Lists,
}

/// How much of a fold is awake.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// When the base points of the sentinels are nearer \[m\].
    waking: f32,
    groups: usize,
    boxes: usize,
    corners: usize,
}

impl LocalPairs {
    /// From pairs that were found; neighbours of points and triangles come along. With the triangles of neighbours alone, a fifth of an
    /// elbow stays inside.
    pub fn new(surface: &ContactSurface, mut pairs: Vec<LocalPair>) -> LocalPairs {
        let is_point = |p: u32| (p as usize) < surface.point_count();
        pairs.retain(|pair| {
            is_point(pair.point)
                && pair.sentinels.iter().all(|&p| is_point(p))
                && (pair.triangle as usize) < surface.triangles().len()
        });
        pairs.sort_by_key(|pair| (pair.fold, pair.point, pair.triangle));
        let folds = pairs
            .chunk_by(|a, b| a.fold == b.fold)
            .filter(|pairs| pairs.len() >= FEWEST)
            .map(|pairs| Fold::new(surface, pairs));
        LocalPairs {
            folds: folds.collect(),
        }
    }

    /// Points of all folds.
    pub fn point_count(&self) -> usize {
        let groups = self.folds.iter().flat_map(|fold| &fold.groups);
        groups.flatten().filter(|&&p| p != u32::MAX).count()
    }
}

/// A point of a fold, when it wakes and whom it can meet.
#[derive(Default)]
struct Sleeper {
    waking: f32,
    triangles: Vec<u32>,
}

impl Fold {
    /// How much is awake.
    fn level(&self, bases: &[Vec3]) -> Level {
        let [a, b] = self.sentinels.map(|p| bases.get(p as usize));
        let distance = a.zip(b).map_or(f32::INFINITY, |(a, b)| a.distance(*b));
        let asleep = (self.levels).partition_point(|level| distance < level.waking);
        match asleep {
            0 => Level::default(),
            awake => self.levels[awake - 1],
        }
    }

    fn new(surface: &ContactSurface, pairs: &[LocalPair]) -> Fold {
        let mut distances: Vec<f32> = pairs.iter().map(|pair| pair.distance).collect();
        distances.sort_by(|a, b| b.total_cmp(a));
        let [a, b] = pairs[0].sentinels.map(|p| surface.input.bases[p as usize]);
        let first = distances[(EARLY * distances.len() as f32) as usize].min(BENT * a.distance(b));
        let mut sleepers = std::collections::BTreeMap::<u32, Sleeper>::new();
        for pair in pairs {
            let around = surface.around_triangle(pair.triangle);
            for point in surface.around_point(pair.point) {
                let sleeper = sleepers.entry(point).or_default();
                sleeper.waking = sleeper.waking.max(pair.distance.min(first));
                let others = around.iter().filter(|&&t| !surface.is_near(point, t));
                sleeper.triangles.extend(others);
            }
        }
        // What is close to each other is looked at together.
        let place_of_point = places(&surface.tree.points, surface.point_count());
        let place_of_triangle = places(&surface.tree.order, surface.triangles().len());
        let mut sleepers: Vec<(u32, Sleeper)> = sleepers.into_iter().collect();
        sleepers.sort_by(|(p, a), (q, b)| {
            let place = |p: &u32| place_of_point[*p as usize];
            (b.waking.total_cmp(&a.waking)).then(place(p).cmp(&place(q)))
        });
        let mut fold = Fold {
            sentinels: pairs[0].sentinels,
            ..Fold::default()
        };
        let mut numbers = std::collections::HashMap::<u32, usize>::new();
        let mut corner_numbers = std::collections::HashMap::<u32, u32>::new();
        let mut group_boxes = Vec::new();
        for level in sleepers.chunk_by(|(_, a), (_, b)| a.waking == b.waking) {
            let all = level.iter().flat_map(|(_, sleeper)| &sleeper.triangles);
            let is_new = |t: &u32| !numbers.contains_key(t);
            let mut new: Vec<u32> = all.copied().filter(is_new).collect();
            new.sort_unstable_by_key(|&t| place_of_triangle[t as usize]);
            new.dedup();
            for triangle in new {
                numbers.insert(triangle, fold.triangles.len());
                fold.triangles.push(triangle);
                let corners = surface.triangles()[triangle as usize].map(|corner| {
                    let next = fold.corners.len() as u32;
                    *corner_numbers.entry(corner).or_insert_with(|| {
                        fold.corners.push(corner);
                        next
                    })
                });
                fold.triangle_corners.push(corners);
            }
            let filled = fold.triangles.len().next_multiple_of(TOGETHER);
            fold.triangles.resize(filled, u32::MAX);
            // Those that fill up have a corner that the box has anyway.
            let last = (fold.triangle_corners.last()).map_or([0; 3], |corners| [corners[0]; 3]);
            fold.triangle_corners.resize(filled, last);
            for group in level.chunks(TOGETHER) {
                let mut bits = std::collections::BTreeMap::<u32, u64>::new();
                let mut points = [u32::MAX; TOGETHER];
                for (k, (point, sleeper)) in group.iter().enumerate() {
                    points[k] = *point;
                    for number in sleeper.triangles.iter().map(|t| numbers[t]) {
                        let bit = 1 << (k * TOGETHER + number % TOGETHER);
                        *bits.entry((number / TOGETHER) as u32).or_default() |= bit;
                    }
                }
                fold.groups.push(points);
                fold.bits.extend(bits.values());
                group_boxes.push(bits.into_keys().collect());
            }
            fold.levels.push(Level {
                waking: level[0].1.waking,
                groups: fold.groups.len(),
                boxes: filled / TOGETHER,
                corners: fold.corners.len(),
            });
        }
        fold.group_boxes = Lists::new(group_boxes);
        let boxes = fold.triangle_corners.chunks(TOGETHER);
        fold.box_corners = Lists::new(boxes.map(|corners| {
            let mut corners = corners.concat();
            corners.sort_unstable();
            corners.dedup();
            corners
        }));
        fold
    }
}

/// Where each of so many numbers is in a list.
fn places(list: &[u32], count: usize) -> Vec<u32> {
    let mut places = vec![0; count];
    for (&number, i) in list.iter().zip(0..) {
        if let Some(place) = places.get_mut(number as usize) {
            *place = i;
        }
    }
    places
}

/// What local contact looks at in a step.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// What is awake of each fold.
    levels: Vec<Level>,
    /// Boxes around columns of a fold.
    columns: Vec<Bounds>,
    /// And around its prisms, eight at a time.
    boxes: Vec<Bounds>,
    /// Points in boxes around prisms, with the triangles of these.
    close: Vec<(u32, u32)>,
    /// Points whose normals are needed.
    bent: Once,
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

/// A box along the axes.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: Vec3A,
    high: Vec3A,
}

impl Bounds {
    const NOTHING: Bounds = Bounds {
        low: Vec3A::INFINITY,
        high: Vec3A::NEG_INFINITY,
    };

    /// Around some of many.
    #[inline]
    fn around(some: &[u32], of: &[Bounds]) -> Bounds {
        some.iter().fold(Bounds::NOTHING, |all, &i| Bounds {
            low: all.low.min(of[i as usize].low),
            high: all.high.max(of[i as usize].high),
        })
    }

    /// Whether a place is inside; what is not a number never is.
    #[inline]
    fn contains(&self, place: Vec3A) -> bool {
        (place.cmpge(self.low) & place.cmple(self.high)).all()
    }

    #[inline]
    fn is_apart_from(&self, other: &Bounds) -> bool {
        (self.high.cmplt(other.low) | self.low.cmpgt(other.high)).any()
    }
}

/// Where skin and base points are \[m\].
pub(super) struct Now<'a, S> {
    pub skin: S,
    pub bases: &'a [Vec3],
}

impl<S: Fn(u32) -> Vec3> Now<'_, S> {
    #[inline]
    fn skin(&self, point: u32) -> Vec3A {
        Vec3A::from((self.skin)(point))
    }

    /// Around the column at a point, however the skin bends.
    #[inline]
    fn column_bounds(&self, point: u32, shell: f32) -> Bounds {
        let base = self.bases.get(point as usize).copied().unwrap_or_default();
        let (skin, base) = (self.skin(point), Vec3A::from(base));
        let (low, high) = (base.min(skin - shell), base.max(skin + shell));
        Bounds { low, high }
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
        for (number, fold) in pairs.folds.iter().enumerate() {
            let level = watch.levels[number];
            let corners = fold.corners[..level.corners].iter();
            watch.columns.clear();
            (watch.columns).extend(corners.map(|&v| now.column_bounds(v, surface.shell())));
            let boxes = (0..level.boxes as u32).map(|b| fold.box_corners.of(b));
            watch.boxes.clear();
            (watch.boxes).extend(boxes.map(|corners| Bounds::around(corners, &watch.columns)));
            for group in 0..level.groups {
                self.look_at_group(fold, group, now, &mut watch);
            }
        }
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

    /// Notes points of a group in boxes around prisms, by point.
    fn look_at_group(
        &self,
        fold: &Fold,
        group: usize,
        now: &Now<impl Fn(u32) -> Vec3>,
        watch: &mut Watch,
    ) {
        let points = &fold.groups[group];
        let is_looked_for = |p: u32| p != u32::MAX && !self.settled[p as usize];
        let mut all = Bounds::NOTHING;
        let places = points.map(|p| match is_looked_for(p) {
            true => now.skin(p),
            false => Vec3A::NAN,
        });
        for place in places.iter().filter(|place| !place.is_nan()) {
            (all.low, all.high) = (all.low.min(*place), all.high.max(*place));
        }
        let first = watch.close.len();
        let (numbers, bits) = fold.group_boxes.with(group as u32, &fold.bits);
        for (&number, &bits) in numbers.iter().zip(bits) {
            let around = watch.boxes[number as usize];
            if all.is_apart_from(&around) {
                continue;
            }
            for (k, &place) in places.iter().enumerate() {
                let bits = bits >> (k * TOGETHER) & 0xff;
                if bits == 0 || !around.contains(place) {
                    continue;
                }
                for i in (0..TOGETHER).filter(|i| bits >> i & 1 == 1) {
                    let triangle = number as usize * TOGETHER + i;
                    let corners = &fold.triangle_corners[triangle];
                    if Bounds::around(corners, &watch.columns).contains(place) {
                        watch.close.push((points[k], fold.triangles[triangle]));
                    }
                }
            }
        }
        watch.close[first..].sort_by_key(|(point, _)| *point);
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
