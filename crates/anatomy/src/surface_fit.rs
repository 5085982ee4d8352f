//! A surface fitted to targets while it keeps its bending: (4.1) with (4.2) and (4.3), by local/global iterations.
//!
//! `supple_sim`'s solver minimises the same energies, but keeps its state in single precision and a model's targets and
//! weights as one set for all time. Here bending weights go down to 1e-8 (Laplacians in 1/m, areas in m²), targets change
//! their kind and weight from one iteration to the next, and rest Laplacians are renewed every few: in effect a new model an
//! iteration. So this is the same iteration in double precision, with one ordering for all of its matrices.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use rayon::prelude::*;
use supple_geom::adjacency::{Adjacency, NONE, Rows};
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::polar::rotation_f64;
use supple_geom::sparse::{Cholesky, SparseError, Symbolic, SymmetricCsc};

/// Bounds on the Laplacian's weights, so that needles (cotangent 10 is 6°) are not stiff and every edge has a hold.
const CLAMP: Clamp = Clamp {
    cotangent: 10.0,
    least_weight: 0.02,
    largest_weight: f64::INFINITY,
};

/// Least area of a vertex \[m²\], which bounds the coefficients of tiny triangles.
const LEAST_AREA: f64 = 2e-6;

/// A target of one vertex: the sum of any number of weighted points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VertexTarget {
    /// Sum of the weights \[m²\].
    pub weight: f64,
    /// Sum of weight times point \[m³\].
    pub sum: DVec3,
}

impl VertexTarget {
    /// Adds a point \[m\] with a weight (that of (4.3) times the vertex' area) \[m²\].
    pub fn add(&mut self, point: DVec3, weight: f64) {
        self.weight += weight;
        self.sum += weight * point;
    }
}

/// A target of a point of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Corners.
    pub vertices: [u32; 3],
    /// Their shares in the point.
    pub shares: [f64; 3],
    /// Where it should be \[m\].
    pub target: DVec3,
    /// Weight \[m²\].
    pub weight: f64,
}

/// A surface with some of its vertices held.
#[derive(Clone, Debug)]
pub struct SurfaceFit {
    triangles: Vec<[u32; 3]>,
    /// Row of each vertex in the matrix; [`NONE`] if it is held.
    row: Vec<u32>,
    free: Vec<u32>,
    /// Each vertex and its neighbours.
    stencils: Rows,
    /// Laplacian coefficients, for each item of `stencils` \[1/m²\].
    coefficients: Vec<f64>,
    areas: Vec<f64>,
    reference: Vec<DVec3>,
    /// Laplacians of the reference \[1/m\].
    rest: Vec<DVec3>,
    /// Bending with weight 1.
    bending: SymmetricCsc,
    symbolic: Arc<Symbolic>,
}

impl SurfaceFit {
    /// A surface over `held.len()` vertices with the bending of a reference.
    pub fn new(triangles: &[[u32; 3]], held: &[bool], reference: &[DVec3]) -> Self {
        let adjacency = Adjacency::of_triangles(held.len(), triangles);
        let mut row = vec![NONE; held.len()];
        let free: Vec<u32> = (0..held.len() as u32)
            .filter(|v| !held[*v as usize])
            .collect();
        for (r, &v) in free.iter().enumerate() {
            row[v as usize] = r as u32;
        }
        let members = (0..held.len() as u32).flat_map(|v| {
            let ring = adjacency.vertex_vertices.row(v as usize);
            std::iter::once((v, v)).chain(ring.iter().map(move |&n| (v, n)))
        });
        let stencils = Rows::from_pairs(held.len(), members.collect::<Vec<_>>().into_iter());
        let pattern = (stencils.iter()).flat_map(|stencil| {
            let rows: Vec<u32> = (stencil.iter().map(|&v| row[v as usize]))
                .filter(|r| *r != NONE)
                .collect();
            pairs(&rows).collect::<Vec<_>>()
        });
        let entries = pattern.map(|(a, b)| (a, b, 0.0));
        let bending = SymmetricCsc::summed(free.len(), entries);
        let mut fit = SurfaceFit {
            symbolic: Arc::new(Symbolic::new(&bending)),
            triangles: triangles.to_vec(),
            coefficients: vec![0.0; stencils.items.len()],
            areas: Vec::new(),
            reference: Vec::new(),
            rest: Vec::new(),
            row,
            free,
            stencils,
            bending,
        };
        fit.renew(reference);
        fit
    }

    /// Vertices that move, ascending.
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    /// Area of each vertex of the reference \[m²\].
    pub fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// Takes the Laplacians of another shape as those to keep.
    pub fn renew(&mut self, reference: &[DVec3]) {
        let laplacian = cotan_laplacian(reference, &self.triangles, CLAMP);
        self.areas = laplacian.mass.iter().map(|m| m.max(LEAST_AREA)).collect();
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
        self.bending.values.fill(0.0);
        for v in 0..reference.len() {
            let stencil: Vec<(u32, f64)> = (self.stencil(v))
                .map(|(n, c)| (self.row[n as usize], c))
                .filter(|(r, _)| *r != NONE)
                .collect();
            for i in 0..stencil.len() {
                for j in 0..=i {
                    let ((a, ca), (b, cb)) = (stencil[i], stencil[j]);
                    add(&mut self.bending, a, b, self.areas[v] * ca * cb);
                }
            }
        }
    }

