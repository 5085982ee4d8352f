//! Factors of a model's weights, to change between steps without building the model anew.

use crate::{Model, SolveError};

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
            each_anchor: Vec::new(),
        }
    }
}

impl Weights {
    /// The factor of soft anchor `i`.
    pub fn anchor(&self, i: usize) -> f64 {
        self.anchors * self.each_anchor.get(i).unwrap_or(&1.0)
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
        for (name, value) in named.into_iter().chain(each) {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(SolveError::Weight { name, value });
            }
        }
        let (found, expected) = (self.each_anchor.len(), model.anchors().len());
        if found != 0 && found != expected {
            return Err(SolveError::Length {
                list: "weights.each_anchor",
                found,
                expected,
            });
        }
        Ok(())
    }
}
