//! The skin for contact: triangles, base points below them, exclusions.

use std::sync::OnceLock;

use glam::Vec3;
use supple_geom::shells::shells;
use supple_geom::simd::LANES;
use supple_geom::{Aabb, TriMesh};

use super::covers::Covers;
use super::local::LocalPairs;
use super::measure::points_in_own_shell;
use super::rest_overlaps::rest_overlaps;
use super::rules::{GAP, SHELL};
use super::tree::Tree;

/// Where a skin point gets its position from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A vertex of the model, free or fixed.
    Vertex(u32),
    /// An entry of [`Targets::outside`](crate::Targets::outside): skin that is not simulated and moves with the bones.
    Outside(u32),
}

/// Input of a contact surface.
#[derive(Clone, Debug, Default)]
pub struct SurfaceInput {
    /// Where each skin point gets its position from.
    pub sources: Vec<Source>,
    /// Rest positions of the skin points \[m\].
    pub skin: Vec<Vec3>,
    /// Rest positions of the base points, one per skin point \[m\].
    pub bases: Vec<Vec3>,
    /// Skin triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Tets between skin and base points, and the triangle each belongs to. Corners below the number of skin points are
    /// skin points, the others base points; volumes are positive at rest.
    pub tets: Vec<([u32; 4], u32)>,
}

/// Skin triangles with prisms below them.
#[derive(Clone, Debug)]
pub struct ContactSurface {
    pub(crate) input: SurfaceInput,
    /// Corners of each tet: 0 to 2 the triangle's skin points, 3 to 5 their base points.
    pub(crate) tets: Vec<[u8; 4]>,
    pub(crate) tet_starts: Vec<u32>,
    /// Triangles at each skin point, as indices in tree order.
    pub(crate) fans: Lists,
    /// Triangles at each skin point and its neighbours, ascending: excluded from contact with it. With one more ring,
    /// folds of bent joints stay inside themselves.
    pub(crate) near: Lists,
    /// The same by leaves of the tree: leaf × 256 + mask of its prisms.
    near_leaves: Lists,
    /// Connected component of each skin point.
    pub(crate) shells: Vec<u32>,
    /// Shells that lie in or on each other at rest.
    pub(crate) covers: Covers,
    /// Skin points that are inside their own shell at rest, ascending.
    pub(crate) inside_at_rest: Vec<u32>,
    pub(crate) tree: Tree,
    /// Groups of connected skin points, at most [`GROUP`] in each.
    pub(crate) groups: Vec<Vec<u32>>,
    /// The other two corners of the triangles at each skin point, in order.
    rims: (Vec<u32>, Vec<[u32; 2]>),
    /// Pairs for local contact.
    local: OnceLock<LocalPairs>,
    /// Mean edge \[m\].
    pub(crate) edge: f32,
    /// Longest side of the box around the largest connected component at rest \[m\].
    size: f32,
}

/// Largest number of skin points that are tested together for substeps. With fewer, the test takes a tenth of a step;
/// with more, a hand is grouped with its arm, and seems to hit whatever it passes.
const GROUP: usize = 64;

/// Lists of different lengths, stored without gaps.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    /// From lists.
    pub fn new(lists: impl IntoIterator<Item = Vec<u32>>) -> Lists {
        let mut result = Lists {
            starts: vec![0],
            entries: Vec::new(),
        };
        for list in lists {
            result.entries.extend(list);
            result.starts.push(result.entries.len() as u32);
        }
        result
    }

    /// Whether there are no lists.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.starts.len() < 2
    }

    /// List `i`.
    #[inline]
    pub fn of(&self, i: u32) -> &[u32] {
        let i = i as usize;
        &self.entries[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// List `i`, with the values that belong to its entries.
    #[inline]
    pub fn with<'a, T>(&self, i: u32, of_entries: &'a [T]) -> (&[u32], &'a [T]) {
        let range = self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize;
        (&self.entries[range.clone()], &of_entries[range])
    }
}

