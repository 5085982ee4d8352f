//! Points inside the tissue that move with it, such as the vertices of muscles.
//!
//! A point in a tet keeps its barycentric coordinates. A point below the bone surface keeps its place relative to the nearest
//! triangle of that surface. Where nothing is simulated, a point has to follow something else.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3, IVec3, Mat3, Vec3};
use rayon::prelude::*;
use supple_geom::adjacency::NONE;
use supple_geom::{Surface, TriMesh};

use crate::flesh::Flesh;

/// Points and what moves them.
#[derive(Clone, Debug, Default)]
pub struct EmbeddedPoints {
    places: Vec<Place>,
}

/// What moves a point. Vertices are the model's, free then fixed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// In a tet.
    Tet([u32; 4], [f32; 4]),
    /// Near a triangle of the bone surface: barycentric coordinates of the foot, and the rest in the triangle's frame \[m\].
    Triangle([u32; 3], [f32; 3], Vec3),
    /// Where nothing is simulated.
    Outside,
}

/// Edge of the cells in which tets are sought, relative to the character's size: 27 mm for a person, about the size of a tet.
const CELL: f64 = 0.015;

/// Least barycentric coordinate of a point that counts as inside a tet.
const INSIDE: f64 = -1e-6;

/// Distance from the bone surface, relative to the character's size, up to which points below it follow it: 18 cm, so that
/// nothing inside a trunk is left out.
const REACH: f32 = 0.1;

impl Flesh {
    /// Ties points in bind pose \[m\] to the tissue around them.
    pub fn embedded_points(&self, points: &[Vec3]) -> EmbeddedPoints {
        let rest = self.model.rest();
        let tets = &self.model.tets().vertices;
        let size = f64::from(self.full_mesh().bounds().diagonal());
        let cell = CELL * size;
        let cell_of = |p: DVec3| (p / cell).floor().as_ivec3();
        let mut cells: BTreeMap<[i32; 3], Vec<u32>> = BTreeMap::new();
        for (t, tet) in tets.iter().enumerate() {
            let at = tet.map(|v| rest[v as usize].as_dvec3());
            let low = cell_of(at.iter().copied().reduce(DVec3::min).unwrap_or_default());
            let high = cell_of(at.iter().copied().reduce(DVec3::max).unwrap_or_default());
            for x in low.x..=high.x {
                for y in low.y..=high.y {
                    for z in low.z..=high.z {
                        cells.entry([x, y, z]).or_default().push(t as u32);
                    }
                }
            }
        }
        let (surface, owners) = self.simulated_bone_surface();
        let place = |&point: &Vec3| {
            let p = point.as_dvec3();
            let IVec3 { x, y, z } = cell_of(p);
            let near = cells.get(&[x, y, z]).map_or(&[][..], |list| list);
            let found = near.iter().find_map(|&t| {
                let tet = tets[t as usize];
                let weights = barycentric(tet.map(|v| rest[v as usize].as_dvec3()), p)?;
                let is_inside = weights.iter().all(|&w| w >= INSIDE);
                is_inside.then(|| Place::Tet(tet, weights.map(|w| w as f32)))
            });
            found.unwrap_or_else(|| below(&surface, &owners, point, REACH * size as f32))
        };
        EmbeddedPoints {
            places: points.par_iter().map(place).collect(),
        }
    }

    /// The bone surface where it is in the model, and the model's vertices of its vertices.
    fn simulated_bone_surface(&self) -> (Surface, Vec<u32>) {
        let index_of = self.model.index_of();
        let owners: Vec<u32> = (self.columns.iter())
            .map(|column| match column.bone {
                NONE => NONE,
                bone => index_of[bone as usize],
            })
            .collect();
        let is_there = |t: &&[u32; 3]| t.iter().all(|&v| owners[v as usize] != NONE);
        let mesh = TriMesh {
            positions: self.bone.iter().map(|p| p.as_vec3()).collect(),
            triangles: (self.skin.triangles.iter().filter(is_there))
                .copied()
                .collect(),
        };
        (Surface::new(mesh), owners)
    }
}

/// A point tied to the nearest triangle of the bone surface.
fn below(surface: &Surface, owners: &[u32], point: Vec3, reach: f32) -> Place {
    let Some(found) = surface.closest_point_within(point, reach) else {
        return Place::Outside;
    };
    let mesh = surface.mesh();
    let corners = mesh.triangles[found.triangle as usize];
    let at = corners.map(|v| mesh.positions[v as usize]);
    let Some(frame) = triangle_frame(at) else {
        return Place::Outside;
    };
    let foot: Vec3 = (0..3).map(|k| found.barycentric[k] * at[k]).sum();
    Place::Triangle(
        corners.map(|v| owners[v as usize]),
        found.barycentric,
        frame.transpose() * (point - foot),
    )
}

/// An orthonormal frame of a triangle; `None` if it has no area.
fn triangle_frame([a, b, c]: [Vec3; 3]) -> Option<Mat3> {
    let normal = (b - a).cross(c - a).try_normalize()?;
    // The bisector turns with the whole triangle, not with one of its edges.
    let along = ((b - a).normalize_or_zero() + (c - a).normalize_or_zero()).try_normalize()?;
    Some(Mat3::from_cols(along, normal.cross(along), normal))
}

/// Barycentric coordinates of a point in a tet; `None` if it is flat.
fn barycentric([a, b, c, d]: [DVec3; 4], p: DVec3) -> Option<[f64; 4]> {
    let edges = DMat3::from_cols(b - a, c - a, d - a);
    if edges.determinant().abs() < 1e-16 {
        return None;
    }
    let w = edges.inverse() * (p - a);
    Some([1.0 - w.x - w.y - w.z, w.x, w.y, w.z])
}

impl EmbeddedPoints {
    /// Number of points.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Points that the tissue does not move.
    pub fn outside(&self) -> impl Iterator<Item = usize> {
        let places = self.places.iter().enumerate();
        places
            .filter(|(_, place)| **place == Place::Outside)
            .map(|(index, _)| index)
    }

    /// Moves the points with the vertices of the model, free then fixed \[m\]. `points` has one entry for each; those that the
    /// tissue does not move stay as they are.
    pub fn follow(&self, vertices: &[Vec3], points: &mut [Vec3]) {
        let at = |v: u32| vertices[v as usize];
        (self.places.par_iter().zip(points)).for_each(|(place, point)| match *place {
            Place::Tet(tet, weights) => {
                *point = (0..4).map(|k| weights[k] * at(tet[k])).sum();
            }
            Place::Triangle(corners, weights, offset) => {
                let corners = corners.map(at);
                let foot: Vec3 = (0..3).map(|k| weights[k] * corners[k]).sum();
                *point = foot + triangle_frame(corners).unwrap_or_default() * offset;
            }
            Place::Outside => {}
        });
    }
}
