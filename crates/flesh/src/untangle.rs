//! Repair of inverted and flat rest tets: bone-surface points are evened out, then lifted towards the skin.

use glam::DVec3;
use rayon::prelude::*;

use crate::prisms::shape_quality;
use crate::surface::Surface;

/// Below this shape quality a tet counts as flat: its inverse rest matrix would cost f32 more digits than a solver has
/// to spare. Ten times more drops tets of fine meshes on thick limbs, ten times less lets single-precision steps jitter.
pub const FLAT: f64 = 2e-6;

/// What the repair did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntangleReport {
    /// Inverted tets before.
    pub inverted: usize,
    /// Flat tets before.
    pub flat: usize,
    /// Bone-surface points that were moved.
    pub moved: usize,
    /// Tets that no move could repair, left out of the model.
    pub dropped: usize,
}

/// Moves bone-surface points until every tet has volume, and returns which tets are kept.
///
/// Folds in the bone surface are evened out by averaging with the neighbours, which only continues the smoothing of the
/// base points; what stays folded is lifted to just below the skin, where a prism of matching normals cannot fold.
pub fn untangle(
    skin: &Surface,
    bone: &mut [DVec3],
    tets: &[[u32; 4]],
) -> (Vec<bool>, UntangleReport) {
    let original = bone.to_vec();
    let qualities = tet_qualities(skin, bone, tets);
    let mut report = UntangleReport {
        inverted: qualities.iter().filter(|&&q| q < 0.0).count(),
        flat: qualities
            .iter()
            .filter(|&&q| (0.0..FLAT).contains(&q))
            .count(),
        ..UntangleReport::default()
    };
    let depth = lift_depths(skin);
    let direction = visible_normals(skin);
    let mut lifts = vec![0_u32; skin.len()];
    for round in 0..SMOOTHING_ROUNDS + LIFTING_ROUNDS {
        let tangled = tangled_vertices(skin, bone, tets);
        if tangled.is_empty() {
            break;
        }
        if round < SMOOTHING_ROUNDS {
            even_out(skin, bone, &tangled);
        } else {
            for &v in &tangled {
                lifts[v] += 1;
                let height = depth[v] * 0.8_f64.powi(lifts[v] as i32);
                let goal = skin.positions[v] - direction[v] * height;
                let step = (0.15 * f64::from(lifts[v])).min(1.0);
                bone[v] = bone[v].lerp(goal, step);
            }
        }
    }
    let keep: Vec<bool> = tet_qualities(skin, bone, tets)
        .iter()
        .map(|&q| q >= FLAT)
        .collect();
    report.dropped = keep.iter().filter(|&&kept| !kept).count();
    report.moved = bone.iter().zip(&original).filter(|(a, b)| a != b).count();
    (keep, report)
}

const SMOOTHING_ROUNDS: usize = 12;
const LIFTING_ROUNDS: usize = 40;

fn tet_qualities(skin: &Surface, bone: &[DVec3], tets: &[[u32; 4]]) -> Vec<f64> {
    let count = skin.len();
    tets.par_iter()
        .with_min_len(1024)
        .map(|tet| {
            shape_quality(tet.map(|v| {
                let v = v as usize;
                if v < count {
                    skin.positions[v]
                } else {
                    bone[v - count]
                }
            }))
        })
        .collect()
}

/// Columns (skin vertex and its bone-surface twin) touched by a tet without volume.
fn tangled_vertices(skin: &Surface, bone: &[DVec3], tets: &[[u32; 4]]) -> Vec<usize> {
    let count = skin.len();
    let mut touched = vec![false; count];
    for (tet, quality) in tets.iter().zip(tet_qualities(skin, bone, tets)) {
        if quality < FLAT {
            for &v in tet {
                touched[v as usize % count] = true;
            }
        }
    }
    (0..count).filter(|&v| touched[v]).collect()
}

fn even_out(skin: &Surface, bone: &mut [DVec3], vertices: &[usize]) {
    let moved: Vec<DVec3> = vertices
        .iter()
        .map(|&v| {
            let ring = skin.ring(v);
            let mean = ring.iter().map(|&w| bone[w as usize]).sum::<DVec3>();
            bone[v].lerp(mean / ring.len().max(1) as f64, 0.5)
        })
        .collect();
    for (&v, position) in vertices.iter().zip(moved) {
        bone[v] = position;
    }
}

/// Half the mean edge at each vertex: prisms that thin keep their shape where the skin curves.
fn lift_depths(skin: &Surface) -> Vec<f64> {
    (0..skin.len())
        .map(|v| {
            let ring = skin.ring(v);
            let sum: f64 = ring
                .iter()
                .map(|&w| skin.positions[v].distance(skin.positions[w as usize]))
                .sum();
            0.5 * sum / ring.len().max(1) as f64
        })
        .collect()
}

/// A direction at each vertex that all its triangles face, where there is one: normals reweighted towards the triangle
/// that faces it least.
fn visible_normals(skin: &Surface) -> Vec<DVec3> {
    let mut normals = skin.normals.clone();
    let face_normals: Vec<DVec3> = skin
        .triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| skin.positions[v as usize]);
            (b - a).cross(c - a).normalize_or_zero()
        })
        .collect();
    for _ in 0..12 {
        let mut worst = vec![(0.2, DVec3::ZERO); skin.len()];
        for (t, &face) in skin.triangles.iter().zip(&face_normals) {
            if face == DVec3::ZERO {
                continue;
            }
            for &v in t {
                let facing = normals[v as usize].dot(face);
                if facing < worst[v as usize].0 {
                    worst[v as usize] = (facing, face);
                }
            }
        }
        for (normal, (facing, face)) in normals.iter_mut().zip(worst) {
            *normal = (*normal + face * (0.4 - facing).max(0.0) * 0.7).normalize_or_zero();
        }
    }
    normals
}
