//! VRM avatars: humanoid bones and metadata.

use std::collections::BTreeMap;

use serde_json::Value;

use super::json::as_uint;

/// Nodes by VRM 1.0 bone name; empty if the file is not a VRM.
///
/// VRM 0.x names the three thumb bones proximal, intermediate, distal; VRM 1.0 names the same bones metacarpal,
/// proximal, distal. The VRM 1.0 names are used for both.
pub(super) fn humanoid_nodes(json: &Value) -> BTreeMap<String, usize> {
    let count = json
        .get("nodes")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let new = json.pointer("/extensions/VRMC_vrm/humanoid/humanBones");
    let old = json.pointer("/extensions/VRM/humanoid/humanBones");
    let node = |bone: &Value| {
        bone.get("node")
            .and_then(as_uint)
            .filter(|&node| node < count)
    };
    if let Some(bones) = new.and_then(Value::as_object) {
        let named = bones.iter();
        return named
            .filter_map(|(name, bone)| Some((name.clone(), node(bone)?)))
            .collect();
    }
    let bones = old.and_then(Value::as_array);
    bones
        .into_iter()
        .flatten()
        .filter_map(|bone| Some((new_name(bone.get("bone")?.as_str()?), node(bone)?)))
        .collect()
}

fn new_name(name: &str) -> String {
    let side = |name: &str| name.replace("ThumbProximal", "ThumbMetacarpal");
    match name {
        "leftThumbProximal" | "rightThumbProximal" => side(name),
        "leftThumbIntermediate" => "leftThumbProximal".into(),
        "rightThumbIntermediate" => "rightThumbProximal".into(),
        other => other.into(),
    }
}

/// Title, author, licence etc. under the file's own keys; `format` is the VRM version.
pub(super) fn about(json: &Value) -> BTreeMap<String, String> {
    let mut about = BTreeMap::new();
    let mut add = |key: &str, value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(items) => {
                let texts: Vec<_> = items.iter().filter_map(Value::as_str).collect();
                texts.join(", ")
            }
            _ => return,
        };
        if !text.is_empty() {
            about.insert(key.to_owned(), text);
        }
    };
    for key in ["generator", "copyright"] {
        json.pointer(&format!("/asset/{key}"))
            .into_iter()
            .for_each(|value| add(key, value));
    }
    let versions = [("VRMC_vrm", "VRM 1.0"), ("VRM", "VRM 0.x")];
    let found = versions
        .iter()
        .find(|(key, _)| json.pointer(&format!("/extensions/{key}")).is_some());
    if let Some((key, format)) = found {
        let meta = json.pointer(&format!("/extensions/{key}/meta"));
        for (key, value) in meta.and_then(Value::as_object).into_iter().flatten() {
            add(key, value);
        }
        about.insert("format".into(), (*format).into());
    }
    about
}
