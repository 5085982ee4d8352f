//! The point of a mesh closest to a given point.

use glam::{DVec3, Vec3};

use super::{Bvh, Stack};

/// The nearest point of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoint {
    /// Its position \[m\].
    pub position: Vec3,
    /// Its triangle; the smallest index in case of a tie.
    pub triangle: u32,
    /// Weights of the triangle's corners, not negative, with sum 1.
    pub barycentric: [f32; 3],
    /// Its distance \[m\].
    pub distance: f32,
}

impl Bvh {
    /// The closest point of the mesh; none if there are no triangles or the point is not finite.
    pub fn closest_point(&self, point: Vec3) -> Option<ClosestPoint> {
        self.closest_point_within(point, f32::INFINITY)
    }

    /// The closest point of the mesh no further than `reach` \[m\].
    pub fn closest_point_within(&self, point: Vec3, reach: f32) -> Option<ClosestPoint> {
        if self.is_empty() || !point.is_finite() || reach.is_nan() || reach < 0.0 {
            return None;
        }
        let p = point.as_dvec3();
        let mut best = Best {
            squared: f64::from(reach).powi(2),
            ..Best::default()
        };
        let mut stack = Stack::new();
        stack.push(self.nodes[0].bounds.distance_squared(point), 0);
        while let Some((squared, n)) = stack.pop() {
            if squared > best.squared || squared == f64::INFINITY {
                continue;
            }
            let node = &self.nodes[n as usize];
            if node.count > 0 {
                node.slots().for_each(|slot| best.offer(self, slot, p));
                continue;
            }
            let child = |n: u32| (self.nodes[n as usize].bounds.distance_squared(point), n);
            let (a, b) = (child(node.first), child(node.first + 1));
            let (near, far) = if a.0 <= b.0 { (a, b) } else { (b, a) };
            stack.push(far.0, far.1);
            stack.push(near.0, near.1);
        }
        best.found
    }
}

#[derive(Default)]
struct Best {
    squared: f64,
    found: Option<ClosestPoint>,
}

impl Best {
    fn offer(&mut self, bvh: &Bvh, slot: usize, p: DVec3) {
        let corners = bvh.corners_of(slot);
        let weights = closest_on_triangle(p, corners);
        let position = weights[0] * corners[0] + weights[1] * corners[1] + weights[2] * corners[2];
        let squared = position.distance_squared(p);
        let triangle = bvh.order[slot];
        let tie =
            squared == self.squared && self.found.is_none_or(|found| triangle < found.triangle);
        if squared < self.squared || tie {
            self.squared = squared;
            self.found = Some(ClosestPoint {
                position: position.as_vec3(),
                triangle,
                barycentric: weights.map(|w| w as f32),
                distance: squared.sqrt() as f32,
            });
        }
    }
}

/// Barycentric weights of the point of a triangle closest to `p` (Ericson 2005, *Real-Time Collision Detection*, 5.1.5);
/// degenerate triangles are treated as the segment or point they are.
pub fn closest_on_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (ab.dot(p - b), ac.dot(p - b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let (d5, d6) = (ab.dot(p - c), ac.dot(p - c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    if va > 0.0 && vb > 0.0 && vc > 0.0 {
        let sum = va + vb + vc;
        return [va / sum, vb / sum, vc / sum];
    }
    closest_on_sides(p, [a, b, c])
}

/// The closest of the three sides: exact where the face test is undecided, as on needles.
fn closest_on_sides(p: DVec3, corners: [DVec3; 3]) -> [f64; 3] {
    let mut best = (f64::INFINITY, [1.0, 0.0, 0.0]);
    for k in 0..3 {
        let (i, j) = (k, (k + 1) % 3);
        let side = corners[j] - corners[i];
        let along = (p - corners[i]).dot(side) / side.length_squared().max(f64::MIN_POSITIVE);
        let along = along.clamp(0.0, 1.0);
        let squared = (corners[i] + along * side).distance_squared(p);
        if squared < best.0 {
            let mut weights = [0.0; 3];
            weights[i] = 1.0 - along;
            weights[j] = along;
            best = (squared, weights);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TriMesh, random::Random, shapes};

    fn brute_force(mesh: &TriMesh, p: Vec3) -> f64 {
        let distance = |t| {
            let corners = mesh.corners(t).map(|c| c.as_dvec3());
            let w = closest_on_triangle(p.as_dvec3(), corners);
            (w[0] * corners[0] + w[1] * corners[1] + w[2] * corners[2]).distance(p.as_dvec3())
        };
        (0..mesh.triangles.len())
            .map(distance)
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn equals_brute_force_on_random_points() {
        let mesh = shapes::t_shape(0.1, 0.5, 6);
        let bvh = Bvh::new(&mesh);
        let mut random = Random::new(5);
        for _ in 0..500 {
            let p = random.in_cube(1.0);
            let found = bvh.closest_point(p).expect("the mesh is not empty");
            assert!((f64::from(found.distance) - brute_force(&mesh, p)).abs() < 1e-6);
            let [a, b, c] = mesh.corners(found.triangle as usize);
            let [u, v, w] = found.barycentric;
            assert!((u * a + v * b + w * c).distance(found.position) < 1e-6);
            assert!(u >= 0.0 && v >= 0.0 && w >= 0.0);
            let reach = found.distance;
            assert!(bvh.closest_point_within(p, reach * 1.001).is_some());
            assert!(bvh.closest_point_within(p, reach * 0.999).is_none());
        }
    }

    #[test]
    fn triangle_weights_equal_dense_sampling() {
        let mut random = Random::new(9);
        for _ in 0..100 {
            let corners = [0; 3].map(|_| random.in_cube(1.0).as_dvec3());
            let p = random.in_cube(2.0).as_dvec3();
            let at = |w: [f64; 3]| w[0] * corners[0] + w[1] * corners[1] + w[2] * corners[2];
            let closest = at(closest_on_triangle(p, corners)).distance(p);
            let n = 60;
            for (i, j) in (0..=n).flat_map(|i| (0..=n - i).map(move |j| (i, j))) {
                let (u, v) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                assert!(at([u, v, 1.0 - u - v]).distance(p) > closest - 1e-9);
            }
        }
    }

    #[test]
    fn distance_to_a_box_is_closed_form() {
        let bvh = Bvh::new(&shapes::cuboid(Vec3::ONE, 2));
        let distance = |p| bvh.closest_point(p).map(|c| c.distance);
        assert_eq!(distance(Vec3::ZERO), Some(0.5));
        assert_eq!(distance(Vec3::new(3.5, 0.1, 0.2)), Some(3.0));
        assert_eq!(distance(Vec3::new(3.5, 4.5, 0.2)), Some(5.0));
        assert_eq!(distance(Vec3::NAN), None);
    }

    #[test]
    fn degenerate_triangles_are_segments_and_points() {
        let p = DVec3::new(0.5, 1.0, 0.0);
        let at = |c: [DVec3; 3]| {
            let w = closest_on_triangle(p, c);
            w[0] * c[0] + w[1] * c[1] + w[2] * c[2]
        };
        let on_segment = at([DVec3::ZERO, DVec3::X, DVec3::X * 2.0]);
        assert!(on_segment.distance(DVec3::X * 0.5) < 1e-12);
        assert_eq!(at([DVec3::X; 3]), DVec3::X);
    }
}
