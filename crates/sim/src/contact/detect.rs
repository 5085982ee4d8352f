//! Detection of skin points inside prisms of other parts of the skin.

use glam::{Vec3, Vec3A, Vec4};
use rayon::prelude::*;
use supple_geom::simd::{Row, dispatch};

use super::fit::{Fit, face_normals};
use super::inside::weights_inside;
use super::local_search::{LocalSearch, Now};
use super::rules;
use super::search::{PACKET, Packet, SearchPacket, calm_limits};
use super::surface::ContactSurface;

/// Points or triangles per task.
const CHUNK: usize = 512;

/// Packets per task: small, because crushed skin takes much longer than the rest.
const PACKETS_PER_TASK: usize = 4;

/// One skin point in this many is sampled to estimate the common motion.
const SAMPLE_STRIDE: usize = 16;

/// A skin point in a prism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The skin point.
    pub point: u32,
    /// The triangle of the prism.
    pub triangle: u32,
    /// Barycentric weights of the point's foot.
    pub weights: [f32; 3],
    /// Normal of the skin at the foot.
    pub normal: Vec3A,
    /// Distance from the foot along the normal \[m\]; negative inside.
    pub distance: f32,
}

pub(super) const NOT_FOUND: Found = Found {
    point: u32::MAX,
    triangle: u32::MAX,
    weights: [0.0; 3],
    normal: Vec3A::ZERO,
    distance: f32::NEG_INFINITY,
};

/// Distance at which points start to be tracked against a leaf of eight prisms \[shells\]. Farther points are skipped
/// until the remaining distance has been covered. A larger margin tests more points, a smaller one tests them more
/// often.
const MARGIN: f32 = 0.25;
/// Which of the prisms that contain a point is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The one it is least deep in, among those whose triangle faces the point's own normal.
    Facing,
    /// The one it is deepest in, among the same.
    Deepest,
}

/// State of a surface at one moment, and what was detected there. Keeps its memory from step to step.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    pub(super) skin: Vec<Row>,
    pub(crate) normals: Vec<Vec3A>,
    /// Skin points raised by the shell: upper ends of the columns.
    tops: Vec<Row>,
    bases: Vec<Row>,
    /// Motion of each point's column, skin and normal since the tree was fitted, relative to the common motion.
    steps: Vec<Row>,
    /// Scratch: motion of each skin point.
    shifts: Vec<Row>,
    /// Triangle normals in tree order, twice the area long.
    faces: Vec<Row>,
    pub(super) fit: Fit,
    /// Whether the tree fits the current positions.
    is_fitted: bool,
    /// Whether only some points were updated.
    is_partial: bool,
    packets: Vec<Packet>,
    /// Points whose deep contacts are accepted without a ray test.
    trusted: Vec<bool>,
    /// Points that the search skips.
    pub(super) skipped: Vec<bool>,
    /// Detected contact of each point, in tree order or in the order of local contact.
    pub(super) slots: Vec<Found>,
    pub(super) local_search: LocalSearch,
}

#[inline]
pub(super) fn vector(row: Row) -> Vec3A {
    Vec3A::from_vec4(Vec4::from_array(row.0))
}

/// Interpolates with barycentric weights.
#[inline]
pub(super) fn blend(weights: [f32; 3], [a, b, c]: [Vec3A; 3]) -> Vec3A {
    a * weights[0] + b * weights[1] + c * weights[2]
}

#[inline]
fn row(vector: Vec3A) -> Row {
    Row::new(vector.to_array())
}

impl Detector {
    /// For one surface.
    pub fn new(surface: &ContactSurface) -> Detector {
        let points = surface.point_count();
        Detector {
            skin: vec![Row::default(); points],
            normals: vec![Vec3A::ZERO; points],
            tops: vec![Row::default(); points],
            bases: vec![Row::default(); points],
            steps: vec![Row::default(); points],
            shifts: vec![Row::default(); points],
            faces: vec![Row::default(); surface.tree.order.len()],
            fit: Fit::default(),
            is_fitted: false,
            is_partial: false,
            packets: vec![Packet::default(); surface.tree.points.len().div_ceil(PACKET)],
            trusted: vec![false; points],
            skipped: vec![false; points],
            slots: vec![NOT_FOUND; surface.tree.points.len()],
            local_search: LocalSearch::default(),
        }
    }

    /// A skin point \[m\].
    #[inline]
    pub(super) fn skin(&self, point: u32) -> Vec3A {
        vector(self.skin[point as usize])
    }

    /// All skin points \[m\].
    pub(super) fn all_skin(&self) -> impl ExactSizeIterator<Item = Vec3A> {
        self.skin.iter().map(|&at| vector(at))
    }

