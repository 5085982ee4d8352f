//! Cut-away drawings of limbs that lie in the plane z = 0.

use supple::flesh::Flesh;
use supple::geom::TriMesh;
use supple::glam::Vec3;
use supple::sim::State;
use supple::{Character, Pose};
use supple_picture::{DrawMesh, Wire};

use super::{BONE, FLESH, RED, bone_surface, skin, volumetric_skeleton};

/// Triangles of `mesh` whose centre at rest is chosen.
pub fn kept(mesh: &TriMesh, rest: &TriMesh, keep: impl Fn(Vec3) -> bool) -> TriMesh {
    let chosen = (0..rest.triangles.len())
        .filter(|&t| keep(rest.corners(t).into_iter().sum::<Vec3>() / 3.0));
    TriMesh {
        positions: mesh.positions.clone(),
        triangles: chosen.map(|t| mesh.triangles[t]).collect(),
    }
}

/// The cut face of the tissue: walls between two surfaces with the same triangles, along their boundary edges.
pub fn cut_face(outer: &TriMesh, inner: &TriMesh) -> TriMesh {
    let edges = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let all: std::collections::HashSet<[u32; 2]> = outer.triangles.iter().flat_map(edges).collect();
    let mut mesh = TriMesh::merged([outer, inner]);
    let below = outer.positions.len() as u32;
    mesh.triangles = outer
        .triangles
        .iter()
        .flat_map(edges)
        .filter(|&[a, b]| !all.contains(&[b, a]))
        .flat_map(|[a, b]| [[b, a, a + below], [b, a + below, b + below]])
        .collect();
    mesh
}

/// A cut-away drawing: the far half (z < 0 at rest) of the skin, the cut face of the tissue with red edges, and the bones.
pub fn cut_away(
    flesh: &Flesh,
    character: &Character,
    pose: &Pose,
    state: &State,
) -> Vec<DrawMesh<'static>> {
    let rest = flesh.skin_mesh();
    let far = |centre: Vec3| centre.z < 0.0;
    let outer = kept(&skin(flesh, pose, state), rest, far);
    let inner = kept(&bone_surface(flesh, state), rest, far);
    let face = cut_face(&outer, &inner);
    // Lit from the front whatever the orientation of its quads.
    let normals = vec![Vec3::new(0.0, 0.6, 0.8); face.positions.len()];
    let mut wall = DrawMesh::owned(face).coloured(FLESH);
    wall.normals = Some(normals.into());
    wall.wire = Some(Wire {
        colour: RED,
        width: 0.9,
        opacity: 0.8,
    });
    let bones = DrawMesh::owned(volumetric_skeleton(flesh, character, pose)).coloured(BONE);
    let mut drawn = vec![DrawMesh::owned(outer), wall, bones];
    // No shadows on the cut face.
    drawn.iter_mut().for_each(|mesh| mesh.casts_shadow = false);
    drawn
}
