//! Contact around joints alone: who may meet whom is known beforehand [seed 001 §5].
//!
//! Pairs come in folds, one for every two bones that can meet. A point of a fold sleeps until two base points, one at the far end of each
//! bone, come as near as they were before it was found first. Points that are awake are looked for in the prisms of their own few
//! triangles (`watch.rs`); what is found is a contact like any other.

use glam::Vec3;
use supple_geom::simd::LANES;

use super::surface::{ContactSurface, Lists, Source};

/// Folds with fewer pairs are left out: prisms that lean over.
const FEWEST: usize = 4;
/// Share of a fold's pairs that may meet before any of its points wakes, for the same reason.
const EARLY: f32 = 0.03;
/// Share of their distance at rest below which sentinels wake a fold in any case: at 1, what lies close at rest never sleeps.
const BENT: f32 = 0.95;

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
    pub(super) folds: Vec<Fold>,
}

/// All lists are in the order in which they wake.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    sentinels: [u32; 2],
    levels: Vec<Level>,
    /// Points that are looked for together; the last ones of a level are filled up with `u32::MAX`.
    pub groups: Vec<[u32; LANES]>,
    /// Boxes with triangles that points of each group can meet.
    pub group_boxes: Lists,
    /// For each of these and each point, the triangles: a bit for each of the box, a byte for each point.
    pub bits: Vec<u64>,
    /// Triangles, [`LANES`] to each box, filled up likewise.
    pub triangles: Vec<u32>,
    /// Corners of triangles, each once, and where these come from.
    pub corners: Vec<(u32, Source)>,
    /// Which of these the triangles of each box have; those that fill up have them of the last.
    pub boxes: Vec<[[u32; LANES]; 3]>,
    /// All of each box.
    pub box_corners: Lists,
}

/// How much of a fold is awake.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    /// When the base points of the sentinels are nearer \[m\].
    waking: f32,
    pub groups: usize,
    pub boxes: usize,
    pub corners: usize,
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
    pub fn level(&self, bases: &[Vec3]) -> Level {
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
            }
            let filled = fold.triangles.len().next_multiple_of(LANES);
            fold.triangles.resize(filled, u32::MAX);
            fold.add_boxes(surface, &mut corner_numbers);
            for group in level.chunks(LANES) {
                let mut bits = std::collections::BTreeMap::<u32, u64>::new();
                let mut points = [u32::MAX; LANES];
                for (k, (point, sleeper)) in group.iter().enumerate() {
                    points[k] = *point;
                    for number in sleeper.triangles.iter().map(|t| numbers[t]) {
                        let bit = 1 << (k * LANES + number % LANES);
                        *bits.entry((number / LANES) as u32).or_default() |= bit;
                    }
                }
                fold.groups.push(points);
                fold.bits.extend(bits.values());
                group_boxes.push(bits.into_keys().collect());
            }
            fold.levels.push(Level {
                waking: level[0].1.waking,
                groups: fold.groups.len(),
                boxes: fold.boxes.len(),
                corners: fold.corners.len(),
            });
        }
        fold.group_boxes = Lists::new(group_boxes);
        fold.box_corners = Lists::new(fold.boxes.iter().map(|of_box| {
            let mut corners = of_box.concat();
            corners.sort_unstable();
            corners.dedup();
            corners
        }));
        fold
    }

    /// Makes boxes of triangles that are in none. `numbers` tells which corners there are.
    fn add_boxes(
        &mut self,
        surface: &ContactSurface,
        numbers: &mut std::collections::HashMap<u32, u32>,
    ) {
        for triangles in self.triangles[self.boxes.len() * LANES..].chunks_exact(LANES) {
            let mut of_box = [[0; LANES]; 3];
            let mut last = [0; 3];
            for (k, &triangle) in triangles.iter().enumerate() {
                if let Some(corners) = surface.triangles().get(triangle as usize) {
                    last = corners.map(|corner| {
                        *numbers.entry(corner).or_insert_with(|| {
                            self.corners
                                .push((corner, surface.input.sources[corner as usize]));
                            self.corners.len() as u32 - 1
                        })
                    });
                }
                for (corners, number) in of_box.iter_mut().zip(last) {
                    corners[k] = number;
                }
            }
            self.boxes.push(of_box);
        }
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
