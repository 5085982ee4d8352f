//! The global solve as one sparse product: rows of local inverses of A (restricted additive Schwarz).
//!
//! With the bone surface eliminated, tissue is thin and A⁻¹ decays within a few edges. For each patch of rows the matrix is
//! inverted on the patch and the rows around it that matter most, and the patch's own rows of that inverse are kept:
//! B r is then exact but for what lies farther away. The step's residual form sees what is left and corrects it
//! in the next local/global iteration. Local inverses of a positive definite matrix always exist, however the rows are chosen.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;
use supple_geom::sparse::{Csc, Ldlt, SymmetricCsc};
use supple_sim::SolveError;

/// Columns of a patch: the first number that leaves no more of a rough and of a smooth right-hand side than ten Jacobi-CG
/// iterations do.
/// On bodies the first leaves a fifth of that; fewer would save little, since a dispatch costs more than its arithmetic,
/// and the last is what workgroup memory has room for. Deep and stiff tissue needs more, since its inverse reaches farther.
pub const COLUMNS: [usize; 3] = [256, 384, 512];
/// Rows among which the columns are chosen.
const CANDIDATES: usize = 1024;
/// Columns whose influence on every row of the patch is below this are left out.
const LEAST_INFLUENCE: f64 = 1e-6;

/// Codes of a coefficient on either side of zero: it is kept in two bytes, as the root of its share of the row's largest. So
/// small ones, which are many, are as exact as large ones, which are few.
pub const CODES: f64 = 32767.0;

/// What one patch gathers, and with which coefficients.
#[derive(Clone, Debug, Default)]
pub struct PatchRows {
    /// Rows that are gathered, the patch's own first.
    pub columns: Vec<u32>,
    /// `codes[row of the patch][column]`: the coefficient is code × |code| × unit of the row.
    pub codes: Vec<Vec<i16>>,
    /// Coefficient of code 1 in each row.
    pub units: Vec<f32>,
}

/// Local inverses before they are rounded.
struct ExactRows {
    columns: Vec<u32>,
    /// `coefficients[row of the patch][column]`.
    coefficients: Vec<Vec<f64>>,
}

impl ExactRows {
    fn rounded(self) -> PatchRows {
        let (codes, units) = self.coefficients.iter().map(|row| encode(row)).unzip();
        PatchRows {
            columns: self.columns,
            codes,
            units,
        }
    }
}

/// Codes of a row and its unit. From the largest down, each takes over what rounding left of the one before: the row's sum, and
/// with it what the row makes of a smooth right-hand side, stays.
fn encode(row: &[f64]) -> (Vec<i16>, f32) {
    let largest = row.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    let unit = (largest / (CODES * CODES)) as f32;
    let mut codes = vec![0; row.len()];
    if unit <= 0.0 {
        return (codes, 0.0);
    }
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| row[b].abs().total_cmp(&row[a].abs()).then(a.cmp(&b)));
    let mut left = 0.0;
    for k in order {
        let wanted = row[k] + left;
        let root = (wanted.abs() / f64::from(unit)).sqrt().round().min(CODES);
        codes[k] = root.copysign(wanted) as i16;
        left = wanted - decode(codes[k], unit);
    }
    (codes, unit)
}

fn decode(code: i16, unit: f32) -> f64 {
    let code = f64::from(code);
    code * code.abs() * f64::from(unit)
}

/// Local inverses for every patch.
pub fn patch_inverse(matrix: &Csc, patches: &[Vec<u32>]) -> Result<Vec<PatchRows>, SolveError> {
    let sides = right_hand_sides(matrix.width());
    let allowed = sides.each_ref().map(|b| cg_residual(matrix, b, 10));
    let mut rows = with_columns(matrix, patches, COLUMNS[0])?;
    for columns in &COLUMNS[1..] {
        let left = sides
            .each_ref()
            .map(|b| product_residual(matrix, patches, &rows, b));
        if left
            .iter()
            .zip(&allowed)
            .all(|(left, allowed)| left <= allowed)
        {
            break;
        }
        rows = with_columns(matrix, patches, *columns)?;
    }
    for columns in &COLUMNS[1..] {
        widen(matrix, patches, &mut rows, &sides[1], *columns)?;
    }
    Ok(rows.into_par_iter().map(ExactRows::rounded).collect())
}

