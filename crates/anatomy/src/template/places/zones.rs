//! Parts of the body whose muscle is known by volume: fat is thicker or thinner in each as a whole.

use crate::template::musculature::atlas::{Atlas, Group};
use crate::template::musculature::volumes::{WOMENS_LEGS, literature_legs, literature_volume};
use crate::{Body, Sex};

/// A part of the body with muscle of a known volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// Legs with buttocks.
    Legs,
    /// Arms with shoulders.
    Arms,
    /// Everything else.
    Trunk,
}

/// Number of zones.
pub const ZONES: usize = 3;

impl Zone {
    /// All zones; the trunk is the last.
    pub const ALL: [Zone; ZONES] = [Zone::Legs, Zone::Arms, Zone::Trunk];

    /// The zone that a group belongs to.
    pub fn of(group: Group) -> Zone {
        match group {
            Group::UpperLeg | Group::LowerLeg => Zone::Legs,
            Group::UpperArm | Group::LowerArm | Group::Shoulder => Zone::Arms,
            Group::Chest | Group::Abdomen | Group::Back | Group::Neck | Group::Feet => Zone::Trunk,
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Zone::Legs => "legs",
            Zone::Arms => "arms",
            Zone::Trunk => "trunk",
        }
    }

    /// Beginnings of the names of the joints that move its skin.
    fn joints(self) -> &'static [&'static str] {
        match self {
            Zone::Legs => &["upperleg", "lowerleg", "foot", "toe"],
            Zone::Arms => &["upperarm", "lowerarm", "wrist", "finger", "metacarpal"],
            Zone::Trunk => &[],
        }
    }
}

/// How much of each skin vertex is in each zone.
pub fn zone_shares(body: &Body) -> Vec<[f32; ZONES]> {
    let weights = Zone::ALL.map(|zone| {
        body.weight_on(|name| zone.joints().iter().any(|joint| name.starts_with(joint)))
    });
    (0..body.mesh.positions.len())
        .map(|v| {
            let [legs, arms, _] = [0, 1, 2].map(|zone: usize| weights[zone][v]);
            [legs, arms, (1.0 - legs - arms).max(0.0)]
        })
        .collect()
}

/// Share of the muscle below the waist of men and women (Janssen et al. 2000). The lowest of the trunk is in it.
const BELOW_WAIST: [f64; 2] = [0.549, 0.577];

/// Weight of that share against the reference man's legs. By it alone legs are 7 % heavier than his; without it thighs are thinner than BodyParts3D's.
const WAIST_WEIGHT: f64 = 0.7;

/// Volumes of the muscles of each zone in a body of a mass \[kg\], both sides together \[m³\]. Legs are between the reference man's, by the
/// bodies' muscle, and the share below the waist; arms are the atlas'.
pub fn zone_volumes(atlas: &Atlas, mass: f64, sex: Sex) -> [f64; ZONES] {
    let sum = |wanted: &dyn Fn(Group) -> bool| -> f64 {
        let own = atlas.entries.iter().filter(|entry| wanted(entry.group));
        own.map(|entry| 2e-6 * entry.volume).sum()
    };
    let all = literature_volume(mass, sex);
    let of_all = all / sum(&|_| true).max(f64::MIN_POSITIVE);
    // Where women have more below the waist they have less above.
    let above = if sex == Sex::Male {
        1.0
    } else {
        1.0 / WOMENS_LEGS
    };
    let below = BELOW_WAIST[usize::from(sex == Sex::Female)];
    let legs = WAIST_WEIGHT * below * all + (1.0 - WAIST_WEIGHT) * literature_legs(mass, sex);
    let arms = above * of_all * sum(&|group| Zone::of(group) == Zone::Arms);
    [legs, arms, (all - legs - arms).max(0.0)]
}
