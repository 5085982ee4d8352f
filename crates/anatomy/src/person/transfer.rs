//! Bones and muscles carried from the template into a person by triharmonic warps [4.2.4, "Transferring Original Anatomical
//! Data"].

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use supple_geom::TriMesh;
use supple_geom::svd3::svd3;

use super::rbf::{Warp, WarpBasis, WarpError, farthest_points};
use crate::Layers;

/// Centres of the warp of bones. Against 4,500 centres, bones are off by 0.2 mm in the median and 1.6 mm at the 95th percentile;
/// with 500 by 0.4 and 2.4. They are drawn to their scaling afterwards, so that more would change nothing.
pub const BONE_CENTRES: usize = 1600;
/// Centres of the warp of muscles, half of them on the muscle surface: off by 0.5 mm in the median and 2.6 mm at the 95th
/// percentile; with 1,600 by 1.2 and 5.2. The factor's time grows with the third power, 0.3 s here on two threads.
pub const MUSCLE_CENTRES: usize = 3000;

/// The warps of a template: factors that serve every person.
#[derive(Clone, Debug)]
pub struct Transfer {
    bones: Centres,
    muscles: Centres,
}

#[derive(Clone, Debug)]
struct Centres {
    /// Vertices of the skeleton surface, and of the muscle surface (after those of the skeleton surface).
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
    /// Chooses centres on the template's surfaces and factorises their systems.
    pub fn new(template: &Layers) -> Result<Transfer, WarpError> {
        Transfer::with_centres(template, BONE_CENTRES, MUSCLE_CENTRES)
    }

    /// [`Transfer::new`] with other numbers of centres.
    pub fn with_centres(
        template: &Layers,
        bones: usize,
        muscles: usize,
    ) -> Result<Transfer, WarpError> {
        let skeleton = double(&template.skeleton);
        let both = [skeleton.clone(), double(&template.muscle)].concat();
        let (bones, muscles) = rayon::join(
            || Centres::new(&skeleton, bones),
            || Centres::new(&both, muscles),
        );
        Ok(Transfer {
            bones: bones?,
            muscles: muscles?,
        })
    }

    /// The warps that bring the template's surfaces to a person's.
    pub fn person(&self, person: &Layers) -> PersonWarp {
        let skeleton = double(&person.skeleton);
        let both = [skeleton.clone(), double(&person.muscle)].concat();
        let (bones, muscles) =
            rayon::join(|| self.bones.warp(&skeleton), || self.muscles.warp(&both));
        PersonWarp { bones, muscles }
    }
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
        let count = before.len().max(1) as f64;
        let mean = |points: &[Vec3]| points.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / count;
        let (from, to) = (mean(before), mean(after));
        let (mut spread, mut mixed) = (DMat3::ZERO, DMat3::ZERO);
        for (a, b) in before.iter().zip(after) {
            let (a, b) = (a.as_dvec3() - from, b.as_dvec3() - to);
            spread += outer(a, a);
            mixed += outer(b, a);
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

    /// The map with its scales within [`SCALES`].
    fn bounded(self) -> BoneMap {
        let (u, scales, v) = svd3(self.linear);
        let within = scales.clamp(DVec3::splat(SCALES[0]), DVec3::splat(SCALES[1]));
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
/// Least and largest scale of a bone in any direction.
const SCALES: [f64; 2] = [0.75, 1.35];

/// A bone after a warp, drawn towards its scaling as far as it is bent more than bones are. Scales beyond what people have are
/// cut off too.
pub fn warped_bone(bone: &TriMesh, warp: &Warp) -> TriMesh {
    let mut mesh = warped(bone, warp);
    let map = BoneMap::between(&bone.positions, &mesh.positions).bounded();
    let free = mesh.positions.clone();
    let mut share = 1.0;
    for _ in 0..6 {
        let found = bone_stretch(bone, &mesh.positions);
        let most = (MOST_STRETCH[0] / found.rms).min(MOST_STRETCH[1] / found.p95);
        let is_bounded = found.scales[0] <= SCALES[1] && found.scales[2] >= SCALES[0];
        if most >= 1.0 && is_bounded {
            break;
        }
        share *= most.min(1.0) * 0.98;
        for ((position, before), free) in mesh.positions.iter_mut().zip(&bone.positions).zip(&free)
        {
            *position = map.at(*before).lerp(free.as_dvec3(), share).as_vec3();
        }
    }
    mesh
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
