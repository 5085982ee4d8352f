//! From a scan to a layered person. The page fetches what this needs when it is needed: body spaces first, then the template of
//! the sex that was found.

use serde::{Deserialize, Serialize};
use supple::anatomy::Sex;
use supple::anatomy::body_model::{BodyModel, DamagedSpace};
use supple::anatomy::composition::Regressors;
use supple::anatomy::growth::GrowthError;
use supple::anatomy::person::{
    Given, GivenFat, PersonError, PersonFileError, PreparedTemplate, read_person, write_person,
};
use supple::anatomy::progress::Progress;
use supple::anatomy::scan::{Options, Registered, Scan, ScanError, register_with};
use supple::anatomy::template::read_template;

use crate::files::stem;

/// What the user knows of a person; the rest is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Known {
    /// Sex.
    pub sex: Option<Sex>,
    /// Age \[years\].
    pub age: Option<f64>,
    /// Height \[m\].
    pub height: Option<f64>,
    /// Weight \[kg\].
    pub weight: Option<f64>,
    /// Fat, share of the weight \[%\].
    pub fat_percent: Option<f64>,
}

impl Known {
    fn given(&self) -> Given {
        Given {
            age: self.age,
            height: self.height,
            weight: self.weight,
            fat: self.fat_percent.map(GivenFat::Percent),
            muscle_mass: None,
        }
    }
}

/// Why there is no person.
#[derive(Debug, thiserror::Error)]
pub enum ScanFailure {
    /// The scan is refused, or no template fits.
    #[error(transparent)]
    Person(#[from] PersonError),
    /// The person cannot be read or written.
    #[error(transparent)]
    File(#[from] PersonFileError),
    /// The person cannot grow so.
    #[error(transparent)]
    Growth(#[from] GrowthError),
    /// The body space cannot be used.
    #[error(transparent)]
    Space(#[from] DamagedSpace),
}

impl From<ScanError> for ScanFailure {
    fn from(error: ScanError) -> Self {
        Self::Person(error.into())
    }
}

/// A scan in which a body was found.
pub struct FoundBody {
    name: String,
    registered: Registered,
}

/// Takes the bytes of a body space and of its rig, which finding a body needs.
pub fn provide(sex: Sex, space: &[u8], rig: &[u8]) -> Result<(), ScanFailure> {
    Ok(BodyModel::provide(sex, space, rig)?)
}

impl FoundBody {
    /// Finds the body in a scan. The spaces of both sexes must have been provided, or that of the sex that is known.
    pub fn find(
        name: &str,
        bytes: &[u8],
        known: &Known,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Self, ScanFailure> {
        let options = Options {
            sex: known.sex,
            ..Options::default()
        };
        let scan = Scan::from_bytes(name, bytes)?;
        Ok(Self {
            name: stem(name),
            registered: register_with(&scan, &options, &Progress::new(progress))?,
        })
    }

    /// Whose template is needed.
    pub fn sex(&self) -> Sex {
        self.registered.sex
    }

    /// The bytes of a person file, made with the template of its sex.
    pub fn person(
        &self,
        template: &[u8],
        known: &Known,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Vec<u8>, ScanFailure> {
        let person = prepared(template)?.person_with(
            &self.name,
            &self.registered,
            &known.given(),
            Regressors::embedded(),
            &Progress::new(progress),
        )?;
        Ok(write_person(&person)?)
    }
}

/// A person file again with other numbers given.
pub fn refitted(
    person: &[u8],
    template: &[u8],
    known: &Known,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Vec<u8>, ScanFailure> {
    let refitted = prepared(template)?.refitted(
        &read_person(person)?,
        &known.given(),
        Regressors::embedded(),
        &Progress::new(progress),
    )?;
    Ok(write_person(&refitted)?)
}

fn prepared(template: &[u8]) -> Result<PreparedTemplate, PersonError> {
    PreparedTemplate::new(read_template(template)?)
}
