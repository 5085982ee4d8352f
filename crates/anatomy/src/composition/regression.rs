//! Linear models of fat mass, fitted to measured people [4.2.3].

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::population::{PERCENTS, Population, Quantity, quantiles};
use super::table::{MeasuredAdult, TableError};
use crate::Sex;

/// Folds of the cross-validation.
const FOLDS: usize = 20;
/// People a sex below which a fold's model would hang on single persons.
const LEAST_PEOPLE: usize = 100;

/// What a model predicts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predictor {
    /// Height \[m\].
    Height,
    /// Weight \[kg\].
    Weight,
    /// Waist circumference \[m\].
    Waist,
    /// Age \[years\].
    Age,
}

/// The sets of predictors that are fitted, the best first.
const PREDICTORS: [&[Predictor]; 4] = [
    &[
        Predictor::Height,
        Predictor::Weight,
        Predictor::Waist,
        Predictor::Age,
    ],
    &[Predictor::Height, Predictor::Weight, Predictor::Waist],
    &[Predictor::Height, Predictor::Weight, Predictor::Age],
    &[Predictor::Height, Predictor::Weight],
];

/// `fat mass = intercept + Σ coefficient × predictor` \[kg\].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearModel {
    /// What it predicts from.
    pub predictors: Vec<Predictor>,
    /// Constant term \[kg\].
    pub intercept: f64,
    /// One coefficient for each predictor \[kg per its unit\].
    pub coefficients: Vec<f64>,
    /// Cross-validated mean absolute error \[kg\].
    pub mean_error: f64,
    /// Cross-validated standard deviation of the error \[kg\].
    pub deviation: f64,
    /// Cross-validated coefficient of determination.
    pub r_squared: f64,
}

/// Models of one sex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SexModels {
    /// People they were fitted to.
    pub people: usize,
    /// Range of body mass indices in which nine of ten of them lie \[kg/m²\].
    pub body_mass_index: [f64; 2],
    /// The models, the best first.
    pub models: Vec<LinearModel>,
}

/// Models of fat mass for both sexes, and where they come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regressors {
    /// The people they were fitted to.
    pub source: String,
    /// Women.
    pub female: SexModels,
    /// Men.
    pub male: SexModels,
    /// Fat percentages of the same people.
    pub population: Population,
}

/// What models are evaluated at; unknown values are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Predictors {
    /// Height \[m\].
    pub height: f64,
    /// Weight \[kg\].
    pub weight: f64,
    /// Waist circumference \[m\].
    pub waist: Option<f64>,
    /// Age \[years\].
    pub age: Option<f64>,
}

impl Predictors {
    fn get(&self, predictor: Predictor) -> Option<f64> {
        match predictor {
            Predictor::Height => Some(self.height),
            Predictor::Weight => Some(self.weight),
            Predictor::Waist => self.waist,
            Predictor::Age => self.age,
        }
    }
}

impl LinearModel {
    /// Fat mass \[kg\]; none if a predictor is not known.
    pub fn fat_mass(&self, at: &Predictors) -> Option<f64> {
        let terms = self.predictors.iter().zip(&self.coefficients);
        let sum: Option<f64> = terms.map(|(p, c)| Some(c * at.get(*p)?)).sum();
        Some(self.intercept + sum?)
    }

    /// Coefficient of a predictor \[kg per its unit\]; zero if it is not used.
    pub fn coefficient(&self, of: Predictor) -> f64 {
        let place = self.predictors.iter().position(|p| *p == of);
        place.map_or(0.0, |k| self.coefficients[k])
    }
}

impl Regressors {
    /// The embedded ones: 2,217 US adults of NHANES 2017–18.
    pub fn embedded() -> &'static Regressors {
        static EMBEDDED: std::sync::OnceLock<Regressors> = std::sync::OnceLock::new();
        EMBEDDED.get_or_init(|| {
            Regressors::from_toml(include_str!("../../assets/fat_mass.toml"))
                .expect("the embedded regressors are valid; a test reads them")
        })
    }

    /// Reads what [`Regressors::to_toml`] wrote.
    pub fn from_toml(text: &str) -> Result<Regressors, toml::de::Error> {
        toml::from_str(text)
    }

    /// The regressors as a text that a person can read and edit.
    pub fn to_toml(&self) -> String {
        let mut text = String::from(
            "# Fat mass [kg] = intercept + sum of coefficients x predictors (height [m], weight [kg], waist [m], age [years]).\n",
        );
        let _ = writeln!(
            text,
            "# Errors are those of {FOLDS}-fold cross-validation. Made by `supple composition fit`.\n"
        );
        // Plain numbers, strings and lists always have a TOML form.
        text.push_str(&toml::to_string(self).unwrap_or_default());
        text
    }

    /// Rounds all numbers to six digits: more says nothing, and would differ between machines.
    fn round(&mut self) {
        let digits = |x: &mut f64| *x = format!("{x:.5e}").parse().unwrap_or(*x);
        self.population.female.iter_mut().for_each(digits);
        self.population.male.iter_mut().for_each(digits);
        for sex in [&mut self.female, &mut self.male] {
            sex.body_mass_index.iter_mut().for_each(digits);
            for model in &mut sex.models {
                model.coefficients.iter_mut().for_each(digits);
                [
                    &mut model.intercept,
                    &mut model.mean_error,
                    &mut model.deviation,
                    &mut model.r_squared,
                ]
                .into_iter()
                .for_each(digits);
            }
        }
    }

    /// Models of one sex.
    pub fn of(&self, sex: Sex) -> &SexModels {
        match sex {
            Sex::Male => &self.male,
            Sex::Female => &self.female,
        }
    }

    /// The best model of one sex for what is known; none if the file holds none for it.
    pub fn model(&self, sex: Sex, known: &Predictors) -> Option<&LinearModel> {
        let models = self.of(sex).models.iter();
        models
            .filter(|model| model.fat_mass(known).is_some())
            .min_by(|a, b| a.deviation.total_cmp(&b.deviation))
    }
}

