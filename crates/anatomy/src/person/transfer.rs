//! Bones and muscles carried from the template into a person by triharmonic warps [4.2.4, "Transferring Original Anatomical
//! Data"].

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use supple_geom::svd3::svd3;
use supple_geom::{Surface, TriMesh};

use super::rbf::{Warp, WarpBasis, WarpError, farthest_points};
use crate::{LayeredBody, Layers};

/// Centres of the warp of bones. Against 4,500 centres, bones are off by 0.2 mm in the median and 1.6 mm at the 95th percentile;
/// with 500 by 0.4 and 2.4. They are drawn to their scaling afterwards, so that more would change nothing.
pub const BONE_CENTRES: usize = 1600;
/// Centres of the warp of muscles, half of them on the muscle surface: off by 0.5 mm in the median and 2.6 mm at the 95th
/// percentile; with 1,600 by 1.2 and 5.2. The factor's time grows with the third power, 0.3 s here on two threads.
pub const MUSCLE_CENTRES: usize = 3000;

/// Of the bones' vertices one in this many is offered as a centre: they lie 2 to 5 mm apart, centres 2 cm.
const BONE_STRIDE: usize = 4;

/// The warps of a template: factors that serve every person.
#[derive(Clone, Debug)]
pub struct Transfer {
    bones: Centres,
    muscles: Centres,
    /// Whether muscles follow the bones themselves rather than the skeleton surface.
    by_bones: bool,
}

#[derive(Clone, Debug)]
struct Centres {
    /// Which of the points offered.
    chosen: Vec<u32>,
    basis: WarpBasis,
}

/// The warps of one person.
#[derive(Clone, Debug)]
pub struct PersonWarp {
    /// For bones: through the skeleton surface.
    pub bones: Warp,
    /// For muscles: through skeleton surface and muscle surface.
    pub muscles: Warp,
}

impl Transfer {
    /// Chooses centres on the template's skeleton surface and muscle surface and factorises their systems.
    pub fn new(template: &Layers) -> Result<Transfer, WarpError> {
        Transfer::with_centres(template, &[], BONE_CENTRES, MUSCLE_CENTRES)
    }

    /// The same, with muscles that follow the bones. Bones are drawn to their scaling, so that they do not follow the skeleton
    /// surface everywhere; muscles that did would be cut by ribs, up to 18 mm deep.
    pub fn of_template(template: &LayeredBody) -> Result<Transfer, WarpError> {
        let bones: Vec<&[Vec3]> = (template.bones.iter())
            .map(|bone| &bone.bone.mesh.positions[..])
            .collect();
        Transfer::with_centres(&template.layers, &bones, BONE_CENTRES, MUSCLE_CENTRES)
    }

    /// [`Transfer::of_template`] with other numbers of centres; without bones, [`Transfer::new`].
    pub fn with_centres(
        template: &Layers,
        bones: &[&[Vec3]],
        bone_centres: usize,
        muscle_centres: usize,
    ) -> Result<Transfer, WarpError> {
        let skeleton = double(&template.skeleton);
        let by_bones = !bones.is_empty();
        let both = points_of_muscles(template, bones);
        let (bones, muscles) = rayon::join(
            || Centres::new(&skeleton, bone_centres),
            || Centres::new(&both, muscle_centres),
        );
        Ok(Transfer {
            bones: bones?,
            muscles: muscles?,
            by_bones,
        })
    }

    /// The warps that bring the template's surfaces to a person's.
    ///
    /// # Panics
    /// If muscles follow the bones: those of the person have to be made first ([`Transfer::bones`], [`Transfer::muscles`]).
    pub fn person(&self, person: &Layers) -> PersonWarp {
        let (bones, muscles) = rayon::join(|| self.bones(person), || self.muscles(person, &[]));
        PersonWarp { bones, muscles }
    }

    /// The warp of the bones.
    pub fn bones(&self, person: &Layers) -> Warp {
        self.bones.warp(&double(&person.skeleton))
    }

    /// The warp of the muscles of a person with these bones; they are not needed if muscles follow the skeleton surface.
    ///
    /// # Panics
    /// If the bones have not the vertices of the template's.
    pub fn muscles(&self, person: &Layers, bones: &[&[Vec3]]) -> Warp {
        let bones = if self.by_bones { bones } else { &[] };
        self.muscles.warp(&points_of_muscles(person, bones))
    }
}

/// What muscles follow: the muscle surface, and the bones or the skeleton surface.
fn points_of_muscles(layers: &Layers, bones: &[&[Vec3]]) -> Vec<DVec3> {
    let mut points = if bones.is_empty() {
        double(&layers.skeleton)
    } else {
        let all = bones.iter().flat_map(|bone| bone.iter());
        all.step_by(BONE_STRIDE).map(|p| p.as_dvec3()).collect()
    };
    points.extend(layers.muscle.iter().map(|p| p.as_dvec3()));
    points
}

