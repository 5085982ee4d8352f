//! Decimation: half-edge collapses in the order of their quadric error (Garland and Heckbert 1997).
//!
//! A collapse moves a vertex onto a neighbour, so that the result uses a subset of the original vertices. Surfaces keep
//! their topology, separate shells stay separate, boundaries stay in place. Simulation needs triangles of similar size
//! and good shape, so long edges add to the cost, and slivers are rejected.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use glam::DVec3;

use crate::adjacency::{NONE, vertex_triangles};
use crate::mesh::{TriMesh, area_vector};
use crate::quadric::Quadric;
use crate::shells::{Shells, shells};

/// Options of a decimation.
#[derive(Clone, Copy, Debug)]
pub struct Decimation<'a> {
    /// Wanted number of vertices.
    pub target: usize,
    /// Relative sampling density around each vertex; empty for a uniform density.
    pub density: &'a [f64],
    /// Cost of an edge's squared length relative to that of a squared distance from the surface. Zero leaves flat
    /// regions nearly empty; above 0.1 fingers and ears get as few vertices as thighs and lose their shape.
    pub evenness: f64,
    /// Least number of vertices of every shell that has as many.
    pub least_of_shell: usize,
}

impl Default for Decimation<'_> {
    fn default() -> Self {
        Self {
            target: 4000,
            density: &[],
            evenness: 0.02,
            least_of_shell: 32,
        }
    }
}

/// A mesh over some of the vertices of another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decimated {
    /// The smaller mesh.
    pub mesh: TriMesh,
    /// Original index of each of its vertices, ascending.
    pub kept: Vec<u32>,
}

/// Least cosine between a triangle's normals before and after a collapse.
const MIN_COSINE: f64 = 0.3;
/// Least shape quality (4√3 area / Σ edge², 1 for equilateral) of a triangle after a collapse.
const MIN_SHAPE: f64 = 0.3;
/// Largest valence that a collapse may produce.
const MAX_VALENCE: usize = 11;
/// Weight of the planes that keep a boundary in place, relative to the surface's own.
const BOUNDARY_WEIGHT: f64 = 10.0;

/// Decimates a mesh to about `target` vertices; more remain if no collapse is allowed any more. Vertices without
/// triangles are dropped.
pub fn decimate(mesh: &TriMesh, settings: &Decimation) -> Decimated {
    let mut work = Work::new(mesh, settings);
    let mut heap: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
    for v in 0..mesh.positions.len() as u32 {
        heap.extend(work.best(v).map(Reverse));
    }
    while work.alive > settings.target {
        let Some(Reverse(candidate)) = heap.pop() else {
            break;
        };
        let Candidate { from, to, .. } = candidate;
        if work.version[from as usize] != candidate.version {
            continue;
        }
        // Collapses at neighbours may have changed what is allowed.
        if !work.is_allowed(from, to) {
            work.version[from as usize] += 1;
            heap.extend(work.best(from).map(Reverse));
            continue;
        }
        for v in work.collapse(from, to) {
            work.version[v as usize] += 1;
            heap.extend(work.best(v).map(Reverse));
        }
    }
    work.finish(mesh)
}

/// A candidate collapse; candidates of older versions are void.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    cost: f64,
    from: u32,
    to: u32,
    version: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let vertices = (self.from, self.to).cmp(&(other.from, other.to));
        self.cost.total_cmp(&other.cost).then(vertices)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

struct Work<'a> {
    settings: &'a Decimation<'a>,
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// Triangles around each vertex; empty if it was removed.
    around: Vec<Vec<u32>>,
    quadrics: Vec<Quadric>,
    /// Area that each vertex represents \[m²\].
    areas: Vec<f64>,
    version: Vec<u32>,
    alive: usize,
    shells: Shells,
    alive_of_shell: Vec<usize>,
}

impl<'a> Work<'a> {
    fn new(mesh: &TriMesh, settings: &'a Decimation) -> Self {
        let points: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
        let around: Vec<Vec<u32>> = vertex_triangles(mesh).iter().map(<[u32]>::to_vec).collect();
        let shells = shells(mesh);
        let mut alive_of_shell = vec![0; shells.count];
        let used = shells.of_vertex.iter().filter(|&&shell| shell != NONE);
        used.for_each(|&shell| alive_of_shell[shell as usize] += 1);
        let mut work = Self {
            settings,
            areas: mesh.vertex_areas(),
            quadrics: vec![Quadric::default(); points.len()],
            version: vec![0; points.len()],
            alive: alive_of_shell.iter().sum(),
            triangles: mesh.triangles.clone(),
            points,
            around,
            shells,
            alive_of_shell,
        };
        work.add_quadrics();
        work
    }

