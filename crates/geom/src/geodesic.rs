//! Geodesic distances: fast marching from each of many samples, and the nearest samples of every vertex.
//!
//! Fronts pass through triangles as straight waves from a point unfolded into the triangle's plane (Kimmel and Sethian
//! 1998, with the point source of Tang et al. 2007 instead of a plane wave), which is exact on flat regions and needs no
//! acute triangles; where the wave does not come through the opposite side, it runs along edges.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use crate::adjacency::{NONE, Rows, vertex_triangles};
use crate::mesh::TriMesh;

/// The nearest samples of every vertex, nearest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearestSamples {
    /// Entries per vertex.
    pub count: usize,
    /// Sample indices, `count` per vertex; [`NONE`] if the vertex's shell has fewer.
    pub samples: Vec<u32>,
    /// Distances along the surface \[m\]; infinite where there is no sample.
    pub distances: Vec<f64>,
}

impl NearestSamples {
    /// Samples of one vertex, and their distances.
    pub fn of(&self, vertex: usize) -> (&[u32], &[f64]) {
        let range = vertex * self.count..(vertex + 1) * self.count;
        let samples = &self.samples[range.clone()];
        let found = samples
            .iter()
            .position(|&s| s == NONE)
            .unwrap_or(self.count);
        (&samples[..found], &self.distances[range][..found])
    }
}

/// Safety factor of bounds that rely on the triangle inequality: marched distances satisfy it only approximately.
const SLACK: f64 = 1.1;

/// For every vertex the `count` samples (vertices of the mesh) nearest along the surface.
///
/// A sample can only be among the nearest of a vertex within a bound: the distance to some sample s plus the distance
/// from s to its own `count`-th nearest. So every sample marches on its own, in parallel, and stops at that bound.
pub fn nearest_samples(mesh: &TriMesh, samples: &[u32], count: usize) -> NearestSamples {
    let vertices = mesh.positions.len();
    let surface = Surface {
        points: mesh.positions.iter().map(|p| p.as_dvec3()).collect(),
        triangles: &mesh.triangles,
        around: vertex_triangles(mesh),
    };
    let mut sample_of = vec![NONE; vertices];
    for (s, &v) in samples.iter().enumerate() {
        sample_of[v as usize] = s as u32;
    }
    let march = || March::new(&surface);
    let reaches: Vec<f64> = samples
        .par_iter()
        .map_init(march, |march, &source| {
            let mut found = 0;
            let mut reach = f64::INFINITY;
            march.run(source, |v, distance| {
                found += usize::from(sample_of[v as usize] != NONE);
                if found >= count {
                    reach = reach.min(distance);
                }
                found < count
            });
            reach
        })
        .collect();
    let bounds: Vec<f64> = (surface.owners(samples).into_iter())
        .map(|(owner, distance)| match reaches.get(owner as usize) {
            Some(reach) => SLACK * (distance + reach),
            None => f64::INFINITY,
        })
        .collect();
    let reached: Vec<Vec<(u32, f32)>> = samples
        .par_iter()
        .map_init(march, |march, &source| {
            let mut list = Vec::new();
            march.run(source, |v, distance| {
                let is_near = distance <= bounds[v as usize];
                if is_near {
                    list.push((v, distance as f32));
                }
                is_near
            });
            list
        })
        .collect();
    gather(vertices, count, &reached)
}

/// Inverts lists of vertices by sample into lists of samples by vertex.
fn gather(vertices: usize, count: usize, reached: &[Vec<(u32, f32)>]) -> NearestSamples {
    let mut starts = vec![0usize; vertices + 1];
    for &(v, _) in reached.iter().flatten() {
        starts[v as usize + 1] += 1;
    }
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }
    let mut next = starts.clone();
    let mut entries = vec![(0.0f32, NONE); starts[vertices]];
    for (s, list) in reached.iter().enumerate() {
        for &(v, distance) in list {
            entries[next[v as usize]] = (distance, s as u32);
            next[v as usize] += 1;
        }
    }
    let mut result = NearestSamples {
        count,
        samples: vec![NONE; vertices * count],
        distances: vec![f64::INFINITY; vertices * count],
    };
    for v in 0..vertices {
        let list = &mut entries[starts[v]..starts[v + 1]];
        list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (k, &(distance, sample)) in list.iter().take(count).enumerate() {
            result.samples[v * count + k] = sample;
            result.distances[v * count + k] = f64::from(distance);
        }
    }
    result
}

struct Surface<'a> {
    points: Vec<DVec3>,
    triangles: &'a [[u32; 3]],
    around: Rows,
}

impl Surface<'_> {
    /// Nearest sample of every vertex along edges, and its distance.
    fn owners(&self, samples: &[u32]) -> Vec<(u32, f64)> {
        let mut owners = vec![(NONE, f64::INFINITY); self.points.len()];
        let mut heap = BinaryHeap::new();
        for (s, &v) in samples.iter().enumerate() {
            owners[v as usize] = (s as u32, 0.0);
            heap.push(Reverse(Arrival(0.0, v)));
        }
        while let Some(Reverse(Arrival(distance, v))) = heap.pop() {
            let (owner, best) = owners[v as usize];
            if distance > best {
                continue;
            }
            for &t in self.around.row(v as usize) {
                for w in self.triangles[t as usize] {
                    let edge = self.points[v as usize].distance(self.points[w as usize]);
                    if distance + edge < owners[w as usize].1 {
                        owners[w as usize] = (owner, distance + edge);
                        heap.push(Reverse(Arrival(distance + edge, w)));
                    }
                }
            }
        }
        owners
    }
}

/// A vertex and the arrival time of a front.
#[derive(Clone, Copy, PartialEq)]
struct Arrival(f64, u32);

impl Eq for Arrival {}