    /// Sets positions of skin and base points; updates normals and the tree.
    pub fn update(
        &mut self,
        surface: &ContactSurface,
        skin: impl Fn(usize) -> Vec3 + Sync,
        base: impl Fn(usize) -> Vec3 + Sync,
    ) {
        self.update_positions(surface, skin, base);
        self.fit(surface);
    }

    /// Sets positions of skin and base points; updates normals.
    pub(super) fn update_positions(
        &mut self,
        surface: &ContactSurface,
        skin: impl Fn(usize) -> Vec3 + Sync,
        base: impl Fn(usize) -> Vec3 + Sync,
    ) {
        if std::mem::take(&mut self.is_partial) {
            self.packets.iter_mut().for_each(Packet::forget);
        }
        // Common motion, as of a running body, brings no parts closer to each other.
        let (mut sum, mut count) = (Vec3A::ZERO, 0);
        for i in (0..self.skin.len()).step_by(SAMPLE_STRIDE) {
            sum += Vec3A::from(skin(i)) - vector(self.skin[i]);
            count += 1;
        }
        let together = sum / count.max(1) as f32;
        (self.skin.par_iter_mut())
            .zip(&mut self.shifts)
            .with_min_len(CHUNK)
            .enumerate()
            .for_each(|(i, (at, shift))| {
                let new = Row::new(skin(i).to_array());
                *shift = new - *at;
                *at = new;
            });
        face_normals(&surface.tree, &self.skin, &mut self.faces);
        let (positions, faces, shell) = (&self.skin, &self.faces, surface.shell());
        let (shifts, was_fitted) = (&self.shifts, std::mem::take(&mut self.is_fitted));
        let corners = self.tops.par_iter_mut().zip(&mut self.bases);
        (self.normals.par_iter_mut())
            .zip(corners)
            .zip(&mut self.steps)
            .with_min_len(CHUNK)
            .enumerate()
            .for_each(|(v, ((normal, (top, below)), step))| {
                let fan = surface.fans.of(v as u32);
                let mut sum = Row::default();
                for &t in fan {
                    sum = sum + faces[t as usize];
                }
                let new_normal = vector(sum).normalize_or_zero();
                let new_top = vector(positions[v]) + new_normal * shell;
                let new_base = Vec3A::from(base(v));
                let raised = (new_top - vector(*top) - together).length();
                let deep = (new_base - vector(*below) - together).length();
                let moved = (vector(shifts[v]) - together).length();
                let turned = (new_normal - *normal).length();
                let new_step = Row([raised.max(deep), moved, turned, 0.0]);
                *step = match was_fitted {
                    true => new_step,
                    false => *step + new_step,
                };
                *normal = new_normal;
                *top = row(new_top);
                *below = row(new_base);
            });
    }

    /// Refits the tree.
    pub(super) fn fit(&mut self, surface: &ContactSurface) {
        let (tops, bases, steps) = (&self.tops, &self.bases, &self.steps);
        let calm = calm_limits(MARGIN * surface.shell());
        (self.fit).update(&surface.tree, tops, bases, steps, &self.faces, calm);
        self.is_fitted = true;
    }

    /// Sets positions of some skin and base points and updates their normals, but not the tree.
    pub(super) fn update_some(&mut self, surface: &ContactSurface, points: &[u32], now: &Now) {
        for &point in points {
            let v = point as usize;
            let at = Vec3A::from(now.skin(point));
            let mut sum = Vec3A::ZERO;
            for &ends in surface.rim(point) {
                let [b, c] = ends.map(|v| Vec3A::from(now.skin(v)) - at);
                sum += b.cross(c);
            }
            self.skin[v] = row(at);
            self.normals[v] = sum.normalize_or_zero();
            self.tops[v] = row(at + self.normals[v] * surface.shell());
            self.bases[v] = row(now.base(point).into());
        }
        // The other points are out of date now.
        self.is_partial = true;
    }

    /// Ends of the column at a point: above the skin, and on the bone.
    #[inline]
    pub(super) fn column(&self, point: u32) -> (Vec3A, Vec3A) {
        let v = point as usize;
        (vector(self.tops[v]), vector(self.bases[v]))
    }

    /// Push direction at a foot.
    pub(super) fn push_direction(&self, corners: [u32; 3], weights: [f32; 3]) -> Vec3A {
        let normals = corners.map(|v| self.normals[v as usize]);
        let columns = corners.map(|v| {
            let (top, base) = self.column(v);
            (top - base).normalize_or_zero()
        });
        let normal = blend(weights, normals).normalize_or_zero();
        if normal == Vec3A::ZERO {
            return normal;
        }
        let column = blend(weights, columns).normalize_or_zero();
        normal.lerp(column, rules::COLUMN_SHARE).normalize_or_zero()
    }

