//! Names of bones: one vocabulary, and what other collections call the same bones.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The table: our name, the segment the bone moves with, other names.
const TABLE: &str = include_str!("vocabulary.txt");

/// A bone of the vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBone {
    /// Our name: `femur_l`, `vertebra_T3`.
    pub name: String,
    /// Name of the segment it moves with: `femur_l`, `thorax`.
    pub segment: String,
}

/// The bone of a name in any of the known ways of naming; `None` if the name is not in the table.
pub fn known_bone(name: &str) -> Option<&'static KnownBone> {
    vocabulary().get(&plain(name))
}

/// The name of the same bone on the other side; `None` for bones of the midline.
pub fn mirrored_name(name: &str) -> Option<String> {
    if let Some(stem) = name.strip_suffix("_l") {
        return Some(format!("{stem}_r"));
    }
    Some(format!("{}_l", name.strip_suffix("_r")?))
}

/// Lower case, with blanks and hyphens as underscores.
fn plain(name: &str) -> String {
    (name.trim().chars())
        .map(|c| match c {
            ' ' | '-' | '.' => '_',
            other => other.to_ascii_lowercase(),
        })
        .collect()
}

fn vocabulary() -> &'static BTreeMap<String, KnownBone> {
    static VOCABULARY: OnceLock<BTreeMap<String, KnownBone>> = OnceLock::new();
    VOCABULARY.get_or_init(|| parsed(TABLE))
}

fn parsed(table: &str) -> BTreeMap<String, KnownBone> {
    let mut known = BTreeMap::new();
    let rows = (table.lines()).filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    for line in rows {
        let mut cells = line.split('|').map(str::trim);
        let [name, segment, others] = [0; 3].map(|_| cells.next().unwrap_or_default());
        for (short, long) in [("_l", "left"), ("_r", "right")] {
            let ours = |text: &str| match text.strip_suffix("_S") {
                Some(stem) => format!("{stem}{short}"),
                None => text.to_owned(),
            };
            let bone = KnownBone {
                name: ours(name),
                segment: ours(segment),
            };
            known.insert(plain(&bone.name), bone.clone());
            for other in others.split(',').map(str::trim).filter(|o| !o.is_empty()) {
                let written_out = (other.split('_'))
                    .map(|word| if word == "S" { long } else { word })
                    .collect::<Vec<_>>()
                    .join("_");
                for alias in [ours(other), written_out] {
                    known.entry(plain(&alias)).or_insert_with(|| bone.clone());
                }
            }
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_naming_give_one_name() {
        let pairs = [
            ("femur_l", "left_femur"),
            ("vertebra_T3", "third_thoracic_vertebra"),
            ("rib07_r", "right_seventh_rib"),
            ("index_medial_l", "Middle phalanx of left index finger"),
            ("toe5_dist_r", "distal_phalanx_of_right_little_toe"),
            ("pelvis_l", "left_hip_bone"),
            ("triquetrum_r", "right_triquetral"),
            ("disk_L4", "intervertebral_disk_of_fourth_lumbar_vertebra"),
        ];
        for (ours, theirs) in pairs {
            assert_eq!(known_bone(ours).unwrap().name, ours);
            assert_eq!(known_bone(theirs).unwrap().name, ours, "{theirs}");
        }
        assert_eq!(known_bone("rib07_r").unwrap().segment, "thorax");
        assert_eq!(known_bone("left_fibula").unwrap().segment, "tibia_l");
        assert!(known_bone("left_teapot").is_none());
    }

    #[test]
    fn sides_are_mirrored() {
        assert_eq!(mirrored_name("femur_l").unwrap(), "femur_r");
        assert_eq!(mirrored_name("rib01_r").unwrap(), "rib01_l");
        assert!(mirrored_name("sacrum").is_none());
    }
}
