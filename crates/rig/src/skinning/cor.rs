//! Optimised centres of rotation (Le & Hodgins 2016, "Real-Time Skeletal Skinning with Optimized Centers of Rotation").

use std::collections::BTreeMap;

use glam::{Affine3A, DVec3, Mat3A, Quat, Vec3, Vec3A};
use rayon::prelude::*;

use super::lbs::blend_matrices;
use super::stretch::split_rotation;
use super::{Posed, influences, morphed, skin_matrices, strongest_slot, transform_each};
use crate::Part;

/// Width σ of the similarity function, as in the paper.
const SIGMA: f64 = 0.1;
/// Triangles are split until weights differ by less than this along every edge.
const WEIGHT_STEP: f32 = 0.1;
/// Most bisections of a triangle. Coarse meshes may have a weight difference of one along an edge.
const MAX_SPLITS: u32 = 8;
/// Terms of the similarity below `exp(−CUTOFF)` are negligible and skipped.
const CUTOFF: f64 = 18.0;

/// The centre of rotation of every vertex of a part, in bind space.
#[derive(Clone, Debug, PartialEq)]
pub struct CentersOfRotation {
    /// `None` if no part of the skin has similar weights; such vertices use linear blending.
    centers: Vec<Option<Vec3>>,
}

/// A piece of skin that both joints of a pair move.
struct Sample {
    weights: [f64; 2],
    /// Area times the product of both weights.
    mass: f64,
    centroid: DVec3,
}

/// A triangle, or a piece of one, with the weights of its corners.
struct Piece {
    corners: [Vec3; 3],
    weights: [Vec<(u32, f32)>; 3],
}

impl CentersOfRotation {
    /// Computes the centres of a part's vertices: the mean of the surface, weighted by the similarity of its skin
    /// weights to those of the vertex.
    ///
    /// The similarity is a sum over pairs of joints, so each pair needs only the triangles
    /// that both joints move.
    pub fn build(part: &Part) -> Self {
        let samples = samples_by_pair(part);
        let centers = (0..part.mesh.positions.len())
            .into_par_iter()
            .map(|vertex| center(influences(part, vertex), &samples))
            .collect();
        Self { centers }
    }

    /// The centre of a vertex in bind space.
    pub fn of(&self, vertex: usize) -> Option<Vec3> {
        self.centers.get(vertex).copied().flatten()
    }

    /// Skins the part: each vertex rotates by the blended rotation about its centre, and the centre moves by linear
    /// blending. Scale is blended linearly and applied before the rotation.
    pub fn skin(&self, part: &Part, worlds: &[Affine3A], morph_weights: &[f32]) -> Posed {
        let matrices = skin_matrices(part, worlds);
        let shape = morphed(part, morph_weights);
        if matrices.is_empty() {
            return shape;
        }
        let split: Vec<(Quat, Mat3A)> = matrices
            .iter()
            .map(|matrix| split_rotation(&matrix.matrix3))
            .collect();
        transform_each(shape, |vertex, _| {
            let own = influences(part, vertex);
            let linear = blend_matrices(own, &matrices);
            let Some(center) = self.of(vertex) else {
                return linear;
            };
            let matrix3 = blend_rotations(own, &split);
            let center = Vec3A::from(center);
            Affine3A {
                matrix3,
                translation: linear.matrix3 * center + linear.translation - matrix3 * center,
            }
        })
    }
}

/// Normalised blend of the rotations, times the blend of the stretches.
fn blend_rotations(influences: &[(u32, f32)], split: &[(Quat, Mat3A)]) -> Mat3A {
    let of = |slot: u32| split.get(slot as usize).unwrap_or(&split[0]);
    let pivot = of(strongest_slot(influences)).0;
    let mut rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let mut stretch = Mat3A::ZERO;
    for &(slot, weight) in influences {
        let (q, s) = of(slot);
        let signed = if q.dot(pivot) < 0.0 { -weight } else { weight };
        rotation += *q * signed;
        stretch += *s * weight;
    }
    let rotation = if rotation.length() < 1e-6 {
        pivot
    } else {
        rotation.normalize()
    };
    Mat3A::from_quat(rotation) * stretch
}

