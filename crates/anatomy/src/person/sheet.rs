//! The layered part of a body: free vertices, and the rim on which all surfaces meet.

use glam::{DVec3, Vec3};
use supple_geom::Adjacency;

use crate::layers::{layered_triangles, prism_volumes};

/// Triangles with a layered corner. Free vertices come first, then the rim.
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

    /// Positions of the body with those of the free vertices replaced.
    pub fn scatter(&self, free: &[DVec3], whole: &[Vec3]) -> Vec<Vec3> {
        let mut positions = whole.to_vec();
        for (&v, p) in self.whole[..self.free].iter().zip(free) {
            positions[v as usize] = p.as_vec3();
        }
        positions
    }

    /// Signed volumes of the tets of a triangle's prism \[m³\]. Diagonals are those of the whole body.
    pub fn prism(&self, triangle: usize, outer: &[DVec3], inner: &[DVec3]) -> [f64; 3] {
        let corners = self.triangles[triangle];
        let whole = corners.map(|v| self.whole[v as usize]);
        let local =
            |v: u32| corners[usize::from(v == whole[1]) + 2 * usize::from(v == whole[2])] as usize;
        prism_volumes(whole, |v| outer[local(v)], |v| inner[local(v)])
    }

    /// Triangles whose prism has a tet of at most `least` \[m³\].
    pub fn inverted(&self, outer: &[DVec3], inner: &[DVec3], least: f64) -> Vec<u32> {
        (0..self.triangles.len())
            .filter(|&t| {
                self.is_layered(t) && self.prism(t, outer, inner).iter().any(|v| *v < least)
            })
            .map(|t| t as u32)
            .collect()
    }

    /// Neighbours of each vertex.
    pub fn neighbours(&self) -> Vec<Vec<u32>> {
        let adjacency = Adjacency::of_triangles(self.whole.len(), &self.triangles);
        let mut rings = vec![Vec::new(); self.whole.len()];
        for &[a, b] in &adjacency.edges {
            rings[a as usize].push(b);
            rings[b as usize].push(a);
        }
        rings
    }

    fn is_layered(&self, triangle: usize) -> bool {
        self.triangles[triangle]
            .iter()
            .any(|&v| (v as usize) < self.free)
    }
}
