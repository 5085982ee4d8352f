//! Many people beside the literature.

use std::fmt::Write;

use serde::Serialize;
use supple_anatomy::Sex;
use supple_anatomy::composition::population::{PERCENTS, Quantity, quantiles};
use supple_anatomy::composition::{Population, Regressors, Study};
use supple_anatomy::person::PersonInfo;

use super::Record;

/// Percentiles of these people and of populations.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Scans.
    pub scans: usize,
    /// Women and men among them.
    pub people: [usize; 2],
    /// Names and reasons of scans that were refused.
    pub refused: Vec<(String, String)>,
    /// Every quantity, women first.
    pub compared: Vec<Compared>,
}

/// A quantity of one sex.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// What it is, with its unit.
    pub what: &'static str,
    /// Sex.
    pub sex: Sex,
    /// Its values, in the order of the scans.
    pub values: Vec<f64>,
    /// Their percentiles [`PERCENTS`]; empty if there are none.
    pub percentiles: Vec<f64>,
    /// Populations of the literature: name, which percentiles, and their values.
    pub populations: Vec<(String, Vec<f64>, Vec<f64>)>,
}

/// Quantities: name with unit, value, and which populations know it.
type Row = (&'static str, fn(&PersonInfo) -> f64, Option<Quantity>);
const ROWS: [Row; 6] = [
    ("height [cm]", |p| 100.0 * p.composition.height, None),
    ("weight [kg]", |p| p.composition.weight.value, None),
    ("waist [cm]", |p| 100.0 * p.measures.waist, None),
    (
        "body mass index [kg/m²]",
        |p| p.composition.body_mass_index,
        None,
    ),
    (
        "fat [%]",
        |p| p.composition.fat_percent.value,
        Some(Quantity::FatPercent),
    ),
    (
        "muscle [kg]",
        |p| p.composition.muscle_mass.value,
        Some(Quantity::MuscleMass),
    ),
];

impl Summary {
    /// Of the records of all scans. `regressors` are those the people were estimated with.
    pub fn of(records: &[Record], regressors: &Regressors) -> Summary {
        let of_sex = |sex: Sex| {
            let people = records.iter().filter_map(|record| record.person.as_ref());
            people.filter(move |person| person.sex == sex)
        };
        let mut compared = Vec::new();
        for (what, value, quantity) in ROWS {
            for sex in [Sex::Female, Sex::Male] {
                let values: Vec<f64> = of_sex(sex).map(value).collect();
                let percentiles = match values.is_empty() {
                    true => Vec::new(),
                    false => quantiles(values.clone(), &PERCENTS),
                };
                let known = std::iter::once(&regressors.population).chain(Population::published());
                let populations = known
                    .filter(|population| Some(population.quantity) == quantity)
                    .map(|population| {
                        let values = match sex {
                            Sex::Male => &population.male,
                            Sex::Female => &population.female,
                        };
                        (
                            population.name.clone(),
                            population.percents.clone(),
                            values.clone(),
                        )
                    })
                    .collect();
                compared.push(Compared {
                    what,
                    sex,
                    values,
                    percentiles,
                    populations,
                });
            }
        }
        Summary {
            scans: records.len(),
            people: [of_sex(Sex::Female).count(), of_sex(Sex::Male).count()],
            refused: (records.iter())
                .filter_map(|record| Some((record.name.clone(), record.refused.clone()?)))
                .collect(),
            compared,
        }
    }

    /// Leaves of the populations of fat those of one study.
    pub fn keep(&mut self, study: Study) {
        let of_fat = |row: &&mut Compared| row.what.starts_with("fat");
        for row in self.compared.iter_mut().filter(of_fat) {
            row.populations.retain(|(name, ..)| study.is_of(name));
        }
    }

    /// As Markdown, with the picture of histograms that lies beside it.
    pub fn to_markdown(&self, picture: &str) -> String {
        let [women, men] = self.people;
        let mut text = format!(
            "# People\n\n{} scans: {women} women, {men} men, {} refused. All measures are in `people.csv`.\n\n![Histograms]({picture})\n\n",
            self.scans,
            self.refused.len()
        );
        text.push_str("Percentiles of these people, and of populations that were measured. Fat and muscle are estimates by regression, which vary less than measured values do.\n\n| |");
        // Writing to a string cannot fail.
        for percent in PERCENTS {
            let _ = write!(text, " {percent} % |");
        }
        text.push_str("\n|---|");
        text.push_str(&"---:|".repeat(PERCENTS.len()));
        for row in self.compared.iter().filter(|row| !row.values.is_empty()) {
            let sex = match row.sex {
                Sex::Male => "men",
                Sex::Female => "women",
            };
            let _ = write!(text, "\n| **{}, {} {sex}** |", row.what, row.values.len());
            for value in &row.percentiles {
                let _ = write!(text, " **{value:.1}** |");
            }
            for (name, percents, values) in &row.populations {
                let _ = write!(text, "\n| {name} |");
                for percent in PERCENTS {
                    let place = percents.iter().position(|known| *known == percent);
                    let _ = match place.and_then(|place| values.get(place)) {
                        Some(value) => write!(text, " {value:.1} |"),
                        None => write!(text, " |"),
                    };
                }
            }
        }
        text.push('\n');
        if !self.refused.is_empty() {
            text.push_str("\nRefused:\n\n");
            for (name, reason) in &self.refused {
                let _ = writeln!(text, "- {name}: {reason}");
            }
        }
        text
    }
}
