//! All steps from a person's skin to a layered person.

use glam::Vec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use supple_geom::sparse::SparseError;
use supple_geom::{Surface, TriMesh};

use super::crotch::crotch;
use super::limbs::{LimbMeasures, limb_measures};
use super::masses::{MassReport, fitted_masses};
use super::muscle_fit::muscle_range;
use super::scale::scaled_template;
use super::skeleton_fit::fitted_skeleton;
use super::transfer::{BoneStretch, Transfer, bone_stretch, warped, warped_bone};
use super::unfold::unfolded_skin;
use super::{FitTemplate, PersonSkin};
use crate::clock::Clock;
use crate::layers::LayerMeasures;
use crate::progress::Progress;
use crate::template::LayeredBody;
use crate::{BodyError, Layers, Sex};

/// Share of the time after each step, for progress bars.
const STEP_ENDS: [(&str, f64); 6] = [
    ("scaling", 0.07),
    ("skeleton surface", 0.65),
    ("muscle range", 0.83),
    ("masses", 0.85),
    ("transfer", 0.95),
    ("measuring", 1.0),
];

/// Misses of fat or muscle mass from which a user should know \[kg\].
const MASS_MISS: f64 = 1.0;

/// A layered person.
#[derive(Clone, Debug)]
pub struct PersonFit {
    /// Skin, muscle surface and skeleton surface.
    pub layers: Layers,
    /// Bones, in the order of the template's.
    pub bones: Vec<TriMesh>,
    /// Muscles, in the order of the template's.
    pub muscles: Vec<TriMesh>,
    /// How it went.
    pub report: FitReport,
}

/// How a fit went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// Nesting, inversions and volumes.
    pub layers: LayerMeasures,
    /// Rounds of the skeleton fit.
    pub rounds: usize,
    /// Vertices of the skeleton surface whose lines were smoothed to turn inverted prisms.
    pub repaired: usize,
    /// Layered vertices where the skin was folded onto itself, and is smoothed: below folds prisms cannot all be nested.
    #[serde(default)]
    pub folded: usize,
    /// Farthest that the skin was moved by this \[m\].
    #[serde(default)]
    pub unfolded: f64,
    /// Masses asked for and found.
    pub masses: MassReport,
    /// Muscle and fat of the limbs.
    #[serde(default)]
    pub limbs: LimbMeasures,
    /// How each bone was deformed.
    pub bones: Vec<BoneStretch>,
    /// Seconds of each step; files do not keep them.
    #[serde(skip_deserializing)]
    pub seconds: Vec<(&'static str, f64)>,
}

impl FitReport {
    /// Root mean square over all bones of their deformation beyond their scaling, and the largest 95th percentile of one.
    pub fn bone_deformation(&self) -> [f64; 2] {
        let count = self.bones.len().max(1) as f64;
        let squared = self.bones.iter().map(|b| b.rms * b.rms).sum::<f64>() / count;
        let worst = self.bones.iter().map(|b| b.p95).fold(0.0, f64::max);
        [squared.sqrt(), worst]
    }

    /// What a user should know where the skin was folded onto itself.
    pub(super) fn fold_warning(&self) -> Option<String> {
        (self.folded > 0).then(|| {
            format!(
                "the skin was folded at {} vertices, which bodies at the ends of the body space do at armpits and crotch; it was smoothed there by up to {:.0} mm",
                self.folded,
                1e3 * self.unfolded
            )
        })
    }

    /// What a user should know where muscle that no layer holds is at one of its bounds.
    pub(super) fn bound_warning(&self, sex: Sex, height: f64) -> Option<String> {
        let kappa = self.masses.masses.other_muscle_at_bound(sex, height)?;
        Some(format!(
            "fat, muscle and the body's volume agree only with {kappa:.2} kg/m² of muscle outside of the layers, the end of what is usual: one of the estimates does not belong to this body"
        ))
    }

    /// What a user should know where the layers do not weigh what was asked for.
    pub(super) fn mass_warning(&self) -> Option<String> {
        let masses = &self.masses;
        let [fat, muscle] = [
            masses.fat - masses.fat_asked,
            masses.muscle - masses.muscle_asked,
        ];
        (fat.abs().max(muscle.abs()) > MASS_MISS).then(|| {
            format!(
                "fat and muscle do not add up to the body's volume: the layers hold {fat:+.1} kg of fat and {muscle:+.1} kg of muscle against what was estimated or given"
            )
        })
    }
}

