//! How ten measures are distributed among real men and women, and what follows from it: the sex of a body, and clothes.
//!
//! ANSUR II (Gordon 2014) measured 6,068 soldiers by tape. Logarithms of the measures of each sex are taken as spread by
//! Student's t with one covariance for both sexes. Soldiers are fitter than the public and a scan is not a tape: the covariance is
//! widened along fatness (`FATNESS`) and by errors of measuring ([`MEASURES`]), and the tails are heavy (`FREEDOM`), so that odds
//! shrink where nobody was measured.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use supple_geom::dense::DenseSymmetric;

use super::Measures;
use crate::Sex;

/// Number of measures.
const COUNT: usize = 10;
/// A measure of the skin \[m\].
type Measure = fn(&Measures) -> f64;
/// The measures, and the standard deviation between ours and ANSUR's of the same person \[m\]: registration, posture, hair on the
/// stature, and definitions. ANSUR's neck lies at the larynx and ours is the smallest girth, so its error is the largest: 0.01 lets a
/// neck alone decide, at 0.03 it says nothing and one person in six is undecided.
pub const MEASURES: [(&str, f64, Measure); COUNT] = [
    ("height", 0.015, |m| m.height),
    ("crotch_height", 0.02, |m| m.crotch_height),
    ("neck", 0.018, |m| m.neck),
    ("chest", 0.02, |m| m.chest),
    ("waist", 0.01, |m| m.waist),
    ("hip", 0.015, |m| m.hip),
    ("thigh", 0.012, |m| m.thigh),
    ("calf", 0.008, |m| m.calf),
    ("ankle", 0.008, |m| m.ankle),
    ("wrist", 0.008, |m| m.wrist),
];
/// Factor on the variance along the measures' main direction within a sex, which is fatness (waist, thigh, chest; hardly the height). At 1
/// a body mass index of 45 is beyond all soldiers; beyond 9 it is free.
const FATNESS: f64 = 4.0;
/// Degrees of freedom of Student's t. With 4 nobody is sure, beyond 30 bodies unlike any soldier are.
const FREEDOM: f64 = 10.0;
/// Ways to be dressed: names, and which of [`MEASURES`] they make larger.
const CLOTHES: [(&str, &[usize]); 5] = [
    ("legs", &[5, 6, 7, 8]),
    ("trunk", &[3, 4, 5]),
    ("trunk and thighs", &[3, 4, 5, 6]),
    ("trunk and legs", &[3, 4, 5, 6, 7, 8]),
    ("trunk, arms and legs", &[3, 4, 5, 6, 7, 8, 9]),
];
/// Thicknesses of cloth that are tried \[m\].
const THICKNESSES: [f64; 6] = [0.005, 0.008, 0.01, 0.015, 0.02, 0.03];
/// Gain in log-likelihood from which clothes are named. Of 400 soldiers that nothing was fitted to, measured with half of the errors above,
/// 1.5 % are above; of the same in a shirt and trousers 10 mm off the skin 97 %, in a shirt and shorts 11 %. At 4, 0.5, 92 and 4 %.
pub const NOTICED: f64 = 3.0;
/// Gain at which somebody is as likely dressed as not: the best of thirty ways to be dressed gains something by chance (1.7 at the 95th
/// percentile of the bare).
const EVEN: f64 = 3.5;

/// Means of both sexes and the covariance within a sex, of the logarithms of measures in metres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Who was measured.
    pub source: String,
    /// Names of the measures.
    pub measures: Vec<String>,
    /// Means of men.
    pub male: Vec<f64>,
    /// Means of women.
    pub female: Vec<f64>,
    /// Covariance within a sex, both together, row by row.
    pub covariance: Vec<Vec<f64>>,
}

/// Girths that clothes explain and people do not.
#[derive(Clone, Debug, PartialEq)]
pub struct Clothes {
    /// What they cover.
    pub on: &'static str,
    /// How far they stand off the skin \[m\].
    pub thickness: f64,
    /// Gain in log-likelihood.
    pub evidence: f64,
}

impl Clothes {
    /// Whether they are to be named.
    pub fn are_noticed(&self) -> bool {
        self.evidence > NOTICED
    }

    /// Probability that there are any.
    pub fn probability(&self) -> f64 {
        1.0 / (1.0 + (EVEN - self.evidence).exp())
    }
}

/// A distribution made ready for use.
struct Prepared {
    /// Of men and women.
    means: [[f64; COUNT]; 2],
    precision: [[f64; COUNT]; COUNT],
}

