//! Local contact: contact around joints, between pairs that are known beforehand [seed 001 §5].
//!
//! Pairs are grouped into folds, one for every two bones whose skin can meet. A point of a fold is inactive until two
//! base points, one at the far end of each bone, come as near as they were when it was first detected. Active points
//! are tested against the prisms of their few triangles (`local_search.rs`); detected contacts are treated like any
//! others.

use glam::Vec3;
use supple_geom::simd::LANES;

use super::surface::{ContactSurface, Lists, Source};

/// Least number of pairs of a fold: smaller folds come from prisms that lean.
const MIN_PAIRS: usize = 4;
/// Share of a fold's pairs that is ignored in the activation distance, for the same reason.
const IGNORED_SHARE: f32 = 0.03;
/// Largest activation distance relative to the sentinels' distance at rest. At 1, folds whose sides are close at rest
/// would always be active.
const MAX_ACTIVATION: f32 = 0.95;

/// A point that was detected in the prism of a triangle, and the sentinels that tell when this may happen again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalPair {
    /// Index of the fold; pairs of a fold have the same sentinels.
    pub fold: u32,
    /// The skin point.
    pub point: u32,
    /// The triangle.
    pub triangle: u32,
    /// Skin points whose base points are at the far ends of the fold's two bones.
    pub sentinels: [u32; 2],
    /// Distance of these base points when the point was detected \[m\].
    pub distance: f32,
}

/// Skin points with the triangles that they can touch.
#[derive(Clone, Debug, Default)]
pub struct LocalPairs {
    pub(super) folds: Vec<Fold>,
}

/// All lists are in order of activation.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    sentinels: [u32; 2],
    levels: Vec<Level>,
    /// Points that are tested together; the last group of a level is padded with `u32::MAX`.
    pub groups: Vec<[u32; LANES]>,
    /// Boxes with triangles that the points of each group can touch.
    pub group_boxes: Lists,
    /// For each of these boxes and each point of the group, a mask of triangles: one byte per point.
    pub bits: Vec<u64>,
    /// Triangles, [`LANES`] in each box, padded in the same way.
    pub triangles: Vec<u32>,
    /// Unique corners of the triangles, and where their positions come from.
    pub corners: Vec<(u32, Source)>,
    /// Indices into `corners` of the triangles of each box; padding repeats the last triangle.
    pub boxes: Vec<[[u32; LANES]; 3]>,
    /// All corners of each box.
    pub box_corners: Lists,
}

/// How much of a fold is active.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    /// Active when the sentinels' base points are nearer than this \[m\].
    activation: f32,
    pub groups: usize,
    pub boxes: usize,
    pub corners: usize,
}

impl LocalPairs {
    /// From detected pairs. Neighbours of both the points and the triangles are added: with neighbours of the triangles
    /// alone, a fifth of an elbow stays inside.
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
            .filter(|pairs| pairs.len() >= MIN_PAIRS)
            .map(|pairs| Fold::new(surface, pairs));
        LocalPairs {
            folds: folds.collect(),
        }
    }

    /// Number of points in all folds.
    pub fn point_count(&self) -> usize {
        let groups = self.folds.iter().flat_map(|fold| &fold.groups);
        groups.flatten().filter(|&&p| p != u32::MAX).count()
    }
}

/// A point of a fold: its activation distance, and the triangles that it can touch.
#[derive(Default)]
struct FoldPoint {
    activation: f32,
    triangles: Vec<u32>,
}

impl Fold {
    /// How much of the fold is active.
    pub fn level(&self, bases: &[Vec3]) -> Level {
        let [a, b] = self.sentinels.map(|p| bases.get(p as usize));
        let distance = a.zip(b).map_or(f32::INFINITY, |(a, b)| a.distance(*b));
        let active = (self.levels).partition_point(|level| distance < level.activation);
        match active {
            0 => Level::default(),
            active => self.levels[active - 1],
        }
    }

    fn new(surface: &ContactSurface, pairs: &[LocalPair]) -> Fold {
        let mut distances: Vec<f32> = pairs.iter().map(|pair| pair.distance).collect();
        distances.sort_by(|a, b| b.total_cmp(a));
        let [a, b] = pairs[0].sentinels.map(|p| surface.input.bases[p as usize]);
        let first = distances[(IGNORED_SHARE * distances.len() as f32) as usize]
            .min(MAX_ACTIVATION * a.distance(b));
        let mut fold_points = std::collections::BTreeMap::<u32, FoldPoint>::new();
        for pair in pairs {
            let around = surface.around_triangle(pair.triangle);
            for point in surface.around_point(pair.point) {
                let fold_point = fold_points.entry(point).or_default();
                fold_point.activation = fold_point.activation.max(pair.distance.min(first));
                let others = around.iter().filter(|&&t| !surface.is_near(point, t));
                fold_point.triangles.extend(others);
            }
        }
        // Neighbours are tested together.
        let place_of_point = places(&surface.tree.points, surface.point_count());
        let place_of_triangle = places(&surface.tree.order, surface.triangles().len());
        let mut fold_points: Vec<(u32, FoldPoint)> = fold_points.into_iter().collect();
        fold_points.sort_by(|(p, a), (q, b)| {
            let place = |p: &u32| place_of_point[*p as usize];
            (b.activation.total_cmp(&a.activation)).then(place(p).cmp(&place(q)))
        });
        let mut fold = Fold {
            sentinels: pairs[0].sentinels,
            ..Fold::default()
        };
        let mut numbers = std::collections::HashMap::<u32, usize>::new();
        let mut corner_numbers = std::collections::HashMap::<u32, u32>::new();
        let mut group_boxes = Vec::new();
        for level in fold_points.chunk_by(|(_, a), (_, b)| a.activation == b.activation) {
            let all = level
                .iter()
                .flat_map(|(_, fold_point)| &fold_point.triangles);
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
                for (k, (point, fold_point)) in group.iter().enumerate() {
                    points[k] = *point;
                    for number in fold_point.triangles.iter().map(|t| numbers[t]) {
                        let bit = 1 << (k * LANES + number % LANES);
                        *bits.entry((number / LANES) as u32).or_default() |= bit;
                    }
                }
                fold.groups.push(points);
                fold.bits.extend(bits.values());
                group_boxes.push(bits.into_keys().collect());
            }
            fold.levels.push(Level {
                activation: level[0].1.activation,
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

    /// Makes boxes of triangles that are in none yet. `numbers` has the index of each corner.
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

/// Position of each number below `count` in a list.
fn places(list: &[u32], count: usize) -> Vec<u32> {
    let mut places = vec![0; count];
    for (&number, i) in list.iter().zip(0..) {
        if let Some(place) = places.get_mut(number as usize) {
            *place = i;
        }
    }
    places
}
