//! Weight, fat mass and muscle mass of a person, each with its error [4.2.3].

use serde::{Deserialize, Serialize};

use super::measures::Measures;
use super::population::{Percentile, Population, Quantity};
use super::regression::{Predictor, Predictors, Regressors};
use crate::Sex;

/// Standard deviation of the weight found from a volume, over the weight. Measured on 600 bodies of the shape space with the
/// height and eleven girths of soldiers of ANSUR II: 3.8 % (men) and 3.1 % (women), of which the girths that the space cannot reach
/// explain half; it adds 0.8 kg (men) and 1.3 kg (women) to the error of fat mass. The bodies were also 3.4 and 8.1 % lighter than the
/// soldiers on average, which is the space's own bias, not that of a scanned person's volume.
const WEIGHT_DEVIATION: f64 = 0.035;
/// Fat percentages that living people have \[%\]; regressions beyond them are cut off. Essential fat is about 3 % in men and
/// 10 % in women.
const FAT_PERCENTS: [[f64; 2]; 2] = [[3.0, 65.0], [8.0, 65.0]];
/// Standard error of Lee's equation \[kg\].
const MUSCLE_DEVIATION: f64 = 2.8;
/// Lipids in the mass of fat tissue; the rest is water and cells. What DXA measures and regressors predict as fat mass is lipids,
/// what a layer holds is tissue. ICRP's reference man has 0.80; Martin et al. (1994) found 0.54 in lean and 0.85 in fat men, rising
/// with fatness, so that heavy people, for whom it matters most, are at this end. The thesis counts all as fat; then the masses of
/// heavy people do not add up to their volume.
pub(crate) const LIPIDS: f64 = 0.85;
/// Body mass index up to which Lee's equation was fitted \[kg/m²\], and by how much of each kilogram beyond it may be wrong: half of what
/// it counts as muscle.
const LEE_INDEX: f64 = 30.0;
const LEE_BEYOND: f64 = 0.122;
/// Skeletal muscle over what is not fat tissue, and its deviation, men and women (Wang 2001).
const MUSCULARITY: [[f64; 2]; 2] = [[0.528, 0.036], [0.473, 0.037]];
/// Age where it is not known \[years\], and the standard deviation of adults' ages: they enter muscle mass only.
const USUAL_AGE: [f64; 2] = [40.0, 15.0];
/// Skeletal muscle over fat-free mass: least and largest, men and women. About 0.52 and 0.45 are usual, with a deviation of 0.04
/// (Wang 2001, by magnetic resonance: 0.528 ± 0.036 and 0.473 ± 0.037 of what is not fat tissue). Lee's equation was
/// fitted to people with a body mass index below 30 and counts a fourth of every kilogram of fat beyond as muscle; these
/// bounds stop it there.
const MUSCLE_SHARES: [[f64; 2]; 2] = [[0.40, 0.58], [0.34, 0.53]];

/// A given weight over the one of the volume: farther from 1 than the first a user should know, beyond the others it is refused. The volume
/// weighs within 3.5 %; scans in wide clothes are up to twice as large, and those with
/// much missing are smaller; pounds for kilograms are 2.2.
const WEIGHT_NOTED: f64 = 0.1;
const WEIGHT_RANGE: [f64; 2] = [0.55, 1.5];

/// A number with its standard deviation, in the same unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its standard deviation; zero if it was given.
    pub error: f64,
}

impl Estimate {
    /// A number that was given.
    pub fn given(value: f64) -> Self {
        Estimate { value, error: 0.0 }
    }
}

/// What is known of a person besides the skin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Sex.
    pub sex: Sex,
    /// Age \[years\].
    pub age: Option<f64>,
    /// Height \[m\], where it is known better than from the skin.
    pub height: Option<f64>,
    /// Weight \[kg\].
    pub weight: Option<f64>,
    /// Fat mass \[kg\].
    pub fat_mass: Option<f64>,
    /// Mass of skeletal muscle \[kg\].
    pub muscle_mass: Option<f64>,
}

impl Known {
    /// Nothing but the sex.
    pub fn sex(sex: Sex) -> Self {
        Known {
            sex,
            age: None,
            height: None,
            weight: None,
            fat_mass: None,
            muscle_mass: None,
        }
    }
}