fn soldiers() -> &'static Prepared {
    static PREPARED: OnceLock<Prepared> = OnceLock::new();
    PREPARED.get_or_init(|| {
        let text = include_str!("../../assets/soldiers.toml");
        // The asset is part of the program; a test reads it.
        let distribution: Distribution = toml::from_str(text).expect("the embedded soldiers");
        Prepared::of(&distribution).expect("a covariance is positive definite")
    })
}

impl Prepared {
    fn of(distribution: &Distribution) -> Option<Prepared> {
        let row = |values: &[f64]| <[f64; COUNT]>::try_from(values).ok();
        let means = [row(&distribution.male)?, row(&distribution.female)?];
        let mut covariance = DenseSymmetric::zero(COUNT);
        for (k, values) in distribution.covariance.iter().enumerate().take(COUNT) {
            for (j, value) in row(values)?.into_iter().enumerate().skip(k) {
                covariance.add_at(k, j, value);
            }
        }
        for (k, (_, error, _)) in MEASURES.iter().enumerate() {
            let middle = 0.5 * (means[0][k] + means[1][k]);
            covariance.add_at(k, k, (error / middle.exp()).powi(2));
        }
        let (variance, direction) = main_direction(&covariance);
        let wider: Vec<f64> = (direction.iter())
            .map(|d| d * ((FATNESS - 1.0) * variance).sqrt())
            .collect();
        covariance.add_outer(&wider);
        let factor = covariance.factorise().ok()?;
        let mut precision = [[0.0; COUNT]; COUNT];
        for (k, row) in precision.iter_mut().enumerate() {
            row[k] = 1.0;
            factor.solve(row);
        }
        Some(Prepared { means, precision })
    }

    /// Squared distance of Mahalanobis from the mean of a sex.
    fn distance(&self, logs: &[f64; COUNT], sex: Sex) -> f64 {
        let off: [f64; COUNT] = std::array::from_fn(|k| logs[k] - self.means[sex as usize][k]);
        (off.iter().zip(&self.precision))
            .map(|(a, row)| a * row.iter().zip(&off).map(|(p, b)| p * b).sum::<f64>())
            .sum()
    }

    /// Logarithm of Student's density, but for a constant.
    fn density(&self, logs: &[f64; COUNT], sex: Sex) -> f64 {
        -0.5 * (FREEDOM + COUNT as f64) * (self.distance(logs, sex) / FREEDOM).ln_1p()
    }
}

/// Largest variance and its direction, by the power method.
fn main_direction(covariance: &DenseSymmetric) -> (f64, [f64; COUNT]) {
    let (mut variance, mut direction) = (0.0, [1.0; COUNT]);
    for _ in 0..100 {
        let turned = covariance.multiply(&direction);
        variance = turned.iter().map(|x| x * x).sum::<f64>().sqrt();
        direction = std::array::from_fn(|k| turned[k] / variance);
    }
    (variance, direction)
}

/// Logarithms of the mean measures; none if one is no length.
fn logs(measures: &[Measures]) -> Option<[f64; COUNT]> {
    let count = measures.len() as f64;
    let mean = |of: Measure| measures.iter().map(|m| of(m).ln()).sum::<f64>() / count;
    let found = MEASURES.map(|(.., of)| mean(of));
    found.iter().all(|x| x.is_finite()).then_some(found)
}

/// Logarithm of the odds that a body is a man's, at even odds before. Several measures of one body are averaged. Zero if a
/// measure is missing.
pub fn log_odds_of_man(measures: &[Measures]) -> f64 {
    let people = soldiers();
    logs(measures).map_or(0.0, |logs| {
        people.density(&logs, Sex::Male) - people.density(&logs, Sex::Female)
    })
}

/// The clothes that explain girths best: those whose thickness brings the measures nearest to either sex; none if bare skin does.
pub fn clothes(measures: &Measures) -> Option<Clothes> {
    let people = soldiers();
    let bare = logs(std::slice::from_ref(measures))?;
    let nearest = |logs: &[f64; COUNT]| {
        let of = |sex| people.distance(logs, sex);
        f64::min(of(Sex::Male), of(Sex::Female))
    };
    let mut best: Option<Clothes> = None;
    for (on, larger) in CLOTHES {
        for thickness in THICKNESSES {
            let mut undressed = bare;
            for &k in larger {
                let girth = bare[k].exp() - std::f64::consts::TAU * thickness;
                undressed[k] = girth.max(0.05).ln();
            }
            let evidence = 0.5 * (nearest(&bare) - nearest(&undressed));
            if evidence > best.as_ref().map_or(0.0, |b| b.evidence) {
                best = Some(Clothes {
                    on,
                    thickness,
                    evidence,
                });
            }
        }
    }
    best
}

