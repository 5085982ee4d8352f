//! Bones from a folder of meshes: names, units, axes, sides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use glam::{DMat3, DVec3, Vec3};
use supple_geom::TriMesh;

use super::flaws::mend_known_flaws;
use super::names::{known_bone, mirrored_name};
use super::tidy::{Tidied, closed_bone, mirrored};
use crate::Bone;
use crate::mesh_folder::{MeshFolderError, read_mesh_folder};

/// Bones of one skeleton \[m\]: Y up, facing +Z, left at +X, feet at y = 0, the midline at x = 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoneSet {
    /// The bones, by name. Closed, outside out.
    pub bones: Vec<Bone>,
    /// Joint centres that came with the bones, by the file's names: `hip_l`.
    pub joints: BTreeMap<String, Vec3>,
    /// What was noticed and mended.
    pub notes: Vec<BoneNote>,
}

/// Something noticed about a bone, and what was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoneNote {
    /// The name is not in the vocabulary.
    #[error(
        "'{name}' is no bone of the vocabulary and was left out; rename it (docs: bone names) if it is one"
    )]
    UnknownName {
        /// Name of the file without its extension.
        name: String,
    },
    /// Two files are one bone.
    #[error("'{name}' is there twice; the larger one was kept")]
    Twice {
        /// Name of the bone.
        name: String,
    },
    /// A bone had holes.
    #[error("'{name}' was open; {holes} holes were filled")]
    Filled {
        /// Name of the bone.
        name: String,
        /// How many.
        holes: usize,
    },
    /// A bone was wrapped.
    #[error("'{name}' was no closed surface and was wrapped anew")]
    Wrapped {
        /// Name of the bone.
        name: String,
    },
    /// A bone without volume.
    #[error("'{name}' encloses nothing and was left out; give a closed mesh")]
    Nothing {
        /// Name of the bone.
        name: String,
    },
    /// A side was missing.
    #[error("'{name}' was missing and was mirrored from the other side")]
    Mirrored {
        /// Name of the bone that was made.
        name: String,
    },
    /// Unit or axes differ from metres, Y up, facing +Z.
    #[error("the bones were turned and scaled: {what}")]
    Converted {
        /// What was found.
        what: String,
    },
    /// A known flaw was mended.
    #[error("'{name}': {what}")]
    Flaw {
        /// Name of the bone.
        name: String,
        /// What was wrong and what was done.
        what: String,
    },
}

/// Why a folder gives no skeleton.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoneError {
    /// The folder or one of its files cannot be read.
    #[error(transparent)]
    Folder(#[from] MeshFolderError),
    /// `joints.json` is not understood.
    #[error("{path}: {reason}; expected {{\"hip_l\": {{\"at\": [x, y, z]}}, ...}}, or delete the file: joints are then found from the bones", path = path.display())]
    Joints {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No file is a bone.
    #[error("{path}: none of its {files} mesh files has the name of a bone; expected names such as femur_l.ply or left_femur.ply", path = path.display())]
    NoBones {
        /// The folder.
        path: PathBuf,
        /// Mesh files in it.
        files: usize,
    },
    /// A bone that placing needs is missing on both sides.
    #[error(
        "there is no '{name}'; a skeleton needs a skull, hip bones, femora, thoracic vertebrae and ribs"
    )]
    Missing {
        /// Name of the bone.
        name: String,
    },
    /// No unit makes it a person.
    #[error(
        "the skeleton is {extent:.3} units from foot to head: neither metres, centimetres, millimetres nor inches make it a person; scale it to metres"
    )]
    Unit {
        /// Height in the files' unit.
        extent: f64,
    },
    /// Left and right, up and front contradict each other.
    #[error(
        "the skeleton is mirrored: with the skull up and the left bones at the left, its toes point backwards; swap left and right in the names, or mirror the meshes"
    )]
    Mirrored,
    /// The body lacks a joint that bones are placed by.
    #[error(transparent)]
    Body(#[from] crate::BodyError),
    /// The placing did not come to a result.
    #[error("the bones could not be placed: {reason}")]
    Placing {
        /// What happened.
        reason: String,
    },
}

/// Heights of a skeleton that are taken for a person's \[m\]: children to giants.
const PERSON: std::ops::Range<f64> = 0.9..2.4;
/// Units that are tried \[m\].
const UNITS: [(f64, &str); 4] = [
    (1.0, "metres"),
    (0.01, "centimetres"),
    (0.001, "millimetres"),
    (0.0254, "inches"),
];
/// Cosine of the angle up to which the skeleton's axes are taken to be the file's: 15 degrees.
const SNAP: f64 = 0.966;

