//! Adjacency: compact tables built in linear time.

use crate::mesh::TriMesh;

/// Marks an absent element in index tables.
pub const NONE: u32 = u32::MAX;

/// Rows of indices of different lengths, stored without gaps (compressed sparse rows).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Where each row starts in `items`, and a last entry where the last row ends.
    pub offsets: Vec<u32>,
    /// All rows, one after the other.
    pub items: Vec<u32>,
}

impl Rows {
    /// One row.
    pub fn row(&self, index: usize) -> &[u32] {
        &self.items[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|i| self.row(i))
    }

    /// Sorts `(row, item)` pairs into `rows` rows, keeping the order of the pairs within each row: a counting sort.
    pub fn from_pairs(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut offsets = vec![0u32; rows + 1];
        for (row, _) in pairs.clone() {
            offsets[row as usize + 1] += 1;
        }
        for i in 0..rows {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut items = vec![0; offsets[rows] as usize];
        for (row, item) in pairs {
            let slot = &mut next[row as usize];
            items[*slot as usize] = item;
            *slot += 1;
        }
        Self { offsets, items }
    }
}

/// Neighbourhoods of a mesh. Triangles that repeat a vertex have no edges here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adjacency {
    /// For each vertex the triangles around it, ascending, each once.
    pub vertex_triangles: Rows,
    /// For each vertex the vertices it shares an edge with, ascending.
    pub vertex_vertices: Rows,
    /// Unique edges, smaller vertex first, in lexicographic order.
    pub edges: Vec<[u32; 2]>,
    /// For each edge its triangles, ascending: one on a boundary, two inside a surface, more where it is not manifold.
    pub edge_triangles: Rows,
    /// For each triangle the edges from corner `k` to corner `k + 1`; [`NONE`] if it repeats a vertex.
    pub triangle_edges: Vec<[u32; 3]>,
}

impl Adjacency {
    /// Builds all tables; time and memory linear in the size of the mesh.
    pub fn new(mesh: &TriMesh) -> Self {
        Self::of_triangles(mesh.positions.len(), &mesh.triangles)
    }

    /// The same for triangles over a number of vertices.
    pub fn of_triangles(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let (edges, triangle_edges) = unique_edges(vertices, triangles);
        let sides = indexed(&triangle_edges)
            .filter(|(_, edges)| edges[0] != NONE)
            .flat_map(|(t, edges)| edges.map(|e| (e, t)));
        let edge_triangles = Rows::from_pairs(edges.len(), sides);
        // Edges are in lexicographic order, so every vertex meets its smaller neighbours first and all in order.
        let ends = edges.iter().flat_map(|&[a, b]| [(a, b), (b, a)]);
        let vertex_vertices = Rows::from_pairs(vertices, ends);
        Self {
            vertex_triangles: triangles_of_vertices(vertices, triangles),
            vertex_vertices,
            edges,
            edge_triangles,
            triangle_edges,
        }
    }

    /// For each triangle the one other triangle across each of its edges; [`NONE`] on boundaries and where more than
    /// two triangles meet.
    pub fn triangle_neighbours(&self) -> Vec<[u32; 3]> {
        let across = |(t, edges): (u32, &[u32; 3])| edges.map(|e| self.other_triangle(e, t));
        self.triangle_edges
            .iter()
            .enumerate()
            .map(|(t, e)| across((t as u32, e)))
            .collect()
    }

    fn other_triangle(&self, edge: u32, triangle: u32) -> u32 {
        if edge == NONE {
            return NONE;
        }
        match *self.edge_triangles.row(edge as usize) {
            [a, b] => a ^ b ^ triangle,
            _ => NONE,
        }
    }

    /// The edge between two vertices, if there is one.
    pub fn edge_between(&self, a: u32, b: u32) -> Option<u32> {
        let edge = [a.min(b), a.max(b)];
        self.edges.binary_search(&edge).ok().map(|e| e as u32)
    }

    /// Edges of exactly one triangle.
    pub fn boundary_edges(&self) -> impl Iterator<Item = u32> {
        self.edges_where(|count| count == 1)
    }

    /// Edges of more than two triangles.
    pub fn non_manifold_edges(&self) -> impl Iterator<Item = u32> {
        self.edges_where(|count| count > 2)
    }

    fn edges_where(&self, keep: impl Fn(usize) -> bool) -> impl Iterator<Item = u32> {
        let rows = self.edge_triangles.iter().enumerate();
        rows.filter(move |(_, row)| keep(row.len()))
            .map(|(e, _)| e as u32)
    }

    /// Whether every edge has exactly two triangles and those run along it in opposite directions: the mesh bounds a
    /// solid (or several) and is oriented throughout.
    pub fn is_closed_and_oriented(&self, mesh: &TriMesh) -> bool {
        let mut balance = vec![0i32; self.edges.len()];
        for (corners, edges) in mesh.triangles.iter().zip(&self.triangle_edges) {
            for k in (0..3).filter(|&k| edges[k] != NONE) {
                balance[edges[k] as usize] += if corners[k] < corners[(k + 1) % 3] {
                    1
                } else {
                    -1
                };
            }
        }
        balance.iter().all(|&b| b == 0) && self.edge_triangles.iter().all(|row| row.len() == 2)
    }