/// What a person is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Composition {
    /// Sex.
    pub sex: Sex,
    /// Height \[m\].
    pub height: f64,
    /// Waist circumference \[m\].
    pub waist: f64,
    /// Volume inside the skin less the air in it \[m³\].
    pub volume: f64,
    /// Air in lungs and belly \[m³\].
    pub air: f64,
    /// Weight \[kg\].
    pub weight: Estimate,
    /// Weight over squared height \[kg/m²\].
    pub body_mass_index: f64,
    /// Fat mass \[kg\].
    pub fat_mass: Estimate,
    /// Fat mass over weight \[%\].
    pub fat_percent: Estimate,
    /// Mass of skeletal muscle \[kg\].
    pub muscle_mass: Estimate,
    /// The person's place in each population that is known.
    pub percentiles: Vec<Percentile>,
    /// What a reader of the numbers should know.
    pub notes: Vec<String>,
}

/// Why there is no composition.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompositionError {
    /// A measure or a given number is impossible.
    #[error("{what} is {value:.3}, but should lie between {least} and {largest}")]
    OutOfRange {
        /// What it is, with its unit.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Least plausible value.
        least: f64,
        /// Largest plausible value.
        largest: f64,
    },
    /// The masses given do not fit into the weight.
    #[error(
        "fat ({fat_mass:.1} kg) and muscle ({muscle_mass:.1} kg) together are more than the weight ({weight:.1} kg); check what was given"
    )]
    TooHeavy {
        /// Fat mass \[kg\].
        fat_mass: f64,
        /// Muscle mass \[kg\].
        muscle_mass: f64,
        /// Weight \[kg\].
        weight: f64,
    },
    /// A weight that the volume cannot have.
    #[error(
        "a weight of {given:.1} kg is given, but the scan's {litres:.1} l weigh about {expected:.1} kg; check the weight (kilograms, not pounds) and the scan's unit, or leave the weight out"
    )]
    OtherWeight {
        /// The weight given \[kg\].
        given: f64,
        /// Volume without air \[l\].
        litres: f64,
        /// Weight of the volume \[kg\].
        expected: f64,
    },
    /// The regressors hold no model that needs no more than is known.
    #[error(
        "the regressors have no model that needs only height, weight and waist; fit them again"
    )]
    NoModel,
}

/// Density of a body from its fat percentage, Siri 1961: D = 495 / (F + 450) \[kg/l\].
pub fn siri_density(fat_percent: f64) -> f64 {
    495.0 / (fat_percent + 450.0)
}

/// Air in a standing person's body \[l\]: functional residual capacity (Quanjer 1993), half a breath, and gas in the belly.
pub fn air_litres(sex: Sex, height: f64, age: f64) -> f64 {
    let capacity = match sex {
        Sex::Male => 2.34 * height + 0.009 * age - 1.09,
        Sex::Female => 2.24 * height + 0.001 * age - 1.00,
    };
    capacity.max(0.5) + 0.25 + 0.1
}

/// Mass of skeletal muscle, Lee 2000 \[kg\]: 0.244 w + 7.80 h − 0.098 age + 6.6 (men) − 3.3, without its term of race.
pub fn lee_muscle_mass(sex: Sex, weight: f64, height: f64, age: f64) -> f64 {
    let male = if sex == Sex::Male { 6.6 } else { 0.0 };
    0.244 * weight + 7.80 * height - 0.098 * age + male - 3.3
}

