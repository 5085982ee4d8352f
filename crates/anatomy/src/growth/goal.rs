//! What is asked for, and whether a body can have it.

use super::{FatGoal, Growth, GrowthBody, GrowthError};
use crate::Sex;
use crate::composition::estimate::LIPIDS;
use crate::template::FatRegion;

/// Share of a change in fat that is behind the belly's wall, men and women: 10 to 20 % and 5 to 8 % of all fat (Wajchenberg 2000).
const VISCERAL: [f64; 2] = [0.15, 0.07];
/// Share of the trunk in a change of fat, what is among the organs included, men and women: slope of trunk fat over fat, both over squared
/// height, of 1,113 men and 1,104 women by DXA (NHANES 2017–18; `nhanes_dxa.csv`).
const TRUNK: [f64; 2] = [0.57, 0.52];
/// The same of the belly's fat alone.
const VISCERAL_OF_BELLY: [f64; 2] = [0.35, 0.2];
/// Essential fat over weight, men and women.
const ESSENTIAL: [f64; 2] = [0.03, 0.1];
/// Largest body mass index \[kg/m²\].
const LARGEST_INDEX: f64 = 60.0;
/// Most that muscles shrink and grow over their mass: the means of the groups' bounds in `person/muscle_fit.rs`.
const MUSCLE_RANGE: [f64; 2] = [-0.4, 0.45];

/// Where growth was asked for, in words.
pub(super) fn place(regions: &[FatRegion]) -> &'static str {
    match regions {
        [one] => match one {
            FatRegion::Legs => "on the legs",
            FatRegion::Belly => "on the belly",
            FatRegion::Chest => "on the chest",
            FatRegion::Arms => "on the arms",
        },
        [] => "on the whole body",
        _ => "in these regions",
    }
}

/// Share of a change in fat that is behind the belly's wall.
pub(super) fn visceral_share(sex: Sex, growth: &Growth) -> f64 {
    let of = |shares: [f64; 2]| shares[usize::from(sex == Sex::Female)];
    match growth.visceral {
        Some(share) => share.clamp(0.0, 0.9),
        None if growth.regions.is_empty() => of(VISCERAL),
        None if growth.regions == [FatRegion::Belly] => of(VISCERAL_OF_BELLY),
        None if growth.regions.contains(&FatRegion::Belly) => of(VISCERAL),
        None => 0.0,
    }
}

/// Share of the trunk in the change of fat under the skin, if some share is among the organs.
pub(super) fn trunk_share(sex: Sex, visceral: f64) -> f64 {
    let whole = TRUNK[usize::from(sex == Sex::Female)];
    ((whole - visceral) / (1.0 - visceral).max(0.1)).clamp(0.0, 1.0)
}

/// The changes asked for \[kg\], if a body can have them.
pub(super) fn goal(body: &GrowthBody, growth: &Growth) -> Result<[f64; 2], GrowthError> {
    let muscle = growth.muscle;
    let to_weight = |weight: f64| weight - body.weight - muscle;
    let (fat, what) = match growth.fat {
        FatGoal::Change(fat) => (fat, "the change of fat"),
        FatGoal::Weight(weight) => (to_weight(weight), "the weight"),
        FatGoal::BodyMassIndex(index) => (
            to_weight(index * body.height().powi(2)),
            "the body mass index",
        ),
    };
    for (value, what) in [(fat, what), (muscle, "the change of muscle")] {
        if !value.is_finite() {
            return Err(GrowthError::NotFinite { what, more: "" });
        }
    }
    // What is asked for as fat, and what that weighs as tissue.
    let (lipids, tissue) = match growth.fat {
        FatGoal::Change(_) => (fat, fat / LIPIDS),
        _ => (fat * LIPIDS, fat),
    };
    let essential = ESSENTIAL[usize::from(body.anatomy.sex() == Sex::Female)];
    let lean = body.weight - body.fat();
    let least = lean * essential / (1.0 - essential);
    if fat < 0.0 && body.fat() + lipids < least {
        return Err(GrowthError::TooLean {
            fat: body.fat(),
            least,
            most: (body.fat() - least).max(0.0),
            asked: -lipids,
        });
    }
    let square = body.height().powi(2);
    let index = (body.weight + tissue) / square;
    if fat > 0.0 && index > LARGEST_INDEX {
        return Err(GrowthError::TooHeavy {
            asked: lipids,
            index,
            largest: LARGEST_INDEX,
            most: LIPIDS * (LARGEST_INDEX * square - body.weight),
        });
    }
    let own = body.muscle() - body.masses.other_muscle;
    let [least, most] = MUSCLE_RANGE.map(|share| share * own);
    if !(least..=most).contains(&muscle) {
        return Err(GrowthError::Muscle {
            asked: muscle,
            least,
            most,
        });
    }
    Ok([fat, muscle])
}
