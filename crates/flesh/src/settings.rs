//! Settings of a character's tissue, read from a TOML file beside the character.

pub(crate) mod collider;
mod detail;
mod limits;
mod materials;

pub use collider::{ColliderSettings, Ground, ShapeName};
pub use detail::{Detail, Resolution, Upsample};
pub use materials::MaterialSettings;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use supple_rig::Character;

use crate::FleshError;
use crate::shells::shell_kinds::Kind;

/// All user settings. Anything left out is chosen automatically.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Settings {
    /// Material and construction.
    pub tissue: Tissue,
    /// Material of bodies with layers.
    pub layers: Layers,
    /// Settings of single materials: "tissue", "fat", "muscle" and "sliding".
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub materials: BTreeMap<String, MaterialSettings>,
    /// Time stepping.
    pub solver: Solver,
    /// Simulation mesh and full skin.
    pub detail: Detail,
    /// Self-contact, friction and ground.
    pub contact: Contact,
    /// Radii of bones \[m\], by the joint they start at. Default: 0.75 × the distance to the skin.
    pub bone_radii: BTreeMap<String, f64>,
    /// Radii of joints \[m\]. Default: the radius of the thickest bone there.
    pub joint_radii: BTreeMap<String, f64>,
    /// Stiffness factors of the tissue around a joint's bones. A final `*` matches any ending.
    pub stiffness_factors: BTreeMap<String, f64>,
    /// Kinds of shells: "flesh", "cloth", "rigid", "rigid:JOINT", "hair" or "skinned". A key is a part's name, `name#2` for the part's
    /// third shell, or the shell's number. A final `*` matches any ending.
    #[serde(alias = "roles")]
    pub shells: BTreeMap<String, Kind>,
    /// Joints whose region is not simulated, together with their descendants. A final `*` matches any ending.
    pub excluded: Vec<String>,
    /// Joints whose bones are virtual: they shape the tissue but do not hold it, as in a trunk or a tail.
    pub virtual_bones: Vec<String>,
    /// Colliders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collider: Vec<ColliderSettings>,
}

/// Material and construction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Tissue {
    /// Stiffness \[Pa\]. Fat and relaxed muscle have 1000 to 5000.
    pub stiffness: f64,
    /// Mass of the whole body \[kg\]; 0 computes it from the enclosed volume and [`BODY_DENSITY`](crate::construction::masses::BODY_DENSITY).
    pub mass: f64,
    /// Stiffness against change of volume, relative to `stiffness`; 0 turns it off. Real tissue hardly changes its volume,
    /// but the larger this value, the more iterations a step needs.
    pub volume_stiffness: f64,
    /// Depth, relative to the character's size, up to which tissue has the stiffness of the settings. Below, the stiffness grows
    /// with the square of the depth.
    pub soft_depth: f64,
    /// Largest stiffness factor of deep tissue.
    pub deep_stiffness: f64,
    /// Stiffness factor of a humanoid's hands.
    pub hand_stiffness: f64,
    /// Whether the bone surface slides over joints.
    pub sliding: bool,
    /// Whether a humanoid's head is simulated. Off by default: faces usually have their own rig.
    pub simulate_head: bool,
    /// Diffusion length of the base points' smoothing along the skin, relative to the character's size.
    pub smoothing: f64,
}

/// Material of bodies with [layers](crate::construction::layers).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Layers {
    /// Stiffness of fat \[Pa\].
    pub fat_stiffness: f64,
    /// Stiffness of muscle \[Pa\]: three times that of fat in [4.3.3].
    pub muscle_stiffness: f64,
    /// Stiffness that keeps a skeleton surface that is free to slide near its bones \[Pa\]; 0 leaves it free.
    pub sliding_stiffness: f64,
    /// Depth of the tissue above, relative to the character's size, at which that stiffness holds. It falls with the square of
    /// the depth.
    pub sliding_depth: f64,
    /// Least factor of that stiffness.
    pub least_sliding: f64,
    /// Largest factor of that stiffness.
    pub most_sliding: f64,
    /// Depth of the belly, from skin to spine, relative to the character's size, at which its wall has the stiffness of the
    /// settings. It falls with the fourth power of the depth.
    pub tense_depth: f64,
    /// Least factor of the stiffness of a belly's wall.
    pub least_tension: f64,
    /// Stiffness factor where bones lie right below a free skeleton surface, as along the spine. At 1 the tissue is as firm as
    /// over bones that hold it.
    pub back_stiffness: f64,
}