impl Centres {
    fn new(points: &[DVec3], count: usize) -> Result<Centres, WarpError> {
        let chosen = farthest_points(points, count);
        let centres: Vec<DVec3> = chosen.iter().map(|&v| points[v as usize]).collect();
        Ok(Centres {
            basis: WarpBasis::new(&centres)?,
            chosen,
        })
    }

    fn warp(&self, points: &[DVec3]) -> Warp {
        let targets: Vec<DVec3> = self.chosen.iter().map(|&v| points[v as usize]).collect();
        self.basis.warp(&targets)
    }
}

fn double(positions: &[Vec3]) -> Vec<DVec3> {
    positions.iter().map(|p| p.as_dvec3()).collect()
}

/// A mesh after a warp.
pub fn warped(mesh: &TriMesh, warp: &Warp) -> TriMesh {
    TriMesh {
        positions: (mesh.positions.par_iter())
            .map(|p| warp.at(p.as_dvec3()).as_vec3())
            .collect(),
        triangles: mesh.triangles.clone(),
    }
}

/// How a bone was deformed: its scaling, and what is beyond it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BoneStretch {
    /// Largest, middle and least scale in three directions.
    pub scales: [f64; 3],
    /// Root mean square of the edges' relative change in length beyond the scaling.
    pub rms: f64,
    /// Its 95th percentile.
    pub p95: f64,
    /// Largest distance of a vertex from where scaling alone would bring it \[m\]: bend and twist.
    pub bend: f64,
}

/// The scaling of a bone: the affine map that comes closest to what happened to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneMap {
    from: DVec3,
    to: DVec3,
    linear: DMat3,
}

impl BoneMap {
    /// Fits it to the vertices of a bone before and after.
    pub fn between(before: &[Vec3], after: &[Vec3]) -> BoneMap {
        Self::weighted(before, after, &vec![1.0; before.len()])
    }

    /// The same, with a weight for each vertex.
    fn weighted(before: &[Vec3], after: &[Vec3], weights: &[f64]) -> BoneMap {
        let total = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mean = |points: &[Vec3]| {
            let parts = points.iter().zip(weights).map(|(p, w)| *w * p.as_dvec3());
            parts.sum::<DVec3>() / total
        };
        let (from, to) = (mean(before), mean(after));
        let (mut spread, mut mixed) = (DMat3::ZERO, DMat3::ZERO);
        for ((a, b), weight) in before.iter().zip(after).zip(weights) {
            let (a, b) = (a.as_dvec3() - from, b.as_dvec3() - to);
            spread += *weight * outer(a, a);
            mixed += *weight * outer(b, a);
        }
        let inverse = spread.inverse();
        let linear = if inverse.is_finite() {
            mixed * inverse
        } else {
            DMat3::IDENTITY
        };
        BoneMap { from, to, linear }
    }

    /// Where a point of the bone goes \[m\].
    pub fn at(&self, point: Vec3) -> DVec3 {
        self.to + self.linear * (point.as_dvec3() - self.from)
    }

    /// The map with its scales within bounds.
    fn bounded(self, [least, largest]: [f64; 2]) -> BoneMap {
        let (u, scales, v) = svd3(self.linear);
        let within = scales.clamp(DVec3::splat(least), DVec3::splat(largest));
        BoneMap {
            linear: u * DMat3::from_diagonal(within) * v.transpose(),
            ..self
        }
    }

