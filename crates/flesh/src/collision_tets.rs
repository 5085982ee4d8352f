//! Collision tets: the prisms carried on from the bone surface to the base points, so that nothing hides inside a
//! limb [3.2.5].

use glam::DVec3;
use supple_geom::adjacency::NONE;
use supple_sim::Model;
use supple_sim::contact::{Source, SurfaceInput};

use crate::flesh::Column;
use crate::prisms::split_prisms;
use crate::surface::Surface;
use crate::untangle::is_sound;

/// Tets between skin and base points, and the skin triangle each belongs to.
#[derive(Clone, Debug, Default)]
pub struct CollisionTets {
    /// Corners: below the vertex count skin, above base points.
    pub tets: Vec<[u32; 4]>,
    /// Index of the skin triangle of each tet.
    pub triangles: Vec<u32>,
    /// Tets left out because base points coincide or turn them inside out.
    pub excluded: usize,
}

/// Collision tets of a skin and its base points; degenerate ones are excluded. Split as the tissue
/// is, by `orders`.
pub fn collision_tets(skin: &Surface, base: &[DVec3], orders: &[[u32; 3]]) -> CollisionTets {
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

/// The skin as the solver's contact sees it. Columns whose skin is not in the model come from outside.
pub(crate) fn contact_surface(
    skin: &Surface,
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
