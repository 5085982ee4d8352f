//! What a person's file holds, as text and as data.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{FitReport, Person, ScanFit, published_leg_muscle};
use crate::Sex;
use crate::composition::estimate::LIPIDS;
use crate::composition::{Composition, Estimate, Measures};
use crate::scan::SURE;

/// A person in numbers. The same as the `extras` of the person's file, with names and times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PersonInfo {
    /// Name.
    pub name: String,
    /// Sex, given or guessed.
    pub sex: Sex,
    /// Number of bones.
    pub bones: usize,
    /// Number of muscles.
    pub muscles: usize,
    /// Girths, lengths and volume.
    pub measures: Measures,
    /// Weight, fat and muscle.
    pub composition: Composition,
    /// How the first scan was met.
    pub registration: ScanFit,
    /// How the layers were fitted, and how long everything took.
    pub fit: FitReport,
}

/// Collects what is known of a person.
pub fn person_info(person: &Person) -> PersonInfo {
    PersonInfo {
        name: person.name().to_owned(),
        sex: person.sex(),
        bones: person.body.bones.len(),
        muscles: person.body.muscles.len(),
        measures: person.measures,
        composition: person.composition.clone(),
        registration: person.scans.first().cloned().unwrap_or_default(),
        fit: person.fit.clone(),
    }
}

/// A number with its standard deviation, unless it was given.
fn with_error(estimate: Estimate, unit: &str) -> String {
    match estimate.error > 0.0 {
        true => format!("{:.1} ± {:.1} {unit}", estimate.value, estimate.error),
        false => format!("{:.1} {unit} (given)", estimate.value),
    }
}

impl fmt::Display for PersonInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (registration, composition) = (&self.registration, &self.composition);
        let sex = match self.sex {
            Sex::Male => "man",
            Sex::Female => "woman",
        };
        let sex = match registration.sex_confidence {
            sure if sure < SURE => format!(
                "sex undecided ({sex} with {:.0} %; say which), built as a {sex}",
                100.0 * sure
            ),
            sure if sure < 1.0 => format!("{sex} (by the shape, {:.0} % sure)", 100.0 * sure),
            _ => sex.to_owned(),
        };
        writeln!(f, "{}: layered person, {sex}", self.name)?;
        self.fmt_measures(f)?;
        writeln!(
            f,
            "  weight       {}, body mass index {:.1}",
            with_error(composition.weight, "kg"),
            composition.body_mass_index
        )?;
        let percent = match composition.fat_percent {
            Estimate { value, error } if error > 0.0 => format!("{value:.1} ± {error:.1} %"),
            Estimate { value, .. } => format!("{value:.1} %"),
        };
        let fat = with_error(composition.fat_mass, "kg");
        writeln!(f, "  fat          {fat}, {percent} of the weight")?;
        writeln!(
            f,
            "  muscle       {}",
            with_error(composition.muscle_mass, "kg")
        )?;
        for place in &composition.percentiles {
            let what = match place.quantity {
                crate::composition::population::Quantity::FatPercent => "less fat",
                crate::composition::population::Quantity::MuscleMass => "less muscle",
            };
            writeln!(
                f,
                "    {:.0} % of these people of the same sex have {what}: {}",
                place.percentile, place.population
            )?;
        }
        self.fmt_quality(f)?;
        let notes = registration.warnings.iter().chain(&composition.notes);
        for note in notes {
            write!(f, "\n  note: {note}")?;
        }
        Ok(())
    }
}

