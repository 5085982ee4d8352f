//! Factors of a model's weights, to change between steps without building the model anew.

use crate::{MaterialFactors, Model, SolveError};

/// What the weights of each type of constraint are multiplied by; one by default.
///
/// A fit that lowers its bending in tenths [4.2.2] changes these between calls: the backend then renews the numbers of its
/// factor and keeps its ordering and pattern. Zero switches a type off.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Weights {
    /// Tet strain.
    pub strain: f64,
    /// Tet volume.
    pub volume: f64,
    /// Springs.
    pub springs: f64,
    /// Bending.
    pub bending: f64,
    /// Polyhedra.
    pub polyhedra: f64,
    /// All soft anchors.
    pub anchors: f64,
    /// Each material by itself, on top of [`Weights::strain`] and [`Weights::volume`], in the order of
    /// [`Model::materials`]; empty: one.
    pub each_material: Vec<MaterialFactors>,
    /// Each soft anchor by itself, on top of [`Weights::anchors`]; empty: one.
    pub each_anchor: Vec<f64>,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            strain: 1.0,
            volume: 1.0,
            springs: 1.0,
            bending: 1.0,
            polyhedra: 1.0,
            anchors: 1.0,
            each_material: Vec::new(),
            each_anchor: Vec::new(),
        }
    }
}

impl Weights {
    /// The factor of soft anchor `i`.
    pub fn anchor(&self, i: usize) -> f64 {
        self.anchors * self.each_anchor.get(i).unwrap_or(&1.0)
    }

    /// The factors of a material.
    pub fn material(&self, index: u16) -> MaterialFactors {
        let found = self.each_material.get(index as usize);
        found.copied().unwrap_or_default()
    }

    /// Sets the factors of the materials of a name; whether the model has one.
    pub fn set_material(&mut self, model: &Model, name: &str, factors: MaterialFactors) -> bool {
        let materials = model.materials();
        self.each_material
            .resize(materials.len(), MaterialFactors::default());
        let named = materials.iter().zip(&mut self.each_material);
        let mut is_found = false;
        for (_, own) in named.filter(|(material, _)| material.name == name) {
            *own = factors;
            is_found = true;
        }
        is_found
    }

    /// The factor of the strain of a material's tets.
    pub fn strain_of(&self, material: u16) -> f64 {
        self.strain * self.material(material).strain
    }

    /// The factor of the volume constraints of a material's tets.
    pub fn volume_of(&self, material: u16) -> f64 {
        self.volume * self.material(material).volume
    }

    /// Every factor is finite and not negative, and there are as many of them as anchors.
    pub(crate) fn check(&self, model: &Model) -> Result<(), SolveError> {
        let named = [
            ("weights.strain", self.strain),
            ("weights.volume", self.volume),
            ("weights.springs", self.springs),
            ("weights.bending", self.bending),
            ("weights.polyhedra", self.polyhedra),
            ("weights.anchors", self.anchors),
        ];
        let each = self.each_anchor.iter().map(|&w| ("weights.each_anchor", w));
        let materials = self.each_material.iter().flat_map(|factors| {
            [
                ("weights.each_material strain", factors.strain),
                ("weights.each_material volume", factors.volume),
                ("weights.each_material damping", factors.damping),
            ]
        });
        for (name, value) in named.into_iter().chain(materials).chain(each) {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(SolveError::Weight { name, value });
            }
        }
        for (list, found, expected) in [
            (
                "weights.each_material",
                self.each_material.len(),
                model.materials().len(),
            ),
            (
                "weights.each_anchor",
                self.each_anchor.len(),
                model.anchors().len(),
            ),
        ] {
            if found != 0 && found != expected {
                return Err(SolveError::Length {
                    list,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }
}
