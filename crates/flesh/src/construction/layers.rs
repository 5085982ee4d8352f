//! Layers given from outside: a muscle surface and a skeleton surface below the skin [4.3.3].
//!
//! A layered body brings its own inner surfaces instead of a bone surface shrunk onto capsules. All three surfaces have one
//! connectivity: vertex i of the muscle surface and of the skeleton surface lies below vertex i of the skin. Fat lies between
//! skin and muscle surface, muscle between muscle surface and skeleton surface. Where a vertex has no layers (head, hands,
//! toes) the tissue is the two-layer one.

use glam::{DVec3, Vec3};
use supple_geom::adjacency::NONE;
use supple_rig::Character;

use crate::FleshError;
use crate::construction::body::Body;
use crate::construction::rest_skin::RestSkin;
use crate::motion::holds::Weights;
use crate::motion::sliding_core::Core;
use crate::settings::Settings;

/// Inner surfaces of a character's skin, as plain data. All lists have one entry for each layered vertex of the skin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenLayers {
    /// The part of the character that has layers.
    pub part: usize,
    /// Vertices of that part.
    pub vertices: Vec<u32>,
    /// Muscle surface in bind pose, in the world \[m\].
    pub muscle: Vec<Vec3>,
    /// Skeleton surface in bind pose, in the world \[m\].
    pub skeleton: Vec<Vec3>,
    /// Whether a vertex has layers; elsewhere the surfaces are not read.
    pub layered: Vec<bool>,
    /// Joints of the skeleton, and their weights, that the skeleton surface follows by linear blend.
    pub influences: Vec<Vec<(u32, f32)>>,
    /// Whether the skeleton surface is held by its joints; elsewhere, in sliding regions, it is free.
    pub held: Vec<bool>,
    /// Whether bowels lie between the muscle surface and the skeleton surface.
    pub hollow: Vec<bool>,
    /// Whether bones lie right below the skeleton surface though it is free, as along the spine. Its tissue is as firm as if it were held.
    pub on_bone: Vec<bool>,
}

/// A material of the tissue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Between skin and muscle surface.
    Fat,
    /// Between muscle surface and skeleton surface.
    Muscle,
    /// Between a free skeleton surface and the [points](crate::motion::sliding_core) below it.
    Core,
    /// Between skin and bone surface, where there are no layers.
    Whole,
}

/// The layers at the columns of the simulation mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnLayers {
    /// Which columns have layers.
    pub layered: Vec<bool>,
    /// Muscle surface \[m\]; the skin where there are no layers.
    pub muscle: Vec<DVec3>,
    /// Skeleton surface \[m\]; the skin where there are no layers.
    pub skeleton: Vec<DVec3>,
    /// Joints that the skeleton surface follows, with weights that sum to one.
    pub influences: Vec<Weights>,
    /// Whether the skeleton surface is held.
    pub held: Vec<bool>,
    /// Whether bowels lie in front of it.
    pub hollow: Vec<bool>,
    /// Whether it is free but has bones right below it.
    pub on_bone: Vec<bool>,
    /// Driven points below the free skeleton surface.
    pub cores: Vec<Core>,
}

/// Depth of the skeleton surface, relative to the character's size, below which a vertex has no layers: 0.9 mm. Layers end
/// where the skeleton surface meets the skin, and prisms thinner than this are too stiff for a time step.
const LEAST_DEPTH: f64 = 5e-4;

/// Passes that smooth the stiffness at the edge of soft regions. Without, single vertices of the edge stand out; at 5 the belly of a
/// heavy woman is held by the pelvis around it (it swings 20 % less).
const PASSAGE: usize = 1;

impl GivenLayers {
    /// Rejects lists of different lengths, indices out of range and numbers that are not finite.
    pub fn check(&self, character: &Character) -> Result<(), FleshError> {
        let fail = |reason: String| Err(FleshError::Layers(reason));
        let Some(part) = character.parts.get(self.part) else {
            return fail(format!(
                "they belong to part {}, which the character does not have",
                self.part
            ));
        };
        let count = self.vertices.len();
        for (name, length) in [
            ("muscle", self.muscle.len()),
            ("skeleton", self.skeleton.len()),
            ("layered", self.layered.len()),
            ("influences", self.influences.len()),
            ("held", self.held.len()),
            ("hollow", self.hollow.len()),
            ("on_bone", self.on_bone.len()),
        ] {
            if length != count {
                return fail(format!(
                    "`{name}` has {length} entries for {count} vertices"
                ));
            }
        }
        let limit = part.mesh.positions.len();
        if let Some(vertex) = self.vertices.iter().find(|&&v| v as usize >= limit) {
            return fail(format!(
                "vertex {vertex} is not one of the {limit} of part `{}`",
                part.name
            ));
        }
        for v in (0..count).filter(|&v| self.layered[v]) {
            if !(self.muscle[v].is_finite() && self.skeleton[v].is_finite()) {
                return fail(format!("the position of vertex {v} is not finite"));
            }
            let joints = character.skeleton.len();
            let is_sound = |&(joint, weight): &(u32, f32)| {
                (joint as usize) < joints && weight >= 0.0 && weight.is_finite()
            };
            let list = &self.influences[v];
            let sum: f32 = list.iter().map(|&(_, weight)| weight).sum();
            if self.held[v] && !(list.iter().all(is_sound) && sum > 0.0) {
                return fail(format!(
                    "the weights of vertex {v} are not those of a held vertex"
                ));
            }
        }
        Ok(())
    }

