//! Places where bone lies close under the skin, and how deep.
//!
//! A skin says most about the bones inside where nothing but skin and a little fat covers them. Each row names a bone (the first
//! of several that a collection has), the direction in which the site is extreme in a skeleton that stands with hanging
//! arms and palms forward (left side; mirrored for the right), its depth in a man and a woman of average fat, and a deviation \[mm\].
//!
//! Depths are estimates, not measurements. Those of skull and jaw are of the order of the facial tissue depths that forensic tables give (5 to 6 mm on
//! forehead and crown, 10 to 12 on lip and chin); the others are skin and fat as felt, and were adjusted, with their deviations, until bones lay
//! inside both embedded bodies with closed joints. Whoever can measure should replace them.

use glam::DVec3;

use super::names::known_bone;
use super::read::BoneSet;
use crate::Sex;

/// A vertex that should lie at a depth below the skin.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Site {
    pub segment: String,
    /// The vertex in the bones' frame.
    pub at: DVec3,
    /// Depth below the skin \[m\].
    pub depth: f64,
    /// Deviation \[m\].
    pub deviation: f64,
}

type Row = (&'static [&'static str], [f64; 3], [f64; 2], f64);

/// Bones of the midline.
const MIDDLE: &[Row] = &[
    (
        &["skull", "parietal_bone_l"],
        [0.0, 1.0, 0.0],
        [6.0, 6.0],
        1.5,
    ),
    (&["skull", "frontal_bone"], [0.0, 0.6, 1.0], [5.5, 5.5], 1.5),
    (
        &["skull", "occipital_bone"],
        [0.0, 0.35, -1.0],
        [6.5, 6.5],
        1.5,
    ),
    (&["skull", "nasal_bone_l"], [0.0, 0.2, 1.0], [6.0, 6.0], 1.5),
    (&["skull", "maxilla_l"], [0.0, -0.5, 1.0], [12.0, 12.0], 2.5),
    (&["mandible"], [0.0, -0.6, 1.0], [10.0, 10.0], 2.0),
    (&["vertebra_C7"], [0.0, 0.0, -1.0], [10.0, 11.0], 3.0),
    (&["vertebra_T2"], [0.0, 0.0, -1.0], [11.0, 12.0], 4.0),
    (&["vertebra_T4"], [0.0, 0.0, -1.0], [12.0, 13.0], 4.0),
    (&["vertebra_T6"], [0.0, 0.0, -1.0], [12.0, 13.0], 4.0),
    (&["vertebra_T8"], [0.0, 0.0, -1.0], [12.0, 13.0], 4.0),
    (&["vertebra_T11"], [0.0, 0.0, -1.0], [12.0, 13.0], 4.0),
    (&["vertebra_L3"], [0.0, 0.0, -1.0], [14.0, 16.0], 4.0),
    (&["sacrum"], [0.0, 0.0, -1.0], [15.0, 18.0], 5.0),
    (
        &["sternum_costal_cartilage", "manubrium"],
        [0.0, 1.0, 0.6],
        [10.0, 11.0],
        4.0,
    ),
    (
        &["sternum_costal_cartilage", "sternum"],
        [0.0, 0.0, 1.0],
        [11.0, 13.0],
        5.0,
    ),
];

/// Bones of the left side; `_l` is appended.
const SIDES: &[Row] = &[
    (
        &["skull", "parietal_bone"],
        [1.0, 0.25, -0.2],
        [6.5, 6.5],
        2.0,
    ),
    (&["rib08"], [1.0, 0.0, 0.0], [18.0, 18.0], 6.0),
    (&["rib05"], [1.0, 0.0, 0.0], [24.0, 24.0], 8.0),
    (&["clavicle"], [0.0, 0.2, 1.0], [9.0, 9.0], 4.0),
    (&["scapula"], [0.6, 1.0, 0.0], [9.0, 9.0], 3.0),
    (&["scapula"], [-0.3, -1.0, -0.5], [20.0, 20.0], 6.0),
    (&["humerus"], [1.0, 0.4, 0.0], [17.0, 17.0], 5.0),
    (&["ulna"], [0.0, 1.0, -0.6], [4.5, 5.5], 1.5),
    (&["ulna"], [-0.3, -1.0, -0.4], [5.0, 5.0], 2.0),
    (&["radius"], [1.0, -1.0, 0.0], [5.5, 5.5], 2.0),
    (&["pelvis"], [0.6, 0.0, 1.0], [13.0, 20.0], 7.0),
    (&["pelvis"], [1.0, 0.8, 0.0], [18.0, 26.0], 8.0),
    (&["femur"], [1.0, 0.3, 0.0], [32.0, 45.0], 12.0),
    (&["patella"], [0.0, 0.0, 1.0], [7.0, 8.0], 2.0),
    (&["tibia"], [-0.6, -1.0, 0.4], [4.5, 5.0], 1.5),
    (&["tibia"], [0.0, 0.35, 1.0], [7.0, 8.0], 3.0),
    (&["fibula"], [0.8, -1.0, 0.0], [4.5, 5.0], 1.5),
    (&["calcaneus"], [0.0, -0.3, -1.0], [8.0, 8.0], 2.5),
    (&["calcaneus"], [0.0, -1.0, -0.2], [15.0, 14.0], 4.0),
    (&["metatarsal1"], [0.0, -1.0, 0.5], [11.0, 10.0], 3.0),
    (&["metatarsal1"], [-1.0, 0.0, 0.8], [6.0, 6.0], 2.0),
    (&["metatarsal5"], [1.0, -0.3, -0.3], [7.0, 7.0], 2.5),
];

/// The sites of a skeleton.
pub(super) fn sites(set: &BoneSet, sex: Sex) -> Vec<Site> {
    let mut found = Vec::new();
    let mut push = |names: &[String], along: DVec3, depths: [f64; 2], deviation: f64| {
        let Some(bone) = names.iter().find_map(|name| set.bone(name)) else {
            return;
        };
        let height = |p: &&glam::Vec3| p.as_dvec3().dot(along);
        let vertex = (bone.mesh.positions.iter()).max_by(|a, b| height(a).total_cmp(&height(b)));
        if let (Some(vertex), Some(known)) = (vertex, known_bone(&bone.name)) {
            found.push(Site {
                segment: known.segment.clone(),
                at: vertex.as_dvec3(),
                depth: 1e-3 * depths[usize::from(sex == Sex::Female)],
                deviation: 1e-3 * deviation,
            });
        }
    };
    for &(names, along, depths, deviation) in MIDDLE {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        push(&names, DVec3::from(along), depths, deviation);
    }
    for (side, sign) in [("l", 1.0), ("r", -1.0)] {
        for &(names, along, depths, deviation) in SIDES {
            let named = |stem: &&str| match set.bone(stem) {
                Some(_) => (*stem).to_owned(),
                None => format!("{stem}_{side}"),
            };
            let names: Vec<String> = names.iter().map(named).collect();
            push(
                &names,
                DVec3::new(sign * along[0], along[1], along[2]),
                depths,
                deviation,
            );
        }
    }
    found
}
