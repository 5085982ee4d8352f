//! Linear least squares over positions: rows of scalar coefficients with points as targets, for local/global solvers.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use rayon::prelude::*;
use supple_geom::higham::closest_rotation;
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::sparse::{Cholesky, SparseError, Symbolic, SymmetricCsc};

use super::sheet::Sheet;

/// Minimises `Σ wᵣ |Σⱼ cᵣⱼ xⱼ − tᵣ|²` over the free vertices; the others hold still.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    free: usize,
    starts: Vec<u32>,
    entries: Vec<(u32, f64)>,
    weights: Vec<f64>,
    /// What the vertices that hold still add to each row.
    held: Vec<DVec3>,
}

impl Rows {
    pub fn new(free: usize) -> Rows {
        Rows {
            free,
            starts: vec![0],
            ..Rows::default()
        }
    }

    /// Appends a row. `x` holds the positions of the vertices that hold still.
    pub fn push(&mut self, weight: f64, entries: impl Iterator<Item = (u32, f64)>, x: &[DVec3]) {
        let mut held = DVec3::ZERO;
        for (vertex, coefficient) in entries {
            if (vertex as usize) < self.free {
                self.entries.push((vertex, coefficient));
            } else {
                held += coefficient * x[vertex as usize];
            }
        }
        self.starts.push(self.entries.len() as u32);
        self.weights.push(weight);
        self.held.push(held);
    }

    pub fn len(&self) -> usize {
        self.weights.len()
    }

    pub fn scale_weight(&mut self, row: usize, factor: f64) {
        self.weights[row] *= factor;
    }

    fn row(&self, row: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// The value of a row at free positions `x`.
    pub fn value(&self, row: usize, x: &[DVec3]) -> DVec3 {
        let sum: DVec3 = self.row(row).iter().map(|&(v, c)| c * x[v as usize]).sum();
        self.held[row] + sum
    }

    /// The normal matrix, with further weights on its diagonal.
    pub fn matrix(&self, diagonal: &[f64]) -> SymmetricCsc {
        let mut entries: Vec<(u32, u32, f64)> = (0u32..)
            .zip(diagonal)
            .map(|(v, &weight)| (v, v, weight))
            .collect();
        for row in 0..self.len() {
            let row_entries = self.row(row);
            for (k, &(a, ca)) in row_entries.iter().enumerate() {
                for &(b, cb) in &row_entries[..=k] {
                    entries.push((a.max(b), a.min(b), self.weights[row] * ca * cb));
                }
            }
        }
        SymmetricCsc::summed(self.free, entries)
    }

    /// The right-hand side for the rows' targets, with further weighted points.
    pub fn right_side(&self, targets: &[DVec3], points: &[(f64, DVec3)]) -> Vec<DVec3> {
        let mut sum: Vec<DVec3> = points.iter().map(|(w, p)| *w * *p).collect();
        sum.resize(self.free, DVec3::ZERO);
        for (row, target) in targets.iter().enumerate() {
            let wanted = self.weights[row] * (*target - self.held[row]);
            for &(v, c) in self.row(row) {
                sum[v as usize] += c * wanted;
            }
        }
        sum
    }
}

/// A factor of a matrix whose pattern stays while its values change.
#[derive(Default)]
pub(crate) struct Solver {
    symbolic: Option<Arc<Symbolic>>,
    factor: Option<Cholesky>,
}

impl Solver {
    pub fn factorise(&mut self, matrix: &SymmetricCsc) -> Result<(), SparseError> {
        let symbolic = (self
            .symbolic
            .get_or_insert_with(|| Arc::new(Symbolic::new(matrix))))
        .clone();
        self.factor = Some(Cholesky::with(symbolic, matrix)?);
        Ok(())
    }

