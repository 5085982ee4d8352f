//! A triangle surface with queries: closest point, inside or outside, ray intersections.
//!
//! All spatial queries on a mesh use this type. Meshes may be open, overlap themselves and have degenerate triangles;
//! triangles with corners that are not finite are never found. No result contains a number that is not finite.

use glam::Vec3;

use crate::aabb::Aabb;
use crate::bvh::Bvh;
use crate::mesh::TriMesh;

pub use crate::bvh::{ClosestPoint, Ray, RayHit, closest_on_triangle};

/// A mesh and a tree over its triangles.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    mesh: TriMesh,
    tree: Bvh,
}

impl Surface {
    /// Builds the tree over a mesh whose indices are in range.
    pub fn new(mesh: TriMesh) -> Self {
        Self {
            tree: Bvh::new(&mesh),
            mesh,
        }
    }

    /// The mesh.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Whether there is no triangle.
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// The box around all triangles.
    pub fn bounds(&self) -> Aabb {
        self.tree.bounds()
    }

    /// Moves the vertices on the same triangles, which is faster than a new build. Queries stay exact; they slow down
    /// as the shape departs from the one the tree was built for.
    ///
    /// # Panics
    /// If there are fewer positions than before.
    pub fn refit(&mut self, positions: Vec<Vec3>) {
        self.tree.refit(&positions);
        self.mesh.positions = positions;
    }

    /// The closest point of the surface; none if there are no triangles or the point is not finite.
    pub fn closest_point(&self, point: Vec3) -> Option<ClosestPoint> {
        self.tree.closest_point(point)
    }

    /// The closest point of the surface no further than `reach` \[m\].
    pub fn closest_point_within(&self, point: Vec3, reach: f32) -> Option<ClosestPoint> {
        self.tree.closest_point_within(point, reach)
    }

    /// The generalised winding number around a point, far parts approximated (error below about 0.01): 1 inside and 0 outside of
    /// closed surfaces, in between near holes. Zero for points that are not finite.
    pub fn winding_number(&self, point: Vec3) -> f64 {
        self.tree.winding_number(point)
    }

    /// Whether a point is inside: winding number above ½.
    pub fn contains(&self, point: Vec3) -> bool {
        self.tree.is_inside(point)
    }

    /// Distance to the surface \[m\], negative inside; none if there are no triangles or the point is not finite.
    pub fn signed_distance(&self, point: Vec3) -> Option<f32> {
        self.tree.signed_distance(point)
    }

    /// The first intersection of a ray with the surface up to `t_max`, from either side.
    pub fn first_hit(&self, ray: Ray, t_max: f32) -> Option<RayHit> {
        self.tree.first_hit(ray, t_max)
    }

    /// Whether a ray hits the surface up to `t_max`.
    pub fn any_hit(&self, ray: Ray, t_max: f32) -> bool {
        self.tree.any_hit(ray, t_max)
    }

    /// All intersections of a ray with the surface up to `t_max`, nearest first.
    pub fn all_hits(&self, ray: Ray, t_max: f32) -> Vec<RayHit> {
        self.tree.all_hits(ray, t_max)
    }

