//! A tube with two bones whose skinning is known in closed form.

use glam::{Affine3A, Quat, Vec3};
use supple_geom::TriMesh;

use crate::Part;
use crate::character::{Binding, Influences};

/// Radius of the tube \[m\].
pub const RADIUS: f32 = 0.1;

/// An open tube along Y from −1 to 1. Slot 0 moves the lower end, slot 1 the upper; weights are linear over
/// `|y| < 0.5`, symmetric about the joint at the origin.
pub fn tube_part(rings: usize, sides: usize) -> Part {
    let mut part = Part::default();
    let mut lists = Vec::new();
    for ring in 0..=rings {
        let y = -1.0 + 2.0 * ring as f32 / rings as f32;
        for side in 0..sides {
            let angle = std::f32::consts::TAU * side as f32 / sides as f32;
            let normal = Vec3::new(angle.cos(), 0.0, angle.sin());
            part.mesh.positions.push(normal * RADIUS + Vec3::Y * y);
            part.normals.push(normal);
            let upper = (y + 0.5).clamp(0.0, 1.0);
            lists.push(
                [(0, 1.0 - upper), (1, upper)]
                    .into_iter()
                    .filter(|&(_, weight)| weight > 0.0)
                    .collect(),
            );
        }
    }
    part.mesh.triangles = tube_triangles(rings, sides);
    part.binding = Binding {
        joints: vec![0, 1],
        inverse_binds: vec![Affine3A::from_translation(Vec3::Y), Affine3A::IDENTITY],
        influences: Influences::from_lists(lists),
        computed: false,
    };
    part
}

fn tube_triangles(rings: usize, sides: usize) -> Vec<[u32; 3]> {
    let mesh = &mut TriMesh::default();
    for ring in 0..rings {
        for side in 0..sides {
            let at = |ring: usize, side: usize| (ring * sides + side % sides) as u32;
            let (a, b) = (at(ring, side), at(ring, side + 1));
            let (c, d) = (at(ring + 1, side), at(ring + 1, side + 1));
            mesh.triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    std::mem::take(&mut mesh.triangles)
}

/// `world_from_joint` with the upper bone rotated about Z.
pub fn bent_tube(angle: f32) -> Vec<Affine3A> {
    vec![
        Affine3A::from_translation(-Vec3::Y),
        Affine3A::from_quat(Quat::from_rotation_z(angle)),
    ]
}
