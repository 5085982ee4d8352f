//! Appends morph targets and clips to a glTF document.

use glam::Vec3;
use serde_json::{Value, json};

use super::directions::Directions;
use super::motion::Motion;
use super::residual::Group;
use crate::clip::{Interpolation, MorphTrack};
use crate::formats::FormatError;
use crate::formats::gltf::append::{Use, append_floats, push_in};
use crate::formats::gltf::{Document, append_clip};
use crate::{Character, Clip, Skeleton};

/// The parts of each node, in order.
pub(super) fn groups(document: &Document) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (part, link) in document.links.parts.iter().enumerate() {
        match groups.iter_mut().find(|group| group.node == link.node) {
            Some(group) => group.parts.push(part),
            None => groups.push(Group {
                node: link.node,
                parts: vec![part],
            }),
        }
    }
    groups
}

/// Morph weights of a group over time: the file's own targets, then the new ones. All primitives of a mesh share
/// them.
pub(super) fn weight_track(
    character: &Character,
    motion: &Motion,
    group: &Group,
    new: &[Vec<f32>],
) -> Option<MorphTrack> {
    let &part = group.parts.first()?;
    let own = character.parts[part].morphs.len();
    if own + new.len() == 0 {
        return None;
    }
    let frames = motion.frames.len();
    let mut weights = Vec::with_capacity(frames * (own + new.len()));
    for frame in 0..frames {
        let given = motion.weights(character, frame, part);
        weights.extend((0..own).map(|target| given.get(target).copied().unwrap_or(0.0)));
        weights.extend(new.iter().map(|mode| mode[frame]));
    }
    Some(MorphTrack {
        part,
        times: (0..frames).map(|frame| motion.time(frame)).collect(),
        weights,
        interpolation: Interpolation::Linear,
    })
}

/// EyesAndTongue a clip before the document's own, so that players of the first clip play it. The name is made
/// unique.
pub(super) fn put_clip_first(
    document: &mut Document,
    skeleton: &Skeleton,
    mut clip: Clip,
) -> Result<(), FormatError> {
    let before = document.count("animations");
    let taken = |name: &str| {
        let animations = document.json["animations"].as_array().into_iter().flatten();
        animations
            .into_iter()
            .any(|animation| animation["name"] == name)
    };
    while taken(&clip.name) {
        clip.name.push_str(" soft");
    }
    append_clip(document, skeleton, &clip)?;
    // Indexing would insert a null if there are no animations.
    let animations = document.json.get_mut("animations");
    let animations = animations.and_then(serde_json::Value::as_array_mut);
    if let Some(animations) = animations.filter(|list| list.len() > before) {
        animations.rotate_right(1);
    }
    Ok(())
}

/// Adds `shapes` (bind-space offsets \[m\], the group's parts concatenated) to the mesh of a node, with
/// normal and tangent offsets if given.
///
/// A mesh shared with other nodes is copied first. Rest weights, target names and animations of the node's weights
/// are extended to match.
pub(super) fn add_targets(
    document: &mut Document,
    character: &Character,
    group: &Group,
    shapes: &[Vec<Vec3>],
    directions: &[Directions],
    name: &str,
) -> Result<(), FormatError> {
    if shapes.is_empty() {
        return Ok(());
    }
    let own = group
        .parts
        .first()
        .map_or(0, |&part| character.parts[part].morphs.len());
    let mesh = own_mesh(document, group);
    let scale = 1.0 / document.links.units.metres_per_unit;
    let primitives = document.json["meshes"][mesh]["primitives"]
        .as_array()
        .map_or(0, Vec::len);
    for primitive in 0..primitives {
        let linked = |part: &&usize| document.links.parts[**part].primitive == primitive;
        let place = group.parts.iter().position(|part| linked(&part));
        match place {
            Some(place) => {
                let start = group.parts[..place]
                    .iter()
                    .map(|&part| character.parts[part].mesh.positions.len())
                    .sum();
                let end = start + character.parts[group.parts[place]].mesh.positions.len();
                let moves_tangents = has_tangents(document, mesh, primitive);
                for (index, shape) in shapes.iter().enumerate() {
                    let mut append = |list: &[Vec3], scale: f32| {
                        let offsets: Vec<[f32; 3]> = (list[start..end].iter())
                            .map(|offset| (*offset * scale).to_array())
                            .collect();
                        append_floats(document, &offsets, Use::Vertices)
                    };
                    let mut target = json!({ "POSITION": append(shape, scale) });
                    if let Some(along) = directions.get(index) {
                        target["NORMAL"] = append(&along.normals, 1.0).into();
                        if moves_tangents && !along.tangents.is_empty() {
                            target["TANGENT"] = append(&along.tangents, 1.0).into();
                        }
                    }
                    push_target(document, mesh, primitive, target);
                }
            }
            None => pad_with_zeros(document, mesh, primitive, shapes.len()),
        }
    }
    extend_lists(document, group.node, mesh, own, shapes.len(), name);
    extend_animations(document, group.node, own, shapes.len())
}

