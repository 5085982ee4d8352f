//! Collider shapes: signed distance, nearest point and normal, in the shape's own frame.

use std::sync::Arc;

use glam::{Vec3, Vec3A};

use super::collider_mesh::ColliderMesh;

/// A rigid solid around the origin of its own frame.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Half-space below y = 0.
    Plane,
    /// A sphere.
    Sphere {
        /// Radius \[m\].
        radius: f32,
    },
    /// A capsule along Y.
    Capsule {
        /// Radius \[m\].
        radius: f32,
        /// Distance between the centres of its end caps \[m\].
        length: f32,
    },
    /// An axis-aligned box.
    Box {
        /// Half extents \[m\].
        half: Vec3,
    },
    /// A triangle mesh.
    Mesh(Arc<ColliderMesh>),
}

/// The nearest point of a shape's surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Its position \[m\].
    pub foot: Vec3,
    /// Outward unit normal there.
    pub normal: Vec3,
    /// Distance along the normal \[m\]; negative inside.
    pub distance: f32,
}

impl PartialEq for Shape {
    /// Meshes are equal if they share their memory.
    fn eq(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Plane, Shape::Plane) => true,
            (Shape::Sphere { radius: a }, Shape::Sphere { radius: b }) => a == b,
            (
                Shape::Capsule { radius, length },
                Shape::Capsule {
                    radius: other_radius,
                    length: other_length,
                },
            ) => radius == other_radius && length == other_length,
            (Shape::Box { half: a }, Shape::Box { half: b }) => a == b,
            (Shape::Mesh(a), Shape::Mesh(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Shape {
    /// Whether all sizes are finite and not negative.
    pub fn is_sound(&self) -> bool {
        let sizes = match self {
            Shape::Plane | Shape::Mesh(_) => Vec3::ZERO,
            Shape::Sphere { radius } => Vec3::splat(*radius),
            Shape::Capsule { radius, length } => Vec3::new(*radius, *length, 0.0),
            Shape::Box { half } => *half,
        };
        sizes.is_finite() && sizes.min_element() >= 0.0
    }

    /// Centre and half extents of the bounding box; infinite for a plane.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        match self {
            Shape::Plane => (Vec3::ZERO, Vec3::INFINITY),
            Shape::Sphere { radius } => (Vec3::ZERO, Vec3::splat(*radius)),
            Shape::Capsule { radius, length } => (
                Vec3::ZERO,
                Vec3::new(*radius, radius + 0.5 * length, *radius),
            ),
            Shape::Box { half } => (Vec3::ZERO, *half),
            Shape::Mesh(mesh) => mesh.bounds(),
        }
    }

    /// The nearest surface point, at most `reach` outside. Where it is not unique (a sphere's centre), the normal is
    /// `out`, a unit vector.
    pub fn nearest(&self, point: Vec3, out: Vec3, reach: f32) -> Option<Near> {
        let near = match self {
            Shape::Plane => Near {
                foot: Vec3::new(point.x, 0.0, point.z),
                normal: Vec3::Y,
                distance: point.y,
            },
            Shape::Sphere { radius } => nearest_on_ball(point, Vec3::ZERO, *radius, out),
            Shape::Capsule { radius, length } => {
                let along = point.y.clamp(-0.5 * length, 0.5 * length);
                // Next to the axis, directions along it are never nearest.
                let across = Vec3::new(out.x, 0.0, out.z).try_normalize();
                nearest_on_ball(point, Vec3::Y * along, *radius, across.unwrap_or(Vec3::X))
            }
            Shape::Box { half } => nearest_on_box(point, *half),
            Shape::Mesh(mesh) => mesh.nearest(point, reach)?,
        };
        (near.distance <= reach).then_some(near)
    }
}

fn nearest_on_ball(point: Vec3, centre: Vec3, radius: f32, out: Vec3) -> Near {
    let away = point - centre;
    let length = away.length();
    let normal = if length > 0.0 { away / length } else { out };
    Near {
        foot: centre + normal * radius,
        normal,
        distance: length - radius,
    }
}

fn nearest_on_box(point: Vec3, half: Vec3) -> Near {
    let outside = point - point.clamp(-half, half);
    let distance = outside.length();
    if distance > 0.0 {
        return Near {
            foot: point - outside,
            normal: outside / distance,
            distance,
        };
    }
    // Inside: through the nearest face.
    let depths = Vec3A::from(half) - Vec3A::from(point).abs();
    let axis = depths.min_position();
    let mut normal = Vec3::ZERO;
    normal[axis] = if point[axis] < 0.0 { -1.0 } else { 1.0 };
    Near {
        foot: point + normal * depths[axis],
        normal,
        distance: -depths[axis],
    }
}

#[cfg(test)]
mod tests {
    use supple_geom::TriMesh;
    use supple_geom::shapes::{cuboid, icosphere, plane_grid};

    use super::*;
    use crate::conformance::Random;

    fn far(shape: &Shape, point: Vec3) -> Near {
        shape
            .nearest(point, Vec3::X, f32::INFINITY)
            .expect("nothing is too far")
    }

