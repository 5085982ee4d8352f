//! Contact around joints alone: who may meet whom is known beforehand [seed 001 §5].
//!
//! Pairs come in folds, one for every two bones that can meet. A fold sleeps until two base points, one at the far end of each bone, come as
//! near as they were before its skin met first. Of folds that are awake, every point is looked for in the prisms of
//! its own few triangles; what is found is a contact like any other.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::detect::{Detector, FACING, Found, NOT_FOUND};
use super::surface::{ContactSurface, Lists};

/// Folds with fewer pairs are left out: prisms that lean over.
const FEWEST: usize = 4;
/// Share of a fold's pairs that may meet before it wakes, for the same reason.
const EARLY: f32 = 0.03;
/// Points that a thread takes at a time.
const CHUNK: usize = 64;
/// Share of their distance at rest below which sentinels wake a fold in any case: at 1, what lies close at rest never sleeps.
const BENT: f32 = 0.95;
/// A point that begins to touch deep inside must face the triangle by this cosine: prisms of bent limbs lean over skin that they are
/// not below. At 0, knees that do not touch are pushed; at −0.7, elbows that are put together stay inside.
const DEEP_FACING: f32 = -0.3;

/// A point that was found in the prism of a triangle, and what tells that it may be again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalPair {
    /// Pairs of the same number wake together.
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

#[derive(Clone, Debug, Default)]
struct Fold {
    sentinels: [u32; 2],
    /// Awake when the base points of the sentinels are nearer \[m\].
    waking: f32,
    points: Vec<u32>,
    /// Triangles of each point, as numbers among all.
    triangles: Lists,
    /// All triangles, ascending.
    all: Vec<u32>,
    /// All points, and corners of all triangles.
    corners: Vec<u32>,
    /// These and their neighbours.
    around: Vec<u32>,
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
        self.folds.iter().map(|fold| fold.points.len()).sum()
    }
}

impl Fold {
    fn is_awake(&self, bases: &[Vec3]) -> bool {
        let [a, b] = self.sentinels.map(|p| bases.get(p as usize));
        a.zip(b).is_some_and(|(a, b)| a.distance(*b) < self.waking)
    }

    fn new(surface: &ContactSurface, pairs: &[LocalPair]) -> Fold {
        let mut candidates = std::collections::BTreeMap::<u32, Vec<u32>>::new();
        for pair in pairs {
            let around = surface.around_triangle(pair.triangle);
            for point in surface.around_point(pair.point) {
                let list = candidates.entry(point).or_default();
                list.extend(around.iter().filter(|&&t| !surface.is_near(point, t)));
            }
        }
        for list in candidates.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        let mut all: Vec<u32> = candidates.values().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        for triangle in candidates.values_mut().flatten() {
            *triangle = all.partition_point(|t| t < triangle) as u32;
        }
        let mut corners: Vec<u32> = candidates.keys().copied().collect();
        corners.extend(all.iter().flat_map(|&t| surface.triangles()[t as usize]));
        corners.sort_unstable();
        corners.dedup();
        let around = corners.iter().flat_map(|&v| surface.around_point(v));
        let mut around: Vec<u32> = around.collect();
        around.sort_unstable();
        around.dedup();
        let mut distances: Vec<f32> = pairs.iter().map(|pair| pair.distance).collect();
        distances.sort_by(|a, b| b.total_cmp(a));
        let [a, b] = pairs[0].sentinels.map(|p| surface.input.bases[p as usize]);
        let at_rest = a.distance(b);
        Fold {
            sentinels: pairs[0].sentinels,
            waking: distances[(EARLY * distances.len() as f32) as usize].min(BENT * at_rest),
            points: candidates.keys().copied().collect(),
            triangles: Lists::new(candidates.into_values()),
            all,
            corners,
            around,
        }
    }
}

/// What local contact looks at in a step.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Which folds are awake.
    awake: Vec<bool>,
    corners: Once,
    around: Once,
    /// How many of these are of folds that are awake; the others are of this step alone.
    of_folds: [usize; 2],
    /// Fold, number in the fold and skin point of each.
    points: Vec<(u32, u32, u32)>,
    /// Boxes around the prisms of the folds that are awake, and where those of each fold begin.
    boxes: Vec<[Vec3A; 2]>,
    first_boxes: Vec<u32>,
    triangles: Vec<u32>,
}