/// Reads all meshes of a folder named after bones, and `joints.json` if there is one.
pub fn read_bones(folder: &Path) -> Result<BoneSet, BoneError> {
    let (meshes, joints) = read_bone_files(folder)?;
    let count = meshes.len();
    bone_set(meshes, joints).map_err(|error| match error {
        BoneError::NoBones { .. } => BoneError::NoBones {
            path: folder.to_owned(),
            files: count,
        },
        other => other,
    })
}

/// The meshes of a folder as they are in the files, by file name, and the joints of `joints.json`.
pub fn read_bone_files(folder: &Path) -> Result<super::asset::NamedMeshes, BoneError> {
    Ok((
        read_mesh_folder(folder)?,
        read_joints(&folder.join("joints.json"))?,
    ))
}

/// The skeleton of named meshes in any unit and axes.
pub fn bone_set(
    meshes: Vec<(String, TriMesh)>,
    joints: BTreeMap<String, DVec3>,
) -> Result<BoneSet, BoneError> {
    let mut notes = Vec::new();
    let files = meshes.len();
    let mut found: BTreeMap<String, TriMesh> = BTreeMap::new();
    for (name, mesh) in meshes {
        let Some(known) = known_bone(&name) else {
            notes.push(BoneNote::UnknownName { name });
            continue;
        };
        let name = known.name.clone();
        let size = |mesh: &TriMesh| mesh.bounds().diagonal();
        match found.get(&name) {
            Some(other) if size(other) >= size(&mesh) => notes.push(BoneNote::Twice { name }),
            Some(_) => {
                notes.push(BoneNote::Twice { name: name.clone() });
                found.insert(name, mesh);
            }
            None => {
                found.insert(name, mesh);
            }
        }
    }
    if found.is_empty() {
        let path = PathBuf::new();
        return Err(BoneError::NoBones { path, files });
    }
    let mut set = BoneSet {
        notes,
        ..BoneSet::default()
    };
    for (name, mesh) in found {
        match closed_bone(&mesh) {
            None => set.notes.push(BoneNote::Nothing { name }),
            Some((mesh, tidied)) => {
                match tidied {
                    Tidied::Closed => {}
                    Tidied::Filled { holes } => set.notes.push(BoneNote::Filled {
                        name: name.clone(),
                        holes,
                    }),
                    Tidied::Wrapped => set.notes.push(BoneNote::Wrapped { name: name.clone() }),
                }
                set.bones.push(Bone { name, mesh });
            }
        }
    }
    stand_up(&mut set, joints)?;
    mirror_missing(&mut set);
    mend_known_flaws(&mut set);
    Ok(set)
}

impl BoneSet {
    /// A bone by its name.
    pub fn bone(&self, name: &str) -> Option<&Bone> {
        self.bones.iter().find(|bone| bone.name == name)
    }
}

fn middle(mesh: &TriMesh) -> DVec3 {
    mesh.bounds().center().as_dvec3()
}

/// Mean of the middles of the bones for which `wanted` holds.
fn mean_middle(bones: &[Bone], wanted: impl Fn(&str) -> bool) -> Option<DVec3> {
    let middles: Vec<DVec3> = (bones.iter())
        .filter(|bone| wanted(&bone.name))
        .map(|bone| middle(&bone.mesh))
        .collect();
    (!middles.is_empty()).then(|| middles.iter().sum::<DVec3>() / middles.len() as f64)
}

