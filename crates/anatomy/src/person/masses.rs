//! The muscle surface between smallest and largest that gives a person the right masses: (4.12) to (4.14).

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};
use supple_geom::TriMesh;

use super::fat_places::{Build, FatPlaces, USUAL_AGE};
use super::muscle_fit::{MuscleRange, on_lines, untangled};
use super::scale::Scaled;
use super::{FitTemplate, PersonSkin};
use crate::Sex;
use crate::composition::estimate::{LIPIDS, air_litres, weight_of_volume};
use crate::growth::smoothing::Smoother;
use crate::layers::prism_volumes;

/// Density of fat tissue \[kg/m³\]: 85 % of lipids at 900 and the rest at 1040; the thesis has 900, that of lipids alone [4.2.4].
pub(crate) const FAT_DENSITY: f64 = 920.0;
/// Density of muscle \[kg/m³\]: Janssen (2000) and Lee (2000) made masses of the volumes that magnetic resonance found with 1040; the
/// thesis has 1100 [4.2.4], with which the estimated mass has 5 % less volume than was measured.
pub(crate) const MUSCLE_DENSITY: f64 = 1040.0;
/// Thickness of the skin itself \[m\] [4.2.4].
pub(crate) const SKIN_THICKNESS: f64 = 2e-3;
/// Muscle that no layer holds (face, tongue, hands, diaphragm, pelvic floor, what lies between ribs and beside the spine inside the
/// skeleton surface) over squared height \[kg/m²\]: least and largest, men and women. The thesis has 1.5 and 1.0, fitted to measured
/// people; the bounds are half and one and a half of that. Masses that were estimated one by one do not add up to a body's volume;
/// within these bounds this term takes the difference, beyond them fat and muscle share it by (4.14), and the report says so.
pub(crate) const OTHER_MUSCLE: [[f64; 2]; 2] = [[0.75, 2.25], [0.5, 1.5]];
/// Fat among the organs of the embedded templates over squared height \[kg/m²\], men and women: their belly has room for it.
const TEMPLATE_VISCERAL: [f64; 2] = [0.99, 0.47];
/// What is neither fat tissue nor muscle over squared height \[kg/m²\] in the embedded templates, men and women: their bones, organs and
/// blood, for which there is room below the layers; and the part of what a body has beyond that which its fat layer holds: fasciae,
/// vessels, blood and thicker skin. Without it the layers of a man with a body mass index of 35 hold 6 kg more than his fat and the
/// largest muscles; with all of it lean men have thighs that are fatter than others'. Of it the fat layer holds 85 %; 75 % were chosen on
/// five men of the measures of soldiers, and that set was not measured again with 85.
const TEMPLATE_REST: [f64; 2] = [6.9, 6.2];
const REST_IN_FAT_LAYER: f64 = 0.85;
/// Fat that is left over the belly's wall where it is pushed out \[m\].
const OVER_WALL: f64 = 5e-3;
/// Steps of the bisection: to a millionth of the range.
const BISECTIONS: usize = 20;

/// Volumes of a person's layers that do not hang on the muscle surface chosen, as masses \[kg\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Masses {
    /// Volume of fat and muscle layer together \[m³\].
    pub soft_volume: f64,
    /// Fat that is not under the skin.
    #[serde(flatten)]
    pub places: FatPlaces,
    /// Skin, which the fat layer includes.
    pub skin: f64,
    /// What the fat layer holds besides fat and skin in a body with more of it than the template has room for elsewhere.
    #[serde(default)]
    pub rest: f64,
    /// What the fat layer holds besides fat at the crotch.
    pub crotch: f64,
    /// Organs in the belly's cavity, which the muscle layer includes.
    pub cavity: f64,
    /// Muscle that no layer holds, κ h².
    pub other_muscle: f64,
}

impl Masses {
    /// Fat mass (4.12), of lipids \[kg\], for a volume of the fat layer \[m³\].
    pub fn fat(&self, fat_volume: f64) -> f64 {
        LIPIDS * self.fat_tissue(fat_volume)
    }

    /// Mass of the fat tissue \[kg\] for a volume of the fat layer \[m³\]: what is lost of the weight with it.
    pub fn fat_tissue(&self, fat_volume: f64) -> f64 {
        FAT_DENSITY * fat_volume + self.places.sum() - self.skin - self.rest - self.crotch
    }

