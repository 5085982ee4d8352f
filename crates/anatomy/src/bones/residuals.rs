//! Residuals of the placing: what is asked of the segments, each over its standard deviation.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};
use rayon::prelude::*;
use supple_geom::least_squares::Rows;

use super::fit::Problem;
use super::maps::Stretch;
use super::segments::Segment;
use super::targets::Target;

/// Deviation of a joint's two points from each other \[m\]: small enough that gaps stay below a tenth of a millimetre.
const JOINT: f64 = 2e-5;
/// Deviation of a vertex from its margin \[m\].
const INSIDE: f64 = 0.001;
/// Vertices of a segment above their margin that count fully; of more each counts less, so that dense meshes are not pushed harder.
const FULL_VERTICES: f64 = 100.0;
/// Deviation of scales from the body's size, and of those of one segment from each other.
const SCALE: f64 = 0.06;
const SHAPE: f64 = 0.05;
/// The same of the pelvis: what tells a woman's from a man's must not be scaled away to reach the skin.
const PELVIS_SHAPE: f64 = 0.015;
/// Deviation of the scales of neighbours from each other.
const NEIGHBOURS: f64 = 0.04;
/// Deviation of turns from the start \[rad\].
const TURN: f64 = 0.12;
/// Deviation of the bend between two vertebrae, and of its change to the next \[rad\].
const BEND: f64 = 0.10;
const BEND_CHANGE: f64 = 0.02;
/// Deviation of the scapula from its place on the rib cage \[m\].
const SCAPULA: f64 = 0.012;
/// Deviation of midline segments from the midline of a symmetric body \[m\], and the lever by which it is an angle \[m\].
const MIDLINE: f64 = 1e-4;
const MIDLINE_LEVER: f64 = 0.1;
/// Steps after which each is allowed less than the one before, and how much: vertices that come and go at their margin would
/// else keep bones swinging by a millimetre.
const FREE_STEPS: usize = 12;
const COOLING: f64 = 0.8;
/// Deviations of one step \[m\], \[rad\], none: larger ones let skin that comes near late throw bones, smaller ones need more
/// steps. Not a share of the curvature: joints are so stiff that it would stop all motion.
const STEP: [f64; 3] = [0.010, 0.10, 0.05];

/// Margin of a segment below the skin \[m\].
fn margin(name: &str) -> f64 {
    let stem = name.trim_end_matches("_l").trim_end_matches("_r");
    match stem {
        "pelvis" | "thorax" | "humerus" | "scapula" => 0.005,
        "skull" | "clavicle" => 0.004,
        "femur" | "tibia" | "ulna" | "radius" | "foot" => 0.003,
        _ if stem.len() == 2 => 0.006,
        _ => 0.0022,
    }
}

/// A bone vertex with its eₖ.
pub(super) struct Vertex {
    pub segment: usize,
    pub basis: [DVec3; 3],
    /// Where its depth was last found, and the depth.
    pub known: (DVec3, f64),
}

/// Writes a residual `r` with derivatives.
fn add(rows: &mut dyn Rows<1>, row: &[(u32, f64)], r: f64) {
    rows.row(1.0, row, [r]);
}

/// The residuals of segments where they are.
pub(super) struct System<'a> {
    pub problem: &'a Problem<'a>,
    pub segments: &'a [Segment],
    pub starts: &'a [u32],
    pub index: &'a BTreeMap<String, usize>,
}