fn center(own: &[(u32, f32)], samples: &BTreeMap<(u32, u32), Vec<Sample>>) -> Option<Vec3> {
    let (mut sum, mut total) = (DVec3::ZERO, 0.0);
    for (i, &(j, wj)) in own.iter().enumerate() {
        for &(k, wk) in &own[i + 1..] {
            let (pair, [a, b]) = if j < k {
                ((j, k), [wj, wk])
            } else {
                ((k, j), [wk, wj])
            };
            let (a, b) = (f64::from(a), f64::from(b));
            for sample in samples.get(&pair).into_iter().flatten() {
                let difference = (a * sample.weights[1] - b * sample.weights[0]) / SIGMA;
                let exponent = difference * difference;
                if exponent < CUTOFF {
                    let mass = a * b * sample.mass * (-exponent).exp();
                    sum += mass * sample.centroid;
                    total += mass;
                }
            }
        }
    }
    // The centre of a vertex bound almost entirely to one joint is dominated by rounding errors, and not needed.
    (total > 1e-18).then(|| (sum / total).as_vec3())
}

fn samples_by_pair(part: &Part) -> BTreeMap<(u32, u32), Vec<Sample>> {
    let count = part.mesh.positions.len();
    let mut samples: BTreeMap<(u32, u32), Vec<Sample>> = BTreeMap::new();
    for triangle in &part.mesh.triangles {
        let corners = triangle.map(|corner| corner as usize);
        if corners.iter().any(|&corner| corner >= count) {
            continue;
        }
        let piece = Piece {
            corners: corners.map(|corner| part.mesh.positions[corner]),
            weights: corners.map(|corner| sorted(influences(part, corner))),
        };
        add_piece(piece, MAX_SPLITS, &mut samples);
    }
    samples
}

fn sorted(influences: &[(u32, f32)]) -> Vec<(u32, f32)> {
    let mut own = influences.to_vec();
    own.sort_unstable_by_key(|&(slot, _)| slot);
    own
}

/// Adds a piece to all pairs of its joints. Bisects it first if weights vary too much.
fn add_piece(piece: Piece, splits: u32, samples: &mut BTreeMap<(u32, u32), Vec<Sample>>) {
    let mut worst = (0, 0.0);
    for edge in 0..3 {
        let distance = weight_distance(&piece.weights[edge], &piece.weights[(edge + 1) % 3]);
        if distance > worst.1 {
            worst = (edge, distance);
        }
    }
    if splits > 0 && worst.1 > WEIGHT_STEP {
        for half in halve(piece, worst.0) {
            add_piece(half, splits - 1, samples);
        }
        return;
    }
    let [a, b, c] = piece.corners.map(|corner| corner.as_dvec3());
    let area = 0.5 * (b - a).cross(c - a).length();
    if !(area.is_finite() && area > 0.0) {
        return;
    }
    let centroid = (a + b + c) / 3.0;
    let [x, y, z] = &piece.weights;
    let mean = mix(&mix(x, y, 0.5), z, 1.0 / 3.0);
    for (i, &(j, wj)) in mean.iter().enumerate() {
        for &(k, wk) in &mean[i + 1..] {
            let weights = [f64::from(wj), f64::from(wk)];
            samples.entry((j, k)).or_default().push(Sample {
                weights,
                mass: area * weights[0] * weights[1],
                centroid,
            });
        }
    }
}

/// Bisects a piece at the midpoint of an edge.
fn halve(piece: Piece, edge: usize) -> [Piece; 2] {
    let (i, j, k) = (edge, (edge + 1) % 3, (edge + 2) % 3);
    let Piece { corners, weights } = piece;
    let middle = corners[i].midpoint(corners[j]);
    let mean = mix(&weights[i], &weights[j], 0.5);
    let opposite = weights[k].clone();
    let [first, second] = [i, j].map(|corner| weights[corner].clone());
    [
        Piece {
            corners: [corners[i], middle, corners[k]],
            weights: [first, mean.clone(), opposite.clone()],
        },
        Piece {
            corners: [middle, corners[j], corners[k]],
            weights: [mean, second, opposite],
        },
    ]
}

/// Visits the union of two sorted weight lists.
fn merge(a: &[(u32, f32)], b: &[(u32, f32)], mut visit: impl FnMut(u32, f32, f32)) {
    let (mut i, mut j) = (0, 0);
    loop {
        let next = [a.get(i), b.get(j)].into_iter().flatten();
        let Some(slot) = next.map(|entry| entry.0).min() else {
            return;
        };
        visit(slot, take(a, &mut i, slot), take(b, &mut j, slot));
    }
}