    /// Scales in three directions, the largest first.
    pub fn scales(&self) -> [f64; 3] {
        svd3(self.linear).1.to_array()
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Measures how a bone was deformed.
pub fn bone_stretch(before: &TriMesh, after: &[Vec3]) -> BoneStretch {
    let map = BoneMap::between(&before.positions, after);
    let mut changes: Vec<f64> = (before.triangles.iter())
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .filter_map(|[a, b]| {
            let scaled = map.linear
                * (before.positions[b as usize] - before.positions[a as usize]).as_dvec3();
            let found = (after[b as usize] - after[a as usize]).as_dvec3().length();
            (scaled.length() > 0.0).then(|| (found / scaled.length() - 1.0).abs())
        })
        .collect();
    changes.sort_by(f64::total_cmp);
    let count = changes.len().max(1);
    let distances = before
        .positions
        .iter()
        .zip(after)
        .map(|(p, q)| map.at(*p).distance(q.as_dvec3()));
    BoneStretch {
        scales: map.scales(),
        rms: (changes.iter().map(|c| c * c).sum::<f64>() / count as f64).sqrt(),
        p95: changes.get(count * 95 / 100).copied().unwrap_or(0.0),
        bend: distances.fold(0.0, f64::max),
    }
}

/// Most deformation of a bone beyond its scaling: root mean square and 95th percentile of its edges.
const MOST_STRETCH: [f64; 2] = [0.025, 0.07];
/// Least and largest scale of a bone in any direction, beyond the person's height over the template's.
const SCALES: [f64; 2] = [0.75, 1.35];
/// Rounds in which vertices outside the skeleton surface draw their bone in, and the factor of their weight in each: a bone
/// that sticks out with a hundredth of its vertices gives way in the last.
const ROUNDS: usize = 5;
const PULL: f64 = 4.0;
/// Share of a bone's vertices outside the template's surface above which the bone is taken to lie around a cavity.
const AROUND: f64 = 0.05;
/// How far outside vertices are looked for, and how deep they are drawn inside \[m\].
const OUTSIDE: f32 = 0.03;
const INSIDE: f32 = 5e-4;

/// A bone after a warp, drawn towards its scaling as far as it is bent more than bones are, and into the person's skeleton
/// surface as far as that lets it. `skeleton` are the template's surface and the person's: what is outside in the template (teeth in
/// the mouth) may be so in the person. Scales beyond what people have are cut off; `size` is the person's height over the template's.
pub fn warped_bone(bone: &TriMesh, warp: &Warp, skeleton: [&Surface; 2], size: f64) -> TriMesh {
    let scales = [SCALES[0] * size.min(1.0), SCALES[1] * size.max(1.0)];
    let mut targets = warped(bone, warp).positions;
    let mut weights = vec![1.0; targets.len()];
    let is_free = |p: &Vec3| way_inside(skeleton[0], *p).is_some();
    let free: Vec<bool> = bone.positions.iter().map(is_free).collect();
    // Skull and jaw lie around the mouth, whose inside is skin: the nearest skin is no guide for them.
    let is_around = free.iter().filter(|free| **free).count() as f64 > AROUND * free.len() as f64;
    if is_around {
        return TriMesh {
            positions: stiffened(bone, &targets, &weights, scales),
            triangles: bone.triangles.clone(),
        };
    }
    // Weights that grow at one end of a bone leave the other to extrapolation, which can throw it out in a late round (the hip
    // of a femur that was too wide at the knee, by 25 mm): the round that is least outside is kept.
    let mut best = (f32::INFINITY, Vec::new());
    for _ in 0..=ROUNDS {
        let positions = stiffened(bone, &targets, &weights, scales);
        let mut outside = 0.0;
        for v in (0..positions.len()).filter(|&v| !free[v]) {
            if let Some(inward) = way_inside(skeleton[1], positions[v]) {
                targets[v] += inward;
                weights[v] *= PULL;
                outside += inward.length_squared();
            }
        }
        if outside <= best.0 {
            best = (outside, positions);
        }
        if outside == 0.0 {
            break;
        }
    }
    TriMesh {
        positions: best.1,
        triangles: bone.triangles.clone(),
    }
}

/// The way of a point outside a surface to just below it \[m\]; none inside. The nearest triangle's normal tells: surfaces around
/// bones have no sharp edges.
fn way_inside(surface: &Surface, point: Vec3) -> Option<Vec3> {
    let closest = surface.closest_point_within(point, OUTSIDE)?;
    let normal = surface.mesh().triangle_normal(closest.triangle as usize);
    let out = (point - closest.position).dot(normal);
    (out > 0.0).then(|| closest.position - INSIDE * normal - point)
}

/// Positions between a bone's scaling and its targets: as near to these as a bone may be bent.
fn stiffened(bone: &TriMesh, targets: &[Vec3], weights: &[f64], scales: [f64; 2]) -> Vec<Vec3> {
    let map = BoneMap::weighted(&bone.positions, targets, weights).bounded(scales);
    let mut positions = targets.to_vec();
    let mut share = 1.0;
    for _ in 0..6 {
        let found = bone_stretch(bone, &positions);
        let most = (MOST_STRETCH[0] / found.rms).min(MOST_STRETCH[1] / found.p95);
        let is_bounded = found.scales[0] <= scales[1] && found.scales[2] >= scales[0];
        if most >= 1.0 && is_bounded {
            break;
        }
        share *= most.min(1.0) * 0.98;
        for ((position, before), target) in positions.iter_mut().zip(&bone.positions).zip(targets) {
            *position = map.at(*before).lerp(target.as_dvec3(), share).as_vec3();
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::capsule;

    #[test]
    fn scaling_and_stretch_are_no_deformation_but_bending_is() {
        let bone = capsule(0.02, 0.4, 12, 20);
        let turn = DMat3::from_rotation_x(0.4);
        let scaled =
            |p: &Vec3| (turn * (p.as_dvec3() * DVec3::new(1.1, 1.3, 1.1)) + DVec3::ONE).as_vec3();
        let after: Vec<Vec3> = bone.positions.iter().map(scaled).collect();
        let found = bone_stretch(&bone, &after);
        let exact = [1.3, 1.1, 1.1];
        assert!(
            found
                .scales
                .iter()
                .zip(exact)
                .all(|(a, b)| (a - b).abs() < 1e-4)
        );
        assert!(found.rms < 1e-4 && found.p95 < 1e-4 && found.bend < 1e-5);
        let bent: Vec<Vec3> = after
            .iter()
            .map(|p| *p + Vec3::X * 0.8 * p.y * p.y)
            .collect();
        let found = bone_stretch(&bone, &bent);
        assert!(found.bend > 0.01 && found.p95 > 0.02, "{found:?}");
    }
}
