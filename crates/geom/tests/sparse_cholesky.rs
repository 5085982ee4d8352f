//! The sparse factorisation against residuals and a dense solver.

use supple_geom::sparse::{Factor, SparseError, SymmetricCsc};

/// Laplacian plus identity of a grid with both diagonals in turn: a surface's one-ring.
fn grid(width: u32, height: u32) -> SymmetricCsc {
    let at = |i: u32, j: u32| j * width + i;
    let mut entries = Vec::new();
    let mut edge = |a: u32, b: u32, w: f64| entries.extend([(a, a, w), (b, b, w), (a, b, -w)]);
    for j in 0..height {
        for i in 0..width {
            let w = 1.0 + f64::from((i * 7 + j * 13) % 5);
            if i + 1 < width {
                edge(at(i, j), at(i + 1, j), w);
            }
            if j + 1 < height {
                edge(at(i, j), at(i, j + 1), 0.5 * w);
            }
            if i + 1 < width && j + 1 < height {
                edge(at(i, j), at(i + 1, j + 1), 0.3);
            }
        }
    }
    entries.extend((0..width * height).map(|i| (i, i, 1.0)));
    SymmetricCsc::from_entries((width * height) as usize, entries).unwrap()
}

fn right_hand_side(n: usize) -> Vec<[f32; 3]> {
    (0..n)
        .map(|i| {
            [
                (i as f32).sin(),
                (0.3 * i as f32).cos(),
                ((i * i) % 17) as f32 - 8.0,
            ]
        })
        .collect()
}

fn assert_solves(matrix: &SymmetricCsc, tolerance: f64) {
    let b = right_hand_side(matrix.len());
    let mut x = b.clone();
    Factor::new(matrix).unwrap().solve3(&mut x);
    for c in 0..3 {
        let component: Vec<f64> = x.iter().map(|x| x[c].into()).collect();
        for (i, (ax, b)) in matrix.multiply(&component).iter().zip(&b).enumerate() {
            assert!(
                (ax - f64::from(b[c])).abs() < tolerance,
                "row {i}: {ax} instead of {}",
                b[c]
            );
        }
    }
}

#[test]
fn solves_grids_of_many_shapes() {
    for (width, height) in [
        (1, 1),
        (1, 2),
        (2, 2),
        (3, 1),
        (9, 5),
        (40, 3),
        (33, 31),
        (70, 64),
        (110, 90),
    ] {
        assert_solves(&grid(width, height), 2e-4);
    }
}

#[test]
fn agrees_with_a_dense_factorisation() {
    let n = 60;
    // Dense columns make supernodes wider than one block.
    let value =
        |i: usize, j: usize| 1.0 / (1.0 + i.abs_diff(j) as f64) + if i == j { 2.0 } else { 0.0 };
    let entries = (0..n).flat_map(|j| (j..n).map(move |i| (i as u32, j as u32, value(i, j))));
    let matrix = SymmetricCsc::from_entries(n, entries).unwrap();
    let b = right_hand_side(n);
    let mut x = b.clone();
    Factor::new(&matrix).unwrap().solve3(&mut x);
    for c in 0..3 {
        let rows = (0..n).map(|i| {
            (0..n)
                .map(|j| value(i, j))
                .chain([f64::from(b[i][c])])
                .collect()
        });
        let expected = gauss(rows.collect());
        for i in 0..n {
            assert!((f64::from(x[i][c]) - expected[i]).abs() < 2e-5, "row {i}");
        }
    }
}

/// Gaussian elimination of a system with its right-hand side in the last column; the matrix is diagonally dominant.
fn gauss(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for pivot in 0..n {
        let pivot_row = rows[pivot].clone();
        for row in rows
            .iter_mut()
            .enumerate()
            .filter(|(i, _)| *i != pivot)
            .map(|(_, row)| row)
        {
            let factor = row[pivot] / pivot_row[pivot];
            row.iter_mut()
                .zip(&pivot_row)
                .for_each(|(a, p)| *a -= factor * p);
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}

#[test]
fn separate_components_and_empty_matrices() {
    assert_solves(
        &SymmetricCsc::from_entries(9, (0..9).map(|i| (i, i, 0.5 + f64::from(i)))).unwrap(),
        1e-5,
    );
    let empty = SymmetricCsc::from_entries(0, []).unwrap();
    Factor::new(&empty).unwrap().solve3(&mut []);
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let factor = Factor::new(&grid(80, 75)).unwrap();
    assert!(factor.parts.len() > 2);
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut x = right_hand_side(80 * 75);
        pool.install(|| factor.solve3(&mut x));
        x
    };
    let one = solve(1);
    assert_eq!(one, solve(2));
    assert_eq!(one, solve(5));
}

#[test]
fn a_singular_matrix_names_its_row() {
    // Two rows held only by each other.
    let floating = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (1, 2, -1.0)];
    let error = Factor::new(&SymmetricCsc::from_entries(3, floating).unwrap()).unwrap_err();
    assert!(
        matches!(error, SparseError::NonPositivePivot { index: 1 | 2 }),
        "{error}"
    );
    let negative = SymmetricCsc::from_entries(2, [(0, 0, 1.0), (1, 1, -1.0)]).unwrap();
    assert_eq!(
        Factor::new(&negative).unwrap_err(),
        SparseError::NonPositivePivot { index: 1 }
    );
    assert!(matches!(
        SymmetricCsc::from_entries(2, [(2, 0, 1.0)]),
        Err(SparseError::OutOfRange { row: 2, .. })
    ));
    assert!(matches!(
        SymmetricCsc::from_entries(2, [(1, 0, f64::NAN)]),
        Err(SparseError::NotFinite { .. })
    ));
}
