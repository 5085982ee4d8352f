//! Bodies of the space with the measures of soldiers, and what their limbs hold beside what is published.

use std::collections::BTreeMap;
use std::fmt;

use glam::Vec3;
use supple_anatomy::Sex;
use supple_anatomy::body_model::BodyModel;
use supple_anatomy::composition::{Composition, Measures};
use supple_anatomy::growth::GrowthBody;
use supple_anatomy::person::{FitReport, published_leg_muscle};
use supple_geom::dense::DenseSymmetric;

use crate::cases::{Case, Source};
use crate::{Base, Failure};

const TABLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/data/composition/ansur2.csv"
);
/// Every so many soldiers of a sex, in the order of their body mass index: 40 and more between the ends.
const PARTS: usize = 40;
/// Body mass indices taken [kg/m²].
const INDICES: std::ops::Range<f64> = 18.0..40.0;

type Measure = fn(&Measures) -> f64;

/// Measures that bodies and soldiers share, and how exactly they are met [m].
const SHARED: [(&str, Measure); 10] = [
    ("height_mm", |m| m.height),
    ("crotch_height_mm", |m| m.crotch_height),
    ("neck_mm", |m| m.neck),
    ("chest_mm", |m| m.chest),
    ("waist_mm", |m| m.waist),
    ("hip_mm", |m| m.hip),
    ("thigh_mm", |m| m.thigh),
    ("calf_mm", |m| m.calf),
    ("ankle_mm", |m| m.ankle),
    ("wrist_mm", |m| m.wrist),
];
const EXACT: f64 = 0.005;
const STEPS: usize = 5;

/// Bodies of each sex, evenly from the lightest to the heaviest for their height: `first` shifts which.
pub fn cases(bases: &[Base; 2], first: usize, count: usize) -> Result<Vec<Case>, Failure> {
    let csv = std::fs::read_to_string(TABLE)?;
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let rows: Vec<BTreeMap<&str, &str>> = lines
        .map(|line| header.iter().copied().zip(line.split(',')).collect())
        .collect();
    let number = |row: &BTreeMap<&str, &str>, name: &str| -> f64 {
        row.get(name)
            .and_then(|text| text.parse().ok())
            .unwrap_or(f64::NAN)
    };
    let index = |row: &BTreeMap<&str, &str>| {
        0.1 * number(row, "weight_hg") / (1e-3 * number(row, "height_mm")).powi(2)
    };
    let mut found = Vec::new();
    for (sex, name) in [(Sex::Male, "male"), (Sex::Female, "female")] {
        let base = &bases[sex as usize];
        let mut own: Vec<_> = rows.iter().filter(|row| row["sex"] == name).collect();
        own.retain(|row| INDICES.contains(&index(row)));
        own.sort_by(|a, b| index(a).total_cmp(&index(b)));
        let (low, high) = (index(own[0]), index(own[own.len() - 1]));
        let shaper = Shaper::new(sex, base);
        for k in 0..count {
            // Evenly over indices, not over people: the ends count as much as the middle.
            let part = ((first + k * PARTS / count) as f64 + 0.5) / PARTS as f64;
            let wanted = low + (high - low) * part.min(1.0);
            let at = own.partition_point(|row| index(row) < wanted);
            let row = own[at.min(own.len() - 1)];
            let wanted: Vec<f64> = SHARED.iter().map(|(c, _)| 1e-3 * number(row, c)).collect();
            let (skin, joints) = shaper.shaped(&wanted);
            found.push(Case {
                name: format!("{name} soldier {at} ({:.1})", index(row)),
                sex,
                source: Source::Own { skin, joints },
                own_masses: None,
            });
        }
    }
    Ok(found)
}

/// Each template in its own skin, with the masses of its own layers.
pub fn themselves(bases: &[Base; 2]) -> Vec<Case> {
    let case = |base: &Base| {
        let template = &base.template;
        let own = GrowthBody::of_anatomy(template).ok()?;
        let worlds = template.body.skeleton.rest_worlds();
        Some(Case {
            name: format!("{:?} itself", template.sex()),
            sex: template.sex(),
            source: Source::Own {
                skin: template.layers.skin.clone(),
                joints: worlds.iter().map(|w| w.translation.into()).collect(),
            },
            own_masses: Some([own.fat(), own.muscle()]),
        })
    };
    bases.iter().filter_map(case).collect()
}

struct Shaper<'a> {
    model: &'static BodyModel,
    base: &'a Base,
    derivatives: Vec<Vec<f64>>,
}

impl<'a> Shaper<'a> {
    fn new(sex: Sex, base: &'a Base) -> Self {
        let model = BodyModel::embedded(sex);
        let mut shaper = Shaper {
            model,
            base,
            derivatives: Vec::new(),
        };
        let columns: Vec<Vec<f64>> = (0..model.field_count())
            .map(|k| {
                let at = |sign: f64| {
                    let mut coefficients = vec![0.0; model.field_count()];
                    coefficients[k] = sign * model.deviations[k];
                    shaper.measures(&coefficients)
                };
                let (more, less) = (at(0.5), at(-0.5));
                SHARED.iter().map(|(_, of)| of(&more) - of(&less)).collect()
            })
            .collect();
        shaper.derivatives = (0..SHARED.len())
            .map(|m| columns.iter().map(|column| column[m]).collect())
            .collect();
        shaper
    }

