//! Appends data to a document's first buffer.

use serde_json::{Value, json};

use super::document::{Document, push};

/// Target of a buffer view.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Use {
    /// None: keys and matrices.
    Data,
    /// Vertex attributes.
    Vertices,
    /// Vertex indices.
    Indices,
}

/// Appends bytes as a new buffer view; returns its index.
pub(super) fn append_bytes(document: &mut Document, bytes: &[u8], usage: Use) -> usize {
    if document.buffers.is_empty() {
        document.buffers.push(Vec::new());
        document.json["buffers"] = json!([{"byteLength": 0}]);
    }
    let buffer = &mut document.buffers[0];
    buffer.resize(buffer.len().next_multiple_of(4), 0);
    let mut view = json!({"buffer": 0, "byteOffset": buffer.len(), "byteLength": bytes.len()});
    match usage {
        Use::Data => {}
        Use::Vertices => view["target"] = json!(34962),
        Use::Indices => view["target"] = json!(34963),
    }
    buffer.extend_from_slice(bytes);
    let length = buffer.len();
    document.json["buffers"][0]["byteLength"] = json!(length);
    push(&mut document.json, "bufferViews", view)
}

/// Appends floats as an accessor of elements with `N` numbers; returns its index. Bounds are always written; glTF requires them for
/// key times and positions.
pub(crate) fn append_floats<const N: usize>(
    document: &mut Document,
    elements: &[[f32; N]],
    usage: Use,
) -> usize {
    let kind = match N {
        1 => "SCALAR",
        2 => "VEC2",
        3 => "VEC3",
        4 => "VEC4",
        _ => "MAT4",
    };
    let view = append_bytes(
        document,
        bytemuck::cast_slice(elements.as_flattened()),
        usage,
    );
    let mut accessor = json!({
        "bufferView": view, "componentType": 5126, "count": elements.len(), "type": kind,
    });
    if matches!(N, 1 | 3) && !elements.is_empty() {
        let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            let along = |axis: usize| elements.iter().map(move |element| element[axis]);
            (0..N)
                .map(|axis| along(axis).reduce(pick).unwrap_or(0.0))
                .collect()
        };
        accessor["min"] = json!(bound(f32::min));
        accessor["max"] = json!(bound(f32::max));
    }
    push(&mut document.json, "accessors", accessor)
}

/// Appends vertex indices, in 16 bits if they fit.
pub(super) fn append_indices(document: &mut Document, indices: &[u32], vertices: usize) -> usize {
    let short = vertices < usize::from(u16::MAX);
    let view = if short {
        let shorts: Vec<u16> = indices.iter().map(|&index| index as u16).collect();
        append_bytes(document, bytemuck::cast_slice(&shorts), Use::Indices)
    } else {
        append_bytes(document, bytemuck::cast_slice(indices), Use::Indices)
    };
    let kind = if short { 5123 } else { 5125 };
    let accessor = json!({
        "bufferView": view, "componentType": kind, "count": indices.len(), "type": "SCALAR",
    });
    push(&mut document.json, "accessors", accessor)
}

/// Appends the joint slots of vertices.
pub(super) fn append_slots(document: &mut Document, slots: &[[u16; 4]]) -> usize {
    let bytes = bytemuck::cast_slice(slots.as_flattened());
    let view = append_bytes(document, bytes, Use::Vertices);
    let accessor = json!({
        "bufferView": view, "componentType": 5123, "count": slots.len(), "type": "VEC4",
    });
    push(&mut document.json, "accessors", accessor)
}

/// Appends to a list inside an element; creates the list if needed.
pub(crate) fn push_in(element: &mut Value, list: &str, item: Value) {
    if !element.get(list).is_some_and(Value::is_array) {
        element[list] = json!([]);
    }
    if let Some(items) = element[list].as_array_mut() {
        items.push(item);
    }
}
