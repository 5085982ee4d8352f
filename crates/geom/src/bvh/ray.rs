//! Intersections of rays with a mesh.
//!
//! Triangles are tested watertight (Woop, Benthin and Wald 2013, "Watertight ray/triangle intersection"): a ray never
//! slips between two triangles that share an edge.

use glam::{DVec3, Vec3};

use super::{Bvh, Node, Stack};

/// A half line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Origin \[m\].
    pub origin: Vec3,
    /// Direction; of any length but zero.
    pub direction: Vec3,
}

/// Intersection of a ray with a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// The triangle; the smallest index in case of a tie.
    pub triangle: u32,
    /// Ray parameter, in lengths of the direction.
    pub t: f32,
    /// Weights of the triangle's corners, with sum 1.
    pub barycentric: [f32; 3],
    /// Whether the ray hits the outside of the triangle.
    pub front: bool,
}

impl Bvh {
    /// The first triangle that the ray hits with `0 ≤ t ≤ t_max`.
    pub fn first_hit(&self, ray: Ray, t_max: f32) -> Option<RayHit> {
        let mut first: Option<(f64, RayHit)> = None;
        self.visit(ray, t_max, |t, hit| {
            let nearer = |(best, found): (f64, RayHit)| {
                t < best || t == best && hit.triangle < found.triangle
            };
            if first.is_none_or(nearer) {
                first = Some((t, hit));
            }
            first.map_or(t, |(best, _)| best)
        });
        first.map(|(_, hit)| hit)
    }

    /// Whether the ray hits any triangle with `0 ≤ t ≤ t_max`; cheaper than the first hit.
    pub fn any_hit(&self, ray: Ray, t_max: f32) -> bool {
        let mut any = false;
        self.visit(ray, t_max, |_, _| {
            any = true;
            f64::NEG_INFINITY
        });
        any
    }

    /// All triangles that the ray hits with `0 ≤ t ≤ t_max`, sorted by distance, then index. A ray through a shared
    /// edge may hit both triangles.
    pub fn all_hits(&self, ray: Ray, t_max: f32) -> Vec<RayHit> {
        let mut hits = Vec::new();
        self.visit(ray, t_max, |t, hit| {
            hits.push((t, hit));
            f64::from(t_max)
        });
        hits.sort_by(|(t, a), (s, b)| t.total_cmp(s).then(a.triangle.cmp(&b.triangle)));
        hits.into_iter().map(|(_, hit)| hit).collect()
    }

    /// Calls `found` with every hit, nearer boxes first; it returns the distance up to which to continue.
    fn visit(&self, ray: Ray, t_max: f32, mut found: impl FnMut(f64, RayHit) -> f64) {
        let Some(ray) = Sheared::new(ray).filter(|_| !self.is_empty() && t_max >= 0.0) else {
            return;
        };
        let mut reach = f64::from(t_max);
        let mut stack = Stack::new();
        stack.extend(ray.enter(&self.nodes[0], reach), 0);
        while let Some((t, n)) = stack.pop() {
            if t > reach {
                continue;
            }
            let node = &self.nodes[n as usize];
            for slot in node.slots() {
                if let Some((t, barycentric, front)) = ray
                    .meet(self.corners_of(slot))
                    .filter(|(t, ..)| *t <= reach)
                {
                    let hit = RayHit {
                        triangle: self.order[slot],
                        t: t as f32,
                        barycentric: barycentric.map(|w| w as f32),
                        front,
                    };
                    reach = found(t, hit);
                }
            }
            if node.count == 0 {
                let children = [node.first, node.first + 1];
                let [a, b] = children.map(|n| ray.enter(&self.nodes[n as usize], reach));
                let a_first = a.unwrap_or(f64::INFINITY) <= b.unwrap_or(f64::INFINITY);
                let order = if a_first {
                    [(b, 1), (a, 0)]
                } else {
                    [(a, 0), (b, 1)]
                };
                order
                    .into_iter()
                    .for_each(|(t, k)| stack.extend(t, children[k]));
            }
        }
    }
}

