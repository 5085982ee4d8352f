//! The atlas of muscles: a text file, read and checked. `assets/muscles.toml` explains its fields.

use glam::{Vec2, Vec3};
use serde::Deserialize;

use crate::template::places::segments::Segment;

/// The embedded atlas.
const EMBEDDED: &str = include_str!("../../../assets/muscles.toml");

/// Group of muscles: the eight that people grow [4.2.4], neck and feet.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, serde::Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Upper legs with buttocks.
    UpperLeg,
    /// Lower legs.
    LowerLeg,
    /// Upper arms.
    UpperArm,
    /// Lower arms.
    LowerArm,
    /// Chest.
    Chest,
    /// Abdomen.
    Abdomen,
    /// Shoulders.
    Shoulder,
    /// Back.
    Back,
    /// Neck.
    Neck,
    /// Feet.
    Feet,
}

impl Group {
    /// All groups, in the order of reports.
    pub const ALL: [Group; 10] = [
        Group::UpperLeg,
        Group::LowerLeg,
        Group::UpperArm,
        Group::LowerArm,
        Group::Chest,
        Group::Abdomen,
        Group::Shoulder,
        Group::Back,
        Group::Neck,
        Group::Feet,
    ];

    /// Its name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Group::UpperLeg => "upper legs",
            Group::LowerLeg => "lower legs",
            Group::UpperArm => "upper arms",
            Group::LowerArm => "lower arms",
            Group::Chest => "chest",
            Group::Abdomen => "abdomen",
            Group::Shoulder => "shoulders",
            Group::Back => "back",
            Group::Neck => "neck",
            Group::Feet => "feet",
        }
    }

    /// Whether it is of arms or legs, whose muscle layer is shared out whole.
    pub fn is_limb(self) -> bool {
        use Group::{Feet, LowerArm, LowerLeg, Shoulder, UpperArm, UpperLeg};
        matches!(
            self,
            UpperLeg | LowerLeg | UpperArm | LowerArm | Shoulder | Feet
        )
    }
}

/// Form of a muscle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A spindle that tapers to both ends.
    Belly,
    /// Broad at one end or both.
    Fan,
    /// Flat, of a thickness.
    Sheet,
}

/// A place on a bone or in a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Box coordinates of a bone.
    Bone(String, Vec3),
    /// Position along a segment and coordinates in its section.
    Section(Segment, f32, Vec2),
}

/// One muscle of the atlas.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Name without a side.
    pub name: String,
    /// Group.
    pub group: Group,
    /// Form.
    pub shape: Shape,
    /// Volume in the reference man \[ml\].
    pub volume: f64,
    /// Where the volume is from.
    pub source: String,
    /// Thickness of a sheet \[m\].
    pub thickness: Option<f32>,
    /// Optimal fibre length \[m\], where known.
    pub fibre_length: Option<f32>,
    /// Pennation \[rad\], where known.
    pub pennation: Option<f32>,
    /// Part of the path that is flesh.
    pub belly: [f32; 2],
    /// Radius of its tendons \[m\].
    pub tendon: f32,
    /// Places along the path of tendinous bands across it.
    pub bands: Vec<f32>,
    /// How far beyond its own form it may fill what nobody else claims \[m\].
    pub reach: f32,
    /// Origin, places in between, insertion: each a line across the muscle.
    pub rows: Vec<Vec<Place>>,
    /// Depth of each row below the muscle surface \[m\]; none where the places stay as they are.
    pub depth: Vec<Option<f32>>,
}

impl Entry {
    /// The radius at a place along the path, relative to the muscle's.
    pub fn profile(&self, u: f32) -> f32 {
        let [start, end] = self.belly;
        let (thin, plump, power) = match self.shape {
            Shape::Belly => (0.14, 0.3, 0.7),
            Shape::Fan => (0.2, 0.5, 0.6),
            Shape::Sheet => (0.6, 0.85, 0.4),
        };
        let s = ((u - start) / (end - start)).clamp(0.0, 1.0);
        let bump = plump + (1.0 - plump) * (std::f32::consts::PI * s).sin().max(0.0).powf(power);
        // Tendons thin out over a tenth of the path.
        let outside = (start - u).max(u - end).max(0.0);
        let fade = (1.0 - outside / 0.1).clamp(0.0, 1.0);
        thin + (bump - thin) * fade * fade
    }
}

/// A list of muscles.
#[derive(Clone, Debug, PartialEq)]
pub struct Atlas {
    /// The muscles, in the order of the file.
    pub entries: Vec<Entry>,
}

