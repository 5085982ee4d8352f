//! Connected pieces of a cloud: debris is dropped, a second body is noticed.

use glam::Vec3;

use super::ScanError;
use super::cloud::Cloud;

/// Points are connected if their cells of this size touch \[m\]: gaps of up to a hand's breadth do not part a body.
const CELL: f32 = 0.05;
/// Pieces with a smaller share of the cells are debris.
const DEBRIS: f64 = 0.02;
/// A second piece with this share of the first one's cells and this share of its height is somebody else.
const SECOND_SIZE: f64 = 0.4;
const SECOND_HEIGHT: f32 = 0.6;

/// Drops debris; refuses two bodies. `up` is the scan's, `metres` its unit \[m\]. Returns whether anything was dropped.
pub(super) fn tidy(cloud: &mut Cloud, up: Vec3, metres: f32) -> Result<bool, ScanError> {
    let (piece_of, cells) = pieces(&cloud.points, CELL / metres);
    let total: usize = cells.iter().sum();
    let Some(main) = (0..cells.len()).max_by_key(|&p| (cells[p], std::cmp::Reverse(p))) else {
        return Ok(false);
    };
    let mut spans = vec![(f32::INFINITY, f32::NEG_INFINITY); cells.len()];
    for (point, &piece) in cloud.points.iter().zip(&piece_of) {
        let height = point.dot(up);
        let span = &mut spans[piece as usize];
        *span = (span.0.min(height), span.1.max(height));
    }
    let height = |p: usize| spans[p].1 - spans[p].0;
    let is_body = |p: usize| {
        p != main
            && cells[p] as f64 > SECOND_SIZE * cells[main] as f64
            && height(p) > SECOND_HEIGHT * height(main)
    };
    if (0..cells.len()).any(is_body) {
        return Err(ScanError::SeveralPeople);
    }
    let is_debris = |p: u32| (cells[p as usize] as f64) < DEBRIS * total as f64;
    let keep: Vec<bool> = piece_of.iter().map(|&p| !is_debris(p)).collect();
    let dropped = keep.contains(&false);
    if dropped && keep.contains(&true) {
        cloud.keep(&keep);
    }
    Ok(dropped)
}

/// Piece of each point, and the number of cells of each piece.
pub(super) fn pieces(points: &[Vec3], cell: f32) -> (Vec<u32>, Vec<usize>) {
    let low = points.iter().fold(Vec3::INFINITY, |l, p| l.min(*p));
    let key = |p: &Vec3| ((*p - low) / cell).as_ivec3().to_array();
    let mut cells: Vec<[i32; 3]> = points.iter().map(key).collect();
    cells.sort_unstable();
    cells.dedup();
    let find = |key: [i32; 3]| cells.binary_search(&key).ok();
    let mut piece = vec![u32::MAX; cells.len()];
    let mut sizes = Vec::new();
    for start in 0..cells.len() {
        if piece[start] != u32::MAX {
            continue;
        }
        let name = sizes.len() as u32;
        let mut stack = vec![start];
        piece[start] = name;
        let mut size = 0;
        while let Some(at) = stack.pop() {
            size += 1;
            let [x, y, z] = cells[at];
            for k in 0..27 {
                let near = [x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1];
                if let Some(next) = find(near)
                    && piece[next] == u32::MAX
                {
                    piece[next] = name;
                    stack.push(next);
                }
            }
        }
        sizes.push(size);
    }
    let of_point = points.iter().map(|p| find(key(p)).map_or(0, |c| piece[c]));
    (of_point.collect(), sizes)
}