/// Whether a primitive has tangents that all its own morph targets move.
fn has_tangents(document: &Document, mesh: usize, primitive: usize) -> bool {
    let entry = &document.json["meshes"][mesh]["primitives"][primitive];
    let targets = entry.get("targets").and_then(Value::as_array);
    let moves = |target: &Value| target.get("TANGENT").is_some();
    entry.pointer("/attributes/TANGENT").is_some()
        && targets.is_none_or(|targets| targets.iter().all(moves))
}

fn push_target(document: &mut Document, mesh: usize, primitive: usize, target: Value) {
    push_in(
        &mut document.json["meshes"][mesh]["primitives"][primitive],
        "targets",
        target,
    );
}

/// Gives primitives without a surface (points, lines) zero targets: all primitives of a mesh need the same number.
fn pad_with_zeros(document: &mut Document, mesh: usize, primitive: usize, count: usize) {
    let entry = &document.json["meshes"][mesh]["primitives"][primitive];
    let position = entry
        .pointer("/attributes/POSITION")
        .and_then(Value::as_u64);
    let base = position.and_then(|index| document.json["accessors"].get(index as usize));
    let Some(vertices) = base.and_then(|accessor| accessor.get("count")).cloned() else {
        return;
    };
    let zeros = json!({
        "componentType": 5126, "count": vertices, "type": "VEC3", "min": [0, 0, 0], "max": [0, 0, 0],
    });
    push_in(&mut document.json, "accessors", zeros);
    let accessor = document.count("accessors") - 1;
    for _ in 0..count {
        push_target(document, mesh, primitive, json!({ "POSITION": accessor }));
    }
}

/// The node's mesh, copied if other nodes use it as well.
fn own_mesh(document: &mut Document, group: &Group) -> usize {
    let mesh = group
        .parts
        .first()
        .map_or(0, |&part| document.links.parts[part].mesh);
    let nodes = document.json["nodes"].as_array();
    let shown = |node: &&Value| node.get("mesh").and_then(Value::as_u64) == Some(mesh as u64);
    if nodes.is_some_and(|nodes| nodes.iter().filter(shown).count() < 2) {
        return mesh;
    }
    let copy = document.json["meshes"][mesh].clone();
    push_in(&mut document.json, "meshes", copy);
    let copy = document.count("meshes") - 1;
    document.json["nodes"][group.node]["mesh"] = copy.into();
    for &part in &group.parts {
        document.links.parts[part].mesh = copy;
    }
    copy
}

/// Appends rest weights and names of the new targets.
fn extend_lists(
    document: &mut Document,
    node: usize,
    mesh: usize,
    own: usize,
    new: usize,
    name: &str,
) {
    let extend = |weights: Option<&Value>| -> Value {
        let given = weights
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let kept = given.into_iter().chain(std::iter::repeat(json!(0.0)));
        kept.take(own)
            .chain(std::iter::repeat_n(json!(0.0), new))
            .collect()
    };
    let entry = &mut document.json["meshes"][mesh];
    entry["weights"] = extend(entry.get("weights"));
    if entry.get("extras").is_none_or(Value::is_object) {
        let names = entry
            .pointer("/extras/targetNames")
            .and_then(Value::as_array);
        let names = names.cloned().unwrap_or_default().into_iter();
        let kept = names
            .chain((0..).map(|target| json!(format!("target {target}"))))
            .take(own);
        let names: Vec<Value> = kept
            .chain((1..=new).map(|k| json!(format!("{name} {k:02}"))))
            .collect();
        entry["extras"]["targetNames"] = names.into();
    }
    let node = &mut document.json["nodes"][node];
    if node.get("weights").is_some() {
        node["weights"] = extend(node.get("weights"));
    }
}

/// Extends the file's animations of this node's weights; the new targets stay at rest there.
fn extend_animations(
    document: &mut Document,
    node: usize,
    own: usize,
    new: usize,
) -> Result<(), FormatError> {
    if own == 0 {
        return Ok(());
    }
    for animation in 0..document.count("animations") {
        let channels = document.json["animations"][animation]["channels"]
            .as_array()
            .map_or(0, Vec::len);
        for channel in 0..channels {
            let entry = &document.json["animations"][animation];
            let target = &entry["channels"][channel]["target"];
            let ours = target["path"] == "weights" && target["node"].as_u64() == Some(node as u64);
            if !ours {
                continue;
            }
            let sampler = entry["channels"][channel]["sampler"].as_u64().unwrap_or(0) as usize;
            let mut sampler = entry["samplers"][sampler].clone();
            let output = sampler["output"].as_u64().unwrap_or(0) as usize;
            let old = document.numbers(output, 1)?;
            let wider: Vec<[f32; 1]> = old
                .chunks(own)
                .flat_map(|block| block.iter().copied().chain(std::iter::repeat_n(0.0, new)))
                .map(|weight| [weight])
                .collect();
            sampler["output"] = append_floats(document, &wider, Use::Data).into();
            let entry = &mut document.json["animations"][animation];
            push_in(entry, "samplers", sampler);
            let last = entry["samplers"]
                .as_array()
                .map_or(0, |samplers| samplers.len() - 1);
            entry["channels"][channel]["sampler"] = last.into();
        }
    }
    Ok(())
}