impl Stack {
    fn extend(&mut self, distance: Option<f64>, node: u32) {
        if let Some(distance) = distance {
            self.push(distance, node);
        }
    }
}

/// A ray with the shear that turns its direction into the unit vector of its largest axis.
struct Sheared {
    origin: DVec3,
    direction: DVec3,
    axes: [usize; 3],
    shear: [f64; 3],
}

impl Sheared {
    fn new(ray: Ray) -> Option<Self> {
        let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
        if !origin.is_finite() || !direction.is_finite() || direction == DVec3::ZERO {
            return None;
        }
        let z = direction.abs().max_position();
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if direction[z] < 0.0 {
            // Keeps the winding of triangles as seen along the ray.
            (x, y) = (y, x);
        }
        Some(Self {
            origin,
            direction,
            axes: [x, y, z],
            shear: [
                direction[x] / direction[z],
                direction[y] / direction[z],
                1.0 / direction[z],
            ],
        })
    }

    /// Distance at which the ray enters a box, if before `reach`.
    fn enter(&self, node: &Node, reach: f64) -> Option<f64> {
        let (min, max) = (node.bounds.min.as_dvec3(), node.bounds.max.as_dvec3());
        let (mut near, mut far) = (0.0f64, reach);
        for k in 0..3 {
            let (low, high) = (min[k] - self.origin[k], max[k] - self.origin[k]);
            if self.direction[k] == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return None;
                }
                continue;
            }
            let (a, b) = (low / self.direction[k], high / self.direction[k]);
            // A few roundings wide, so that a flat box is not missed.
            near = near.max(a.min(b) * (1.0 - 1e-14 * a.min(b).signum()));
            far = far.min(a.max(b) * (1.0 + 1e-14 * a.max(b).signum()));
        }
        (near <= far && !node.bounds.is_empty()).then_some(near)
    }

    /// Intersection with a triangle: t, barycentric weights, and whether from outside.
    fn meet(&self, corners: [DVec3; 3]) -> Option<(f64, [f64; 3], bool)> {
        let [x, y, z] = self.axes;
        let [a, b, c] = corners.map(|p| {
            let p = p - self.origin;
            DVec3::new(
                p[x] - self.shear[0] * p[z],
                p[y] - self.shear[1] * p[z],
                self.shear[2] * p[z],
            )
        });
        let u = c.x * b.y - c.y * b.x;
        let v = a.x * c.y - a.y * c.x;
        let w = b.x * a.y - b.y * a.x;
        let negative = u < 0.0 || v < 0.0 || w < 0.0;
        let positive = u > 0.0 || v > 0.0 || w > 0.0;
        let sum = u + v + w;
        if negative && positive || sum == 0.0 || !sum.is_finite() {
            return None;
        }
        let weights = [u / sum, v / sum, w / sum];
        let t = weights[0] * a.z + weights[1] * b.z + weights[2] * c.z;
        (t >= 0.0).then_some((t, weights, sum > 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TriMesh, random::Random, shapes};

    /// Möller and Trumbore 1997, as an independent check.
    fn moeller_trumbore(ray: Ray, [a, b, c]: [DVec3; 3]) -> Option<f64> {
        let (o, d) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
        let (e1, e2) = (b - a, c - a);
        let p = d.cross(e2);
        let det = e1.dot(p);
        let s = o - a;
        let (u, q) = (s.dot(p) / det, s.cross(e1));
        let (v, t) = (d.dot(q) / det, e2.dot(q) / det);
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t >= 0.0).then_some(t)
    }

    fn brute_force(mesh: &TriMesh, ray: Ray) -> Vec<f64> {
        let meet = |t| moeller_trumbore(ray, mesh.corners(t).map(|p| p.as_dvec3()));
        let mut hits: Vec<f64> = (0..mesh.triangles.len()).filter_map(meet).collect();
        hits.sort_by(f64::total_cmp);
        hits
    }

    #[test]
    fn equals_brute_force_on_random_rays() {
        let mesh = shapes::t_shape(0.15, 0.5, 6);
        let bvh = Bvh::new(&mesh);
        let mut random = Random::new(2);
        let mut total = 0;
        for _ in 0..500 {
            let origin = random.in_cube(1.0);
            let direction = random.in_cube(0.3) - origin;
            let ray = Ray { origin, direction };
            let (expected, hits) = (brute_force(&mesh, ray), bvh.all_hits(ray, f32::INFINITY));
            assert_eq!(hits.len(), expected.len());
            assert!(
                hits.iter()
                    .zip(&expected)
                    .all(|(h, t)| (f64::from(h.t) - t).abs() < 1e-5)
            );
            assert_eq!(bvh.first_hit(ray, f32::INFINITY), hits.first().copied());
            assert_eq!(bvh.any_hit(ray, f32::INFINITY), !hits.is_empty());
            for hit in &hits {
                let normal = mesh.triangle_normal(hit.triangle as usize);
                assert_eq!(hit.front, normal.dot(ray.direction) < 0.0);
                let [a, b, c] = mesh.corners(hit.triangle as usize);
                let [u, v, w] = hit.barycentric;
                let at = ray.origin + hit.t * ray.direction;
                assert!((u * a + v * b + w * c).distance(at) < 1e-5);
            }
            total += hits.len();
        }
        assert!(total > 100);
    }

    #[test]
    fn never_slips_through_edges_and_vertices() {
        let mesh = shapes::icosphere(1.0, 3);
        let bvh = Bvh::new(&mesh);
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = mesh.corners(t);
            let targets = [a, (a + b) * 0.5, (b + c) * 0.5, a + (c - a) * 0.3];
            for target in targets {
                let ray = Ray {
                    origin: Vec3::new(0.01, -0.02, 0.03),
                    direction: target - Vec3::new(0.01, -0.02, 0.03),
                };
                assert!(bvh.any_hit(ray, f32::INFINITY), "triangle {triangle:?}");
            }
        }
    }

    #[test]
    fn axis_rays_lie_in_the_sides_of_boxes() {
        let bvh = Bvh::new(&shapes::plane_grid(glam::Vec2::ONE, 8, 8));
        let down = |x: f32, z: f32| Ray {
            origin: Vec3::new(x, 2.0, z),
            direction: Vec3::NEG_Y,
        };
        for (x, z) in [(0.0, 0.0), (0.25, 0.5), (-0.5, -0.5), (0.1, 0.2)] {
            let hit = bvh.first_hit(down(x, z), 3.0);
            assert!(hit.is_some_and(|h| (h.t - 2.0).abs() < 1e-6 && h.front));
            assert!(!bvh.any_hit(down(x, z), 1.9));
        }
        assert!(!bvh.any_hit(down(0.51, 0.0), 3.0));
    }

    #[test]
    fn invalid_rays_hit_nothing() {
        let bvh = Bvh::new(&shapes::cuboid(Vec3::ONE, 1));
        for (origin, direction) in [
            (Vec3::NAN, Vec3::X),
            (Vec3::ZERO, Vec3::ZERO),
            (Vec3::ZERO, Vec3::NAN),
        ] {
            assert!(
                bvh.all_hits(Ray { origin, direction }, f32::INFINITY)
                    .is_empty()
            );
        }
        let ray = Ray {
            origin: Vec3::ZERO,
            direction: Vec3::X,
        };
        assert!(bvh.first_hit(ray, f32::NAN).is_none());
        assert!(
            bvh.first_hit(ray, f32::INFINITY)
                .is_some_and(|h| !h.front && h.t == 0.5)
        );
    }
}
