//! One skinning method for all parts of a character.

use glam::Affine3A;

use super::{CentersOfRotation, Posed, dual_quaternion, linear_blend};
use crate::{Character, Part};

/// Geometric skinning method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Linear blend skinning, the standard of files and engines.
    #[default]
    Lbs,
    /// Dual quaternions: preserves volume, bulges at bends.
    Dqs,
    /// Optimised centres of rotation: preserves volume without the bulge.
    Cor,
}

/// A skinning method prepared for a character: centres of rotation are computed once.
#[derive(Clone, Debug)]
pub struct Skinner {
    method: Method,
    centers: Vec<CentersOfRotation>,
}

impl Skinner {
    /// Prepares a method for all parts.
    pub fn new(character: &Character, method: Method) -> Self {
        let centers = match method {
            Method::Cor => character
                .parts
                .iter()
                .map(CentersOfRotation::build)
                .collect(),
            Method::Lbs | Method::Dqs => Vec::new(),
        };
        Self { method, centers }
    }

    /// The skinning method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Skins `part`, the character's part number `index`. See [`linear_blend`] for the other arguments.
    pub fn skin(
        &self,
        index: usize,
        part: &Part,
        worlds: &[Affine3A],
        morph_weights: &[f32],
    ) -> Posed {
        match (self.method, self.centers.get(index)) {
            (Method::Cor, Some(centers)) => centers.skin(part, worlds, morph_weights),
            (Method::Cor, None) => CentersOfRotation::build(part).skin(part, worlds, morph_weights),
            (Method::Dqs, _) => dual_quaternion(part, worlds, morph_weights),
            (Method::Lbs, _) => linear_blend(part, worlds, morph_weights),
        }
    }

    /// Skins all parts, given `world_from_joint` of the skeleton, with the parts' rest morph weights.
    pub fn skin_all(&self, character: &Character, worlds: &[Affine3A]) -> Vec<Posed> {
        (character.parts.iter().enumerate())
            .map(|(index, part)| self.skin(index, part, worlds, &part.morph_weights))
            .collect()
    }
}