    fn add_quadrics(&mut self) {
        for t in 0..self.triangles.len() {
            let corners = self.triangles[t];
            let places = corners.map(|v| self.points[v as usize]);
            let cross = area_vector(places);
            let Some(normal) = cross.try_normalize() else {
                continue;
            };
            let plane = Quadric::plane(places[0], normal, cross.length() / 6.0);
            for v in corners {
                self.quadrics[v as usize] += plane;
            }
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                if self.edge_triangles(a, b) != 1 {
                    continue;
                }
                let along = places[(k + 1) % 3] - places[k];
                if let Some(side) = along.cross(normal).try_normalize() {
                    let weight = BOUNDARY_WEIGHT * along.length_squared();
                    let wall = Quadric::plane(places[k], side, weight);
                    self.quadrics[a as usize] += wall;
                    self.quadrics[b as usize] += wall;
                }
            }
        }
    }

    /// Triangles that have both vertices.
    fn edge_triangles(&self, a: u32, b: u32) -> usize {
        let around = self.around[a as usize].iter();
        around
            .filter(|&&t| self.triangles[t as usize].contains(&b))
            .count()
    }

    /// Neighbours of a vertex, ascending.
    fn neighbours(&self, v: u32) -> Vec<u32> {
        let around = self.around[v as usize].iter();
        let mut ring: Vec<u32> = around
            .flat_map(|&t| self.triangles[t as usize])
            .filter(|&w| w != v)
            .collect();
        ring.sort_unstable();
        ring.dedup();
        ring
    }

    /// The cheapest allowed collapse of a vertex.
    fn best(&self, from: u32) -> Option<Candidate> {
        let mut candidates: Vec<Candidate> = (self.neighbours(from).into_iter())
            .map(|to| Candidate {
                cost: self.cost(from, to),
                from,
                to,
                version: self.version[from as usize],
            })
            .filter(|candidate| candidate.cost.is_finite())
            .collect();
        candidates.sort_unstable();
        let mut allowed = candidates.into_iter();
        allowed.find(|candidate| self.is_allowed(from, candidate.to))
    }

    fn cost(&self, from: u32, to: u32) -> f64 {
        let (f, t) = (from as usize, to as usize);
        let place = self.points[t];
        let detail = (self.quadrics[f] + self.quadrics[t]).at(place);
        let length = self.areas[f] * self.points[f].distance_squared(place);
        let density = |v: usize| self.settings.density.get(v).copied().unwrap_or(1.0);
        // Costs grow with the fourth power of the spacing, so its square is that of the density.
        let density = density(f).max(density(t)).powi(2);
        (detail + self.settings.evenness * length) * density
    }

    fn is_allowed(&self, from: u32, to: u32) -> bool {
        let shell = self.shells.of_vertex[from as usize] as usize;
        self.alive_of_shell[shell] > self.settings.least_of_shell.max(4)
            && self.keeps_topology(from, to)
            && self.keeps_shape(from, to)
    }

    /// The link condition (Dey et al. 1999): the common neighbours are those across the edge, and an edge between two
    /// boundaries is itself one.
    fn keeps_topology(&self, from: u32, to: u32) -> bool {
        let ring = self.neighbours(from);
        let uses: Vec<usize> = (ring.iter())
            .map(|&w| self.edge_triangles(from, w))
            .collect();
        let at_edge = self.edge_triangles(from, to);
        let on_boundary = uses.contains(&1);
        if uses.iter().any(|&count| count > 2) || (on_boundary && at_edge != 1) {
            return false;
        }
        let others = self.neighbours(to);
        let common = ring.iter().filter(|w| others.binary_search(w).is_ok());
        common.count() == at_edge && ring.len() + others.len() <= MAX_VALENCE + 2 + 2
    }

    /// Whether no triangle flips or becomes too thin.
    fn keeps_shape(&self, from: u32, to: u32) -> bool {
        let around = self.around[from as usize].iter();
        let mut worst: (f64, f64) = (1.0, 1.0);
        for &t in around {
            let corners = self.triangles[t as usize];
            let before = corners.map(|v| self.points[v as usize]);
            worst.0 = worst.0.min(shape(before));
            if corners.contains(&to) {
                continue;
            }
            let moved = |v: u32| self.points[if v == from { to } else { v } as usize];
            let after = corners.map(moved);
            worst.1 = worst.1.min(shape(after));
            let (old, new) = (area_vector(before), area_vector(after));
            if new.dot(old) < MIN_COSINE * old.length() * new.length() || new == DVec3::ZERO {
                return false;
            }
        }
        worst.1 >= MIN_SHAPE.min(worst.0)
    }

    /// Moves a vertex onto another; returns the vertices whose candidates changed.
    fn collapse(&mut self, from: u32, to: u32) -> Vec<u32> {
        let (f, t) = (from as usize, to as usize);
        let ring = self.neighbours(from);
        for triangle in std::mem::take(&mut self.around[f]) {
            let corners = self.triangles[triangle as usize];
            if corners.contains(&to) {
                for v in corners.into_iter().filter(|&v| v != from) {
                    self.around[v as usize].retain(|&other| other != triangle);
                }
            } else {
                let place = corners.iter().position(|&v| v == from).unwrap_or(0);
                self.triangles[triangle as usize][place] = to;
                self.around[t].push(triangle);
            }
        }
        self.quadrics[t] = self.quadrics[t] + self.quadrics[f];
        self.areas[t] += self.areas[f];
        self.version[f] += 1;
        self.alive -= 1;
        self.alive_of_shell[self.shells.of_vertex[f] as usize] -= 1;
        ring
    }

    fn finish(self, mesh: &TriMesh) -> Decimated {
        let mut index = vec![NONE; self.points.len()];
        let mut result = Decimated::default();
        for v in (0..self.points.len()).filter(|&v| !self.around[v].is_empty()) {
            index[v] = result.kept.len() as u32;
            result.kept.push(v as u32);
            result.mesh.positions.push(mesh.positions[v]);
        }
        let mut is_left = vec![false; self.triangles.len()];
        for &t in self.around.iter().flatten() {
            is_left[t as usize] = true;
        }
        let left = self
            .triangles
            .iter()
            .zip(&is_left)
            .filter(|(_, left)| **left);
        result.mesh.triangles = left.map(|(t, _)| t.map(|v| index[v as usize])).collect();
        result
    }
}