    fn body(&self, coefficients: &[f64]) -> (Vec<Vec3>, Vec<Vec3>) {
        let rest = self.model.rest_vertices(coefficients);
        let vertices = self.base.template.body.file_vertices.iter();
        let joints = self.model.rest_joints(coefficients);
        (
            vertices.map(|&v| rest[v as usize].as_vec3()).collect(),
            joints.iter().map(|p| p.as_vec3()).collect(),
        )
    }

    fn measures(&self, coefficients: &[f64]) -> Measures {
        let (skin, joints) = self.body(coefficients);
        self.base.tape.measures(&skin, &joints)
    }

    /// Regularised least squares: misses over their tolerance, coefficients over their expected sizes.
    fn shaped(&self, wanted: &[f64]) -> (Vec<Vec3>, Vec<Vec3>) {
        let count = self.model.field_count();
        let deviations = &self.model.deviations;
        let mut coefficients = vec![0.0; count];
        for _ in 0..STEPS {
            let found = self.measures(&coefficients);
            let mut normal = DenseSymmetric::zero(count);
            let mut right: Vec<f64> = (0..count)
                .map(|k| -coefficients[k] / deviations[k])
                .collect();
            for ((row, (_, of)), wanted) in self.derivatives.iter().zip(&SHARED).zip(wanted) {
                let scaled: Vec<f64> = row.iter().map(|d| d / EXACT).collect();
                normal.add_outer(&scaled);
                for (right, d) in right.iter_mut().zip(&scaled) {
                    *right += d * (wanted - of(&found)) / EXACT;
                }
            }
            (0..count).for_each(|k| normal.add_at(k, k, 1.0));
            if let Ok(factor) = normal.factorise() {
                factor.solve(&mut right);
                for k in 0..count {
                    coefficients[k] += right[k] * deviations[k];
                }
            }
        }
        self.body(&coefficients)
    }
}

/// What a person's limbs hold beside what is published.
pub struct Limbs {
    sex: Sex,
    index: f64,
    leg: f64,
    leg_ratio: f64,
    plain_ratio: f64,
    arm: f64,
    thigh: f64,
    calf: f64,
    visceral: f64,
    kappa: f64,
    miss: f64,
    place: f64,
}

impl Limbs {
    pub fn of(sex: Sex, made_of: &Composition, report: &FitReport) -> Self {
        let limbs = &report.limbs;
        let (height, weight) = (made_of.height, made_of.weight.value);
        let masses = &report.masses;
        let plain = 1e-6 * (47.0 * height * weight + 1285.0);
        let tissue = masses.fat / 0.85;
        Limbs {
            sex,
            index: made_of.body_mass_index,
            leg: 1e3 * limbs.leg_muscle,
            leg_ratio: limbs.leg_muscle / published_leg_muscle(height, weight),
            plain_ratio: limbs.leg_muscle / plain,
            arm: 1e3 * limbs.arm_muscle,
            thigh: 100.0 * limbs.thigh.fat_share(),
            calf: 100.0 * limbs.calf.fat_share(),
            visceral: 100.0 * masses.masses.places.visceral / tissue,
            kappa: masses.masses.other_muscle / (height * height),
            miss: (masses.fat - masses.fat_asked)
                .abs()
                .max((masses.muscle - masses.muscle_asked).abs()),
            place: masses.place,
        }
    }
}

impl fmt::Display for Limbs {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "limbs: {:?} {:.1}, leg {:.2} l, of Handsfield {:.2} (weight uncut {:.2}), arm {:.2} l, fat of thigh {:.0} % and calf {:.0} %, visceral {:.1} % of fat, other muscle {:.2} kg/m², masses missed by {:.2} kg, place {:.2}",
            self.sex,
            self.index,
            self.leg,
            self.leg_ratio,
            self.plain_ratio,
            self.arm,
            self.thigh,
            self.calf,
            self.visceral,
            self.kappa,
            self.miss,
            self.place
        )
    }
}

/// Prints how many people are within what is published.
pub fn summary(limbs: &[Limbs]) {
    for sex in [Sex::Male, Sex::Female] {
        let own: Vec<&Limbs> = limbs.iter().filter(|l| l.sex == sex).collect();
        if own.is_empty() {
            continue;
        }
        let median = |of: &dyn Fn(&Limbs) -> f64| {
            let mut values: Vec<f64> = own.iter().map(|l| of(l)).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let share = |of: &dyn Fn(&Limbs) -> bool| {
            100.0 * own.iter().filter(|l| of(l)).count() as f64 / own.len() as f64
        };
        println!(
            "{sex:?}: {} people, medians: leg ratio {:.2} ({:.0} % within 0.85 to 1.15; uncut {:.2}, {:.0} %), arm {:.2} l, thigh {:.0} %, calf {:.0} %, visceral {:.1} %, kappa {:.2}; masses within 1 kg in {:.0} %",
            own.len(),
            median(&|l| l.leg_ratio),
            share(&|l| (0.85..=1.15).contains(&l.leg_ratio)),
            median(&|l| l.plain_ratio),
            share(&|l| (0.85..=1.15).contains(&l.plain_ratio)),
            median(&|l| l.arm),
            median(&|l| l.thigh),
            median(&|l| l.calf),
            median(&|l| l.visceral),
            median(&|l| l.kappa),
            share(&|l| l.miss <= 1.0)
        );
    }
}