impl ContactSurface {
    /// Prepares a surface; what overlaps at rest is found, and left out of contact. Triangles and tets with corners out of range are
    /// dropped.
    pub fn new(mut input: SurfaceInput) -> ContactSurface {
        let count = input.skin.len();
        input.sources.truncate(count);
        input.bases.truncate(count);
        let whole = input.sources.len() == count && input.bases.len() == count;
        if !whole {
            input.triangles.clear();
        }
        let fits = |t: &[u32; 3]| t.iter().all(|&v| (v as usize) < count);
        if !input.triangles.iter().all(fits) {
            input.triangles.clear();
        }
        let (tets, tet_starts) = tets_by_triangle(&input);
        let fans = fans(count, &input.triangles);
        let near = near(count, &input.triangles, &fans);
        let tree = Tree::new(&input.skin, &input.triangles);
        let mut number = vec![0; input.triangles.len()];
        for (i, &t) in tree.order.iter().enumerate() {
            if let Some(slot) = number.get_mut(t as usize) {
                *slot = i as u32;
            }
        }
        let fans = Lists::new((0..count as u32).map(|v| {
            let fan = fans.of(v).iter();
            fan.map(|&t| number[t as usize]).collect()
        }));
        let near_leaves = Lists::new((0..count as u32).map(|v| {
            let mut leaves: Vec<u32> = Vec::new();
            let mut numbers: Vec<u32> = near.of(v).iter().map(|&t| number[t as usize]).collect();
            numbers.sort_unstable();
            for i in numbers {
                let (leaf, bit) = (i / LANES as u32, 1 << (i % LANES as u32));
                match leaves.last_mut() {
                    Some(last) if *last >> 8 == leaf => *last |= bit,
                    _ => leaves.push(leaf << 8 | bit),
                }
            }
            leaves
        }));
        let shells = shells_of_points(&input);
        let edge = mean_edge(&input);
        let mut surface = ContactSurface {
            groups: groups(&tree.points, count, &input.triangles),
            tree,
            near_leaves,
            rims: rims(count, &input.triangles),
            local: OnceLock::new(),
            edge,
            covers: Covers::new(&input, &shells, edge),
            size: largest_piece(&input, &shells),
            shells,
            inside_at_rest: Vec::new(),
            tets,
            tet_starts,
            fans,
            near,
            input,
        };
        let overlaps = rest_overlaps(&surface);
        surface.covers.add_triangles(overlaps);
        surface.inside_at_rest = points_in_own_shell(&surface, &surface.input.skin);
        surface
    }

    /// Number of skin points.
    pub fn point_count(&self) -> usize {
        self.input.skin.len()
    }

