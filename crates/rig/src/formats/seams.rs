//! Converts separately indexed positions, texture coordinates and normals to one index per vertex.
//!
//! The file's positions come first, in file order, each with the texture coordinate and normal of its first use.
//! Each further combination (a seam) appends a vertex, in order of use. A file
//! without seams keeps its vertices exactly; one with seams keeps the indices of its positions.

use std::collections::HashMap;

/// Marks a missing texture coordinate or normal.
pub(super) const NONE: u32 = u32::MAX;

/// Position, texture coordinate and normal indices of a vertex.
pub(super) type Corner = [u32; 3];

/// The vertices of a set of corners.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    /// Indices of each vertex.
    pub vertices: Vec<Corner>,
    /// The vertex of each corner, in the given order.
    pub corners: Vec<u32>,
}

/// Finds the vertices of a set of corners. With `all`, every one of the `positions` becomes a vertex; otherwise only used ones.
/// `scratch` is a buffer reused between calls to avoid clearing it.
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
