//! The layered part of a body: free vertices, and the rim on which all surfaces meet.

use crate::layers::layered_triangles;

/// Triangles with a layered corner, in the order of a [`crate::inversion_guard::InversionGuard`]'s prisms. Free vertices come first, then the
/// rim.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    /// Vertex of the body for each vertex of the sheet.
    pub whole: Vec<u32>,
    /// Number of free vertices.
    pub free: usize,
    /// Triangles between vertices of the sheet.
    pub triangles: Vec<[u32; 3]>,
}

impl Sheet {
    pub fn new(triangles: &[[u32; 3]], layered: &[bool]) -> Sheet {
        let chosen = layered_triangles(triangles, layered);
        let corners = || chosen.iter().flat_map(|&t| triangles[t as usize]);
        let mut whole: Vec<u32> = corners().filter(|&v| layered[v as usize]).collect();
        whole.sort_unstable();
        whole.dedup();
        let free = whole.len();
        let mut rim: Vec<u32> = corners().filter(|&v| !layered[v as usize]).collect();
        rim.sort_unstable();
        rim.dedup();
        whole.extend(rim);
        let mut local = vec![u32::MAX; layered.len()];
        (0u32..)
            .zip(&whole)
            .for_each(|(i, &v)| local[v as usize] = i);
        let triangles = (chosen.iter())
            .map(|&t| triangles[t as usize].map(|v| local[v as usize]))
            .collect();
        Sheet {
            whole,
            free,
            triangles,
        }
    }

    /// Values of the body's vertices at those of the sheet.
    pub fn gather<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.whole.iter().map(|&v| values[v as usize]).collect()
    }
}