    /// Euler characteristic V − E + F, over used vertices and triangles with edges: 2 for each closed shell without handles.
    pub fn euler_characteristic(&self) -> i64 {
        let used = self
            .vertex_vertices
            .iter()
            .filter(|row| !row.is_empty())
            .count();
        let faces = self.triangle_edges.iter().filter(|e| e[0] != NONE).count();
        used as i64 - self.edges.len() as i64 + faces as i64
    }
}

/// For each vertex its triangles, ascending; a triangle that repeats the vertex is listed once.
pub fn vertex_triangles(mesh: &TriMesh) -> Rows {
    triangles_of_vertices(mesh.positions.len(), &mesh.triangles)
}

fn triangles_of_vertices(vertices: usize, triangles: &[[u32; 3]]) -> Rows {
    let pairs = indexed(triangles).flat_map(|(t, [a, b, c])| {
        let first = [
            Some(a),
            (b != a).then_some(b),
            (c != a && c != b).then_some(c),
        ];
        first.into_iter().flatten().map(move |v| (v, t))
    });
    Rows::from_pairs(vertices, pairs)
}

fn indexed(triples: &[[u32; 3]]) -> impl Iterator<Item = (u32, [u32; 3])> + Clone {
    triples
        .iter()
        .enumerate()
        .map(|(t, triple)| (t as u32, *triple))
}

/// Unique edges in lexicographic order and the edges of each triangle, by two counting sorts of the half-edges
/// (radix sort: larger vertex first, then smaller), so that even a vertex of huge valence costs linear time.
fn unique_edges(vertices: usize, triangles: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let side = |half: u32| {
        let corners = triangles[half as usize / 3];
        let (a, b) = (corners[half as usize % 3], corners[(half as usize + 1) % 3]);
        [a.min(b), a.max(b)]
    };
    let simple = |half: &u32| {
        let [a, b, c] = triangles[*half as usize / 3];
        a != b && b != c && c != a
    };
    let halves = (0..3 * triangles.len() as u32).filter(simple);
    let by_larger = Rows::from_pairs(vertices, halves.map(|h| (side(h)[1], h)));
    let pairs = by_larger.items.iter().map(|&h| (side(h)[0], h));
    let sorted = Rows::from_pairs(vertices, pairs).items;

    let mut edges: Vec<[u32; 2]> = Vec::with_capacity(sorted.len() / 2 + 1);
    let mut triangle_edges = vec![[NONE; 3]; triangles.len()];
    for half in sorted {
        let edge = side(half);
        if edges.last() != Some(&edge) {
            edges.push(edge);
        }
        triangle_edges[half as usize / 3][half as usize % 3] = edges.len() as u32 - 1;
    }
    (edges, triangle_edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;
    use glam::Vec3;

    #[test]
    fn tables_of_two_triangles() {
        let mesh = TriMesh {
            positions: vec![Vec3::ZERO; 5],
            triangles: vec![[0, 1, 2], [2, 1, 3], [3, 3, 1]],
        };
        let adjacency = Adjacency::new(&mesh);
        assert_eq!(adjacency.edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(adjacency.edge_triangles.row(2), [0, 1]);
        assert_eq!(adjacency.vertex_vertices.row(1), [0, 2, 3]);
        assert_eq!(adjacency.vertex_triangles.row(3), [1, 2]);
        assert!(adjacency.vertex_vertices.row(4).is_empty());
        assert_eq!(adjacency.triangle_edges[2], [NONE; 3]);
        let neighbours = adjacency.triangle_neighbours();
        assert_eq!(neighbours, [[NONE, 1, NONE], [0, NONE, NONE], [NONE; 3]]);
        assert_eq!(adjacency.boundary_edges().count(), 4);
        assert_eq!(adjacency.edge_between(3, 1), Some(3));
        assert_eq!(adjacency.edge_between(0, 3), None);
    }

    #[test]
    fn three_triangles_at_one_edge_are_seen() {
        let mesh = TriMesh {
            positions: vec![Vec3::ZERO; 5],
            triangles: vec![[0, 1, 2], [1, 0, 3], [0, 1, 4]],
        };
        let adjacency = Adjacency::new(&mesh);
        assert_eq!(adjacency.non_manifold_edges().collect::<Vec<_>>(), [0]);
        assert_eq!(adjacency.triangle_neighbours()[0], [NONE; 3]);
        assert!(!adjacency.is_closed_and_oriented(&mesh));
    }

    #[test]
    fn sphere_is_closed_with_valence_five_or_six() {
        let mesh = shapes::icosphere(1.0, 3);
        let adjacency = Adjacency::new(&mesh);
        assert_eq!(adjacency.euler_characteristic(), 2);
        assert!(adjacency.is_closed_and_oriented(&mesh));
        let five = adjacency
            .vertex_vertices
            .iter()
            .filter(|row| row.len() == 5);
        assert_eq!(five.count(), 12);
        assert!(adjacency.vertex_vertices.iter().all(|row| row.is_sorted()));
        let mut turned = mesh.clone();
        turned.triangles[0].swap(0, 1);
        assert!(!Adjacency::new(&turned).is_closed_and_oriented(&turned));
    }

    #[test]
    fn empty_mesh_has_empty_tables() {
        let adjacency = Adjacency::new(&TriMesh::default());
        assert!(adjacency.edges.is_empty() && adjacency.vertex_vertices.is_empty());
    }
}
