//! A triangle mesh as a collider: closed meshes are solid, open ones have a front side and a thickness.

use std::collections::HashMap;

use glam::Vec3;
use supple_geom::{Surface, TriMesh};

use super::collider_shapes::Near;

/// Thickness of open meshes behind their front \[m\]. Thinner lets a pressing hand through; thicker catches points that
/// are behind a thin sheet.
const THICKNESS: f32 = 0.05;
/// Distance below which the direction to the nearest point is noise, and the triangle's normal is used instead \[m\].
const ON_SURFACE: f32 = 1e-6;

/// A mesh that pushes out nearby points.
#[derive(Clone, Debug)]
pub struct ColliderMesh {
    surface: Surface,
    is_closed: bool,
}

impl ColliderMesh {
    /// From triangles that are counter-clockwise seen from outside; those with corners out of range are dropped.
    pub fn new(mesh: &TriMesh) -> ColliderMesh {
        let mut mesh = mesh.clone();
        let positions = &mesh.positions;
        mesh.triangles.retain(|corners| {
            let mut points = corners.iter().map(|&v| positions.get(v as usize));
            points.all(|p| p.is_some_and(|p| p.is_finite()))
        });
        ColliderMesh {
            is_closed: is_closed(&mesh),
            surface: Surface::new(mesh),
        }
    }

    /// Whether the mesh is closed, and so has an inside.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The triangles.
    pub fn mesh(&self) -> &TriMesh {
        self.surface.mesh()
    }

    /// Centre and half extents of the bounding box \[m\].
    pub fn bounds(&self) -> (Vec3, Vec3) {
        if self.surface.is_empty() {
            return (Vec3::ZERO, Vec3::ZERO);
        }
        let bounds = self.surface.bounds();
        (
            bounds.min.midpoint(bounds.max),
            0.5 * (bounds.max - bounds.min),
        )
    }

    /// The nearest point of the mesh; none if it is farther than `reach`, unless the point is inside.
    pub fn nearest(&self, point: Vec3, reach: f32) -> Option<Near> {
        let is_inside = self.is_closed && self.surface.contains(point);
        let reach = match (is_inside, self.is_closed) {
            (true, _) => f32::INFINITY,
            (false, true) => reach,
            (false, false) => reach.max(THICKNESS),
        };
        let closest = self.surface.closest_point_within(point, reach)?;
        let face = self
            .surface
            .mesh()
            .triangle_normal(closest.triangle as usize);
        let away = point - closest.position;
        let is_behind = match self.is_closed {
            true => is_inside,
            false => away.dot(face) < 0.0,
        };
        if !self.is_closed && is_behind && closest.distance > THICKNESS {
            return None;
        }
        let sign = if is_behind { -1.0 } else { 1.0 };
        let normal = if closest.distance > ON_SURFACE {
            sign * away / closest.distance
        } else {
            face
        };
        Some(Near {
            foot: closest.position,
            normal: normal.try_normalize().unwrap_or(Vec3::Y),
            distance: sign * closest.distance,
        })
    }
}

/// Whether every edge, by position, occurs once in each direction.
fn is_closed(mesh: &TriMesh) -> bool {
    // Vertices at a seam share a position.
    let mut place_of = HashMap::new();
    let places: Vec<usize> = (mesh.positions.iter())
        .map(|p| {
            let next = place_of.len();
            *place_of
                .entry((*p + Vec3::ZERO).to_array().map(f32::to_bits))
                .or_insert(next)
        })
        .collect();
    let mut balance: HashMap<(usize, usize), i32> = HashMap::new();
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|v| places[v as usize]);
        for (from, to) in [(a, b), (b, c), (c, a)] {
            if from < to {
                *balance.entry((from, to)).or_default() += 1;
            } else {
                *balance.entry((to, from)).or_default() -= 1;
            }
        }
    }
    !mesh.triangles.is_empty() && balance.values().all(|&sum| sum == 0)
}
