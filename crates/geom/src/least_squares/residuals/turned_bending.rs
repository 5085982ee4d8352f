//! Bending of a surface whose rest Laplacians turn with it (4.2): each is turned as the edges around its vertex are.

use glam::{DMat3, DVec3};

use super::Stencils;
use crate::adjacency::{Adjacency, NONE, Rows as Rings};
use crate::laplace::{Clamp, cotan_laplacian};
use crate::least_squares::{Points, Residual, Rows};
use crate::polar::rotation_f64;

/// One row for each vertex: √(wA) (Δx − R Δx⁰), where R turns the rest shape's edges best to the present ones.
#[derive(Clone, Debug)]
pub struct TurnedBending {
    /// Weight of a square metre.
    pub weight: f64,
    triangles: Vec<[u32; 3]>,
    clamp: Clamp,
    /// Least area of a vertex \[m²\].
    least_area: f64,
    /// Each vertex and its neighbours.
    stencils: Rings,
    /// Unknown of each item of `stencils`.
    unknown: Vec<u32>,
    /// Laplacian coefficients, for each item of `stencils` \[1/m²\].
    coefficients: Vec<f64>,
    areas: Vec<f64>,
    reference: Vec<DVec3>,
    /// Laplacians of the reference \[1/m\].
    rest: Vec<DVec3>,
}

impl TurnedBending {
    /// Of triangles between all points, at rest where they are. `clamp` bounds the Laplacian's weights, and `least_area` \[m²\]
    /// the coefficients of tiny triangles.
    pub fn new(triangles: &[[u32; 3]], points: &Points, clamp: Clamp, least_area: f64) -> Self {
        let count = points.at.len();
        let adjacency = Adjacency::of_triangles(count, triangles);
        let members = (0..count as u32).flat_map(|v| {
            let ring = adjacency.vertex_vertices.row(v as usize);
            std::iter::once((v, v)).chain(ring.iter().map(move |&n| (v, n)))
        });
        let stencils = Rings::from_pairs(count, members.collect::<Vec<_>>().into_iter());
        let mut of_point = vec![NONE; count];
        for (k, &v) in (0u32..).zip(points.free()) {
            of_point[v as usize] = k;
        }
        let mut bending = TurnedBending {
            weight: 1.0,
            triangles: triangles.to_vec(),
            clamp,
            least_area,
            unknown: (stencils.items.iter())
                .map(|&v| of_point[v as usize])
                .collect(),
            coefficients: vec![0.0; stencils.items.len()],
            areas: Vec::new(),
            reference: Vec::new(),
            rest: Vec::new(),
            stencils,
        };
        bending.renew(&points.at);
        bending
    }

    /// Area of each vertex at rest \[m²\].
    pub fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// Takes another shape as that at rest.
    ///
    /// # Panics
    /// If it has another number of vertices.
    pub fn renew(&mut self, reference: &[DVec3]) {
        let laplacian = cotan_laplacian(reference, &self.triangles, self.clamp);
        self.areas = (laplacian.mass.iter())
            .map(|m| m.max(self.least_area))
            .collect();
        self.coefficients.fill(0.0);
        // Edges ascend in both ends, as the neighbours in the stencils do.
        let mut filled: Vec<usize> =
            (self.stencils.offsets.iter().map(|o| *o as usize + 1)).collect();
        for (&[a, b], &w) in laplacian.edges.iter().zip(&laplacian.weights) {
            for v in [a as usize, b as usize] {
                let first = self.stencils.offsets[v] as usize;
                self.coefficients[filled[v]] = w / self.areas[v];
                self.coefficients[first] -= w / self.areas[v];
                filled[v] += 1;
            }
        }
        self.reference = reference.to_vec();
        self.rest = (0..reference.len())
            .map(|v| self.laplacian(v, reference))
            .collect();
    }

    fn range(&self, vertex: usize) -> std::ops::Range<usize> {
        self.stencils.offsets[vertex] as usize..self.stencils.offsets[vertex + 1] as usize
    }

    fn stencil(&self, vertex: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.range(vertex);
        let coefficients = self.coefficients[range.clone()].iter().copied();
        self.stencils.items[range].iter().copied().zip(coefficients)
    }

    fn laplacian(&self, vertex: usize, x: &[DVec3]) -> DVec3 {
        self.stencil(vertex).map(|(n, c)| c * x[n as usize]).sum()
    }

    /// The rotation that fits the reference's edges around a vertex best to those of x.
    fn rotation(&self, vertex: usize, x: &[DVec3]) -> DMat3 {
        let mut covariance = DMat3::ZERO;
        for (n, c) in self.stencil(vertex).skip(1) {
            let old = self.reference[n as usize] - self.reference[vertex];
            let new = c * (x[n as usize] - x[vertex]);
            covariance += DMat3::from_cols(new * old.x, new * old.y, new * old.z);
        }
        rotation_f64(covariance)
    }
}

impl Residual<Points, 3> for TurnedBending {
    fn pieces(&self) -> usize {
        Stencils::pieces(self.areas.len())
    }

    fn linearise(&self, points: &Points, piece: usize, rows: &mut dyn Rows<3>) {
        let mut entries = Vec::new();
        for vertex in Stencils::piece(piece, self.areas.len()) {
            let range = self.range(vertex);
            entries.clear();
            let pairs = self.unknown[range.clone()]
                .iter()
                .zip(&self.coefficients[range]);
            entries.extend(pairs.filter(|(k, _)| **k != NONE).map(|(k, c)| (*k, *c)));
            let wanted = self.rotation(vertex, &points.at) * self.rest[vertex];
            let off = self.laplacian(vertex, &points.at) - wanted;
            rows.row(self.weight * self.areas[vertex], &entries, off.to_array());
        }
    }

    fn is_constant(&self) -> bool {
        true
    }
}
