//! The cotangent Laplacian and its lumped mass.
//!
//! Pinkall and Polthier 1993, "Computing discrete minimal surfaces and their conjugates"; notation of Botsch, Kobbelt,
//! Pauly, Alliez and Lévy 2010, *Polygon Mesh Processing*, section 3.3.4.

use glam::DVec3;

use crate::adjacency::{Adjacency, NONE};

/// Bounds that limit the effect of bad triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clamp {
    /// Largest magnitude of a cotangent. Above that of a tenth of a degree (573) a needle outweighs its whole
    /// neighbourhood, and factorisations lose half of their digits; bounds below that of a degree (57) change
    /// well-shaped scans.
    pub cotangent: f64,
    /// Least weight of an edge. If none is negative, solutions satisfy the maximum principle; linear precision is lost
    /// at edges whose cotangents sum to less (obtuse, not Delaunay).
    pub least_weight: f64,
    /// Largest weight of an edge.
    pub largest_weight: f64,
}

impl Clamp {
    /// Cotangents alone are bounded, for linear precision.
    pub const COTANGENTS: Clamp = Clamp {
        cotangent: 573.0,
        least_weight: f64::NEG_INFINITY,
        largest_weight: f64::INFINITY,
    };
    /// No edge has a negative weight, for the maximum principle.
    pub const NON_NEGATIVE: Clamp = Clamp {
        least_weight: 0.0,
        ..Clamp::COTANGENTS
    };
}

/// A symmetric Laplacian as one weight for each edge: `(L x)ᵢ = Σⱼ wᵢⱼ (xⱼ − xᵢ)`, negative semi-definite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CotanLaplacian {
    /// Edges, smaller vertex first, in lexicographic order.
    pub edges: Vec<[u32; 2]>,
    /// Weight of each edge: `wᵢⱼ = (cot αᵢⱼ + cot βᵢⱼ) / 2`, without unit.
    pub weights: Vec<f64>,
    /// Lumped mass of each vertex: a third of the area of its triangles \[m²\] (barycentric cells, which unlike Voronoi
    /// cells never turn negative on obtuse triangles).
    pub mass: Vec<f64>,
}

/// Builds the Laplacian of a surface whose indices are in range; degenerate triangles add nothing.
pub fn cotan_laplacian(
    positions: &[DVec3],
    triangles: &[[u32; 3]],
    clamp: Clamp,
) -> CotanLaplacian {
    let adjacency = Adjacency::of_triangles(positions.len(), triangles);
    let mut weights = vec![0.0; adjacency.edges.len()];
    let mut mass = vec![0.0; positions.len()];
    for (corners, edges) in triangles.iter().zip(&adjacency.triangle_edges) {
        let at = corners.map(|v| positions[v as usize]);
        for k in 0..3 {
            let Some(corner) = Corner::of(at, k) else {
                continue;
            };
            mass[corners[k] as usize] += corner.double_area / 6.0;
            // Edge k + 1 runs from corner k + 1 to corner k + 2, opposite corner k.
            let opposite = edges[(k + 1) % 3];
            if opposite != NONE {
                let bounded = corner.cotangent.clamp(-clamp.cotangent, clamp.cotangent);
                weights[opposite as usize] += 0.5 * bounded;
            }
        }
    }
    for weight in &mut weights {
        *weight = weight.clamp(clamp.least_weight, clamp.largest_weight);
    }
    CotanLaplacian {
        edges: adjacency.edges,
        weights,
        mass,
    }
}

/// Data of a triangle at one of its corners.
struct Corner {
    cotangent: f64,
    double_area: f64,
}

impl Corner {
    /// None for degenerate triangles.
    fn of(at: [DVec3; 3], k: usize) -> Option<Corner> {
        let (u, v) = (at[(k + 1) % 3] - at[k], at[(k + 2) % 3] - at[k]);
        let double_area = u.cross(v).length();
        (double_area > 0.0 && double_area.is_finite()).then(|| Corner {
            cotangent: u.dot(v) / double_area,
            double_area,
        })
    }
}