/// The weight at `at` if its slot matches, advancing `at`; else zero.
fn take(list: &[(u32, f32)], at: &mut usize, slot: u32) -> f32 {
    match list.get(*at) {
        Some(&(here, weight)) if here == slot => {
            *at += 1;
            weight
        }
        _ => 0.0,
    }
}

fn mix(a: &[(u32, f32)], b: &[(u32, f32)], t: f32) -> Vec<(u32, f32)> {
    let mut mixed = Vec::with_capacity(a.len() + b.len());
    merge(a, b, |slot, wa, wb| {
        mixed.push((slot, wa * (1.0 - t) + wb * t));
    });
    mixed
}

fn weight_distance(a: &[(u32, f32)], b: &[(u32, f32)]) -> f32 {
    let mut sum = 0.0;
    merge(a, b, |_, wa, wb| sum += (wa - wb) * (wa - wb));
    sum.sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{bent_tube, tube_part};
    use super::*;

    /// On the tube, weights depend on y alone, so by symmetry the centre is on the axis, at the mean of y = u − ½ under
    /// the density u (1 − u) exp(−(u − w)² / σ²).
    fn closed_form(w: f64) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for i in 0..10_000 {
            let u = (f64::from(i) + 0.5) / 10_000.0;
            let mass = u * (1.0 - u) * (-((u - w) / SIGMA).powi(2)).exp();
            sum += mass * (u - 0.5);
            total += mass;
        }
        sum / total
    }

    #[test]
    fn centers_lie_on_the_axis_where_they_should() {
        let part = tube_part(80, 12);
        let centers = CentersOfRotation::build(&part);
        let mut checked = 0;
        for (vertex, &bind) in part.mesh.positions.iter().enumerate() {
            let w = bind.y + 0.5;
            if !(0.01..=0.99).contains(&w) {
                continue;
            }
            checked += 1;
            let center = centers.of(vertex).unwrap();
            let expected = Vec3::Y * closed_form(f64::from(w)) as f32;
            // The midpoint rule over bands of height 1/40 with curvature 2/σ²: h² / 24 · 2 / σ² of σ, about 6e-4.
            assert!(center.distance(expected) < 1e-3, "{w}: {center}");
        }
        assert!(checked > 300);
        // Bound to one joint alone: no centre.
        assert_eq!(centers.of(0), None);
    }

    #[test]
    fn coarse_triangles_are_split() {
        let part = tube_part(5, 12);
        let centers = CentersOfRotation::build(&part);
        let vertex = 2 * 12;
        let w = f64::from(part.mesh.positions[vertex].y + 0.5);
        let found = centers.of(vertex).unwrap();
        // Weights are linear over the coarse triangle but clamped on the tube, so the match is rough.
        assert!((f64::from(found.y) - closed_form(w)).abs() < 0.03);
    }

    #[test]
    fn bending_rotates_about_the_center() {
        let part = tube_part(80, 12);
        let centers = CentersOfRotation::build(&part);
        let angle = 1.5_f32;
        let posed = centers.skin(&part, &bent_tube(angle), &[]);
        for (vertex, &bind) in part.mesh.positions.iter().enumerate() {
            let Some(center) = centers.of(vertex) else {
                continue;
            };
            let w = (bind.y + 0.5).clamp(0.0, 1.0);
            let (sin, cos) = (0.5 * angle).sin_cos();
            let turn = Quat::from_rotation_z(2.0 * (w * sin).atan2(1.0 - w + w * cos));
            let moved = center * (1.0 - w) + Quat::from_rotation_z(angle) * center * w;
            let expected = turn * (bind - center) + moved;
            assert!(posed.positions[vertex].distance(expected) < 2e-6);
            // The radius about the centre's path is kept; linear blending would shrink it.
            let radius = posed.positions[vertex].distance(moved);
            assert!((radius - bind.distance(center)).abs() < 2e-6);
        }
    }

    #[test]
    fn root_motion_with_scale_is_exact() {
        let part = tube_part(16, 6);
        let centers = CentersOfRotation::build(&part);
        let motion = Affine3A::from_scale_rotation_translation(
            Vec3::splat(0.5),
            Quat::from_rotation_x(2.0),
            Vec3::new(0.3, -0.2, 1.0),
        );
        let worlds: Vec<Affine3A> = bent_tube(0.0).iter().map(|w| motion * *w).collect();
        let posed = centers.skin(&part, &worlds, &[]);
        for (posed, bind) in posed.positions.iter().zip(&part.mesh.positions) {
            assert!(posed.distance(motion.transform_point3(*bind)) < 4e-6);
        }
    }
}
