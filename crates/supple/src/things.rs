//! Colliders as something to draw.

use glam::{Affine3A, Vec3};
use supple_geom::{TriMesh, shapes};
use supple_sim::Collider;
use supple_sim::contact::Shape;

/// The surface of a collider in the world; none of a plane, which has no end.
pub fn collider_mesh(collider: &Collider) -> Option<TriMesh> {
    let mut mesh = match &collider.shape {
        Shape::Plane => return None,
        Shape::Sphere { radius } => shapes::icosphere(*radius, 4),
        Shape::Capsule { radius, length } => shapes::capsule(*radius, *length, 32, 16),
        Shape::Box { half } => shapes::cuboid(2.0 * *half, 1),
        Shape::Mesh(mesh) => mesh.mesh().clone(),
    };
    let placement = collider.placement;
    mesh.transform(&Affine3A::from_rotation_translation(
        placement.rotation,
        placement.translation,
    ));
    Some(mesh)
}

/// Height of the highest plane that faces up \[m\]: the ground.
pub fn ground_height(colliders: &[Collider]) -> Option<f32> {
    let is_ground =
        |c: &&Collider| c.shape == Shape::Plane && (c.placement.rotation * Vec3::Y).y > 0.99;
    let heights = colliders.iter().filter(is_ground);
    heights.map(|c| c.placement.translation.y).reduce(f32::max)
}
