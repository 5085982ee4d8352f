//! Layered anatomy as a character that moves: a template or a person becomes a skin with a rig, and the layers below it [4.3.3].
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use supple::{SoftBody, layers::layered};
//!
//! let body = layered(&supple::load_template("@female")?);
//! let mut soft = SoftBody::builder(&body.character).layers(&body.layers).build()?;
//! assert!(soft.flesh().report.layered > 1000);
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;

use glam::Vec3;
use supple_anatomy::person::{Person, character::skin_character};
use supple_anatomy::template::FatRegion;
use supple_anatomy::{Body as Skin, LayeredBody, Sex};
use supple_flesh::GivenLayers;
use supple_geom::Adjacency;
use supple_geom::adjacency::Rows;
use supple_geom::kd_tree::KdTree;
use supple_geom::normals::vertex_normals;
use supple_geom::shells::shells;
use supple_rig::character::{Binding, Influences, Material};
use supple_rig::formats::Source;
use supple_rig::{Character, Part, Skeleton};

use crate::embedded::{self, Body};

/// A character and the layers of its tissue.
#[derive(Clone, Debug)]
pub struct Layered {
    /// Skin and rig.
    pub character: Character,
    /// Muscle surface and skeleton surface below the skin, for [`SoftBodyBuilder::layers`](crate::SoftBodyBuilder::layers).
    pub layers: GivenLayers,
}

/// A layered body, of a template or of a person, as a character with layers.
///
/// Bodies in the connectivity of the embedded ones get their eyes as well, which have no layers.
pub fn layered(anatomy: &LayeredBody) -> Layered {
    let character = with_eyes(anatomy).unwrap_or_else(|| skin_character(anatomy));
    let is_whole = character.parts[0].mesh.positions.len() > anatomy.layers.skin.len();
    let vertices = match is_whole {
        true => anatomy.body.file_vertices.clone(),
        false => (0..anatomy.layers.skin.len() as u32).collect(),
    };
    Layered {
        character,
        layers: smooth_layers(anatomy, vertices),
    }
}

/// Layers whose skeleton surface has no sliding regions: every vertex is bound to the bone nearest to it. They fold where the trunk
/// bends, and are there to compare with [4.18].
pub fn bound_to_bones(anatomy: &LayeredBody, layered: &Layered) -> GivenLayers {
    GivenLayers {
        held: anatomy.layers.layered.clone(),
        ..given_layers(anatomy, layered.layers.vertices.clone())
    }
}

/// A person as a character with layers.
pub fn layered_person(person: &Person) -> Layered {
    let vertices = (0..person.layers().skin.len() as u32).collect();
    Layered {
        character: person.character(),
        layers: smooth_layers(&person.anatomy, vertices),
    }
}

/// The layers of an anatomy, whose skeleton surface goes over smoothly from one bone to the next.
fn smooth_layers(anatomy: &LayeredBody, vertices: Vec<u32>) -> GivenLayers {
    let mut layers = given_layers(anatomy, vertices);
    layers.influences = smoothed(layers.influences, &anatomy.layers.triangles);
    layers
}

/// Forward part of the normal up to which skin of the trunk is of its back, where the spine and its muscles lie below. Were that as
/// soft as a belly, all of a bend would be in the small of the back, and 6 cm of fat crease there; above −0.4 flanks are stiff.
const BACK: f32 = -0.6;

/// The layers of an anatomy over the given vertices of the first part of a character with its joints, each vertex on the bone nearest to it.
fn given_layers(anatomy: &LayeredBody, vertices: Vec<u32>) -> GivenLayers {
    let (layers, regions) = (&anatomy.layers, &anatomy.regions);
    let normals = vertex_normals(&layers.skin_mesh());
    let is_back = |v: usize| {
        let is_trunk = matches!(regions.fat[v], Some(FatRegion::Belly | FatRegion::Chest));
        is_trunk && normals[v].z < BACK
    };
    let influences = (0..vertices.len()).map(|v| match regions.bone[v] {
        Some(bone) if layers.layered[v] => bone_weights(anatomy, bone as usize, layers.skeleton[v]),
        _ => Vec::new(),
    });
    GivenLayers {
        part: 0,
        influences: influences.collect(),
        held: (0..vertices.len())
            .map(|v| layers.layered[v] && !regions.slides[v])
            .collect(),
        hollow: regions.abdomen.clone(),
        on_bone: (0..vertices.len()).map(is_back).collect(),
        muscle: layers.muscle.clone(),
        skeleton: layers.skeleton.clone(),
        layered: layers.layered.clone(),
        vertices,
    }
}

/// Passes that smooth the joints that the skeleton surface follows. Without, it creases where it goes over from one bone to the next
/// (the root of the neck); above 6, thin bones are no longer rigid.
const SMOOTHING: usize = 3;

