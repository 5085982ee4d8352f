//! Eigenvalues and eigenvectors of a dense symmetric matrix: Householder reduction to tridiagonal form, then implicit
//! QL steps (Wilkinson & Reinsch 1971, II/2 and II/4).

/// Eigenvalues in ascending order and, for each, its unit eigenvector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymmetricEigen {
    /// Eigenvalues, ascending.
    pub values: Vec<f64>,
    /// `vectors[k]` belongs to `values[k]`.
    pub vectors: Vec<Vec<f64>>,
}

/// Most QL steps for one eigenvalue; three are usual, so only entries that are not finite reach it.
const MAX_QL_STEPS: usize = 60;

/// Decomposes a symmetric matrix given as rows, of which only the lower triangle is read. `None` if it holds numbers
/// that are not finite.
pub fn symmetric_eigen(matrix: &[Vec<f64>]) -> Option<SymmetricEigen> {
    let n = matrix.len();
    let mut q: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            (0..n)
                .map(|j| if j <= i { matrix[i][j] } else { matrix[j][i] })
                .collect()
        })
        .collect();
    let (mut diagonal, mut off) = tridiagonalize(&mut q);
    // Rows of `q` become eigenvectors: rotations then touch two contiguous rows instead of two columns.
    let mut vectors = transposed(&q);
    diagonalize(&mut diagonal, &mut off, &mut vectors)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| diagonal[a].total_cmp(&diagonal[b]));
    Some(SymmetricEigen {
        values: order.iter().map(|&k| diagonal[k]).collect(),
        vectors: order
            .iter()
            .map(|&k| std::mem::take(&mut vectors[k]))
            .collect(),
    })
}

fn transposed(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..rows.len())
        .map(|j| rows.iter().map(|row| row[j]).collect())
        .collect()
}

