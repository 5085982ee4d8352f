//! Pairs of triangles of one mesh that cross each other.

use glam::DVec3;
use rayon::prelude::*;

use super::Bvh;
use crate::aabb::Aabb;

impl Bvh {
    /// Pairs of triangles that cross and have no vertex in common, each once, ascending. Triangles that merely touch, and
    /// those in one plane, do not count. Only pairs with at least one triangle of which `is_wanted` holds are looked for.
    pub fn crossings(&self, is_wanted: impl Fn(u32) -> bool + Sync) -> Vec<[u32; 2]> {
        let mut pairs: Vec<[u32; 2]> = (0..self.order.len())
            .into_par_iter()
            .filter(|&slot| is_wanted(self.order[slot]))
            .flat_map_iter(|slot| self.crossings_of(slot, &is_wanted))
            .collect();
        pairs.par_sort_unstable();
        pairs
    }

    fn crossings_of(&self, slot: usize, is_wanted: &impl Fn(u32) -> bool) -> Vec<[u32; 2]> {
        let own = self.corners_of(slot);
        let bounds = Aabb::of_points(self.corners[slot]);
        let triangle = self.order[slot];
        let mut found = Vec::new();
        let mut stack = vec![0u32];
        while let Some(n) = stack.pop() {
            let node = &self.nodes[n as usize];
            if !node.bounds.overlaps(&bounds) {
                continue;
            }
            if node.count == 0 {
                stack.extend([node.first, node.first + 1]);
                continue;
            }
            for other in node.slots() {
                let second = self.order[other];
                // A pair of two wanted triangles is found from its smaller one.
                let is_other_turn = second == triangle || second < triangle && is_wanted(second);
                let shares = self.indices[slot]
                    .iter()
                    .any(|v| self.indices[other].contains(v));
                if !is_other_turn && !shares && do_cross(own, self.corners_of(other)) {
                    found.push([triangle.min(second), triangle.max(second)]);
                }
            }
        }
        found
    }
}

/// Whether an edge of one triangle passes through the inside of the other.
fn do_cross(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let through = |edges: [DVec3; 3], face: [DVec3; 3]| {
        (0..3).any(|k| passes(edges[k], edges[(k + 1) % 3], face))
    };
    through(a, b) || through(b, a)
}

/// Whether a segment passes through the inside of a triangle.
fn passes(p: DVec3, q: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    let volume = |u: DVec3, v: DVec3, w: DVec3| (u - p).dot((v - p).cross(w - p));
    let normal = (b - a).cross(c - a);
    let (above, below) = (normal.dot(p - a), normal.dot(q - a));
    if above * below >= 0.0 {
        return false;
    }
    let sides = [volume(a, b, q), volume(b, c, q), volume(c, a, q)];
    sides.iter().all(|s| *s > 0.0) || sides.iter().all(|s| *s < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TriMesh;
    use crate::shapes::icosphere;
    use glam::Vec3;

    #[test]
    fn balls_apart_do_not_cross_and_balls_in_each_other_do() {
        let pair = |distance: f32| {
            let ball = icosphere(0.1, 3);
            let mut other = ball.clone();
            other.positions.iter_mut().for_each(|p| p.x += distance);
            TriMesh::merged([&ball, &other])
        };
        assert!(Bvh::new(&pair(0.21)).crossings(|_| true).is_empty());
        let mesh = pair(0.15);
        let found = Bvh::new(&mesh).crossings(|_| true);
        // A circle of radius sqrt(0.1² − 0.075²), through triangles of about 12 mm.
        assert!((60..400).contains(&found.len()), "{}", found.len());
        let half = mesh.triangles.len() as u32 / 2;
        assert!(found.iter().all(|[a, b]| *a < half && *b >= half));
        // The circle's plane lies halfway.
        for t in found.iter().flatten() {
            let middle: Vec3 = mesh.corners(*t as usize).iter().sum::<Vec3>() / 3.0;
            assert!((middle.x - 0.075).abs() < 0.02);
        }
        let first_only = Bvh::new(&mesh).crossings(|t| t < half);
        assert_eq!(first_only, found);
    }

    #[test]
    fn a_fold_through_itself_is_found() {
        let mut mesh = icosphere(0.1, 3);
        assert!(Bvh::new(&mesh).crossings(|_| true).is_empty());
        for p in &mut mesh.positions {
            if p.y > 0.08 {
                p.y -= 0.22;
            }
        }
        assert!(Bvh::new(&mesh).crossings(|_| true).len() > 10);
    }
}
