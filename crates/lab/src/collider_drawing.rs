//! Drawing of colliders.

use glam::{Affine3A, Vec3};
use supple_geom::{TriMesh, shapes};
use supple_picture::{Bounds, DrawMesh, Ground, Scene, Wire, hex};
use supple_sim::Collider;
use supple_sim::contact::Shape;

/// Colour of colliders.
const COLLIDER_COLOUR: Vec3 = hex(0xb8b4ab);
/// Opacity of planes other than the ground, so that walls hide nothing.
const GLASS: f32 = 0.3;
/// Grid squares along half of a drawn plane's edge.
const SQUARES: u32 = 4;
/// How far around a character colliders are included in the picture, relative to its size. A ball above the head is shown; a large
/// hall does not shrink the character.
const MARGIN: f32 = 0.35;

/// The surface of a collider in the world; `None` for planes, which are infinite.
pub fn collider_mesh(collider: &Collider) -> Option<TriMesh> {
    let mut mesh = match &collider.shape {
        Shape::Plane => return None,
        Shape::Sphere { radius } => shapes::icosphere(*radius, 4),
        Shape::Capsule { radius, length } => shapes::capsule(*radius, *length, 32, 16),
        Shape::Box { half } => shapes::cuboid(2.0 * *half, 8),
        Shape::Mesh(mesh) => mesh.mesh().clone(),
    };
    mesh.transform(&world_from(collider));
    Some(mesh)
}

fn world_from(collider: &Collider) -> Affine3A {
    let placement = collider.placement;
    Affine3A::from_rotation_translation(placement.rotation, placement.translation)
}

/// Height of the ground: of the highest plane that faces up \[m\].
pub fn ground_height(colliders: &[Collider]) -> Option<f32> {
    let heights = colliders.iter().filter(|c| is_level(c));
    heights.map(|c| c.placement.translation.y).reduce(f32::max)
}

/// Whether it is ground.
pub(crate) fn is_level(collider: &Collider) -> bool {
    collider.shape == Shape::Plane && (collider.placement.rotation * Vec3::Y).y > 0.99
}

/// Bounds of a picture of `characters` and colliders.
pub fn shown_bounds(characters: Bounds, colliders: &[Collider]) -> Bounds {
    if characters.is_empty() {
        return characters;
    }
    let margin = Vec3::splat(MARGIN * (characters.max - characters.min).max_element());
    let (low, high) = (characters.min - margin, characters.max + margin);
    let meshes = colliders.iter().filter_map(collider_mesh);
    meshes.fold(characters, |shown, mesh| {
        let near = Bounds::of(&mesh.positions);
        match near.max.cmpge(low).all() && near.min.cmple(high).all() {
            true => shown.union(Bounds {
                min: near.min.max(low),
                max: near.max.min(high),
            }),
            false => shown,
        }
    })
}

/// Adds colliders to a picture whose characters are within `around`: the ground as a grid, other planes as glass, everything else
/// with the given opacity.
pub fn draw_colliders(scene: &mut Scene, colliders: &[Collider], around: Bounds, opacity: f32) {
    if let Some(height) = ground_height(colliders) {
        scene.ground = Some(Ground {
            height: Some(height),
            grid: Some(0.25 * around.radius()),
            ..Ground::default()
        });
    }
    for collider in colliders {
        let mut drawn = match (&collider.shape, collider_mesh(collider)) {
            (Shape::Box { .. }, Some(mesh)) => faceted(&mesh),
            (_, Some(mesh)) => DrawMesh::owned(mesh),
            (_, None) if is_level(collider) => continue,
            (_, None) => plane(collider, around),
        };
        drawn.opacity *= opacity;
        scene.meshes.push(drawn.coloured(COLLIDER_COLOUR));
    }
}