impl System<'_> {
    /// Derivatives of a point along `direction`, times `weight`.
    fn row(
        &self,
        segment: usize,
        basis: &[DVec3; 3],
        direction: DVec3,
        weight: f64,
        row: &mut Vec<(u32, f64)>,
    ) {
        let placed = &self.segments[segment].placed;
        let start = self.starts[segment];
        let arm = placed.turn * placed.arm(basis);
        let turn = arm.cross(direction);
        for k in 0..3 {
            row.push((start + k as u32, weight * direction[k]));
            row.push((start + 3 + k as u32, weight * turn[k]));
        }
        let scales = self.segments[segment].map.scales();
        for (k, column) in (0u32..).zip(&basis[..scales]) {
            let slope = direction.dot(placed.turn * *column);
            row.push((start + 6 + k, weight * slope));
        }
    }

    fn point(&self, segment: usize, source: DVec3) -> (DVec3, [DVec3; 3]) {
        let basis = self.segments[segment].map.basis(source);
        (self.segments[segment].placed.point(&basis), basis)
    }

    fn pull_together(
        &self,
        rows: &mut dyn Rows<1>,
        names: [&str; 2],
        at: [DVec3; 2],
        deviation: f64,
    ) {
        let [Some(&a), Some(&b)] = names.map(|name| self.index.get(name)) else {
            return;
        };
        let (pa, basis_a) = self.point(a, at[0]);
        let (pb, basis_b) = self.point(b, at[1]);
        let weight = 1.0 / deviation;
        for axis in DVec3::AXES {
            let mut row = Vec::with_capacity(18);
            self.row(a, &basis_a, axis, weight, &mut row);
            self.row(b, &basis_b, axis, -weight, &mut row);
            add(rows, &row, weight * (pa - pb).dot(axis));
        }
    }

    pub fn damping(&self, rows: &mut dyn Rows<1>, round: usize) {
        let cooled = COOLING.powi(round.saturating_sub(FREE_STEPS) as i32);
        for (segment, &start) in self.segments.iter().zip(self.starts) {
            for k in 0..6 + segment.map.scales() {
                let step = cooled * STEP[(k / 3).min(2)];
                add(rows, &[(start + k as u32, 1.0 / step)], 0.0);
            }
        }
    }

    pub fn joints(&self, rows: &mut dyn Rows<1>) {
        for joint in self.problem.joints {
            let names = [joint.segments[0].as_str(), joint.segments[1].as_str()];
            self.pull_together(rows, names, joint.at, joint.give.unwrap_or(JOINT));
        }
        for side in ["l", "r"] {
            let scapula = format!("scapula_{side}");
            let Some(&s) = self.index.get(&scapula) else {
                continue;
            };
            // Two places of the blade, so that it keeps its tilt on the ribs too.
            let bones = &self.segments[s].bones;
            for &bone in bones {
                let bounds = self.problem.set.bones[bone].mesh.bounds();
                let middle = bounds.center().as_dvec3();
                let low = DVec3::new(middle.x, f64::from(bounds.min.y), middle.z);
                self.pull_together(rows, ["thorax", &scapula], [middle; 2], SCAPULA);
                self.pull_together(rows, ["thorax", &scapula], [low; 2], SCAPULA);
            }
        }
    }

    fn pull_to(&self, rows: &mut dyn Rows<1>, segment: usize, source: DVec3, target: &Target) {
        let (p, basis) = self.point(segment, source);
        let across = target.axis.any_orthonormal_vector();
        let [along_deviation, across_deviation] = target.deviation;
        let directions = [
            (target.axis, along_deviation),
            (across, across_deviation),
            (target.axis.cross(across), across_deviation),
        ];
        for (direction, deviation) in directions {
            let mut row = Vec::with_capacity(9);
            self.row(segment, &basis, direction, 1.0 / deviation, &mut row);
            add(rows, &row, (p - target.at).dot(direction) / deviation);
        }
    }

    pub fn targets(&self, rows: &mut dyn Rows<1>) {
        for joint in self.problem.joints {
            let target = self.problem.targets.joints.get(&joint.name);
            if let (Some(target), Some(&segment)) = (target, self.index.get(&joint.segments[1])) {
                self.pull_to(rows, segment, joint.at[1], target);
            }
        }
        for (name, target) in &self.problem.targets.tips {
            let Some(&segment) = self.index.get(name) else {
                continue;
            };
            let map = &self.segments[segment].map;
            if let Stretch::Long { length, .. } = map.stretch {
                let tip = map.origin + map.frame.y_axis * length;
                self.pull_to(rows, segment, tip, target);
            }
        }
    }

    /// Outward direction and depth of a point below the skin \[m\].
    fn depth(&self, p: DVec3) -> Option<(DVec3, f64)> {
        let point = p.as_vec3();
        let closest = self.problem.skin.closest_point(point)?;
        let inside = self.problem.skin.contains(point);
        let out = (closest.position.as_dvec3() - p) * if inside { 1.0 } else { -1.0 };
        let distance = f64::from(closest.distance);
        let normal = || {
            let triangle = closest.triangle as usize;
            self.problem
                .skin
                .mesh()
                .triangle_normal(triangle)
                .as_dvec3()
        };
        let direction = if distance > 1e-5 {
            out.normalize_or(DVec3::Y)
        } else {
            normal()
        };
        Some((direction, if inside { distance } else { -distance }))
    }

    pub fn sites(&self, rows: &mut dyn Rows<1>) {
        for site in self.problem.sites {
            let Some(&segment) = self.index.get(&site.segment) else {
                continue;
            };
            let (p, basis) = self.point(segment, site.at);
            let Some((out, depth)) = self.depth(p) else {
                continue;
            };
            let mut row = Vec::with_capacity(9);
            self.row(segment, &basis, -out, 1.0 / site.deviation, &mut row);
            add(
                rows,
                &row,
                (depth - site.depth * self.problem.size) / site.deviation,
            );
        }
    }

    pub fn priors(&self, rows: &mut dyn Rows<1>) {
        let size = self.problem.size;
        for (s, segment) in self.segments.iter().enumerate() {
            let start = self.starts[s];
            let count = segment.map.scales();
            let shape = if segment.name == "pelvis" {
                PELVIS_SHAPE
            } else {
                SHAPE
            };
            for k in 0..count {
                let deviation = match segment.map.stretch {
                    Stretch::Long { .. } if k == 1 => 2.0 * SCALE,
                    _ => SCALE,
                } * size;
                let r = (segment.placed.scales[k] - size) / deviation;
                add(rows, &[(start + 6 + k as u32, 1.0 / deviation)], r);
                for j in 0..k {
                    let deviation = shape * size;
                    let r = (segment.placed.scales[k] - segment.placed.scales[j]) / deviation;
                    let row = [
                        (start + 6 + k as u32, 1.0 / deviation),
                        (start + 6 + j as u32, -1.0 / deviation),
                    ];
                    add(rows, &row, r);
                }
            }
            let since = segment.placed.turn * segment.start.turn.transpose();
            let turned = DQuat::from_mat3(&since).to_scaled_axis();
            for k in 0..3 {
                add(
                    rows,
                    &[(start + 3 + k as u32, 1.0 / TURN)],
                    turned[k] / TURN,
                );
            }
        }
    }

    /// Segments of the midline stay on it as far as the body is symmetric.
    pub fn midline(&self, rows: &mut dyn Rows<1>) {
        let off = self.problem.asymmetry + MIDLINE;
        let tilt = off / MIDLINE_LEVER;
        for (segment, &start) in self.segments.iter().zip(self.starts) {
            if segment.name.ends_with("_l") || segment.name.ends_with("_r") {
                continue;
            }
            add(rows, &[(start, 1.0 / off)], segment.placed.at.x / off);
            let turned = DQuat::from_mat3(&segment.placed.turn).to_scaled_axis();
            for k in [1, 2] {
                add(
                    rows,
                    &[(start + 3 + k as u32, 1.0 / tilt)],
                    turned[k] / tilt,
                );
            }
        }
    }

    /// Segments that meet have about the same scale.
    pub fn neighbours(&self, rows: &mut dyn Rows<1>) {
        let deviation = NEIGHBOURS * self.problem.size;
        for joint in self.problem.joints {
            let [Some(&a), Some(&b)] = [0, 1].map(|k| self.index.get(&joint.segments[k])) else {
                continue;
            };
            let mut row = Vec::new();
            let mut r = 0.0;
            for (s, sign) in [(a, 1.0), (b, -1.0)] {
                let segment = &self.segments[s];
                let scales = match segment.map.stretch {
                    Stretch::Axes => 3,
                    _ => 1,
                };
                for k in 0..scales {
                    row.push((
                        self.starts[s] + 6 + k as u32,
                        sign / (scales as f64 * deviation),
                    ));
                    r += sign * segment.placed.scales[k] / (scales as f64 * deviation);
                }
            }
            add(rows, &row, r);
        }
    }

    /// The spine bends a little everywhere rather than much somewhere.
    pub fn bends(&self, rows: &mut dyn Rows<1>) {
        let lumbar = ["pelvis", "L5", "L4", "L3", "L2", "L1", "thorax"];
        let neck = ["thorax", "C7", "C6", "C5", "C4", "C3", "C2", "C1", "skull"];
        for chain in [&lumbar[..], &neck[..]] {
            let chain: Vec<usize> = chain
                .iter()
                .filter_map(|name| self.index.get(*name).copied())
                .collect();
            let turned = |s: usize| {
                let segment = &self.segments[s];
                DQuat::from_mat3(&(segment.placed.turn * segment.map.frame.transpose()))
                    .to_scaled_axis()
            };
            for two in chain.windows(2) {
                let bend = turned(two[1]) - turned(two[0]);
                for k in 0..3 {
                    let row = [(two[1], 1.0), (two[0], -1.0)]
                        .map(|(s, f)| (self.starts[s] + 3 + k as u32, f / BEND));
                    add(rows, &row, bend[k] / BEND);
                }
            }
            for three in chain.windows(3) {
                let change = turned(three[0]) - 2.0 * turned(three[1]) + turned(three[2]);
                for k in 0..3 {
                    let row = [(three[0], 1.0), (three[1], -2.0), (three[2], 1.0)]
                        .map(|(s, f)| (self.starts[s] + 3 + k as u32, f / BEND_CHANGE));
                    add(rows, &row, change[k] / BEND_CHANGE);
                }
            }
        }
    }

    /// Vertices that are not as deep as their margin are pushed there.
    pub fn inside(&self, rows: &mut dyn Rows<1>, vertices: &mut [Vertex]) {
        let margins: Vec<f64> = self.segments.iter().map(|s| margin(&s.name)).collect();
        let found: Vec<Option<(DVec3, f64)>> = vertices
            .par_iter_mut()
            .map(|vertex| {
                let p = self.segments[vertex.segment].placed.point(&vertex.basis);
                let (known_at, known_depth) = vertex.known;
                let margin = margins[vertex.segment];
                // Depth changes no faster than the point moves.
                if known_depth - p.distance(known_at) > margin {
                    return None;
                }
                let (out, depth) = self.depth(p)?;
                vertex.known = (p, depth);
                (depth < margin).then_some((out, depth))
            })
            .collect();
        let mut counts = vec![0.0; self.segments.len()];
        for (vertex, _) in vertices
            .iter()
            .zip(&found)
            .filter(|(_, found)| found.is_some())
        {
            counts[vertex.segment] += 1.0;
        }
        for (vertex, found) in vertices.iter().zip(found) {
            let Some((out, depth)) = found else {
                continue;
            };
            let weight = (FULL_VERTICES / counts[vertex.segment]).min(1.0).sqrt() / INSIDE;
            let mut row = Vec::with_capacity(9);
            self.row(vertex.segment, &vertex.basis, -out, weight, &mut row);
            add(rows, &row, weight * (depth - margins[vertex.segment]));
        }
    }
}
