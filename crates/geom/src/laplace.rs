//! The cotangent Laplacian and its lumped mass.
//!
//! Pinkall and Polthier 1993, "Computing discrete minimal surfaces and their conjugates"; notation of Botsch, Kobbelt,
//! Pauly, Alliez and Lévy 2010, *Polygon Mesh Processing*, section 3.3.4.

use glam::DVec3;

use crate::adjacency::{Adjacency, NONE};
use crate::mesh::TriMesh;

/// What to do with edges whose cotangents sum to a negative number (obtuse, not Delaunay).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clamp {
    /// Set them to zero: solutions keep the maximum principle, linear precision is lost at those edges.
    #[default]
    NonNegative,
    /// Leave them as they are.
    Off,
}

/// A symmetric Laplacian as one weight for each edge: `(L x)ᵢ = Σⱼ wᵢⱼ (xⱼ − xᵢ)`, negative semi-definite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CotanLaplacian {
    /// Edges, smaller vertex first, in lexicographic order.
    pub edges: Vec<[u32; 2]>,
    /// Weight of each edge: `wᵢⱼ = (cot αᵢⱼ + cot βᵢⱼ) / 2`, without unit.
    pub weights: Vec<f64>,
    /// Lumped mass of each vertex: a third of the area of its triangles \[m²\].
    pub mass: Vec<f64>,
}

/// Cotangents are kept below that of a tenth of a degree. Above it a needle outweighs its whole neighbourhood and
/// factorisations lose half of their digits; below, well-shaped scans would be changed.
const LARGEST_COTANGENT: f64 = 573.0;

/// Builds the Laplacian; degenerate triangles add nothing.
pub fn cotan_laplacian(mesh: &TriMesh, adjacency: &Adjacency, clamp: Clamp) -> CotanLaplacian {
    let mut weights = vec![0.0; adjacency.edges.len()];
    for (t, edges) in adjacency.triangle_edges.iter().enumerate() {
        let cotangents = corner_cotangents(mesh.corners(t).map(|p| p.as_dvec3()));
        for k in (0..3).filter(|&k| edges[k] != NONE) {
            // Edge k runs from corner k to corner k + 1 and lies opposite corner k + 2.
            weights[edges[k] as usize] += 0.5 * cotangents[(k + 2) % 3];
        }
    }
    if clamp == Clamp::NonNegative {
        weights.iter_mut().for_each(|w| *w = w.max(0.0));
    }
    CotanLaplacian {
        edges: adjacency.edges.clone(),
        weights,
        mass: mesh.vertex_areas(),
    }
}

/// Cotangent of the angle at each corner, bounded; zero for degenerate triangles.
pub fn corner_cotangents([a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let double_area = (b - a).cross(c - a).length();
    if !double_area.is_finite() || double_area <= 0.0 {
        return [0.0; 3];
    }
    let cotangent =
        |u: DVec3, v: DVec3| (u.dot(v) / double_area).clamp(-LARGEST_COTANGENT, LARGEST_COTANGENT);
    [
        cotangent(b - a, c - a),
        cotangent(c - b, a - b),
        cotangent(a - c, b - c),
    ]
}

impl CotanLaplacian {
    /// All entries `(row, column, value)` of the matrix, the diagonal last; each position once.
    pub fn triplets(&self) -> Vec<(u32, u32, f64)> {
        let mut diagonal = vec![0.0; self.mass.len()];
        let mut entries = Vec::with_capacity(2 * self.edges.len() + diagonal.len());
        for (&[a, b], &w) in self.edges.iter().zip(&self.weights) {
            entries.extend([(a, b, w), (b, a, w)]);
            diagonal[a as usize] -= w;
            diagonal[b as usize] -= w;
        }
        let last = diagonal.into_iter().enumerate();
        entries.extend(last.map(|(v, d)| (v as u32, v as u32, d)));
        entries
    }

    /// `L x` for one value a vertex.
    pub fn apply(&self, x: &[DVec3]) -> Vec<DVec3> {
        let mut y = vec![DVec3::ZERO; self.mass.len()];
        for (&[a, b], &w) in self.edges.iter().zip(&self.weights) {
            let difference = w * (x[b as usize] - x[a as usize]);
            y[a as usize] += difference;
            y[b as usize] -= difference;
        }
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{random::Random, shapes};
    use glam::Vec2;

    fn laplacian(mesh: &TriMesh, clamp: Clamp) -> CotanLaplacian {
        cotan_laplacian(mesh, &Adjacency::new(mesh), clamp)
    }

    fn positions(mesh: &TriMesh) -> Vec<DVec3> {
        mesh.positions.iter().map(|p| p.as_dvec3()).collect()
    }

    #[test]
    fn linear_functions_are_harmonic_inside_a_plane() {
        let mut mesh = shapes::plane_grid(Vec2::ONE, 8, 8);
        let mut random = Random::new(3);
        for p in &mut mesh.positions {
            let shift = random.in_cube(0.03);
            let inner = p.x.abs() < 0.49 && p.z.abs() < 0.49;
            *p += if inner {
                glam::Vec3::new(shift.x, 0.0, shift.z)
            } else {
                glam::Vec3::ZERO
            };
        }
        let flow = laplacian(&mesh, Clamp::Off).apply(&positions(&mesh));
        for (p, l) in mesh.positions.iter().zip(flow) {
            assert!(p.x.abs() > 0.49 || p.z.abs() > 0.49 || l.length() < 1e-6);
        }
    }

    #[test]
    fn gradient_of_area_on_a_sphere_is_mean_curvature() {
        // L x = −2 H n · mass, with mean curvature H = 1/r.
        let mesh = shapes::icosphere(2.0, 4);
        let laplacian = laplacian(&mesh, Clamp::NonNegative);
        let x = positions(&mesh);
        let flow = laplacian.apply(&x);
        let energy: f64 = x.iter().zip(&flow).map(|(x, l)| x.dot(*l)).sum();
        // The Dirichlet energy of the identity is twice the area, exactly, on every mesh.
        assert!((energy + 2.0 * mesh.area()).abs() < 1e-6 * mesh.area());
        // The lumped mass is only an average of the exact one at each vertex; the direction is the normal's.
        for ((x, l), mass) in x.iter().zip(&flow).zip(&laplacian.mass) {
            let ratio = l.length() / mass;
            assert!((ratio - 1.0).abs() < 0.2, "{ratio}");
            assert!(l.normalize().dot(x.normalize()) < -0.999);
        }
    }

    #[test]
    fn rows_sum_to_zero_and_clamping_keeps_weights_positive() {
        let mut mesh = shapes::tube(1.0, 0.1, 8, 3);
        mesh.triangles.push([0, 1, 1]);
        let clamped = laplacian(&mesh, Clamp::NonNegative);
        assert!(clamped.weights.iter().all(|w| *w >= 0.0));
        let mut rows = vec![0.0; mesh.positions.len()];
        for (row, _, value) in clamped.triplets() {
            rows[row as usize] += value;
        }
        assert!(rows.iter().all(|sum| f64::abs(*sum) < 1e-9));
    }

    #[test]
    fn right_angle_has_no_weight() {
        let cot = corner_cotangents([DVec3::ZERO, DVec3::X, DVec3::Y]);
        assert_eq!(cot, [0.0, 1.0, 1.0]);
        assert_eq!(corner_cotangents([DVec3::ZERO; 3]), [0.0; 3]);
        assert_eq!(corner_cotangents([DVec3::NAN; 3]), [0.0; 3]);
    }
}
