//! The flesh of a character at the file's resolution: its shells of flesh, welded.

use glam::Affine3A;
use supple_geom::{Surface, TriMesh};
use supple_rig::Character;

use crate::FleshError;
use crate::construction::bone_graph::{BoneGraph, GraphInput, bone_graph};
use crate::construction::rest_skin::RestSkin;
use crate::motion::holds::{Weights, given_weights};
use crate::motion::joint_use::joint_uses;
use crate::settings::Settings;
use crate::shells::shell_kinds::{Kind, ShellKinds, shell_kinds};

/// All flesh, welded.
pub(crate) struct FullFlesh {
    /// The shells of the character and what they are.
    pub kinds: ShellKinds,
    /// The flesh in bind pose \[m\].
    pub mesh: TriMesh,
    /// The same in double precision, with normals.
    pub skin: RestSkin,
    /// For each vertex that of the welded body.
    pub welded_of: Vec<u32>,
    /// For each vertex one original vertex.
    pub original_of: Vec<u32>,
}

impl FullFlesh {
    /// Finds the flesh among the shells of a character.
    pub fn new(character: &Character, settings: &Settings) -> Result<Self, FleshError> {
        let kinds = shell_kinds(character, &settings.shells)?;
        let (mesh, welded_of) = kinds
            .body
            .ordered_shells_mesh(&|shell| kinds.shells[shell].kind == Kind::Flesh);
        let original_of = (welded_of.iter())
            .map(|&w| kinds.body.welded.original_from_welded[w as usize])
            .collect();
        Ok(FullFlesh {
            skin: surface(&mesh),
            kinds,
            mesh,
            welded_of,
            original_of,
        })
    }

    /// Weights of the file, or `None` if some vertex has none.
    pub fn weights(&self, character: &Character) -> Option<Vec<Weights>> {
        let part_of = |vertex: usize| self.kinds.body.part_of(self.original_of[vertex] as usize);
        given_weights(character, part_of, self.skin.len())
    }

    /// Bones inside the flesh, of joints at `worlds`.
    pub fn graph(
        &self,
        character: &Character,
        settings: &Settings,
        worlds: &[Affine3A],
    ) -> BoneGraph {
        let surface = Surface::new(self.mesh.clone());
        let meshes = character.bind_meshes();
        let kinds = &self.kinds;
        let is_flesh = |part: usize, vertex: usize| {
            (kinds.body.shell_of(part, vertex))
                .is_some_and(|shell| kinds.shells[shell].kind == Kind::Flesh)
        };
        let uses = joint_uses(character, &meshes, &is_flesh);
        bone_graph(&GraphInput {
            skeleton: &character.skeleton,
            worlds,
            uses: uses.as_deref(),
            inside: &|point| surface.contains(point.as_vec3()),
            merge_distance: 1e-3 * self.skin.size(),
            virtual_bones: &settings.virtual_bones,
        })
    }
}

/// A mesh in double precision, with normals.
pub(crate) fn surface(mesh: &TriMesh) -> RestSkin {
    let positions = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    RestSkin::new(positions, mesh.triangles.clone())
}
