//! The placing as one least-squares problem over all segments, solved by damped Gauss-Newton steps.
//!
//! Unknown are a shift, a turn and one to three scales of each segment. Residuals, each over its standard deviation:
//! joints (nearly hard), depth of bone vertices below their margin, depth at sites, distance of joints from the body's, scales from
//! the body's size and from their neighbours', turns from the start, and bends between vertebrae.

use std::collections::BTreeMap;

use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use supple_geom::Surface;
use supple_geom::sparse::{Ldlt, SymmetricCsc};

use super::articulations::Articulation;
use super::maps::Stretch;
use super::read::{BoneError, BoneSet};
use super::segments::Segment;
use super::sites::Site;
use super::targets::{Target, Targets};

/// Deviation of a joint's two points from each other \[m\]: small enough that gaps stay below a tenth of a millimetre.
const JOINT: f64 = 2e-5;
/// Deviation of a vertex from its margin \[m\].
const INSIDE: f64 = 0.001;
/// Vertices of a segment that count fully; of larger ones each counts less, so that dense meshes are not pushed harder.
const FULL_VERTICES: f64 = 150.0;
/// Deviation of scales from the body's size, and of those of one segment from each other.
const SCALE: f64 = 0.06;
const SHAPE: f64 = 0.05;
/// Bounds of scales against the body's size: beyond them bones would look squashed or swollen.
pub(super) const SCALE_BOUNDS: [f64; 2] = [0.8, 1.2];
/// Deviation of the scales of neighbours from each other.
const NEIGHBOURS: f64 = 0.04;
/// Deviation of turns from the start \[rad\].
const TURN: f64 = 0.12;
/// Deviation of the bend between two vertebrae, and of its change to the next \[rad\].
const BEND: f64 = 0.10;
const BEND_CHANGE: f64 = 0.02;
/// Deviation of the scapula from its place on the rib cage \[m\].
const SCAPULA: f64 = 0.012;
/// Steps; the last ones move nothing by a tenth of a millimetre.
const STEPS: usize = 40;
/// Deviations of one step \[m\], \[rad\], none: larger ones let skin that comes near late throw bones, smaller ones need more
/// steps. Not a share of the curvature: joints are so stiff that it would stop all motion.
const STEP: [f64; 3] = [0.010, 0.10, 0.05];

/// A body's skin and what is asked of the bones in it.
pub(super) struct Problem<'a> {
    pub set: &'a BoneSet,
    pub skin: &'a Surface,
    pub joints: &'a [Articulation],
    pub sites: &'a [Site],
    pub targets: &'a Targets,
    pub size: f64,
}