    fn stencil(&self, vertex: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range =
            self.stencils.offsets[vertex] as usize..self.stencils.offsets[vertex + 1] as usize;
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

    /// One local/global iteration from x: the free vertices where bending (4.2) times its weight and the targets (4.3) are
    /// least for the present rotations. Fails if a vertex has neither bending nor target.
    pub fn solve(
        &self,
        x: &[DVec3],
        bending: f64,
        targets: &[VertexTarget],
        pulls: &[Pull],
    ) -> Result<Vec<DVec3>, SparseError> {
        let mut matrix = self.bending.scaled(bending);
        let mut right = self.bending_forces(x, bending);
        let diagonal: Vec<f64> = (self.free.iter())
            .map(|&v| targets[v as usize].weight)
            .collect();
        matrix.add_diagonal(&diagonal);
        for (r, &v) in self.free.iter().enumerate() {
            right[r] += targets[v as usize].sum;
        }
        for pull in pulls {
            self.add_pull(pull, x, &mut matrix, &mut right);
        }
        let factor = Cholesky::with(self.symbolic.clone(), &matrix)?;
        let mut columns = [0, 1, 2].map(|k| right.iter().map(|r| r[k]).collect::<Vec<f64>>());
        factor.solve_columns(&mut columns);
        let mut solved = x.to_vec();
        for (r, &v) in self.free.iter().enumerate() {
            solved[v as usize] = DVec3::new(columns[0][r], columns[1][r], columns[2][r]);
        }
        Ok(solved)
    }

    /// Right-hand side of the bending, with the held vertices' part of the matrix.
    fn bending_forces(&self, x: &[DVec3], bending: f64) -> Vec<DVec3> {
        let turned: Vec<DVec3> = (0..x.len())
            .into_par_iter()
            .map(|v| {
                let mut wanted = self.rotation(v, x) * self.rest[v];
                for (n, c) in self.stencil(v) {
                    if self.row[n as usize] == NONE {
                        wanted -= c * x[n as usize];
                    }
                }
                bending * self.areas[v] * wanted
            })
            .collect();
        let mut right = vec![DVec3::ZERO; self.free.len()];
        for (v, wanted) in turned.iter().enumerate() {
            for (n, c) in self.stencil(v) {
                if self.row[n as usize] != NONE {
                    right[self.row[n as usize] as usize] += c * *wanted;
                }
            }
        }
        right
    }

    fn add_pull(&self, pull: &Pull, x: &[DVec3], matrix: &mut SymmetricCsc, right: &mut [DVec3]) {
        let rows = pull.vertices.map(|v| self.row[v as usize]);
        let mut target = pull.target;
        for k in (0..3).filter(|&k| rows[k] == NONE) {
            target -= pull.shares[k] * x[pull.vertices[k] as usize];
        }
        for i in (0..3).filter(|&i| rows[i] != NONE) {
            right[rows[i] as usize] += pull.weight * pull.shares[i] * target;
            for j in (0..=i).filter(|&j| rows[j] != NONE) {
                let value = pull.weight * pull.shares[i] * pull.shares[j];
                add(matrix, rows[i], rows[j], value);
            }
        }
    }
}

/// All pairs of a row, each once.
fn pairs(rows: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    (0..rows.len()).flat_map(move |i| (0..i).map(move |j| (rows[i], rows[j])))
}

/// Adds to an entry that is in the pattern.
fn add(matrix: &mut SymmetricCsc, a: u32, b: u32, value: f64) {
    let (row, column) = (a.max(b), a.min(b) as usize);
    let range = matrix.column_starts[column] as usize..matrix.column_starts[column + 1] as usize;
    if let Ok(at) = matrix.rows[range.clone()].binary_search(&row) {
        matrix.values[range.start + at] += value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use supple_geom::shapes::icosphere;

    fn ball() -> (Vec<[u32; 3]>, Vec<DVec3>) {
        let mesh = icosphere(0.1, 3);
        (
            mesh.triangles,
            mesh.positions.iter().map(|p| p.as_dvec3()).collect(),
        )
    }

    #[test]
    fn a_turned_surface_is_found_from_three_targets() {
        let (triangles, x) = ball();
        let fit = SurfaceFit::new(&triangles, &vec![false; x.len()], &x);
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.8);
        let goal: Vec<DVec3> = x.iter().map(|p| turn * *p + DVec3::X).collect();
        let mut targets = vec![VertexTarget::default(); x.len()];
        (0..x.len())
            .step_by(40)
            .for_each(|v| targets[v].add(goal[v], 1e-3));
        let mut found = x;
        for _ in 0..60 {
            found = fit.solve(&found, 1e-6, &targets, &[]).unwrap();
        }
        let worst = found
            .iter()
            .zip(&goal)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        assert!(worst < 1e-4, "{worst}");
    }

    #[test]
    fn held_vertices_stay_and_pulls_reach() {
        let (triangles, x) = ball();
        let held: Vec<bool> = x.iter().map(|p| p.y < 0.0).collect();
        let fit = SurfaceFit::new(&triangles, &held, &x);
        let top = (triangles.iter())
            .find(|t| t.iter().all(|&v| x[v as usize].y > 0.08))
            .unwrap();
        let pull = Pull {
            vertices: *top,
            shares: [0.2, 0.3, 0.5],
            target: DVec3::new(0.0, 0.13, 0.0),
            weight: 1.0,
        };
        let targets = vec![VertexTarget::default(); x.len()];
        let mut found = x.clone();
        for _ in 0..10 {
            found = fit.solve(&found, 1e-6, &targets, &[pull]).unwrap();
        }
        let at: DVec3 = (0..3)
            .map(|k| pull.shares[k] * found[top[k] as usize])
            .sum();
        assert!(at.distance(pull.target) < 1e-3, "{at}");
        for v in 0..x.len() {
            assert!(!held[v] || found[v] == x[v]);
        }
        assert!(found.iter().zip(&x).any(|(a, b)| a.distance(*b) > 0.01));
    }
}
