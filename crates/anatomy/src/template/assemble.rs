//! The last step: bones and muscles get what moves them, and everything becomes one template.

use std::collections::BTreeMap;

use rayon::prelude::*;
use supple_geom::{Surface, TriMesh};

use crate::template::musculature::muscles::Muscle;
use crate::template::{Landmark, LayeredBody, Regions, Rig, RiggedBone, RiggedMuscle};
use crate::{Body, BodyError, Layers};

/// What the steps before have made.
pub struct Pieces {
    /// What the template is called.
    pub name: String,
    /// Sex, skin, rig and weights.
    pub body: Body,
    /// The three surfaces.
    pub layers: Layers,
    /// Bones and what moves them.
    pub bones: Vec<RiggedBone>,
    /// Muscles; what moves them is found here.
    pub muscles: Vec<RiggedMuscle>,
    /// Thickness map \[m\].
    pub thickness: Vec<f32>,
    /// Named points.
    pub landmarks: BTreeMap<String, Landmark>,
    /// Where everything comes from.
    pub provenance: String,
}

impl From<Muscle> for RiggedMuscle {
    fn from(muscle: Muscle) -> Self {
        Self {
            name: muscle.name,
            group: muscle.group,
            side: Some(muscle.side),
            mesh: muscle.mesh,
            fibres: muscle.fibres,
            tendon: muscle.tendon,
            volume: muscle.volume,
            rig: Rig::Skin(Vec::new()),
        }
    }
}

/// Puts the pieces together, rounded as the template's file keeps them.
pub fn assembled(pieces: Pieces) -> Result<LayeredBody, BodyError> {
    let Pieces { body, layers, .. } = pieces;
    let hull = Surface::new(TriMesh {
        positions: layers.muscle.clone(),
        triangles: layers.triangles.clone(),
    });
    let muscles = (pieces.muscles.into_par_iter())
        .map(|muscle| RiggedMuscle {
            rig: Rig::Skin(nearest_vertices(&muscle.mesh, &hull)),
            ..muscle
        })
        .collect();
    let mut template = LayeredBody {
        name: pieces.name,
        body,
        layers,
        bones: pieces.bones,
        muscles,
        thickness: pieces.thickness,
        regions: Regions::default(),
        landmarks: pieces.landmarks,
        provenance: pieces.provenance,
    }
    .rounded();
    // Of what is kept, so that they can be found again from a file.
    template.regions = template.found_regions()?;
    Ok(template)
}

impl LayeredBody {
    /// The regions, found anew.
    pub fn found_regions(&self) -> Result<Regions, BodyError> {
        let bones: Vec<_> = (self.bones.iter())
            .map(|rigged| rigged.bone.clone())
            .collect();
        crate::template::places::regions::regions(&self.body, &self.layers, &bones)
    }
}

/// For each vertex of a mesh the nearest vertex of a surface, which it moves with.
pub fn nearest_vertices(mesh: &TriMesh, surface: &Surface) -> Vec<u32> {
    let around = surface.mesh();
    let nearest = |&point: &glam::Vec3| {
        let triangle = surface
            .closest_point(point)
            .map_or(0, |found| found.triangle);
        let corners = around
            .triangles
            .get(triangle as usize)
            .copied()
            .unwrap_or_default();
        let distance = |v: u32| around.positions[v as usize].distance_squared(point);
        (corners.into_iter()).min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    };
    mesh.positions
        .iter()
        .map(|point| nearest(point).unwrap_or(0))
        .collect()
}