/// The distribution of people by their sex and their measures \[m\], in the order of [`MEASURES`].
pub fn distribution(people: &[(Sex, [f64; COUNT])], source: &str) -> Distribution {
    let digits = |x: f64| format!("{x:.6}").parse().unwrap_or(x);
    let of_sex = |sex: Sex| {
        people
            .iter()
            .filter(move |p| p.0 == sex)
            .map(|p| p.1.map(f64::ln))
    };
    let means = [Sex::Male, Sex::Female].map(|sex| {
        let count = of_sex(sex).count().max(1) as f64;
        let mut mean = [0.0; COUNT];
        for row in of_sex(sex) {
            (0..COUNT).for_each(|k| mean[k] += row[k] / count);
        }
        mean
    });
    let mut covariance = vec![vec![0.0; COUNT]; COUNT];
    for (sex, row) in people {
        let mean = means[*sex as usize];
        let off: [f64; COUNT] = std::array::from_fn(|k| row[k].ln() - mean[k]);
        for (values, a) in covariance.iter_mut().zip(off) {
            for (value, b) in values.iter_mut().zip(off) {
                *value += a * b / people.len() as f64;
            }
        }
    }
    Distribution {
        source: source.to_owned(),
        measures: MEASURES.iter().map(|m| m.0.to_owned()).collect(),
        male: means[0].map(digits).to_vec(),
        female: means[1].map(digits).to_vec(),
        covariance: covariance
            .into_iter()
            .map(|row| row.into_iter().map(|x| digits(100.0 * x) / 100.0).collect())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measures in centimetres, in the order of [`MEASURES`].
    fn somebody(cm: [f64; COUNT]) -> Measures {
        let m = cm.map(|x| 0.01 * x);
        Measures {
            height: m[0],
            crotch_height: m[1],
            neck: m[2],
            chest: m[3],
            waist: m[4],
            hip: m[5],
            thigh: m[6],
            calf: m[7],
            ankle: m[8],
            wrist: m[9],
            ..Measures::default()
        }
    }

    /// Means of the soldiers, and a heavy man who is heavier than nearly all of them.
    const MAN: [f64; COUNT] = [
        175.6, 84.6, 39.8, 105.9, 94.1, 102.0, 62.5, 39.2, 22.9, 17.6,
    ];
    const WOMAN: [f64; COUNT] = [162.8, 78.2, 33.0, 94.7, 86.1, 102.1, 61.6, 37.3, 21.6, 15.5];
    const HEAVY_MAN: [f64; COUNT] = [
        176.0, 82.0, 46.0, 128.0, 128.0, 124.0, 74.0, 45.0, 26.0, 19.5,
    ];

    #[test]
    fn typical_and_heavy_people_are_told_apart_and_people_between_are_not() {
        assert!(log_odds_of_man(&[somebody(MAN)]) > 4.0);
        assert!(log_odds_of_man(&[somebody(WOMAN)]) < -4.0);
        assert!(log_odds_of_man(&[somebody(HEAVY_MAN)]) > 2.2);
        let between = std::array::from_fn(|k| 0.5 * (MAN[k] + WOMAN[k]));
        assert!(log_odds_of_man(&[somebody(between)]).abs() < 1.0);
        // Somebody unlike any soldier is not decided by the neck alone.
        let mut odd = MAN;
        (odd[3], odd[5], odd[6]) = (150.0, 80.0, 90.0);
        let clear = log_odds_of_man(&[somebody(MAN)]);
        assert!(log_odds_of_man(&[somebody(odd)]).abs() < clear);
        assert_eq!(log_odds_of_man(&[Measures::default()]), 0.0);
    }

    #[test]
    fn trousers_are_noticed_and_fat_is_not() {
        for bare in [MAN, WOMAN, HEAVY_MAN] {
            let found = clothes(&somebody(bare));
            assert!(found.is_none_or(|found| !found.are_noticed()));
            let mut dressed = bare;
            for k in [3, 4, 5, 6, 7, 8] {
                dressed[k] += 100.0 * std::f64::consts::TAU * 0.012;
            }
            let found = clothes(&somebody(dressed)).unwrap();
            assert!(
                found.are_noticed() && found.probability() > 0.8,
                "{found:?}"
            );
            assert!((0.005..0.02).contains(&found.thickness), "{found:?}");
        }
    }
}