    /// Pairs of triangles that cross and have no vertex in common, ascending; those with at least one wanted triangle.
    pub fn crossings(&self, is_wanted: impl Fn(u32) -> bool + Sync) -> Vec<[u32; 2]> {
        self.tree.crossings(is_wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{random::Random, shapes};
    use glam::DVec3;

    /// A torn shape with needles, degenerate, duplicate and infinite triangles.
    fn messy() -> TriMesh {
        let mut mesh = shapes::t_shape(0.2, 0.6, 8);
        let mut random = Random::new(5);
        mesh.triangles.retain(|_| random.signed() > -0.6);
        let first = mesh.positions.len() as u32;
        mesh.positions.extend([
            Vec3::new(0.5, 0.5, 0.5),
            Vec3::new(0.9, 0.5, 0.5),
            Vec3::new(0.7, 0.5 + 1e-7, 0.5),
            Vec3::NAN,
            Vec3::new(f32::INFINITY, 0.0, 0.0),
        ]);
        let [a, b, c, nan, infinite] = [0, 1, 2, 3, 4].map(|k| first + k);
        mesh.triangles.extend([[a, b, c], [a, b, a], [c, c, c]]);
        mesh.triangles
            .extend([[a, b, nan], [infinite, b, c], [nan; 3]]);
        mesh.triangles.extend_from_within(..20);
        mesh
    }

    fn finite_triangles(mesh: &TriMesh) -> impl Iterator<Item = [DVec3; 3]> + '_ {
        let all = (0..mesh.triangles.len()).map(|t| mesh.corners(t).map(|p| p.as_dvec3()));
        all.filter(|corners| corners.iter().all(|p| p.is_finite()))
    }

    /// Independent of Ericson's case analysis, which is under test: projects onto the plane and the three edges.
    fn distance(p: DVec3, corners: [DVec3; 3]) -> f64 {
        let to_segment = |a: DVec3, b: DVec3| {
            let along = b - a;
            let t = (p - a).dot(along) / along.length_squared();
            let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
            p.distance(a + t * along)
        };
        let [a, b, c] = corners;
        let edges = to_segment(a, b).min(to_segment(b, c)).min(to_segment(c, a));
        let normal = (b - a).cross(c - a);
        let height = (p - a).dot(normal) / normal.length();
        let foot = p - normal * (height / normal.length());
        let side = |u: DVec3, v: DVec3| (v - u).cross(foot - u).dot(normal) >= 0.0;
        if side(a, b) && side(b, c) && side(c, a) {
            edges.min(height.abs())
        } else {
            edges
        }
    }

    /// Solid angle by l'Huilier's theorem, signed by the side.
    fn solid_angle(corners: [DVec3; 3], p: DVec3) -> f64 {
        let [a, b, c] = corners.map(|q| (q - p).normalize());
        let side = |u: DVec3, v: DVec3| 2.0 * (0.5 * u.distance(v)).asin();
        let (x, y, z) = (side(b, c), side(c, a), side(a, b));
        let s = 0.5 * (x + y + z);
        let product = [s, s - x, s - y, s - z].map(|e| (0.5 * e).tan());
        let angle = 4.0 * product.iter().product::<f64>().max(0.0).sqrt().atan();
        angle * a.dot(b.cross(c)).signum()
    }

    #[test]
    fn queries_match_brute_force() {
        let surface = Surface::new(messy());
        let mesh = surface.mesh();
        let mut random = Random::new(9);
        let (mut inside, mut hits) = (0, 0);
        for _ in 0..300 {
            let point = random.in_cube(1.0);
            let p = point.as_dvec3();
            let nearest = finite_triangles(mesh)
                .map(|corners| distance(p, corners))
                .fold(f64::INFINITY, f64::min);
            let found = surface.closest_point(point).unwrap();
            assert!((f64::from(found.distance) - nearest).abs() < 1e-6);
            assert!((found.position.distance(point) - found.distance).abs() < 1e-6);
            let near = surface.closest_point_within(point, 0.9 * found.distance);
            assert!(near.is_none());

            let winding = finite_triangles(mesh)
                .map(|corners| solid_angle(corners, p))
                .filter(|angle| angle.is_finite())
                .sum::<f64>()
                / (4.0 * std::f64::consts::PI);
            let fast = surface.winding_number(point);
            assert!((fast - winding).abs() < 0.02, "{fast} {winding}");
            assert_eq!(surface.contains(point), fast > 0.5);
            inside += usize::from(fast > 0.5);

            let ray = Ray {
                origin: point,
                direction: random.in_cube(1.0) - point,
            };
            let all = surface.all_hits(ray, 1.0);
            assert_eq!(surface.first_hit(ray, 1.0), all.first().copied());
            assert_eq!(surface.any_hit(ray, 1.0), !all.is_empty());
            for hit in &all {
                let at = ray.origin + hit.t * ray.direction;
                let corners = mesh.corners(hit.triangle as usize).map(|p| p.as_dvec3());
                assert!(distance(at.as_dvec3(), corners) < 1e-6);
            }
            hits += all.len();
        }
        assert!(inside > 0 && hits > 50, "{inside} {hits}");
    }

    #[test]
    fn results_are_finite() {
        let surface = Surface::new(messy());
        let senseless = [Vec3::NAN, Vec3::INFINITY, Vec3::new(0.0, f32::NAN, 0.0)];
        for point in senseless {
            assert!(surface.closest_point(point).is_none());
            assert!(surface.signed_distance(point).is_none());
            assert_eq!(surface.winding_number(point), 0.0);
        }
        // On vertices, edges and in degenerate triangles directions are not defined.
        let on = (surface.mesh().positions.iter())
            .filter(|p| p.is_finite())
            .flat_map(|&p| [p, p + Vec3::X * 1e-30, 1e18 * p]);
        for point in on {
            let found = surface.closest_point(point).unwrap();
            let weights = found.barycentric;
            assert!(found.position.is_finite() && weights.iter().all(|w| w.is_finite()));
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(surface.winding_number(point).is_finite());
        }
        let nothing = Surface::new(TriMesh::default());
        assert!(nothing.is_empty() && nothing.closest_point(Vec3::ZERO).is_none());
        assert!(!nothing.contains(Vec3::ZERO));
    }

    #[test]
    fn a_moved_surface_matches_a_new_one() {
        let mesh = messy();
        let mut surface = Surface::new(mesh.clone());
        let bend = |p: &Vec3| Vec3::new(p.x + p.y * p.y, p.y, 2.0 * p.z);
        let moved: Vec<Vec3> = mesh.positions.iter().map(bend).collect();
        surface.refit(moved.clone());
        let fresh = Surface::new(TriMesh {
            positions: moved,
            ..mesh
        });
        let mut random = Random::new(1);
        for _ in 0..200 {
            let p = random.in_cube(1.0);
            let distance = |s: &Surface| s.closest_point(p).map(|c| c.distance);
            assert_eq!(distance(&surface), distance(&fresh));
        }
        assert_eq!(surface.bounds(), fresh.bounds());
    }
}
