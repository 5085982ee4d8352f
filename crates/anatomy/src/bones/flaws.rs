//! Known flaws of bone collections, and what is done about each. This is the only place where bones change their shape before they
//! are placed. Every rule measures the flaw, so bones without it (BodyParts3D) pass unchanged.
//!
//! | flaw (in the embedded set) | rule |
//! |---|---|
//! | coarse meshes (a hip bone of 122 vertices) | [`smooth_coarse`]: Loop subdivision, volume kept |
//! | femora, tibiae, fibulae 28 % too thin | [`thicken_legs`]: offset along the normals to the volume expected from the length |
//! | patellae too large, off the knee | [`seat_patellae`]: scaled to the expected volume, set 3 mm before the femur |
//! | pelvis and sacrum too heavy for coarse solids | [`thicken_legs`]'s rule, inwards |
//! | skull solid | nothing: volumes of skulls count as solids, and skin never comes near the inside |
//! | 13 bones open | filled or wrapped on reading, like any other bone |
//!
//! A woman's pelvis is no flaw of the data; [`super::maps`] shapes it.

use glam::{DVec3, Vec3};
use supple_geom::normals::vertex_normals;
use supple_geom::subdivide::loop_smooth;
use supple_geom::{Surface, TriMesh};

use super::read::{BoneNote, BoneSet};

/// Mean edge above which a bone is subdivided \[m\]: longer ones show facets, shorter ones only cost time.
const COARSE_EDGE: f64 = 0.0075;
/// Most levels of subdivision: more would only refine needles.
const MAX_LEVELS: usize = 2;
/// Rounds of moving control points: fewer round tips off, more make waves along sharp edges.
const THROUGH_ROUNDS: usize = 3;
/// Length of a femur \[m\] that goes with [`VOLUMES`].
const FEMUR_LENGTH: f64 = 0.45;
/// Volumes expected of a skeleton whose femur is [`FEMUR_LENGTH`] long \[ml\]: name, volume, and the share of it below or above
/// which the bone is mended. Shares leave room for people; the embedded femur is at 0.72, its patella at 1.64.
const VOLUMES: [(&str, f64, [f64; 2]); 5] = [
    ("femur", 485.0, [0.85, 1.3]),
    ("tibia", 300.0, [0.85, 1.3]),
    ("fibula", 60.0, [0.6, 1.4]),
    ("pelvis", 310.0, [0.85, 1.02]),
    ("sacrum", 230.0, [0.6, 1.15]),
];
/// Volume of a patella \[ml\], and the share above which it is scaled.
const PATELLA: (f64, f64) = (17.0, 1.3);
/// Gap between patella and femur: the cartilage of both \[m\].
const PATELLA_GAP: f32 = 0.003;
/// Height of the patella's apex above the lowest point of the femur \[m\].
const PATELLA_HEIGHT: f32 = 0.006;
/// Radius around the femur's head in which its offset fades to [`HEAD_SHARE`]: the head's size is right, the shaft is thin \[m\].
const HEAD_RADIUS: f64 = 0.04;
const HEAD_SHARE: f64 = 0.35;

/// Mends all flaws, and notes each.
pub(super) fn mend_known_flaws(set: &mut BoneSet) {
    let Some(scale) = size_of(set) else {
        return;
    };
    smooth_coarse(set);
    thicken_legs(set, scale);
    seat_patellae(set, scale);
}

/// Size of the skeleton against the one the volumes are of, by its femora.
fn size_of(set: &BoneSet) -> Option<f64> {
    let femur = set.bone("femur_l").or_else(|| set.bone("femur_r"))?;
    Some(f64::from(femur.mesh.bounds().size().max_element()) / FEMUR_LENGTH)
}

/// Subdivides coarse bones smoothly, at the same volume.
fn smooth_coarse(set: &mut BoneSet) {
    for bone in &mut set.bones {
        let volume = bone.mesh.signed_volume();
        let edge = bone.mesh.mean_edge_length();
        let mut levels = 0;
        while levels < MAX_LEVELS && edge > COARSE_EDGE * f64::from(1 << levels) {
            levels += 1;
        }
        if levels > 0 {
            bone.mesh = smooth_through(&bone.mesh, levels);
            offset_to_volume(&mut bone.mesh, volume, |_| 1.0);
            let what = format!(
                "edges of {:.0} mm were coarse; subdivided {levels} times",
                edge * 1e3
            );
            let name = bone.name.clone();
            set.notes.push(BoneNote::Flaw { name, what });
        }
    }
}

