//! Muscle of a person's limbs, and fat in sections of thigh and calf, to hold beside what is published of people.

use glam::Vec3;
use serde::{Deserialize, Serialize};
use supple_geom::section::{Plane, section};
use supple_geom::{Adjacency, TriMesh};

use crate::template::{Group, LayeredBody, Side};
use crate::{Body, Layers};

/// Muscles of the shoulder's group and others that Holzbaur et al. (2007) count to the arm though they lie on the trunk.
const OF_THE_ARM: [&str; 2] = ["pectoralis_major", "latissimus_dorsi"];
/// Those of the shoulder's group that they do not.
const NOT_OF_THE_ARM: [&str; 3] = ["trapezius", "levator_scapulae", "rhomboids"];

/// A cross-section of a limb \[m²\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimbSection {
    /// Inside the skin.
    pub whole: f64,
    /// Inside the muscle surface.
    pub lean: f64,
}

impl LimbSection {
    /// Share of the fat layer, skin included.
    pub fn fat_share(&self) -> f64 {
        if self.whole > 0.0 {
            1.0 - self.lean / self.whole
        } else {
            0.0
        }
    }
}

/// A person's limbs; each number is the mean of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimbMeasures {
    /// Muscles of a leg, with buttock and iliopsoas, without the foot \[m³\].
    pub leg_muscle: f64,
    /// Muscles that cross shoulder, elbow or wrist \[m³\].
    pub arm_muscle: f64,
    /// Halfway between hip and knee.
    pub thigh: LimbSection,
    /// At a third between knee and ankle.
    pub calf: LimbSection,
}

/// Muscle of a leg \[m³\] of a person with a height \[m\] and a weight \[kg\]: 47 h m + 1,285 cm³ for the 35 muscles from psoas to
/// toes' flexors, in 24 healthy people of usual weight (Handsfield 2014). Beyond their body mass index of about 28 it counts fat as
/// muscle: the weight is taken up to there.
pub fn published_leg_muscle(height: f64, weight: f64) -> f64 {
    let weight = weight.min(MOST_INDEX * height * height);
    1e-6 * (47.0 * height * weight + 1285.0)
}

/// Body mass index up to which the weight counts in [`published_leg_muscle`] \[kg/m²\].
const MOST_INDEX: f64 = 28.0;

/// Measures the limbs of a template, or of a person fitted from it with its layers, muscles and joints.
pub fn limb_measures(
    template: &LayeredBody,
    layers: &Layers,
    muscles: &[TriMesh],
    joints: &[Vec3],
) -> LimbMeasures {
    let of = |wanted: &dyn Fn(Group, &str) -> bool| -> f64 {
        let own = template.muscles.iter().zip(muscles).filter(|(muscle, _)| {
            let stem = muscle.name.trim_end_matches("_l").trim_end_matches("_r");
            matches!(muscle.side, Some(Side::Left | Side::Right)) && wanted(muscle.group, stem)
        });
        0.5 * own.map(|(_, mesh)| mesh.signed_volume()).sum::<f64>()
    };
    let sections = |first: &str, last: &str, along: f32| {
        limb_section(&template.body, layers, joints, [first, last], along)
    };
    LimbMeasures {
        leg_muscle: of(&|group, _| matches!(group, Group::UpperLeg | Group::LowerLeg)),
        arm_muscle: of(&|group, stem| match group {
            Group::UpperArm | Group::LowerArm => true,
            Group::Shoulder => !NOT_OF_THE_ARM.contains(&stem),
            _ => OF_THE_ARM.contains(&stem),
        }),
        thigh: sections("upperleg01", "lowerleg01", 0.5),
        calf: sections("lowerleg01", "foot", 0.33),
    }
}

fn limb_section(
    body: &Body,
    layers: &Layers,
    joints: &[Vec3],
    [first, last]: [&str; 2],
    along: f32,
) -> LimbSection {
    let mut sum = LimbSection::default();
    let [skin, muscle] = [layers.skin_mesh(), layers.muscle_mesh()];
    let adjacency = Adjacency::new(&skin);
    for side in [".L", ".R"] {
        let at = |name: &str| {
            let joint = body.skeleton.find(&format!("{name}{side}"))?;
            joints.get(joint).copied()
        };
        let (Some(a), Some(b)) = (at(first), at(last)) else {
            continue;
        };
        let plane = Plane {
            point: a.lerp(b, along),
            normal: b - a,
        };
        let area = |mesh: &TriMesh| {
            let found = section(mesh, &adjacency, plane);
            found.nearest(plane.point).map_or(0.0, |l| l.area.abs())
        };
        sum.whole += 0.5 * area(&skin);
        sum.lean += 0.5 * area(&muscle);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_leg_stops_where_its_people_stop() {
        assert!((published_leg_muscle(1.71, 71.8) - 7.06e-3).abs() < 0.02e-3);
        let end = published_leg_muscle(1.7, 28.0 * 1.7 * 1.7);
        assert_eq!(published_leg_muscle(1.7, 150.0), end);
    }
}
