//! A template from a rigged skin, bones and muscles: all steps of [4.2.2] in their order.

use std::time::Instant;

use glam::Vec3;
use supple_geom::{Surface, TriMesh};

use crate::bones::{BoneError, BoneSet, place_bones};
use crate::template::assemble::{Pieces, assembled};
use crate::template::musculature::atlas::{Atlas, AtlasError};
use crate::template::musculature::given_muscles::{GivenMuscle, carried, grouped};
use crate::template::musculature::muscles::{MuscleOptions, muscles};
use crate::template::musculature::volumes::{body_mass, literature_volume};
use crate::template::places::regions::regions;
use crate::template::places::zones::Zone;
use crate::template::report::{BuildReport, muscle_report};
use crate::template::surfaces::fat::{embedded_fat_sites, muscle_places};
use crate::template::surfaces::fat_scale::{FatLayerError, fat_layer};
use crate::template::surfaces::muscle_surface::{MuscleTarget, muscle_surface};
use crate::template::surfaces::skeleton_surface::{
    Shrinking, SkeletonSurfaceError, skeleton_surface,
};
use crate::template::surfaces::thickness::covered_lengths;
use crate::template::wrapping::enclosure::enclosure;
use crate::template::wrapping::wrap::{WrapError, is_wrapped, skeleton_wrap};
use crate::template::{LayeredBody, Rig, RiggedBone, RiggedMuscle};
use crate::{Body, BodyError, Bone, Layers};

/// Steps of building, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Bones into the body.
    Bones,
    /// The wrap around the bones.
    Wrap,
    /// The skeleton surface.
    SkeletonSurface,
    /// The muscle surface.
    MuscleSurface,
    /// Muscles.
    Muscles,
    /// Regions, what moves what, and measures.
    Assembly,
}

impl Step {
    /// All steps.
    pub const ALL: [Step; 6] = [
        Step::Bones,
        Step::Wrap,
        Step::SkeletonSurface,
        Step::MuscleSurface,
        Step::Muscles,
        Step::Assembly,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Step::Bones => "placing bones",
            Step::Wrap => "wrapping bones",
            Step::SkeletonSurface => "skeleton surface",
            Step::MuscleSurface => "muscle surface",
            Step::Muscles => "muscles",
            Step::Assembly => "measuring",
        }
    }
}

/// Where muscles come from.
#[derive(Clone, Debug)]
pub enum MuscleSource {
    /// An atlas: the muscle surface follows from fat thickness, and the muscles share out what is below it.
    Atlas(Atlas),
    /// Meshes in the frame of the bones as they were read: the muscle surface wraps them.
    Meshes(Vec<GivenMuscle>),
}

/// Everything that a template is built from.
#[derive(Clone, Debug)]
pub struct TemplateBuilder {
    /// What it is called.
    pub name: String,
    /// The rigged skin.
    pub body: Body,
    /// The bones.
    pub bones: BoneSet,
    /// The muscles.
    pub muscles: MuscleSource,
    /// Where they all come from, in words.
    pub provenance: String,
}