    /// Skin triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.input.triangles
    }

    /// Corners of a triangle; empty if there is no such triangle.
    pub(crate) fn corners(&self, triangle: u32) -> &[u32] {
        let corners = self.input.triangles.get(triangle as usize);
        corners.map_or(&[], |corners| corners)
    }

    /// Rest positions of the skin points outside the model, in the order of [`Source::Outside`] \[m\].
    pub fn rest_outside(&self) -> Vec<Vec3> {
        let mut outside = Vec::new();
        for (source, &position) in self.input.sources.iter().zip(&self.input.skin) {
            if let Source::Outside(i) = *source {
                let i = i as usize;
                outside.resize(outside.len().max(i + 1), Vec3::ZERO);
                outside[i] = position;
            }
        }
        outside
    }

    /// The input.
    pub fn input(&self) -> &SurfaceInput {
        &self.input
    }

    /// Mean length of the triangles' edges \[m\].
    pub fn mean_edge(&self) -> f32 {
        self.edge
    }

    /// Longest side of the box around the largest connected component at rest \[m\]: the height of a body, even where
    /// several bodies or many pieces of clothing share one surface.
    pub fn size(&self) -> f32 {
        self.size
    }

    /// Distance at which contacts are detected \[m\].
    pub fn shell(&self) -> f32 {
        SHELL * self.edge
    }

    /// Distance that contacts keep \[m\].
    pub fn gap(&self) -> f32 {
        GAP * self.edge
    }

    /// Distance from a skin point to its base point at rest, at least a mean edge \[m\]: thinner tissue still folds by its edges.
    pub(crate) fn thickness(&self, point: u32) -> f32 {
        let point = point as usize;
        let depth = self.input.skin[point].distance(self.input.bases[point]);
        depth.max(self.edge)
    }

    pub(crate) fn is_inside_at_rest(&self, point: u32) -> bool {
        self.inside_at_rest.binary_search(&point).is_ok()
    }

    pub(crate) fn tets_of(&self, triangle: u32) -> &[[u8; 4]] {
        let t = triangle as usize;
        &self.tets[self.tet_starts[t] as usize..self.tet_starts[t + 1] as usize]
    }

    /// Triangles at a skin point.
    pub(crate) fn triangles_at(&self, point: u32) -> impl Iterator<Item = u32> {
        let numbers = self.fans.of(point).iter();
        numbers.map(|&i| self.tree.order[i as usize])
    }

    pub(crate) fn is_near(&self, point: u32, triangle: u32) -> bool {
        self.near.of(point).binary_search(&triangle).is_ok()
    }

    /// Shell of a triangle.
    #[inline]
    pub(crate) fn shell_of(&self, triangle: u32) -> u32 {
        self.shells[self.input.triangles[triangle as usize][0] as usize]
    }

    /// Shell of each skin point: its connected component.
    pub fn shells(&self) -> &[u32] {
        &self.shells
    }

    /// Other shells that a skin point is in, or close to, at rest; ascending.
    pub fn covers_of(&self, point: u32) -> &[u32] {
        self.covers.of(point)
    }

    /// Triangles that a skin point overlaps at rest, and those beside them; ascending.
    pub fn overlaps_of(&self, point: u32) -> &[u32] {
        self.covers.triangles_of(point)
    }

    /// Whether a point and a triangle lie in or on each other at rest, or belong to shells that do there: they are never
    /// in contact.
    #[inline]
    pub(crate) fn are_together(&self, point: u32, triangle: u32) -> bool {
        if self.covers.is_empty() {
            return false;
        }
        let (own, other) = (self.shells[point as usize], self.shell_of(triangle));
        if own == other {
            return self
                .covers
                .triangles_of(point)
                .binary_search(&triangle)
                .is_ok();
        }
        let covers = |point: u32, shell: u32| self.covers.of(point).contains(&shell);
        covers(point, other) || self.corners(triangle).iter().any(|&v| covers(v, own))
    }

    /// Pairs for local contact; `find` is called the first time only. Finding them takes a while, so a model has none
    /// until they are asked for.
    pub fn local_pairs_or_find(&self, find: impl FnOnce(&Self) -> LocalPairs) -> &LocalPairs {
        self.local.get_or_init(|| find(self))
    }

    /// Pairs for local contact, if they have been found.
    pub fn local_pairs(&self) -> Option<&LocalPairs> {
        self.local.get()
    }

    /// The other two corners of the triangles at a skin point.
    #[inline]
    pub(crate) fn rim(&self, point: u32) -> &[[u32; 2]] {
        let (starts, ends) = &self.rims;
        let v = point as usize;
        &ends[starts[v] as usize..starts[v + 1] as usize]
    }

    /// A skin point and its neighbours.
    pub(crate) fn around_point(&self, point: u32) -> Vec<u32> {
        let mut around: Vec<u32> = self.rim(point).iter().flatten().copied().collect();
        around.push(point);
        around.sort_unstable();
        around.dedup();
        around
    }

    /// A triangle and those that share a corner with it.
    pub(crate) fn around_triangle(&self, triangle: u32) -> Vec<u32> {
        let corners = self.triangles()[triangle as usize];
        let fan = |&v: &u32| self.triangles_at(v);
        let mut around: Vec<u32> = corners.iter().flat_map(fan).collect();
        around.sort_unstable();
        around.dedup();
        around
    }

    /// Mask of the prisms of a leaf that are [near](Self::is_near) a point.
    #[inline]
    pub(crate) fn near_in_leaf(&self, point: u32, leaf: u32) -> u8 {
        let mut near = self.near_leaves.of(point).iter();
        near.find(|&&entry| entry >> 8 == leaf)
            .map_or(0, |&entry| entry as u8)
    }
}

fn tets_by_triangle(input: &SurfaceInput) -> (Vec<[u8; 4]>, Vec<u32>) {
    let count = input.skin.len() as u32;
    let mut lists = vec![Vec::new(); input.triangles.len()];
    for (corners, triangle) in &input.tets {
        let Some(skin) = input.triangles.get(*triangle as usize) else {
            continue;
        };
        let local = corners.map(|v| {
            let (v, below) = if v < count { (v, 0) } else { (v - count, 3) };
            skin.iter().position(|&s| s == v).map(|i| i as u8 + below)
        });
        if let [Some(a), Some(b), Some(c), Some(d)] = local {
            lists[*triangle as usize].push([a, b, c, d]);
        }
    }
    let mut starts = vec![0];
    let mut tets = Vec::with_capacity(input.tets.len());
    for list in lists {
        tets.extend(list);
        starts.push(tets.len() as u32);
    }
    (tets, starts)
}

fn shells_of_points(input: &SurfaceInput) -> Vec<u32> {
    let mesh = TriMesh {
        positions: input.skin.clone(),
        triangles: input.triangles.clone(),
    };
    shells(&mesh).of_vertex
}

