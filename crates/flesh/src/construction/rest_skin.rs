//! The welded skin at rest that construction works on: f64 positions, triangles, one-rings, normals, areas.

use glam::DVec3;
use rayon::prelude::*;

/// A triangle surface with its one-rings.
#[derive(Clone, Debug, Default)]
pub struct RestSkin {
    /// Vertex positions \[m\].
    pub positions: Vec<DVec3>,
    /// Corners, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// One-ring of vertex `i` at `ring_starts[i]..ring_starts[i + 1]`.
    pub ring_starts: Vec<u32>,
    /// Neighbours, ascending for each vertex.
    pub rings: Vec<u32>,
    /// Area-weighted unit normals; zero where a vertex has no area.
    pub normals: Vec<DVec3>,
    /// A third of the area of the incident triangles \[m²\].
    pub areas: Vec<f64>,
}

impl RestSkin {
    /// From positions and triangles whose indices are in range.
    pub fn new(positions: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Self {
        let (ring_starts, rings) = one_rings(positions.len(), &triangles);
        let mut normals = vec![DVec3::ZERO; positions.len()];
        let mut areas = vec![0.0; positions.len()];
        for triangle in &triangles {
            let [a, b, c] = triangle.map(|v| positions[v as usize]);
            let cross = (b - a).cross(c - a);
            for &v in triangle {
                normals[v as usize] += cross;
                areas[v as usize] += cross.length() / 6.0;
            }
        }
        for normal in &mut normals {
            *normal = normal.normalize_or_zero();
        }
        Self {
            positions,
            triangles,
            ring_starts,
            rings,
            normals,
            areas,
        }
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Neighbours of a vertex.
    pub fn ring(&self, vertex: usize) -> &[u32] {
        &self.rings[self.ring_starts[vertex] as usize..self.ring_starts[vertex + 1] as usize]
    }

    /// Largest side of the bounding box \[m\]. Tolerances are relative to it.
    pub fn size(&self) -> f64 {
        size_of(&self.positions)
    }

    /// Mean length of the edges \[m\].
    pub fn mean_edge(&self) -> f64 {
        let mut sum = 0.0;
        for (v, &p) in self.positions.iter().enumerate() {
            sum += self
                .ring(v)
                .iter()
                .map(|&w| p.distance(self.positions[w as usize]))
                .sum::<f64>();
        }
        sum / self.rings.len().max(1) as f64
    }

    /// Volume enclosed, negative for a surface turned inside out \[m³\].
    pub fn volume(&self) -> f64 {
        let corner = self.positions.first().copied().unwrap_or_default();
        self.triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| self.positions[v as usize] - corner);
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    }
}

/// Largest side of the bounding box.
pub fn size_of(positions: &[DVec3]) -> f64 {
    let low = positions.iter().fold(DVec3::INFINITY, |low, &p| low.min(p));
    let high = positions
        .iter()
        .fold(DVec3::NEG_INFINITY, |high, &p| high.max(p));
    let size = (high - low).max_element();
    if size.is_finite() { size } else { 0.0 }
}

fn one_rings(count: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut pairs: Vec<(u32, u32)> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [(a, b), (b, a), (b, c), (c, b), (c, a), (a, c)])
        .filter(|(a, b)| a != b)
        .collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    let mut starts = vec![0_u32; count + 1];
    for &(a, _) in &pairs {
        starts[a as usize + 1] += 1;
    }
    for i in 0..count {
        starts[i + 1] += starts[i];
    }
    (starts, pairs.into_iter().map(|(_, b)| b).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An octahedron of half-diagonal 1, subdivided and pushed to the unit sphere.
    pub(crate) fn sphere(levels: usize) -> RestSkin {
        let mut points = vec![
            DVec3::X,
            DVec3::NEG_X,
            DVec3::Y,
            DVec3::NEG_Y,
            DVec3::Z,
            DVec3::NEG_Z,
        ];
        let mut triangles: Vec<[u32; 3]> = vec![
            [0, 2, 4],
            [2, 1, 4],
            [1, 3, 4],
            [3, 0, 4],
            [2, 0, 5],
            [1, 2, 5],
            [3, 1, 5],
            [0, 3, 5],
        ];
        for _ in 0..levels {
            let mut middle = std::collections::BTreeMap::new();
            let mut next = Vec::new();
            for t in &triangles {
                let mut m = [0_u32; 3];
                for k in 0..3 {
                    let (a, b) = (t[k], t[(k + 1) % 3]);
                    m[k] = *middle.entry((a.min(b), a.max(b))).or_insert_with(|| {
                        points.push((points[a as usize] + points[b as usize]).normalize());
                        points.len() as u32 - 1
                    });
                }
                next.extend([
                    [t[0], m[0], m[2]],
                    [m[0], t[1], m[1]],
                    [m[2], m[1], t[2]],
                    m,
                ]);
            }
            triangles = next;
        }
        RestSkin::new(points, triangles)
    }

    #[test]
    fn a_sphere_encloses_its_centre() {
        let sphere = sphere(2);
        // Between the octahedron's volume and the ball's.
        assert!((3.5..4.189).contains(&sphere.volume()));
        assert!((0..sphere.len()).all(|v| sphere.normals[v].dot(sphere.positions[v]) > 0.95));
    }
}
