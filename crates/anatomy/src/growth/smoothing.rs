//! Smoothing of values over a surface with some vertices held at zero.
//!
//! `(M + ℓ⁴ K M⁻¹ K) x = M y` smooths over a length ℓ with slopes that are continuous (bending), `(M + ℓ² K) x = M y` without
//! overshooting (diffusion); K is the cotangent Laplacian, M its lumped mass (Botsch and others 2010, *Polygon Mesh Processing*,
//! chapters 3 and 4).

use glam::DVec3;
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::sparse::{Cholesky, SparseError, SymmetricCsc};

use crate::person::sheet::Sheet;

/// Bounds of the edges' weights: needles are not stiff and every edge has a hold.
const CLAMP: Clamp = Clamp {
    cotangent: 10.0,
    least_weight: 0.02,
    largest_weight: f64::INFINITY,
};
/// Least area of a vertex \[m²\]; it bounds the coefficients of tiny triangles.
const LEAST_AREA: f64 = 2e-6;

/// A surface whose free vertices have values.
#[derive(Clone, Debug)]
pub struct Smoother {
    sheet: Sheet,
    /// Of all vertices of the sheet \[m²\].
    mass: Vec<f64>,
    edges: Vec<([u32; 2], f64)>,
    count: usize,
}

/// A factor of one kind of smoothing.
#[derive(Clone, Debug)]
pub struct Filter {
    factor: Cholesky,
    /// Vertex of the body of each row.
    whole: Vec<u32>,
    mass: Vec<f64>,
    count: usize,
}

impl Smoother {
    /// Over the free vertices of a surface.
    pub fn new(triangles: &[[u32; 3]], positions: &[DVec3], free: &[bool]) -> Self {
        let sheet = Sheet::new(triangles, free);
        let laplacian = cotan_laplacian(&sheet.gather(positions), &sheet.triangles, CLAMP);
        Smoother {
            mass: laplacian.mass.iter().map(|m| m.max(LEAST_AREA)).collect(),
            edges: laplacian.edges.into_iter().zip(laplacian.weights).collect(),
            count: positions.len(),
            sheet,
        }
    }

    /// Number of free vertices.
    pub fn free(&self) -> usize {
        self.sheet.free
    }

    /// Smoothing by diffusion over a length \[m\].
    pub fn diffusion(&self, length: f64) -> Result<Filter, SparseError> {
        let mut entries = self.masses();
        for &([a, b], w) in &self.edges {
            let w = w * length * length;
            self.push(&mut entries, a, a, w);
            self.push(&mut entries, b, b, w);
            self.push(&mut entries, b, a, -w);
        }
        self.filter(entries)
    }

    /// Smoothing by bending over a length \[m\].
    pub fn bending(&self, length: f64) -> Result<Filter, SparseError> {
        let mut entries = self.masses();
        self.add_bending(&mut entries, length.powi(4));
        self.filter(entries)
    }

    /// A plate that is clamped where vertices are held: the filter's answer to a load is its deflection, up to a factor.
    pub fn plate(&self) -> Result<Filter, SparseError> {
        let mut entries = Vec::new();
        self.add_bending(&mut entries, 1.0);
        self.filter(entries)
    }

    fn masses(&self) -> Vec<(u32, u32, f64)> {
        (0..self.sheet.free)
            .map(|v| (v as u32, v as u32, self.mass[v]))
            .collect()
    }

    fn add_bending(&self, entries: &mut Vec<(u32, u32, f64)>, weight: f64) {
        let mut rows: Vec<Vec<(u32, f64)>> = vec![vec![(0, 0.0)]; self.sheet.whole.len()];
        (rows.iter_mut().zip(0u32..)).for_each(|(row, v)| row[0].0 = v);
        for &([a, b], w) in &self.edges {
            for [v, n] in [[a, b], [b, a]] {
                rows[v as usize][0].1 += w;
                rows[v as usize].push((n, -w));
            }
        }
        for (row, mass) in rows.iter().zip(&self.mass) {
            for (k, &(a, ca)) in row.iter().enumerate() {
                for &(b, cb) in &row[..=k] {
                    self.push(entries, a.max(b), a.min(b), weight * ca * cb / mass);
                }
            }
        }
    }

    /// Adds an entry unless it concerns a held vertex.
    fn push(&self, entries: &mut Vec<(u32, u32, f64)>, row: u32, column: u32, value: f64) {
        if row.max(column) < self.sheet.free as u32 {
            entries.push((row, column, value));
        }
    }

