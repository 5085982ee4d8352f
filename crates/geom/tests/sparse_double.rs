//! The double-precision factorisation against a dense solver, and its different uses against each other.

use std::sync::Arc;

use supple_geom::sparse::{
    Cholesky, Csc, Factor, SparseError, Symbolic, SymmetricCsc, conjugate_gradients,
};

/// Numbers in [-1, 1] without a visible pattern.
fn noise(i: usize) -> f64 {
    ((i as f64 * 12.9898).sin() * 43_758.545).fract()
}

/// A connected random graph's Laplacian plus `held` on the diagonal.
fn random_matrix(n: usize, seed: usize, held: f64) -> SymmetricCsc {
    let mut entries: Vec<(u32, u32, f64)> = (0..n as u32).map(|i| (i, i, held)).collect();
    let mut edge = |a: usize, b: usize, w: f64| {
        let (a, b) = (a as u32, b as u32);
        entries.extend([(a, a, w), (b, b, w), (a, b, -w)]);
    };
    for i in 1..n {
        edge(i, i - 1, 1.0 + 0.5 * noise(seed + i));
        let far = (noise(7 * i).abs() * i as f64) as usize;
        if far != i - 1 && far != i {
            edge(i, far, 1.0 + 0.9 * noise(seed + 3 * i));
        }
    }
    SymmetricCsc::from_entries(n, entries).unwrap()
}

fn column(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|i| noise(seed * n + i + 1)).collect()
}

/// Dense Cholesky, independent of the tested code.
fn dense_solve(matrix: &SymmetricCsc, b: &[f64]) -> Vec<f64> {
    let n = matrix.len();
    let full = Csc::from_symmetric(matrix);
    let row = |i: usize| (0..n).map(|j| full.at(i, j)).collect();
    let mut l: Vec<Vec<f64>> = (0..n).map(row).collect();
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            l[i][j] = if i == j {
                (l[i][i] - sum).sqrt()
            } else {
                (l[i][j] - sum) / l[j][j]
            };
        }
    }
    let mut x = b.to_vec();
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| l[i][k] * x[k]).sum();
        x[i] = (x[i] - sum) / l[i][i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| l[k][i] * x[k]).sum();
        x[i] = (x[i] - sum) / l[i][i];
    }
    x
}

fn solved(factor: &Cholesky, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    factor.solve(&mut x);
    x
}

#[test]
fn agrees_with_a_dense_solver() {
    for n in [1, 2, 3, 17, 120] {
        let matrix = random_matrix(n, 5, 0.1);
        let b = column(n, 1);
        let found = solved(&Cholesky::new(&matrix).unwrap(), &b);
        let expected = dense_solve(&matrix, &b);
        // Eigenvalues lie between 0.1 and twice the largest diagonal entry: the condition is below a thousand.
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-11, "{n}: {found} {expected}");
        }
    }
}

#[test]
fn ordering_saves_fill() {
    let side = 30;
    let at = |i: u32, j: u32| i * side + j;
    let mut entries: Vec<(u32, u32, f64)> = (0..side * side).map(|k| (k, k, 4.1)).collect();
    for i in 0..side {
        for j in 1..side {
            entries.extend([
                (at(i, j), at(i, j - 1), -1.0),
                (at(j, i), at(j - 1, i), -1.0),
            ]);
        }
    }
    let factor = Cholesky::new(&SymmetricCsc::from_entries(900, entries).unwrap()).unwrap();
    // The natural order fills the band: 900 × 30.
    assert!(factor.entries() < 900 * 15, "{}", factor.entries());
}

#[test]
fn many_columns_match_single_ones_to_the_bit() {
    let n = 200;
    let factor = Cholesky::new(&random_matrix(n, 1, 0.01)).unwrap();
    for count in [0, 1, 2, 3, 7, 8, 9, 23] {
        let given: Vec<Vec<f64>> = (0..count).map(|k| column(n, k)).collect();
        let mut together = given.clone();
        factor.solve_columns(&mut together);
        let alone: Vec<Vec<f64>> = given.iter().map(|b| solved(&factor, b)).collect();
        assert_eq!(together, alone);
    }
}

