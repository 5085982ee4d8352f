//! Fill-reducing order of elimination: approximate minimum degree (Amestoy, Davis and Duff 1996).

use super::SymmetricCsc;

/// The old index of each new row, deterministic.
pub fn minimum_degree(matrix: &SymmetricCsc) -> Vec<u32> {
    let n = matrix.len();
    let (starts, neighbours) = adjacency(matrix);
    if neighbours.is_empty() {
        // Nothing to order, and too small for `amd`, which would compute a negative bound.
        return (0..n as u32).collect();
    }
    // `amd` expects at least one entry a row; diagonal ones do not change its order.
    let (starts, neighbours) = match neighbours.len() < n {
        true => with_diagonal(&starts, &neighbours),
        false => (starts, neighbours),
    };
    let ordered = amd::order(n as i32, &starts, &neighbours, &amd::Control::default());
    match ordered {
        Ok((permutation, _, _)) => permutation.into_iter().map(|old| old as u32).collect(),
        // The order only affects speed: the given one works as well.
        Err(_) => (0..n as u32).collect(),
    }
}

/// Neighbours of each row without itself, ascending: `(starts, neighbours)`.
fn adjacency(matrix: &SymmetricCsc) -> (Vec<i32>, Vec<i32>) {
    let n = matrix.len();
    let mut starts = vec![0i32; n + 1];
    let pairs = || {
        (0..n)
            .flat_map(|c| matrix.column(c).map(move |(r, _)| (r, c)))
            .filter(|(r, c)| r != c)
    };
    for (r, c) in pairs() {
        starts[r + 1] += 1;
        starts[c + 1] += 1;
    }
    for i in 0..n {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut neighbours = vec![0; starts[n] as usize];
    for (r, c) in pairs() {
        for (from, to) in [(r, c), (c, r)] {
            neighbours[next[from] as usize] = to as i32;
            next[from] += 1;
        }
    }
    for i in 0..n {
        neighbours[starts[i] as usize..starts[i + 1] as usize].sort_unstable();
    }
    (starts, neighbours)
}

fn with_diagonal(starts: &[i32], neighbours: &[i32]) -> (Vec<i32>, Vec<i32>) {
    let mut rows = (vec![0], Vec::with_capacity(neighbours.len() + starts.len()));
    for (row, range) in (0i32..).zip(starts.windows(2)) {
        let own = &neighbours[range[0] as usize..range[1] as usize];
        let before = own.partition_point(|&other| other < row);
        rows.1.extend_from_slice(&own[..before]);
        rows.1.push(row);
        rows.1.extend_from_slice(&own[before..]);
        rows.0.push(rows.1.len() as i32);
    }
    rows
}

/// The new index of each old row.
pub fn inverse(permutation: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; permutation.len()];
    for (new, &old) in permutation.iter().enumerate() {
        inverse[old as usize] = new as u32;
    }
    inverse
}
