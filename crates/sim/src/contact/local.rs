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
    /// Triangles of each point.
    triangles: Lists,
    /// All points, and corners of all triangles.
    corners: Vec<u32>,
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

    /// Folds that are awake with these base points.
    fn awake<'a>(&'a self, bases: &'a [Vec3]) -> impl Iterator<Item = &'a Fold> {
        self.folds.iter().filter(|fold| {
            let [a, b] = fold.sentinels.map(|p| bases.get(p as usize));
            a.zip(b).is_some_and(|(a, b)| a.distance(*b) < fold.waking)
        })
    }
}

impl Fold {
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
        let mut corners: Vec<u32> = candidates.keys().copied().collect();
        let triangles = candidates.values().flatten();
        corners.extend(triangles.flat_map(|&t| surface.triangles()[t as usize]));
        corners.sort_unstable();
        corners.dedup();
        let mut distances: Vec<f32> = pairs.iter().map(|pair| pair.distance).collect();
        distances.sort_by(|a, b| b.total_cmp(a));
        let [a, b] = pairs[0].sentinels.map(|p| surface.input.bases[p as usize]);
        let at_rest = a.distance(b);
        Fold {
            sentinels: pairs[0].sentinels,
            waking: distances[(EARLY * distances.len() as f32) as usize].min(BENT * at_rest),
            points: candidates.keys().copied().collect(),
            triangles: Lists::new(candidates.into_values()),
            corners,
        }
    }
}

/// What local contact looks at in a step.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    corners: Vec<u32>,
    seen: Vec<bool>,
    points: Vec<(u32, u32, u32)>,
}

impl Detector {
    /// Looks for the points of folds that are awake in their triangles' prisms. `more` are points whose place is needed besides.
    pub fn search_folds(
        &mut self,
        surface: &ContactSurface,
        pairs: &LocalPairs,
        bases: &[Vec3],
        skin: &(dyn Fn(u32) -> Vec3 + Sync),
        more: impl Iterator<Item = u32>,
    ) {
        let mut watch = std::mem::take(&mut self.watch);
        watch.corners.clear();
        watch.points.clear();
        watch.seen.resize(surface.point_count(), false);
        let awake: Vec<&Fold> = pairs.awake(bases).collect();
        let corners = awake.iter().flat_map(|fold| &fold.corners).copied();
        for corner in corners.chain(more) {
            if let Some(seen) = watch.seen.get_mut(corner as usize)
                && !std::mem::replace(seen, true)
            {
                watch.corners.push(corner);
            }
        }
        for &corner in &watch.corners {
            watch.seen[corner as usize] = false;
        }
        for (f, fold) in awake.iter().enumerate() {
            let points = fold.points.iter().enumerate();
            (watch.points).extend(points.map(|(i, &point)| (f as u32, i as u32, point)));
        }
        self.update_some(surface, &watch.corners, skin, &|v| {
            bases.get(v as usize).copied().unwrap_or_default()
        });
        let mut slots = std::mem::take(&mut self.slots);
        slots.resize(watch.points.len(), NOT_FOUND);
        slots
            .par_iter_mut()
            .with_min_len(CHUNK)
            .zip(&watch.points)
            .for_each(|(slot, &(fold, i, point))| {
                *slot = self.least_deep(surface, point, awake[fold as usize].triangles.of(i));
            });
        self.slots = slots;
        self.watch = watch;
    }

    fn least_deep(&self, surface: &ContactSurface, point: u32, triangles: &[u32]) -> Found {
        let (at, normal) = (self.skin(point), self.normals[point as usize]);
        let mut best = NOT_FOUND;
        for &triangle in triangles {
            if !self.may_hold(surface, triangle, at) {
                continue;
            }
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

    /// Whether a point is in the box around a prism.
    #[inline]
    fn may_hold(&self, surface: &ContactSurface, triangle: u32, at: Vec3A) -> bool {
        let (mut low, mut high) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        for v in surface.triangles()[triangle as usize] {
            let (top, base) = self.column(v);
            low = low.min(top.min(base));
            high = high.max(top.max(base));
        }
        !(at.cmplt(low) | at.cmpgt(high)).any()
    }
}
