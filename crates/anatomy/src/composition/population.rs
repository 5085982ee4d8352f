//! Where a person stands among the people of a study.

use serde::{Deserialize, Serialize};

use crate::Sex;

/// Percentiles that populations are described by.
pub const PERCENTS: [f64; 7] = [5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0];
/// Percentiles nearer to 0 and 100 are not told apart: no study reaches there.
const OUTERMOST: f64 = 0.1;

/// What a population's percentiles are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Fat mass over weight \[%\].
    FatPercent,
    /// Mass of skeletal muscle \[kg\].
    MuscleMass,
}

/// A study whose percentiles of fat may be asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Study {
    /// NHANES, US adults by dual-energy x-ray: what fat is estimated by.
    Nhanes,
    /// Kyle 2001, healthy Swiss by bioelectrical impedance.
    Kyle,
}

impl Study {
    /// Whether a population's percentiles of fat are of this study. Those that a user's own table gives count as NHANES do: they
    /// are what fat was estimated by.
    pub fn is_of(self, population: &str) -> bool {
        population.starts_with("Kyle") == (self == Study::Kyle)
    }

    /// Keeps of percentiles of fat those of this study.
    pub fn keep(self, percentiles: &mut Vec<Percentile>) {
        percentiles.retain(|p| p.quantity != Quantity::FatPercent || self.is_of(&p.population));
    }

    /// What to know of fat that was estimated on the scale of x-ray beside another study's people; nothing for the study itself.
    pub fn note(self) -> Option<String> {
        (self == Study::Kyle).then(|| {
            "fat is estimated on the scale of x-ray (NHANES); Kyle's people were healthier and measured by impedance, with medians 8 (men) and 11 points (women) lower".to_owned()
        })
    }
}

/// Percentiles of a quantity in a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Population {
    /// Who was measured, where and how.
    pub name: String,
    /// What was measured.
    pub quantity: Quantity,
    /// Which percentiles are given \[%\], ascending.
    pub percents: Vec<f64>,
    /// Their values among women.
    pub female: Vec<f64>,
    /// Their values among men.
    pub male: Vec<f64>,
}

/// A person's place in a population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// The population.
    pub population: String,
    /// What is compared.
    pub quantity: Quantity,
    /// Share of people of the same sex with less \[%\].
    pub percentile: f64,
}

impl Population {
    /// Populations from the literature.
    pub fn published() -> &'static [Population] {
        #[derive(Deserialize)]
        struct File {
            population: Vec<Population>,
        }
        static PUBLISHED: std::sync::OnceLock<Vec<Population>> = std::sync::OnceLock::new();
        PUBLISHED.get_or_init(|| {
            let file: File = toml::from_str(include_str!("../../assets/populations.toml"))
                .expect("the embedded populations are valid; a test reads them");
            file.population
        })
    }

    /// Share of people of a sex with less than `value` \[%\]. Between the given percentiles and beyond them the quantity is
    /// taken as normally distributed: linear in the normal quantile.
    pub fn percentile(&self, sex: Sex, value: f64) -> f64 {
        let values = match sex {
            Sex::Male => &self.male,
            Sex::Female => &self.female,
        };
        let known: Vec<(f64, f64)> = (values.iter().copied())
            .zip(self.percents.iter().map(|p| normal_quantile(0.01 * p)))
            .collect();
        if known.len() < 2 {
            return 50.0;
        }
        let above = known
            .partition_point(|(x, _)| *x < value)
            .clamp(1, known.len() - 1);
        let ((x0, z0), (x1, z1)) = (known[above - 1], known[above]);
        let z = z0 + (z1 - z0) * (value - x0) / (x1 - x0).max(f64::MIN_POSITIVE);
        (100.0 * normal_share(z)).clamp(OUTERMOST, 100.0 - OUTERMOST)
    }
}

/// The values below which the given shares \[%\] of a sample lie, linear between its members.
pub fn quantiles(mut sample: Vec<f64>, percents: &[f64]) -> Vec<f64> {
    sample.sort_by(f64::total_cmp);
    let at = |percent: &f64| {
        let place = 0.01 * percent * sample.len().saturating_sub(1) as f64;
        let low = sample.get(place as usize).copied().unwrap_or(f64::NAN);
        let high = sample.get(place.ceil() as usize).copied().unwrap_or(low);
        low + (high - low) * place.fract()
    };
    percents.iter().map(at).collect()
}

/// Share of a normal distribution below z: Abramowitz and Stegun 7.1.26, error below 2e-7.
fn normal_share(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.3275911 * x);
    let series = [
        0.254829592,
        -0.284496736,
        1.421413741,
        -1.453152027,
        1.061405429,
    ];
    let polynomial = series.iter().rev().fold(0.0, |sum, c| (sum + c) * t);
    let tail = 0.5 * polynomial * (-x * x).exp();
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// Inverse of [`normal_share`] by bisection, within ±8.
fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if normal_share(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_distribution() {
        assert!((normal_share(0.0) - 0.5).abs() < 1e-7);
        assert!((normal_share(1.959964) - 0.975).abs() < 1e-6);
        assert!((normal_quantile(0.05) + 1.644854).abs() < 1e-5);
    }

    #[test]
    fn published_percentiles_are_reproduced_and_ascend() {
        assert!(Population::published().len() >= 2);
        for population in Population::published() {
            for (sex, values) in [
                (Sex::Male, &population.male),
                (Sex::Female, &population.female),
            ] {
                assert_eq!(values.len(), population.percents.len());
                for (value, percent) in values.iter().zip(&population.percents) {
                    assert!((population.percentile(sex, *value) - percent).abs() < 1e-3);
                }
                let share = |k: i32| population.percentile(sex, f64::from(k) * 0.5);
                assert!((0..140).all(|k| share(k) <= share(k + 1)));
                assert_eq!((share(-500), share(500)), (0.1, 99.9));
            }
        }
    }

    #[test]
    fn a_study_keeps_its_own_percentiles_of_fat_and_all_of_muscle() {
        let of = |population: &str, quantity| Percentile {
            population: population.to_owned(),
            quantity,
            percentile: 50.0,
        };
        let all = vec![
            of("NHANES 2017-18", Quantity::FatPercent),
            of("Kyle 2001", Quantity::FatPercent),
            of("Janssen 2000", Quantity::MuscleMass),
        ];
        for (study, name) in [(Study::Nhanes, "NHANES"), (Study::Kyle, "Kyle")] {
            let mut kept = all.clone();
            study.keep(&mut kept);
            assert_eq!(kept.len(), 2);
            assert!(kept[0].population.starts_with(name));
        }
    }

    #[test]
    fn quantiles_of_a_ramp() {
        let ramp = (0..=100).rev().map(f64::from).collect();
        assert_eq!(
            quantiles(ramp, &[0.0, 5.0, 50.0, 100.0]),
            [0.0, 5.0, 50.0, 100.0]
        );
    }
}