/// A patch that misses more than this share of its answer to a smooth right-hand side gets more columns. Without, a deep belly
/// that is thrown upwards lags behind by a millimetre and a half.
const MOST_MISSING: f64 = 0.05;
/// Corrections after which a smooth right-hand side is solved well enough to tell.
const CORRECTIONS: usize = 50;

/// Gives more columns to patches in deep tissue, where the inverse reaches farther than elsewhere.
fn widen(
    matrix: &Csc,
    patches: &[Vec<u32>],
    rows: &mut [ExactRows],
    smooth: &[f64],
    columns: usize,
) -> Result<(), SolveError> {
    let first = product(patches, rows, smooth);
    let mut x = first.clone();
    for _ in 0..CORRECTIONS {
        let ax = matrix.multiply(&x);
        let left: Vec<f64> = smooth.iter().zip(ax).map(|(b, ax)| b - ax).collect();
        let change = product(patches, rows, &left);
        x.iter_mut().zip(change).for_each(|(x, dx)| *x += dx);
    }
    let misses = |&i: &u32| {
        let (first, x) = (first[i as usize], x[i as usize]);
        (first - x).abs() > MOST_MISSING * x.abs()
    };
    let diagonal = diagonal(matrix);
    patches
        .par_iter()
        .zip(rows)
        .filter(|(own, local)| local.columns.len() < columns && own.iter().any(misses))
        .try_for_each_init(
            || Local::new(matrix, &diagonal, columns),
            |local, (own, rows)| {
                *rows = local.solve(own)?;
                Ok(())
            },
        )
}

/// B b.
fn product(patches: &[Vec<u32>], rows: &[ExactRows], b: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; b.len()];
    for (own, local) in patches.iter().zip(rows) {
        for (&i, coefficients) in own.iter().zip(&local.coefficients) {
            let terms = local.columns.iter().zip(coefficients);
            x[i as usize] = terms.map(|(&j, c)| c * b[j as usize]).sum();
        }
    }
    x
}

fn diagonal(matrix: &Csc) -> Vec<f64> {
    (0..matrix.width()).map(|i| matrix.at(i, i)).collect()
}

/// A rough and a smooth right-hand side: the first tells how well near rows are coupled, the second whether the inverse
/// reaches far enough.
fn right_hand_sides(rows: usize) -> [Vec<f64>; 2] {
    let noise = (0..rows).map(|i| (i as f64 * 12.9898).sin()).collect();
    [noise, vec![1.0; rows]]
}

fn with_columns(
    matrix: &Csc,
    patches: &[Vec<u32>],
    columns: usize,
) -> Result<Vec<ExactRows>, SolveError> {
    let diagonal = diagonal(matrix);
    patches
        .par_iter()
        .map_init(
            || Local::new(matrix, &diagonal, columns),
            |local, own| local.solve(own),
        )
        .collect()
}

/// ‖b − A B b‖.
fn product_residual(matrix: &Csc, patches: &[Vec<u32>], rows: &[ExactRows], b: &[f64]) -> f64 {
    let x = product(patches, rows, b);
    let left = matrix.multiply(&x).into_iter().zip(b).map(|(ax, b)| b - ax);
    left.map(|r| r * r).sum::<f64>().sqrt()
}

/// ‖b − A x‖ after some iterations of conjugate gradients with the diagonal as preconditioner.
fn cg_residual(matrix: &Csc, b: &[f64], iterations: usize) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let precondition = |r: &[f64]| -> Vec<f64> {
        let each = r.iter().enumerate();
        each.map(|(i, r)| r / matrix.at(i, i)).collect()
    };
    let mut r = b.to_vec();
    let mut p = precondition(&r);
    let mut rho = dot(&r, &p);
    for _ in 0..iterations {
        let q = matrix.multiply(&p);
        let alpha = rho / dot(&p, &q).max(f64::MIN_POSITIVE);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
        let z = precondition(&r);
        let next = dot(&r, &z);
        let beta = next / rho.max(f64::MIN_POSITIVE);
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        rho = next;
    }
    dot(&r, &r).sqrt()
}

