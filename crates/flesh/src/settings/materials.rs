//! The materials of a tissue, as the settings give them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use supple_sim::Material;

use super::Settings;
use crate::construction::layers::Layer;

/// Settings of one material, by its name under `[materials]`. What is left out comes from `[tissue]`, `[layers]` and
/// `[solver]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MaterialSettings {
    /// Stiffness \[Pa\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// Stiffness against change of volume, relative to `stiffness`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_stiffness: Option<f64>,
    /// Time in which a jiggle of this material loses half its velocity \[s\], besides the damping of the solver; 0 turns it off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping_half_life: Option<f64>,
    /// Stiffness factors of this material around a joint's bones, on top of those of all materials. A final `*` matches any
    /// ending.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stiffness_factors: BTreeMap<String, f64>,
}

impl Layer {
    /// All materials, in the order of the model's.
    pub const ALL: [Layer; 4] = [Layer::Whole, Layer::Fat, Layer::Muscle, Layer::Core];

    /// Its name in settings and models.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Whole => "tissue",
            Layer::Fat => "fat",
            Layer::Muscle => "muscle",
            Layer::Core => "sliding",
        }
    }

    /// Index of its material in the model.
    pub fn material(self) -> u16 {
        match self {
            Layer::Whole => 0,
            Layer::Fat => 1,
            Layer::Muscle => 2,
            Layer::Core => 3,
        }
    }
}

impl Settings {
    /// The material of a layer.
    pub fn material(&self, layer: Layer) -> Material {
        let stiffness = match layer {
            Layer::Whole => self.tissue.stiffness,
            Layer::Fat => self.layers.fat_stiffness,
            Layer::Muscle => self.layers.muscle_stiffness,
            Layer::Core => self.layers.sliding_stiffness,
        };
        let own = self.materials.get(layer.name());
        let half_life = own.and_then(|own| own.damping_half_life);
        let volume_stiffness = own.and_then(|own| own.volume_stiffness);
        Material::new(layer.name())
            .stiffness(own.and_then(|own| own.stiffness).unwrap_or(stiffness))
            .volume_stiffness(volume_stiffness.unwrap_or(self.tissue.volume_stiffness))
            .damping(match half_life {
                Some(time) if time > 0.0 => 1.0 / time,
                _ => 0.0,
            })
    }
}
