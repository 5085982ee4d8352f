//! Repair of inverted and flat rest tets: bone-surface points are smoothed, then lifted towards the skin.

use glam::DVec3;
use rayon::prelude::*;
use supple_geom::tet_mesh::{altitude, determinant, longest_edge};

use crate::construction::rest_skin::RestSkin;

/// Altitude below which a tet counts as flat, relative to the character's size. Positions are f32, and their rounding (1e-7
/// of the size) would be percents of strain. A value ten times as large drops tets between the toes of fine meshes.
pub const FLAT_ALTITUDE: f64 = 1e-5;
/// Six times the volume below which a tet counts as flat, relative to the cube of its longest edge. The solver ignores such
/// tets.
pub const FLAT_VOLUME: f64 = 2e-6;

/// Altitude of a tet, relative to its longest edge, below which the bone surface around it is smoothed. Slender tets are
/// sound at rest, but a rotation of a few degrees inverts them. At 0.01 a squat has half as many again; from 0.1 on smoothing
/// thins the tissue, and as many appear elsewhere.
pub const SLENDER_RATIO: f64 = 0.05;

/// Whether a tet has enough volume to be simulated. `size` is the character's \[m\].
pub fn is_sound(corners: [DVec3; 4], size: f64) -> bool {
    altitude(corners) >= FLAT_ALTITUDE * size
        && determinant(corners) >= FLAT_VOLUME * longest_edge(corners).powi(3)
}

/// What the repair did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntangleReport {
    /// Inverted tets before.
    pub inverted: usize,
    /// Flat tets before.
    pub flat: usize,
    /// Bone-surface points that were moved.
    pub moved: usize,
    /// Tets that could not be repaired; they are left out of the model.
    pub dropped: usize,
}

impl std::ops::Add for UntangleReport {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            inverted: self.inverted + other.inverted,
            flat: self.flat + other.flat,
            moved: self.moved + other.moved,
            dropped: self.dropped + other.dropped,
        }
    }
}

/// What a repair may do.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Which tets must be sound; the others are left out of the model.
    pub simulated: &'a [bool],
    /// Which points of the lower surface may move.
    pub movable: &'a [bool],
    /// Altitude of a tet, relative to its longest edge, below which the lower surface around it is smoothed.
    pub slender: f64,
}

/// Moves points of the lower surface (`bone`) until every simulated tet has volume, and returns which tets are kept.
///
/// Folds and slivers of the bone surface are first averaged with their neighbours, which continues the smoothing of the base
/// points. What stays folded is lifted to just below the skin, where a prism along the skin's normals cannot fold.
pub fn untangle(
    skin: &RestSkin,
    bone: &mut [DVec3],
    tets: &[[u32; 4]],
    scope: Scope,
) -> (Vec<bool>, UntangleReport) {
    let original = bone.to_vec();
    let simulated = scope.simulated;
    let inverted = (tets.iter().zip(simulated))
        .filter(|&(tet, &simulated)| simulated && determinant(corners(skin, bone, tet)) < 0.0)
        .count();
    let unsound = (soundness(skin, bone, tets, 0.0).iter().zip(simulated))
        .filter(|&(&sound, &simulated)| simulated && !sound)
        .count();
    let mut report = UntangleReport {
        inverted,
        flat: unsound.saturating_sub(inverted),
        ..UntangleReport::default()
    };
    let depth = lift_depths(skin);
    let direction = visible_normals(skin);
    let mut lifts = vec![0_i32; skin.len()];
    let mut checker = Checker::new(skin, bone, tets, simulated, scope.slender);
    for round in 0..SMOOTHING_ROUNDS + LIFTING_ROUNDS {
        if round == SMOOTHING_ROUNDS {
            checker = Checker::new(skin, bone, tets, simulated, 0.0);
        }
        let mut tangled = checker.tangled();
        tangled.retain(|&v| scope.movable[v]);
        if tangled.is_empty() {
            continue;
        }
        if round < SMOOTHING_ROUNDS {
            smooth(skin, bone, &tangled);
        } else {
            for &v in &tangled {
                lifts[v] += 1;
                let height = depth[v] * 0.8_f64.powi(lifts[v]).max(LEAST_LIFTED_DEPTH);
                let goal = skin.positions[v] - direction[v] * height;
                bone[v] = bone[v].lerp(goal, (0.2 * f64::from(lifts[v])).min(1.0));
            }
        }
        checker.recheck(bone, &tangled);
    }
    for (point, _) in (bone.iter_mut().zip(scope.movable)).filter(|(_, movable)| **movable) {
        // The model stores f32, so tets are judged after rounding.
        *point = point.as_vec3().as_dvec3();
    }
    let mut keep = soundness(skin, bone, tets, 0.0);
    report.dropped = (keep.iter().zip(simulated))
        .filter(|&(&kept, &simulated)| simulated && !kept)
        .count();
    for (kept, &simulated) in keep.iter_mut().zip(simulated) {
        *kept &= simulated;
    }
    report.moved = bone
        .iter()
        .zip(&original)
        .filter(|(a, b)| a.as_vec3() != b.as_vec3())
        .count();
    (keep, report)
}