/// Scratch for one patch after the other.
struct Local<'a> {
    matrix: &'a Csc,
    diagonal: &'a [f64],
    /// Path length to each row; infinite where not met.
    distance: Vec<f64>,
    /// Place of each row in the current set.
    place: Vec<u32>,
    /// Most columns of a patch.
    columns: usize,
}

const OUTSIDE: u32 = u32::MAX;

impl<'a> Local<'a> {
    fn new(matrix: &'a Csc, diagonal: &'a [f64], columns: usize) -> Local<'a> {
        Local {
            matrix,
            diagonal,
            distance: vec![f64::INFINITY; matrix.width()],
            place: vec![OUTSIDE; matrix.width()],
            columns,
        }
    }

    fn solve(&mut self, own: &[u32]) -> Result<ExactRows, SolveError> {
        let near = match own.is_empty() {
            true => Vec::new(),
            false => self.nearest(own, CANDIDATES),
        };
        let rows = self.inverse_rows(&near, own.len())?;
        if near.len() <= self.columns {
            return Ok(ExactRows {
                columns: near,
                coefficients: rows,
            });
        }
        let columns = self.most_influential(&near, &rows, own.len());
        let coefficients = self.inverse_rows(&columns, own.len())?;
        Ok(ExactRows {
            columns,
            coefficients,
        })
    }

    /// The `count` rows with the strongest path of couplings to `own`, which come first (Dijkstra).
    fn nearest(&mut self, own: &[u32], count: usize) -> Vec<u32> {
        let mut queue = BinaryHeap::new();
        let mut met = own.to_vec();
        for (order, &i) in own.iter().enumerate() {
            self.distance[i as usize] = 0.0;
            queue.push(Reverse((0, order as u32, i)));
        }
        let mut found = Vec::with_capacity(count.max(own.len()));
        while let Some(Reverse((bits, _, i))) = queue.pop() {
            let here = f64::from_bits(bits);
            if here > self.distance[i as usize] {
                continue;
            }
            found.push(i);
            if found.len() >= count {
                break;
            }
            for (j, value) in self.matrix.column(i as usize) {
                let scale = self.diagonal[i as usize] * self.diagonal[j];
                if j == i as usize || value == 0.0 || scale <= 0.0 {
                    continue;
                }
                let length = here - (value.abs() / scale.sqrt()).ln().min(-1e-3);
                if length < self.distance[j] {
                    if self.distance[j].is_infinite() {
                        met.push(j as u32);
                    }
                    self.distance[j] = length;
                    queue.push(Reverse((length.to_bits(), 0, j as u32)));
                }
            }
        }
        for i in met {
            self.distance[i as usize] = f64::INFINITY;
        }
        found
    }

    fn most_influential(&self, near: &[u32], rows: &[Vec<f64>], own: usize) -> Vec<u32> {
        let influence = |k: usize| {
            let column = self.diagonal[near[k] as usize];
            let of = |(row, &i): (&Vec<f64>, &u32)| {
                row[k].abs() * (column * self.diagonal[i as usize]).sqrt()
            };
            rows.iter().zip(near).map(of).fold(0.0, f64::max)
        };
        let mut others: Vec<(f64, u32)> = (own..near.len())
            .map(|k| (influence(k), near[k]))
            .filter(|(influence, _)| *influence >= LEAST_INFLUENCE)
            .collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        others.truncate(self.columns.saturating_sub(own));
        let others = others.into_iter().map(|(_, row)| row);
        near[..own].iter().copied().chain(others).collect()
    }

    /// The first `own` rows of the inverse of the matrix restricted to `set`.
    fn inverse_rows(&mut self, set: &[u32], own: usize) -> Result<Vec<Vec<f64>>, SolveError> {
        if set.is_empty() {
            return Ok(Vec::new());
        }
        let mut local = self.restricted(set);
        let factor = factorise(&mut local).ok_or(SolveError::NotPositiveDefinite {
            vertex: set.first().map_or(0, |&i| i as usize),
        })?;
        let mut work = vec![0.0; set.len()];
        let row = |k: usize| {
            let mut b = vec![0.0; set.len()];
            b[k] = 1.0;
            factor.solve(&mut b, &mut work);
            b
        };
        Ok((0..own).map(row).collect())
    }

    /// The matrix on the rows of `set`.
    fn restricted(&mut self, set: &[u32]) -> SymmetricCsc {
        for (k, &i) in set.iter().enumerate() {
            self.place[i as usize] = k as u32;
        }
        let mut entries = Vec::new();
        for (k, &i) in set.iter().enumerate() {
            let column = self.matrix.column(i as usize);
            let inside = column.map(|(j, value)| (self.place[j], k as u32, value));
            entries.extend(inside.filter(|&(row, column, _)| row <= column));
        }
        for &i in set {
            self.place[i as usize] = OUTSIDE;
        }
        SymmetricCsc::summed(set.len(), entries)
    }
}

