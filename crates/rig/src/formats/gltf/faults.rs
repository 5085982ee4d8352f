//! Errors of a document that Supple reads all the same, and that other programs may refuse: the file is written back with them.

use std::collections::{BTreeMap, BTreeSet};

use glam::Vec3;
use serde_json::Value;

use super::document::Document;
use super::links::PartLink;
use crate::Part;
use crate::character::{Problem, Severity};

/// Most problems of one kind that are listed one by one.
const MOST_PLACES: usize = 3;

/// Violations of the glTF 2.0 specification.
pub(super) fn faults(document: &Document, parts: &[Part], links: &[PartLink]) -> Vec<Problem> {
    let mut found: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    let mut add = |what: &'static str, place: String| found.entry(what).or_default().push(place);
    let json = &document.json;
    if json.pointer("/asset/version").and_then(Value::as_str) != Some("2.0") {
        add("The version is not 2.0.", "asset".to_owned());
    }
    for name in undeclared_extensions(json) {
        add(
            "The extension is used, but not listed in extensionsUsed.",
            name,
        );
    }
    alignment(json, &mut add);
    rotations(json, &mut add);
    channels(json, &mut add);
    skins(json, &mut add);
    bounds(json, parts, links, &mut add);
    let problem = |(what, places): (&str, Vec<String>)| {
        let mut place = places[..places.len().min(MOST_PLACES)].join(", ");
        if places.len() > MOST_PLACES {
            place.push_str(&format!(", … ({} times)", places.len()));
        }
        Problem {
            remedy: None,
            severity: Severity::Note,
            place,
            text: format!(
                "{what} Supple reads it; other programs may refuse the file, and what is written from it."
            ),
        }
    };
    found.into_iter().map(problem).collect()
}

fn list<'a>(json: &'a Value, key: &str) -> &'a [Value] {
    json.get(key)
        .and_then(Value::as_array)
        .map_or(&[], |list| list)
}

fn number(json: &Value, key: &str) -> Option<u64> {
    json.get(key).and_then(Value::as_u64)
}

/// Extensions anywhere in the document that its list does not have.
fn undeclared_extensions(json: &Value) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut open = vec![json];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value) {
                        ("extensions", Value::Object(own)) => used.extend(own.keys().cloned()),
                        ("extras", _) => continue,
                        _ => {}
                    }
                    open.push(value);
                }
            }
            _ => {}
        }
    }
    for name in list(json, "extensionsUsed")
        .iter()
        .filter_map(Value::as_str)
    {
        used.remove(name);
    }
    used
}

