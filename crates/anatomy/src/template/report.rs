//! What building a template found: times, placement, nesting, volumes beside the literature.

use std::fmt;

use serde::Serialize;

use crate::bones::PlacementReport;
use crate::layers::LayerMeasures;
use crate::template::build::{MuscleSource, Step};
use crate::template::musculature::given_muscles::GivenNotes;
use crate::template::musculature::volumes::{body_mass, literature_legs, literature_volume};
use crate::template::places::zones::Zone;
use crate::template::wrapping::enclosure::Enclosure;
use crate::template::wrapping::wrap::WrapMeasures;
use crate::template::{Group, RiggedMuscle};
use crate::{Body, Bone};

/// Measures of a build.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BuildReport {
    /// Seconds of each step.
    pub seconds: Vec<(Step, f64)>,
    /// What was noticed of the bones and mended.
    pub bone_notes: Vec<String>,
    /// What was done with given muscles.
    pub muscle_notes: GivenNotes,
    /// Bones in the body.
    pub placement: PlacementReport,
    /// The wrap.
    pub wrap: WrapMeasures,
    /// Nesting, prisms, alignment, volumes of layers.
    pub layers: LayerMeasures,
    /// Vertices of wrapped bones in the skeleton surface.
    pub bones_in_surface: Enclosure,
    /// Vertices of the wrap in the skeleton surface.
    pub wrap_in_surface: Enclosure,
    /// Volumes of muscles and bones.
    pub muscles: MuscleReport,
    /// Factors on the table's fat thickness; none where muscles were given.
    pub fat_scales: Vec<(Zone, f64)>,
}

/// Volumes beside the literature.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MuscleReport {
    /// Mass of the body with the average share of fat \[kg\].
    pub body_kg: f64,
    /// All muscles \[l\].
    pub volume_l: f64,
    /// What Janssen et al. found for the mass \[l\].
    pub literature_l: f64,
    /// Muscles of the legs with the buttocks \[l\].
    pub legs_l: f64,
    /// The same of the reference man, by the bodies' muscle \[l\].
    pub literature_legs_l: f64,
    /// All bones \[l\].
    pub bones_l: f64,
    /// By group: found, and of the atlas for the body's mass \[l\].
    pub groups: Vec<GroupVolume>,
}

/// Volume of a group.
#[derive(Clone, Debug, Serialize)]
pub struct GroupVolume {
    /// The group.
    pub group: &'static str,
    /// Found \[l\].
    pub volume_l: f64,
    /// The atlas' reference man, scaled to the body's muscle \[l\]; none where muscles were given.
    pub atlas_l: Option<f64>,
}

/// Volumes of muscles beside the literature.
pub fn muscle_report(
    body: &Body,
    source: &MuscleSource,
    muscles: &[RiggedMuscle],
    bones: &[Bone],
) -> MuscleReport {
    let atlas = match source {
        MuscleSource::Atlas(atlas) => Some(atlas),
        MuscleSource::Meshes(_) => None,
    };
    let mass = body_mass(body.mesh.signed_volume(), body.sex);
    let literature = literature_volume(mass, body.sex);
    let volume_of = |group: Group| -> f64 {
        let own = muscles.iter().filter(|muscle| muscle.group == group);
        own.map(|muscle| muscle.volume).sum()
    };
    let of = |group: Group| {
        let reference = atlas.map(|atlas| {
            let sum = |wanted: &dyn Fn(Group) -> bool| -> f64 {
                let entries = atlas.entries.iter().filter(|entry| wanted(entry.group));
                entries.map(|entry| entry.volume).sum()
            };
            1e3 * literature * sum(&|other| other == group) / sum(&|_| true).max(f64::MIN_POSITIVE)
        });
        GroupVolume {
            group: group.name(),
            volume_l: 1e3 * volume_of(group),
            atlas_l: reference,
        }
    };
    MuscleReport {
        body_kg: mass,
        volume_l: 1e3 * muscles.iter().map(|muscle| muscle.volume).sum::<f64>(),
        literature_l: 1e3 * literature,
        legs_l: 1e3 * (volume_of(Group::UpperLeg) + volume_of(Group::LowerLeg)),
        literature_legs_l: 1e3 * literature_legs(mass, body.sex),
        bones_l: 1e3
            * bones
                .iter()
                .map(|bone| bone.mesh.signed_volume())
                .sum::<f64>(),
        groups: Group::ALL.into_iter().map(of).collect(),
    }
}

