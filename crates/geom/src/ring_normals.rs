//! Area-weighted vertex normals for every frame: eight vertices at a time, each traversing its ring.
//!
//! A triangle (v, a, b) contributes the area vector (a − v) × (b − v) to v. Every neighbour in a ring is read once: the
//! second side of one triangle is the first side of the next. At a gap in the ring the traversal passes through v
//! itself, whose vector is zero, and so are the products on both sides of it.

use crate::adjacency::{Rows, vertex_triangles};
use crate::mesh::TriMesh;
use crate::simd::{LANES, Lanes, Row, prefetch};

/// Prefetch distance in steps: four kilobytes.
const PREFETCH_DISTANCE: usize = 128;

/// Rings of eight vertices at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RingNormals {
    /// Number of vertices.
    count: usize,
    /// Start of the steps of each group of vertices, and the end of the last.
    starts: Vec<u32>,
    /// A neighbour of each vertex of a group; the vertex itself if its ring is shorter than the others.
    steps: Vec<[u32; LANES]>,
}

impl RingNormals {
    /// Rings of a mesh.
    pub fn new(mesh: &TriMesh) -> Self {
        let around = vertex_triangles(mesh);
        let count = mesh.positions.len();
        let mut rings = Self {
            count,
            starts: vec![0],
            steps: Vec::new(),
        };
        for group in 0..count.div_ceil(LANES) {
            let vertices = rings.vertices(group);
            let walks = vertices.map(|v| walk(v, opposite_sides(mesh, &around, v)));
            let longest = walks.iter().map(Vec::len).max().unwrap_or(0);
            rings.steps.extend((0..longest).map(|k| {
                let step = |lane: usize| walks[lane].get(k).copied().unwrap_or(vertices[lane]);
                std::array::from_fn(step)
            }));
            rings.starts.push(rings.steps.len() as u32);
        }
        rings
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        4 * (self.starts.len() + LANES * self.steps.len())
    }

    /// Vertices of a group; the last group repeats the last vertex.
    #[inline(always)]
    fn vertices(&self, group: usize) -> [u32; LANES] {
        let mut vertices = [0; LANES];
        for (lane, vertex) in vertices.iter_mut().enumerate() {
            *vertex = (group * LANES + lane).min(self.count - 1) as u32;
        }
        vertices
    }

    /// Unit normals of the vertices of a group; zero where there is none.
    ///
    /// # Panics
    /// If there is no such group, or there are fewer positions than vertices.
    #[inline(always)]
    pub fn group<L: Lanes>(&self, group: usize, places: &[Row]) -> [L; 3] {
        let range = self.starts[group] as usize..self.starts[group + 1] as usize;
        let own = L::gather(places, &self.vertices(group));
        let zero = [L::splat(0.0); 3];
        let (mut sum, mut before) = (zero, zero);
        let ahead = range.start + PREFETCH_DISTANCE..;
        for (step, ahead) in self.steps[range].iter().zip(ahead) {
            prefetch(&self.steps, ahead);
            let place = L::gather(places, step);
            let side = [place[0] - own[0], place[1] - own[1], place[2] - own[2]];
            sum = [
                before[1].mul_add(side[2], before[2].neg_mul_add(side[1], sum[0])),
                before[2].mul_add(side[0], before[0].neg_mul_add(side[2], sum[1])),
                before[0].mul_add(side[1], before[1].neg_mul_add(side[0], sum[2])),
            ];
            before = side;
        }
        unit(sum)
    }
}

/// Normalises; zero vectors stay zero.
#[inline(always)]
pub fn unit<L: Lanes>(v: [L; 3]) -> [L; 3] {
    let square = v[0].mul_add(v[0], v[1].mul_add(v[1], v[2] * v[2]));
    let scale = L::splat(1.0) / square.max(L::splat(f32::MIN_POSITIVE)).sqrt();
    [v[0] * scale, v[1] * scale, v[2] * scale]
}

/// The side opposite to `v` of each triangle around it, in the triangle's direction. Triangles that repeat a vertex
/// have no area.
fn opposite_sides(mesh: &TriMesh, around: &Rows, v: u32) -> Vec<[u32; 2]> {
    let triangles = around
        .row(v as usize)
        .iter()
        .map(|&t| mesh.triangles[t as usize]);
    triangles
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .map(|[a, b, c]| match v {
            _ if v == a => [b, c],
            _ if v == b => [c, a],
            _ => [a, b],
        })
        .collect()
}

/// All sides in sequence, with `v` inserted at gaps.
fn walk(v: u32, mut sides: Vec<[u32; 2]>) -> Vec<u32> {
    let mut walk = Vec::new();
    while !sides.is_empty() {
        // An open ring starts where no side ends, a closed one anywhere.
        let starts_here = |side: &[u32; 2]| sides.iter().all(|other| other[1] != side[0]);
        let first = sides.iter().position(starts_here).unwrap_or(0);
        let [start, mut end] = sides.remove(first);
        if !walk.is_empty() {
            walk.push(v);
        }
        walk.extend([start, end]);
        while let Some(next) = sides.iter().position(|side| side[0] == end) {
            end = sides.remove(next)[1];
            walk.push(end);
        }
    }
    walk
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;
    use crate::simd::{Kernel, dispatch};
    use glam::{DVec3, Vec2, Vec3};

    struct All<'a>(&'a RingNormals, &'a [Row]);

    impl Kernel for All<'_> {
        type Output = Vec<Row>;
        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<Row> {
            let groups = 0..self.0.len().div_ceil(LANES);
            groups
                .flat_map(|group| L::rows(self.0.group::<L>(group, self.1)))
                .collect()
        }
    }

    fn check(mesh: &TriMesh) {
        let places: Vec<Row> = (mesh.positions.iter())
            .map(|p| Row::new(p.to_array()))
            .collect();
        let normals = dispatch(All(&RingNormals::new(mesh), &places));
        let mut sums = vec![DVec3::ZERO; mesh.positions.len()];
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            triangle
                .iter()
                .for_each(|&v| sums[v as usize] += mesh.area_vector(t));
        }
        for (sum, normal) in sums.iter().zip(&normals) {
            let expected = sum.normalize_or_zero().as_vec3();
            let found = Vec3::from_array(normal.xyz());
            assert!(found.distance(expected) < 1e-5, "{found} {expected}");
        }
    }

    #[test]
    fn normals_are_sums_of_area_vectors() {
        check(&shapes::icosphere(0.7, 3));
        check(&shapes::plane_grid(Vec2::ONE, 5, 7));
        let mut odd = shapes::icosphere(1.0, 2);
        // A fin on an edge, a second fan at a vertex, a triangle that repeats a vertex, a vertex of its own.
        odd.positions
            .extend([Vec3::X * 2.0, Vec3::Y * 2.0, Vec3::ONE * 3.0]);
        let n = odd.positions.len() as u32;
        let [a, b, _] = odd.triangles[5];
        odd.triangles
            .extend([[a, b, n - 3], [a, n - 2, n - 3], [a, a, b]]);
        check(&odd);
    }
}
