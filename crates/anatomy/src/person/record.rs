//! A layered person: what a scan becomes.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::FitReport;
use crate::body_model::Figure;
use crate::composition::{Composition, Measures};
use crate::scan::{Coverage, Distances, Placement, Registered};
use crate::template::Template;
use crate::{Layers, Sex};

/// A person with all layers, measured.
#[derive(Clone, Debug)]
pub struct Person {
    /// The template fitted into the person: skin, rig with the person's joints, layers, bones, muscles, thickness, regions. In
    /// the template's rest pose, as its file keeps it ([`Template::rounded`]).
    pub anatomy: Template,
    /// What the template's skin leaves out: the eyes. For pictures only.
    pub inserts: Inserts,
    /// Girths, lengths and volume of the skin.
    pub measures: Measures,
    /// Weight, fat and muscle with their errors.
    pub composition: Composition,
    /// How well the scan was met.
    pub registration: Registration,
    /// How the layers were fitted.
    pub fit: FitReport,
}

/// Shells of the body besides the skin, in the rest pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inserts {
    /// Positions and triangles \[m\].
    pub mesh: supple_geom::TriMesh,
    /// Joints (of the rig) and weights of each vertex.
    pub influences: Vec<Vec<(u32, f32)>>,
}

/// How a scan was met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Registration {
    /// Probability of the sex, from 0.5; 1 if it was given.
    pub sex_confidence: f64,
    /// From 0 to 1: how far to trust the result.
    pub confidence: f64,
    /// Distance of the scan from the skin.
    pub distances: Distances,
    /// How much of the skin the scan shows.
    pub coverage: Coverage,
    /// Unit, axis and heading of the scan.
    pub placement: Placement,
    /// Coefficients of the body space, and the scan's pose: a rotation for each joint, and the root's translation.
    pub figure: Figure,
    /// What a user should know, one line each.
    pub warnings: Vec<String>,
}

/// Half the angle that an iris takes of an eyeball, seen from its centre, cosine: 12 mm across on 24 mm.
const IRIS: f32 = 0.866;

impl Inserts {
    /// The eyes' white, and their irises: the triangles in front of each eyeball's centre.
    pub fn split(&self) -> [Inserts; 2] {
        let middle = |left: bool| {
            let side = self.mesh.positions.iter().filter(|p| (p.x > 0.0) == left);
            let bounds = side.fold(None, |bounds: Option<(Vec3, Vec3)>, &p| {
                let (low, high) = bounds.unwrap_or((p, p));
                Some((low.min(p), high.max(p)))
            });
            bounds.map_or(Vec3::ZERO, |(low, high)| 0.5 * (low + high))
        };
        let middles = [middle(false), middle(true)];
        let is_iris = |triangle: &[u32; 3]| {
            let at = triangle.map(|v| self.mesh.positions[v as usize]);
            let place = (at[0] + at[1] + at[2]) / 3.0;
            let from = place - middles[usize::from(place.x > 0.0)];
            from.z > IRIS * from.length()
        };
        [false, true].map(|iris| self.part(|triangle| is_iris(triangle) == iris))
    }

    fn part(&self, wanted: impl Fn(&[u32; 3]) -> bool) -> Inserts {
        let mut place = vec![u32::MAX; self.mesh.positions.len()];
        let mut part = Inserts::default();
        for triangle in self
            .mesh
            .triangles
            .iter()
            .filter(|triangle| wanted(triangle))
        {
            part.mesh.triangles.push(triangle.map(|v| {
                let slot = &mut place[v as usize];
                if *slot == u32::MAX {
                    *slot = part.mesh.positions.len() as u32;
                    part.mesh.positions.push(self.mesh.positions[v as usize]);
                    part.influences.push(self.influences[v as usize].clone());
                }
                *slot
            }));
        }
        part
    }
}

impl Registration {
    /// Of a registered body.
    pub fn of(registered: &Registered) -> Self {
        Registration {
            sex_confidence: registered.sex_confidence,
            confidence: registered.confidence,
            distances: registered.distances,
            coverage: registered.coverage.clone(),
            placement: registered.placement,
            figure: registered.figure.clone(),
            warnings: registered.warnings.clone(),
        }
    }

    /// The scan's pose of the person's rig.
    pub fn pose(&self, skeleton: &supple_rig::Skeleton) -> supple_rig::Pose {
        self.figure.pose(skeleton)
    }

    /// Where the person stood in the scan, its unit and axes converted \[m\]: translation of the root from its place at rest.
    pub fn place(&self) -> DVec3 {
        self.figure.translation
    }
}

impl Person {
    /// What the person is called.
    pub fn name(&self) -> &str {
        &self.anatomy.name
    }

    /// Sex, given or guessed.
    pub fn sex(&self) -> Sex {
        self.anatomy.body.sex
    }

    /// Skin, muscle surface and skeleton surface.
    pub fn layers(&self) -> &Layers {
        &self.anatomy.layers
    }

    /// All warnings and notes, one line each.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        let registration = self.registration.warnings.iter();
        registration
            .chain(&self.composition.notes)
            .map(String::as_str)
    }
}
