//! Sparse Cholesky A = P L D Lᵀ Pᵀ in double precision: simplicial and up-looking (Davis, *Direct Methods for Sparse
//! Linear Systems*, ch. 4), for any number of right-hand sides.

use std::sync::Arc;

use super::symbolic::Pattern;
use super::tree::{ROOT, elimination_tree};
use super::{SMALLEST_PIVOT, SparseError, SymmetricCsc, order};

/// Ordering, elimination tree and layout of the factor: everything that depends on the pattern of a matrix, not on its
/// values.
#[derive(Clone, Debug, Default)]
pub struct LdltSymbolic {
    pattern: Pattern,
    /// Row of the given matrix at each row of L.
    order: Vec<usize>,
    parents: Vec<u32>,
    upper: Upper,
    /// Strictly lower triangle of L by columns; the diagonal is one.
    offsets: Vec<usize>,
    rows: Vec<usize>,
}

/// The upper triangle of the reordered matrix, by columns.
#[derive(Clone, Debug, Default)]
struct Upper {
    offsets: Vec<usize>,
    rows: Vec<u32>,
    /// Index of each entry among the values of the matrix as given.
    sources: Vec<u32>,
}

/// L and D of a symmetric positive definite matrix.
#[derive(Clone, Debug)]
pub struct Ldlt {
    symbolic: Arc<LdltSymbolic>,
    values: Vec<f64>,
    diagonal: Vec<f64>,
}

impl LdltSymbolic {
    /// Orders and analyses a matrix.
    pub fn new(matrix: &SymmetricCsc) -> Self {
        let permutation = order::minimum_degree(matrix);
        let parents = elimination_tree(&matrix.permuted(&permutation));
        let upper = Upper::new(matrix, &order::inverse(&permutation));
        let (offsets, rows) = layout(&upper, &parents);
        LdltSymbolic {
            pattern: Pattern::of(matrix),
            order: permutation.iter().map(|&old| old as usize).collect(),
            parents,
            upper,
            offsets,
            rows,
        }
    }

    /// Number of rows of the matrix.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether the matrix has no rows.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Computes L below its diagonal, and D: row k of L by a sparse triangular solve with the rows before it.
    fn factorise(&self, matrix: &SymmetricCsc) -> Result<(Vec<f64>, Vec<f64>), SparseError> {
        self.pattern.check(matrix)?;
        let n = self.len();
        let (mut values, mut diagonal) = (vec![0.0; self.rows.len()], vec![0.0; n]);
        let mut filled = self.offsets[..n].to_vec();
        let mut row = vec![0.0; n];
        let mut reach = Reach::new(n);
        for k in 0..n {
            for p in self.upper.offsets[k]..self.upper.offsets[k + 1] {
                row[self.upper.rows[p] as usize] = matrix.values[self.upper.sources[p] as usize];
            }
            let given = std::mem::take(&mut row[k]);
            let mut pivot = given;
            for &i in reach.of(&self.upper, &self.parents, k) {
                let i = i as usize;
                let y = std::mem::take(&mut row[i]);
                for p in self.offsets[i]..filled[i] {
                    row[self.rows[p]] -= values[p] * y;
                }
                let l = y / diagonal[i];
                pivot -= l * y;
                values[filled[i]] = l;
                filled[i] += 1;
            }
            if !(pivot > SMALLEST_PIVOT * given && pivot.is_finite()) {
                let index = self.order[k];
                return Err(SparseError::NonPositivePivot { index });
            }
            diagonal[k] = pivot;
        }
        Ok((values, diagonal))
    }
}

impl Ldlt {
    /// Analyses and factorises a positive definite matrix.
    pub fn new(matrix: &SymmetricCsc) -> Result<Ldlt, SparseError> {
        Self::with(Arc::new(LdltSymbolic::new(matrix)), matrix)
    }

    /// Factorises a positive definite matrix whose pattern has been analysed.
    pub fn with(symbolic: Arc<LdltSymbolic>, matrix: &SymmetricCsc) -> Result<Ldlt, SparseError> {
        let (values, diagonal) = symbolic.factorise(matrix)?;
        Ok(Ldlt {
            symbolic,
            values,
            diagonal,
        })
    }

    /// Factorises another matrix of the same pattern. After an error the factor is unchanged.
    pub fn refactor(&mut self, matrix: &SymmetricCsc) -> Result<(), SparseError> {
        (self.values, self.diagonal) = self.symbolic.factorise(matrix)?;
        Ok(())
    }

    /// The analysis, shared by factors of the same pattern.
    pub fn symbolic(&self) -> &Arc<LdltSymbolic> {
        &self.symbolic
    }

    /// Entries of L below the diagonal.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Solves A x = b in place. `work` is scratch.
    ///
    /// # Panics
    /// If one of them is shorter than the matrix.
    pub fn solve(&self, b: &mut [f64], work: &mut [f64]) {
        let LdltSymbolic {
            order,
            offsets,
            rows,
            ..
        } = &*self.symbolic;
        for (w, &i) in work.iter_mut().zip(order) {
            *w = b[i];
        }
        let n = order.len();
        for k in 0..n {
            let x = work[k];
            for p in offsets[k]..offsets[k + 1] {
                work[rows[p]] -= self.values[p] * x;
            }
        }
        for k in (0..n).rev() {
            let mut x = work[k] / self.diagonal[k];
            for p in offsets[k]..offsets[k + 1] {
                x -= self.values[p] * work[rows[p]];
            }
            work[k] = x;
        }
        for (w, &i) in work.iter().zip(order) {
            b[i] = *w;
        }
    }

