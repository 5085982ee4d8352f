//! Shells: the connected parts of a mesh.

use crate::adjacency::{NONE, Rows};
use crate::mesh::{SubMesh, TriMesh};

/// Which connected part every vertex and triangle belongs to; parts are numbered by their smallest vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shells {
    /// Shell of each vertex; [`NONE`] for vertices without triangles.
    pub of_vertex: Vec<u32>,
    /// Shell of each triangle.
    pub of_triangle: Vec<u32>,
    /// Number of shells.
    pub count: usize,
}

/// Finds the parts connected through shared vertices (weld first where seams are split): union-find, nearly linear.
pub fn shells(mesh: &TriMesh) -> Shells {
    let mut parent: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    let mut used = vec![false; mesh.positions.len()];
    for &[a, b, c] in &mesh.triangles {
        join(&mut parent, a, b);
        join(&mut parent, b, c);
        [a, b, c].into_iter().for_each(|v| used[v as usize] = true);
    }
    let mut of_vertex = vec![NONE; mesh.positions.len()];
    let mut count = 0;
    for v in (0..parent.len()).filter(|&v| used[v]) {
        // The root is the smallest vertex of its part, so it is numbered before any other.
        let root = root(&mut parent, v as u32) as usize;
        if root == v {
            of_vertex[v] = count;
            count += 1;
        } else {
            of_vertex[v] = of_vertex[root];
        }
    }
    Shells {
        of_triangle: mesh
            .triangles
            .iter()
            .map(|t| of_vertex[t[0] as usize])
            .collect(),
        of_vertex,
        count: count as usize,
    }
}

impl Shells {
    /// For each shell its triangles, ascending.
    pub fn triangles(&self) -> Rows {
        let pairs = self
            .of_triangle
            .iter()
            .enumerate()
            .map(|(t, &s)| (s, t as u32));
        Rows::from_pairs(self.count, pairs)
    }

    /// One shell as a mesh of its own.
    pub fn extract(&self, mesh: &TriMesh, shell: u32) -> SubMesh {
        let own = self
            .of_triangle
            .iter()
            .enumerate()
            .filter(|(_, s)| **s == shell);
        mesh.extract(own.map(|(t, _)| t as u32))
    }

    /// All shells as meshes of their own, in time linear in the whole.
    pub fn split(&self, mesh: &TriMesh) -> Vec<SubMesh> {
        let triangles = self.triangles();
        triangles
            .iter()
            .map(|row| mesh.extract(row.iter().copied()))
            .collect()
    }
}

fn root(parent: &mut [u32], mut v: u32) -> u32 {
    while parent[v as usize] != v {
        // Path halving keeps trees flat without recursion.
        let above = parent[parent[v as usize] as usize];
        parent[v as usize] = above;
        v = above;
    }
    v
}

fn join(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;
    use glam::Vec3;

    #[test]
    fn three_bodies_and_a_loose_vertex() {
        let (a, b) = (shapes::cuboid(Vec3::ONE, 2), shapes::icosphere(1.0, 2));
        let mut mesh = TriMesh::merged([&a, &b, &a]);
        mesh.positions.push(Vec3::ZERO);
        let shells = shells(&mesh);
        assert_eq!(shells.count, 3);
        assert_eq!(shells.of_vertex.last(), Some(&NONE));
        assert_eq!(shells.of_triangle[0], 0);
        let part = shells.extract(&mesh, 1);
        assert!((part.mesh.signed_volume() - b.signed_volume()).abs() < 1e-12);
        assert_eq!(shells.split(&mesh)[1], part);
        assert!(shells.extract(&mesh, 9).mesh.triangles.is_empty());
    }

    #[test]
    fn long_strip_is_one_shell() {
        let count = 100_000u32;
        let mesh = TriMesh {
            positions: vec![Vec3::ZERO; count as usize + 2],
            triangles: (0..count).rev().map(|v| [v + 2, v, v + 1]).collect(),
        };
        assert_eq!(shells(&mesh).count, 1);
        assert_eq!(shells(&TriMesh::default()).count, 0);
    }
}