#[test]
fn refactoring_matches_a_new_factor() {
    let (first, second) = (random_matrix(150, 1, 0.1), random_matrix(150, 2, 0.3));
    assert_ne!(first.values, second.values);
    let b = column(150, 4);
    let mut factor = Cholesky::new(&first).unwrap();
    let before = solved(&factor, &b);
    factor.refactor(&second).unwrap();
    let fresh = Cholesky::new(&second).unwrap();
    assert_eq!(solved(&factor, &b), solved(&fresh, &b));
    let shared = Cholesky::with(Arc::clone(factor.symbolic()), &first).unwrap();
    assert_eq!(solved(&shared, &b), before);

    // A failed factorisation leaves the factor unchanged.
    let other = random_matrix(151, 1, 0.1);
    assert_eq!(factor.refactor(&other), Err(SparseError::OtherPattern));
    let mut negative = second.clone();
    negative.add_diagonal(&[-100.0; 150]);
    assert!(matches!(
        factor.refactor(&negative),
        Err(SparseError::NonPositivePivot { .. })
    ));
    assert_eq!(solved(&factor, &b), solved(&fresh, &b));
}

#[test]
fn a_supernodal_factor_of_an_analysed_pattern_matches_a_new_one() {
    let (first, second) = (random_matrix(700, 1, 0.1), random_matrix(700, 2, 0.3));
    let symbolic = Symbolic::new(&first);
    let solve = |factor: Factor| {
        let mut x: Vec<[f32; 3]> = (0..700)
            .map(|i| [0, 1, 2].map(|c| noise(3 * i + c) as f32))
            .collect();
        factor.solve3(&mut x);
        x
    };
    let shared = solve(Factor::with(&symbolic, &second).unwrap());
    assert_eq!(shared, solve(Factor::new(&second).unwrap()));
    assert_ne!(shared, solve(Factor::new(&first).unwrap()));
    assert_eq!(
        Factor::with(&symbolic, &random_matrix(701, 1, 0.1)).err(),
        Some(SparseError::OtherPattern)
    );
}

#[test]
fn indefinite_and_invalid_matrices_are_rejected() {
    let row = |error: Option<SparseError>| match error {
        Some(SparseError::NonPositivePivot { index }) => Some(index),
        _ => None,
    };
    let indefinite = [(0, 0, 1.0), (1, 0, 2.0), (1, 1, 1.0)];
    let indefinite = SymmetricCsc::from_entries(2, indefinite).unwrap();
    assert!(row(Cholesky::new(&indefinite).err()).is_some());
    for value in [f64::NAN, f64::INFINITY, -f64::INFINITY] {
        for entry in [(1, 1, value), (1, 0, value)] {
            let entries = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), entry];
            let matrix = SymmetricCsc::summed(3, entries);
            assert!(row(Cholesky::new(&matrix).err()).is_some(), "{entry:?}");
            assert!(row(Factor::new(&matrix).err()).is_some(), "{entry:?}");
        }
    }
}

#[test]
fn conjugate_gradients_end_at_the_direct_solution() {
    let matrix = random_matrix(80, 6, 0.5);
    let b = column(80, 3);
    let exact = solved(&Cholesky::new(&matrix).unwrap(), &b);
    let mut x = vec![0.0; 80];
    let after_ten = conjugate_gradients(&matrix, &b, &mut x.clone(), 10);
    let left = conjugate_gradients(&matrix, &b, &mut x, 120);
    assert!(left < 1e-9 && left < after_ten);
    for (x, exact) in x.iter().zip(exact) {
        assert!((x - exact).abs() < 1e-8);
    }
    // A solution has nothing left to improve.
    assert_eq!(
        conjugate_gradients(&matrix, &[0.0; 80], &mut [0.0; 80], 10),
        0.0
    );
}

#[test]
fn empty_systems_are_solved() {
    let symbolic = Symbolic::new(&SymmetricCsc::summed(0, []));
    assert!(symbolic.is_empty());
    let factor = Cholesky::with(Arc::new(symbolic), &SymmetricCsc::summed(0, [])).unwrap();
    factor.solve(&mut []);
    factor.solve_columns(&mut [Vec::new()]);
}

#[test]
fn general_and_symmetric_products_agree() {
    let matrix = random_matrix(60, 3, 0.2);
    let both = Csc::from_symmetric(&matrix);
    let x = column(60, 2);
    for (a, b) in matrix.multiply(&x).iter().zip(both.multiply(&x)) {
        assert!((a - b).abs() < 1e-13);
    }
    assert!((0..60).all(|i| both.at(i, i) == matrix.diagonal()[i]));
    assert!((0..60).all(|i| (0..60).all(|j| both.at(i, j) == both.at(j, i))));
    assert_eq!(both.at(0, 59), 0.0);
    // Entries of one place are summed; a matrix need not be square.
    let wide = Csc::summed(1, 3, vec![(0, 2, 1.0), (0, 0, 2.0), (0, 2, 3.0)]);
    assert_eq!(wide.multiply(&[1.0, 10.0, 100.0]), [402.0]);
}