impl PersonInfo {
    fn fmt_measures(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let m = &self.measures;
        let cm = |metres: f64| format!("{:.1}", 100.0 * metres);
        let height = match self.composition.height {
            given if given != m.height => {
                format!("{} cm (given; {} in the scan)", cm(given), cm(m.height))
            }
            _ => format!("{} cm", cm(m.height)),
        };
        writeln!(
            f,
            "  height       {height}, volume {:.1} l, skin {:.2} m²",
            1e3 * m.volume,
            m.surface
        )?;
        writeln!(
            f,
            "  girths [cm]  waist {}, hip {}, chest {}, neck {}, thigh {}, calf {}, upper arm {}, forearm {}",
            cm(m.waist),
            cm(m.hip),
            cm(m.chest),
            cm(m.neck),
            cm(m.thigh),
            cm(m.calf),
            cm(m.upper_arm),
            cm(m.forearm)
        )
    }

    /// Limbs beside what is published, where the file has them.
    fn fmt_limbs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limbs = &self.fit.limbs;
        if limbs.leg_muscle <= 0.0 {
            return Ok(());
        }
        let composition = &self.composition;
        let published = published_leg_muscle(composition.height, composition.weight.value);
        writeln!(
            f,
            "  limbs        muscle of a leg {:.1} l (Handsfield 2014: {:.1}), of an arm {:.1} l; fat layer {:.0} % of the thigh's section, {:.0} % of the calf's",
            1e3 * limbs.leg_muscle,
            1e3 * published,
            1e3 * limbs.arm_muscle,
            100.0 * limbs.thigh.fat_share(),
            100.0 * limbs.calf.fat_share()
        )
    }

    fn fmt_quality(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layers = &self.fit.layers;
        let masses = &self.fit.masses;
        writeln!(
            f,
            "  layers       fat {:.1} kg, muscle {:.1} kg; {} bones, {} muscles; {} vertices outside, {} prisms inverted",
            masses.fat,
            masses.muscle,
            self.bones,
            self.muscles,
            layers.muscle_outside + layers.skeleton_outside,
            layers.inverted_fat + layers.inverted_muscle
        )?;
        let places = &masses.masses.places;
        let elsewhere = places.marrow + places.head_hands_feet;
        writeln!(
            f,
            "  fat's places under the skin {:.1} kg of tissue, among the organs {:.1}, between and in muscles {:.1}, in marrow, head, hands and feet {:.1}",
            masses.fat / LIPIDS - places.sum(),
            places.visceral,
            places.within_muscle,
            elsewhere
        )?;
        self.fmt_limbs(f)?;
        let scan = &self.registration;
        write!(
            f,
            "  scan         {:.1} mm RMS from the skin, 95 % within {:.1} mm; {:.0} % of the skin seen; confidence {:.2}",
            1e3 * scan.distances.rms,
            1e3 * scan.distances.percentile_95,
            100.0 * scan.coverage.whole,
            scan.confidence
        )?;
        if !self.fit.seconds.is_empty() {
            let total: f64 = self.fit.seconds.iter().map(|(_, seconds)| seconds).sum();
            let steps: Vec<String> = (self.fit.seconds.iter())
                .filter(|(_, seconds)| *seconds >= 0.05)
                .map(|(step, seconds)| format!("{step} {seconds:.1}"))
                .collect();
            write!(f, "\n  time         {total:.1} s: {}", steps.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::person::example::example_person;

    #[test]
    fn an_undecided_sex_is_said_in_the_first_line() {
        let mut somebody = example_person();
        somebody.scans[0].sex_confidence = 0.7;
        let text = person_info(&somebody).to_string();
        let first = text.lines().next().unwrap();
        assert!(first.contains("sex undecided (woman with 70 %"), "{first}");
    }

    #[test]
    fn the_table_says_what_a_reader_looks_for() {
        let text = person_info(&example_person()).to_string();
        for word in [
            "somebody: layered person, woman (by the shape, 90 % sure)",
            "height       171.0 cm",
            "waist 80.0",
            "kg, body mass index",
            "% of the weight",
            "NHANES",
            "2.1 mm RMS",
            "confidence 0.80",
            "note: the left hand",
            "scaling 0.2",
        ] {
            assert!(text.contains(word), "no '{word}' in\n{text}");
        }
    }
}
