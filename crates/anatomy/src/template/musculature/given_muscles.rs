//! Muscles that somebody has meshes of: read from a folder, and carried into the body with the bones around them.

use std::path::{Path, PathBuf};

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::{Surface, TriMesh};

use crate::mesh_folder::{MeshFolderError, read_mesh_folder};
use crate::template::{Group, Regions, Rig, RiggedMuscle, Side};
use crate::{Bone, Layers};

/// Bones farther from a point than the nearest by this much do not carry it \[m\].
const CARRIED_WITHIN: f64 = 0.06;
/// Share of a muscle's vertices outside the skin from which it is left out: it belongs to another body, or another place.
const MOST_OUTSIDE: f64 = 0.5;

/// A muscle as it was read \[units of the file\].
#[derive(Clone, Debug, PartialEq)]
pub struct GivenMuscle {
    /// Name of the file without its extension.
    pub name: String,
    /// Its surface.
    pub mesh: TriMesh,
}

/// Why muscles cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GivenMuscleError {
    /// The folder or one of its files cannot be read.
    #[error(transparent)]
    Folder(#[from] MeshFolderError),
    /// No meshes in the folder.
    #[error(
        "{} has no meshes (ply, obj, off, stl, glb); give a folder with one mesh a muscle, or an atlas (.toml)", path.display()
    )]
    Nothing {
        /// The folder.
        path: PathBuf,
    },
}

/// Reads the meshes of a folder, as they are.
pub fn read_given(folder: &Path) -> Result<Vec<GivenMuscle>, GivenMuscleError> {
    let mut meshes = read_mesh_folder(folder)?;
    meshes.retain(|(_, mesh)| !mesh.triangles.is_empty());
    if meshes.is_empty() {
        let path = folder.to_owned();
        return Err(GivenMuscleError::Nothing { path });
    }
    let muscle = |(name, mesh)| GivenMuscle { name, mesh };
    Ok(meshes.into_iter().map(muscle).collect())
}

/// An affine map.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    linear: DMat3,
    from: DVec3,
    to: DVec3,
}

impl Map {
    /// The affine map that takes points nearest to others; a shift where they span no space.
    pub fn between(from: &[Vec3], to: &[Vec3]) -> Map {
        let count = from.len().max(1) as f64;
        let mean = |points: &[Vec3]| points.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / count;
        let (a, b) = (mean(from), mean(to));
        let outer = |p: DVec3, q: DVec3| DMat3::from_cols(p * q.x, p * q.y, p * q.z);
        let (mut spread, mut cross) = (DMat3::ZERO, DMat3::ZERO);
        for (&p, &q) in from.iter().zip(to) {
            let (p, q) = (p.as_dvec3() - a, q.as_dvec3() - b);
            spread += outer(p, p);
            cross += outer(q, p);
        }
        let size = (spread.x_axis.x + spread.y_axis.y + spread.z_axis.z) / 3.0;
        // Flat bones span no space: what they do not tell stays as it is.
        let least = (1e-4 * size).max(f64::MIN_POSITIVE) * DMat3::IDENTITY;
        let linear = (cross + least) * (spread + least).inverse();
        Map {
            linear: if linear.is_finite() {
                linear
            } else {
                DMat3::IDENTITY
            },
            from: a,
            to: b,
        }
    }

    /// Moves a point.
    pub fn point(&self, p: DVec3) -> DVec3 {
        self.to + self.linear * (p - self.from)
    }
}

/// What was done with given muscles.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct GivenNotes {
    /// Muscles that were left out: mostly outside the skin.
    pub outside: Vec<String>,
    /// Muscles with some vertices outside the skin, and how many; they are moved below it.
    pub pulled_in: Vec<(String, usize)>,
}

/// Distance of a point from a bone's box \[m\]; never more than from the bone.
fn box_distance(bone: &Surface, p: Vec3) -> f32 {
    let bounds = bone.bounds();
    let outside = (bounds.min - p).max(p - bounds.max).max(Vec3::ZERO);
    outside.length()
}

