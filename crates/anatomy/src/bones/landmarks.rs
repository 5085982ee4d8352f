//! Named points of the skeleton that people can feel under the skin, and the skin's vertex over each.

use std::collections::BTreeMap;

use glam::{DVec3, Vec3};

use super::read::BoneSet;
use crate::{Body, Bone};

/// A point of a bone close under the skin.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Landmark {
    /// On the bone \[m\].
    pub bone: Vec3,
    /// Vertex of the body's skin nearest to it.
    pub skin_vertex: u32,
}

type Row = (&'static str, &'static [&'static str], [f64; 3]);

/// Name, bones (the first that is there), and the direction in which the point is extreme in a skeleton that stands with hanging
/// arms and palms forward. Bones without a side, of the midline.
const MIDDLE: &[Row] = &[
    ("vertex", &["skull", "parietal_bone_l"], [0.0, 1.0, 0.0]),
    ("glabella", &["skull", "frontal_bone"], [0.0, 0.3, 1.0]),
    ("occiput", &["skull", "occipital_bone"], [0.0, 0.0, -1.0]),
    ("chin", &["mandible"], [0.0, -0.5, 1.0]),
    ("c7", &["vertebra_C7"], [0.0, 0.0, -1.0]),
    ("t8", &["vertebra_T8"], [0.0, 0.0, -1.0]),
    ("t12", &["vertebra_T12"], [0.0, 0.0, -1.0]),
    ("l4", &["vertebra_L4"], [0.0, 0.0, -1.0]),
    (
        "jugular_notch",
        &["manubrium", "sternum_costal_cartilage"],
        [0.0, 1.0, 0.0],
    ),
    (
        "xiphoid",
        &["xiphoid_process", "sternum_costal_cartilage"],
        [0.0, -1.0, 0.0],
    ),
    ("sacrum", &["sacrum"], [0.0, 0.0, -1.0]),
];

/// The same for the left side; mirrored for the right.
const SIDES: &[Row] = &[
    ("acromion", &["scapula"], [1.0, 0.6, 0.0]),
    ("scapula_tip", &["scapula"], [0.0, -1.0, 0.0]),
    ("humerus_lateral_epicondyle", &["humerus"], [0.6, -1.0, 0.0]),
    ("humerus_medial_epicondyle", &["humerus"], [-0.9, -1.0, 0.0]),
    ("olecranon", &["ulna"], [0.0, 1.0, -0.6]),
    ("ulnar_styloid", &["ulna"], [0.0, -1.0, -0.2]),
    ("radial_styloid", &["radius"], [0.5, -1.0, 0.0]),
    ("index_knuckle", &["metacarpal2"], [0.0, -1.0, -0.4]),
    ("little_knuckle", &["metacarpal5"], [0.0, -1.0, -0.4]),
    ("thumb_tip", &["thumb_distal"], [0.3, -1.0, 0.0]),
    ("index_tip", &["index_distal"], [0.0, -1.0, 0.5]),
    ("middle_tip", &["middle_distal"], [0.0, -1.0, 0.5]),
    ("asis", &["pelvis"], [0.4, 0.2, 1.0]),
    ("psis", &["pelvis"], [0.0, 0.3, -1.0]),
    ("iliac_crest", &["pelvis"], [0.3, 1.0, 0.0]),
    ("pubis", &["pelvis"], [-1.0, 0.0, 0.4]),
    ("ischium", &["pelvis"], [0.0, -1.0, -0.3]),
    ("greater_trochanter", &["femur"], [1.0, 0.3, 0.0]),
    ("femur_lateral_epicondyle", &["femur"], [0.8, -1.0, 0.0]),
    ("femur_medial_epicondyle", &["femur"], [-1.0, -1.0, 0.0]),
    ("patella", &["patella"], [0.0, 0.0, 1.0]),
    ("tibial_tuberosity", &["tibia"], [0.0, 0.3, 1.0]),
    ("medial_malleolus", &["tibia"], [-0.6, -1.0, 0.0]),
    ("lateral_malleolus", &["fibula"], [0.5, -1.0, 0.0]),
    ("heel", &["calcaneus"], [0.0, -0.2, -1.0]),
    ("first_metatarsal", &["metatarsal1"], [-0.6, 0.0, 1.0]),
    ("fifth_metatarsal", &["metatarsal5"], [0.6, 0.0, 1.0]),
    ("toe_tip", &["toe2_dist"], [0.0, 0.0, 1.0]),
];

/// All landmarks of placed bones whose set they came from is given; those of bones that are missing are left out.
pub(super) fn landmarks(set: &BoneSet, placed: &[Bone], body: &Body) -> BTreeMap<String, Landmark> {
    let mut found = BTreeMap::new();
    let mut put = |name: String, bones: &[String], along: DVec3| {
        let Some(bone) = bones.iter().find_map(|name| set.bone(name)) else {
            return;
        };
        let Some(placed) = placed.iter().find(|other| other.name == bone.name) else {
            return;
        };
        // The notch and the xiphoid are points of the midline.
        let on_midline = |p: &Vec3| bone.name != "sternum_costal_cartilage" || p.x.abs() < 0.012;
        let height = |p: &Vec3| p.as_dvec3().dot(along);
        let vertex = (bone.mesh.positions.iter().enumerate())
            .filter(|(_, p)| on_midline(p))
            .max_by(|a, b| height(a.1).total_cmp(&height(b.1)));
        if let Some((vertex, _)) = vertex
            && let Some(&at) = placed.mesh.positions.get(vertex)
        {
            let skin_vertex = nearest_vertex(body, at);
            found.insert(
                name,
                Landmark {
                    bone: at,
                    skin_vertex,
                },
            );
        }
    };
    for &(name, bones, along) in MIDDLE {
        let bones: Vec<String> = bones.iter().map(|&bone| bone.to_owned()).collect();
        put(name.to_owned(), &bones, DVec3::from(along));
    }
    for (side, sign) in [("l", 1.0), ("r", -1.0)] {
        for &(name, bones, [x, y, z]) in SIDES {
            let bones: Vec<String> = bones.iter().map(|bone| format!("{bone}_{side}")).collect();
            put(format!("{name}_{side}"), &bones, DVec3::new(sign * x, y, z));
        }
    }
    found
}

fn nearest_vertex(body: &Body, at: Vec3) -> u32 {
    let distance = |p: &Vec3| p.distance_squared(at);
    let nearest = (body.mesh.positions.iter().enumerate())
        .min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
    nearest.map_or(0, |(vertex, _)| vertex as u32)
}