/// The area-weighted Laplacian at one vertex: `Δx = Σ coefficient × position`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stencil {
    /// The vertex, then its neighbours in ascending order.
    pub vertices: Vec<u32>,
    /// Coefficients \[1/m²\], with sum zero.
    pub coefficients: Vec<f64>,
    /// Lumped mass of the vertex \[m²\].
    pub area: f64,
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

    /// The row of every vertex that has an area, divided by it, in the order of the vertices.
    pub fn stencils(&self) -> Vec<Stencil> {
        let mut rings: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.mass.len()];
        // Edges are in lexicographic order, so every vertex meets its neighbours in ascending order.
        for (&[a, b], &w) in self.edges.iter().zip(&self.weights) {
            rings[a as usize].push((b, w));
            rings[b as usize].push((a, w));
        }
        let mut stencils = Vec::new();
        for (v, (ring, &area)) in rings.iter().zip(&self.mass).enumerate() {
            if area > 0.0 {
                let sum = ring.iter().map(|&(_, w)| w).sum::<f64>();
                let neighbours = ring.iter().map(|&(vertex, _)| vertex);
                let weights = ring.iter().map(|&(_, w)| w / area);
                stencils.push(Stencil {
                    vertices: std::iter::once(v as u32).chain(neighbours).collect(),
                    coefficients: std::iter::once(-sum / area).chain(weights).collect(),
                    area,
                });
            }
        }
        stencils
    }

    /// `L x` for one value per vertex.
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
    use crate::{TriMesh, random::Random, shapes};
    use glam::Vec2;

    fn laplacian(mesh: &TriMesh, clamp: Clamp) -> CotanLaplacian {
        cotan_laplacian(&positions(mesh), &mesh.triangles, clamp)
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
        let flow = laplacian(&mesh, Clamp::COTANGENTS).apply(&positions(&mesh));
        for (p, l) in mesh.positions.iter().zip(flow) {
            assert!(p.x.abs() > 0.49 || p.z.abs() > 0.49 || l.length() < 1e-6);
        }
    }

    #[test]
    fn gradient_of_area_on_a_sphere_is_mean_curvature() {
        // L x = −2 H n · mass, with mean curvature H = 1/r.
        let mesh = shapes::icosphere(2.0, 4);
        let laplacian = laplacian(&mesh, Clamp::NON_NEGATIVE);
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
        let clamped = laplacian(&mesh, Clamp::NON_NEGATIVE);
        assert!(clamped.weights.iter().all(|w| *w >= 0.0));
        let mut rows = vec![0.0; mesh.positions.len()];
        for (row, _, value) in clamped.triplets() {
            rows[row as usize] += value;
        }
        assert!(rows.iter().all(|sum| f64::abs(*sum) < 1e-9));
    }

    #[test]
    fn right_angles_have_no_weight_and_broken_triangles_add_nothing() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let right = cotan_laplacian(&corners, &[[0, 1, 2]], Clamp::COTANGENTS);
        // Opposite the right angle zero, opposite 45° half of one.
        assert_eq!(right.edges, [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(right.weights, [0.5, 0.5, 0.0]);
        assert_eq!(right.mass, [1.0 / 6.0; 3]);
        for broken in [
            [DVec3::ZERO; 3],
            [DVec3::NAN; 3],
            [DVec3::X, DVec3::ZERO, -DVec3::X],
        ] {
            let nothing = cotan_laplacian(&broken, &[[0, 1, 2]], Clamp::COTANGENTS);
            assert_eq!(
                (nothing.weights, nothing.mass),
                (vec![0.0; 3], vec![0.0; 3])
            );
        }
    }

    #[test]
    fn bounds_are_kept() {
        // A needle of a millionth of a radian: cotangents of a million and, in the middle corner, minus a million.
        let needle = [DVec3::ZERO, DVec3::X, DVec3::new(0.5, 1e-6, 0.0)];
        let of = |clamp: Clamp| cotan_laplacian(&needle, &[[0, 1, 2]], clamp).weights;
        assert_eq!(of(Clamp::COTANGENTS), [-286.5, 286.5, 286.5]);
        assert_eq!(of(Clamp::NON_NEGATIVE), [0.0, 286.5, 286.5]);
        let narrow = Clamp {
            cotangent: 100.0,
            least_weight: 0.05,
            largest_weight: 5.0,
        };
        assert_eq!(of(narrow), [0.05, 5.0, 5.0]);
    }

    #[test]
    fn stencils_are_rows_over_areas() {
        let mut mesh = shapes::icosphere(1.5, 2);
        mesh.positions.push(glam::Vec3::ONE);
        let laplacian = laplacian(&mesh, Clamp::COTANGENTS);
        let x = positions(&mesh);
        let flow = laplacian.apply(&x);
        let stencils = laplacian.stencils();
        // The loose vertex has no area and no stencil.
        assert_eq!(stencils.len() + 1, x.len());
        for stencil in stencils {
            let vertex = stencil.vertices[0] as usize;
            let pairs = stencil.vertices.iter().zip(&stencil.coefficients);
            let sum: DVec3 = pairs.map(|(&v, &c)| c * x[v as usize]).sum();
            assert!((sum * stencil.area - flow[vertex]).length() < 1e-13);
            assert!(stencil.coefficients.iter().sum::<f64>().abs() < 1e-12 / stencil.area);
            assert!(stencil.vertices[1..].is_sorted());
        }
    }
}
