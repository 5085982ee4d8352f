//! Device tables of a contact surface: triangles and points in spatial order, and the tets below them.

use std::collections::BTreeMap;

use glam::Vec3;
use supple_sim::ContactSurface;
use supple_sim::contact::Source;

/// Triangles of a cluster.
pub const CLUSTER: usize = 64;
/// Triangles of an eighth of a cluster.
pub const EIGHTH: usize = CLUSTER / 8;
/// Bits of a point's index; the other bits encode the tets.
pub const INDEX_BITS: u32 = 20;
/// Code of a missing tet.
const NO_TET: u32 = 0xfff;
/// Marks triangles among the shells that a point is together with.
pub const TRIANGLE: u32 = 1 << 31;
/// Marks positions outside the model.
pub const GIVEN: u32 = 1 << 31;

/// The tables of one contact surface, as plain data.
#[derive(Clone, Debug, Default)]
pub struct ContactTables {
    /// Surface point at each device index.
    pub points: Vec<u32>,
    /// Surface triangle at each device index.
    pub triangles: Vec<u32>,
    /// Device index of each surface point.
    pub place_of_point: Vec<u32>,
    /// Device index of each surface triangle.
    pub place_of_triangle: Vec<u32>,
    /// Corners, tets and shell of the triangles: see `kernels/contact_boxes.wgsl`.
    pub records: Vec<[u32; 4]>,
    /// Neighbourhoods of the points: see `kernels/contact_points.wgsl`.
    pub rings: Vec<u32>,
    /// Start of the other two corners in `rings`.
    pub corners: u32,
    /// Start of the covering shells in `rings`.
    pub covers: u32,
}

impl ContactTables {
    /// `row_of` gives the row of a model vertex, free or fixed. `None` if there are too many points, or more than three
    /// tets below a triangle.
    pub fn new(surface: &ContactSurface, row_of: &dyn Fn(u32) -> u32) -> Option<ContactTables> {
        let input = surface.input();
        let (count, skin) = (surface.point_count(), &input.skin);
        if count > 1 << INDEX_BITS {
            return None;
        }
        let tets = tets_by_triangle(surface)?;
        let centre = |t: &[u32; 3]| t.iter().map(|&v| skin[v as usize]).sum::<Vec3>() / 3.0;
        let centres: Vec<Vec3> = surface.triangles().iter().map(centre).collect();
        let mut triangles: Vec<u32> = (0..centres.len() as u32).collect();
        split(&mut triangles, &centres);
        let points = points_in_order(surface, &triangles);
        let mut tables = ContactTables {
            place_of_point: inverse(&points),
            place_of_triangle: inverse(&triangles),
            ..ContactTables::default()
        };
        let place = |v: u32| tables.place_of_point[v as usize];
        tables.records = triangles
            .iter()
            .map(|&t| {
                let corners = surface.triangles()[t as usize];
                let tets = tets[t as usize];
                let [a, b, c] = [0, 1, 2].map(|k| place(corners[k]) | tets[k] << INDEX_BITS);
                [a, b, c, surface.shells()[corners[0] as usize]]
            })
            .collect();
        let source = |v: u32| match input.sources[v as usize] {
            Source::Vertex(v) => row_of(v),
            Source::Outside(i) => GIVEN | i,
        };
        let mut fans: Vec<Vec<[u32; 2]>> = vec![Vec::new(); count];
        for &[a, b, c] in surface.triangles() {
            for [a, b, c] in [[a, b, c], [b, c, a], [c, a, b]] {
                fans[a as usize].push([source(b), source(c)]);
            }
        }
        let rings = &mut tables.rings;
        rings.extend(points.iter().map(|&v| source(v)));
        let mut first = 0;
        rings.push(first);
        for &v in &points {
            first += fans[v as usize].len() as u32;
            rings.push(first);
        }
        let depth = |v: &u32| depth_at_rest(surface, *v).to_bits();
        rings.extend(points.iter().map(depth));
        tables.corners = rings.len() as u32;
        let around = points.iter().flat_map(|&v| &fans[v as usize]);
        rings.extend(around.flatten());
        tables.covers = rings.len() as u32;
        let place = |&t: &u32| TRIANGLE | tables.place_of_triangle[t as usize];
        add_covers(rings, &points, surface, &place);
        tables.points = points;
        tables.triangles = triangles;
        Some(tables)
    }

