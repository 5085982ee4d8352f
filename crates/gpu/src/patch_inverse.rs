//! The global solve as one sparse product with rows of local inverses of A (restricted additive Schwarz).
//!
//! With the bone surface eliminated, tissue is thin and A⁻¹ decays within a few edges. For each patch of rows the matrix is
//! inverted on the patch and the rows with the most influence on it, and the patch's own rows of that inverse are stored. B r is
//! then exact except for the influence of rows farther away. The step is in residual form, so the next local/global iteration
//! corrects the error. Local inverses of a positive definite matrix always exist, for any choice of rows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;
use supple_geom::sparse::{Cholesky, Csc, SymmetricCsc, conjugate_gradients};
use supple_sim::SolveError;

/// Columns of a patch: the first number whose residual, for a rough and a smooth right-hand side, is no larger than that of ten
/// Jacobi-CG iterations. On bodies the first number leaves a fifth of that residual. Fewer columns would save little, since a
/// dispatch costs more than its arithmetic. The last number is the limit of workgroup memory. Deep and stiff tissue needs more
/// columns, since its inverse decays more slowly.
pub const COLUMNS: [usize; 3] = [256, 384, 512];
/// Rows among which the columns are chosen.
const CANDIDATES: usize = 1024;
/// Columns whose influence is below this on every row of the patch are left out.
const LEAST_INFLUENCE: f64 = 1e-6;

/// Largest code of a coefficient. A coefficient is stored in two bytes, as the signed square root of its ratio to the row's
/// largest. The many small coefficients are then stored with a finer step than the few large ones.
pub const CODES: f64 = 32767.0;

/// The rows that one patch gathers, and their coefficients.
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

/// Codes of a row and its unit. From the largest down, the rounding error of each coefficient is added to the next. That keeps
/// the row's sum, and so its response to a smooth right-hand side.
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
pub fn patch_inverse(
    matrix: &SymmetricCsc,
    patches: &[Vec<u32>],
) -> Result<Vec<PatchRows>, SolveError> {
    let sides = right_hand_sides(matrix.len());
    let allowed = (sides.each_ref())
        .map(|b| conjugate_gradients(matrix, b, &mut vec![0.0; matrix.len()], 10));
    let matrix = &Csc::from_symmetric(matrix);
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

/// Relative error of the response to a smooth right-hand side above which a patch gets more columns. Without, a deep belly that
/// is thrown upwards lags behind by 1.5 mm.
const SMOOTH_TOLERANCE: f64 = 0.05;
/// Iterations that solve a smooth right-hand side accurately enough to measure that error.
const CORRECTIONS: usize = 50;

/// Gives more columns to patches in deep tissue, where the inverse decays more slowly.
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
        (first - x).abs() > SMOOTH_TOLERANCE * x.abs()
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

/// A rough and a smooth right-hand side. The first tests the coupling of near rows, the second whether the local inverse is wide
/// enough.
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

/// Scratch space, reused from patch to patch.
struct Local<'a> {
    matrix: &'a Csc,
    diagonal: &'a [f64],
    /// Path length to each row; infinite for rows not visited.
    distance: Vec<f64>,
    /// Index of each row in the current set.
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
        let row = |k: usize| {
            let mut b = vec![0.0; set.len()];
            b[k] = 1.0;
            factor.solve(&mut b);
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
fn factorise(matrix: &mut SymmetricCsc) -> Option<Cholesky> {
    for added in [0.0, 1e-12, 1e-10, 1e-8, 1e-6] {
        for k in 0..matrix.len() {
            // The diagonal is the first entry of a column.
            matrix.values[matrix.column_starts[k] as usize] *= 1.0 + added;
        }
        if let Ok(factor) = Cholesky::new(matrix) {
            return Some(factor);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of n springs, held at both ends and a little everywhere.
    fn chain(n: usize) -> SymmetricCsc {
        let n = n as u32;
        let springs = (1..n).map(|k| (k, k - 1, -0.5));
        let entries = springs.chain((0..n).map(|k| (k, k, 1.05)));
        SymmetricCsc::summed(n as usize, entries)
    }

    #[test]
    fn small_matrices_are_inverted_exactly() {
        let matrix = chain(50);
        let both = Csc::from_symmetric(&matrix);
        let patches = [(0..30).collect::<Vec<u32>>(), (30..50).collect()];
        let rows = patch_inverse(&matrix, &patches).expect("positive definite");
        for (patch, own) in rows.iter().zip(&patches) {
            assert_eq!(patch.columns.len(), 50);
            for ((codes, &unit), &i) in patch.codes.iter().zip(&patch.units).zip(own) {
                // Row i of B A is row i of the identity up to rounding: the distance between codes, twice the root, times a
                // column of A (2.05 at most).
                let bound = 2.05 * 2.0 * CODES * f64::from(unit);
                assert!(bound < 1e-3);
                for j in 0..50 {
                    let product: f64 = (patch.columns.iter().zip(codes))
                        .map(|(&k, &code)| decode(code, unit) * both.at(j as usize, k as usize))
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
