//! One index a vertex, for formats that index positions, texture coordinates and normals apart.
//!
//! The file's positions come first and in their own order, each with the texture coordinate and normal it is first used
//! with; where a position is used with others (a seam), a further vertex is added behind, in order of use. So a file
//! without seams keeps its vertices exactly, and one with seams keeps the numbers of its positions.

use std::collections::HashMap;

/// "No texture coordinate" or "no normal".
pub(super) const NONE: u32 = u32::MAX;

/// What a vertex is made of: position, texture coordinate, normal.
pub(super) type Corner = [u32; 3];

/// Vertices for a set of corners.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    /// What each vertex is made of.
    pub vertices: Vec<Corner>,
    /// The vertex of each corner, in the order given.
    pub corners: Vec<u32>,
}

/// Finds the vertices of some corners. `all` keeps unused positions among `positions`; else only used ones are there.
/// `scratch` is any vector; it is kept between calls to save clearing it.
pub(super) fn split_seams(
    corners: &[Corner],
    positions: usize,
    all: bool,
    scratch: &mut Vec<u32>,
) -> Split {
    scratch.resize(positions, NONE);
    let mut vertices: Vec<Corner> = Vec::new();
    if all {
        vertices.extend((0..positions as u32).map(|position| [position, NONE, NONE]));
        scratch
            .iter_mut()
            .zip(0..)
            .for_each(|(slot, vertex)| *slot = vertex);
    } else {
        let mut used: Vec<u32> = corners.iter().map(|corner| corner[0]).collect();
        used.sort_unstable();
        used.dedup();
        for (vertex, &position) in used.iter().enumerate() {
            scratch[position as usize] = vertex as u32;
            vertices.push([position, NONE, NONE]);
        }
    }
    let first_extra = vertices.len();
    let mut seen = vec![false; first_extra];
    let mut extras: HashMap<Corner, u32> = HashMap::new();
    let vertex_of = |corner: &Corner| {
        let vertex = scratch[corner[0] as usize];
        let slot = vertex as usize;
        if !seen[slot] {
            seen[slot] = true;
            vertices[slot] = *corner;
        }
        if vertices[slot] == *corner {
            return vertex;
        }
        *extras.entry(*corner).or_insert_with(|| {
            vertices.push(*corner);
            vertices.len() as u32 - 1
        })
    };
    let corners = corners.iter().map(vertex_of).collect();
    Split { vertices, corners }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_first_then_seams() {
        let corners = [
            [2, 0, NONE],
            [0, 1, NONE],
            [2, 5, NONE],
            [2, 0, NONE],
            [2, 5, NONE],
        ];
        let split = split_seams(&corners, 4, true, &mut Vec::new());
        assert_eq!(split.vertices.len(), 5);
        assert_eq!(split.corners, [2, 0, 4, 2, 4]);
        let split = split_seams(&corners, 4, false, &mut Vec::new());
        assert_eq!(split.vertices, [[0, 1, NONE], [2, 0, NONE], [2, 5, NONE]]);
        assert_eq!(split.corners, [1, 0, 2, 1, 2]);
    }
}
