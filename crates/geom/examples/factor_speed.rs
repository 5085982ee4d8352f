//! Times of the double-precision factorisation: `cargo run --release -p supple-geom --example factor_speed`.

use std::sync::Arc;
use std::time::Instant;

use supple_geom::sparse::{Cholesky, SparseError, Symbolic, SymmetricCsc};

/// A closed surface of two layers, each vertex tied to its ring and to the other layer.
fn shell(side: u32) -> Result<SymmetricCsc, SparseError> {
    let n = 2 * side * side;
    let at = |i: u32, j: u32, layer: u32| (layer * side + j % side) * side + i % side;
    let edges = (0..n).flat_map(|v| {
        let (i, j, layer) = (v % side, v / side % side, v / (side * side));
        let ring = [
            at(i + 1, j, layer),
            at(i, j + 1, layer),
            at(i + 1, j + 1, layer),
        ];
        let across = [at(i, j, 1), at(i + 1, j, 1), at(i, j + 1, 1)];
        let across = across.into_iter().filter(move |_| layer == 0);
        ring.into_iter().chain(across).map(move |w| (v, w))
    });
    let springs = edges.flat_map(|(a, b)| [(a, a, 1.0), (b, b, 1.0), (a.max(b), a.min(b), -1.0)]);
    SymmetricCsc::from_entries(n as usize, springs.chain((0..n).map(|i| (i, i, 0.01))))
}

/// Least time of three \[ms\], and what was made.
fn timed<T>(make: impl Fn() -> T) -> (f64, T) {
    let once = || {
        let start = Instant::now();
        let made = make();
        (start.elapsed().as_secs_f64() * 1e3, made)
    };
    let (first, made) = once();
    (first.min(once().0).min(once().0), made)
}

fn main() -> Result<(), SparseError> {
    println!("{} threads", rayon::current_num_threads());
    for side in [48, 100, 150] {
        let matrix = shell(side)?;
        let (analysis, symbolic) = timed(|| Arc::new(Symbolic::new(&matrix)));
        let (numbers, factor) = timed(|| Cholesky::with(Arc::clone(&symbolic), &matrix));
        let factor = factor?;
        let columns = vec![vec![1.0; matrix.len()]; 3];
        let (solve, _) = timed(|| factor.solve_columns(&mut columns.clone()));
        println!(
            "{:6} unknowns, {:8} entries of L: analysis {analysis:6.1} ms, numbers {numbers:6.1} ms, three columns {solve:5.2} ms",
            matrix.len(),
            factor.entries(),
        );
    }
    Ok(())
}