/// Estimates what a person is made of from the skin's measures and what else is known.
pub fn composition(
    measures: &Measures,
    known: &Known,
    regressors: &Regressors,
) -> Result<Composition, CompositionError> {
    let sex = known.sex;
    let height = in_range(
        "height [m]",
        known.height.unwrap_or(measures.height),
        0.5,
        2.8,
    )?;
    let waist = in_range("waist [m]", measures.waist, 0.2, 3.0)?;
    in_range("volume [m³]", measures.volume, 0.01, 0.5)?;
    let age = known
        .age
        .map(|age| in_range("age [years]", age, 0.0, 130.0));
    let age = age.transpose()?;
    let air = air_litres(sex, height, age.unwrap_or(USUAL_AGE[0]));
    let litres = 1000.0 * measures.volume - air;
    let mut notes = Vec::new();

    let at = |weight: f64| Predictors {
        height,
        weight,
        waist: Some(waist),
        age,
    };
    let model = (regressors.model(sex, &at(0.0))).ok_or(CompositionError::NoModel)?;
    let percents = FAT_PERCENTS[sex as usize];
    let percent = |weight: f64| {
        let fat = known.fat_mass.or_else(|| model.fat_mass(&at(weight)));
        (100.0 * fat.unwrap_or(0.0) / weight).clamp(percents[0], percents[1])
    };
    let of_volume = weight_of_volume(litres, percent);
    let weight = match known.weight {
        Some(weight) => {
            let weight = in_range("weight [kg]", weight, 10.0, 500.0)?;
            Estimate::given(weight)
        }
        None => Estimate {
            value: of_volume,
            error: WEIGHT_DEVIATION * of_volume,
        },
    };

    let fat_percent = percent(weight.value);
    let fat_mass = match known.fat_mass {
        Some(mass) => Estimate::given(in_range("fat mass [kg]", mass, 0.0, 0.9 * weight.value)?),
        None => Estimate {
            value: 0.01 * fat_percent * weight.value,
            error: model
                .deviation
                .hypot(model.coefficient(Predictor::Weight) * weight.error),
        },
    };
    let muscle_mass = match known.muscle_mass {
        Some(mass) => Estimate::given(in_range("muscle mass [kg]", mass, 1.0, 0.9 * weight.value)?),
        None => muscle_mass(sex, weight, fat_mass, height, age, &mut notes),
    };
    if fat_mass.value + muscle_mass.value > weight.value {
        return Err(CompositionError::TooHeavy {
            fat_mass: fat_mass.value,
            muscle_mass: muscle_mass.value,
            weight: weight.value,
        });
    }

    let fat_percent = Estimate {
        value: 100.0 * fat_mass.value / weight.value,
        error: 100.0 * fat_mass.error / weight.value,
    };
    let body_mass_index = weight.value / (height * height);
    let [least, largest] = regressors.of(sex).body_mass_index;
    if !(least..=largest).contains(&body_mass_index) {
        notes.push(format!(
            "body mass index {body_mass_index:.1} lies outside of {least:.1} to {largest:.1}, where nine of ten of the people behind the fat model are: its error may be larger"
        ));
    }
    Ok(Composition {
        sex,
        height,
        waist,
        volume: 0.001 * litres,
        air: 0.001 * air,
        weight,
        body_mass_index,
        fat_mass,
        fat_percent,
        muscle_mass,
        percentiles: percentiles(sex, fat_percent.value, muscle_mass.value, regressors),
        notes,
    })
}

/// What a user should know of a given weight that is not the one of the volume; refuses what no body has. `alone` is the composition
/// without the weight.
pub fn check_weight(given: f64, alone: &Composition) -> Result<Option<String>, CompositionError> {
    let (expected, litres) = (alone.weight.value, 1000.0 * alone.volume);
    let ratio = given / expected;
    if !(WEIGHT_RANGE[0]..=WEIGHT_RANGE[1]).contains(&ratio) {
        return Err(CompositionError::OtherWeight {
            given,
            litres,
            expected,
        });
    }
    Ok(((ratio - 1.0).abs() > WEIGHT_NOTED).then(|| {
        format!(
            "the weight given is {given:.1} kg, but the scan's {litres:.1} l weigh about {expected:.1} kg: check the weight, the scan's unit, and clothes"
        )
    }))
}

/// [`composition`] of somebody whose sex is undecided: `known` has the likelier one, with its probability. Weight, fat and muscle are the
/// mean of what a man and a woman of these measures would have, each by its probability; their errors hold the difference
/// between the two, and percentiles are mixed alike.
pub fn undecided_composition(
    measures: &Measures,
    known: &Known,
    probability: f64,
    regressors: &Regressors,
) -> Result<Composition, CompositionError> {
    let other = match known.sex {
        Sex::Male => Sex::Female,
        Sex::Female => Sex::Male,
    };
    let mut mixed = composition(measures, known, regressors)?;
    let second = composition(
        measures,
        &Known {
            sex: other,
            ..*known
        },
        regressors,
    )?;
    let shares = [probability, 1.0 - probability];
    for (a, b) in [
        (&mut mixed.weight, second.weight),
        (&mut mixed.fat_mass, second.fat_mass),
        (&mut mixed.fat_percent, second.fat_percent),
        (&mut mixed.muscle_mass, second.muscle_mass),
    ] {
        *a = mixture([*a, b], shares);
    }
    let linear = |a: f64, b: f64| shares[0] * a + shares[1] * b;
    mixed.volume = linear(mixed.volume, second.volume);
    mixed.air = linear(mixed.air, second.air);
    mixed.body_mass_index = linear(mixed.body_mass_index, second.body_mass_index);
    for (a, b) in mixed.percentiles.iter_mut().zip(&second.percentiles) {
        a.percentile = linear(a.percentile, b.percentile);
    }
    mixed.notes.push(
        "fat and muscle are the mean of a man's and a woman's, by the probability of the sex; give the sex if it is known".to_owned(),
    );
    Ok(mixed)
}

