//! Measures how much of a skin is inside other parts of itself, and inside colliders.
//!
//! The winding number of the skin around one of its own points is the share of directions that lead inside: between
//! zero at a spike and one in a sharp fold. Inside another part it is larger by one. The measure uses the skin alone:
//! no prisms, base points or solver data.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::surface::{Surface, closest_on_triangle};

use super::collider::Collider;
use super::covers::shell_surfaces;
use super::surface::ContactSurface;

/// Winding number above which a point is inside. At 1, points in sharp folds count because of the summation error; at
/// 1.2, finger tips do not.
const INSIDE_WINDING: f64 = 1.05;

/// Distance in front of a triangle at which free space is tested \[mean edges\].
const FREE_SPACE_DISTANCE: f32 = 0.01;

/// A triangle belongs to another part if its distance is below this share of that at rest. Near 1, the back of a hand
/// limits the measured depth of its palm; at 0.5, folds of joints measure as deep as limbs.
const NEARER_SHARE: f32 = 0.9;

/// Skin points inside other parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Penetration {
    /// Skin points inside other parts.
    pub points: Vec<u32>,
    /// Depth of each \[m\].
    pub depths: Vec<f32>,
    /// Depth of each relative to the thickness of the limb that it is in; empty if unknown.
    pub shares: Vec<f32>,
}

impl Penetration {
    /// Number of points inside.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// Largest depth \[m\].
    pub fn worst(&self) -> f32 {
        self.depths.iter().copied().fold(0.0, f32::max)
    }

    /// Largest depth relative to the thickness of the limb.
    pub fn worst_share(&self) -> f32 {
        self.shares.iter().copied().fold(0.0, f32::max)
    }
}

/// Finds skin points inside other parts of the skin: inside their own shell, or inside another shell that they do not lie in or on at
/// rest. In its own shell a point's depth is the distance to the closest triangle that has come near, in others to the
/// closest triangle; the deepest counts. The limb's thickness is twice the distance from skin to bone line there at
/// rest. Points that are inside their own shell at rest do not count in it.
pub fn measure_penetration(surface: &ContactSurface, skin: &[Vec3]) -> Penetration {
    if skin.len() < surface.point_count() {
        return Penetration::default();
    }
    let mut deepest: Vec<Option<(u32, f32)>> = vec![None; surface.point_count()];
    for shell in shells(surface, skin) {
        let depth = |point: u32| match surface.shells[point as usize] == shell.number {
            true => shell.own_depth(point),
            false => shell.foreign_depth(point),
        };
        let slots = deepest.par_iter_mut().with_min_len(64).enumerate();
        slots.for_each(|(point, slot)| {
            let found = depth(point as u32);
            if found.is_some_and(|(_, depth)| slot.is_none_or(|(_, known)| depth > known)) {
                *slot = found;
            }
        });
    }
    let mut result = Penetration::default();
    for (point, found) in (0..).zip(deepest) {
        if let Some((triangle, depth)) = found {
            result.points.push(point);
            result.depths.push(depth);
            result.shares.push(depth / thickness(surface, triangle));
        }
    }
    result
}

/// Skin points that are inside their own shell, ascending.
pub fn points_in_own_shell(surface: &ContactSurface, skin: &[Vec3]) -> Vec<u32> {
    let mut inside: Vec<u32> = Vec::new();
    for shell in shells(surface, skin) {
        let points = 0..surface.point_count() as u32;
        let own = points.into_par_iter().with_min_len(64).filter(|&point| {
            surface.shells[point as usize] == shell.number && shell.is_in_itself(point)
        });
        inside.par_extend(own);
    }
    inside.sort_unstable();
    inside
}

fn shells<'a>(surface: &'a ContactSurface, at: &'a [Vec3]) -> impl Iterator<Item = ShellNow<'a>> {
    let surfaces = shell_surfaces(at, surface.triangles(), &surface.shells);
    (0..)
        .zip(surfaces)
        .map(move |(number, (skin, triangles))| ShellNow {
            surface,
            at,
            number,
            skin,
            triangles,
        })
}

/// A shell at one moment.
struct ShellNow<'a> {
    surface: &'a ContactSurface,
    /// All skin points.
    at: &'a [Vec3],
    number: u32,
    skin: Surface,
    /// Its triangles in the whole surface.
    triangles: Vec<u32>,
}