/// Loop subdivision whose limit goes through the vertices it started from, nearly: control points are moved by what the
/// surface misses them by, a few times. Plain subdivision would round off tips and part the pubic bones.
fn smooth_through(mesh: &TriMesh, levels: usize) -> TriMesh {
    let refined =
        |mesh: &TriMesh| (0..levels).fold(mesh.clone(), |mesh, _| loop_smooth(&mesh).mesh);
    let mut control = mesh.clone();
    for _ in 0..THROUGH_ROUNDS {
        let now = refined(&control);
        for v in 0..mesh.positions.len() {
            control.positions[v] += mesh.positions[v] - now.positions[v];
        }
    }
    refined(&control)
}

/// Brings bones to the volume that goes with their length.
fn thicken_legs(set: &mut BoneSet, scale: f64) {
    for bone in &mut set.bones {
        let stem = bone.name.trim_end_matches("_l").trim_end_matches("_r");
        let Some(&(_, volume, [low, high])) = VOLUMES.iter().find(|(name, ..)| *name == stem)
        else {
            continue;
        };
        let wanted = volume * 1e-6 * scale.powi(3);
        let share = bone.mesh.signed_volume() / wanted;
        if (low..high).contains(&share) {
            continue;
        }
        if stem == "femur" {
            let head = femoral_head(&bone.mesh);
            offset_to_volume(&mut bone.mesh, wanted, |p| {
                let t = (p.as_dvec3().distance(head) / HEAD_RADIUS - 0.6).clamp(0.0, 1.0);
                HEAD_SHARE + (1.0 - HEAD_SHARE) * t
            });
        } else {
            offset_to_volume(&mut bone.mesh, wanted, |_| 1.0);
        }
        let what = format!(
            "{:.0} % of the volume expected from its length; offset along its normals to it",
            share * 100.0
        );
        let name = bone.name.clone();
        set.notes.push(BoneNote::Flaw { name, what });
    }
}

/// The middle of the upper inner end of a femur.
fn femoral_head(mesh: &TriMesh) -> DVec3 {
    super::centres::femoral_head(mesh).0
}

/// Scales large patellae, and brings those that stand off to the femur.
fn seat_patellae(set: &mut BoneSet, scale: f64) {
    for side in ["l", "r"] {
        let Some(femur) = set.bone(&format!("femur_{side}")).map(|b| b.mesh.clone()) else {
            continue;
        };
        let name = format!("patella_{side}");
        let Some(bone) = set.bones.iter_mut().find(|bone| bone.name == name) else {
            continue;
        };
        let share = bone.mesh.signed_volume() / (PATELLA.0 * 1e-6 * scale.powi(3));
        if share < PATELLA.1 {
            continue;
        }
        let middle = bone.mesh.bounds().center();
        let factor = share.cbrt().recip() as f32;
        let lift = femur.bounds().min.y + PATELLA_HEIGHT * scale as f32
            - (middle.y + (bone.mesh.bounds().min.y - middle.y) * factor);
        for p in &mut bone.mesh.positions {
            *p = middle + (*p - middle) * factor + lift * Vec3::Y;
        }
        let surface = Surface::new(femur);
        let gap = |mesh: &TriMesh| {
            (mesh.positions.iter())
                .filter_map(|&p| surface.signed_distance(p))
                .fold(f32::INFINITY, f32::min)
        };
        for _ in 0..12 {
            let off = gap(&bone.mesh) - PATELLA_GAP * scale as f32;
            if !off.is_finite() || off.abs() < 1e-4 {
                break;
            }
            bone.mesh.positions.iter_mut().for_each(|p| p.z -= off);
        }
        let what = format!(
            "{:.1} times the volume of a patella; scaled by {factor:.2} and set before the knee",
            share
        );
        set.notes.push(BoneNote::Flaw { name, what });
    }
}

/// Moves vertices along their normals, by a weight each, until the mesh has a volume \[m³\].
fn offset_to_volume(mesh: &mut TriMesh, volume: f64, weight: impl Fn(Vec3) -> f64) {
    let weights: Vec<f64> = mesh.positions.iter().map(|&p| weight(p)).collect();
    for _ in 0..4 {
        let normals = vertex_normals(mesh);
        let areas = mesh.vertex_areas();
        let area: f64 = areas.iter().zip(&weights).map(|(area, w)| area * w).sum();
        let offset = (volume - mesh.signed_volume()) / area.max(f64::MIN_POSITIVE);
        for ((p, n), w) in mesh.positions.iter_mut().zip(&normals).zip(&weights) {
            *p += *n * (offset * w) as f32;
        }
    }
}
