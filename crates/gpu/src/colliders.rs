//! Colliders on the device: shapes, poses, and contacts with them.

use glam::Vec3;
use supple_sim::contact::{
    Collider, ColliderState, External, ExternalForce, FIRST_COLLIDER, Motion, Placement, Shape,
};

/// Contact slots for colliders at each skin point: see `kernels/contact_collide.wgsl`.
pub const SLOTS: usize = 2;
/// Vectors per collider.
pub const RECORD: usize = 5;
/// Largest number of colliders.
pub const MAX_COLLIDERS: usize = 64;

/// The reason why the kernels cannot handle these colliders, if there is one.
pub fn unsupported(colliders: &[Collider]) -> Option<&'static str> {
    if colliders.len() > MAX_COLLIDERS {
        return Some("more than 64 colliders");
    }
    colliders
        .iter()
        .find_map(|collider| match (&collider.shape, collider.motion) {
            (Shape::Mesh(_), _) => Some("triangle-mesh colliders"),
            (_, Motion::Free { .. }) => Some("free colliders (with a mass)"),
            _ => None,
        })
}

/// Pose of a collider before a step.
pub fn placement_before(collider: &Collider, last: Option<&ColliderState>) -> Placement {
    last.map_or(collider.placement, |state| state.placement)
}

/// Device vectors of the colliders; `last` are the states after the step before.
pub fn records(colliders: &[Collider], last: &[ColliderState]) -> Vec<[f32; 4]> {
    let record = |(i, collider): (usize, &Collider)| -> [[f32; 4]; RECORD] {
        let (kind, size) = match &collider.shape {
            Shape::Plane | Shape::Mesh(_) => (0_u32, Vec3::ZERO),
            Shape::Sphere { radius } => (1, Vec3::splat(*radius)),
            Shape::Capsule { radius, length } => (2, Vec3::new(*radius, *length, 0.0)),
            Shape::Box { half } => (3, *half),
        };
        let (now, before) = (collider.placement, placement_before(collider, last.get(i)));
        [
            size.extend(f32::from_bits(kind)).to_array(),
            now.rotation.to_array(),
            now.translation.extend(collider.friction).to_array(),
            before.rotation.to_array(),
            before.translation.extend(0.0).to_array(),
        ]
    };
    colliders.iter().enumerate().flat_map(record).collect()
}

/// A contact of a vertex from its device vectors: normal; friction and collider; force; foot.
pub fn contact_with(
    colliders: &[Collider],
    last: &[ColliderState],
    vertex: u32,
    rows: &[[f32; 4]],
    foot: Vec3,
) -> Option<ExternalForce> {
    let vector = |[x, y, z, _]: [f32; 4]| Vec3::new(x, y, z);
    let number = rows[1][3].to_bits();
    let collider = colliders.get(number as usize)?;
    let before = placement_before(collider, last.get(number as usize));
    Some(ExternalForce {
        contact: External {
            foot_before: before.point(collider.placement.local(foot)),
            friction: collider.friction,
            body: FIRST_COLLIDER + number,
            ..External::vertex(vertex, vector(rows[0]), foot)
        },
        force: vector(rows[2]),
        distance: 0.0,
    })
}

/// Vertex and collider of a contact that the device can hold.
pub fn known(force: &ExternalForce) -> Option<(u32, u32)> {
    let number = force.contact.body.checked_sub(FIRST_COLLIDER)?;
    Some((force.contact.vertices[0], number))
}