/// Carries muscles from the bones they came with to the same bones placed in a body: every point moves with the bones around it.
pub fn carried(
    given: &[GivenMuscle],
    [source, placed]: [&[Bone]; 2],
    skin: &Surface,
) -> (Vec<GivenMuscle>, GivenNotes) {
    let pairs: Vec<(Surface, Map)> = (source.iter())
        .filter_map(|bone| {
            let other = placed.iter().find(|other| other.name == bone.name)?;
            let map = Map::between(&bone.mesh.positions, &other.mesh.positions);
            Some((Surface::new(bone.mesh.clone()), map))
        })
        .collect();
    let carry = |&point: &Vec3| -> Vec3 {
        // Bones in the order of their boxes' distances; those whose box is out of reach of the nearest count for nothing.
        let mut order: Vec<(f32, usize)> = (pairs.iter().enumerate())
            .map(|(k, (bone, _))| (box_distance(bone, point), k))
            .collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut near = vec![f64::INFINITY; pairs.len()];
        let mut least = f64::INFINITY;
        for (from, k) in order {
            if f64::from(from) > least + CARRIED_WITHIN {
                break;
            }
            let found = pairs[k].0.closest_point(point);
            near[k] = found.map_or(1e3, |at| f64::from(at.distance));
            least = least.min(near[k]);
        }
        let (mut sum, mut total) = (DVec3::ZERO, 0.0);
        for ((_, map), &distance) in pairs.iter().zip(&near) {
            let beyond = 1.0 - (distance - least) / CARRIED_WITHIN;
            if beyond > 0.0 {
                let weight = beyond * beyond / (distance * distance + 1e-6);
                sum += weight * map.point(point.as_dvec3());
                total += weight;
            }
        }
        if total > 0.0 {
            (sum / total).as_vec3()
        } else {
            point
        }
    };
    let moved: Vec<(GivenMuscle, usize)> = (given.par_iter())
        .map(|muscle| {
            let mut muscle = muscle.clone();
            let mut out = 0;
            for point in &mut muscle.mesh.positions {
                *point = carry(point);
                if !skin.contains(*point) {
                    out += 1;
                    *point = skin.closest_point(*point).map_or(*point, |at| at.position);
                }
            }
            (muscle, out)
        })
        .collect();
    let mut notes = GivenNotes::default();
    let mut kept = Vec::new();
    for (muscle, out) in moved {
        if out as f64 > MOST_OUTSIDE * muscle.mesh.positions.len() as f64 {
            notes.outside.push(muscle.name);
            continue;
        }
        if out > 0 {
            notes.pulled_in.push((muscle.name.clone(), out));
        }
        kept.push(muscle);
    }
    (kept, notes)
}

/// Given muscles as a template keeps them. Their groups are those of the skin over them.
pub fn grouped(given: Vec<GivenMuscle>, layers: &Layers, regions: &Regions) -> Vec<RiggedMuscle> {
    let hull = Surface::new(TriMesh {
        positions: layers.muscle.clone(),
        triangles: layers.triangles.clone(),
    });
    (given.into_par_iter())
        .map(|muscle| {
            let nearest = crate::template::assemble::nearest_vertices(&muscle.mesh, &hull);
            let votes = |group: Group| {
                let over = nearest.iter().map(|&v| regions.group[v as usize]);
                over.filter(|&other| other == Some(group)).count()
            };
            let group = Group::ALL.into_iter().max_by_key(|&group| votes(group));
            RiggedMuscle {
                group: group.unwrap_or(Group::Back),
                side: side(&muscle.name),
                volume: muscle.mesh.signed_volume().abs(),
                name: muscle.name,
                mesh: muscle.mesh,
                fibres: Vec::new(),
                tendon: Vec::new(),
                rig: Rig::Skin(nearest),
            }
        })
        .collect()
}

/// The side that a name tells.
fn side(name: &str) -> Option<Side> {
    let name = name.to_lowercase();
    let has = |word: &str| name.split(['_', ' ', '.', '-']).any(|part| part == word);
    match (has("left") || has("l"), has("right") || has("r")) {
        (true, false) => Some(Side::Left),
        (false, true) => Some(Side::Right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::{cuboid, icosphere};

    #[test]
    fn affine_maps_are_found() {
        let from = icosphere(1.0, 1).positions;
        let to: Vec<Vec3> = (from.iter())
            .map(|p| Vec3::new(2.0 * p.y + 1.0, -p.x, 0.5 * p.z))
            .collect();
        let map = Map::between(&from, &to);
        let moved = map.point(DVec3::new(3.0, 4.0, 5.0));
        assert!(
            (moved - DVec3::new(9.0, -3.0, 2.5)).length() < 1e-2,
            "{moved}"
        );
    }

    #[test]
    fn muscles_move_with_their_bones_and_stay_below_the_skin() {
        let bone = |shift: Vec3| {
            let mut mesh = icosphere(0.02, 2);
            mesh.positions.iter_mut().for_each(|p| *p += shift);
            let name = "femur_l".to_owned();
            Bone { name, mesh }
        };
        let muscle = |name: &str, x: f32| {
            let mut mesh = icosphere(0.01, 2);
            mesh.positions.iter_mut().for_each(|p| p.x += x);
            let name = name.to_owned();
            GivenMuscle { name, mesh }
        };
        let shift = Vec3::new(0.0, 0.05, 0.0);
        let skin = Surface::new(cuboid(Vec3::splat(0.3), 4));
        let given = [
            muscle("left_one", 0.04),
            muscle("half_r", 0.149),
            muscle("far", 0.4),
        ];
        let (kept, notes) = carried(&given, [&[bone(Vec3::ZERO)], &[bone(shift)]], &skin);
        assert_eq!(kept.len(), 2);
        assert_eq!(notes.outside, ["far"]);
        assert_eq!(notes.pulled_in.len(), 1);
        let centre = kept[0].mesh.bounds().center();
        assert!(
            (centre - Vec3::new(0.04, 0.05, 0.0)).length() < 1e-4,
            "{centre}"
        );
        assert_eq!(
            ["left_one", "half_r", "far"].map(side),
            [Some(Side::Left), Some(Side::Right), None]
        );
    }
}
