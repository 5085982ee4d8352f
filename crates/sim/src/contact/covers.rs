//! Skin that lies in or on other skin at rest: clothes over a body, a neck in a collar, folds of a mesh.
//!
//! It does so in every pose, so it is not kept apart: a point never touches a shell that covers it at rest, nor skin
//! that its own shell covers, nor triangles of its own shell that it overlaps.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::surface::{ClosestPoint, Surface};
use supple_geom::{Aabb, TriMesh};

use super::rules::{COVER_DISTANCE, GAP};
use super::surface::{Lists, SurfaceInput};

/// For each skin point the other shells that it is in or on at rest, ascending. It is on a shell that is close, unless the two
/// face each other across free space.
#[derive(Clone, Debug, Default)]
pub struct Covers {
    of_points: Lists,
    /// Triangles that each point overlaps at rest, ascending.
    triangles: Lists,
}

impl Covers {
    /// `shells` is the shell of each skin point, `edge` the mean edge \[m\].
    pub fn new(input: &SurfaceInput, shells: &[u32], edge: f32) -> Covers {
        let (near, gap) = (COVER_DISTANCE * edge, GAP * edge);
        let known = |shell: &&u32| **shell != u32::MAX;
        if shells.iter().filter(known).all(|&shell| shell == 0) {
            return Covers::default();
        }
        let normals = normals(input);
        let mut lists = vec![Vec::new(); input.skin.len()];
        let surfaces = shell_surfaces(&input.skin, &input.triangles, shells);
        for (shell, (shape, triangles)) in surfaces.enumerate() {
            let bounds = grown(shape.bounds(), near);
            lists.par_iter_mut().enumerate().for_each(|(v, list)| {
                let p = input.skin[v];
                if shells[v] == shell as u32 || !bounds.contains(p) {
                    return;
                }
                let lies_on = |closest: ClosestPoint| {
                    let corners = input.triangles[triangles[closest.triangle as usize] as usize];
                    let [a, b, c] = corners.map(|v| input.skin[v as usize]);
                    let faces_it = (b - a).cross(c - a).dot(normals[v]) < 0.0;
                    !faces_it || closest.position.distance(p) < gap
                };
                if shape.closest_point_within(p, near).is_some_and(lies_on) || shape.contains(p) {
                    list.push(shell as u32);
                }
            });
        }
        Covers {
            of_points: Lists::new(lists),
            triangles: Lists::default(),
        }
    }

    /// Adds the triangles that each point overlaps at rest, ascending.
    pub fn add_triangles(&mut self, lists: Vec<Vec<u32>>) {
        if lists.iter().any(|list| !list.is_empty()) {
            self.triangles = Lists::new(lists);
        }
    }

    /// Triangles that a point overlaps at rest, ascending.
    #[inline]
    pub fn triangles_of(&self, point: u32) -> &[u32] {
        match self.triangles.is_empty() {
            true => &[],
            false => self.triangles.of(point),
        }
    }

    /// Shells that cover a point at rest, ascending.
    #[inline]
    pub fn of(&self, point: u32) -> &[u32] {
        match self.of_points.is_empty() {
            true => &[],
            false => self.of_points.of(point),
        }
    }

    /// Whether nothing overlaps.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.of_points.is_empty() && self.triangles.is_empty()
    }
}

/// Normals of the skin points at rest, of any length.
fn normals(input: &SurfaceInput) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; input.skin.len()];
    for corners in &input.triangles {
        let [a, b, c] = corners.map(|v| input.skin[v as usize]);
        for &v in corners {
            normals[v as usize] += (b - a).cross(c - a);
        }
    }
    normals
}

/// The shells of a skin as surfaces of their own, with the triangles of the skin that each consists of.
pub fn shell_surfaces<'a>(
    skin: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    shells: &[u32],
) -> impl Iterator<Item = (Surface, Vec<u32>)> + 'a {
    let known = shells.iter().filter(|&&shell| shell != u32::MAX);
    let count = known.max().map_or(0, |&last| last as usize + 1);
    let mut lists = vec![Vec::new(); count];
    for (corners, t) in triangles.iter().zip(0..) {
        lists[shells[corners[0] as usize] as usize].push(t);
    }
    let mut numbers = vec![u32::MAX; skin.len()];
    lists.into_iter().map(move |list| {
        let mut mesh = TriMesh::default();
        for &t in &list {
            mesh.triangles.push(triangles[t as usize].map(|v| {
                let number = &mut numbers[v as usize];
                if *number == u32::MAX {
                    *number = mesh.positions.len() as u32;
                    mesh.positions.push(skin[v as usize]);
                }
                *number
            }));
        }
        (Surface::new(mesh), list)
    })
}

/// A box grown by a distance on all sides.
fn grown(bounds: Aabb, by: f32) -> Aabb {
    Aabb {
        min: bounds.min - by,
        max: bounds.max + by,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{ContactSurface, Source};
    use supple_geom::shapes;

    /// Spheres in one surface, each with its radius and place.
    fn spheres(list: &[(f32, Vec3)]) -> ContactSurface {
        let mut input = SurfaceInput::default();
        for &(radius, place) in list {
            let mesh = shapes::icosphere(radius, 3);
            let first = input.skin.len() as u32;
            input.skin.extend(mesh.positions.iter().map(|&p| p + place));
            input.bases.extend(mesh.positions.iter().map(|_| place));
            let triangles = mesh.triangles.iter();
            input
                .triangles
                .extend(triangles.map(|t| t.map(|v| v + first)));
        }
        input.sources = (0..input.skin.len() as u32).map(Source::Vertex).collect();
        ContactSurface::new(input)
    }

    #[test]
    fn what_lies_in_another_shell_is_covered() {
        let (small, large) = (0.2, 1.0);
        let within = spheres(&[(large, Vec3::ZERO), (small, Vec3::X * 0.1)]);
        let half = within.point_count() / 2;
        for point in half..2 * half {
            assert_eq!(within.covers.of(point as u32), [0]);
        }
        let inner = within.triangles().len() as u32 - 1;
        for point in 0..2 * half as u32 {
            let own = within.shells[point as usize];
            assert!(within.are_together(point, 0) == (own == 1), "{point}");
            assert!(within.are_together(point, inner) == (own == 0), "{point}");
        }
    }

    #[test]
    fn shells_that_overlap_in_part_touch_elsewhere() {
        let surface = spheres(&[(1.0, Vec3::ZERO), (1.0, Vec3::X * 1.7)]);
        let half = surface.point_count() / 2;
        for point in 0..half as u32 {
            let distance = surface.input.skin[point as usize].distance(Vec3::X * 1.7) - 1.0;
            let is_covered = surface.covers.of(point) == [1];
            // The spheres are polyhedra. Beside the border they face each other.
            if (distance - surface.gap()).abs() > 0.02 {
                assert_eq!(is_covered, distance < surface.gap(), "{distance} m away");
            }
        }
    }

    #[test]
    fn clothes_are_on_the_skin_below_and_apart_from_skin_that_faces_them() {
        let edge = spheres(&[(1.0, Vec3::ZERO)]).mean_edge();
        let coated = spheres(&[(1.0, Vec3::ZERO), (1.0 + edge, Vec3::ZERO)]);
        let facing = spheres(&[(1.0, Vec3::ZERO), (1.0, Vec3::X * (2.0 + edge))]);
        for point in 0..coated.point_count() as u32 {
            assert_eq!(coated.covers.of(point).len(), 1, "{point}");
            assert!(facing.covers.of(point).is_empty(), "{point}");
        }
    }
}
