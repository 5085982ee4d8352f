//! Face and vertex normals.

use glam::{DVec3, Vec3};

use crate::mesh::{TriMesh, area_vector};

/// Unit normal of every triangle; zero for degenerate ones.
pub fn face_normals(mesh: &TriMesh) -> Vec<Vec3> {
    (0..mesh.triangles.len())
        .map(|t| finite_or_zero(mesh.area_vector(t)).as_vec3())
        .collect()
}

/// Unit normal of every vertex: the triangles' normals weighted by their angle at the vertex (Thürmer and Wüthrich
/// 1998, "Computing vertex normals from polygonal facets"), which does not depend on how the surface is cut into
/// triangles.
///
/// Without a defined normal (no triangles, only degenerate ones, opposite faces that cancel) it is Y, since files and
/// shaders expect unit vectors.
pub fn vertex_normals(mesh: &TriMesh) -> Vec<Vec3> {
    let mut sums = vec![DVec3::ZERO; mesh.positions.len()];
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let corners = mesh.corners(t).map(|p| p.as_dvec3());
        let normal = finite_or_zero(area_vector(corners));
        let angles = corner_angles(corners);
        for k in (0..3).filter(|_| normal != DVec3::ZERO) {
            sums[triangle[k] as usize] += angles[k] * normal;
        }
    }
    sums.into_iter().map(unit_or_y).collect()
}

/// Angle at each corner of a triangle \[rad\]; by atan2, which is exact for needles as well.
pub fn corner_angles([a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let angle = |u: DVec3, v: DVec3| u.cross(v).length().atan2(u.dot(v));
    [
        angle(b - a, c - a),
        angle(c - b, a - b),
        angle(a - c, b - c),
    ]
}

fn finite_or_zero(area_vector: DVec3) -> DVec3 {
    area_vector.try_normalize().unwrap_or(DVec3::ZERO)
}

fn unit_or_y(sum: DVec3) -> Vec3 {
    // Unit normals can cancel to rounding noise, which has no direction.
    if sum.length() > 1e-9 {
        sum.normalize().as_vec3()
    } else {
        Vec3::Y
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn box_corners_point_along_the_diagonal_whatever_the_triangulation() {
        let mesh = shapes::cuboid(Vec3::ONE, 1);
        for (p, n) in mesh.positions.iter().zip(vertex_normals(&mesh)) {
            assert!(n.distance(p.normalize()) < 1e-6);
        }
    }

    #[test]
    fn sphere_normals_are_radial() {
        let mesh = shapes::icosphere(2.0, 3);
        for (p, n) in mesh.positions.iter().zip(vertex_normals(&mesh)) {
            assert!(n.distance(*p * 0.5) < 0.01);
            assert!((n.length() - 1.0).abs() < 1e-6);
        }
        for (t, n) in face_normals(&mesh).into_iter().enumerate() {
            assert!(n.dot(mesh.corners(t)[0]) > 1.9);
        }
    }

    #[test]
    fn nothing_gives_nan() {
        let mesh = TriMesh {
            positions: vec![
                Vec3::ZERO,
                Vec3::X,
                Vec3::X * 2.0,
                Vec3::NAN,
                Vec3::Y,
                Vec3::MAX,
                Vec3::X * 1e-38,
            ],
            triangles: vec![
                [0, 1, 2],
                [0, 1, 3],
                [0, 0, 0],
                [0, 1, 4],
                [1, 0, 4],
                [0, 5, 1],
                [0, 6, 4],
            ],
        };
        assert!(
            vertex_normals(&mesh)
                .iter()
                .all(|n| (n.length() - 1.0).abs() < 1e-6)
        );
        assert!(face_normals(&mesh).iter().all(|n| n.is_finite()));
    }

    #[test]
    fn angles_sum_to_pi() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::new(0.3, 1e-9, 0.2)];
        let sum: f64 = corner_angles(corners).iter().sum();
        assert!((sum - std::f64::consts::PI).abs() < 1e-12);
    }
}
