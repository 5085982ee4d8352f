//! Persons that gain and lose: shapes for sliders, and the whole person afterwards.

use serde::Deserialize;
use supple::anatomy::growth::{
    FatGoal, Growth, GrowthBody, GrowthError, GrowthFlow, grown, grown_person,
};
use supple::anatomy::person::{Person, read_person, write_person};
use supple::anatomy::progress::Progress;
use supple::anatomy::template::FatRegion;

use crate::person::ScanFailure;

/// Fat and muscle at which shapes are made \[kg\]; between them they are interpolated. A region has a third of it.
const FAT_KNOTS: [f64; 5] = [-12.0, -5.0, 5.0, 15.0, 30.0];
const MUSCLE_KNOTS: [f64; 4] = [-5.0, -2.0, 3.0, 8.0];
const REGION_SHARE: f64 = 1.0 / 3.0;

/// A change of a person.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Change {
    /// "legs", "belly", "chest" or "arms"; all of the body if it is empty.
    pub region: String,
    /// Fat to gain or lose \[kg\].
    pub fat: f64,
    /// Muscle to gain or lose \[kg\].
    pub muscle: f64,
}

/// Shapes of a person that gained or lost in a region, for sliders.
pub struct Shapes {
    /// Fat of each shape \[kg\].
    pub fat: Vec<f64>,
    /// Muscle of each further shape \[kg\].
    pub muscle: Vec<f64>,
    /// Displacement of the skin in each shape \[m\], three numbers a vertex.
    pub offsets: Vec<f32>,
}

fn regions(name: &str) -> Vec<FatRegion> {
    let named = FatRegion::ALL.into_iter().filter(|r| r.name() == name);
    named.collect()
}

/// Shapes of a person, coarse but quick: in one step, without contact.
pub fn shapes(
    person: &[u8],
    region: &str,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Shapes, ScanFailure> {
    let person = read_person(person)?;
    let regions = regions(region);
    let share = if regions.is_empty() {
        1.0
    } else {
        REGION_SHARE
    };
    let [fat, muscle] = [&FAT_KNOTS[..], &MUSCLE_KNOTS[..]]
        .map(|knots| knots.iter().map(|kg| kg * share).collect::<Vec<f64>>());
    let count = fat.len() + muscle.len();
    let progress = Progress::new(progress);
    let mut shapes = Shapes {
        fat,
        muscle,
        offsets: Vec::new(),
    };
    // One kilogram, so that shares of the goal are kilograms.
    for (goal, knots) in [([1.0, 0.0], &shapes.fat), ([0.0, 1.0], &shapes.muscle)] {
        let growth = growth(goal, regions.clone());
        let flow = GrowthFlow::new(&GrowthBody::of_person(&person), &growth)?;
        for &kilograms in knots {
            let layers = flow.coarse(kilograms);
            let moved = layers.skin.iter().zip(&person.layers().skin);
            shapes
                .offsets
                .extend(moved.flat_map(|(after, before)| (*after - *before).to_array()));
            progress.advance(1.0 / count as f64);
        }
    }
    Ok(shapes)
}

fn growth(goal: [f64; 2], regions: Vec<FatRegion>) -> Growth<'static> {
    Growth {
        fat: FatGoal::Change(goal[0]),
        muscle: goal[1],
        regions,
        ..Growth::default()
    }
}

/// The file of a person after all changes, one after the other.
pub fn grown_file(
    person: &[u8],
    changes: &[Change],
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Vec<u8>, ScanFailure> {
    let progress = Progress::new(progress);
    let mut person = read_person(person)?;
    for change in changes {
        person = grown_by(&person, change)?;
        progress.advance(1.0 / changes.len() as f64);
    }
    Ok(write_person(&person)?)
}

fn grown_by(person: &Person, change: &Change) -> Result<Person, GrowthError> {
    let growth = growth([change.fat, change.muscle], regions(&change.region));
    grown_person(person, grown(&GrowthBody::of_person(person), &growth)?)
}