    /// The layers at the columns of a simulation mesh. `welded_of` is the welded vertex of each column.
    pub(crate) fn at_columns(
        &self,
        body: &Body,
        skin: &RestSkin,
        welded_of: impl Fn(usize) -> u32,
    ) -> ColumnLayers {
        let mut of_welded = vec![NONE; body.welded.mesh.positions.len()];
        for (i, &vertex) in self.vertices.iter().enumerate() {
            let original = body.starts[self.part] + vertex as usize;
            of_welded[body.welded.welded_from_original[original] as usize] = i as u32;
        }
        let least = LEAST_DEPTH * skin.size();
        let mut columns = ColumnLayers {
            muscle: skin.positions.clone(),
            skeleton: skin.positions.clone(),
            layered: vec![false; skin.len()],
            influences: vec![Vec::new(); skin.len()],
            held: vec![false; skin.len()],
            hollow: vec![false; skin.len()],
            on_bone: vec![false; skin.len()],
            cores: Vec::new(),
        };
        for column in 0..skin.len() {
            let Some(i) = Some(of_welded[welded_of(column) as usize] as usize)
                .filter(|&i| i < self.layered.len() && self.layered[i])
            else {
                continue;
            };
            let skeleton = self.skeleton[i].as_dvec3();
            if skin.positions[column].distance(skeleton) < least {
                continue;
            }
            columns.layered[column] = true;
            columns.muscle[column] = self.muscle[i].as_dvec3();
            columns.skeleton[column] = skeleton;
            columns.held[column] = self.held[i];
            columns.hollow[column] = self.hollow[i];
            columns.on_bone[column] = self.on_bone[i];
            let sum: f64 = self.influences[i].iter().map(|&(_, w)| f64::from(w)).sum();
            columns.influences[column] = (self.influences[i].iter())
                .filter(|&&(_, weight)| weight > 0.0)
                .map(|&(joint, weight)| (joint, f64::from(weight) / sum))
                .collect();
        }
        columns
    }
}

impl ColumnLayers {
    /// Columns that have layers.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        (0..self.layered.len()).filter(|&column| self.layered[column])
    }

    /// Whether the skeleton surface of a column is free.
    pub fn is_free(&self, column: usize) -> bool {
        self.layered[column] && !self.held[column]
    }

    /// Stiffness factors of columns: `deep` where bones lie below, `plain` where the skeleton surface is free, times the
    /// [tension](crate::settings::Layers::tense_depth) of the wall where bowels lie below.
    pub(crate) fn stiffness_factors(
        &self,
        settings: &Settings,
        skin: &RestSkin,
        plain: &[f64],
        deep: &[f64],
    ) -> Vec<f64> {
        let is_soft = |column: usize| self.is_free(column) && !self.on_bone[column];
        let mut soft: Vec<f64> = (0..skin.len())
            .map(|column| f64::from(u8::from(is_soft(column))))
            .collect();
        for _ in 0..PASSAGE {
            let mean = |column: usize| {
                let ring = skin.ring(column);
                let sum: f64 = ring.iter().map(|&v| soft[v as usize]).sum();
                (sum + soft[column]) / (ring.len() + 1) as f64
            };
            soft = (0..skin.len()).map(mean).collect();
        }
        let tense_depth = settings.layers.tense_depth * skin.size();
        let tension = |column: usize| {
            let depth = skin.positions[column].distance(self.skeleton[column]);
            match self.hollow[column] {
                true => (tense_depth / depth.max(f64::MIN_POSITIVE)).powi(4).clamp(
                    settings.layers.least_tension,
                    settings.tissue.deep_stiffness,
                ),
                false => 1.0,
            }
        };
        let firm = |column: usize| match self.on_bone[column] {
            true => deep[column] * settings.layers.back_stiffness,
            false => deep[column],
        };
        (plain.iter().zip(&soft).enumerate())
            .map(|(v, (plain, soft))| firm(v) + (plain * tension(v) - firm(v)) * soft)
            .collect()
    }

    /// Writes the skeleton surface into a bone surface.
    pub(crate) fn put_skeleton(&self, bone: &mut [DVec3]) {
        for column in self.columns() {
            bone[column] = self.skeleton[column];
        }
    }
}
