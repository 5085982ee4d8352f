//! Leading eigenvectors of a symmetric positive matrix: subspace iteration with a Rayleigh–Ritz step at the end, and
//! cyclic Jacobi for the small problem (Golub & Van Loan 2013, sections 8.2.4 and 8.5).

use rayon::prelude::*;

/// Up to here Jacobi solves the whole problem: exact, and quick enough.
const SMALL: usize = 96;
/// Vectors iterated beyond those asked for: the last ones asked for converge as fast as these are smaller.
const SPARE: usize = 16;
/// Enough for eigenvalues that differ by a tenth across the spare vectors to be separated to single precision.
const ITERATIONS: usize = 80;

/// Eigenvalues, largest first, and their unit vectors; at most `count`. `matrix` is `size × size`.
pub(super) fn leading_eigenvectors(
    matrix: &[f64],
    size: usize,
    count: usize,
) -> Vec<(f64, Vec<f64>)> {
    if size == 0 {
        return Vec::new();
    }
    let width = (count + SPARE).min(size);
    let mut basis: Vec<Vec<f64>> = if size <= SMALL || width == size {
        (0..size)
            .map(|column| {
                (0..size)
                    .map(|row| f64::from(u8::from(row == column)))
                    .collect()
            })
            .collect()
    } else {
        iterate(matrix, size, width)
    };
    let image: Vec<Vec<f64>> = basis
        .par_iter()
        .map(|vector| product(matrix, size, vector))
        .collect();
    let width = basis.len();
    let mut small: Vec<f64> = (0..width * width)
        .map(|entry| dot(&basis[entry / width], &image[entry % width]))
        .collect();
    jacobi(&mut small, width, &mut basis);
    let mut pairs: Vec<(f64, Vec<f64>)> = basis
        .into_iter()
        .enumerate()
        .map(|(index, vector)| (small[index * width + index], vector))
        .collect();
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    pairs.truncate(count);
    pairs
}

/// An orthonormal basis close to the leading eigenvectors.
fn iterate(matrix: &[f64], size: usize, width: usize) -> Vec<Vec<f64>> {
    // Any start that no eigenvector is orthogonal to will do; a fixed one gives the same file every time.
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut basis: Vec<Vec<f64>> = (0..width)
        .map(|_| (0..size).map(|_| random()).collect())
        .collect();
    for _ in 0..ITERATIONS {
        orthonormalize(&mut basis);
        basis = basis
            .par_iter()
            .map(|vector| product(matrix, size, vector))
            .collect();
    }
    orthonormalize(&mut basis);
    basis
}

/// Gram–Schmidt, twice: once is not enough for vectors that are nearly dependent. Dependent ones become zero.
fn orthonormalize(basis: &mut [Vec<f64>]) {
    for index in 0..basis.len() {
        let (before, rest) = basis.split_at_mut(index);
        let vector = &mut rest[0];
        let original = dot(vector, vector).sqrt();
        for other in before.iter().chain(before.iter()) {
            let along = dot(vector, other);
            vector
                .iter_mut()
                .zip(other)
                .for_each(|(a, b)| *a -= along * b);
        }
        let length = dot(vector, vector).sqrt();
        let factor = if length > 1e-13 * original {
            1.0 / length
        } else {
            0.0
        };
        vector.iter_mut().for_each(|value| *value *= factor);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn product(matrix: &[f64], size: usize, vector: &[f64]) -> Vec<f64> {
    matrix
        .chunks_exact(size)
        .map(|row| dot(row, vector))
        .collect()
}

/// Diagonalises `matrix` by rotations, which also turn `vectors`.
fn jacobi(matrix: &mut [f64], size: usize, vectors: &mut [Vec<f64>]) {
    for _ in 0..60 {
        let off: f64 = (0..size * size)
            .filter(|e| e / size != e % size)
            .map(|e| matrix[e] * matrix[e])
            .sum();
        let all: f64 = matrix.iter().map(|value| value * value).sum();
        if off <= 1e-28 * all {
            return;
        }
        for p in 0..size {
            for q in p + 1..size {
                rotate(matrix, size, vectors, p, q);
            }
        }
    }
}

fn rotate(matrix: &mut [f64], size: usize, vectors: &mut [Vec<f64>], p: usize, q: usize) {
    let apq = matrix[p * size + q];
    if apq == 0.0 {
        return;
    }
    let tau = (matrix[q * size + q] - matrix[p * size + p]) / (2.0 * apq);
    let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    let turn = |a: &mut f64, b: &mut f64| (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    for k in 0..size {
        let (mut a, mut b) = (matrix[k * size + p], matrix[k * size + q]);
        turn(&mut a, &mut b);
        (matrix[k * size + p], matrix[k * size + q]) = (a, b);
    }
    for k in 0..size {
        let (mut a, mut b) = (matrix[p * size + k], matrix[q * size + k]);
        turn(&mut a, &mut b);
        (matrix[p * size + k], matrix[q * size + k]) = (a, b);
    }
    let (low, high) = vectors.split_at_mut(q);
    low[p]
        .iter_mut()
        .zip(&mut high[0])
        .for_each(|(a, b)| turn(a, b));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Σ λ_k v_k v_kᵀ` with cosines as orthogonal vectors (the DCT-II basis).
    fn matrix(size: usize, values: &[f64]) -> Vec<f64> {
        let entry = |row: usize, k: usize| {
            let norm = if k == 0 { 1.0 } else { 2.0 } / size as f64;
            norm.sqrt() * (std::f64::consts::PI * k as f64 * (row as f64 + 0.5) / size as f64).cos()
        };
        (0..size * size)
            .map(|e| {
                (0..values.len())
                    .map(|k| values[k] * entry(e / size, k) * entry(e % size, k))
                    .sum()
            })
            .collect()
    }

    #[test]
    fn eigenvalues_of_known_matrices() {
        for size in [20, 200] {
            let values: Vec<f64> = (0..size.min(60)).map(|k| 0.8f64.powi(k as i32)).collect();
            let matrix = matrix(size, &values);
            let pairs = leading_eigenvectors(&matrix, size, 12);
            assert_eq!(pairs.len(), 12);
            for (pair, value) in pairs.iter().zip(&values) {
                assert!((pair.0 - value).abs() < 1e-9, "{} {value}", pair.0);
                let image = product(&matrix, size, &pair.1);
                let residual: f64 = image
                    .iter()
                    .zip(&pair.1)
                    .map(|(a, b)| (a - value * b).powi(2))
                    .sum();
                assert!(residual.sqrt() < 1e-6);
            }
        }
    }
}