/// Time stepping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Solver {
    /// Local/global iterations per step.
    pub iterations: u32,
    /// Simulation steps per second.
    pub steps_per_second: f64,
    /// Time in which a jiggle loses half its velocity \[s\]; 0 leaves only the integrator's own damping.
    pub damping_half_life: f64,
    /// Gravity along Y \[m/s²\]. 0 by default: the rest shape already includes it.
    pub gravity: f64,
}

/// Contact of the tissue with itself and with colliders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Contact {
    /// Which contacts are detected.
    pub mode: ContactMode,
    /// Coulomb friction coefficient; skin on skin has about 0.5.
    pub friction: f64,
    /// Ground plane.
    pub ground: Ground,
}

/// Which contacts are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ContactMode {
    /// None.
    #[default]
    Off,
    /// Contact of skin across joints, where limbs fold, and with colliders.
    Local,
    /// Contact of all skin with itself and with colliders.
    Global,
}

impl From<ContactMode> for supple_sim::ContactMode {
    fn from(mode: ContactMode) -> Self {
        match mode {
            ContactMode::Off => Self::Off,
            ContactMode::Local => Self::Local,
            ContactMode::Global => Self::Global,
        }
    }
}

impl Default for Contact {
    fn default() -> Self {
        Self {
            mode: ContactMode::default(),
            friction: f64::from(supple_sim::ContactSettings::default().friction),
            ground: Ground::default(),
        }
    }
}

/// Default of [`Tissue::volume_stiffness`]. An elbow bent to 130° keeps 81 % of its volume at 0, 86 % at 2 and 90 % at 8.
/// Above that, ten iterations fall behind fast motions.
const VOLUME_STIFFNESS: f64 = 8.0;

/// Default of [`Tissue::soft_depth`]: 27 mm of a person.
const SOFT_DEPTH: f64 = 0.015;

/// Default of [`Tissue::deep_stiffness`]: that of firm muscle.
const DEEP_STIFFNESS: f64 = 8.0;

/// Default of [`Tissue::hand_stiffness`]: thin tissue over many small bones.
const HAND_STIFFNESS: f64 = 8.0;

impl Default for Tissue {
    fn default() -> Self {
        Self {
            stiffness: supple_sim::units::STIFFNESS,
            mass: 0.0,
            volume_stiffness: VOLUME_STIFFNESS,
            soft_depth: SOFT_DEPTH,
            deep_stiffness: DEEP_STIFFNESS,
            hand_stiffness: HAND_STIFFNESS,
            sliding: true,
            simulate_head: false,
            smoothing: crate::construction::base_points::Smoothing::default().reach,
        }
    }
}

/// Default of [`Layers::sliding_stiffness`]. At 250 Pa, without the factor of depth, a lean man's shoulder that a wild pose pressed
/// in stayed so at 30 steps a second. A heavy man's belly swings by a fifth less at 3,000 Pa, and by a third less at 10,000.
const SLIDING_STIFFNESS: f64 = 0.2 * supple_sim::units::STIFFNESS;

/// Default of [`Layers::sliding_depth`] (54 mm). Deeper tissue gets less by the square: a shoulder must spring back, a lean
/// belly is tense, a heavy one swings.
const SLIDING_DEPTH: f64 = 0.03;
/// Default of [`Layers::least_sliding`].
const LEAST_SLIDING: f64 = 0.1;
/// Default of [`Layers::most_sliding`]. At 1, a wild pose pressed in a slender man's forearm above the wrist for good.
const MOST_SLIDING: f64 = 2.0;

/// Default of [`Layers::tense_depth`] (72 mm). The muscles of a shallow belly are tense, a deep one has stretched them. If the
/// stiffness fell by the square, lean bellies would swing as far as heavy ones.
const TENSE_DEPTH: f64 = 0.04;
/// Default of [`Layers::least_tension`].
const LEAST_TENSION: f64 = 0.25;

/// Default of [`Layers::muscle_stiffness`], relative to that of fat [4.3.3].
const MUSCLE_TO_FAT: f64 = 3.0;

impl Default for Layers {
    fn default() -> Self {
        Self {
            fat_stiffness: supple_sim::units::STIFFNESS,
            muscle_stiffness: MUSCLE_TO_FAT * supple_sim::units::STIFFNESS,
            sliding_stiffness: SLIDING_STIFFNESS,
            sliding_depth: SLIDING_DEPTH,
            least_sliding: LEAST_SLIDING,
            most_sliding: MOST_SLIDING,
            tense_depth: TENSE_DEPTH,
            least_tension: LEAST_TENSION,
            back_stiffness: 1.0,
        }
    }
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            iterations: 10,
            steps_per_second: 60.0,
            damping_half_life: 0.0,
            gravity: 0.0,
        }
    }
}