/// Q with Qᵀ A Q tridiagonal, left in place of A; returns the diagonal and the subdiagonal (`off[0]` unused).
fn tridiagonalize(a: &mut [Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let n = a.len();
    let (mut diagonal, mut off) = (vec![0.0; n], vec![0.0; n]);
    for i in (1..n).rev() {
        let (head, tail) = a.split_at_mut(i);
        let row = &mut tail[0];
        let scale: f64 = row[..i].iter().map(|x| x.abs()).sum();
        if i == 1 || scale == 0.0 {
            off[i] = row[i - 1];
            continue;
        }
        row[..i].iter_mut().for_each(|x| *x /= scale);
        let mut h: f64 = row[..i].iter().map(|x| x * x).sum();
        let f = row[i - 1];
        let g = -h.sqrt().copysign(f);
        off[i] = scale * g;
        h -= f * g;
        row[i - 1] = f - g;
        reflect(head, &mut row[..i], &mut off, h);
        diagonal[i] = h;
    }
    accumulate(a, &mut diagonal);
    (diagonal, off)
}

/// Applies the reflection 1 − u uᵀ / h to the leading block from both sides, and keeps u / h above the diagonal.
fn reflect(head: &mut [Vec<f64>], u: &mut [f64], off: &mut [f64], h: f64) {
    let i = u.len();
    let mut along = 0.0;
    for j in 0..i {
        head[j].resize(head[j].len().max(i + 1), 0.0);
        head[j][i] = u[j] / h;
        let lower: f64 = (0..=j).map(|k| head[j][k] * u[k]).sum();
        let upper: f64 = (j + 1..i).map(|k| head[k][j] * u[k]).sum();
        off[j] = (lower + upper) / h;
        along += off[j] * u[j];
    }
    let half = along / (2.0 * h);
    for j in 0..i {
        off[j] -= half * u[j];
        let (f, g) = (u[j], off[j]);
        for k in 0..=j {
            head[j][k] -= f * off[k] + g * u[k];
        }
    }
}

/// Multiplies the stored reflections together.
fn accumulate(a: &mut [Vec<f64>], diagonal: &mut [f64]) {
    let n = a.len();
    for i in 0..n {
        if i > 0 && diagonal[i] != 0.0 {
            // g = rowᵀ · block, then block −= (u / h) gᵀ, row by row.
            let mut g = vec![0.0; i];
            let (block, row) = a.split_at_mut(i);
            for (factor, row) in row[0].iter().zip(&*block) {
                g.iter_mut()
                    .zip(&row[..i])
                    .for_each(|(g, x)| *g += factor * x);
            }
            for row in block.iter_mut() {
                let factor = row[i];
                row[..i]
                    .iter_mut()
                    .zip(&g)
                    .for_each(|(x, g)| *x -= g * factor);
            }
        }
        diagonal[i] = a[i][i];
        a[i][i] = 1.0;
        a[i][..i].fill(0.0);
        a[..i].iter_mut().for_each(|row| row[i] = 0.0);
    }
}

/// Implicit QL on a tridiagonal matrix; applies the rotations to the rows of `vectors`.
fn diagonalize(diagonal: &mut [f64], off: &mut [f64], vectors: &mut [Vec<f64>]) -> Option<()> {
    let n = diagonal.len();
    if n == 0 {
        return Some(());
    }
    off.rotate_left(1);
    off[n - 1] = 0.0;
    for l in 0..n {
        let mut steps = 0;
        loop {
            let negligible = |m: &usize| {
                off[*m].abs() <= f64::EPSILON * (diagonal[*m].abs() + diagonal[*m + 1].abs())
            };
            let m = (l..n - 1).find(negligible).unwrap_or(n - 1);
            if m == l {
                break;
            }
            steps += 1;
            if steps > MAX_QL_STEPS {
                return None;
            }
            ql_step(diagonal, off, vectors, l, m);
        }
    }
    diagonal.iter().all(|value| value.is_finite()).then_some(())
}

fn ql_step(diagonal: &mut [f64], off: &mut [f64], vectors: &mut [Vec<f64>], l: usize, m: usize) {
    let mut g = (diagonal[l + 1] - diagonal[l]) / (2.0 * off[l]);
    g = diagonal[m] - diagonal[l] + off[l] / (g + g.hypot(1.0).copysign(g));
    let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
    for i in (l..m).rev() {
        let f = s * off[i];
        let b = c * off[i];
        let r = f.hypot(g);
        off[i + 1] = r;
        if r == 0.0 {
            diagonal[i + 1] -= p;
            off[m] = 0.0;
            return;
        }
        (s, c) = (f / r, g / r);
        g = diagonal[i + 1] - p;
        let r = (diagonal[i] - g) * s + 2.0 * c * b;
        p = s * r;
        diagonal[i + 1] = g + p;
        g = c * r - b;
        let (low, high) = vectors.split_at_mut(i + 1);
        for (x, y) in low[i].iter_mut().zip(high[0].iter_mut()) {
            (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
        }
    }
    diagonal[l] -= p;
    off[l] = g;
    off[m] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(matrix: &[Vec<f64>]) {
        let n = matrix.len();
        let eigen = symmetric_eigen(matrix).unwrap();
        let norm = matrix
            .iter()
            .flatten()
            .fold(1e-300_f64, |m, x| m.max(x.abs()));
        // Backward error of orthogonal transformations: a small multiple of n ε ‖A‖.
        let tolerance = 20.0 * n as f64 * f64::EPSILON * norm * (n as f64).sqrt();
        assert!(eigen.values.is_sorted());
        for (value, vector) in eigen.values.iter().zip(&eigen.vectors) {
            let length: f64 = vector.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-12 * n as f64);
            for (i, row) in matrix.iter().enumerate() {
                let product: f64 = row.iter().zip(vector).map(|(a, x)| a * x).sum();
                assert!(
                    (product - value * vector[i]).abs() < tolerance,
                    "row {i} of {n}"
                );
            }
        }
    }

    #[test]
    fn decomposes_matrices_of_many_sizes() {
        for n in [1, 2, 3, 5, 17, 60] {
            let entry = |i: usize, j: usize| {
                ((i * j + i + j) as f64).sin() + if i == j { i as f64 } else { 0.0 }
            };
            check(
                &(0..n)
                    .map(|i| (0..n).map(|j| entry(i, j)).collect())
                    .collect::<Vec<_>>(),
            );
        }
        assert!(symmetric_eigen(&[]).unwrap().values.is_empty());
    }

    #[test]
    fn finds_repeated_and_zero_eigenvalues() {
        check(&vec![vec![1.0; 30]; 30]);
        check(&vec![vec![0.0; 8]; 8]);
        let ones = symmetric_eigen(&vec![vec![1.0; 30]; 30]).unwrap();
        assert!((ones.values[29] - 30.0).abs() < 1e-12 && ones.values[28].abs() < 1e-12);
    }

    #[test]
    fn rejects_entries_that_are_not_finite() {
        assert!(symmetric_eigen(&[vec![f64::NAN, 0.0], vec![0.0, 1.0]]).is_none());
    }
}
