//! How a layered body looks: its skin with the eyes of the embedded body that it comes from.

use glam::Vec3;
use supple_anatomy::inside::rest_binding;
use supple_anatomy::{Body as Skin, LayeredBody, Sex};
use supple_geom::kd_tree::KdTree;
use supple_geom::normals::vertex_normals;
use supple_geom::shells::shells;
use supple_rig::formats::Source;
use supple_rig::{Character, Part, Skeleton};

use crate::embedded::{self, Body};

/// The embedded body of the same sex with the anatomy's skin and joints; `None` if their connectivity differs.
pub(crate) fn with_eyes(anatomy: &LayeredBody) -> Option<Character> {
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
    part.binding = rest_binding(&body.skeleton, lists);
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