impl fmt::Display for BuildReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: f64 = self.seconds.iter().map(|(_, seconds)| seconds).sum();
        write!(f, "built in {total:.1} s:")?;
        for (step, seconds) in &self.seconds {
            write!(f, " {} {seconds:.1}", step.name())?;
        }
        writeln!(f)?;
        let (vertices, out) = (self.placement.outside.values())
            .fold((0, 0), |(all, out), region| {
                (all + region.vertices, out + region.outside)
            });
        let gap = self.placement.gaps.values().copied().fold(0.0, f32::max);
        writeln!(
            f,
            "bones     {:.2} l, {out} of {vertices} vertices outside the skin, widest joint {:.1} mm",
            self.muscles.bones_l,
            1e3 * gap
        )?;
        let percent = |enclosure: &Enclosure| 100.0 * enclosure.inside;
        writeln!(
            f,
            "wrap      genus {}, {:.1} l; skeleton surface holds {:.1} % of it and {:.1} % of the bones, the rest at most {:.1} mm out",
            self.wrap.genus,
            1e3 * self.wrap.volume,
            percent(&self.wrap_in_surface),
            percent(&self.bones_in_surface),
            1e3 * self
                .wrap_in_surface
                .farthest
                .max(self.bones_in_surface.farthest)
        )?;
        let layers = &self.layers;
        writeln!(
            f,
            "layers    {} vertices, {} + {} outside, {} + {} of {} prisms inverted, alignment {:.3} mean, {:.3} for 95 %",
            layers.layered,
            layers.muscle_outside,
            layers.skeleton_outside,
            layers.inverted_fat,
            layers.inverted_muscle,
            layers.prisms,
            layers.alignment.mean,
            layers.alignment.p95
        )?;
        writeln!(
            f,
            "fat layer {:.1} l, muscle layer {:.1} l",
            1e3 * layers.fat_volume,
            1e3 * layers.muscle_volume
        )?;
        if !self.fat_scales.is_empty() {
            let factor = |(zone, factor): &(Zone, f64)| format!("{} {factor:.2}", zone.name());
            let factors: Vec<String> = self.fat_scales.iter().map(factor).collect();
            writeln!(f, "fat       times {}", factors.join(", "))?;
        }
        let muscles = &self.muscles;
        write!(
            f,
            "muscles   {:.1} l; a body of {:.0} kg has {:.1} l (Janssen et al. 2000); legs {:.1} l, {:.1} l in the literature",
            muscles.volume_l,
            muscles.body_kg,
            muscles.literature_l,
            muscles.legs_l,
            muscles.literature_legs_l
        )?;
        for group in muscles.groups.iter().filter(|group| group.volume_l > 0.0) {
            write!(f, "\n  {:<12} {:6.2} l", group.group, group.volume_l)?;
            if let Some(atlas) = group.atlas_l {
                write!(f, ", atlas {atlas:.2} l")?;
            }
        }
        let notes = &self.muscle_notes;
        if !notes.outside.is_empty() {
            let shown: Vec<&str> = notes.outside.iter().take(4).map(String::as_str).collect();
            let more = if notes.outside.len() > 4 { ", …" } else { "" };
            write!(
                f,
                "\n{} muscles lie mostly outside the skin and were left out: {}{more}",
                notes.outside.len(),
                shown.join(", ")
            )?;
        }
        if !notes.pulled_in.is_empty() {
            let count: usize = notes.pulled_in.iter().map(|(_, count)| count).sum();
            write!(
                f,
                "\n{count} vertices of {} muscles were outside the skin and moved below it",
                notes.pulled_in.len()
            )?;
        }
        Ok(())
    }
}