/// Mean and standard deviation of a mixture of two distributions.
fn mixture([a, b]: [Estimate; 2], shares: [f64; 2]) -> Estimate {
    let value = shares[0] * a.value + shares[1] * b.value;
    let variance = |e: Estimate| e.error.powi(2) + (e.value - value).powi(2);
    Estimate {
        value,
        error: (shares[0] * variance(a) + shares[1] * variance(b)).sqrt(),
    }
}

/// Weight \[kg\] of a volume without air \[l\] whose density hangs on the fat percentage, which hangs on the weight: the fixed
/// point of w = V · D(F(w)).
pub fn weight_of_volume(litres: f64, fat_percent: impl Fn(f64) -> f64) -> f64 {
    let mut weight = litres;
    // A kilogram more adds at most about 1 % of fat to a body of 50 kg, which takes 0.1 kg off: each step gains a digit.
    for _ in 0..40 {
        weight = litres * siri_density(fat_percent(weight));
    }
    weight
}

fn muscle_mass(
    sex: Sex,
    weight: Estimate,
    fat_mass: Estimate,
    height: f64,
    age: Option<f64>,
    notes: &mut Vec<String>,
) -> Estimate {
    let lee = lee_muscle_mass(sex, weight.value, height, age.unwrap_or(USUAL_AGE[0]));
    // Beyond Lee's people the usual muscularity takes over, each by its variance.
    let beyond = LEE_BEYOND * (weight.value - LEE_INDEX * height * height).max(0.0);
    let bare = weight.value - fat_mass.value / LIPIDS;
    let [usual, deviation] = MUSCULARITY[sex as usize].map(|share| share * bare);
    let share = beyond * beyond / (beyond * beyond + deviation * deviation).max(1e-9);
    let raw = lee + share * (usual - lee);
    let lean = weight.value - fat_mass.value;
    let [least, largest] = MUSCLE_SHARES[sex as usize].map(|share| share * lean);
    let value = raw.clamp(least, largest);
    if value != raw {
        notes.push(format!(
            "muscle mass is {raw:.1} kg by Lee 2000 and Wang 2001; cut off at {value:.1} kg, {:.0} % of the fat-free mass",
            100.0 * value / lean
        ));
    }
    let by_age = if age.is_some() {
        0.0
    } else {
        0.098 * USUAL_AGE[1]
    };
    Estimate {
        value,
        error: (MUSCLE_DEVIATION.hypot(by_age).hypot(0.244 * weight.error))
            .hypot((1.0 - share) * beyond),
    }
}

fn percentiles(
    sex: Sex,
    fat_percent: f64,
    muscle_mass: f64,
    regressors: &Regressors,
) -> Vec<Percentile> {
    (std::iter::once(&regressors.population).chain(Population::published()))
        .map(|population| Percentile {
            population: population.name.clone(),
            quantity: population.quantity,
            percentile: population.percentile(
                sex,
                match population.quantity {
                    Quantity::FatPercent => fat_percent,
                    Quantity::MuscleMass => muscle_mass,
                },
            ),
        })
        .collect()
}