impl Settings {
    /// The automatic settings of a character written out: its radii, kinds of shells and mass.
    pub fn automatic(character: &Character) -> Result<Self, FleshError> {
        let flesh = crate::Flesh::builder(character).build()?;
        let name = |joint: usize| character.skeleton.joints()[joint].name.clone();
        let millimetres = |metres: f64| (metres * 1e4).round() / 1e4;
        let mut settings = Self {
            tissue: Tissue {
                mass: (flesh.report.mass * 10.0).round() / 10.0,
                ..Tissue::default()
            },
            ..Self::default()
        };
        for (bone, &radius) in flesh.graph().bones.iter().zip(&flesh.volume().bone_radii) {
            settings
                .bone_radii
                .entry(name(bone.joint))
                .or_insert(millimetres(radius));
        }
        for (node, &radius) in flesh.graph().nodes.iter().zip(&flesh.volume().node_radii) {
            if let (Some(&joint), true) = (node.joints.first(), radius > 0.0) {
                settings
                    .joint_radii
                    .entry(name(joint))
                    .or_insert(millimetres(radius));
            }
        }
        for shell in flesh.report.shells {
            settings.shells.insert(shell.key, shell.kind);
        }
        Ok(settings)
    }

    /// Rejects numbers beyond their range.
    pub fn check(&self) -> Result<(), FleshError> {
        limits::check_numbers(self)?;
        if let Ground::Height(height) = self.contact.ground {
            limits::within("ground", height, -limits::LENGTH, limits::LENGTH)?;
        }
        self.collider.iter().try_for_each(ColliderSettings::check)
    }

    /// Parses TOML text.
    pub fn from_toml(text: &str) -> Result<Self, FleshError> {
        toml::from_str(text).map_err(|error| FleshError::Settings(error.to_string()))
    }

    /// Writes TOML text with a comment on every setting.
    pub fn to_toml(&self) -> Result<String, FleshError> {
        let body = toml::to_string_pretty(self)
            .map_err(|error| FleshError::Settings(error.to_string()))?;
        let mut text = String::from(HEADER);
        for line in body.lines() {
            if let Some((_, comment)) = COMMENTS.iter().find(|(key, _)| line.starts_with(key)) {
                text.push_str(comment);
            }
            text.push_str(line);
            text.push('\n');
        }
        if self.collider.is_empty() {
            text.push_str(collider::EXAMPLES);
        }
        Ok(text)
    }

    fn contact_settings(&self) -> supple_sim::ContactSettings {
        supple_sim::ContactSettings {
            mode: self.contact.mode.into(),
            friction: self.contact.friction as f32,
            ..supple_sim::ContactSettings::default()
        }
    }

    /// The solver's settings.
    pub fn solver_settings(&self) -> supple_sim::Settings {
        let or_infinite = |value: f64| if value > 0.0 { value } else { f64::INFINITY };
        supple_sim::Settings {
            step: 1.0 / self.solver.steps_per_second.clamp(1.0, 10_000.0),
            iterations: self.solver.iterations.max(1),
            gravity: glam::Vec3::new(0.0, self.solver.gravity as f32, 0.0),
            damping_half_life: or_infinite(self.solver.damping_half_life),
            contact: self.contact_settings(),
            ..supple_sim::Settings::default()
        }
    }
}

const HEADER: &str = "# Supple: tissue settings of this character. Lengths in metres, masses in kilograms, stiffness in pascals.\n\
                      # Delete a line to use its automatic value.\n\n";