    /// Muscle mass (4.13) \[kg\] for a volume of the fat layer \[m³\].
    pub fn muscle(&self, fat_volume: f64) -> f64 {
        let flesh = self.soft_volume - fat_volume - self.places.within_muscle / FAT_DENSITY;
        MUSCLE_DENSITY * flesh - self.cavity + self.other_muscle
    }

    /// Muscle that no layer holds over squared height \[kg/m²\], if it is at one of its bounds: then fat and muscle do not add up to the
    /// body's volume.
    pub fn other_muscle_at_bound(&self, sex: Sex, height: f64) -> Option<f64> {
        let kappa = self.other_muscle / (height * height);
        let [least, largest] = OTHER_MUSCLE[sex as usize];
        let close = 1e-6 * largest;
        (kappa <= least + close || kappa >= largest - close).then_some(kappa)
    }

    /// The same with as much other muscle as a fat and a muscle mass \[kg\] need, within bounds; volumes of the fat layer are
    /// those that are possible \[m³\].
    fn with_other_muscle(
        self,
        sex: Sex,
        height: f64,
        (fat, muscle): (f64, f64),
        volumes: [f64; 2],
    ) -> Masses {
        let none = Masses {
            other_muscle: 0.0,
            ..self
        };
        let volume = (fat - none.fat(0.0)) / (LIPIDS * FAT_DENSITY);
        let needed = muscle - none.muscle(volume.clamp(volumes[0], volumes[1]));
        let [least, largest] = OTHER_MUSCLE[sex as usize].map(|kappa| kappa * height * height);
        Masses {
            other_muscle: needed.clamp(least, largest),
            ..self
        }
    }

    /// The volume of the fat layer \[m³\] with the least squared error of both masses (4.14).
    pub fn best_fat_volume(&self, fat_mass: f64, muscle_mass: f64) -> f64 {
        let (fat, muscle) = (LIPIDS * FAT_DENSITY, MUSCLE_DENSITY);
        let excess = fat * (fat_mass - self.fat(0.0)) - muscle * (muscle_mass - self.muscle(0.0));
        excess / (fat * fat + muscle * muscle)
    }
}

/// Masses asked for and found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MassReport {
    /// Fat mass asked for \[kg\].
    pub fat_asked: f64,
    /// Fat mass found \[kg\].
    pub fat: f64,
    /// Muscle mass asked for \[kg\].
    pub muscle_asked: f64,
    /// Muscle mass found \[kg\].
    pub muscle: f64,
    /// Fat mass with the largest and the smallest muscles \[kg\].
    pub fat_range: [f64; 2],
    /// Muscle mass with the smallest and the largest muscles \[kg\].
    pub muscle_range: [f64; 2],
    /// Place of the chosen surface: 0 smallest, 1 largest muscles.
    pub place: f64,
    /// What stays the same whatever the surface.
    pub masses: Masses,
}