/// What is wrong with an atlas, or with a body it is used on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AtlasError {
    /// Not readable as TOML, or a field is missing or of the wrong kind.
    #[error("the atlas cannot be read: {reason}")]
    Syntax {
        /// What the parser says.
        reason: String,
    },
    /// No muscles.
    #[error("the atlas has no muscles; it needs at least one [[muscle]]")]
    Empty,
    /// The same name twice.
    #[error("the atlas has two muscles named '{muscle}'; rename or delete one")]
    Twice {
        /// The name.
        muscle: String,
    },
    /// A field has a value it must not have.
    #[error("muscle '{muscle}': {field} {reason}")]
    Field {
        /// The muscle.
        muscle: String,
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A bone is not there.
    #[error(
        "muscle '{muscle}' needs the bone '{bone}', which is not among the bones; add it, or delete the muscle from the atlas"
    )]
    NoBone {
        /// The muscle.
        muscle: String,
        /// The bone, with its side.
        bone: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAtlas {
    #[serde(default)]
    muscle: Vec<RawEntry>,
}

type RawPlace = (String, f32, f32, f32);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    name: String,
    group: Group,
    shape: Shape,
    volume: f64,
    #[serde(default)]
    source: String,
    thickness: Option<f32>,
    fibre_length: Option<f32>,
    pennation: Option<f32>,
    #[serde(default = "whole")]
    belly: [f32; 2],
    tendon: Option<f32>,
    #[serde(default)]
    bands: Vec<f32>,
    reach: Option<f32>,
    origin: Vec<RawPlace>,
    #[serde(default)]
    via: Vec<Vec<RawPlace>>,
    insertion: Vec<RawPlace>,
    #[serde(default)]
    depth: Vec<f32>,
}

fn whole() -> [f32; 2] {
    [0.0, 1.0]
}

/// Radius of a tendon if the atlas does not say \[m\]: thinner ones fall through the lattice.
const TENDON_RADIUS: f32 = 0.003;
/// How far limb muscles fill their surroundings if the atlas does not say \[m\]: below 20 mm gaps open between thigh muscles, above 40 mm
/// muscles of the leg creep into the pelvis.
const LIMB_REACH: f32 = 0.03;
/// The same for muscles of the trunk, between which organs are \[m\].
const TRUNK_REACH: f32 = 0.004;

impl Atlas {
    /// The atlas with sheets, what they fill around them, and all depths below the muscle surface, `factor` times as thick.
    pub fn with_sheets(&self, factor: f32) -> Atlas {
        let mut atlas = self.clone();
        for entry in &mut atlas.entries {
            if let Some(thickness) = &mut entry.thickness {
                *thickness *= factor;
                entry.reach *= factor;
            }
            (entry.depth.iter_mut().flatten()).for_each(|depth| *depth *= factor);
        }
        atlas
    }

    /// The embedded atlas.
    pub fn embedded() -> Result<Atlas, AtlasError> {
        Atlas::parse(EMBEDDED)
    }

    /// Reads an atlas.
    pub fn parse(text: &str) -> Result<Atlas, AtlasError> {
        let raw: RawAtlas = toml::from_str(text).map_err(|error| AtlasError::Syntax {
            reason: error.to_string(),
        })?;
        if raw.muscle.is_empty() {
            return Err(AtlasError::Empty);
        }
        let mut entries: Vec<Entry> = Vec::with_capacity(raw.muscle.len());
        for muscle in raw.muscle {
            if entries.iter().any(|entry| entry.name == muscle.name) {
                return Err(AtlasError::Twice {
                    muscle: muscle.name,
                });
            }
            entries.push(entry(muscle)?);
        }
        Ok(Atlas { entries })
    }
}

