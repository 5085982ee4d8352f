//! Volumes of a state of the tissue, and the masses they give.

use super::tissue::{Tissue, TissueMesh};
use crate::person::masses::{FAT_DENSITY, MUSCLE_DENSITY, SKIN_THICKNESS};
use crate::person::{FatPlaces, Masses};

/// What a state of the tissue weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LayerVolumes {
    pub fat_volume: f64,
    pub muscle_volume: f64,
    pub cavity: f64,
    pub area: f64,
}

impl LayerVolumes {
    pub fn of(mesh: &TissueMesh, tissue: &Tissue) -> Self {
        LayerVolumes {
            fat_volume: mesh.fat_volume(tissue),
            muscle_volume: mesh.muscle_volume(tissue),
            cavity: mesh.cavity(tissue),
            area: mesh.skin_area(tissue),
        }
    }

    /// Masses of a body that had other masses at the start.
    pub fn masses(&self, start: &LayerVolumes, masses: &Masses) -> Masses {
        let cavity = self.cavity - start.cavity;
        Masses {
            soft_volume: masses.soft_volume + self.fat_volume + self.muscle_volume
                - start.fat_volume
                - start.muscle_volume,
            places: FatPlaces {
                visceral: masses.places.visceral + FAT_DENSITY * cavity,
                ..masses.places
            },
            skin: masses.skin + FAT_DENSITY * SKIN_THICKNESS * (self.area - start.area),
            rest: masses.rest,
            crotch: masses.crotch,
            cavity: masses.cavity + MUSCLE_DENSITY * cavity,
            other_muscle: masses.other_muscle,
        }
    }
}
