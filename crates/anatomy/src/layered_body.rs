//! A layered body: skin, muscle surface, skeleton surface, bones and muscles with what moves them, and regions.
//!
//! A template is the layered body of an average man or woman ([`template`](crate::template)), a person holds one that was fitted
//! into a scan ([`Person`](crate::person::Person)), and growth makes one of another ([`growth`](crate::growth)).

use std::collections::BTreeMap;

use glam::Vec3;
use supple_geom::TriMesh;
use supple_rig::Skeleton;

use crate::bones::Landmark;
use crate::person::carried::{carried_directions, carried_point, carried_thickness, skeleton_at};
use crate::template::format::mesh_code;
use crate::template::{Group, Regions, Side};
use crate::{Body, Bone, Layers, Sex};

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

/// Positions that a body takes, in its connectivity, bones and muscles in its order.
#[derive(Clone, Debug)]
pub struct NewPositions<'a> {
    /// Joints of the rig at rest \[m\].
    pub joints: &'a [Vec3],
    /// The surfaces.
    pub layers: Layers,
    /// The bones.
    pub bones: Vec<TriMesh>,
    /// The muscles.
    pub muscles: Vec<TriMesh>,
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

    /// The rig.
    pub fn skeleton(&self) -> &Skeleton {
        &self.body.skeleton
    }

    /// The sex.
    pub fn sex(&self) -> Sex {
        self.body.sex
    }

    /// This body in another shape: bones, muscles, joints and layers of its connectivity. Fibres, thickness and landmarks are carried
    /// along; weights and regions stay.
    pub fn reshaped(&self, name: &str, shape: NewPositions) -> LayeredBody {
        let NewPositions {
            joints,
            layers,
            bones,
            muscles,
        } = shape;
        let landmark = |mark: &Landmark| {
            let pairs = self.bones.iter().zip(&bones);
            let pairs = pairs.map(|(before, after)| (&before.bone.mesh, &after.positions[..]));
            Landmark {
                bone: carried_point(pairs, mark.bone),
                ..*mark
            }
        };
        let landmarks = (self.landmarks.iter())
            .map(|(name, mark)| (name.clone(), landmark(mark)))
            .collect();
        let muscle = |(before, mesh): (&RiggedMuscle, TriMesh)| RiggedMuscle {
            name: before.name.clone(),
            group: before.group,
            side: before.side,
            fibres: carried_directions(&before.mesh, &mesh.positions, &before.fibres),
            tendon: before.tendon.clone(),
            volume: mesh.signed_volume(),
            mesh,
            rig: before.rig.clone(),
        };
        let bone = |(before, mesh): (&RiggedBone, TriMesh)| RiggedBone {
            bone: Bone {
                name: before.bone.name.clone(),
                mesh,
            },
            rig: before.rig.clone(),
        };
        LayeredBody {
            name: name.to_owned(),
            body: Body {
                sex: self.body.sex,
                mesh: layers.skin_mesh(),
                file_vertices: self.body.file_vertices.clone(),
                skeleton: skeleton_at(&self.body.skeleton, joints),
                influences: self.body.influences.clone(),
            },
            landmarks,
            bones: self.bones.iter().zip(bones).map(bone).collect(),
            muscles: self.muscles.iter().zip(muscles).map(muscle).collect(),
            thickness: carried_thickness(&self.layers, &layers, &self.thickness),
            layers,
            regions: self.regions.clone(),
            provenance: self.provenance.clone(),
        }
    }

    /// The body as its file keeps it: bones and muscles on a grid, fibres as two bytes, tendon as one. Layers are kept as they are.
    pub fn rounded(mut self) -> Self {
        for mesh in self.meshes_mut() {
            mesh_code::round_positions(&mut mesh.positions);
        }
        for muscle in &mut self.muscles {
            for fibre in &mut muscle.fibres {
                *fibre = mesh_code::rounded_direction(*fibre);
            }
            for tendon in &mut muscle.tendon {
                *tendon = mesh_code::coded_share(mesh_code::share_code(*tendon));
            }
        }
        self
    }

    fn meshes_mut(&mut self) -> impl Iterator<Item = &mut TriMesh> {
        let bones = self.bones.iter_mut().map(|entry| &mut entry.bone.mesh);
        bones.chain(self.muscles.iter_mut().map(|muscle| &mut muscle.mesh))
    }
}