/// Means over neighbours.
fn smoothed(mut rows: Vec<Vec<(u32, f32)>>, triangles: &[[u32; 3]]) -> Vec<Vec<(u32, f32)>> {
    let edges = Adjacency::of_triangles(rows.len(), triangles).edges;
    let neighbours = Rows::from_pairs(
        rows.len(),
        edges.iter().flat_map(|&[a, b]| [(a, b), (b, a)]),
    );
    for _ in 0..SMOOTHING {
        let mean = |v: usize| {
            if rows[v].is_empty() {
                return Vec::new();
            }
            let ring = neighbours.row(v).iter().map(|&other| other as usize);
            let ring: Vec<usize> = ring.filter(|&other| !rows[other].is_empty()).collect();
            let mut sum: BTreeMap<u32, f32> = BTreeMap::new();
            // As much of its own as of all neighbours.
            for (of, share) in std::iter::once((v, ring.len().max(1) as f32))
                .chain(ring.iter().map(|&other| (other, 1.0)))
            {
                for &(joint, weight) in &rows[of] {
                    *sum.entry(joint).or_default() += share * weight;
                }
            }
            let all: f32 = sum.values().sum();
            sum.into_iter().map(|(joint, w)| (joint, w / all)).collect()
        };
        rows = (0..rows.len()).map(mean).collect();
    }
    rows
}

/// What moves a bone at a point.
fn bone_weights(anatomy: &LayeredBody, bone: usize, at: Vec3) -> Vec<(u32, f32)> {
    let bone = &anatomy.bones[bone];
    let distance = |v: &usize| bone.bone.mesh.positions[*v].distance_squared(at);
    let vertex = match bone.rig {
        supple_anatomy::template::Rig::Whole(_) => Some(0),
        _ => (0..bone.bone.mesh.positions.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))),
    };
    let weights = &anatomy.body.influences;
    vertex.map_or_else(Vec::new, |v| bone.rig.weights(v, weights).to_vec())
}

/// The embedded body of the same sex with the anatomy's skin and joints; `None` if their connectivity differs.
fn with_eyes(anatomy: &LayeredBody) -> Option<Character> {
    let which = match anatomy.sex() {
        Sex::Male => Body::Male,
        Sex::Female => Body::Female,
    };
    let mut character = embedded::body(which).ok()?;
    let own = Skin::from_character(&character, anatomy.sex()).ok()?;
    let body = &anatomy.body;
    let names = |skeleton: &Skeleton| -> Vec<String> {
        let joints = skeleton.joints().iter();
        joints.map(|joint| joint.name.clone()).collect()
    };
    let is_alike = own.file_vertices == body.file_vertices
        && own.mesh.triangles == anatomy.layers.triangles
        && names(&own.skeleton) == names(&body.skeleton)
        && character.parts.len() == 1;
    if !is_alike {
        return None;
    }
    character.name = anatomy.name.clone();
    let is_same = own.mesh.positions == anatomy.layers.skin;
    if is_same && own.skeleton.rest_worlds() == body.skeleton.rest_worlds() {
        return Some(character);
    }
    let part = &mut character.parts[0];
    let mut lists: Vec<Vec<(u32, f32)>> = (0..part.mesh.positions.len())
        .map(|v| {
            let entries = part.binding.influences.of(v).iter();
            let joint = |slot: u32| part.binding.joints[slot as usize] as u32;
            entries.map(|&(slot, w)| (joint(slot), w)).collect()
        })
        .collect();
    move_other_shells(part, &own, &anatomy.layers.skin);
    for (v, &vertex) in body.file_vertices.iter().enumerate() {
        part.mesh.positions[vertex as usize] = anatomy.layers.skin[v];
        lists[vertex as usize].clone_from(&body.influences[v]);
    }
    part.binding = binding(&body.skeleton, lists);
    if !part.normals.is_empty() {
        part.normals = vertex_normals(&part.mesh);
    }
    character.skeleton = body.skeleton.clone();
    character.source = Source::None;
    Some(character)
}

/// Moves what does not belong to the largest shell with the skin around it, shell by shell.
fn move_other_shells(part: &mut Part, own: &Skin, skin: &[Vec3]) {
    let tree = KdTree::new(&own.mesh.positions);
    let found = shells(&part.mesh);
    let mut is_skin = vec![false; part.mesh.positions.len()];
    for &v in &own.file_vertices {
        is_skin[v as usize] = true;
    }
    let count = found.of_vertex.iter().max().map_or(0, |&most| most + 1);
    for shell in 0..count {
        let members: Vec<usize> = (0..is_skin.len())
            .filter(|&v| found.of_vertex[v] == shell && !is_skin[v])
            .collect();
        let moved: Vec<Vec3> = (members.iter())
            .filter_map(|&v| tree.nearest_where(part.mesh.positions[v], f32::INFINITY, |_| true))
            .map(|near| skin[near.index as usize] - own.mesh.positions[near.index as usize])
            .collect();
        let shift = moved.iter().sum::<Vec3>() / moved.len().max(1) as f32;
        for v in members {
            part.mesh.positions[v] += shift;
        }
    }
}

/// A binding to all joints of a skeleton at rest; lists have joints and weights.
pub(crate) fn binding(skeleton: &Skeleton, lists: Vec<Vec<(u32, f32)>>) -> Binding {
    let worlds = skeleton.rest_worlds();
    Binding {
        joints: (0..worlds.len()).collect(),
        inverse_binds: worlds.iter().map(|world| world.inverse()).collect(),
        influences: Influences::from_lists(lists),
        computed: false,
    }
}

pub(crate) fn material(name: &str, colour: Vec3) -> Material {
    Material {
        name: name.to_owned(),
        base_color: colour.extend(1.0),
        base_color_image: None,
        double_sided: false,
    }
}