/// 1 for an equilateral triangle, 0 for one without area.
fn shape([a, b, c]: [DVec3; 3]) -> f64 {
    let squares = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    let area = 0.5 * area_vector([a, b, c]).length();
    let shape = 4.0 * 3f64.sqrt() * area / squares;
    if shape.is_finite() { shape } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adjacency, shapes};
    use glam::{Affine3A, Vec2, Vec3};

    fn to(target: usize) -> Decimation<'static> {
        Decimation {
            target,
            ..Decimation::default()
        }
    }

    #[test]
    fn a_sphere_stays_a_sphere() {
        let mesh = shapes::icosphere(1.0, 5);
        let small = decimate(&mesh, &to(600));
        assert_eq!(small.mesh.positions.len(), 600);
        assert!(small.kept.is_sorted());
        for (v, p) in small.mesh.positions.iter().enumerate() {
            assert_eq!(*p, mesh.positions[small.kept[v] as usize]);
        }
        let adjacency = Adjacency::new(&small.mesh);
        assert!(adjacency.is_closed_and_oriented(&small.mesh));
        assert_eq!(adjacency.euler_characteristic(), 2);
        assert!(small.mesh.signed_volume() > 0.98 * mesh.signed_volume());
        let worst = (0..small.mesh.triangles.len())
            .map(|t| shape(small.mesh.corners(t).map(|p| p.as_dvec3())))
            .fold(1.0, f64::min);
        assert!(worst > 0.29, "{worst}");
        assert_eq!(decimate(&mesh, &to(600)), small);
    }

    #[test]
    fn boundaries_stay() {
        let mesh = shapes::plane_grid(Vec2::ONE, 40, 40);
        let small = decimate(&mesh, &to(150));
        assert!(small.mesh.positions.len() <= 200);
        assert!((small.mesh.area() - 1.0).abs() < 1e-5);
        let adjacency = Adjacency::new(&small.mesh);
        assert_eq!(adjacency.euler_characteristic(), 1);
        for e in adjacency.boundary_edges() {
            let rim = |v: u32| {
                let p = small.mesh.positions[v as usize];
                p.x.abs().max(p.z.abs())
            };
            assert!(adjacency.edges[e as usize].iter().all(|&v| rim(v) > 0.499));
        }
    }

    #[test]
    fn shells_never_merge_or_vanish() {
        let mut other = shapes::icosphere(1.0, 4);
        other.transform(&Affine3A::from_translation(Vec3::X * 2.0001));
        let tiny = shapes::icosphere(0.01, 1);
        let mesh = TriMesh::merged([&shapes::icosphere(1.0, 4), &other, &tiny]);
        let small = decimate(&mesh, &to(300));
        assert_eq!(shells(&small.mesh).count, 3);
        assert!(small.mesh.positions.len() < 340);
    }

    #[test]
    fn dense_regions_stay_dense() {
        let mesh = shapes::capsule(0.1, 1.0, 48, 150);
        let density: Vec<f64> = (mesh.positions.iter())
            .map(|p| if p.y.abs() < 0.1 { 3.0 } else { 1.0 })
            .collect();
        let count = |mesh: &TriMesh| mesh.positions.iter().filter(|p| p.y.abs() < 0.1).count();
        let even = decimate(&mesh, &to(800));
        let settings = Decimation {
            density: &density,
            ..to(800)
        };
        let dense = decimate(&mesh, &settings);
        assert!(count(&dense.mesh) as f64 > 1.7 * count(&even.mesh) as f64);
    }

    #[test]
    fn odd_meshes_are_handled() {
        let mut mesh = shapes::icosphere(1.0, 3);
        // A fin: an edge of three triangles; a triangle that repeats a vertex; a loose vertex; a flat one.
        mesh.positions
            .extend([Vec3::X * 3.0, Vec3::ONE, Vec3::X, Vec3::X * 2.0]);
        let n = mesh.positions.len() as u32;
        let [a, b, _] = mesh.triangles[7];
        mesh.triangles
            .extend([[a, b, n - 4], [a, a, b], [n - 2, n - 1, n - 4]]);
        let small = decimate(&mesh, &to(50));
        assert_eq!(small.mesh.check(), Ok(()));
        assert!(small.mesh.positions.len() < 200);
        assert!(decimate(&TriMesh::default(), &to(10)).kept.is_empty());
    }
}
