//! Where a person's fat lies besides under the skin: among the organs, between and in the muscles, in the bones' marrow, and in head,
//! hands and feet, which have no layers.
//!
//! DXA's fat mass is lipids of the whole body; the fat layer holds what is left of its tissue. The numbers are means of published
//! people, not of bodies that were fitted here. As a check, marrow taken off, the tissue is what magnetic resonance finds: a man of
//! 80 kg and 1.77 m with a waist of 92 cm has 21.0 kg by Al-Gindan et al. (2016), and 21.0 kg here with 25 % of fat.

use glam::Vec3;
use serde::{Deserialize, Serialize};
use supple_geom::section::{Plane, section};
use supple_geom::{Adjacency, TriMesh};

use crate::composition::estimate::LIPIDS;
use crate::composition::tape::{NAVEL, tape_around};
use crate::{Body, Sex};

/// Share of the fat tissue that is among the organs at the usual waist and age. Men: 18.3 % in 27 men of a mean age of 41 and a body mass
/// index of 28.5 (Ross 1992); 10 to 20 % (Wajchenberg 2000). Women: 5 to 8 % (Wajchenberg 2000).
const VISCERAL: [f64; 2] = [0.15, 0.065];
/// The same: by how much for each unit of waist over height beyond 0.52 and for each year beyond 40. Waist is the best single predictor
/// of the amount, age of its share (Ross 1992; Swainson 2017 for waist over height). The slopes are chosen: the heaviest of Ross' men had 8.5 of 59.3 l among the organs,
/// so that men's may not be steep.
const VISCERAL_BY_WAIST: [f64; 2] = [0.15, 0.12];
const VISCERAL_BY_YEAR: [f64; 2] = [0.0015, 0.0006];
const VISCERAL_RANGE: [[f64; 2]; 2] = [[0.10, 0.20], [0.05, 0.08]];
const USUAL_WAIST: f64 = 0.52;
pub(crate) const USUAL_AGE: f64 = 40.0;
/// Fat between and within the muscles over their mass, at 21 and 71 years: quadriceps of 15 young and 15 old people, 4.8 and 9.5 %
/// (Yoshiko 2017; hamstrings have 8.6 and 14.3 %).
const WITHIN_MUSCLE: [(f64, f64); 2] = [(21.0, 0.048), (71.0, 0.095)];
/// Yellow marrow over squared height \[kg/m²\]: 2.48 kg in the reference man of 1.76 m, 1.80 kg in the woman of 1.63 m (ICRP 89: all
/// marrow 3.65 and 2.70 kg less red marrow).
const MARROW: [f64; 2] = [0.80, 0.68];
/// Fat tissue of head, hands and feet over squared height \[kg/m²\]: 12 % of the weight of the reference man (Dempster 1955), of which
/// DXA takes 17 % for lipids.
const HEAD_HANDS_FEET: f64 = 0.55;
/// Most of the fat tissue that is anywhere but under the skin. Of 27 men, the leanest had 6.3 of 6.9 l under it, marrow apart, the heaviest
/// 49.8 of 59.3 l (Ross 1992): lean people have less of it in the other places too.
const MOST: f64 = 0.4;

/// Fat tissue that is not under the skin \[kg\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FatPlaces {
    /// Among the organs.
    pub visceral: f64,
    /// Between and within the muscles; the muscle layer holds it.
    pub within_muscle: f64,
    /// In the bones' marrow.
    pub marrow: f64,
    /// In head, hands and feet.
    pub head_hands_feet: f64,
}

/// What the places of a person's fat hang on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Build {
    /// Sex.
    pub sex: Sex,
    /// Height \[m\].
    pub height: f64,
    /// Waist circumference over height.
    pub waist: f64,
    /// Age \[years\], if it is known.
    pub age: Option<f64>,
}

impl Build {
    /// Measures a skin in the connectivity and pose of a body, with its joints \[m\].
    pub fn of(body: &Body, skin: &[Vec3], joints: &[Vec3], age: Option<f64>) -> Self {
        let mesh = TriMesh {
            positions: skin.to_vec(),
            triangles: body.mesh.triangles.clone(),
        };
        let bounds = mesh.bounds();
        let height = bounds.size().y;
        let root = body.skeleton.find("root");
        let mut point = (root.and_then(|joint| joints.get(joint).copied())).unwrap_or(Vec3::ZERO);
        point.y = bounds.min.y + NAVEL * height;
        let plane = Plane {
            point,
            normal: Vec3::Y,
        };
        let waist = tape_around(&section(&mesh, &Adjacency::new(&mesh), plane), point);
        Build {
            sex: body.sex,
            height: f64::from(height),
            waist: waist / f64::from(height).max(1e-9),
            age,
        }
    }
}

