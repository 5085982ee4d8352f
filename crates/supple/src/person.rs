//! From a body scan to a layered person: skin, fat, muscles and bones, measured, rigged and ready to simulate.
//!
//! ```no_run
//! use supple::person::{PersonOptions, Scan, person};
//!
//! # fn main() -> Result<(), supple::Error> {
//! let scan = Scan::load("scan.ply".as_ref())?;
//! let somebody = person("somebody", &scan, &PersonOptions::default())?;
//! println!("{:.1} kg of fat", somebody.composition.fat_mass.value);
//! supple::person::save_person("somebody.person".as_ref(), &somebody)?;
//! # Ok(())
//! # }
//! ```

use std::sync::OnceLock;

pub use supple_anatomy::Sex;
pub use supple_anatomy::composition::{Regressors, Study};
use supple_anatomy::person::person_of_scan;
pub use supple_anatomy::person::{
    Given, GivenFat, Person, PersonError, PersonFileError, PreparedTemplate, ScanFit, person_info,
    save_person,
};
pub use supple_anatomy::scan::{Landmark, Options as ScanOptions, SURE, Scan};

pub use crate::load::is_person;

use crate::embedded::{self, Body};

/// What is known of a scan and of the person in it. The default is nothing.
#[derive(Clone, Debug, Default)]
pub struct PersonOptions {
    /// Sex, unit, up axis and landmarks; found from the scan if they are not given.
    pub scan: ScanOptions,
    /// Age, height, weight, fat and muscle; estimated if they are not given.
    pub given: Given,
    /// Models of fat mass; the embedded ones if none are given.
    pub regressors: Option<Regressors>,
    /// The study whose percentiles of fat are wanted; all if none is given.
    pub population: Option<Study>,
}

/// The embedded templates, prepared for people when they are first needed. A program that makes several persons keeps one.
#[derive(Debug, Default)]
pub struct Templates {
    /// Men, women.
    prepared: [OnceLock<PreparedTemplate>; 2],
}

impl Templates {
    /// Nothing is prepared yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The template of a sex.
    pub fn prepared(&self, sex: Sex) -> Result<&PreparedTemplate, PersonError> {
        let (slot, body) = match sex {
            Sex::Male => (&self.prepared[0], Body::Male),
            Sex::Female => (&self.prepared[1], Body::Female),
        };
        if let Some(prepared) = slot.get() {
            return Ok(prepared);
        }
        // Made outside of the lock: threads that wait in a lock inside a thread pool could wait for each other.
        let made = PreparedTemplate::new(embedded::template(body)?)?;
        Ok(slot.get_or_init(|| made))
    }

    /// Makes a layered person of a scan.
    pub fn person(
        &self,
        name: &str,
        scan: &Scan,
        options: &PersonOptions,
    ) -> Result<Person, PersonError> {
        let regressors = options.regressors.as_ref();
        let regressors = regressors.unwrap_or_else(|| Regressors::embedded());
        let (scan_options, given) = (&options.scan, &options.given);
        let prepared = |sex| self.prepared(sex);
        let mut somebody = person_of_scan(name, scan, scan_options, given, regressors, prepared)?;
        if let Some(study) = options.population {
            study.keep(&mut somebody.composition.percentiles);
            somebody.composition.notes.extend(study.note());
        }
        Ok(somebody)
    }
}

/// Makes a layered person of a scan with the embedded templates. For several, keep [`Templates`].
pub fn person(name: &str, scan: &Scan, options: &PersonOptions) -> Result<Person, PersonError> {
    Templates::new().person(name, scan, options)
}

/// Landmarks from text: lines of a name and three numbers; `#` begins a comment.
pub fn read_landmarks(text: &str) -> Result<Vec<Landmark>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.lines().enumerate();
    let lines = lines.map(|(number, line)| (number + 1, line.split('#').next().unwrap_or("")));
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let of = |(number, line): (usize, &str)| {
        let words: Vec<&str> = line
            .split([' ', '\t', ',', ';', '='])
            .filter(|word| !word.is_empty())
            .collect();
        let [name, place @ ..] = &words[..] else {
            return Err(format!("line {number} is empty"));
        };
        let place: Vec<f64> = (place.iter())
            .filter_map(|word| word.parse().ok())
            .filter(|number: &f64| number.is_finite())
            .collect();
        match place[..] {
            [x, y, z] if words.len() == 4 => Ok(Landmark {
                name: (*name).to_owned(),
                place: [x, y, z],
            }),
            _ => Err(format!(
                "line {number} is not a name and three numbers: '{}'",
                line.trim()
            )),
        }
    };
    lines.map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landmarks_are_names_and_places() {
        let marks = read_landmarks("# mine\nwrist.L 0.3 1 -0.05\n\nvertex:7, 1, 2, 3 # nose\n");
        let marks = marks.unwrap();
        assert_eq!((marks.len(), marks[0].name.as_str()), (2, "wrist.L"));
        assert_eq!(marks[1].place, [1.0, 2.0, 3.0]);
        let error = read_landmarks("wrist.L 0.3 1").unwrap_err();
        assert!(error.contains("line 1"), "{error}");
        assert!(read_landmarks("a 1 2 nan").is_err());
    }
}
