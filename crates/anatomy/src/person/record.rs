//! A layered person: what a scan becomes.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::FitReport;
use crate::body_model::Figure;
use crate::composition::{Composition, Measures};
use crate::scan::{Coverage, Distances, Placement, Registered};
use crate::template::LayeredBody;
use crate::{Layers, Sex};

/// A person with all layers, measured.
#[derive(Clone, Debug)]
pub struct Person {
    /// The template fitted into the person: skin, rig with the person's joints, layers, bones, muscles, thickness, regions. In
    /// the template's rest pose, as its file keeps it ([`LayeredBody::rounded`]).
    pub body: LayeredBody,
    /// What the template's skin leaves out: eyes and tongue. For pictures only.
    pub eyes_and_tongue: EyesAndTongue,
    /// Girths, lengths and volume of the skin.
    pub measures: Measures,
    /// Weight, fat and muscle with their errors.
    pub composition: Composition,
    /// How each scan of the person was met; the first gave the rest pose its place.
    pub scans: Vec<ScanFit>,
    /// How the layers were fitted.
    pub fit: FitReport,
}

/// Shells of the body besides the skin, in the rest pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EyesAndTongue {
    /// Positions and triangles \[m\].
    pub mesh: supple_geom::TriMesh,
    /// Joints (of the rig) and weights of each vertex.
    pub influences: Vec<Vec<(u32, f32)>>,
}

/// How a scan was met, and the pose that the person took in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScanFit {
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

impl EyesAndTongue {
    /// The eyes' white, their irises (the triangles in front of an eyeball's centre), and the tongue (what lies in the middle).
    pub fn split(&self) -> [EyesAndTongue; 3] {
        let shells = supple_geom::shells::shells(&self.mesh);
        let mut boxes = vec![(Vec3::INFINITY, Vec3::NEG_INFINITY); shells.count];
        for (&p, &shell) in self.mesh.positions.iter().zip(&shells.of_vertex) {
            // Vertices of no triangle belong to no shell.
            if let Some((low, high)) = boxes.get_mut(shell as usize) {
                (*low, *high) = (low.min(p), high.max(p));
            }
        }
        let kind = |triangle: &[u32; 3]| {
            let (low, high) = boxes[shells.of_vertex[triangle[0] as usize] as usize];
            if low.x <= 0.0 && high.x >= 0.0 {
                return 2;
            }
            let at = triangle.map(|v| self.mesh.positions[v as usize]);
            let from = (at[0] + at[1] + at[2]) / 3.0 - 0.5 * (low + high);
            usize::from(from.z > IRIS * from.length())
        };
        [0, 1, 2].map(|wanted| self.part(|triangle| kind(triangle) == wanted))
    }

    fn part(&self, wanted: impl Fn(&[u32; 3]) -> bool) -> EyesAndTongue {
        let mut place = vec![u32::MAX; self.mesh.positions.len()];
        let mut part = EyesAndTongue::default();
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

impl ScanFit {
    /// Of a registered body.
    pub fn of(registered: &Registered) -> Self {
        ScanFit {
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
        &self.body.name
    }

    /// Sex, given or guessed.
    pub fn sex(&self) -> Sex {
        self.body.body.sex
    }

    /// Skin, muscle surface and skeleton surface.
    pub fn layers(&self) -> &Layers {
        &self.body.layers
    }

    /// All warnings and notes, one line each.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        let scans = self.scans.iter().flat_map(|scan| &scan.warnings);
        scans.chain(&self.composition.notes).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use crate::person::example::example_person;

    #[test]
    fn irises_look_forward_and_take_a_small_part_of_the_eye() {
        let eyes_and_tongue = example_person().eyes_and_tongue;
        let [white, irises, tongue] = eyes_and_tongue.split();
        assert!(tongue.mesh.triangles.is_empty());
        let all = white.mesh.triangles.len() + irises.mesh.triangles.len();
        assert_eq!(all, eyes_and_tongue.mesh.triangles.len());
        // A cap of 30° is 6.7 % of a sphere.
        let share = irises.mesh.triangles.len() as f64 / all as f64;
        assert!((0.04..0.1).contains(&share), "{share}");
        assert!(irises.mesh.positions.iter().all(|p| p.z > 0.008));
        assert_eq!(irises.influences.len(), irises.mesh.positions.len());
    }
}
