//! Growth of persons, with their measures and composition.

use glam::Vec3;

use super::{Grown, GrowthBody, GrowthError};
use crate::composition::{Known, Regressors, Tape, composition};
use crate::person::Person;

impl<'a> GrowthBody<'a> {
    /// A person's anatomy, with the masses of its fit and the weight of its composition.
    pub fn of_person(person: &'a Person) -> Self {
        GrowthBody {
            anatomy: &person.body,
            masses: person.fit.masses.masses,
            weight: person.composition.weight.value,
        }
    }
}

/// The person after growth: measured again, with the masses that growth gave. Errors of the estimates stay what they were.
pub fn grown_person(person: &Person, grown: Grown) -> Result<Person, GrowthError> {
    let Grown {
        anatomy,
        masses,
        report,
    } = grown;
    let mut after = person.clone();
    let joints: Vec<Vec3> = (anatomy.body.skeleton.rest_worlds().iter())
        .map(|world| world.translation.into())
        .collect();
    // The tape goes where it went before.
    after.measures = Tape::new(&person.body.body)?.measures(&anatomy.layers.skin, &joints);
    let before = &person.composition;
    let [fat, muscle] = [report.fat, report.muscle].map(|[a, b]| b - a);
    let known = Known {
        height: Some(before.height),
        weight: Some(report.weight[1]),
        fat_mass: Some((before.fat_mass.value + fat).max(0.0)),
        muscle_mass: Some((before.muscle_mass.value + muscle).max(0.0)),
        ..Known::sex(before.sex)
    };
    if let Ok(mut found) = composition(&after.measures, &known, Regressors::embedded()) {
        found.weight.error = before.weight.error;
        found.fat_mass.error = before.fat_mass.error;
        found.fat_percent.error = before.fat_percent.error;
        found.muscle_mass.error = before.muscle_mass.error;
        found.notes.push(format!(
            "grown by {fat:+.1} kg of fat and {muscle:+.1} kg of muscle"
        ));
        after.composition = found;
    }
    let fit = &mut after.fit;
    fit.layers = report.layers;
    fit.masses.masses = masses;
    fit.masses.fat = report.fat[1];
    fit.masses.muscle = report.muscle[1];
    fit.masses.fat_asked += fat;
    fit.masses.muscle_asked += muscle;
    after.body = anatomy.rounded();
    Ok(after)
}
