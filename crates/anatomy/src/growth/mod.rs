//! People that gain and lose fat and muscle, in kilograms [4.3.4].
//!
//! The thesis scales the volumes of the fat layer's prisms (4.18) and lets the skin find the shape that bends least. Here the
//! same growth is a flow: [`flow::GrowthFlow`] moves the skin along its smoothed normals in steps of about two kilograms, so that
//! prisms grow in proportion to the fat they hold ([`depots`]), as a balloon under pressure does ([`pressure`]), or by both; the
//! belly's wall bulges with the fat behind it ([`wall`]), muscles grow by their thickness. Each step weighs exactly what it
//! should, stops where skin meets skin ([`clearance`]) and inverts no prism ([`guard`]). The skeleton, head, hands and feet stay.
//!
//! Steps back follow the same rates, so that what was gained is lost in the same places.

pub mod body;
pub mod clearance;
pub mod depots;
pub mod flow;
pub mod goal;
pub mod growth_mask;
pub mod guard;
mod layer_volumes;
pub mod person;
pub mod pressure;
pub mod push_below_skin;
mod report;
pub mod smoothing;
pub mod steps;
#[cfg(test)]
mod tests;
pub mod tissue;
pub mod wall;

use serde::{Deserialize, Serialize};
use supple_geom::sparse::SparseError;

use crate::layers::LayerMeasures;
use crate::person::Masses;
use crate::person::rbf::WarpError;
use crate::template::{FatRegion, LayeredBody};
use crate::{BodyError, Layers};

pub use body::{GrowthBody, own_masses};
pub use flow::GrowthFlow;
pub use person::grown_person;
pub use steps::{GrowthStep, growth_steps};

/// What to change.
#[derive(Clone, Debug, Default)]
pub struct Growth<'a> {
    /// Fat to gain or lose.
    pub fat: FatGoal,
    /// Muscle to gain or, negative, to lose \[kg\].
    pub muscle: f64,
    /// Regions that change; all if empty.
    pub regions: Vec<FatRegion>,
    /// Where fat grows.
    pub method: Method,
    /// A person whose distribution of fat is taken instead of the own.
    pub like: Option<&'a Layers>,
    /// Share of the fat that is gained or lost behind the belly's wall; by sex and region if none is given.
    pub visceral: Option<f64>,
}

/// How much fat to gain or lose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FatGoal {
    /// A change in fat mass \[kg\].
    Change(f64),
    /// A weight to reach \[kg\], with whatever muscle changes.
    Weight(f64),
    /// A body mass index to reach \[kg/m²\].
    BodyMassIndex(f64),
}

impl Default for FatGoal {
    fn default() -> Self {
        FatGoal::Change(0.0)
    }
}

/// Where fat grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Where there is fat already: volumes of prisms times a factor (4.18).
    Volume,
    /// As a balloon under pressure (Saito 2015 as told in [4.3.4]).
    Pressure,
    /// Half of each.
    #[default]
    Both,
}

/// An anatomy after growth.
#[derive(Clone, Debug)]
pub struct Grown {
    /// The anatomy; its bones and joints are those it had.
    pub anatomy: LayeredBody,
    /// Its masses.
    pub masses: Masses,
    /// How it went.
    pub report: GrowthReport,
}

/// What growth did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GrowthReport {
    /// Fat mass before and after \[kg\].
    pub fat: [f64; 2],
    /// Visceral part, behind the belly's wall \[kg\].
    pub visceral: [f64; 2],
    /// Muscle mass before and after \[kg\].
    pub muscle: [f64; 2],
    /// Weight before and after \[kg\].
    pub weight: [f64; 2],
    /// Body mass index before and after \[kg/m²\].
    pub body_mass_index: [f64; 2],
    /// Change of fat mass, or of weight where that was asked for \[kg\]: asked and got.
    pub asked: [f64; 2],
    /// Change of muscle \[kg\]: asked and got.
    pub asked_muscle: [f64; 2],
    /// Steps taken.
    pub steps: usize,
    /// Pairs of crossing triangles of the skin before and after.
    pub crossings: [usize; 2],
    /// Nesting, inversions and volumes after.
    pub layers: LayerMeasures,
    /// Seconds of each part.
    pub seconds: Vec<(&'static str, f64)>,
}

/// Why a body cannot grow.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GrowthError {
    /// More fat to lose than there is.
    #[error(
        "the body has {fat:.1} kg of fat, of which {least:.1} kg are needed to live; it can lose {most:.1} kg, not {asked:.1} kg"
    )]
    TooLean {
        /// Fat mass \[kg\].
        fat: f64,
        /// Essential fat \[kg\].
        least: f64,
        /// Most that can be lost \[kg\].
        most: f64,
        /// What was asked for \[kg\].
        asked: f64,
    },
    /// A weight that no anatomy here can have.
    #[error(
        "{asked:+.1} kg of fat would make a body mass index of {index:.0}; the largest is {largest:.0}, which is {most:+.1} kg"
    )]
    TooHeavy {
        /// What was asked for \[kg\].
        asked: f64,
        /// Its body mass index \[kg/m²\].
        index: f64,
        /// The largest \[kg/m²\].
        largest: f64,
        /// Most that can be gained \[kg\].
        most: f64,
    },
    /// Muscles beyond what the anatomy allows.
    #[error(
        "{asked:+.1} kg of muscle is beyond what this body can have: its muscles may change by {least:+.1} to {most:+.1} kg"
    )]
    Muscle {
        /// What was asked for \[kg\].
        asked: f64,
        /// Most that can be lost, negative \[kg\].
        least: f64,
        /// Most that can be gained \[kg\].
        most: f64,
    },
    /// Growth came to a stop before it was done.
    #[error(
        "growth stopped at {got:+.1} of {asked:+.1} kg of {what} {place}: skin meets skin, or the layer is used up there; ask for less or for more regions"
    )]
    Stalled {
        /// Fat or muscle.
        what: &'static str,
        /// Where.
        place: &'static str,
        /// What was asked for \[kg\].
        asked: f64,
        /// What was reached \[kg\].
        got: f64,
    },
    /// Not a finite number.
    #[error("{what} must be a finite number{more}")]
    NotFinite {
        /// What it is.
        what: &'static str,
        /// What else it must be.
        more: &'static str,
    },
    /// The other person has another connectivity.
    #[error(
        "the person to be like has {found} vertices, this one {expected}; both must come from the embedded templates"
    )]
    OtherMesh {
        /// Its vertices.
        found: usize,
        /// Those of the body.
        expected: usize,
    },
    /// No vertex can move.
    #[error("the body has no layers where it should grow; build the template again")]
    NoLayers,
    /// The rig lacks a required joint.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The surfaces are degenerate.
    #[error("the layers cannot be deformed: {0}; build the template again")]
    Singular(#[from] SparseError),
    /// Muscles cannot be carried along.
    #[error(transparent)]
    Warp(#[from] WarpError),
    /// The balloon cannot be solved.
    #[error("the skin cannot be put under pressure: {0}; use the method 'volume'")]
    Balloon(String),
}

/// Grows an anatomy.
pub fn grown(body: &GrowthBody, growth: &Growth) -> Result<Grown, GrowthError> {
    let mut flow = GrowthFlow::new(body, growth)?;
    flow.advance(1.0)?;
    flow.finish()
}