fn largest_piece(input: &SurfaceInput, shells: &[u32]) -> f32 {
    let mut boxes = std::collections::BTreeMap::<u32, Aabb>::new();
    let points = shells.iter().zip(&input.skin);
    // Points without triangles are in no component.
    for (&shell, &position) in points.filter(|(shell, _)| **shell != u32::MAX) {
        let of_shell = boxes.entry(shell).or_insert(Aabb::EMPTY);
        *of_shell = of_shell.union(Aabb::around(position, 0.0));
    }
    let sizes = boxes.values().map(|b| (b.max - b.min).max_element());
    sizes.filter(|size| size.is_finite()).fold(0.0, f32::max)
}

fn fans(count: usize, triangles: &[[u32; 3]]) -> Lists {
    let mut fans = vec![Vec::new(); count];
    for (t, corners) in triangles.iter().enumerate() {
        for &v in corners {
            fans[v as usize].push(t as u32);
        }
    }
    Lists::new(fans)
}

fn near(count: usize, triangles: &[[u32; 3]], fans: &Lists) -> Lists {
    let ring = |points: &[u32]| {
        let mut around: Vec<u32> = points.iter().flat_map(|&v| fans.of(v)).copied().collect();
        around.sort_unstable();
        around.dedup();
        around
    };
    let corners = |around: &[u32]| {
        let mut points: Vec<u32> = around.iter().flat_map(|&t| triangles[t as usize]).collect();
        points.sort_unstable();
        points.dedup();
        points
    };
    let around = |v: u32| ring(&corners(&ring(&[v])));
    Lists::new((0..count as u32).map(around))
}

/// Cuts points into chunks, and chunks into connected groups: the tree's order may jump from one limb to another.
fn groups(points: &[u32], count: usize, triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let mut chunk = vec![usize::MAX; count];
    for (i, &point) in points.iter().enumerate() {
        chunk[point as usize] = i / GROUP;
    }
    let edges = (triangles.iter()).flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let edges = edges.filter(|&[v, w]| chunk[v as usize] == chunk[w as usize]);
    let parts = shells(&TriMesh {
        positions: vec![Vec3::ZERO; count],
        triangles: edges.map(|[v, w]| [v, w, w]).collect(),
    });
    let mut number = vec![usize::MAX; parts.count];
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for &point in points {
        // A point without neighbours in its chunk is a group of its own.
        let part = number.get_mut(parts.of_vertex[point as usize] as usize);
        let mut alone = usize::MAX;
        let slot = part.unwrap_or(&mut alone);
        if *slot == usize::MAX {
            *slot = groups.len();
            groups.push(Vec::new());
        }
        groups[*slot].push(point);
    }
    groups
}

fn rims(count: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<[u32; 2]>) {
    let mut lists = vec![Vec::new(); count];
    for &[a, b, c] in triangles {
        lists[a as usize].push([b, c]);
        lists[b as usize].push([c, a]);
        lists[c as usize].push([a, b]);
    }
    let mut starts = vec![0];
    let mut ends = Vec::with_capacity(3 * triangles.len());
    for list in lists {
        ends.extend(list);
        starts.push(ends.len() as u32);
    }
    (starts, ends)
}

fn mean_edge(input: &SurfaceInput) -> f32 {
    let mut sum = 0.0_f64;
    for &[a, b, c] in &input.triangles {
        for (i, j) in [(a, b), (b, c), (c, a)] {
            sum += f64::from(input.skin[i as usize].distance(input.skin[j as usize]));
        }
    }
    let mean = (sum / (3 * input.triangles.len().max(1)) as f64) as f32;
    if mean.is_finite() { mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::GROUP;
    use crate::conformance::some_pads;

    #[test]
    fn groups_are_connected() {
        let model = some_pads(2);
        let surface = model.contact_surface().expect("surface");
        let mut seen = vec![false; surface.point_count()];
        for group in &surface.groups {
            assert!(group.len() <= GROUP && !group.is_empty());
            let shell = |&point: &u32| surface.shells[point as usize];
            assert!(group.iter().all(|point| shell(point) == shell(&group[0])));
            for &point in group {
                assert!(!std::mem::replace(&mut seen[point as usize], true));
            }
        }
        assert!(seen.iter().all(|&seen| seen), "all points are in a group");
    }

    #[test]
    fn triangles_at_a_point_are_those_that_have_it() {
        let model = some_pads(2);
        let surface = model.contact_surface().expect("surface");
        for point in 0..surface.point_count() as u32 {
            let mut found: Vec<u32> = surface.triangles_at(point).collect();
            found.sort_unstable();
            let all = surface.triangles().iter().zip(0..);
            let expected = all.filter(|(corners, _)| corners.contains(&point));
            let expected: Vec<u32> = expected.map(|(_, t)| t).collect();
            assert_eq!(found, expected, "point {point}");
        }
    }
}
