//! Muscle volumes beside the literature's.

use std::fmt;

use crate::Sex;
use crate::template::musculature::atlas::{Atlas, Group};
use crate::template::musculature::muscles::Muscle;

/// Density of muscle \[kg/m³\] that Janssen et al. count with.
pub const MUSCLE_DENSITY: f64 = 1041.0;
/// Air in lungs and belly over the body's volume: about 3 l in a man of 76 l.
const AIR: f64 = 0.04;
/// Mass of the man whose leg muscles the skeleton's data has \[kg\] (Rajagopal et al. 2015).
const REFERENCE_MASS: f64 = 75.3;
/// Volume of the muscles of one of his legs \[m³\]: sum of `skeleton/muscles.json`.
const REFERENCE_LEG: f64 = 7.0889e-3;

/// Mass of a body of average composition \[kg\] from the volume within its skin \[m³\]: Siri's density at 20 % (men) and 28 % (women) fat.
pub fn body_mass(volume: f64, sex: Sex) -> f64 {
    let fat = if sex == Sex::Male { 20.0 } else { 28.0 };
    volume * (1.0 - AIR) * 1e3 * 495.0 / (fat + 450.0)
}

/// Volume of all skeletal muscle \[m³\] in a body of a mass \[kg\]: 38.4 % of men, 30.6 % of women (Janssen et al. 2000, J Appl Physiol 89).
pub fn literature_volume(mass: f64, sex: Sex) -> f64 {
    let share = if sex == Sex::Male { 0.384 } else { 0.306 };
    share * mass / MUSCLE_DENSITY
}

/// Share of the muscle that is below the waist, women over men: women have 33 % less there and 40 % less above (Janssen et al. 2000).
pub const WOMENS_LEGS: f64 = 1.05;

/// Volume of the muscles of both legs \[m³\]: the reference man's, by the bodies' muscle.
pub fn literature_legs(mass: f64, sex: Sex) -> f64 {
    let muscle = literature_volume(mass, sex) / literature_volume(REFERENCE_MASS, Sex::Male);
    let share = if sex == Sex::Male { 1.0 } else { WOMENS_LEGS };
    2.0 * REFERENCE_LEG * muscle * share
}

/// Volume of a muscle or group \[m³\] beside the atlas'.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeRow {
    /// Name without a side.
    pub name: String,
    /// Left and right \[m³\].
    pub volume: [f64; 2],
    /// The atlas', for the reference man, one side \[m³\].
    pub atlas: f64,
}

/// Volumes of a body's muscles.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeReport {
    /// Each muscle.
    pub muscles: Vec<VolumeRow>,
    /// Each group.
    pub groups: Vec<VolumeRow>,
    /// All \[m³\].
    pub total: f64,
    /// All, in the literature \[m³\].
    pub literature: f64,
    /// Upper and lower legs with buttocks and iliopsoas \[m³\].
    pub legs: f64,
    /// The same in the literature \[m³\].
    pub literature_legs: f64,
}

/// Volumes of the muscles of a body of a mass \[kg\].
pub fn volume_report(atlas: &Atlas, muscles: &[Muscle], mass: f64, sex: Sex) -> VolumeReport {
    let sides = |wanted: &dyn Fn(&Muscle) -> bool| {
        use crate::template::places::frame::Side::{Left, Right};
        [Left, Right].map(|side| {
            let own = muscles.iter().filter(|m| m.side == side && wanted(m));
            own.map(|m| m.volume).sum::<f64>()
        })
    };
    let rows = (atlas.entries.iter())
        .map(|entry| VolumeRow {
            name: entry.name.clone(),
            volume: sides(&|m| m.name.strip_suffix(m.side.suffix()) == Some(&entry.name)),
            atlas: 1e-6 * entry.volume,
        })
        .collect();
    let groups: Vec<VolumeRow> = (Group::ALL.iter())
        .map(|&group| VolumeRow {
            name: group.name().to_owned(),
            volume: sides(&|m| m.group == group),
            atlas: (atlas.entries.iter())
                .filter(|e| e.group == group)
                .map(|e| 1e-6 * e.volume)
                .sum(),
        })
        .collect();
    let is_leg = |m: &&Muscle| matches!(m.group, Group::UpperLeg | Group::LowerLeg);
    VolumeReport {
        muscles: rows,
        groups,
        total: muscles.iter().map(|m| m.volume).sum(),
        literature: literature_volume(mass, sex),
        legs: muscles.iter().filter(is_leg).map(|m| m.volume).sum(),
        literature_legs: literature_legs(mass, sex),
    }
}

impl fmt::Display for VolumeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:32} {:>8} {:>8} {:>8}",
            "muscle [ml]", "left", "right", "atlas"
        )?;
        for row in self.muscles.iter().chain(&self.groups) {
            let [left, right] = row.volume.map(|v| 1e6 * v);
            writeln!(
                f,
                "{:32} {left:8.1} {right:8.1} {:8.1}",
                row.name,
                1e6 * row.atlas
            )?;
        }
        let line = |f: &mut fmt::Formatter<'_>, name: &str, got: f64, wanted: f64| {
            let percent = 100.0 * (got / wanted - 1.0);
            writeln!(
                f,
                "{name:10} {:6.2} l, literature {:6.2} l, {percent:+.1} %",
                1e3 * got,
                1e3 * wanted
            )
        };
        line(f, "legs", self.legs, self.literature_legs)?;
        line(f, "all", self.total, self.literature)
    }
}