/// Chooses the muscle surface of a person for a fat and a muscle mass \[kg\]: its positions \[m\], and what they weigh.
pub fn fitted_masses(
    template: &FitTemplate,
    scaled: &Scaled,
    person: &PersonSkin,
    skeleton: &[Vec3],
    range: &MuscleRange,
    (fat_mass, muscle_mass, age): (f64, f64, Option<f64>),
) -> (Vec<Vec3>, MassReport) {
    let build = Build::of(template.body, person.skin, person.joints, age);
    let fat_places = FatPlaces::usual(&build, fat_mass, muscle_mass);
    let start = &range.average;
    let wall = Wall {
        template,
        scaled,
        person,
        skeleton,
    };
    let skin_volume = closed_volume(template, person.skin.to_vec());
    let (sex, square) = (build.sex as usize, build.height * build.height);
    let visceral = (fat_places.visceral - TEMPLATE_VISCERAL[sex] * square).max(0.0);
    let range = &wall.pushed_out(range, visceral / FAT_DENSITY);
    let litres = 1e3 * skin_volume - air_litres(build.sex, build.height, age.unwrap_or(USUAL_AGE));
    let weight = weight_of_volume(litres, |weight| {
        (100.0 * fat_mass / weight).clamp(0.0, 65.0)
    });
    let rest = weight - fat_mass / LIPIDS - muscle_mass - TEMPLATE_REST[sex] * square;
    let places = |place: f64| -> Vec<f64> {
        (range.smallest.iter().zip(&range.largest))
            .map(|(a, b)| a + (b - a) * place)
            .collect()
    };
    let surface = |place: f64| on_lines(&places(place), person.skin, skeleton);
    let volume = |positions: Vec<Vec3>| closed_volume(template, positions);
    let fat_volume = |place: f64| skin_volume - volume(surface(place));
    let (most, least) = (fat_volume(0.0), fat_volume(1.0));
    let masses = Masses {
        places: fat_places,
        rest: REST_IN_FAT_LAYER * rest.clamp(0.0, 0.5 * weight.max(0.0)),
        ..constant_masses(template, person, skeleton, range)
    };
    let masses = masses.with_other_muscle(
        build.sex,
        build.height,
        (fat_mass, muscle_mass),
        [least, most],
    );
    let wanted = masses
        .best_fat_volume(fat_mass, muscle_mass)
        .clamp(least, most);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if fat_volume(middle) > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    // The ends are reached exactly: a clamped mass is that of the smallest or largest muscles themselves.
    let place = match wanted {
        w if w >= most => 0.0,
        w if w <= least => 1.0,
        _ => 0.5 * (low + high),
    };
    // Between two surfaces without inverted prisms there may be one with a few.
    let muscle = on_lines(
        &untangled(template, person, skeleton, start, &places(place)),
        person.skin,
        skeleton,
    );
    let found = skin_volume - volume(muscle.clone());
    let report = MassReport {
        fat_asked: fat_mass,
        fat: masses.fat(found),
        muscle_asked: muscle_mass,
        muscle: masses.muscle(found),
        fat_range: [masses.fat(least), masses.fat(most)],
        muscle_range: [masses.muscle(most), masses.muscle(least)],
        place,
        masses,
    };
    (muscle, report)
}

fn closed_volume(template: &FitTemplate, positions: Vec<Vec3>) -> f64 {
    TriMesh {
        positions,
        triangles: template.layers.triangles.clone(),
    }
    .signed_volume()
}

/// The belly's wall of a person.
struct Wall<'a> {
    template: &'a FitTemplate<'a>,
    scaled: &'a Scaled,
    person: &'a PersonSkin<'a>,
    skeleton: &'a [Vec3],
}

impl Wall<'_> {
    /// The range with the wall pushed out until there is as much more behind it than in the scaled template \[m³\], or as far as the
    /// skin lets it. It goes as a clamped plate under even pressure.
    fn pushed_out(&self, range: &MuscleRange, more: f64) -> MuscleRange {
        let layers = self.template.layers;
        let is_belly: Vec<bool> = (self.template.abdomen.iter().zip(&layers.layered))
            .map(|(belly, layered)| *belly && *layered)
            .collect();
        let belly = |v: u32| is_belly[v as usize];
        let single =
            |positions: &[DVec3]| -> Vec<Vec3> { positions.iter().map(|p| p.as_vec3()).collect() };
        let usual = cavity(
            self.template,
            &single(&self.scaled.muscle),
            &single(&self.scaled.skeleton),
            &belly,
        );
        let skin: Vec<DVec3> = self.person.skin.iter().map(|p| p.as_dvec3()).collect();
        let plate = Smoother::new(&layers.triangles, &skin, &is_belly);
        let count = skin.len();
        let bulge = match plate.free() {
            0 => return range.clone(),
            _ => plate.plate().map(|plate| plate.smooth(&vec![1.0; count])),
        };
        let Ok(bulge) = bulge else {
            return range.clone();
        };
        let largest = bulge.iter().copied().fold(0.0, f64::max).max(1e-300);
        let moved = |places: &[f64], share: f64| -> Vec<f64> {
            let place = |v: usize| {
                let length = f64::from(self.person.skin[v].distance(self.skeleton[v])).max(1e-9);
                let bound = (1.0 - OVER_WALL / length).max(places[v]);
                let plate = (bulge[v] / largest).clamp(0.0, 1.0);
                let way = share * (1.0 - (1.0 - plate).powi(2));
                places[v] + way * (bound - places[v])
            };
            (0..places.len()).map(place).collect()
        };
        let behind = |share: f64| {
            let surface = on_lines(
                &moved(&range.average, share),
                self.person.skin,
                self.skeleton,
            );
            cavity(self.template, &surface, self.skeleton, &belly)
        };
        let wanted = usual + more;
        if behind(0.0) >= wanted {
            return range.clone();
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if behind(middle) < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        MuscleRange {
            smallest: moved(&range.smallest, high),
            average: moved(&range.average, high),
            largest: moved(&range.largest, high),
            ..range.clone()
        }
    }
}

