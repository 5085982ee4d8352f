//! Time of the triangular solves, compared with reading the factor once in each direction.

use std::time::Instant;
use supple_geom::simd::Row;
use supple_geom::sparse::{Factor, SymmetricCsc};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for side in [33u32, 69, 100, 141] {
        let n = side * side;
        // A torus with one diagonal: the one-ring of a closed surface.
        let edges = (0..n).flat_map(|v| {
            let (i, j) = (v % side, v / side);
            let (right, up) = ((i + 1) % side, (j + 1) % side);
            [j * side + right, up * side + i, up * side + right].map(|w| (v, w))
        });
        let laplacian = edges.flat_map(|(a, b)| [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0)]);
        let matrix =
            SymmetricCsc::from_entries(n as usize, laplacian.chain((0..n).map(|i| (i, i, 3.0))))?;
        let factor = Factor::new(&matrix)?;
        let mut rows: Vec<Vec<Row>> = factor
            .parts
            .iter()
            .map(|p| vec![Row::new([1.0, 2.0, 3.0]); p.len()])
            .collect();
        let mut top = vec![Row::new([1.0, 2.0, 3.0]); factor.top.len()];
        let [mut forward, mut middle, mut backward] = [f64::MAX; 3];
        for _ in 0..300 {
            let start = Instant::now();
            factor
                .parts
                .iter()
                .zip(&mut rows)
                .for_each(|(part, rows)| part.forward(rows));
            let forward_done = Instant::now();
            factor.top.forward(&mut top);
            factor.top.backward(&mut top);
            let middle_done = Instant::now();
            factor
                .parts
                .iter()
                .zip(&mut rows)
                .for_each(|(part, rows)| part.backward(rows));
            forward = forward.min((forward_done - start).as_secs_f64());
            middle = middle.min((middle_done - forward_done).as_secs_f64());
            backward = backward.min(middle_done.elapsed().as_secs_f64());
        }
        println!(
            "{n:6} rows, {:7} entries, {:7} bytes: forward {:4.0} µs, top of {} {:4.0} µs, backward {:4.0} µs",
            factor.entries,
            factor.bytes_per_solve() / 2,
            forward * 1e6,
            factor.top.own,
            middle * 1e6,
            backward * 1e6
        );
    }
    Ok(())
}
