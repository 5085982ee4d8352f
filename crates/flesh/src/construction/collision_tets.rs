//! Collision tets: prisms from the skin down to the base points, past the bone surface, so that contact also detects
//! points deep inside a limb [3.2.5].

use glam::DVec3;
use supple_geom::adjacency::NONE;
use supple_sim::Model;
use supple_sim::contact::{Source, SurfaceInput};

use crate::construction::prisms::split_prisms;
use crate::construction::rest_skin::RestSkin;
use crate::construction::untangle::is_sound;
use crate::flesh::Column;

/// Tets between skin and base points, and the skin triangle each belongs to.
#[derive(Clone, Debug, Default)]
pub struct CollisionTets {
    /// Corners: indices below the vertex count are skin vertices, the others base points.
    pub tets: Vec<[u32; 4]>,
    /// Index of the skin triangle of each tet.
    pub triangles: Vec<u32>,
    /// Tets left out because they are degenerate or inverted.
    pub excluded: usize,
}

/// Collision tets of a skin and its base points; degenerate ones are left out. Prisms are split by `orders`, as in the
/// tissue.
pub fn collision_tets(skin: &RestSkin, base: &[DVec3], orders: &[[u32; 3]]) -> CollisionTets {
    let (count, size) = (skin.len(), skin.size());
    let mut result = CollisionTets::default();
    for (index, tet) in split_prisms(&skin.triangles, orders, count)
        .into_iter()
        .enumerate()
    {
        let corners = tet.map(|v| {
            let v = v as usize;
            if v < count {
                skin.positions[v]
            } else {
                base[v - count]
            }
        });
        if is_sound(corners, size) {
            result.tets.push(tet);
            result.triangles.push(index as u32 / 3);
        } else {
            result.excluded += 1;
        }
    }
    result
}

/// The contact surface of the skin. Columns whose skin vertex is not in the model are [`Source::Outside`].
pub(crate) fn contact_surface(
    skin: &RestSkin,
    base: &[DVec3],
    collision: &CollisionTets,
    columns: &[Column],
    model: &Model,
) -> SurfaceInput {
    let mut outside = 0..;
    let sources = columns.iter().map(|column| match column.skin {
        NONE => Source::Outside(outside.next().unwrap_or(u32::MAX)),
        vertex => Source::Vertex(model.index_of()[vertex as usize]),
    });
    let triangles = collision.triangles.iter().copied();
    SurfaceInput {
        sources: sources.collect(),
        skin: skin.positions.iter().map(|p| p.as_vec3()).collect(),
        bases: base.iter().map(|p| p.as_vec3()).collect(),
        triangles: skin.triangles.clone(),
        tets: collision.tets.iter().copied().zip(triangles).collect(),
    }
}
