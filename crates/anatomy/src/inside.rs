//! Muscles and bones of a layered body in motion, for pictures and export.
//!
//! Bones follow their joints. Muscles lie in simulated tissue and are deformed with it; those of head and hands, where nothing is
//! simulated, follow the joints of the skin.

use glam::Vec3;
use supple_flesh::Flesh;
use supple_flesh::construction::embedded_points::EmbeddedPoints;
use supple_geom::TriMesh;
use supple_geom::normals::vertex_normals;
use supple_rig::character::{Binding, Influences, Material};
use supple_rig::formats::Source;
use supple_rig::skinning::linear_blend;
use supple_rig::{Character, Part, Pose, Skeleton};

use crate::LayeredBody;
use crate::layered_body::Rig;

/// Colours of muscles and bones in written files, linear.
const MUSCLE: Vec3 = Vec3::new(0.42, 0.09, 0.08);
const BONE: Vec3 = Vec3::new(0.82, 0.76, 0.62);

/// Muscles and bones inside a soft body.
#[derive(Clone, Debug)]
pub struct Inside {
    muscles: Part,
    bones: Part,
    embedded_points: EmbeddedPoints,
}

impl Inside {
    /// Those of a body whose layers the tissue was built with.
    pub fn new(body: &LayeredBody, flesh: &Flesh) -> Self {
        let skeleton = body.skeleton();
        let part = |name: &str, list: Vec<(&TriMesh, &Rig)>| {
            let mesh = TriMesh::merged(list.iter().map(|(mesh, _)| *mesh));
            let mut lists = Vec::with_capacity(mesh.positions.len());
            for (mesh, rig) in &list {
                let weights = |v: usize| rig.weights(v, &body.body.influences).to_vec();
                lists.extend((0..mesh.positions.len()).map(weights));
            }
            Part {
                name: name.to_owned(),
                normals: vertex_normals(&mesh),
                mesh,
                binding: rest_binding(skeleton, lists),
                ..Part::default()
            }
        };
        let muscles = (body.muscles.iter()).map(|muscle| (&muscle.mesh, &muscle.rig));
        let bones = (body.bones.iter()).map(|entry| (&entry.bone.mesh, &entry.rig));
        let muscles = part("muscles", muscles.collect());
        Self {
            embedded_points: flesh.embedded_points(&muscles.mesh.positions),
            bones: part("bones", bones.collect()),
            muscles,
        }
    }

    /// Muscles and bones in a pose, with the vertices of the model, free then fixed \[m\].
    pub fn positions(&self, flesh: &Flesh, pose: &Pose, vertices: &[Vec3]) -> [Vec<Vec3>; 2] {
        let worlds = pose.worlds(flesh.skeleton());
        let [mut muscles, bones] =
            [&self.muscles, &self.bones].map(|part| linear_blend(part, &worlds, &[]).positions);
        self.embedded_points.follow(vertices, &mut muscles);
        [muscles, bones]
    }

    /// A character with muscles and bones as two more parts.
    pub fn character(&self, skin: &Character) -> Character {
        let mut character = skin.clone();
        for (part, colour) in [(&self.muscles, MUSCLE), (&self.bones, BONE)] {
            let mut part = part.clone();
            part.material = Some(character.materials.len());
            character.materials.push(material(&part.name, colour));
            character.parts.push(part);
        }
        // The document has no such parts: it is written anew.
        character.source = Source::None;
        character
    }
}

/// A binding to all joints of a skeleton at rest; lists have joints and weights.
pub fn rest_binding(skeleton: &Skeleton, lists: Vec<Vec<(u32, f32)>>) -> Binding {
    let worlds = skeleton.rest_worlds();
    Binding {
        joints: (0..worlds.len()).collect(),
        inverse_binds: worlds.iter().map(|world| world.inverse()).collect(),
        influences: Influences::from_lists(lists),
        computed: false,
    }
}

fn material(name: &str, colour: Vec3) -> Material {
    Material {
        name: name.to_owned(),
        base_color: colour.extend(1.0),
        base_color_image: None,
        double_sided: false,
    }
}