/// Fits models to measured people, cross-validates them, and takes their percentiles. `source` says who they are.
pub fn fit_regressors(people: &[MeasuredAdult], source: &str) -> Result<Regressors, TableError> {
    let of = |sex: Sex| {
        people
            .iter()
            .copied()
            .filter(|p| p.sex == sex)
            .collect::<Vec<_>>()
    };
    let (female, male) = (of(Sex::Female), of(Sex::Male));
    let percents = |people: &[MeasuredAdult]| {
        quantiles(
            people
                .iter()
                .map(|p| 100.0 * p.fat_mass / p.weight)
                .collect(),
            &PERCENTS,
        )
    };
    let mut regressors = Regressors {
        source: source.to_owned(),
        population: Population {
            name: source.to_owned(),
            quantity: Quantity::FatPercent,
            percents: PERCENTS.to_vec(),
            female: percents(&female),
            male: percents(&male),
        },
        female: fit_sex(&female, "female")?,
        male: fit_sex(&male, "male")?,
    };
    regressors.round();
    Ok(regressors)
}

fn fit_sex(people: &[MeasuredAdult], sex: &'static str) -> Result<SexModels, TableError> {
    if people.len() < LEAST_PEOPLE {
        return Err(TableError::TooFew {
            sex,
            count: people.len(),
            least: LEAST_PEOPLE,
        });
    }
    let fit = |predictors: &&[Predictor]| {
        cross_validated(people, predictors).ok_or(TableError::Singular { sex })
    };
    let index = people.iter().map(|p| p.weight / (p.height * p.height));
    let range = quantiles(index.collect(), &[5.0, 95.0]);
    Ok(SexModels {
        people: people.len(),
        body_mass_index: [range[0], range[1]],
        models: PREDICTORS.iter().map(fit).collect::<Result<_, _>>()?,
    })
}

/// What models that have not seen a person predict of each \[kg\]: cross-validation over people of one sex. None if the predictors
/// depend on each other.
pub fn unseen_predictions(people: &[MeasuredAdult], predictors: &[Predictor]) -> Option<Vec<f64>> {
    let mut found = vec![0.0; people.len()];
    for fold in 0..FOLDS {
        let others = people.iter().enumerate().filter(|(i, _)| i % FOLDS != fold);
        let model = least_squares(others.map(|(_, p)| p), predictors)?;
        for (found, person) in (found.iter_mut().zip(people)).skip(fold).step_by(FOLDS) {
            *found = model.fat_mass(&known(person))?;
        }
    }
    Some(found)
}

/// A model of all people, with the errors of models that have not seen the person.
fn cross_validated(people: &[MeasuredAdult], predictors: &[Predictor]) -> Option<LinearModel> {
    let found = unseen_predictions(people, predictors)?;
    let errors: Vec<f64> = (found.iter().zip(people))
        .map(|(found, person)| found - person.fat_mass)
        .collect();
    let count = people.len() as f64;
    let mean = people.iter().map(|p| p.fat_mass).sum::<f64>() / count;
    let variance = people
        .iter()
        .map(|p| (p.fat_mass - mean).powi(2))
        .sum::<f64>()
        / count;
    let squared = errors.iter().map(|e| e * e).sum::<f64>() / count;
    Some(LinearModel {
        mean_error: errors.iter().map(|e| e.abs()).sum::<f64>() / count,
        deviation: squared.sqrt(),
        r_squared: 1.0 - squared / variance,
        ..least_squares(people.iter(), predictors)?
    })
}

fn known(person: &MeasuredAdult) -> Predictors {
    Predictors {
        height: person.height,
        weight: person.weight,
        waist: Some(person.waist),
        age: Some(person.age),
    }
}