/// Why a template cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Of the skin.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// Of the bones.
    #[error(transparent)]
    Bones(#[from] BoneError),
    /// Of the wrap.
    #[error(transparent)]
    Wrap(#[from] WrapError),
    /// Of the skeleton surface.
    #[error(transparent)]
    SkeletonSurface(#[from] SkeletonSurfaceError),
    /// Of the atlas.
    #[error(transparent)]
    Atlas(#[from] AtlasError),
    /// Of the fat's thickness.
    #[error(transparent)]
    Fat(#[from] FatLayerError),
    /// Every muscle is outside the skin.
    #[error(
        "all {count} muscles lie outside the skin; give them in the same place, unit and axes as the bones"
    )]
    MusclesOutside {
        /// Number of muscles.
        count: usize,
    },
}

impl TemplateBuilder {
    /// Builds the template. `progress` is called before each step.
    pub fn build(&self, progress: &dyn Fn(Step)) -> Result<(LayeredBody, BuildReport), BuildError> {
        let mut report = BuildReport::default();
        let mut clock = (Instant::now(), None);
        let mut step = |report: &mut BuildReport, next: Option<Step>| {
            let seconds = clock.0.elapsed().as_secs_f64();
            if let Some(done) = clock.1 {
                report.seconds.push((done, seconds));
            }
            clock = (Instant::now(), next);
            next.into_iter().for_each(progress);
        };
        step(&mut report, Some(Step::Bones));
        let placed = place_bones(&self.bones, &self.body)?;
        report.placement = placed.report.clone();
        report.bone_notes = self.bones.notes.iter().map(ToString::to_string).collect();

        step(&mut report, Some(Step::Wrap));
        let skin = self.body.surface();
        let wrap = skeleton_wrap(&placed.bones, &skin)?;
        report.wrap = wrap.measures;

        step(&mut report, Some(Step::SkeletonSurface));
        let mut layers = Layers {
            triangles: self.body.mesh.triangles.clone(),
            skin: self.body.mesh.positions.clone(),
            muscle: self.body.mesh.positions.clone(),
            skeleton: skeleton_surface(
                &self.body,
                &placed.bones,
                &wrap.mesh,
                Shrinking::default(),
            )?,
            layered: self.body.layered(),
        };

        step(&mut report, Some(Step::MuscleSurface));
        let given = self.carried_muscles(&placed.bones, &mut report)?;
        report.fat_scales =
            self.make_muscle_surface(&mut layers, &placed.bones, given.as_deref())?;

        step(&mut report, Some(Step::Muscles));
        let muscles: Vec<RiggedMuscle> = match (&self.muscles, given) {
            (MuscleSource::Atlas(atlas), _) => {
                self.shared_muscles(atlas, &placed.bones, &layers)?
            }
            (_, given) => {
                let regions = regions(&self.body, &layers, &placed.bones)?;
                grouped(given.unwrap_or_default(), &layers, &regions)
            }
        };

        step(&mut report, Some(Step::Assembly));
        let flesh = TriMesh::merged(muscles.iter().map(|muscle| &muscle.mesh));
        let thickness = covered_lengths(&layers, &Surface::new(flesh));
        report.layers = layers.measures();
        let points = |wanted: &dyn Fn(&str) -> bool| -> Vec<Vec3> {
            let bones = placed.bones.iter().filter(|bone| wanted(&bone.name));
            bones
                .flat_map(|bone| bone.mesh.positions.iter().copied())
                .collect()
        };
        let inner = layers.skeleton_mesh();
        report.bones_in_surface = enclosure(&inner, &layers.layered, &points(&is_wrapped));
        report.wrap_in_surface = enclosure(&inner, &layers.layered, &wrap.mesh.positions);
        report.muscles = muscle_report(&self.body, &self.muscles, &muscles, &placed.bones);
        let bones = (placed.bones.into_iter().zip(placed.weights))
            .map(|(bone, weights)| RiggedBone {
                bone,
                rig: Rig::Whole(weights),
            })
            .collect();
        let template = assembled(Pieces {
            name: self.name.clone(),
            body: self.body.clone(),
            layers,
            bones,
            muscles,
            thickness,
            landmarks: placed.landmarks,
            provenance: self.provenance.clone(),
        })?;
        step(&mut report, None);
        Ok((template, report))
    }
}

impl TemplateBuilder {
    /// Given muscles, moved into the body with its bones.
    fn carried_muscles(
        &self,
        placed: &[Bone],
        report: &mut BuildReport,
    ) -> Result<Option<Vec<GivenMuscle>>, BuildError> {
        let MuscleSource::Meshes(given) = &self.muscles else {
            return Ok(None);
        };
        let (kept, notes) = carried(
            given,
            [&self.bones.bones, placed],
            &self.body.outer_surface(),
        );
        report.muscle_notes = notes;
        match kept.is_empty() {
            true => Err(BuildError::MusclesOutside { count: given.len() }),
            false => Ok(Some(kept)),
        }
    }

    /// The muscle surface: by fat thickness for an atlas, by the first hit of given muscles [4.2.2].
    fn make_muscle_surface(
        &self,
        layers: &mut Layers,
        bones: &[Bone],
        given: Option<&[GivenMuscle]>,
    ) -> Result<Vec<(Zone, f64)>, BuildError> {
        let mut fat_scales = Vec::new();
        let targets: Vec<MuscleTarget> = match (given, &self.muscles) {
            (Some(given), _) => {
                let all = Surface::new(TriMesh::merged(given.iter().map(|muscle| &muscle.mesh)));
                let places = muscle_places(layers, &all).into_iter();
                places.map(target).collect()
            }
            (None, MuscleSource::Atlas(atlas)) => {
                let sites = embedded_fat_sites().map_err(FatLayerError::from)?;
                let fat = fat_layer(&sites, atlas, bones, layers, &self.body)?;
                fat_scales = Zone::ALL.into_iter().zip(fat.scales).collect();
                fat.places.into_iter().map(|t| target(Some(t))).collect()
            }
            (None, MuscleSource::Meshes(_)) => Vec::new(),
        };
        layers.muscle = muscle_surface(layers, &targets);
        Ok(fat_scales)
    }

    /// Volume of the muscles that the literature knows of such a body \[m³\].
    fn wanted_muscle(&self) -> f64 {
        let mass = body_mass(self.body.mesh.signed_volume(), self.body.sex);
        literature_volume(mass, self.body.sex)
    }

    fn shared_muscles(
        &self,
        atlas: &Atlas,
        bones: &[Bone],
        layers: &Layers,
    ) -> Result<Vec<RiggedMuscle>, BuildError> {
        let options = MuscleOptions::for_volume(atlas, self.wanted_muscle());
        let found = muscles(atlas, bones, layers, &options)?;
        Ok(found.into_iter().map(RiggedMuscle::from).collect())
    }
}

/// Weight of a target that is a guess: where the line meets no muscle, as at the knee.
const GUESS_WEIGHT: f32 = 0.01;

/// The target of a place on a line; near the skeleton surface where there is none [4.2.2].
fn target(place: Option<f32>) -> MuscleTarget {
    match place {
        Some(t) => MuscleTarget { t, weight: 1.0 },
        None => MuscleTarget {
            t: 1.0,
            weight: GUESS_WEIGHT,
        },
    }
}