fn entry(raw: RawEntry) -> Result<Entry, AtlasError> {
    let wrong = |field: &'static str, reason: &str| AtlasError::Field {
        muscle: raw.name.clone(),
        field,
        reason: reason.to_owned(),
    };
    let positive = |value: f32| value.is_finite() && value > 0.0;
    if !positive(raw.volume as f32) {
        return Err(wrong("volume", "must be above zero"));
    }
    if raw.thickness.is_some_and(|t| !positive(t)) {
        return Err(wrong("thickness", "must be above zero"));
    }
    if raw.shape == Shape::Sheet && raw.thickness.is_none() {
        return Err(wrong("thickness", "is missing; a sheet needs one"));
    }
    if raw.tendon.is_some_and(|t| !positive(t)) {
        return Err(wrong("tendon", "must be above zero"));
    }
    if raw.reach.is_some_and(|r| !(r.is_finite() && r >= 0.0)) {
        return Err(wrong("reach", "must not be negative"));
    }
    if !(0.0 <= raw.belly[0] && raw.belly[0] < raw.belly[1] && raw.belly[1] <= 1.0) {
        return Err(wrong("belly", "must be two ascending numbers from 0 to 1"));
    }
    let lines = [
        vec![raw.origin.clone()],
        raw.via.clone(),
        vec![raw.insertion.clone()],
    ]
    .concat();
    if lines.iter().any(Vec::is_empty) {
        return Err(wrong("origin, via or insertion", "has no places"));
    }
    if !raw.depth.is_empty() && raw.depth.len() != lines.len() {
        let reason = format!("has {} numbers for {} rows", raw.depth.len(), lines.len());
        return Err(wrong("depth", &reason));
    }
    let numbers = lines.iter().flatten().flat_map(|p| [p.1, p.2, p.3]);
    if !numbers
        .chain(raw.depth.iter().chain(&raw.bands).copied())
        .all(f32::is_finite)
    {
        return Err(wrong("a coordinate", "is not a finite number"));
    }
    let place = |(name, x, y, z): &RawPlace| match Segment::named(name) {
        Some(segment) => Place::Section(segment, *x, Vec2::new(*y, *z)),
        None => Place::Bone(name.clone(), Vec3::new(*x, *y, *z)),
    };
    let default_reach = if raw.group.is_limb() {
        LIMB_REACH
    } else {
        TRUNK_REACH
    };
    Ok(Entry {
        group: raw.group,
        shape: raw.shape,
        volume: raw.volume,
        source: raw.source.clone(),
        thickness: raw.thickness.map(|t| 1e-3 * t),
        fibre_length: raw.fibre_length.map(|l| 1e-3 * l),
        pennation: raw.pennation.map(f32::to_radians),
        belly: raw.belly,
        tendon: raw.tendon.map_or(TENDON_RADIUS, |t| 1e-3 * t),
        bands: raw.bands.clone(),
        reach: raw.reach.map_or(default_reach, |r| 1e-3 * r),
        depth: (0..lines.len())
            .map(|row| raw.depth.get(row).filter(|&&d| d >= 0.0).map(|d| 1e-3 * d))
            .collect(),
        rows: (lines.iter())
            .map(|line| line.iter().map(place).collect())
            .collect(),
        name: raw.name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[[muscle]]
name = "a"
group = "upper_leg"
shape = "belly"
volume = 10
origin = [["pelvis", 0, 0, 0]]
insertion = [["femur", 0, 0.5, 0]]
"#;

    #[test]
    fn embedded_is_readable() {
        let atlas = Atlas::embedded().unwrap();
        assert!(atlas.entries.len() >= 70, "{}", atlas.entries.len());
        for group in Group::ALL {
            assert!(atlas.entries.iter().any(|e| e.group == group), "{group:?}");
        }
        assert!(atlas.entries.iter().all(|e| !e.source.is_empty()));
    }

    #[test]
    fn errors_name_muscle_and_field() {
        let entry = &Atlas::parse(GOOD).unwrap().entries[0];
        assert_eq!(entry.rows.len(), 2);
        let message = |from: &str, to: &str| {
            Atlas::parse(&GOOD.replace(from, to))
                .unwrap_err()
                .to_string()
        };
        assert!(message("volume = 10", "volume = -1").contains("'a': volume"));
        assert!(message("\"belly\"", "\"sheet\"").contains("'a': thickness"));
        assert!(message("[[\"pelvis\", 0, 0, 0]]", "[]").contains("no places"));
        assert!(message("volume = 10", "volume = 10\ndepth = [1]").contains("for 2 rows"));
        assert!(message("volume = 10", "volume = 10\nbelly = [0.5, 0.2]").contains("ascending"));
        assert!(message("upper_leg", "tail").contains("tail"));
        assert!(message("volume", "size").contains("size"));
        assert_eq!(Atlas::parse("").unwrap_err(), AtlasError::Empty);
        let twice = Atlas::parse(&format!("{GOOD}{GOOD}")).unwrap_err();
        assert!(matches!(twice, AtlasError::Twice { muscle } if muscle == "a"));
    }
}
