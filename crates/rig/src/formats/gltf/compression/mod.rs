//! Compressed files are decompressed when they are read, and the document becomes one without compression: written files have
//! plain buffers. `KHR_mesh_quantization` stays; accessors read it.

mod draco;
mod filters;
mod meshopt;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::accessor::Accessors;
use super::document::Document;
use super::json::Element;
use crate::formats::FormatError;
use filters::Filter;

/// Extensions that compress buffer views.
pub(super) const MESHOPT: [&str; 2] = ["KHR_meshopt_compression", "EXT_meshopt_compression"];
/// The extension that compresses the vertices and triangles of primitives.
const DRACO: &str = "KHR_draco_mesh_compression";

/// A buffer view and its content, in the making.
struct View {
    json: Map<String, Value>,
    bytes: Vec<u8>,
    /// Whether the content was compressed in the file.
    unpacked: bool,
}

/// Replaces compressed data by plain data, if there is any.
pub(super) fn decompress(document: &mut Document) -> Result<(), FormatError> {
    let accessors = Accessors::new(document)?;
    let primitives = draco::primitives(document)?;
    let packed = document.root().items("bufferViews")?;
    if primitives.is_empty() && !packed.iter().any(|view| meshopt_of(view).is_some()) {
        return Ok(());
    }
    let mut views = Vec::with_capacity(packed.len());
    for view in &packed {
        views.push(unpacked(view, &accessors)?);
    }
    let mut json = document.json.clone();
    for primitive in &primitives {
        draco::unpack(primitive, &accessors, &mut views, &mut json)?;
    }
    let changed: BTreeSet<usize> = (views.iter().enumerate())
        .filter_map(|(index, view)| view.unpacked.then_some(index))
        .collect();
    document.json = json;
    write_views(document, views);
    drop_names(&mut document.json);
    update_bounds(document, &changed)
}

fn meshopt_of<'a>(view: &Element<'a>) -> Option<Element<'a>> {
    let extensions = view.child("extensions")?;
    MESHOPT.iter().find_map(|name| extensions.child(name))
}

/// The content of a view: decoded, or as it is.
fn unpacked(view: &Element<'_>, accessors: &Accessors<'_>) -> Result<View, FormatError> {
    let mut json = view.value.as_object().cloned().unwrap_or_default();
    let Some(packed) = meshopt_of(view) else {
        let bytes = accessors.range(view)?;
        accessors.spend(bytes.len(), &view.path)?;
        return Ok(View {
            json,
            bytes: bytes.to_vec(),
            unpacked: false,
        });
    };
    if let Some(extensions) = json.get_mut("extensions").and_then(Value::as_object_mut) {
        MESHOPT.iter().for_each(|name| {
            extensions.shift_remove(*name);
        });
        if extensions.is_empty() {
            json.shift_remove("extensions");
        }
    }
    let stream = accessors.range(&packed)?;
    let count = packed.uint("count", 0)?;
    let stride = packed.uint("byteStride", 0)?;
    let length = view.uint("byteLength", 0)?;
    let size = count.saturating_mul(stride);
    accessors.spend(size.saturating_mul(2), &packed.path)?;
    if size < length {
        let reason = format!("has {size} bytes, but its view needs {length}");
        return Err(packed.invalid(reason));
    }
    let broken = || packed.invalid("is damaged: it cannot be decompressed");
    let filter = packed.text("filter");
    let filter = Filter::from_name(&filter)
        .ok_or_else(|| packed.invalid(format!("has the unknown filter '{filter}'")))?;
    let mut bytes = match packed.text("mode").as_str() {
        "ATTRIBUTES" => {
            let mut bytes = meshopt::attributes(stream, count, stride).ok_or_else(broken)?;
            filter.undo(&mut bytes, stride).ok_or_else(broken)?;
            bytes
        }
        "TRIANGLES" => index_bytes(meshopt::triangles(stream, count), stride).ok_or_else(broken)?,
        "INDICES" => index_bytes(meshopt::indices(stream, count), stride).ok_or_else(broken)?,
        other => return Err(packed.invalid(format!("has the unknown mode '{other}'"))),
    };
    bytes.truncate(length);
    Ok(View {
        json,
        bytes,
        unpacked: true,
    })
}

fn index_bytes(indices: Option<Vec<u32>>, stride: usize) -> Option<Vec<u8>> {
    let indices = indices?;
    match stride {
        2 => Some(
            indices
                .iter()
                .flat_map(|&i| (i as u16).to_le_bytes())
                .collect(),
        ),
        4 => Some(indices.iter().flat_map(|i| i.to_le_bytes()).collect()),
        _ => None,
    }
}

/// One buffer with the content of all views.
fn write_views(document: &mut Document, views: Vec<View>) {
    let mut buffer = Vec::new();
    let mut list = Vec::with_capacity(views.len());
    for mut view in views {
        buffer.resize(buffer.len().next_multiple_of(4), 0);
        view.json.insert("buffer".into(), 0.into());
        view.json.insert("byteOffset".into(), buffer.len().into());
        view.json
            .insert("byteLength".into(), view.bytes.len().into());
        buffer.extend(view.bytes);
        list.push(Value::Object(view.json));
    }
    document.json["bufferViews"] = Value::Array(list);
    document.json["buffers"] = json!([{ "byteLength": buffer.len() }]);
    document.size = document.size.max(buffer.len());
    document.buffers = vec![buffer];
}

/// Removes the extensions' names from the lists of those used and required.
fn drop_names(json: &mut Value) {
    for list in ["extensionsUsed", "extensionsRequired"] {
        let Some(names) = json.get_mut(list).and_then(Value::as_array_mut) else {
            continue;
        };
        names.retain(|name| {
            let name = name.as_str().unwrap_or_default();
            name != DRACO && !MESHOPT.contains(&name)
        });
        if names.is_empty()
            && let Some(root) = json.as_object_mut()
        {
            root.shift_remove(list);
        }
    }
}

/// Bounds in the file are those before compression.
fn update_bounds(document: &mut Document, changed: &BTreeSet<usize>) -> Result<(), FormatError> {
    let accessors = Accessors::new(document)?;
    let mut bounds = Vec::new();
    for (index, accessor) in document.root().items("accessors")?.iter().enumerate() {
        let view = accessor.optional_index("bufferView", accessors.view_count())?;
        let bounded = accessor.get("min").is_some() || accessor.get("max").is_some();
        if !bounded || view.is_none_or(|view| !changed.contains(&view)) {
            continue;
        }
        let (numbers, components) = accessors.raw(index)?;
        let mut low = vec![f64::INFINITY; components];
        let mut high = vec![f64::NEG_INFINITY; components];
        for element in numbers.chunks_exact(components) {
            for (axis, &number) in element.iter().enumerate() {
                low[axis] = low[axis].min(number);
                high[axis] = high[axis].max(number);
            }
        }
        if numbers.iter().all(|number| number.is_finite()) && !numbers.is_empty() {
            bounds.push((index, low, high));
        }
    }
    for (index, low, high) in bounds {
        document.json["accessors"][index]["min"] = json!(low);
        document.json["accessors"][index]["max"] = json!(high);
    }
    Ok(())
}