    pub(super) fn is_trusted(&self, point: u32) -> bool {
        self.trusted[point as usize]
    }

    /// Accepts deep contacts of these points without a ray test from now on, and of no others.
    pub fn trust(&mut self, points: impl Iterator<Item = u32>) {
        self.trusted.fill(false);
        for point in points {
            if let Some(slot) = self.trusted.get_mut(point as usize) {
                *slot = true;
            }
        }
    }

    /// Skips these points in searches from now on, and no others.
    pub(super) fn skip(&mut self, points: impl Iterator<Item = u32>) {
        self.skipped.fill(false);
        for point in points {
            if let Some(slot) = self.skipped.get_mut(point as usize) {
                *slot = true;
            }
        }
    }

    /// Searches for every skin point in the prisms of other parts.
    pub fn search(&mut self, surface: &ContactSurface, filter: Filter) {
        let mut slots = std::mem::take(&mut self.slots);
        let mut packets = std::mem::take(&mut self.packets);
        let points = &surface.tree.points;
        slots.resize(points.len(), NOT_FOUND);
        slots
            .par_chunks_mut(PACKET)
            .with_max_len(PACKETS_PER_TASK)
            .zip(points.par_chunks(PACKET))
            .zip(&mut packets)
            .for_each(|((slots, points), packet)| {
                self.search_packet(surface, filter, packet, points, slots);
            });
        self.slots = slots;
        self.packets = packets;
    }

    /// Contacts detected by the last search, in tree order.
    pub fn found(&self) -> impl Iterator<Item = &Found> {
        self.slots.iter().filter(|found| found.point != u32::MAX)
    }

    fn search_packet(
        &self,
        surface: &ContactSurface,
        filter: Filter,
        packet: &mut Packet,
        points: &[u32],
        slots: &mut [Found],
    ) {
        slots.fill(NOT_FOUND);
        dispatch(SearchPacket {
            fit: &self.fit,
            packet,
            points,
            skipped: &self.skipped,
            skin: &self.skin,
            normals: &self.normals,
            steps: &self.steps,
            margin: MARGIN * surface.shell(),
            near: |i: usize, leaf: u32| surface.near_in_leaf(points[i], leaf),
            found: |i: usize, number: usize| {
                let triangle = surface.tree.order[number];
                if surface.are_together(points[i], triangle) {
                    return;
                }
                let Some(found) = self.point_in_prism(surface, points[i], triangle) else {
                    return;
                };
                let slot = &mut slots[i];
                let closer = match filter {
                    Filter::Deepest => found.distance < slot.distance,
                    Filter::Facing => found.distance > slot.distance,
                };
                if slot.point == u32::MAX || closer {
                    *slot = found;
                }
            },
        });
        if filter == Filter::Facing {
            for slot in slots.iter_mut().filter(|slot| slot.point != u32::MAX) {
                if !self.is_accepted(surface, slot) {
                    *slot = NOT_FOUND;
                }
            }
        }
    }

    fn is_accepted(&self, surface: &ContactSurface, found: &Found) -> bool {
        found.distance > -rules::RAY_CHECK_DEPTH * surface.mean_edge()
            || self.trusted[found.point as usize]
            || self.crossings(surface, found.point, found.triangle) > 0
    }

    /// The exact test, after the tree's conservative one.
    pub(super) fn point_in_prism(
        &self,
        surface: &ContactSurface,
        point: u32,
        triangle: u32,
    ) -> Option<Found> {
        let position = self.skin(point);
        let triangle_points = *surface.triangles().get(triangle as usize)?;
        let [a, b, c] = triangle_points.map(|v| v as usize);
        let corners = [
            self.tops[a],
            self.tops[b],
            self.tops[c],
            self.bases[a],
            self.bases[b],
            self.bases[c],
        ]
        .map(vector);
        for tet in surface.tets_of(triangle) {
            let Some(weights) = weights_inside(tet.map(|c| corners[c as usize]), position) else {
                continue;
            };
            let mut foot_weights = [0.0; 3];
            for (&corner, w) in tet.iter().zip(weights) {
                foot_weights[corner as usize % 3] += w;
            }
            let skin = triangle_points.map(|v| self.skin(v));
            let normal = self.push_direction(triangle_points, foot_weights);
            return Some(Found {
                point,
                triangle,
                weights: foot_weights,
                normal,
                distance: normal.dot(position - blend(foot_weights, skin)),
            });
        }
        None
    }
}