/// Margin of a segment below the skin \[m\].
pub(super) fn margin(name: &str) -> f64 {
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
struct Vertex {
    segment: usize,
    basis: [DVec3; 3],
    /// Where its depth was last found, and the depth.
    known: (DVec3, f64),
}

/// Normal equations.
struct Normal {
    n: usize,
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl Normal {
    /// Adds a residual `r` with derivatives: minimises (r + Σ d·δ)².
    fn add(&mut self, row: &[(usize, f64)], r: f64) {
        for &(i, a) in row {
            self.right[i] -= a * r;
            for &(j, b) in row {
                if j <= i {
                    self.matrix[i * self.n + j] += a * b;
                }
            }
        }
    }

    fn solve(mut self) -> Result<Vec<f64>, String> {
        let mut entries = Vec::new();
        for i in 0..self.n {
            for j in 0..=i {
                let value = self.matrix[i * self.n + j];
                if value != 0.0 {
                    entries.push((i as u32, j as u32, value));
                }
            }
        }
        let matrix = SymmetricCsc::from_entries(self.n, entries).map_err(|e| e.to_string())?;
        let factor = Ldlt::new(&matrix).map_err(|e| e.to_string())?;
        let mut work = vec![0.0; self.n];
        factor.solve(&mut self.right, &mut work);
        Ok(self.right)
    }
}

/// Moves the segments to the minimum.
pub(super) fn fit(problem: &Problem, segments: &mut [Segment]) -> Result<(), BoneError> {
    let mut starts = Vec::new();
    let mut n = 0;
    for segment in segments.iter() {
        starts.push(n);
        n += 6 + segment.map.scales();
    }
    let index: BTreeMap<String, usize> = (segments.iter().enumerate())
        .map(|(i, segment)| (segment.name.clone(), i))
        .collect();
    let mut vertices = Vec::new();
    let mut counts = vec![0.0; segments.len()];
    for (s, segment) in segments.iter().enumerate() {
        for &bone in &segment.bones {
            for p in &problem.set.bones[bone].mesh.positions {
                let basis = segment.map.basis(p.as_dvec3());
                vertices.push(Vertex {
                    segment: s,
                    basis,
                    known: (DVec3::INFINITY, 0.0),
                });
                counts[s] += 1.0;
            }
        }
    }
    for _ in 0..STEPS {
        let mut normal = Normal {
            n,
            matrix: vec![0.0; n * n],
            right: vec![0.0; n],
        };
        let system = System {
            problem,
            segments,
            starts: &starts,
            index: &index,
        };
        system.damping(&mut normal);
        system.joints(&mut normal);
        system.targets(&mut normal);
        system.sites(&mut normal);
        system.priors(&mut normal);
        system.neighbours(&mut normal);
        system.bends(&mut normal);
        system.inside(&mut normal, &mut vertices, &counts);
        let step = normal
            .solve()
            .map_err(|reason| BoneError::Placing { reason })?;
        if step.iter().any(|x| !x.is_finite()) {
            let reason =
                "the equations have no finite solution; check the bones for far-off vertices"
                    .to_owned();
            return Err(BoneError::Placing { reason });
        }
        apply(segments, &starts, &step, problem.size);
    }
    Ok(())
}

fn apply(segments: &mut [Segment], starts: &[usize], step: &[f64], size: f64) {
    for (segment, &start) in segments.iter_mut().zip(starts) {
        let d = &step[start..];
        let placed = &mut segment.placed;
        placed.at += DVec3::new(d[0], d[1], d[2]);
        let turn = DVec3::new(d[3], d[4], d[5]);
        // Long turns are cut: they come from residuals that are far from linear.
        let turn = turn.clamp_length_max(0.3);
        let quat = DQuat::from_scaled_axis(turn) * DQuat::from_mat3(&placed.turn);
        placed.turn = DMat3::from_quat(quat.normalize());
        for k in 0..segment.map.scales() {
            let [low, high] = SCALE_BOUNDS.map(|bound| bound * size);
            placed.scales[k] = (placed.scales[k] + d[6 + k]).clamp(low, high);
        }
    }
}

struct System<'a> {
    problem: &'a Problem<'a>,
    segments: &'a [Segment],
    starts: &'a [usize],
    index: &'a BTreeMap<String, usize>,
}

impl System<'_> {
    /// Derivatives of a point along `direction`, times `weight`.
    fn row(
        &self,
        segment: usize,
        basis: &[DVec3; 3],
        direction: DVec3,
        weight: f64,
        row: &mut Vec<(usize, f64)>,
    ) {
        let placed = &self.segments[segment].placed;
        let start = self.starts[segment];
        let arm = placed.turn * placed.arm(basis);
        let turn = arm.cross(direction);
        for k in 0..3 {
            row.push((start + k, weight * direction[k]));
            row.push((start + 3 + k, weight * turn[k]));
        }
        for k in 0..self.segments[segment].map.scales() {
            row.push((
                start + 6 + k,
                weight * direction.dot(placed.turn * basis[k]),
            ));
        }
    }

    fn point(&self, segment: usize, source: DVec3) -> (DVec3, [DVec3; 3]) {
        let basis = self.segments[segment].map.basis(source);
        (self.segments[segment].placed.point(&basis), basis)
    }

    fn pull_together(&self, normal: &mut Normal, names: [&str; 2], at: [DVec3; 2], deviation: f64) {
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
            normal.add(&row, weight * (pa - pb).dot(axis));
        }
    }

    fn damping(&self, normal: &mut Normal) {
        for (segment, &start) in self.segments.iter().zip(self.starts) {
            for k in 0..6 + segment.map.scales() {
                normal.add(&[(start + k, 1.0 / STEP[(k / 3).min(2)])], 0.0);
            }
        }
    }

    fn joints(&self, normal: &mut Normal) {
        for joint in self.problem.joints {
            let names = [joint.segments[0].as_str(), joint.segments[1].as_str()];
            self.pull_together(normal, names, joint.at, joint.give.unwrap_or(JOINT));
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
                self.pull_together(normal, ["thorax", &scapula], [middle; 2], SCAPULA);
                self.pull_together(normal, ["thorax", &scapula], [low; 2], SCAPULA);
            }
        }
    }

    fn pull_to(&self, normal: &mut Normal, segment: usize, source: DVec3, target: &Target) {
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
            normal.add(&row, (p - target.at).dot(direction) / deviation);
        }
    }

    fn targets(&self, normal: &mut Normal) {
        for joint in self.problem.joints {
            let target = self.problem.targets.joints.get(&joint.name);
            if let (Some(target), Some(&segment)) = (target, self.index.get(&joint.segments[1])) {
                self.pull_to(normal, segment, joint.at[1], target);
            }
        }
        for (name, target) in &self.problem.targets.tips {
            let Some(&segment) = self.index.get(name) else {
                continue;
            };
            let map = &self.segments[segment].map;
            if let Stretch::Long { length, .. } = map.stretch {
                let tip = map.origin + map.frame.y_axis * length;
                self.pull_to(normal, segment, tip, target);
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

    fn sites(&self, normal: &mut Normal) {
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
            normal.add(
                &row,
                (depth - site.depth * self.problem.size) / site.deviation,
            );
        }
    }

    fn priors(&self, normal: &mut Normal) {
        let size = self.problem.size;
        for (s, segment) in self.segments.iter().enumerate() {
            let start = self.starts[s];
            let count = segment.map.scales();
            for k in 0..count {
                let deviation = match segment.map.stretch {
                    Stretch::Long { .. } if k == 1 => 2.0 * SCALE,
                    _ => SCALE,
                } * size;
                let r = (segment.placed.scales[k] - size) / deviation;
                normal.add(&[(start + 6 + k, 1.0 / deviation)], r);
                for j in 0..k {
                    let deviation = SHAPE * size;
                    let r = (segment.placed.scales[k] - segment.placed.scales[j]) / deviation;
                    let row = [
                        (start + 6 + k, 1.0 / deviation),
                        (start + 6 + j, -1.0 / deviation),
                    ];
                    normal.add(&row, r);
                }
            }
            let since = segment.placed.turn * segment.start.turn.transpose();
            let turned = DQuat::from_mat3(&since).to_scaled_axis();
            for k in 0..3 {
                normal.add(&[(start + 3 + k, 1.0 / TURN)], turned[k] / TURN);
            }
        }
    }

    /// Segments that meet have about the same scale.
    fn neighbours(&self, normal: &mut Normal) {
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
                    row.push((self.starts[s] + 6 + k, sign / (scales as f64 * deviation)));
                    r += sign * segment.placed.scales[k] / (scales as f64 * deviation);
                }
            }
            normal.add(&row, r);
        }
    }

    /// The spine bends a little everywhere rather than much somewhere.
    fn bends(&self, normal: &mut Normal) {
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
                        .map(|(s, f)| (self.starts[s] + 3 + k, f / BEND));
                    normal.add(&row, bend[k] / BEND);
                }
            }
            for three in chain.windows(3) {
                let change = turned(three[0]) - 2.0 * turned(three[1]) + turned(three[2]);
                for k in 0..3 {
                    let row = [(three[0], 1.0), (three[1], -2.0), (three[2], 1.0)]
                        .map(|(s, f)| (self.starts[s] + 3 + k, f / BEND_CHANGE));
                    normal.add(&row, change[k] / BEND_CHANGE);
                }
            }
        }
    }

    /// Vertices that are not as deep as their margin are pushed there.
    fn inside(&self, normal: &mut Normal, vertices: &mut [Vertex], counts: &[f64]) {
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
        for (vertex, found) in vertices.iter().zip(found) {
            let Some((out, depth)) = found else {
                continue;
            };
            let weight = (FULL_VERTICES / counts[vertex.segment]).min(1.0).sqrt() / INSIDE;
            let mut row = Vec::with_capacity(9);
            self.row(vertex.segment, &vertex.basis, -out, weight, &mut row);
            normal.add(&row, weight * (depth - margins[vertex.segment]));
        }
    }
}
