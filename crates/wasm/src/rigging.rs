//! Rigging: a skeleton for a mesh that has none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use supple::geom::surface::Ray;
use supple::geom::{Surface, TriMesh};
use supple::glam::Vec3;
use supple::rig::character::Up;
use supple::rig::formats::{gltf, skel};
use supple::rig::markers::Markers;
use supple::rig::rigging::with_skeleton;
use supple::rig::skeleton::JointKind;
use supple::rig::skeleton_fit::{fit_humanoid, start_markers};
use supple::rig::skeleton_templates::{Template, template};
use supple::rig::{Joint, Skeleton, Transform};

use crate::error::StageError;
use crate::stage::Stage;

/// A joint placed by hand.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Placed {
    /// Its name.
    pub name: String,
    /// Index of its parent in the list.
    pub parent: Option<usize>,
    /// Its position \[m\].
    pub position: [f32; 3],
}

impl Stage {
    /// The middle of the first stretch of a ray inside the flesh: between where it enters and where it leaves.
    pub fn middle(&self, origin: Vec3, direction: Vec3) -> Option<Vec3> {
        let surface = (self.surface).get_or_init(|| Surface::new(self.rest_mesh()));
        let hits = surface.all_hits(Ray { origin, direction }, f32::MAX);
        let first = hits.first()?;
        let leaves = hits
            .iter()
            .find(|hit| hit.front != first.front && hit.t > first.t)?;
        Some(origin + direction * (0.5 * (first.t + leaves.t)))
    }

    fn rest_mesh(&self) -> TriMesh {
        TriMesh {
            positions: self.looks.rest.clone(),
            triangles: self.looks.triangles.clone(),
        }
    }

    /// The joints of the skeleton at rest.
    pub fn placed(&self) -> Vec<Placed> {
        placed(&self.character.skeleton)
    }

    /// A humanoid skeleton fitted into the body, with joints at the given markers (by name: `chin`, `wrist.L`, …).
    pub fn fitted(&self, markers: &BTreeMap<String, [f32; 3]>) -> Result<Vec<Placed>, StageError> {
        let mut given = Markers::default();
        for (name, &place) in markers {
            let marker = name.parse().map_err(other)?;
            given.set(marker, place.into());
        }
        let fitted = fit_humanoid(&self.rest_mesh(), &given);
        Ok(placed(&fitted.map_err(other)?))
    }

    /// All markers and where to show them first: at the joints that were found, or at those of a template.
    pub fn markers(&self) -> BTreeMap<String, [f32; 3]> {
        let all = start_markers(&self.rest_mesh());
        all.iter()
            .map(|(marker, place)| (marker.to_string(), place.to_array()))
            .collect()
    }

    /// A template skeleton, `humanoid` or `quadruped`, scaled to the body's box.
    pub fn template(&self, kind: &str) -> Result<Vec<Placed>, StageError> {
        let kind = match kind {
            "humanoid" => Template::Humanoid,
            "quadruped" => Template::Quadruped,
            other => {
                let text = format!("no template '{other}'; use humanoid or quadruped");
                return Err(StageError::Other(text));
            }
        };
        Ok(placed(&template(&self.rest_mesh(), kind)))
    }

    /// A new stage with the same mesh, the given joints, and weights computed from them.
    pub fn rigged(&self, placed: &[Placed]) -> Result<Stage, StageError> {
        let character = with_skeleton(&self.character, skeleton(placed)?);
        let mut stage = Stage::new(character)?;
        stage.bind_missing()?;
        Ok(stage)
    }

    /// The skeleton as `.skel`, in the units and axes of the mesh's file.
    pub fn skel(&self) -> Result<String, StageError> {
        let units = self.character.units;
        let mut placed = self.placed();
        for joint in &mut placed {
            let [x, y, z] = joint.position.map(|x| x / units.metres_per_unit);
            joint.position = match units.up {
                Up::Y => [x, y, z],
                Up::Z => [x, -z, y],
            };
        }
        Ok(skel::write_skel(&skeleton(&placed)?))
    }

    /// The character as GLB.
    pub fn glb(&self) -> Result<Vec<u8>, StageError> {
        Ok(gltf::write_glb(&self.character)?)
    }
}

fn other(error: impl std::fmt::Display) -> StageError {
    StageError::Other(error.to_string())
}

fn placed(skeleton: &Skeleton) -> Vec<Placed> {
    let joints = skeleton.joints().iter().zip(skeleton.rest_worlds());
    joints
        .map(|(joint, world)| Placed {
            name: joint.name.clone(),
            parent: joint.parent,
            position: Vec3::from(world.translation).to_array(),
        })
        .collect()
}

fn skeleton(placed: &[Placed]) -> Result<Skeleton, StageError> {
    let joints = placed.iter().map(|joint| {
        let parent = joint.parent.and_then(|parent| placed.get(parent));
        let origin = parent.map_or(Vec3::ZERO, |parent| parent.position.into());
        Joint {
            name: joint.name.clone(),
            parent: joint.parent,
            rest: Transform::from_translation(Vec3::from(joint.position) - origin),
            tail: None,
            kind: JointKind::Bone,
        }
    });
    Ok(Skeleton::from_unordered(joints.collect())?.0)
}