const COMMENTS: &[(&str, &str)] = &[
    (
        "excluded",
        "# Joints whose region, with all descendants, is not simulated, such as \"head\" or \"finger*\".\n",
    ),
    (
        "virtual_bones",
        "# Joints whose bones shape the tissue but do not hold it (trunks, tails).\n",
    ),
    (
        "fat_stiffness",
        "# Only for bodies with layers of their own, whose muscle is about three times as stiff as fat.\n",
    ),
    (
        "stiffness =",
        "# Fat and relaxed muscle have 1000 to 5000 Pa.\n",
    ),
    (
        "mass =",
        "# Of the whole body; 0 computes it from the volume.\n",
    ),
    (
        "volume_stiffness",
        "# Resistance to change of volume, relative to stiffness; 0 turns it off and is fastest.\n",
    ),
    (
        "soft_depth",
        "# Depth, relative to the character's size, below which tissue gets stiffer with the square of the depth.\n",
    ),
    (
        "deep_stiffness",
        "# Largest stiffness factor of deep tissue.\n",
    ),
    (
        "hand_stiffness",
        "# Stiffness factor of a humanoid's hands.\n",
    ),
    (
        "sliding_stiffness",
        "# Keeps a skeleton surface that slides near its bones.\n",
    ),
    (
        "sliding_depth",
        "# Depth of the tissue above at which it does; deeper tissue gets less, between the two factors below.\n",
    ),
    (
        "tense_depth",
        "# Depth of a belly whose wall is as stiff as set here; deeper ones are softer, down to the factor below.\n",
    ),
    ("back_stiffness", "# Stiffness factor along the spine.\n"),
    (
        "sliding =",
        "# Whether the bone surface slides over joints.\n",
    ),
    (
        "simulate_head",
        "# Whether a humanoid's head is simulated; faces usually have their own rig.\n",
    ),
    (
        "smoothing",
        "# Smoothing length of the base points along the skin, relative to the character's size.\n",
    ),
    (
        "resolution",
        "# Number of simulated vertices: \"automatic\" (3 to 5 thousand), \"full\" (all), or a number.\n",
    ),
    (
        "upsample",
        "# How the full skin follows them: \"quadratic\"; \"linear\" and \"normals\" are for comparison.\n",
    ),
    (
        "damping_half_life",
        "# Seconds in which a jiggle loses half its velocity; 0 leaves only the integrator's damping.\n",
    ),
    (
        "gravity",
        "# Along Y in m/s^2; 0 by default, because the rest shape already includes it.\n",
    ),
    (
        "mode =",
        "# Contact: \"off\", \"local\" (across joints) or \"global\" (all skin); colliders with both.\n",
    ),
    ("friction", "# Skin on skin has about 0.5.\n"),
    (
        "ground",
        "# true: a floor below the rest shape; a number: a floor at that height; false: no floor.\n",
    ),
    ("[bone_radii]", "# By the joint at which the bone starts.\n"),
    (
        "[joint_radii]",
        "# Larger joints bulge more when bent, smaller ones stay sharper.\n",
    ),
    (
        "[stiffness_factors]",
        "# For the tissue around a joint's bones, such as \"hand.L\" = 4.0.\n",
    ),
    (
        "[shells]",
        "# \"flesh\" is simulated, \"cloth\" follows its weights and the flesh below it, \"hair\" its weights alone,\n\
         # \"rigid\" keeps its shape (\"rigid:JOINT\" names the joint it follows).\n",
    ),
];

/// Whether a joint's name matches a pattern, ignoring case. A final `*` matches any ending.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_round_trip_keeps_everything() {
        let mut settings = Settings::default();
        settings.bone_radii.insert("l_knee".into(), 0.03);
        settings.shells.insert("hair#1".into(), Kind::Hair);
        settings
            .shells
            .insert("eye".into(), Kind::Rigid(Some("head".into())));
        settings.excluded.push("finger*".into());
        settings.detail.resolution = Resolution::Vertices(2500);
        settings.detail.upsample = Upsample::Linear;
        settings.layers.least_tension = 0.5;
        let fat = MaterialSettings {
            stiffness: Some(1800.0),
            damping_half_life: Some(0.3),
            stiffness_factors: [("upperLeg*".to_owned(), 1.5)].into(),
            ..MaterialSettings::default()
        };
        settings.materials.insert("fat".into(), fat);
        let text = settings.to_toml().unwrap();
        assert_eq!(Settings::from_toml(&text).unwrap(), settings, "{text}");
        let older = Settings::from_toml("[roles]\ncoat = \"bound\"").unwrap();
        assert_eq!(older.shells["coat"], Kind::Cloth);
        assert!(Settings::from_toml("[shells]\ncoat = \"stone\"").is_err());
        assert!(Settings::from_toml("[tissue]\nstifness = 3").is_err());
        assert!(Settings::from_toml("[materials.fat]\nstifness = 3").is_err());
        assert!(Settings::from_toml("[detail]\nresolution = 3").is_err());
        assert!(Settings::from_toml("[detail]\nresolution = \"half\"").is_err());
        let full = Settings::from_toml("[detail]\nresolution = \"full\"").unwrap();
        assert_eq!(full.detail.resolution, Resolution::Full);
        assert!(matches("Finger*", "finger2-1.L") && !matches("finger", "finger2"));
    }
}