const SMOOTHING_ROUNDS: usize = 12;
const LIFTING_ROUNDS: usize = 60;
/// Least thickness of a lifted prism, relative to [`lift_depths`]. Thinner ones would be flat.
const LEAST_LIFTED_DEPTH: f64 = 0.08;

/// Whether a tet is sound, and its altitude at least a share `slender` of its longest edge.
fn is_stout(corners: [DVec3; 4], size: f64, slender: f64) -> bool {
    is_sound(corners, size) && altitude(corners) >= slender * longest_edge(corners)
}

fn corners(skin: &RestSkin, bone: &[DVec3], tet: &[u32; 4]) -> [DVec3; 4] {
    let count = skin.len();
    tet.map(|v| {
        let v = v as usize;
        if v < count {
            skin.positions[v]
        } else {
            bone[v - count]
        }
    })
}

fn soundness(skin: &RestSkin, bone: &[DVec3], tets: &[[u32; 4]], slender: f64) -> Vec<bool> {
    let size = skin.size();
    tets.par_iter()
        .with_min_len(1024)
        .map(|tet| is_stout(corners(skin, bone, tet), size, slender))
        .collect()
}

/// Tracks which tets are sound; rechecks only around moved points.
struct Checker<'a> {
    skin: &'a RestSkin,
    tets: &'a [[u32; 4]],
    simulated: &'a [bool],
    sound: Vec<bool>,
    /// Least altitude of a sound tet, relative to its longest edge.
    slender: f64,
    /// Triangles of vertex `i` at `starts[i]..starts[i + 1]`.
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl<'a> Checker<'a> {
    fn new(
        skin: &'a RestSkin,
        bone: &[DVec3],
        tets: &'a [[u32; 4]],
        simulated: &'a [bool],
        slender: f64,
    ) -> Self {
        let mut starts = vec![0_u32; skin.len() + 1];
        for &v in skin.triangles.as_flattened() {
            starts[v as usize + 1] += 1;
        }
        for v in 0..skin.len() {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut triangles = vec![0; 3 * skin.triangles.len()];
        for (t, corners) in skin.triangles.iter().enumerate() {
            for &v in corners {
                triangles[next[v as usize] as usize] = t as u32;
                next[v as usize] += 1;
            }
        }
        Self {
            skin,
            tets,
            simulated,
            sound: soundness(skin, bone, tets, slender),
            slender,
            starts,
            triangles,
        }
    }

    /// Columns with an unsound tet, ascending.
    fn tangled(&self) -> Vec<usize> {
        let count = self.skin.len();
        let mut touched = vec![false; count];
        for (k, tet) in self.tets.iter().enumerate() {
            if self.simulated[k] && !self.sound[k] {
                for &v in tet {
                    touched[v as usize % count] = true;
                }
            }
        }
        (0..count).filter(|&v| touched[v]).collect()
    }

    fn recheck(&mut self, bone: &[DVec3], moved: &[usize]) {
        let size = self.skin.size();
        for &v in moved {
            for &t in &self.triangles[self.starts[v] as usize..self.starts[v + 1] as usize] {
                for tet in 3 * t as usize..3 * t as usize + 3 {
                    let corners = corners(self.skin, bone, &self.tets[tet]);
                    self.sound[tet] = is_stout(corners, size, self.slender);
                }
            }
        }
    }
}

/// Moves bone-surface points half way to the mean of their neighbours.
fn smooth(skin: &RestSkin, bone: &mut [DVec3], vertices: &[usize]) {
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

/// Half the mean edge length at each vertex: prisms this thin do not fold where the skin curves.
fn lift_depths(skin: &RestSkin) -> Vec<f64> {
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

/// A direction at each vertex that faces all its triangles, where there is one: vertex normals, moved repeatedly towards the
/// normal of the triangle that faces them least.
fn visible_normals(skin: &RestSkin) -> Vec<DVec3> {
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