impl FatPlaces {
    /// The usual places of a fat mass (lipids) in a body with a muscle mass \[kg\].
    pub fn usual(build: &Build, fat_mass: f64, muscle_mass: f64) -> Self {
        let tissue = (fat_mass / LIPIDS).max(0.0);
        let square = build.height * build.height;
        let places = FatPlaces {
            visceral: tissue * visceral_share(build),
            within_muscle: muscle_mass.max(0.0) * within_muscle(build.age),
            marrow: MARROW[build.sex as usize] * square,
            head_hands_feet: HEAD_HANDS_FEET * square,
        };
        let share = places.sum() / tissue.max(1e-9);
        places.scaled((MOST / share.max(1e-9)).min(1.0))
    }

    /// The usual places in a body whose fat layer holds some fat tissue \[kg\].
    pub fn around(build: &Build, under_skin: f64, muscle_mass: f64) -> Self {
        // The share elsewhere is at most a half, so that each step takes off half of the error.
        let mut places = FatPlaces::default();
        for _ in 0..40 {
            places = Self::usual(build, LIPIDS * (under_skin + places.sum()), muscle_mass);
        }
        places
    }

    /// All of it \[kg\].
    pub fn sum(&self) -> f64 {
        self.visceral + self.within_muscle + self.marrow + self.head_hands_feet
    }

    fn scaled(self, factor: f64) -> Self {
        FatPlaces {
            visceral: factor * self.visceral,
            within_muscle: factor * self.within_muscle,
            marrow: factor * self.marrow,
            head_hands_feet: factor * self.head_hands_feet,
        }
    }
}

/// Share of a body's fat tissue that is among its organs.
pub fn visceral_share(build: &Build) -> f64 {
    let sex = build.sex as usize;
    let share = VISCERAL[sex]
        + VISCERAL_BY_WAIST[sex] * (build.waist - USUAL_WAIST)
        + VISCERAL_BY_YEAR[sex] * (build.age.unwrap_or(USUAL_AGE) - USUAL_AGE);
    share.clamp(VISCERAL_RANGE[sex][0], VISCERAL_RANGE[sex][1])
}

fn within_muscle(age: Option<f64>) -> f64 {
    let [(young, least), (old, most)] = WITHIN_MUSCLE;
    let along = (age.unwrap_or(USUAL_AGE) - young) / (old - young);
    least + (most - least) * along.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(sex: Sex) -> Build {
        Build {
            sex,
            height: if sex == Sex::Male { 1.77 } else { 1.63 },
            waist: 0.52,
            age: None,
        }
    }

    #[test]
    fn usual_people_have_their_fat_where_it_is_published() {
        let man = FatPlaces::usual(&build(Sex::Male), 20.0, 33.0);
        let tissue = 20.0 / LIPIDS;
        assert!((0.10..=0.20).contains(&(man.visceral / tissue)));
        // Adipose tissue by magnetic resonance, Al-Gindan 2016: 0.198 w + 0.478 waist − 0.147 h − 12.8.
        let published = 0.198 * 80.0 + 0.478 * 92.0 - 0.147 * 177.0 - 12.8;
        assert!((tissue - man.marrow - published).abs() < 0.5);
        let woman = FatPlaces::usual(&build(Sex::Female), 24.0, 21.0);
        assert!((0.05..=0.08).contains(&(woman.visceral / (24.0 / LIPIDS))));
        assert!(man.sum() / tissue > woman.sum() / (24.0 / LIPIDS));
    }

    #[test]
    fn the_lean_keep_most_of_their_fat_under_the_skin_and_the_old_have_more_within() {
        let man = build(Sex::Male);
        let places_of = |fat: f64| FatPlaces::usual(&man, fat, 33.0);
        let lean = FatPlaces::usual(&man, 4.0, 38.0);
        assert!((lean.sum() - 0.4 * 4.0 / LIPIDS).abs() < 1e-9);
        let old = Build {
            age: Some(70.0),
            ..man
        };
        let (young, old) = (
            FatPlaces::usual(&man, 20.0, 30.0),
            FatPlaces::usual(&old, 20.0, 30.0),
        );
        assert!(old.visceral > young.visceral && old.within_muscle > young.within_muscle);
        let around = FatPlaces::around(&man, 20.0 / LIPIDS - places_of(20.0).sum(), 33.0);
        assert!((around.sum() - places_of(20.0).sum()).abs() < 1e-6);
        let wide = Build { waist: 0.9, ..man };
        assert_eq!(visceral_share(&wide), 0.20);
    }
}
