//! What grows: an anatomy with its masses and its weight.

use glam::DVec3;
use supple_geom::TriMesh;

use super::GrowthError;
use super::tissue::{Tissue, TissueMesh};
use crate::composition::estimate::{air_litres, siri_density};
use crate::layers::prism_volumes;
use crate::person::Masses;
use crate::person::crotch::crotch;
use crate::person::fat_places::{Build, FatPlaces};
use crate::person::masses::{FAT_DENSITY, MUSCLE_DENSITY, SKIN_THICKNESS};
use crate::{LayeredBody, Sex};

/// Muscle that no layer holds over squared height \[kg/m²\], men and women (4.13): the thesis' κ.
const OTHER_MUSCLE: [f64; 2] = [1.5, 1.0];
/// Age for the air in the lungs \[years\], where nobody knows it.
const USUAL_AGE: f64 = 40.0;

/// An anatomy that can grow.
#[derive(Clone, Copy, Debug)]
pub struct GrowthBody<'a> {
    /// The anatomy.
    pub anatomy: &'a LayeredBody,
    /// What its layers weigh.
    pub masses: Masses,
    /// Weight \[kg\].
    pub weight: f64,
}

impl<'a> GrowthBody<'a> {
    /// An anatomy whose masses and weight follow from its layers, such as a template itself.
    pub fn of_anatomy(anatomy: &'a LayeredBody) -> Result<Self, GrowthError> {
        let masses = own_masses(anatomy)?;
        let weight = own_weight(anatomy, &masses);
        Ok(GrowthBody {
            anatomy,
            masses,
            weight,
        })
    }

    /// Fat mass (4.12) \[kg\].
    pub fn fat(&self) -> f64 {
        self.masses.fat(fat_volume(self.anatomy))
    }

    /// Muscle mass (4.13) \[kg\].
    pub fn muscle(&self) -> f64 {
        self.masses.muscle(fat_volume(self.anatomy))
    }

    /// Height \[m\].
    pub fn height(&self) -> f64 {
        height(self.anatomy)
    }

    /// Weight over squared height \[kg/m²\].
    pub fn body_mass_index(&self) -> f64 {
        self.weight / self.height().powi(2)
    }
}

fn height(anatomy: &LayeredBody) -> f64 {
    f64::from(anatomy.layers.skin_mesh().bounds().size().y)
}

fn fat_volume(anatomy: &LayeredBody) -> f64 {
    let mesh = TissueMesh::new(anatomy);
    mesh.fat_volume(&Tissue::of(anatomy))
}

/// Masses of an anatomy by itself, with the usual places of the fat that is not under the skin.
pub fn own_masses(anatomy: &LayeredBody) -> Result<Masses, GrowthError> {
    let mesh = TissueMesh::new(anatomy);
    let tissue = Tissue::of(anatomy);
    let crotch = crotch(&anatomy.body)?;
    let layers = &anatomy.layers;
    let is_crotch = |v: u32| crotch[v as usize] && layers.layered[v as usize];
    let at = |points: &[DVec3], v: u32| points[v as usize];
    let crotch_volume: f64 = (layers.triangles.iter())
        .filter(|t| t.iter().all(|&v| is_crotch(v)))
        .map(|t| {
            let tets = prism_volumes(*t, |v| at(&tissue.skin, v), |v| at(&tissue.muscle, v));
            tets.iter().sum::<f64>()
        })
        .sum();
    let kappa = match anatomy.sex() {
        Sex::Male => OTHER_MUSCLE[0],
        Sex::Female => OTHER_MUSCLE[1],
    };
    let mut masses = Masses {
        soft_volume: mesh.fat_volume(&tissue) + mesh.muscle_volume(&tissue),
        places: FatPlaces::default(),
        rest: 0.0,
        skin: FAT_DENSITY * SKIN_THICKNESS * mesh.skin_area(&tissue),
        crotch: FAT_DENSITY * crotch_volume,
        cavity: MUSCLE_DENSITY * mesh.cavity(&tissue),
        other_muscle: kappa * height(anatomy).powi(2),
    };
    let worlds = anatomy.body.skeleton.rest_worlds();
    let joints: Vec<_> = worlds.iter().map(|w| w.translation.into()).collect();
    let build = Build::of(&anatomy.body, &layers.skin, &joints, None);
    let volume = mesh.fat_volume(&tissue);
    masses.places = FatPlaces::around(&build, masses.fat_tissue(volume), masses.muscle(volume));
    Ok(masses)
}

/// Weight of an anatomy from the volume inside its skin less air, with the density of its fat percentage \[kg\] [4.2.3].
fn own_weight(anatomy: &LayeredBody, masses: &Masses) -> f64 {
    let skin = TriMesh {
        positions: anatomy.layers.skin.clone(),
        triangles: anatomy.layers.triangles.clone(),
    };
    let air = air_litres(anatomy.sex(), height(anatomy), USUAL_AGE);
    let litres = 1000.0 * skin.signed_volume() - air;
    let fat = masses.fat(fat_volume(anatomy));
    let mut weight = litres;
    for _ in 0..20 {
        weight = litres * siri_density((100.0 * fat / weight).clamp(3.0, 65.0));
    }
    weight
}
