//! Prisms between skin and bone surface, split into tetrahedra [3.2.1].

use glam::DVec3;

use crate::construction::rest_skin::RestSkin;

/// Tetrahedra of all prisms, three per triangle. Skin vertex `i` is node `i`; its bone-surface point is node `count + i`.
///
/// `orders` are the triangles' vertices as sorted by [`split_orders`]: the diagonal of every side quad runs from the skin at
/// its earlier vertex to the bone surface at its later vertex. Tets have positive volume where their prism does.
pub fn split_prisms(triangles: &[[u32; 3]], orders: &[[u32; 3]], count: usize) -> Vec<[u32; 4]> {
    let mut tets = Vec::with_capacity(3 * triangles.len());
    let below = |v: u32| v + count as u32;
    for (&[u, v, w], &[a, b, c]) in triangles.iter().zip(orders) {
        let even = [a, b, c] == [u, v, w] || [a, b, c] == [v, w, u] || [a, b, c] == [w, u, v];
        let prism = [
            [b, a, c, below(c)],
            [a, b, below(b), below(c)],
            [below(a), a, below(b), below(c)],
        ];
        tets.extend(prism.map(|[p, q, r, s]| if even { [p, q, r, s] } else { [q, p, r, s] }));
    }
    tets
}

/// The vertices of every triangle in the order its quads are split.
///
/// Each quad is split along its shorter diagonal. The tets are better shaped than with the papers' random choice and keep
/// their volume longer under a bend. Where the three diagonals of a triangle form a cycle, one is flipped: the one with the
/// smallest difference in length that creates no cycle next door or, as in the papers, a random one.
pub fn split_orders(skin: &RestSkin, bone: &[DVec3]) -> Vec<[u32; 3]> {
    let mut arrows = Arrows::new(skin, bone);
    arrows.break_cycles();
    arrows.orders()
}

/// An arrow on every edge, from the skin end to the bone end of its quad's diagonal.
struct Arrows {
    /// Edges `(i, j)` with `i < j`.
    edges: Vec<(u32, u32)>,
    /// Whether the arrow goes from `i` to `j`.
    forward: Vec<bool>,
    /// Difference of the diagonals' squared lengths.
    length_gaps: Vec<f64>,
    /// Edges of each triangle `(a, b, c)`: `ab`, `bc`, `ca`, and whether they run in the edge's own direction.
    of_triangle: Vec<[(u32, bool); 3]>,
    /// Triangles at each edge.
    at_edge: Vec<Vec<u32>>,
    triangles: Vec<[u32; 3]>,
}

impl Arrows {
    fn new(skin: &RestSkin, bone: &[DVec3]) -> Self {
        let mut edges: Vec<(u32, u32)> = skin
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)])
            .map(|(i, j)| (i.min(j), i.max(j)))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let mut at_edge = vec![Vec::new(); edges.len()];
        let of_triangle = skin
            .triangles
            .iter()
            .enumerate()
            .map(|(t, &[a, b, c])| {
                [(a, b), (b, c), (c, a)].map(|(i, j)| {
                    let edge = edges.partition_point(|&e| e < (i.min(j), i.max(j)));
                    at_edge[edge].push(t as u32);
                    (edge as u32, i < j)
                })
            })
            .collect();
        let leans: Vec<f64> = edges
            .iter()
            .map(|&(i, j)| {
                let (i, j) = (i as usize, j as usize);
                skin.positions[i].distance_squared(bone[j])
                    - skin.positions[j].distance_squared(bone[i])
            })
            .collect();
        Self {
            forward: leans.iter().map(|&lean| lean <= 0.0).collect(),
            length_gaps: leans.into_iter().map(f64::abs).collect(),
            edges,
            of_triangle,
            at_edge,
            triangles: skin.triangles.clone(),
        }
    }

    fn is_cyclic(&self, triangle: u32) -> bool {
        let [a, b, c] = self.of_triangle[triangle as usize]
            .map(|(edge, along)| self.forward[edge as usize] == along);
        a == b && b == c
    }

    fn break_cycles(&mut self) {
        let mut work: Vec<u32> = (0..self.triangles.len() as u32).rev().collect();
        let mut seed = 1_u32;
        // The papers' flips terminate on manifold meshes; the bound is for all others.
        for _ in 0..100 * self.triangles.len() {
            let Some(triangle) = work.pop() else { return };
            if !self.is_cyclic(triangle) {
                continue;
            }
            let mut edges = self.of_triangle[triangle as usize].map(|(edge, _)| edge as usize);
            edges.sort_by(|&x, &y| self.length_gaps[x].total_cmp(&self.length_gaps[y]));
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let any = edges[(seed >> 16) as usize % 3];
            let gentle = edges.into_iter().find(|&edge| {
                self.forward[edge] ^= true;
                let spoils = self.at_edge[edge].iter().any(|&t| self.is_cyclic(t));
                self.forward[edge] ^= true;
                !spoils
            });
            let edge = gentle.unwrap_or(any);
            self.forward[edge] ^= true;
            work.extend(self.at_edge[edge].iter().rev());
        }
    }

    /// Vertices by their number of outgoing arrows: two, one, none. A remaining cycle is cut at its first vertex, which
    /// leaves a gap.
    fn orders(&self) -> Vec<[u32; 3]> {
        let arrow = |i: u32, j: u32| {
            let edge = self.edges.partition_point(|&e| e < (i.min(j), i.max(j)));
            self.forward[edge] == (i < j)
        };
        self.triangles
            .iter()
            .map(|&triangle| {
                let mut order = triangle;
                let leaving = |v: u32| triangle.iter().filter(|&&w| w != v && arrow(v, w)).count();
                order.sort_by_key(|&v| std::cmp::Reverse(leaving(v)));
                order
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::construction::rest_skin::tests::sphere;
    use std::collections::BTreeMap;
    use supple_geom::tet_mesh::determinant;

    fn prism_positions() -> (
        Vec<DVec3>,
        Vec<[u32; 4]>,
        crate::construction::rest_skin::RestSkin,
    ) {
        let skin = sphere(2);
        let inner: Vec<DVec3> = skin.positions.iter().map(|&p| 0.4 * p).collect();
        let orders = split_orders(&skin, &inner);
        let tets = split_prisms(&skin.triangles, &orders, skin.len());
        (
            skin.positions.iter().copied().chain(inner).collect(),
            tets,
            skin,
        )
    }

    #[test]
    fn tets_fill_the_space_between_the_surfaces() {
        let (positions, tets, skin) = prism_positions();
        let volumes: Vec<f64> = tets
            .iter()
            .map(|t| determinant(t.map(|v| positions[v as usize])) / 6.0)
            .collect();
        assert!(volumes.iter().all(|&v| v > 0.0));
        let expected = skin.volume() * (1.0 - 0.4_f64.powi(3));
        assert!((volumes.iter().sum::<f64>() - expected).abs() < 1e-12);
    }

    /// Conforming: every face belongs to two tets, or to one and lies wholly on the skin or the bone surface.
    #[test]
    fn faces_match() {
        let (_, tets, skin) = prism_positions();
        let mut faces = BTreeMap::new();
        for [a, b, c, d] in tets {
            for mut face in [[a, b, c], [a, b, d], [a, c, d], [b, c, d]] {
                face.sort_unstable();
                *faces.entry(face).or_insert(0) += 1;
            }
        }
        let count = skin.len() as u32;
        for (face, times) in faces {
            let layer = face.iter().filter(|&&v| v < count).count();
            assert_eq!(times, if layer == 0 || layer == 3 { 1 } else { 2 });
        }
    }
}