impl Ord for Arrival {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl PartialOrd for Arrival {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A front with scratch space that is reused for every source.
struct March<'a> {
    surface: &'a Surface<'a>,
    distances: Vec<f64>,
    settled: Vec<bool>,
    touched: Vec<u32>,
    heap: BinaryHeap<Reverse<Arrival>>,
}

impl<'a> March<'a> {
    fn new(surface: &'a Surface<'a>) -> Self {
        Self {
            surface,
            distances: vec![f64::INFINITY; surface.points.len()],
            settled: vec![false; surface.points.len()],
            touched: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    /// Marches from a vertex. `go_on` is called for every vertex that is reached, nearest first, and returns whether
    /// the front continues from it.
    fn run(&mut self, source: u32, mut go_on: impl FnMut(u32, f64) -> bool) {
        for v in self.touched.drain(..) {
            self.distances[v as usize] = f64::INFINITY;
            self.settled[v as usize] = false;
        }
        self.heap.clear();
        self.improve(source, 0.0);
        while let Some(Reverse(Arrival(distance, v))) = self.heap.pop() {
            if std::mem::replace(&mut self.settled[v as usize], true) {
                continue;
            }
            if go_on(v, distance) {
                self.spread(v, distance);
            }
        }
    }

    fn improve(&mut self, v: u32, distance: f64) {
        let best = &mut self.distances[v as usize];
        if distance < *best {
            if best.is_infinite() {
                self.touched.push(v);
            }
            *best = distance;
            self.heap.push(Reverse(Arrival(distance, v)));
        }
    }

    fn spread(&mut self, v: u32, distance: f64) {
        let surface = self.surface;
        let place = |v: u32| surface.points[v as usize];
        for &t in surface.around.row(v as usize) {
            let corners = surface.triangles[t as usize];
            for k in 0..3 {
                let (w, other) = (corners[k], corners[(k + 1) % 3]);
                if w == v {
                    continue;
                }
                let third = if other == v {
                    corners[(k + 2) % 3]
                } else {
                    other
                };
                let mut arrival = distance + place(v).distance(place(w));
                let known = self.distances[third as usize];
                if third != v && third != w && known.is_finite() {
                    let side = [place(v), place(third), place(w)];
                    if let Some(through) = through_triangle(side, distance, known) {
                        arrival = arrival.min(through);
                    }
                }
                if !self.settled[w as usize] {
                    self.improve(w, arrival);
                }
            }
        }
    }
}

/// Distance at `c` of a wave from the point at distances `da` from `a` and `db` from `b`, on the other side of the line
/// through them; `None` if there is no such point, or the wave does not come through the side `ab`.
fn through_triangle([a, b, c]: [DVec3; 3], da: f64, db: f64) -> Option<f64> {
    let along = (b - a).try_normalize()?;
    let length = a.distance(b);
    let x = (da * da - db * db + length * length) / (2.0 * length);
    let height = (da * da - x * x).max(0.0).sqrt();
    let source = DVec2::new(x, -height);
    let offset = c - a;
    let cx = offset.dot(along);
    let target = DVec2::new(cx, (offset - cx * along).length());
    let crossing = source.x + (target.x - source.x) * height / (height + target.y);
    (crossing >= 0.0 && crossing <= length).then(|| source.distance(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;
    use glam::{Affine3A, Vec2, Vec3};

    #[test]
    fn flat_distances_are_straight() {
        let mesh = shapes::plane_grid(Vec2::ONE, 30, 30);
        let near = nearest_samples(&mesh, &[0, 480], 2);
        for (v, p) in mesh.positions.iter().enumerate() {
            let (samples, distances) = near.of(v);
            for (&s, &distance) in samples.iter().zip(distances) {
                let source = mesh.positions[[0, 480][s as usize]];
                let straight = f64::from(p.distance(source));
                assert!((distance - straight).abs() <= 0.012 * straight + 1e-6);
            }
            assert!(distances[0] <= distances[1]);
        }
    }

    #[test]
    fn sphere_distances_are_arcs() {
        let mesh = shapes::icosphere(1.0, 4);
        let near = nearest_samples(&mesh, &[3], 1);
        for (v, p) in mesh.positions.iter().enumerate() {
            let arc = f64::from(p.angle_between(mesh.positions[3]));
            assert!((near.of(v).1[0] - arc).abs() < 0.02 * arc + 1e-6);
        }
    }

    #[test]
    fn nearest_samples_match_a_full_search() {
        let mesh = shapes::capsule(0.2, 1.0, 24, 40);
        let samples: Vec<u32> = (0..mesh.positions.len() as u32).step_by(7).collect();
        let near = nearest_samples(&mesh, &samples, 9);
        let all = nearest_samples(&mesh, &samples, samples.len());
        for v in 0..mesh.positions.len() {
            let ((_, few), (_, all)) = (near.of(v), all.of(v));
            assert_eq!(few.len(), 9);
            for (few, all) in few.iter().zip(all) {
                assert!((few - all).abs() < 0.02 * all + 1e-6);
            }
        }
    }

    #[test]
    fn other_shells_are_out_of_reach() {
        let ball = shapes::icosphere(1.0, 2);
        let mut other = ball.clone();
        other.transform(&Affine3A::from_translation(Vec3::X * 1.9));
        let mesh = TriMesh::merged([&ball, &other]);
        let half = ball.positions.len() as u32;
        let near = nearest_samples(&mesh, &[0, 1, half], 3);
        for v in 0..mesh.positions.len() {
            let expected: &[u32] = if v < half as usize { &[0, 1] } else { &[2] };
            assert!(near.of(v).0.iter().all(|s| expected.contains(s)));
            assert_eq!(near.of(v).0.len(), expected.len());
        }
    }
}