/// A square of a plane, sized to the bounds of the picture.
fn plane(collider: &Collider, around: Bounds) -> DrawMesh<'static> {
    let edge = 2.0 * around.radius().max(1e-3);
    let mut mesh = shapes::cuboid(Vec3::new(edge, 0.0, edge), 2 * SQUARES);
    let world = world_from(collider);
    let mut centre = world.inverse().transform_point3(around.centre());
    centre.y = 0.0;
    let facing_up = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
        (b - a).cross(c - a).y > 0.0
    };
    // The upper side of a box without height.
    mesh.triangles = mesh.triangles.iter().copied().filter(facing_up).collect();
    mesh.transform(&(world * Affine3A::from_translation(centre)));
    let mut drawn = DrawMesh::owned(mesh);
    drawn.opacity = GLASS;
    drawn.casts_shadow = false;
    drawn.wire = Some(Wire::default());
    drawn
}

/// With hard edges.
fn faceted(mesh: &TriMesh) -> DrawMesh<'static> {
    let corners = mesh.triangles.iter().flatten();
    let positions: Vec<Vec3> = corners.map(|&v| mesh.positions[v as usize]).collect();
    let normals = positions.chunks_exact(3).flat_map(|t| {
        let normal = (t[1] - t[0]).cross(t[2] - t[0]).normalize_or_zero();
        [normal; 3]
    });
    let normals: Vec<Vec3> = normals.collect();
    let triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    let mut drawn = DrawMesh::owned(TriMesh {
        triangles: triangles.collect(),
        positions,
    });
    drawn.normals = Some(normals.into());
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;
    use supple_sim::contact::Placement;

    fn at(shape: Shape, translation: Vec3, rotation: Quat) -> Collider {
        Collider::driven(
            shape,
            Placement {
                rotation,
                translation,
            },
        )
    }

    #[test]
    fn every_shape_is_drawn_where_it_is() {
        let body = Bounds {
            min: Vec3::new(-0.5, 0.0, -0.2),
            max: Vec3::new(0.5, 1.8, 0.2),
        };
        let place = Vec3::new(0.0, 1.0, 0.4);
        let ball = at(Shape::Sphere { radius: 0.1 }, place, Quat::IDENTITY);
        let half = Vec3::new(0.1, 0.2, 0.3);
        let block = at(Shape::Box { half }, place, Quat::IDENTITY);
        let rod = Shape::Capsule {
            radius: 0.05,
            length: 0.4,
        };
        let rod = at(rod, place, Quat::IDENTITY);
        let wall = at(Shape::Plane, place, Quat::from_rotation_x(1.5));
        let ground = at(Shape::Plane, -0.1 * Vec3::Y, Quat::IDENTITY);
        let all = [ball, block, rod, wall, ground];
        let mut scene = Scene::default();
        draw_colliders(&mut scene, &all, body, 1.0);
        assert_eq!(scene.meshes.len(), 4);
        assert_eq!(scene.ground.and_then(|g| g.height), Some(-0.1));
        for (mesh, size) in scene.meshes[..3].iter().zip([0.2, 0.6, 0.5]) {
            let bounds = Bounds::of(&mesh.mesh.positions);
            assert!(bounds.centre().distance(place) < 1e-5);
            assert!(((bounds.max - bounds.min).max_element() - size).abs() < 1e-3);
        }
        let normal = Quat::from_rotation_x(1.5) * Vec3::Y;
        let wall = &scene.meshes[3];
        let off = |p: &Vec3| (*p - place).dot(normal).abs();
        assert!(wall.mesh.positions.iter().all(|p| off(p) < 1e-5));
        assert!(wall.opacity < 1.0 && !wall.mesh.triangles.is_empty());
        // Far colliders do not shrink the character.
        let far = at(
            Shape::Sphere { radius: 50.0 },
            Vec3::X * 60.0,
            Quat::IDENTITY,
        );
        assert_eq!(shown_bounds(body, &[far]), body);
        let above = at(Shape::Sphere { radius: 0.1 }, Vec3::Y * 2.1, Quat::IDENTITY);
        assert!((shown_bounds(body, &[above]).max.y - 2.2).abs() < 1e-3);
    }
}