impl Watch {
    /// Looks at the folds that are awake, and at nothing else.
    fn start(&mut self, surface: &ContactSurface, pairs: &LocalPairs, bases: &[Vec3]) {
        let is_awake = |fold: &Fold| fold.is_awake(bases);
        let is_same = self.corners.seen.len() == surface.point_count()
            && pairs
                .folds
                .iter()
                .map(is_awake)
                .eq(self.awake.iter().copied());
        if is_same {
            self.corners.truncate(self.of_folds[0]);
            self.around.truncate(self.of_folds[1]);
            return;
        }
        self.awake.clear();
        self.awake.extend(pairs.folds.iter().map(is_awake));
        self.corners.start(surface.point_count());
        self.around.start(surface.point_count());
        self.points.clear();
        self.first_boxes.clear();
        self.triangles.clear();
        for ((fold, &is_awake), f) in pairs.folds.iter().zip(&self.awake).zip(0..) {
            self.first_boxes.push(self.triangles.len() as u32);
            if is_awake {
                self.corners.add(&fold.corners);
                self.around.add(&fold.around);
                let points = fold.points.iter().zip(0..);
                (self.points).extend(points.map(|(&point, i)| (f, i, point)));
                self.triangles.extend(&fold.all);
            }
        }
        self.of_folds = [self.corners.list.len(), self.around.list.len()];
    }
}

/// Numbers, each once.
#[derive(Clone, Debug, Default)]
struct Once {
    list: Vec<u32>,
    seen: Vec<bool>,
}

impl Once {
    fn start(&mut self, count: usize) {
        self.list.clear();
        self.seen.clear();
        self.seen.resize(count, false);
    }

    /// Keeps the first ones.
    fn truncate(&mut self, count: usize) {
        for i in self.list.drain(count..) {
            self.seen[i as usize] = false;
        }
    }

    /// Whether any was new.
    fn add<'a>(&mut self, numbers: impl IntoIterator<Item = &'a u32>) -> bool {
        let before = self.list.len();
        for &i in numbers {
            if let Some(seen) = self.seen.get_mut(i as usize)
                && !std::mem::replace(seen, true)
            {
                self.list.push(i);
            }
        }
        self.list.len() > before
    }
}

impl Detector {
    /// Takes positions of the points of folds that are awake, of the corners of their triangles, and of `more` points.
    pub(super) fn update_folds(
        &mut self,
        surface: &ContactSurface,
        pairs: &LocalPairs,
        bases: &[Vec3],
        skin: &(dyn Fn(u32) -> Vec3 + Sync),
        more: impl Iterator<Item = u32>,
    ) {
        let mut watch = std::mem::take(&mut self.watch);
        watch.start(surface, pairs, bases);
        for point in more {
            if watch.corners.add(&[point]) {
                watch.around.add(&[point]);
                watch.around.add(surface.rim(point).iter().flatten());
            }
        }
        self.update_some(
            surface,
            &watch.corners.list,
            &watch.around.list,
            skin,
            bases,
        );
        (watch.triangles.par_iter())
            .with_min_len(4 * CHUNK)
            .map(|&t| self.prism_box(surface, t))
            .collect_into_vec(&mut watch.boxes);
        self.watch = watch;
    }

    /// Looks for the points of folds that are awake in their triangles' prisms.
    pub(super) fn search_folds(&mut self, surface: &ContactSurface, pairs: &LocalPairs) {
        let mut slots = std::mem::take(&mut self.slots);
        let points = &self.watch.points;
        slots.resize(points.len(), NOT_FOUND);
        slots
            .par_iter_mut()
            .with_min_len(CHUNK)
            .zip(points)
            .for_each(|(slot, &(fold, i, point))| {
                *slot = match self.settled[point as usize] {
                    true => NOT_FOUND,
                    false => {
                        let boxes =
                            &self.watch.boxes[self.watch.first_boxes[fold as usize] as usize..];
                        self.least_deep(surface, point, &pairs.folds[fold as usize], i, boxes)
                    }
                };
            });
        self.slots = slots;
    }

    /// The prism that point `i` of a fold is least deep in, given the boxes around the fold's prisms.
    fn least_deep(
        &self,
        surface: &ContactSurface,
        point: u32,
        fold: &Fold,
        i: u32,
        boxes: &[[Vec3A; 2]],
    ) -> Found {
        let (at, normal) = (self.skin(point), self.normals[point as usize]);
        let mut best = NOT_FOUND;
        for &number in fold.triangles.of(i) {
            let [low, high] = boxes[number as usize];
            if (at.cmplt(low) | at.cmpgt(high)).any() {
                continue;
            }
            let triangle = fold.all[number as usize];
            let Some(found) = self.point_in_prism(surface, point, triangle) else {
                continue;
            };
            let cosine = found.normal.dot(normal);
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

    fn prism_box(&self, surface: &ContactSurface, triangle: u32) -> [Vec3A; 2] {
        let (mut low, mut high) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        for v in surface.triangles()[triangle as usize] {
            let (top, base) = self.column(v);
            low = low.min(top.min(base));
            high = high.max(top.max(base));
        }
        [low, high]
    }
}
