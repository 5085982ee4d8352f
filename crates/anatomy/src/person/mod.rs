//! A template fitted into a person's skin [4.2.4].
//!
//! [`scaled_template`] brings the template's surfaces to the person's height and limb lengths, [`skeleton_fit`] finds the
//! skeleton surface inside the skin, [`muscle_fit`] the average, smallest and largest muscle surface, [`masses`] the one
//! between them that weighs what it should, and [`transfer`] carries bones and muscles along.

pub mod build;
pub mod carried;
pub mod character;
pub mod crotch;
#[cfg(test)]
pub(crate) mod example;
pub mod export;
pub mod fat_places;
pub mod file;
pub mod fit;
pub mod glb;
pub mod info;
pub mod limbs;
pub mod masses;
pub mod muscle_fit;
pub mod rbf;
pub mod record;
pub mod scale;
pub(crate) mod sheet;
pub mod skeleton_fit;
#[cfg(test)]
mod tests;
pub mod transfer;
mod unfold;
mod untangle;

use glam::Vec3;

use crate::template::{Group, LayeredBody};
use crate::{Body, Layers};

pub use build::{Given, GivenFat, PersonError, PreparedTemplate, person_of_scan};
pub use fat_places::FatPlaces;
pub use file::{PersonFileError, load_person, read_person, save_person, write_person};
pub use fit::{FitError, FitReport, PersonFit, fitted_person};
pub use info::{PersonInfo, person_info};
pub use limbs::{LimbMeasures, LimbSection, limb_measures, published_leg_muscle};
pub use masses::{MassReport, Masses, fitted_masses};
pub use muscle_fit::{MuscleRange, muscle_range};
pub use record::{EyesAndTongue, Person, ScanFit};
pub use scale::{Segment, scaled_template};
pub use skeleton_fit::{SkeletonFit, fitted_skeleton};
pub use transfer::{BoneStretch, Transfer};

/// What a person's fit needs of a template.
#[derive(Clone, Copy, Debug)]
pub struct FitTemplate<'a> {
    /// The rigged skin; its vertices are those of the layers.
    pub body: &'a Body,
    /// Skin, muscle surface and skeleton surface.
    pub layers: &'a Layers,
    /// Length of the line from skin to skeleton surface inside muscles \[m\]: how much each vertex of the muscle surface may
    /// move as muscles grow.
    pub thickness: &'a [f32],
    /// The muscle group of each vertex; none where there are no layers.
    pub groups: &'a [Option<Group>],
    /// Whether the belly's wall is below a vertex.
    pub abdomen: &'a [bool],
    /// Whether a vertex belongs to the crotch ([`crotch::crotch`]), where the fat layer holds more than fat.
    pub crotch: &'a [bool],
}

impl<'a> FitTemplate<'a> {
    /// Of a template, and its crotch.
    pub fn new(template: &'a LayeredBody, crotch: &'a [bool]) -> Self {
        FitTemplate {
            body: &template.body,
            layers: &template.layers,
            thickness: &template.thickness,
            groups: &template.regions.group,
            abdomen: &template.regions.abdomen,
            crotch,
        }
    }
}

/// A person's skin in the connectivity and rest pose of a template.
#[derive(Clone, Copy, Debug)]
pub struct PersonSkin<'a> {
    /// Positions of the vertices of [`Body::mesh`] \[m\].
    pub skin: &'a [Vec3],
    /// Positions of the joints of [`Body::skeleton`] \[m\].
    pub joints: &'a [Vec3],
}