impl ShellNow<'_> {
    /// Whether a point of the shell is inside it.
    fn is_in_itself(&self, point: u32) -> bool {
        self.skin.winding_number(self.at[point as usize]) > INSIDE_WINDING
    }

    /// Triangle and depth of a point of the shell, if it is inside and was not at rest.
    fn own_depth(&self, point: u32) -> Option<(u32, f32)> {
        let is_inside = self.is_in_itself(point) && !self.surface.is_inside_at_rest(point);
        is_inside.then(|| self.nearest(point)).flatten()
    }

    /// Triangle and depth of a point of another shell, if it is inside and not together with this shell at rest.
    fn foreign_depth(&self, point: u32) -> Option<(u32, f32)> {
        let p = self.at[point as usize];
        if !self.skin.bounds().contains(p)
            || self.surface.covers.of(point).contains(&self.number)
            || !self.skin.contains(p)
        {
            return None;
        }
        let closest = self.skin.closest_point(p)?;
        let triangle = self.triangles[closest.triangle as usize];
        let depth = closest.position.distance(p);
        (!self.surface.are_together(point, triangle)).then_some((triangle, depth))
    }

    /// The closest triangle that has come [nearer](NEARER_SHARE) than at rest, and its distance. The back of the
    /// point's own hand is near too, but was so at rest. Skin around the point counts if there is free space in front
    /// of it.
    fn nearest(&self, point: u32) -> Option<(u32, f32)> {
        let Self { surface, at, .. } = *self;
        let p = at[point as usize];
        let rest = &surface.input.skin;
        let mut best = (0, f32::INFINITY);
        for &t in &self.triangles {
            let corners = surface.triangles()[t as usize];
            let triangle = corners.map(|v| at[v as usize]);
            let [a, b, c] = triangle;
            let far = a.distance(b).max(a.distance(c));
            if p.distance(a) - far >= best.1 || corners.contains(&point) {
                continue;
            }
            let foot = foot(p, triangle);
            let distance = foot.distance(p);
            let before = || {
                let [p, a, b, c] =
                    [point, corners[0], corners[1], corners[2]].map(|v| rest[v as usize]);
                self::foot(p, [a, b, c]).distance(p)
            };
            let is_near = || surface.is_near(point, t);
            if distance < best.1
                && distance < NEARER_SHARE * before()
                && (!is_near() || self.leads_out(p, foot, triangle))
            {
                best = (t, distance);
            }
        }
        best.1.is_finite().then_some(best)
    }

    /// Whether a point is behind a triangle in front of which there is free space.
    fn leads_out(&self, p: Vec3, foot: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let in_front = foot + normal * (FREE_SPACE_DISTANCE * self.surface.mean_edge());
        normal.dot(p - foot) < 0.0 && !self.skin.contains(in_front)
    }
}

/// The point of a triangle closest to another point.
fn foot(point: Vec3, corners: [Vec3; 3]) -> Vec3 {
    let (p, [a, b, c]) = (point.as_dvec3(), corners.map(|v| v.as_dvec3()));
    let weights = closest_on_triangle(p, [a, b, c]);
    (a * weights[0] + b * weights[1] + c * weights[2]).as_vec3()
}

/// Thickness of the limb below a triangle at rest \[m\].
fn thickness(surface: &ContactSurface, triangle: u32) -> f32 {
    let corners = surface.triangles()[triangle as usize];
    let depth = |v: u32| surface.input.skin[v as usize].distance(surface.input.bases[v as usize]);
    2.0 * corners.map(depth).iter().sum::<f32>() / 3.0
}

/// Skin points inside colliders, with the depth in the collider they are deepest in.
pub fn measure_in_colliders(skin: &[Vec3], colliders: &[Collider]) -> Penetration {
    let mut result = Penetration::default();
    for (point, &position) in skin.iter().enumerate() {
        let depth = |collider: &Collider| {
            let local = collider.placement.local(position);
            let near = collider.shape.nearest(local, Vec3::Y, 0.0);
            near.map_or(0.0, |near| -near.distance)
        };
        let deepest = colliders.iter().map(depth).fold(0.0, f32::max);
        if deepest > 0.0 {
            result.points.push(point as u32);
            result.depths.push(deepest);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{Source, SurfaceInput};
    use supple_geom::shapes;

    /// Two unit spheres, one behind the other along X, and a small one inside the first.
    fn spheres() -> ContactSurface {
        let mut input = SurfaceInput::default();
        for (radius, place) in [(1.0, 0.0), (1.0, 4.0), (0.3, 0.2)] {
            let mesh = shapes::icosphere(radius, 3);
            let first = input.skin.len() as u32;
            let place = Vec3::X * place;
            input.skin.extend(mesh.positions.iter().map(|&p| p + place));
            input.bases.extend(mesh.positions.iter().map(|_| place));
            let triangles = mesh.triangles.iter();
            (input.triangles).extend(triangles.map(|t| t.map(|v| v + first)));
        }
        input.sources = (0..input.skin.len() as u32).map(Source::Vertex).collect();
        ContactSurface::new(input)
    }

    #[test]
    fn a_shell_is_not_deep_in_one_that_it_lies_in_at_rest() {
        let surface = spheres();
        let rest = surface.input.skin.clone();
        assert_eq!(measure_penetration(&surface, &rest).count(), 0);
        // The second comes until it overlaps the first by 0.4; both measure the same depth.
        let third = surface.point_count() / 3;
        let mut now = rest;
        for p in &mut now[third..2 * third] {
            *p -= Vec3::X * 2.4;
        }
        let found = measure_penetration(&surface, &now);
        assert!(found.points.iter().all(|&point| point < 2 * third as u32));
        assert!((found.worst() - 0.4).abs() < 0.02, "{}", found.worst());
        // The small one goes where it likes within its cover, but not into the other.
        let small = |x: f32| {
            let mut now = surface.input.skin.clone();
            for p in &mut now[2 * third..] {
                *p += Vec3::X * x;
            }
            measure_penetration(&surface, &now).count()
        };
        assert_eq!(small(0.6), 0);
        assert!(small(3.5) > 0);
    }
}