    fn filter(&self, entries: Vec<(u32, u32, f64)>) -> Result<Filter, SparseError> {
        let free = self.sheet.free;
        Ok(Filter {
            factor: Cholesky::new(&SymmetricCsc::summed(free, entries))?,
            whole: self.sheet.whole[..free].to_vec(),
            mass: self.mass[..free].to_vec(),
            count: self.count,
        })
    }
}

impl Filter {
    /// Smoothed values, by vertex of the body; zero where held.
    pub fn smooth(&self, values: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = (self.whole.iter().zip(&self.mass))
            .map(|(&v, m)| m * values[v as usize])
            .collect();
        self.factor.solve(&mut x);
        let mut all = vec![0.0; self.count];
        for (&v, x) in self.whole.iter().zip(x) {
            all[v as usize] = x;
        }
        all
    }

    /// Smoothed unit vectors, normalised again; where held they are as they were.
    pub fn smooth_directions(&self, directions: &[DVec3]) -> Vec<DVec3> {
        let column = |k: usize| -> Vec<f64> {
            (self.whole.iter().zip(&self.mass))
                .map(|(&v, m)| m * directions[v as usize][k])
                .collect()
        };
        let mut columns = [column(0), column(1), column(2)];
        self.factor.solve_columns(&mut columns);
        let mut all = directions.to_vec();
        for (row, &v) in self.whole.iter().enumerate() {
            let smooth = DVec3::new(columns[0][row], columns[1][row], columns[2][row]);
            all[v as usize] = smooth.normalize_or(directions[v as usize]);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::icosphere;

    fn ball() -> (Smoother, Vec<DVec3>) {
        let ball = icosphere(0.1, 4);
        let positions: Vec<DVec3> = ball.positions.iter().map(|p| p.as_dvec3()).collect();
        let free: Vec<bool> = positions.iter().map(|p| p.y < 0.08).collect();
        (Smoother::new(&ball.triangles, &positions, &free), positions)
    }

    #[test]
    fn a_constant_stays_far_from_held_vertices_and_ends_at_them() {
        let (smoother, positions) = ball();
        let one = vec![1.0; positions.len()];
        let bending = smoother.bending(0.01).unwrap();
        for filter in [&smoother.diffusion(0.01).unwrap(), &bending] {
            let found = filter.smooth(&one);
            for (p, x) in positions.iter().zip(&found) {
                if p.y < 0.0 {
                    assert!((x - 1.0).abs() < 2e-3, "{x}");
                }
                assert!(p.y < 0.08 || *x == 0.0);
            }
        }
        // Zero enters the held vertices without a kink: bending starts quadratically.
        let near = |x: &[f64]| {
            (positions.iter().zip(x))
                .filter(|(p, _)| (0.07..0.075).contains(&p.y))
                .map(|(_, x)| *x)
                .fold(0.0, f64::max)
        };
        let diffused = smoother.diffusion(0.01).unwrap().smooth(&one);
        assert!(near(&bending.smooth(&one)) < near(&diffused));
    }

    #[test]
    fn diffusion_keeps_its_bounds_and_a_harmonic_is_damped_as_it_should() {
        let (smoother, positions) = ball();
        let step: Vec<f64> = positions
            .iter()
            .map(|p| f64::from(u8::from(p.x > 0.0)))
            .collect();
        let found = smoother.diffusion(0.02).unwrap().smooth(&step);
        assert!(found.iter().all(|x| (-1e-9..1.0 + 1e-9).contains(x)));
        // On a whole sphere x is an eigenvector of Δ with eigenvalue 2/r².
        let ball = icosphere(0.1, 4);
        let whole = Smoother::new(&ball.triangles, &positions, &vec![true; positions.len()]);
        let x: Vec<f64> = positions.iter().map(|p| p.x).collect();
        let length = 0.05_f64;
        let eigen = 2.0 / 0.01 * length.powi(2);
        for (filter, damped) in [
            (whole.diffusion(length).unwrap(), 1.0 / (1.0 + eigen)),
            (whole.bending(length).unwrap(), 1.0 / (1.0 + eigen * eigen)),
        ] {
            let found = filter.smooth(&x);
            for (a, b) in found.iter().zip(&x) {
                assert!((a - damped * b).abs() < 2e-3 * 0.1, "{a} {b} {damped}");
            }
        }
    }
}