/// Factorises, with a little added to the diagonal where stiffness and mass are too far apart for double precision.
fn factorise(matrix: &mut SymmetricCsc) -> Option<Ldlt> {
    for added in [0.0, 1e-12, 1e-10, 1e-8, 1e-6] {
        for k in 0..matrix.len() {
            // The diagonal is the first entry of a column.
            matrix.values[matrix.column_starts[k] as usize] *= 1.0 + added;
        }
        if let Ok(factor) = Ldlt::new(matrix) {
            return Some(factor);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of n springs, held at both ends and a little everywhere.
    fn chain(n: usize) -> Csc {
        let n = n as u32;
        let springs = (1..n).map(|k| (k, k - 1, -0.5));
        let entries = springs.chain((0..n).map(|k| (k, k, 1.05)));
        Csc::from_symmetric(&CscCsc::summed(n as usize, entries))
    }

    #[test]
    fn small_matrices_are_inverted_exactly() {
        let matrix = chain(50);
        let patches = [(0..30).collect::<Vec<u32>>(), (30..50).collect()];
        let rows = patch_inverse(&matrix, &patches).expect("positive definite");
        for (patch, own) in rows.iter().zip(&patches) {
            assert_eq!(patch.columns.len(), 50);
            for ((codes, &unit), &i) in patch.codes.iter().zip(&patch.units).zip(own) {
                // Row i of B A is row i of the identity, but for what rounding did: a code's distance from the next, twice the
                // root, times a column of A (2.05 at most).
                let bound = 2.05 * 2.0 * CODES * f64::from(unit);
                assert!(bound < 1e-3);
                for j in 0..50 {
                    let product: f64 = (patch.columns.iter().zip(codes))
                        .map(|(&k, &code)| decode(code, unit) * matrix.at(j as usize, k as usize))
                        .sum();
                    let expected = f64::from(u8::from(i == j));
                    assert!((product - expected).abs() < bound, "{i} {j}: {product}");
                }
            }
        }
    }

    /// The inverse of this chain decays by e^−arcosh(1.05) = 0.73 a vertex; 112 rows on either side leave 1e-15.
    #[test]
    fn far_rows_are_left_out() {
        let matrix = chain(2000);
        let patch: Vec<u32> = (1000..1032).collect();
        let rows = patch_inverse(&matrix, &[patch]).expect("positive definite");
        assert!(rows[0].columns.len() <= COLUMNS[2]);
        assert_eq!(rows[0].columns[..32], (1000..1032).collect::<Vec<u32>>());
        let (codes, unit) = (&rows[0].codes[16], rows[0].units[16]);
        let sum: f64 = codes.iter().map(|&code| decode(code, unit)).sum();
        // Far from the ends A 1 = 0.05, so that the rows of the inverse add up to 20.
        assert!((sum - 20.0).abs() < 1e-3, "{sum}");
    }
}