fn in_range(
    what: &'static str,
    value: f64,
    least: f64,
    largest: f64,
) -> Result<f64, CompositionError> {
    if (least..=largest).contains(&value) {
        Ok(value)
    } else {
        Err(CompositionError::OutOfRange {
            what,
            value,
            least,
            largest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn man() -> Measures {
        Measures {
            height: 1.80,
            waist: 0.90,
            volume: 0.080,
            ..Measures::default()
        }
    }

    #[test]
    fn weight_density_and_fat_agree() {
        let known = Known::sex(Sex::Male);
        let c = composition(&man(), &known, Regressors::embedded()).unwrap();
        let density = siri_density(c.fat_percent.value);
        assert!((c.weight.value / (1000.0 * c.volume) - density).abs() < 1e-9);
        assert!((c.fat_percent.value - 100.0 * c.fat_mass.value / c.weight.value).abs() < 1e-9);
        assert!((70.0..85.0).contains(&c.weight.value), "{c:?}");
        assert!((12.0..30.0).contains(&c.fat_percent.value), "{c:?}");
        assert!((28.0..42.0).contains(&c.muscle_mass.value), "{c:?}");
        // Two populations, two places.
        let share = |k: usize| c.percentiles[k].percentile;
        assert!(share(1) > share(0) + 10.0);
        // The fixed point does not hang on where it starts: 1 g more volume moves the weight by about a gram.
        let more = weight_of_volume(77.001, |w| 0.3 * w) - weight_of_volume(77.0, |w| 0.3 * w);
        assert!((0.0008..0.0011).contains(&more), "{more}");
    }

    #[test]
    fn what_is_given_is_kept() {
        let known = Known {
            age: Some(30.0),
            weight: Some(82.0),
            fat_mass: Some(15.0),
            muscle_mass: Some(37.0),
            ..Known::sex(Sex::Male)
        };
        let c = composition(&man(), &known, Regressors::embedded()).unwrap();
        assert_eq!(c.weight, Estimate::given(82.0));
        assert_eq!(c.fat_mass, Estimate::given(15.0));
        assert_eq!(c.muscle_mass, Estimate::given(37.0));
        let known = Known {
            fat_mass: None,
            ..known
        };
        let predicted = composition(&man(), &known, Regressors::embedded()).unwrap();
        assert!(predicted.fat_mass.error > 2.0 && predicted.fat_mass.error < 3.5);
        let text = serde_json::to_string(&predicted).unwrap();
        assert_eq!(
            serde_json::from_str::<Composition>(&text).unwrap(),
            predicted
        );
    }

    #[test]
    fn an_undecided_sex_gives_a_mean_whose_error_holds_both() {
        let known = Known::sex(Sex::Male);
        let of = |sex| composition(&man(), &Known::sex(sex), Regressors::embedded()).unwrap();
        let (male, female) = (of(Sex::Male), of(Sex::Female));
        let even = undecided_composition(&man(), &known, 0.5, Regressors::embedded()).unwrap();
        let middle = 0.5 * (male.fat_mass.value + female.fat_mass.value);
        assert!((even.fat_mass.value - middle).abs() < 1e-9);
        let apart = (female.fat_mass.value - male.fat_mass.value).abs();
        assert!(apart > 5.0 && even.fat_mass.error > 0.5 * apart);
        assert!(even.fat_mass.error > male.fat_mass.error);
        let sure = undecided_composition(&man(), &known, 1.0, Regressors::embedded()).unwrap();
        assert_eq!(
            (sure.fat_mass, sure.muscle_mass),
            (male.fat_mass, male.muscle_mass)
        );
        // What is given stays given.
        let given = Known {
            fat_mass: Some(15.0),
            ..known
        };
        let given = undecided_composition(&man(), &given, 0.6, Regressors::embedded()).unwrap();
        assert_eq!(given.fat_mass, Estimate::given(15.0));
    }

    #[test]
    fn a_weight_that_the_volume_cannot_have_is_refused_with_the_numbers() {
        let known = Known::sex(Sex::Male);
        let alone = composition(&man(), &known, Regressors::embedded()).unwrap();
        let with = |weight: f64| check_weight(weight, &alone);
        let text = with(300.0).unwrap_err().to_string();
        for part in ["300.0 kg", "76.2 l", "pounds"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(with(35.0).is_err());
        assert_eq!(with(80.0), Ok(None));
        let noted = with(92.0).unwrap().unwrap();
        assert!(
            noted.contains("92.0 kg") && noted.contains("about 79.5"),
            "{noted}"
        );
    }

    #[test]
    fn muscle_is_bounded_by_lean_mass_and_usual_in_very_heavy_people() {
        let mut notes = Vec::new();
        let mut woman = |weight: f64, fat: f64| {
            let (weight, fat) = (Estimate::given(weight), Estimate::given(fat));
            muscle_mass(Sex::Female, weight, fat, 1.65, Some(40.0), &mut notes)
        };
        assert!((woman(80.0, 40.0).value - 0.53 * 40.0).abs() < 1e-9);
        // Lee's equation says 39.8 kg.
        let heavy = woman(140.0, 70.0);
        let bare = 140.0 - 70.0 / LIPIDS;
        assert!((0.473..0.51).contains(&(heavy.value / bare)), "{heavy:?}");
        // At the end of Lee's people both are the same.
        let [a, b] = [81.67, 81.68].map(|weight| woman(weight, 32.0).value);
        assert!((a - b).abs() < 0.01);
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn nonsense_is_refused() {
        let refused = |measures: Measures, known: Known| {
            composition(&measures, &known, Regressors::embedded()).is_err()
        };
        let sex = Known::sex(Sex::Male);
        assert!(refused(
            Measures {
                volume: f64::NAN,
                ..man()
            },
            sex
        ));
        assert!(refused(
            Measures {
                waist: 0.0,
                ..man()
            },
            sex
        ));
        assert!(refused(
            man(),
            Known {
                weight: Some(-3.0),
                ..sex
            }
        ));
        assert!(refused(
            man(),
            Known {
                fat_mass: Some(50.0),
                muscle_mass: Some(50.0),
                weight: Some(80.0),
                ..sex
            }
        ));
    }
}
