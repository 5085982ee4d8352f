//! The template: an average man or woman whose skin, muscles and bones are known and nested [4.2.2].

pub mod assemble;
pub mod build;
#[doc(hidden)]
pub mod example;
pub mod format;
pub mod info;
pub mod musculature;
pub mod places;
pub mod report;
pub mod sources;
pub mod surfaces;
pub mod wrapping;

use std::collections::BTreeMap;

use glam::Vec3;
use supple_geom::TriMesh;

pub use crate::bones::Landmark;
use crate::{Body, Bone, Layers, Sex};
pub use format::file::{
    TemplateError, load_template, read_template, save_template, write_template,
};
pub use musculature::atlas::Group;
pub use places::frame::Side;
pub use places::regions::{FatRegion, Regions};

/// A layered body with everything inside it.
#[derive(Clone, Debug)]
pub struct LayeredBody {
    /// What it is called.
    pub name: String,
    /// Sex, skin, rig and skin weights.
    pub body: Body,
    /// Skin, muscle surface and skeleton surface.
    pub layers: Layers,
    /// The bones, with what moves them.
    pub bones: Vec<RiggedBone>,
    /// The muscles, with what moves them.
    pub muscles: Vec<RiggedMuscle>,
    /// Length of the line from skin to skeleton surface that runs inside muscles, for each vertex \[m\].
    pub thickness: Vec<f32>,
    /// Regions of the layers.
    pub regions: Regions,
    /// Points of the bones close under the skin, by name.
    pub landmarks: BTreeMap<String, Landmark>,
    /// What it was made of, by whom and under which licence, in words.
    pub provenance: String,
}

/// Joints and weights that move a point.
pub type Weights = Vec<(u32, f32)>;

/// What moves a mesh inside the body.
#[derive(Clone, Debug, PartialEq)]
pub enum Rig {
    /// The whole mesh follows the same joints.
    Whole(Weights),
    /// Every vertex follows its own joints.
    Each(Vec<Weights>),
    /// Every vertex follows the joints of a vertex of the skin.
    Skin(Vec<u32>),
}

/// A bone and what moves it.
#[derive(Clone, Debug, PartialEq)]
pub struct RiggedBone {
    /// The bone.
    pub bone: Bone,
    /// What moves it.
    pub rig: Rig,
}

/// A muscle and what moves it.
#[derive(Clone, Debug, PartialEq)]
pub struct RiggedMuscle {
    /// Name with its side: `rectus_femoris_l`.
    pub name: String,
    /// Its group.
    pub group: Group,
    /// Its side; none across the middle.
    pub side: Option<Side>,
    /// Its surface \[m\].
    pub mesh: TriMesh,
    /// Unit direction of the fibres at each vertex; empty where they are not known.
    pub fibres: Vec<Vec3>,
    /// How much of each vertex is tendon, 0 to 1; empty where it is not known.
    pub tendon: Vec<f32>,
    /// Volume \[m³\].
    pub volume: f64,
    /// What moves it.
    pub rig: Rig,
}

impl Rig {
    /// Weights of a vertex. `skin` are the skin's.
    pub fn weights<'a>(&'a self, vertex: usize, skin: &'a [Weights]) -> &'a [(u32, f32)] {
        match self {
            Self::Whole(row) => row,
            Self::Each(rows) => rows.get(vertex).map_or(&[], |row| row),
            Self::Skin(vertices) => (vertices.get(vertex))
                .and_then(|&v| skin.get(v as usize))
                .map_or(&[], |row| row),
        }
    }
}

impl LayeredBody {
    /// The surfaces as meshes: skin, muscle surface, skeleton surface.
    pub fn surfaces(&self) -> [TriMesh; 3] {
        let layers = &self.layers;
        [&layers.skin, &layers.muscle, &layers.skeleton].map(|positions| TriMesh {
            positions: positions.clone(),
            triangles: layers.triangles.clone(),
        })
    }

    /// The sex.
    pub fn sex(&self) -> Sex {
        self.body.sex
    }

    /// The template as its file keeps it: bones and muscles on a grid, fibres as two bytes, tendon as one. Layers are kept as they are.
    pub fn rounded(mut self) -> Self {
        for mesh in self.meshes_mut() {
            format::mesh_code::round_positions(&mut mesh.positions);
        }
        for muscle in &mut self.muscles {
            for fibre in &mut muscle.fibres {
                *fibre = format::mesh_code::rounded_direction(*fibre);
            }
            for tendon in &mut muscle.tendon {
                *tendon = format::mesh_code::coded_share(format::mesh_code::share_code(*tendon));
            }
        }
        self
    }

    fn meshes_mut(&mut self) -> impl Iterator<Item = &mut TriMesh> {
        let bones = self.bones.iter_mut().map(|entry| &mut entry.bone.mesh);
        bones.chain(self.muscles.iter_mut().map(|muscle| &mut muscle.mesh))
    }
}