/// Why a person cannot be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The rig lacks a required joint.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// Another number of vertices or joints than the template has.
    #[error(
        "the person has {found} {what}, the template {expected}; register the scan to this template"
    )]
    Count {
        /// Vertices or joints.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// Positions that are not finite numbers.
    #[error("a vertex or joint of the person is not a finite number")]
    NotFinite,
    /// The template's surfaces are degenerate.
    #[error("the layers of the template cannot be deformed: {0}; build the template again")]
    Singular(#[from] SparseError),
}

/// Fits a template into a person's skin with a fat and a muscle mass \[kg\]. `transfer` is that of the template; it serves all
/// its people.
pub fn fitted_person(
    template: &LayeredBody,
    transfer: &Transfer,
    person: &PersonSkin,
    fat_mass: f64,
    muscle_mass: f64,
) -> Result<PersonFit, FitError> {
    let silent = Progress::silent();
    let masses = (fat_mass, muscle_mass, None);
    fitted_person_with(template, transfer, person, masses, &silent)
}

/// [`fitted_person`] with the age \[years\] after both masses, which some of the fat's places hang on, and tells how far it is.
pub fn fitted_person_with(
    template: &LayeredBody,
    transfer: &Transfer,
    person: &PersonSkin,
    (fat_mass, muscle_mass, age): (f64, f64, Option<f64>),
    progress: &Progress,
) -> Result<PersonFit, FitError> {
    check(template, person)?;
    let mut report = FitReport::default();
    let mesh = TriMesh {
        positions: person.skin.to_vec(),
        triangles: template.layers.triangles.clone(),
    };
    let unfolded = unfolded_skin(&mesh, &template.layers.layered);
    (report.folded, report.unfolded) = (unfolded.folded, unfolded.moved);
    let person = &PersonSkin {
        skin: &unfolded.skin,
        joints: person.joints,
    };
    let mut clock = Clock::start();
    let mut step = |name: &'static str, report: &mut FitReport| {
        report.seconds.push((name, clock.lap()));
        let done = STEP_ENDS.iter().find(|(known, _)| *known == name);
        progress.reach(done.map_or(0.0, |(_, share)| *share));
    };
    let crotch = crotch(&template.body)?;
    let input = FitTemplate::new(template, &crotch);
    let scaled = scaled_template(&input, person)?;
    step("scaling", &mut report);
    let fit = fitted_skeleton(&input, &scaled, person)?;
    (report.rounds, report.repaired) = (fit.rounds, fit.repaired);
    step("skeleton surface", &mut report);
    let range = muscle_range(&input, &scaled, person, &fit.skeleton)?;
    step("muscle range", &mut report);
    let (muscle, masses) = fitted_masses(
        &input,
        &scaled,
        person,
        &fit.skeleton,
        &range,
        (fat_mass, muscle_mass, age),
    );
    report.masses = masses;
    step("masses", &mut report);
    let layers = Layers {
        triangles: template.layers.triangles.clone(),
        skin: person.skin.to_vec(),
        muscle,
        skeleton: fit.skeleton,
        layered: template.layers.layered.clone(),
    };
    let inner = [&template.layers, &layers].map(|layers| Surface::new(layers.skeleton_mesh()));
    let inner = [&inner[0], &inner[1]];
    let size = span(person.skin) / span(&template.layers.skin);
    let warp = transfer.bones(&layers);
    let bones: Vec<TriMesh> = (template.bones.par_iter())
        .map(|bone| warped_bone(&bone.bone.mesh, &warp, inner, size))
        .collect();
    let placed: Vec<&[Vec3]> = bones.iter().map(|bone| &bone.positions[..]).collect();
    let warp = transfer.muscles(&layers, &placed);
    let muscles: Vec<TriMesh> = (template.muscles.iter())
        .map(|muscle| warped(&muscle.mesh, &warp))
        .collect();
    step("transfer", &mut report);
    report.bones = (template.bones.iter().zip(&bones))
        .map(|(before, after)| bone_stretch(&before.bone.mesh, &after.positions))
        .collect();
    report.layers = layers.measures();
    report.limbs = limb_measures(template, &layers, &muscles, person.joints);
    step("measuring", &mut report);
    Ok(PersonFit {
        layers,
        bones,
        muscles,
        report,
    })
}

/// Height of a skin \[m\].
fn span(skin: &[Vec3]) -> f64 {
    let ys = || skin.iter().map(|p| f64::from(p.y));
    ys().fold(f64::MIN, f64::max) - ys().fold(f64::MAX, f64::min)
}

fn check(template: &LayeredBody, person: &PersonSkin) -> Result<(), FitError> {
    let counts = [
        ("vertices", person.skin.len(), template.layers.skin.len()),
        ("joints", person.joints.len(), template.body.skeleton.len()),
    ];
    for (what, found, expected) in counts {
        if found != expected {
            return Err(FitError::Count {
                what,
                found,
                expected,
            });
        }
    }
    let finite = |points: &[glam::Vec3]| points.iter().all(|p| p.is_finite());
    if finite(person.skin) && finite(person.joints) {
        Ok(())
    } else {
        Err(FitError::NotFinite)
    }
}