/// Turns and scales to metres, Y up, facing +Z, by what is where: the skull is up, left bones are left, toes in front.
fn stand_up(set: &mut BoneSet, joints: BTreeMap<String, DVec3>) -> Result<(), BoneError> {
    let missing = |name: &str| BoneError::Missing {
        name: name.to_owned(),
    };
    let head = mean_middle(&set.bones, |name| {
        matches!(name, "skull" | "frontal_bone" | "occipital_bone")
    });
    let head = head.ok_or_else(|| missing("skull"))?;
    let hips = mean_middle(&set.bones, |name| {
        name.starts_with("pelvis_") || name == "sacrum"
    });
    let hips = hips.ok_or_else(|| missing("pelvis_l"))?;
    let lasting = ["femur", "tibia", "humerus", "pelvis", "scapula"];
    let side = |suffix: &str| {
        mean_middle(&set.bones, |name| {
            name.ends_with(suffix) && lasting.iter().any(|stem| name.starts_with(stem))
        })
    };
    let left = match (side("_l"), side("_r")) {
        (Some(left), Some(right)) => left - right,
        (Some(left), None) => left - 0.5 * (head + hips),
        (None, Some(right)) => 0.5 * (head + hips) - right,
        (None, None) => return Err(missing("femur_l")),
    };
    let up = (head - hips).normalize_or_zero();
    let left = left.reject_from_normalized(up).normalize_or_zero();
    let front = left.cross(up);
    let mut axes = [left, up, front];
    let nearest = axes.map(|axis| {
        let magnitudes = axis.abs();
        let k = (0..3)
            .max_by(|&a, &b| magnitudes[a].total_cmp(&magnitudes[b]))
            .unwrap_or(0);
        DVec3::AXES[k] * axis[k].signum()
    });
    if (0..3).all(|k| axes[k].dot(nearest[k]) > SNAP) {
        axes = nearest;
    }
    let turn = DMat3::from_cols(axes[0], axes[1], axes[2]).transpose();
    if let (Some(heel), Some(toes)) = (
        mean_middle(&set.bones, |name| name.starts_with("calcaneus")),
        mean_middle(&set.bones, |name| name.starts_with("metatarsal")),
    ) && (turn * (toes - heel)).z < 0.0
    {
        return Err(BoneError::Mirrored);
    }
    let turned = || {
        (set.bones.iter())
            .flat_map(|bone| &bone.mesh.positions)
            .map(|p| turn * p.as_dvec3())
    };
    let lowest = turned().fold(f64::INFINITY, |low, p| low.min(p.y));
    let highest = turned().fold(f64::NEG_INFINITY, |high, p| high.max(p.y));
    let extent = highest - lowest;
    let unit = (UNITS.iter()).find(|(unit, _)| PERSON.contains(&(extent * unit)));
    let &(unit, unit_name) = unit.ok_or(BoneError::Unit { extent })?;
    let shift = DVec3::new(
        midline(&set.bones, turn).unwrap_or((turn * hips).x),
        lowest,
        0.0,
    );
    let place = |p: DVec3| (turn * p - shift) * unit;
    for bone in &mut set.bones {
        for p in &mut bone.mesh.positions {
            *p = place(p.as_dvec3()).as_vec3();
        }
    }
    set.joints = (joints.into_iter())
        .map(|(name, at)| (name, place(at).as_vec3()))
        .collect();
    if turn != DMat3::IDENTITY || unit != 1.0 {
        let what = format!(
            "{unit_name}, up is {}, front is {}",
            named(axes[1]),
            named(axes[2])
        );
        set.notes.push(BoneNote::Converted { what });
    }
    Ok(())
}

/// The plane between left and right: the median over pairs of bones, else the middle of the spine.
fn midline(bones: &[Bone], turn: DMat3) -> Option<f64> {
    let mut middles: Vec<f64> = (bones.iter().filter(|bone| bone.name.ends_with("_l")))
        .filter_map(|left| {
            let right = mirrored_name(&left.name)?;
            let right = bones.iter().find(|bone| bone.name == right)?;
            Some(0.5 * (turn * (middle(&left.mesh) + middle(&right.mesh))).x)
        })
        .collect();
    middles.sort_by(f64::total_cmp);
    let spine = || {
        mean_middle(bones, |name| {
            name == "sacrum" || name.starts_with("vertebra_")
        })
    };
    match middles.len() {
        0 => spine().map(|middle| (turn * middle).x),
        n => Some(middles[n / 2]),
    }
}

fn named(axis: DVec3) -> String {
    let names = ["X", "Y", "Z"];
    match (0..3).find(|&k| axis[k].abs() > 0.999) {
        Some(k) => format!("{}{}", if axis[k] < 0.0 { "-" } else { "+" }, names[k]),
        None => format!("({:.2}, {:.2}, {:.2})", axis.x, axis.y, axis.z),
    }
}

fn mirror_missing(set: &mut BoneSet) {
    let mut made = Vec::new();
    for bone in &set.bones {
        if let Some(name) = mirrored_name(&bone.name)
            && set.bone(&name).is_none()
        {
            let mesh = mirrored(&bone.mesh);
            made.push(Bone { name, mesh });
        }
    }
    for bone in made {
        let name = bone.name.clone();
        set.notes.push(BoneNote::Mirrored { name });
        set.bones.push(bone);
    }
    set.bones.sort_by(|a, b| a.name.cmp(&b.name));
}

/// Joints of a `joints.json`: `{"hip_l": {"at": [x, y, z]}}`; none if there is no such file.
fn read_joints(path: &Path) -> Result<BTreeMap<String, DVec3>, BoneError> {
    #[derive(serde::Deserialize)]
    struct At {
        at: [f64; 3],
    }
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let wrong = |reason: String| BoneError::Joints {
        path: path.to_owned(),
        reason,
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let joints: BTreeMap<String, At> =
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    Ok((joints.into_iter())
        .filter(|(_, joint)| joint.at.iter().all(|x| x.is_finite()))
        .map(|(name, joint)| (name, DVec3::from(joint.at)))
        .collect())
}
