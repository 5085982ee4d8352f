//! Which skin points are inside prisms of other parts of the skin.

use glam::{Vec3, Vec3A};
use rayon::prelude::*;

use super::inside::weights_inside;
use super::surface::ContactSurface;
use super::tree::{Bounds, PACKET};

/// A skin point in a prism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The skin point.
    pub point: u32,
    /// The triangle of the prism.
    pub triangle: u32,
    /// Weights of the triangle's corners in the point's foot.
    pub weights: [f32; 3],
    /// Normal of the skin at the foot.
    pub normal: Vec3A,
    /// Distance from the foot along the normal \[m\]; negative: inside.
    pub distance: f32,
}

const NOT_FOUND: Found = Found {
    point: u32::MAX,
    triangle: u32::MAX,
    weights: [0.0; 3],
    normal: Vec3A::ZERO,
    distance: f32::NEG_INFINITY,
};

/// A triangle whose normal's cosine with the point's is above this faces the same way. At 0, the flanks of a limb that is pressed flat
/// stay inside; at 1, a hand in a belly is pulled through to its other side.
pub(super) const FACING: f32 = 0.5;

/// Which of the prisms that contain a point counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The one it is least deep in, of those whose triangle faces the point's own normal.
    Facing,
    /// The one it is deepest in, likewise.
    Deepest,
    /// The one it is least deep in, whatever it faces, without the shell: what is measured.
    Any,
}

/// Positions of a surface at one moment, and what was found there. Holds its memory from step to step.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    pub(crate) skin: Vec<Vec3A>,
    pub(crate) bases: Vec<Vec3A>,
    pub(crate) normals: Vec<Vec3A>,
    face_normals: Vec<Vec3A>,
    bounds: Vec<Bounds>,
    /// What was found for each point, in the order of the tree.
    slots: Vec<Found>,
}

impl Detector {
    /// For one surface.
    pub fn new(surface: &ContactSurface) -> Detector {
        let (points, triangles) = (surface.point_count(), surface.triangles().len());
        Detector {
            skin: vec![Vec3A::ZERO; points],
            bases: vec![Vec3A::ZERO; points],
            normals: vec![Vec3A::ZERO; points],
            face_normals: vec![Vec3A::ZERO; triangles],
            bounds: Vec::new(),
            slots: vec![NOT_FOUND; surface.tree.points.len()],
        }
    }

    /// Takes positions of skin and base points; normals and the tree follow.
    pub fn update(
        &mut self,
        surface: &ContactSurface,
        skin: impl Fn(usize) -> Vec3 + Sync,
        base: impl Fn(usize) -> Vec3 + Sync,
    ) {
        for (i, (s, b)) in self.skin.iter_mut().zip(&mut self.bases).enumerate() {
            *s = skin(i).into();
            *b = base(i).into();
        }
        let positions = &self.skin;
        // Large triangles count for more in the normals of their corners.
        let face = |&[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [a, b, c].map(|v| positions[v as usize]);
            (b - a).cross(c - a)
        };
        self.face_normals
            .par_iter_mut()
            .with_min_len(512)
            .zip(surface.triangles())
            .for_each(|(normal, triangle)| *normal = face(triangle));
        let faces = &self.face_normals;
        self.normals
            .par_iter_mut()
            .with_min_len(512)
            .enumerate()
            .for_each(|(v, normal)| {
                let fan = surface.fans.of(v as u32);
                let sum: Vec3A = fan.iter().map(|&t| faces[t as usize]).sum();
                *normal = sum.normalize_or_zero();
            });
        self.face_normals
            .par_iter_mut()
            .with_min_len(512)
            .for_each(|normal| *normal = normal.normalize_or_zero());
        let faces = &self.face_normals;
        let (shell, bases, normals) = (surface.shell(), &self.bases, &self.normals);
        surface.tree.refit(&mut self.bounds, |t| {
            let mut bounds = Bounds::EMPTY;
            for v in surface.triangles()[t as usize] {
                let v = v as usize;
                bounds.add_point(positions[v] + normals[v] * shell);
                bounds.add_point(bases[v]);
            }
            bounds.add_normal(faces[t as usize]);
            bounds
        });
    }

