//! Skin under clothes stays under them.
//!
//! Clothes and the skin below them move in different ways, and a coarse sleeve cuts corners. Every vertex of the flesh that
//! another shell covers at rest is therefore kept below the triangle that covers it. Only what is shown changes, not the
//! simulation; in bind pose nothing moves.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::normals::vertex_normals;
use supple_geom::surface::Ray;
use supple_geom::{Surface, TriMesh};

use crate::shells::shell_kinds::{Kind, ShellKinds};

/// A vertex of the flesh and the triangle that covers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cover {
    /// Vertex of the full flesh.
    pub column: u32,
    /// Original vertices of the covering triangle, so ordered that its normal points away from the flesh.
    pub triangle: [u32; 3],
    /// Barycentric coordinates of the point above the vertex.
    pub weights: [f32; 3],
    /// Depth of the vertex below the triangle that is kept \[m\].
    pub depth: f32,
}

/// Distance up to which a shell covers a vertex, relative to the character's size. Higher: a skirt holds the legs.
const COVER_DISTANCE: f32 = 0.02;
/// Smallest cosine between the normals of flesh and cover. Lower: an arm counts as covered where it enters the torso.
const LEAST_COSINE: f32 = 0.6;
/// Share of the depth at rest that is kept. Lower: skin shows between the vertices of a coarse cloth; higher: in the fold of an
/// elbow it is pushed through the other side of the sleeve.
const KEPT_DEPTH: f32 = 0.5;
/// Sideways shift against the cover, relative to the size, up to which a vertex is held below it, and from which it is not.
const HELD_SHIFT: [f32; 2] = [0.02, 0.04];

/// Finds the covers of all vertices of the flesh, given its mesh, the welded index of each of its vertices, and which of them are
/// not simulated (empty for none). Those follow their weights and are as the artist made them: lips before teeth.
pub fn covers(
    kinds: &ShellKinds,
    flesh: &TriMesh,
    welded_of: &[u32],
    excluded: &[bool],
) -> Vec<Cover> {
    let body = &kinds.body;
    if kinds.shells.len() < 2 {
        return Vec::new();
    }
    let covers = |shell: usize| kinds.shells[shell].kind != Kind::Hair;
    let (mesh, welded_of_cover) = body.shells_mesh(&covers);
    let shell_of = |welded: u32| body.shells.of_vertex[welded as usize];
    let surface = Surface::new(mesh);
    let normals = vertex_normals(flesh);
    let reach = COVER_DISTANCE * body.size as f32;
    let cover = |column: usize| {
        if excluded.get(column).is_some_and(|&excluded| excluded) {
            return None;
        }
        let (origin, normal) = (flesh.positions[column], normals[column]);
        let ray = Ray {
            origin,
            direction: normal,
        };
        let own = shell_of(welded_of[column]);
        let hit = (surface.all_hits(ray, reach).into_iter())
            .filter(|hit| {
                let corner = surface.mesh().triangles[hit.triangle as usize][0];
                shell_of(welded_of_cover[corner as usize]) != own
            })
            .min_by(|a, b| a.t.total_cmp(&b.t).then(a.triangle.cmp(&b.triangle)))?;
        let corners = surface.mesh().corners(hit.triangle as usize);
        let mut triangle = surface.mesh().triangles[hit.triangle as usize].map(|v| {
            let welded = welded_of_cover[v as usize] as usize;
            body.welded.original_from_welded[welded]
        });
        let mut weights = hit.barycentric;
        let cosine = triangle_normal(corners).dot(normal);
        if cosine.abs() < LEAST_COSINE {
            return None;
        }
        if cosine < 0.0 {
            triangle.swap(1, 2);
            weights.swap(1, 2);
        }
        Some(Cover {
            column: column as u32,
            triangle,
            weights,
            depth: KEPT_DEPTH * hit.t * cosine.abs(),
        })
    };
    (0..flesh.positions.len())
        .into_par_iter()
        .filter_map(cover)
        .collect()
}

impl Cover {
    /// Where the vertex is shown, given its position, the posed corners of the covering triangle and the character's size \[m\].
    pub fn under(&self, position: Vec3, corners: [Vec3; 3], size: f32) -> Vec3 {
        let normal = triangle_normal(corners);
        let above = corners.iter().zip(self.weights);
        let above: Vec3 = above.map(|(&corner, weight)| corner * weight).sum();
        let offset = position - above;
        let height = offset.dot(normal);
        let shift = (offset - normal * height).length() / size;
        let [held, free] = HELD_SHIFT;
        let hold = 1.0 - ((shift - held) / (free - held)).clamp(0.0, 1.0);
        // What is far above has left the cover.
        let rise = (height + self.depth).clamp(0.0, held * size);
        position - normal * (rise * hold)
    }
}

fn triangle_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_is_kept_below_its_cover_and_otherwise_left_alone() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let point = Vec3::new(0.25, 0.25, 0.0);
        let cover = Cover {
            column: 0,
            triangle: [0, 1, 2],
            weights: [0.5, 0.25, 0.25],
            depth: 0.005,
        };
        let size = 1.8;
        let below = point - Vec3::Z * 0.01;
        assert_eq!(cover.under(below, corners, size), below);
        let risen = cover.under(point + Vec3::Z * 0.01, corners, size);
        assert!(risen.distance(point - Vec3::Z * 0.005) < 1e-6, "{risen}");
        let aside = point + Vec3::new(0.2, 0.0, 0.01);
        assert_eq!(cover.under(aside, corners, size), aside);
    }
}