/// Data must lie at multiples of its component's size.
fn alignment(json: &Value, add: &mut dyn FnMut(&'static str, String)) {
    let views = list(json, "bufferViews");
    for (index, accessor) in list(json, "accessors").iter().enumerate() {
        let size = match number(accessor, "componentType") {
            Some(5122 | 5123) => 2,
            Some(5125 | 5126) => 4,
            _ => continue,
        };
        let view = number(accessor, "bufferView").and_then(|view| views.get(view as usize));
        let Some(view) = view else { continue };
        let own = number(accessor, "byteOffset").unwrap_or(0);
        let start = number(view, "byteOffset").unwrap_or(0).wrapping_add(own);
        let stride = number(view, "byteStride").unwrap_or(0);
        if !start.is_multiple_of(size) || !stride.is_multiple_of(size) {
            add(
                "The data is not aligned to its component size.",
                format!("accessors[{index}]"),
            );
        }
    }
}

/// Rotations of nodes are unit quaternions; animated nodes have no matrix.
fn rotations(json: &Value, add: &mut dyn FnMut(&'static str, String)) {
    for (index, node) in list(json, "nodes").iter().enumerate() {
        let turn = list(node, "rotation").iter().filter_map(Value::as_f64);
        let square: f64 = turn.map(|x| x * x).sum();
        if node.get("rotation").is_some() && (square - 1.0).abs() > 1e-3 {
            add(
                "The rotation is no unit quaternion.",
                format!("nodes[{index}]"),
            );
        }
    }
    let moved: BTreeSet<u64> = (list(json, "animations").iter())
        .flat_map(|animation| list(animation, "channels"))
        .filter_map(|channel| number(channel.get("target")?, "node"))
        .collect();
    for index in moved {
        let node = list(json, "nodes").get(index as usize);
        if node.is_some_and(|node| node.get("matrix").is_some()) {
            add(
                "An animation moves a node that has a matrix.",
                format!("nodes[{index}]"),
            );
        }
    }
}

/// No two channels of an animation move the same property.
fn channels(json: &Value, add: &mut dyn FnMut(&'static str, String)) {
    for (index, animation) in list(json, "animations").iter().enumerate() {
        let mut seen = BTreeSet::new();
        for channel in list(animation, "channels") {
            let Some(target) = channel.get("target") else {
                continue;
            };
            let path = target.get("path").and_then(Value::as_str).unwrap_or("");
            let Some(node) = number(target, "node") else {
                continue;
            };
            if !seen.insert((node, path)) {
                let place = format!("animations[{index}], nodes[{node}].{path}");
                add("Two channels move the same property.", place);
            }
        }
    }
}

/// Joints of a skin are listed once; skinned meshes have joints and weights.
fn skins(json: &Value, add: &mut dyn FnMut(&'static str, String)) {
    for (index, skin) in list(json, "skins").iter().enumerate() {
        let joints = list(skin, "joints");
        let once: BTreeSet<u64> = joints.iter().filter_map(Value::as_u64).collect();
        if once.len() < joints.len() {
            add("A joint is listed twice.", format!("skins[{index}]"));
        }
    }
    for (index, node) in list(json, "nodes").iter().enumerate() {
        let Some(mesh) = number(node, "mesh").filter(|_| node.get("skin").is_some()) else {
            continue;
        };
        let mesh = list(json, "meshes").get(mesh as usize);
        let bare = |primitive: &Value| primitive.pointer("/attributes/JOINTS_0").is_none();
        if mesh.is_some_and(|mesh| list(mesh, "primitives").iter().any(bare)) {
            add(
                "A mesh with a skin has no joints and weights.",
                format!("nodes[{index}]"),
            );
        }
    }
}

/// Positions declare the box that they fill.
fn bounds(
    json: &Value,
    parts: &[Part],
    links: &[PartLink],
    add: &mut dyn FnMut(&'static str, String),
) {
    let mut seen = BTreeSet::new();
    for (part, link) in parts.iter().zip(links) {
        let path = format!(
            "/meshes/{}/primitives/{}/attributes/POSITION",
            link.mesh, link.primitive
        );
        let Some(index) = json.pointer(&path).and_then(Value::as_u64) else {
            continue;
        };
        let accessor = list(json, "accessors").get(index as usize);
        let Some(accessor) = accessor.filter(|_| seen.insert(index)) else {
            continue;
        };
        // Quantized positions are declared before they are decoded.
        if number(accessor, "componentType") != Some(5126) {
            continue;
        }
        let declared = |key: &str| {
            let numbers: Vec<f32> = (list(accessor, key).iter())
                .filter_map(|x| Some(x.as_f64()? as f32))
                .collect();
            <[f32; 3]>::try_from(numbers).ok().map(Vec3::from)
        };
        let place = format!("accessors[{index}]");
        let (Some(low), Some(high)) = (declared("min"), declared("max")) else {
            add("Positions do not declare their bounds.", place);
            continue;
        };
        let all = part.mesh.positions.iter();
        let own = all.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), &p| {
            (a.min(p), b.max(p))
        });
        let slack = 1e-4 * (own.1 - own.0).length();
        if !(own.0.abs_diff_eq(low, slack) && own.1.abs_diff_eq(high, slack)) {
            add(
                "Positions lie outside of the bounds that are declared.",
                place,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(json: Value) -> String {
        let document = Document {
            json,
            ..Document::default()
        };
        let part = Part {
            mesh: supple_geom::shapes::icosphere(1.0, 1),
            ..Part::default()
        };
        let link = PartLink {
            mesh: 0,
            primitive: 0,
            node: 0,
            vertices: 42,
        };
        let found = faults(&document, &[part], &[link]).into_iter();
        let lines = found.map(|problem| format!("{}: {}\n", problem.place, problem.text));
        lines.collect()
    }

    #[test]
    fn sound_documents_have_none_and_every_fault_is_told() {
        let sound = json!({
            "asset": {"version": "2.0"},
            "extensionsUsed": ["KHR_materials_unlit"],
            "materials": [{"extensions": {"KHR_materials_unlit": {}}}],
            "nodes": [{"mesh": 0, "rotation": [0.0, 0.0, 0.6, 0.8]}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [{"componentType": 5126, "bufferView": 0, "min": [-1, -1, -1], "max": [1, 1, 1]}],
            "bufferViews": [{"byteOffset": 8}],
            "skins": [{"joints": [0]}],
            "animations": [{"channels": [{"target": {"node": 0, "path": "rotation"}}]}],
        });
        // The icosphere reaches the box only nearly; its own bounds are taken.
        let mut sound = sound;
        let positions = supple_geom::shapes::icosphere(1.0, 1).positions;
        let low = positions.iter().fold(Vec3::INFINITY, |a, &p| a.min(p));
        let high = positions.iter().fold(Vec3::NEG_INFINITY, |a, &p| a.max(p));
        sound["accessors"][0]["min"] = json!(low.to_array());
        sound["accessors"][0]["max"] = json!(high.to_array());
        assert_eq!(said(sound.clone()), "");
        for (pointer, value, word) in [
            ("/asset/version", json!("1.0"), "version"),
            ("/extensionsUsed", json!([]), "KHR_materials_unlit"),
            (
                "/nodes/0/rotation",
                json!([0.0, 0.0, 0.0, 2.0]),
                "unit quaternion",
            ),
            ("/bufferViews/0/byteOffset", json!(7), "not aligned"),
            (
                "/accessors/0/min",
                json!([-9, -1, -1]),
                "outside of the bounds",
            ),
            ("/accessors/0/max", json!(null), "do not declare"),
            ("/skins/0/joints", json!([0, 0]), "twice"),
            (
                "/animations/0/channels",
                json!([{"target": {"node": 0, "path": "scale"}}, {"target": {"node": 0, "path": "scale"}}]),
                "same property",
            ),
            (
                "/nodes/0",
                json!({"mesh": 0, "skin": 0}),
                "no joints and weights",
            ),
            ("/nodes/0", json!({"mesh": 0, "matrix": []}), "has a matrix"),
        ] {
            let mut broken = sound.clone();
            *broken.pointer_mut(pointer).unwrap() = value;
            let text = said(broken);
            assert!(text.contains(word), "{pointer}: {text}");
        }
    }
}