    /// Solves A x = b in place for every column given, to the same bits as [`Ldlt::solve`] does one by one. The factor is
    /// read once for up to eight of them.
    ///
    /// # Panics
    /// If a column has another length than the matrix.
    pub fn solve_columns(&self, columns: &mut [Vec<f64>]) {
        let mut rest = columns;
        while !rest.is_empty() {
            let count = match rest.len() {
                8.. => 8,
                4.. => 4,
                2.. => 2,
                _ => 1,
            };
            let (now, later) = rest.split_at_mut(count);
            match count {
                8 => self.solve_block::<8>(now),
                4 => self.solve_block::<4>(now),
                2 => self.solve_block::<2>(now),
                _ => self.solve_block::<1>(now),
            }
            rest = later;
        }
    }

    fn solve_block<const C: usize>(&self, columns: &mut [Vec<f64>]) {
        let symbolic = &*self.symbolic;
        for column in columns.iter() {
            assert_eq!(column.len(), symbolic.len(), "length of a right-hand side");
        }
        let row = |&i: &usize| std::array::from_fn(|c| columns[c][i]);
        let mut work: Vec<[f64; C]> = symbolic.order.iter().map(row).collect();
        for k in 0..work.len() {
            let x = work[k];
            for p in symbolic.offsets[k]..symbolic.offsets[k + 1] {
                subtract(&mut work[symbolic.rows[p]], self.values[p], &x);
            }
        }
        for k in (0..work.len()).rev() {
            let mut x = work[k].map(|x| x / self.diagonal[k]);
            for p in symbolic.offsets[k]..symbolic.offsets[k + 1] {
                subtract(&mut x, self.values[p], &work[symbolic.rows[p]]);
            }
            work[k] = x;
        }
        for (w, &i) in work.iter().zip(&symbolic.order) {
            for (column, &w) in columns.iter_mut().zip(w) {
                column[i] = w;
            }
        }
    }
}

#[inline(always)]
fn subtract<const C: usize>(from: &mut [f64; C], factor: f64, x: &[f64; C]) {
    for c in 0..C {
        from[c] -= factor * x[c];
    }
}

impl Upper {
    /// The upper triangle of P A Pᵀ; `place` is the new index of each row.
    fn new(matrix: &SymmetricCsc, place: &[u32]) -> Self {
        let mut entries = Vec::with_capacity(matrix.rows.len());
        for column in 0..matrix.len() {
            let range = matrix.column_starts[column]..matrix.column_starts[column + 1];
            entries.extend(range.map(|source| {
                let (a, b) = (place[column], place[matrix.rows[source as usize] as usize]);
                (a.max(b), a.min(b), source)
            }));
        }
        entries.sort_unstable();
        let mut upper = Upper {
            offsets: vec![0; matrix.len() + 1],
            rows: entries.iter().map(|&(_, row, _)| row).collect(),
            sources: entries.iter().map(|&(_, _, source)| source).collect(),
        };
        for &(column, ..) in &entries {
            upper.offsets[column as usize + 1] += 1;
        }
        for k in 0..matrix.len() {
            upper.offsets[k + 1] += upper.offsets[k];
        }
        upper
    }
}

/// Finds the columns of L that have an entry in a row.
struct Reach {
    mark: Vec<u32>,
    path: Vec<u32>,
}

impl Reach {
    fn new(n: usize) -> Self {
        Reach {
            mark: vec![ROOT; n],
            path: Vec::new(),
        }
    }

    /// The columns of L that have an entry in row k, in the order in which they must be eliminated.
    fn of(&mut self, upper: &Upper, parents: &[u32], k: usize) -> &[u32] {
        let row = k as u32;
        self.path.clear();
        self.mark[k] = row;
        for &i in &upper.rows[upper.offsets[k]..upper.offsets[k + 1]] {
            let mut at = i;
            while self.mark[at as usize] != row {
                self.mark[at as usize] = row;
                self.path.push(at);
                at = parents[at as usize];
            }
        }
        // Ascending numbers are a topological order of the elimination tree.
        self.path.sort_unstable();
        &self.path
    }
}

/// Columns of L: `(offsets, rows)`, rows ascending.
fn layout(upper: &Upper, parents: &[u32]) -> (Vec<usize>, Vec<usize>) {
    let n = parents.len();
    let mut reach = Reach::new(n);
    let mut offsets = vec![0; n + 1];
    for k in 0..n {
        for &i in reach.of(upper, parents, k) {
            offsets[i as usize + 1] += 1;
        }
    }
    for k in 0..n {
        offsets[k + 1] += offsets[k];
    }
    let mut rows = vec![0; offsets[n]];
    let mut filled = offsets.clone();
    let mut reach = Reach::new(n);
    for k in 0..n {
        for &i in reach.of(upper, parents, k) {
            rows[filled[i as usize]] = k;
            filled[i as usize] += 1;
        }
    }
    (offsets, rows)
}