/// Normal equations about the means, by Cholesky; none if they are singular.
fn least_squares<'a>(
    people: impl Iterator<Item = &'a MeasuredAdult> + Clone,
    predictors: &[Predictor],
) -> Option<LinearModel> {
    let row = |person: &MeasuredAdult| -> Option<Vec<f64>> {
        let known = known(person);
        let mut row: Vec<f64> = predictors
            .iter()
            .map(|p| known.get(*p))
            .collect::<Option<_>>()?;
        row.push(person.fat_mass);
        Some(row)
    };
    let rows: Vec<Vec<f64>> = people.map(row).collect::<Option<_>>()?;
    let width = predictors.len() + 1;
    let mean = |k: usize| rows.iter().map(|r| r[k]).sum::<f64>() / rows.len() as f64;
    let means: Vec<f64> = (0..width).map(mean).collect();
    let product = |i: usize, j: usize| -> f64 {
        rows.iter()
            .map(|r| (r[i] - means[i]) * (r[j] - means[j]))
            .sum()
    };
    let matrix: Vec<Vec<f64>> = (0..width)
        .map(|i| (0..width).map(|j| product(i, j)).collect())
        .collect();
    let coefficients = solve_positive(&matrix, predictors.len())?;
    let explained: f64 = coefficients.iter().zip(&means).map(|(c, m)| c * m).sum();
    Some(LinearModel {
        predictors: predictors.to_vec(),
        intercept: means[width - 1] - explained,
        coefficients,
        mean_error: 0.0,
        deviation: 0.0,
        r_squared: 0.0,
    })
}

/// Solves the leading n × n block against column n of a symmetric positive definite matrix by Gaussian elimination.
fn solve_positive(matrix: &[Vec<f64>], n: usize) -> Option<Vec<f64>> {
    let mut a: Vec<Vec<f64>> = matrix.iter().take(n).cloned().collect();
    for k in 0..n {
        // A pivot that all but vanishes against its diagonal entry means columns that depend on each other.
        if a[k][k].is_nan() || a[k][k] <= 1e-10 * matrix[k][k] {
            return None;
        }
        let pivot = a[k].clone();
        for row in a.iter_mut().skip(k + 1) {
            let factor = row[k] / pivot[k];
            row.iter_mut()
                .zip(&pivot)
                .for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * x[j]).sum();
        x[k] = (a[k][n] - known) / a[k][k];
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composition::read_table;

    /// People whose fat is an exact linear function of the rest.
    fn made(sex: Sex, count: usize) -> Vec<MeasuredAdult> {
        let person = |i: usize| {
            let part = |k: usize| ((i * k) % 97) as f64 / 97.0;
            let (age, height, waist) = (
                20.0 + 40.0 * part(31),
                1.5 + 0.5 * part(17),
                0.6 + 0.6 * part(57),
            );
            let weight = 40.0 + 60.0 * part(41);
            let fat_mass = 5.0 - 7.0 * height + 0.3 * weight + 12.0 * waist + 0.05 * age;
            MeasuredAdult {
                sex,
                age,
                height,
                weight,
                waist,
                fat_mass,
            }
        };
        (0..count).map(person).collect()
    }

    #[test]
    fn exact_relations_are_found() {
        let people = [made(Sex::Male, 150), made(Sex::Female, 150)].concat();
        let regressors = fit_regressors(&people, "made").unwrap();
        let model = &regressors.male.models[0];
        assert!((model.intercept - 5.0).abs() < 1e-5);
        for (found, exact) in model.coefficients.iter().zip([-7.0, 0.3, 12.0, 0.05]) {
            assert!((found - exact).abs() < 1e-9, "{found} {exact}");
        }
        assert!(model.mean_error < 1e-9 && model.r_squared > 1.0 - 1e-12);
        // Without what decides it, the error is that of the missing predictor.
        assert!(regressors.male.models[3].mean_error > 1.0);
        let again = Regressors::from_toml(&regressors.to_toml()).unwrap();
        assert_eq!(again, regressors);
    }

    #[test]
    fn too_few_and_dependent_people_are_refused() {
        let men = made(Sex::Male, 150);
        let few = fit_regressors(&men, "men").unwrap_err();
        assert!(matches!(
            few,
            TableError::TooFew {
                sex: "female",
                count: 0,
                ..
            }
        ));
        let mut same = [men, made(Sex::Female, 150)].concat();
        same.iter_mut().for_each(|p| p.waist = 0.5 * p.height);
        assert!(matches!(
            fit_regressors(&same, "same"),
            Err(TableError::Singular { .. })
        ));
    }

    #[test]
    fn embedded_models_are_those_of_the_data_and_hold_their_lines() {
        let embedded = Regressors::embedded();
        for (sex, line) in [(Sex::Female, 2.1), (Sex::Male, 2.3)] {
            let model = &embedded.of(sex).models[1];
            assert!(model.mean_error <= line, "{sex:?} {}", model.mean_error);
        }
        let path = "../../../shared/data/composition/nhanes_dxa.csv";
        let Ok(csv) = std::fs::read_to_string(path) else {
            assert!(std::env::var_os("CI").is_none(), "{path} is missing");
            println!("skipped: {path} is missing");
            return;
        };
        let fitted = fit_regressors(&read_table(&csv).unwrap(), &embedded.source).unwrap();
        assert_eq!(fitted.to_toml(), include_str!("../../assets/fat_mass.toml"));
    }
}