fn constant_masses(
    template: &FitTemplate,
    person: &PersonSkin,
    skeleton: &[Vec3],
    range: &MuscleRange,
) -> Masses {
    let average = on_lines(&range.average, person.skin, skeleton);
    let layers = template.layers;
    let belly = |v: u32| template.abdomen[v as usize] && layers.layered[v as usize];
    let crotch = |v: u32| template.crotch[v as usize] && layers.layered[v as usize];
    let cavity = cavity(template, &average, skeleton, &belly);
    let area: f64 = (layers.triangles.iter())
        .filter(|t| t.iter().any(|&v| layers.layered[v as usize]))
        .map(|t| {
            let [a, b, c] = t.map(|v| person.skin[v as usize].as_dvec3());
            0.5 * (b - a).cross(c - a).length()
        })
        .sum();
    let skin_volume = closed_volume(template, person.skin.to_vec());
    Masses {
        soft_volume: skin_volume - closed_volume(template, skeleton.to_vec()),
        places: FatPlaces::default(),
        rest: 0.0,
        skin: FAT_DENSITY * SKIN_THICKNESS * area,
        crotch: FAT_DENSITY * between(template, person.skin, &average, &crotch),
        cavity: MUSCLE_DENSITY * cavity,
        other_muscle: 0.0,
    }
}

/// Volume of the belly between its wall and the skeleton surface \[m³\].
fn cavity(
    template: &FitTemplate,
    muscle: &[Vec3],
    skeleton: &[Vec3],
    belly: &dyn Fn(u32) -> bool,
) -> f64 {
    // The wall is as thick as the template's muscles there, or as the line is long.
    let wall: Vec<Vec3> = (0..muscle.len())
        .map(|v| {
            let line = skeleton[v] - muscle[v];
            muscle[v] + line.clamp_length_max(template.thickness[v])
        })
        .collect();
    between(template, &wall, skeleton, belly)
}

/// Volume between two surfaces over the triangles whose corners are all chosen \[m³\].
fn between(
    template: &FitTemplate,
    outer: &[Vec3],
    inner: &[Vec3],
    chosen: &dyn Fn(u32) -> bool,
) -> f64 {
    let at = |positions: &[Vec3], v: u32| positions[v as usize].as_dvec3();
    (template.layers.triangles.iter())
        .filter(|t| t.iter().all(|&v| chosen(v)))
        .map(|t| {
            prism_volumes(*t, |v| at(outer, v), |v| at(inner, v))
                .iter()
                .sum::<f64>()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masses() -> Masses {
        Masses {
            soft_volume: 0.045,
            places: FatPlaces {
                visceral: 1.0,
                within_muscle: 2.0,
                ..FatPlaces::default()
            },
            skin: 3.0,
            rest: 1.0,
            crotch: 0.5,
            cavity: 8.0,
            other_muscle: 4.5,
        }
    }

    #[test]
    fn best_volume_is_the_minimum_of_the_squared_error() {
        let m = masses();
        let error = |v: f64| (m.fat(v) - 14.0).powi(2) + (m.muscle(v) - 25.0).powi(2);
        let best = m.best_fat_volume(14.0, 25.0);
        assert!(error(best) < error(best + 1e-5) && error(best) < error(best - 1e-5));
    }

    #[test]
    fn masses_that_fit_together_are_met_exactly() {
        let m = masses();
        let v = 0.017;
        assert!((m.best_fat_volume(m.fat(v), m.muscle(v)) - v).abs() < 1e-12);
        // What leaves the fat layer enters the muscle layer, and the volumes add up.
        let fat_volume =
            (m.fat(v) / LIPIDS - m.places.sum() + m.skin + m.rest + m.crotch) / FAT_DENSITY;
        let muscle_volume = (m.muscle(v) + m.cavity - m.other_muscle) / MUSCLE_DENSITY;
        let within = m.places.within_muscle / FAT_DENSITY;
        assert!((fat_volume + muscle_volume + within - m.soft_volume).abs() < 1e-12);
    }
}