    #[test]
    fn distances_match_closed_forms() {
        let capsule = Shape::Capsule {
            radius: 0.2,
            length: 1.0,
        };
        let brick = Shape::Box {
            half: Vec3::new(0.3, 0.5, 0.7),
        };
        let cases = [
            (Shape::Plane, Vec3::new(3.0, -0.2, 1.0), -0.2, Vec3::Y),
            (Shape::Sphere { radius: 0.5 }, Vec3::X * 2.0, 1.5, Vec3::X),
            (
                Shape::Sphere { radius: 0.5 },
                Vec3::NEG_Y * 0.1,
                -0.4,
                Vec3::NEG_Y,
            ),
            (capsule.clone(), Vec3::new(0.5, 0.3, 0.0), 0.3, Vec3::X),
            (capsule.clone(), Vec3::new(0.0, 1.0, 0.0), 0.3, Vec3::Y),
            (capsule, Vec3::new(0.0, 0.1, 0.0), -0.2, Vec3::X),
            (brick.clone(), Vec3::new(0.0, 0.0, 1.0), 0.3, Vec3::Z),
            (brick.clone(), Vec3::new(-0.2, 0.1, 0.1), -0.1, Vec3::NEG_X),
            (
                brick,
                Vec3::new(0.6, 0.9, 0.0),
                0.5,
                Vec3::new(0.6, 0.8, 0.0),
            ),
        ];
        for (shape, point, distance, normal) in cases {
            let near = far(&shape, point);
            assert!(
                (near.distance - distance).abs() < 1e-6,
                "{shape:?} {near:?}"
            );
            assert!(near.normal.abs_diff_eq(normal, 1e-6), "{shape:?} {near:?}");
        }
    }

    /// Foot, normal and distance are consistent, and the foot is on the surface.
    #[test]
    fn every_shape_is_consistent() {
        let shapes = [
            Shape::Plane,
            Shape::Sphere { radius: 0.4 },
            Shape::Sphere { radius: 0.0 },
            Shape::Capsule {
                radius: 0.3,
                length: 0.5,
            },
            Shape::Box {
                half: Vec3::new(0.3, 0.2, 0.5),
            },
            Shape::Box {
                half: Vec3::new(0.3, 0.0, 0.5),
            },
            Shape::Mesh(ColliderMesh::new(&cuboid(Vec3::new(0.6, 0.4, 1.0), 3)).into()),
        ];
        let mut random = Random(7);
        for shape in &shapes {
            for _ in 0..500 {
                let point = random.vector();
                let near = far(shape, point);
                let back = near.foot + near.normal * near.distance;
                assert!(back.abs_diff_eq(point, 1e-5), "{shape:?} {point} {near:?}");
                assert!((near.normal.length() - 1.0).abs() < 1e-5);
                assert!(far(shape, near.foot).distance.abs() < 1e-5);
            }
        }
    }

    #[test]
    fn a_closed_mesh_matches_its_box() {
        let half = Vec3::new(0.3, 0.2, 0.5);
        let mesh = Shape::Mesh(ColliderMesh::new(&cuboid(2.0 * half, 4)).into());
        let brick = Shape::Box { half };
        let mut random = Random(3);
        for _ in 0..500 {
            let point = 0.8 * random.vector();
            let (a, b) = (far(&mesh, point), far(&brick, point));
            assert!(
                (a.distance - b.distance).abs() < 1e-5,
                "{point} {a:?} {b:?}"
            );
        }
        assert!(mesh.nearest(Vec3::ONE, Vec3::X, 0.1).is_none());
    }

    #[test]
    fn an_open_mesh_has_a_front_and_a_thickness() {
        // Faces up.
        let sheet = Shape::Mesh(ColliderMesh::new(&plane_grid(glam::Vec2::ONE, 4, 4)).into());
        let above = far(&sheet, Vec3::new(0.1, 0.02, 0.1));
        assert!((above.distance - 0.02).abs() < 1e-6 && above.normal.y > 0.99);
        let below = far(&sheet, Vec3::new(0.1, -0.02, 0.1));
        assert!((below.distance + 0.02).abs() < 1e-6 && below.normal.y > 0.99);
        let deep = sheet.nearest(Vec3::new(0.1, -0.3, 0.1), Vec3::X, 1.0);
        assert!(deep.is_none(), "far behind a sheet is outside: {deep:?}");
    }

    #[test]
    fn shapes_without_size_and_broken_meshes_are_harmless() {
        assert!(!Shape::Sphere { radius: f32::NAN }.is_sound());
        assert!(!Shape::Box { half: -Vec3::X }.is_sound());
        assert!(Shape::Sphere { radius: 0.0 }.is_sound());
        let empty = Shape::Mesh(ColliderMesh::new(&TriMesh::default()).into());
        assert!(empty.nearest(Vec3::ZERO, Vec3::X, 1.0).is_none());
        let broken = TriMesh {
            positions: vec![Vec3::NAN, Vec3::ZERO, Vec3::X],
            triangles: vec![[0, 1, 2], [0, 1, 9], [1, 1, 2]],
        };
        let broken = Shape::Mesh(ColliderMesh::new(&broken).into());
        if let Some(near) = broken.nearest(Vec3::Y * 0.01, Vec3::X, 1.0) {
            assert!(near.foot.is_finite() && near.normal.is_finite());
        }
        let ball = Shape::Mesh(ColliderMesh::new(&icosphere(0.5, 3)).into());
        assert!(far(&ball, Vec3::ZERO).distance < -0.45);
    }
}