    /// Number of triangle clusters.
    pub fn clusters(&self) -> usize {
        self.triangles.len().div_ceil(CLUSTER)
    }
}

/// Adds one word per point, the start of its list, and then the lists: the shell of the point, a count, and as many
/// shells and triangles that it is together with. Points with the same list share it: most are together with nothing.
fn add_covers(
    rings: &mut Vec<u32>,
    points: &[u32],
    surface: &ContactSurface,
    place: &dyn Fn(&u32) -> u32,
) {
    let first = rings.len();
    rings.resize(first + points.len(), 0);
    let mut known = BTreeMap::new();
    for (i, &v) in points.iter().enumerate() {
        let (covers, overlaps) = (surface.covers_of(v), surface.overlaps_of(v));
        let mut list = vec![surface.shells()[v as usize], 0];
        list.extend(covers);
        list.extend(overlaps.iter().map(place));
        list[1] = list.len() as u32 - 2;
        let start = known.entry(list).or_insert_with_key(|list| {
            let start = rings.len() as u32;
            rings.extend(list);
            start
        });
        rings[first + i] = *start;
    }
}

/// Distance from a skin point to its base point at rest \[m\].
pub fn depth_at_rest(surface: &ContactSurface, point: u32) -> f32 {
    let (input, v) = (surface.input(), point as usize);
    input.skin[v].distance(input.bases[v])
}

/// Three tets per triangle, four corners of three bits each: 0 to 2 are its skin points, 3 to 5 their base points.
fn tets_by_triangle(surface: &ContactSurface) -> Option<Vec<[u32; 3]>> {
    let count = surface.point_count() as u32;
    let mut found: Vec<Vec<u32>> = vec![Vec::new(); surface.triangles().len()];
    for (corners, triangle) in &surface.input().tets {
        let Some(skin) = surface.triangles().get(*triangle as usize) else {
            continue;
        };
        let code = |v: u32| {
            let (v, below) = if v < count { (v, 0) } else { (v - count, 3) };
            skin.iter().position(|&s| s == v).map(|i| i as u32 + below)
        };
        if let [Some(a), Some(b), Some(c), Some(d)] = corners.map(code) {
            found[*triangle as usize].push(a | b << 3 | c << 6 | d << 9);
        }
    }
    let padded = |mut tets: Vec<u32>| {
        tets.resize(tets.len().max(3), NO_TET);
        <[u32; 3]>::try_from(tets).ok()
    };
    found.into_iter().map(padded).collect()
}

/// Orders triangles so that clusters, and eighths of clusters, are compact.
fn split(order: &mut [u32], centres: &[Vec3]) {
    if order.len() <= EIGHTH {
        return;
    }
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &t in order.iter() {
        low = low.min(centres[t as usize]);
        high = high.max(centres[t as usize]);
    }
    let axis = (high - low).max_position();
    let unit = if order.len() > CLUSTER {
        CLUSTER
    } else {
        EIGHTH
    };
    let middle = (order.len() / 2).next_multiple_of(unit);
    let key = |t: u32| (centres[t as usize][axis], t);
    order.select_nth_unstable_by(middle, |&a, &b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    });
    let (left, right) = order.split_at_mut(middle);
    split(left, centres);
    split(right, centres);
}

/// Points in order of the triangles, then those without any.
fn points_in_order(surface: &ContactSurface, triangles: &[u32]) -> Vec<u32> {
    let mut seen = vec![false; surface.point_count()];
    let corners = triangles
        .iter()
        .flat_map(|&t| surface.triangles()[t as usize]);
    corners
        .chain(0..surface.point_count() as u32)
        .filter(|&v| !std::mem::replace(&mut seen[v as usize], true))
        .collect()
}

fn inverse(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, &i) in order.iter().enumerate() {
        places[i as usize] = place as u32;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_lie_together() {
        let centres: Vec<Vec3> = (0..1000)
            .map(|i| Vec3::new((i * 617 % 1000) as f32, 0.0, 0.0))
            .collect();
        let mut order: Vec<u32> = (0..1000).collect();
        split(&mut order, &centres);
        for eighth in order.chunks(EIGHTH) {
            let x = eighth.iter().map(|&t| centres[t as usize].x);
            let (low, high) = (x.clone().fold(f32::MAX, f32::min), x.fold(0.0, f32::max));
            assert!(high - low < EIGHTH as f32);
        }
        order.sort_unstable();
        assert!(order.into_iter().eq(0..1000));
    }
}