    /// Looks for every skin point in the prisms of others.
    pub fn search(&mut self, surface: &ContactSurface, filter: Filter) {
        let mut slots = std::mem::take(&mut self.slots);
        let points = &surface.tree.points;
        slots
            .par_chunks_mut(PACKET)
            .with_min_len(8)
            .zip(points.par_chunks(PACKET))
            .for_each(|(slots, points)| self.search_packet(surface, filter, points, slots));
        self.slots = slots;
    }

    /// What the last search found, in the order of the tree.
    pub fn found(&self) -> impl Iterator<Item = &Found> {
        self.slots.iter().filter(|found| found.point != u32::MAX)
    }

    fn search_packet(
        &self,
        surface: &ContactSurface,
        filter: Filter,
        points: &[u32],
        slots: &mut [Found],
    ) {
        slots.fill(NOT_FOUND);
        let mut packet = Bounds::EMPTY;
        for &v in points {
            packet.add_point(self.skin[v as usize]);
            packet.add_normal(self.normals[v as usize]);
        }
        let facing = match filter {
            Filter::Facing | Filter::Deepest => FACING,
            Filter::Any => f32::INFINITY,
        };
        surface
            .tree
            .walk(&self.bounds, &packet, facing, |bounds, triangles| {
                for (slot, &v) in slots.iter_mut().zip(points) {
                    let (at, normal) = (self.skin[v as usize], self.normals[v as usize]);
                    if !bounds.may_hold(at, normal, facing) {
                        continue;
                    }
                    for &t in triangles {
                        let Some(found) = self.point_in_prism(surface, filter, v, t) else {
                            continue;
                        };
                        let closer = match filter {
                            Filter::Deepest => found.distance < slot.distance,
                            _ => found.distance > slot.distance,
                        };
                        if slot.point == u32::MAX || closer {
                            *slot = found;
                        }
                    }
                }
            });
    }

    #[inline]
    fn point_in_prism(
        &self,
        surface: &ContactSurface,
        filter: Filter,
        point: u32,
        triangle: u32,
    ) -> Option<Found> {
        let position = self.skin[point as usize];
        let shell = match filter {
            Filter::Any => 0.0,
            _ => surface.shell(),
        };
        let face = self.face_normals[triangle as usize];
        if filter != Filter::Any && face.dot(self.normals[point as usize]) > FACING {
            return None;
        }
        let triangle_points = surface.triangles()[triangle as usize];
        let skin = triangle_points.map(|v| self.skin[v as usize]);
        let normals = triangle_points.map(|v| self.normals[v as usize]);
        let bases = triangle_points.map(|v| self.bases[v as usize]);
        let low = bases[0].min(bases[1]).min(bases[2]);
        let high = bases[0].max(bases[1]).max(bases[2]);
        let top = [0, 1, 2].map(|i| skin[i] + normals[i] * shell);
        let low = low.min(top[0]).min(top[1]).min(top[2]);
        let high = high.max(top[0]).max(top[1]).max(top[2]);
        if (position.cmplt(low) | position.cmpgt(high)).any() {
            return None;
        }
        let corners = [top[0], top[1], top[2], bases[0], bases[1], bases[2]];
        for tet in surface.tets_of(triangle) {
            let Some(weights) = weights_inside(tet.map(|c| corners[c as usize]), position) else {
                continue;
            };
            if surface.is_near(point, triangle) {
                return None;
            }
            let mut foot_weights = [0.0; 3];
            for (&corner, w) in tet.iter().zip(weights) {
                foot_weights[corner as usize % 3] += w;
            }
            let blend = |p: [Vec3A; 3]| {
                p[0] * foot_weights[0] + p[1] * foot_weights[1] + p[2] * foot_weights[2]
            };
            let normal = blend(normals).normalize_or_zero();
            return Some(Found {
                point,
                triangle,
                weights: foot_weights,
                normal,
                distance: normal.dot(position - blend(skin)),
            });
        }
        None
    }
}