    /// Solves for all three coordinates. Nothing happens before a factor is there.
    pub fn solve(&self, right_side: &[DVec3]) -> Vec<DVec3> {
        let Some(factor) = &self.factor else {
            return right_side.to_vec();
        };
        let mut columns: Vec<Vec<f64>> = (0..3)
            .map(|k| right_side.iter().map(|p| p[k]).collect())
            .collect();
        factor.solve_columns(&mut columns);
        (0..right_side.len())
            .map(|v| DVec3::new(columns[0][v], columns[1][v], columns[2][v]))
            .collect()
    }
}

/// Bending (4.2): one row for each free vertex, the area-weighted Laplacian; its target keeps the rest shape's length and
/// takes the current direction.
pub(crate) struct Bending {
    /// Length of the rest shape's Laplacian at each row \[1/m\].
    lengths: Vec<f64>,
    first: usize,
}

impl Bending {
    /// Appends the rows of a sheet at rest positions `rest`; `x` are positions of vertices that hold still.
    pub fn append(
        rows: &mut Rows,
        sheet: &Sheet,
        rest: &[DVec3],
        x: &[DVec3],
        weight: f64,
    ) -> Bending {
        let laplacian = cotan_laplacian(rest, &sheet.triangles, Clamp::NON_NEGATIVE);
        let first = rows.len();
        let mut lengths = Vec::new();
        for stencil in laplacian.stencils() {
            if stencil.vertices[0] as usize >= sheet.free {
                continue;
            }
            let terms = || {
                stencil
                    .vertices
                    .iter()
                    .copied()
                    .zip(stencil.coefficients.iter().copied())
            };
            rows.push(weight * stencil.area, terms(), x);
            let value: DVec3 = terms().map(|(v, c)| c * rest[v as usize]).sum();
            lengths.push(value.length());
        }
        Bending { lengths, first }
    }

    /// Targets at free positions `x`, in the order of the rows.
    pub fn targets(&self, rows: &Rows, x: &[DVec3], targets: &mut [DVec3]) {
        for (k, &length) in self.lengths.iter().enumerate() {
            let row = self.first + k;
            targets[row] = rows.value(row, x).normalize_or_zero() * length;
        }
    }
}

/// Rigidity of a sheet: one row for each edge with a free end; its target is the rest edge turned as its ends turn
/// (Sorkine and Alexa 2007). Together with bending it lets a surface turn and little else.
pub(crate) struct Rigidity {
    first: usize,
    edges: Vec<[u32; 2]>,
    /// Edges of the rest shape.
    rest: Vec<DVec3>,
    /// For each vertex its edges, by index and whether it is their second end.
    fans: Vec<Vec<(u32, bool)>>,
}

impl Rigidity {
    pub fn append(
        rows: &mut Rows,
        sheet: &Sheet,
        rest: &[DVec3],
        x: &[DVec3],
        weight: f64,
    ) -> Rigidity {
        let laplacian = cotan_laplacian(rest, &sheet.triangles, Clamp::NON_NEGATIVE);
        let mut rigidity = Rigidity {
            first: rows.len(),
            edges: Vec::new(),
            rest: Vec::new(),
            fans: vec![Vec::new(); sheet.free],
        };
        for (&[a, b], cotangent) in laplacian.edges.iter().zip(&laplacian.weights) {
            if (a as usize) >= sheet.free {
                continue;
            }
            let edge = rigidity.edges.len() as u32;
            // No edge is without weight, or slivers would fold.
            let weight = weight * cotangent.clamp(LEAST_COTANGENT, MOST_COTANGENT);
            rows.push(weight, [(b, 1.0), (a, -1.0)].into_iter(), x);
            rigidity.edges.push([a, b]);
            rigidity.rest.push(rest[b as usize] - rest[a as usize]);
            rigidity.fans[a as usize].push((edge, false));
            if (b as usize) < sheet.free {
                rigidity.fans[b as usize].push((edge, true));
            }
        }
        rigidity
    }

    /// Targets at free positions `x`, in the order of the rows.
    pub fn targets(&self, rows: &Rows, x: &[DVec3], targets: &mut [DVec3]) {
        let now: Vec<DVec3> = (0..self.edges.len())
            .map(|k| rows.value(self.first + k, x))
            .collect();
        let turn = |fan: &Vec<(u32, bool)>| {
            let mut mixed = DMat3::ZERO;
            for &(edge, _) in fan {
                let (e, r) = (now[edge as usize], self.rest[edge as usize]);
                mixed += DMat3::from_cols(e * r.x, e * r.y, e * r.z);
            }
            closest_rotation(mixed)
        };
        let turns: Vec<DMat3> = self.fans.par_iter().map(turn).collect();
        for (k, &[a, b]) in self.edges.iter().enumerate() {
            let rest = self.rest[k];
            let first = turns[a as usize] * rest;
            let second = turns.get(b as usize).map_or(first, |turn| *turn * rest);
            targets[self.first + k] = 0.5 * (first + second);
        }
    }
}

/// Bounds of cotangent weights: well-shaped triangles have about 0.6 for each of two.
const LEAST_COTANGENT: f64 = 0.1;
const MOST_COTANGENT: f64 = 3.0;
