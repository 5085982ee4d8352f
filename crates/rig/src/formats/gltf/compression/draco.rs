//! `KHR_draco_mesh_compression`: the vertices and triangles of a primitive in one stream, decoded by `draco-core`.

use draco_core::decode_limits::DecodeLimits;
use draco_core::decoder_buffer::DecoderBuffer;
use draco_core::draco_types::DataType;
use draco_core::geometry_attribute::PointAttribute;
use draco_core::geometry_indices::PointIndex;
use draco_core::mesh::Mesh;
use draco_core::mesh_decoder::MeshDecoder;
use serde_json::{Map, Value};

use super::{Accessors, DRACO, Document, Element, FormatError, View};

/// Decoded bytes allowed for each byte of a stream: flat attributes compress to almost nothing.
const DECODED_PER_BYTE: u64 = 1 << 12;
/// Triangles and vertices allowed for each byte of a stream. Regular grids take about a hundredth of a byte.
const ELEMENTS_PER_BYTE: u64 = 1 << 8;
/// Triangles and vertices allowed for any stream, however short.
const MIN_ELEMENT_LIMIT: u64 = 1 << 16;

/// A compressed primitive.
pub(super) struct Packed<'a> {
    mesh: usize,
    number: usize,
    primitive: Element<'a>,
    extension: Element<'a>,
}

/// All compressed primitives.
pub(super) fn primitives(document: &Document) -> Result<Vec<Packed<'_>>, FormatError> {
    let mut found = Vec::new();
    for (mesh, element) in document.root().items("meshes")?.into_iter().enumerate() {
        for (number, primitive) in element.items("primitives")?.into_iter().enumerate() {
            let extension = (primitive.child("extensions")).and_then(|all| all.child(DRACO));
            if let Some(extension) = extension {
                found.push(Packed {
                    mesh,
                    number,
                    primitive,
                    extension,
                });
            }
        }
    }
    Ok(found)
}

/// Decodes a primitive. Its data become new views, and its accessors refer to them.
pub(super) fn unpack(
    packed: &Packed<'_>,
    accessors: &Accessors<'_>,
    views: &mut Vec<View>,
    json: &mut Value,
) -> Result<(), FormatError> {
    let extension = &packed.extension;
    let view = extension.index("bufferView", accessors.view_count())?;
    let mesh = decode(accessors.view(view)?, extension)?;
    let points = mesh.num_points();
    let corners: Vec<u32> = mesh.faces().iter().flatten().map(|point| point.0).collect();
    if let Some(corner) = corners.iter().find(|&&corner| corner as usize >= points) {
        let reason = format!("refers to vertex {corner}, but has only {points}");
        return Err(extension.invalid(reason));
    }
    let mut fill = |accessor: usize, count: usize, numbers: &dyn Fn(usize, usize) -> f64| {
        let element = &mut json["accessors"][accessor];
        let kind = element["componentType"].as_u64().unwrap_or(0);
        let components = match element["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            Some("VEC4") => 4,
            _ => 0,
        };
        let size = component_size(kind) * components;
        if size == 0 {
            let path = accessors.path(accessor);
            return Err(FormatError::invalid(
                path,
                "has no type that can be compressed",
            ));
        }
        // Indices are packed; elements of vertex attributes begin at multiples of four bytes.
        let indices =
            components == 1 && count == corners.len() && accessor_is_indices(packed, accessor);
        let stride = if indices {
            size
        } else {
            size.next_multiple_of(4)
        };
        accessors.spend(count.saturating_mul(stride), &extension.path)?;
        let mut bytes = Vec::with_capacity(count * stride);
        for index in 0..count {
            for component in 0..components {
                push_number(&mut bytes, kind, numbers(index, component));
            }
            bytes.resize((index + 1) * stride, 0);
        }
        let mut view = Map::new();
        if stride != size {
            view.insert("byteStride".into(), stride.into());
        }
        view.insert("target".into(), if indices { 34963 } else { 34962 }.into());
        views.push(View {
            json: view,
            bytes,
            unpacked: true,
        });
        element["bufferView"] = (views.len() - 1).into();
        element["count"] = count.into();
        if let Some(element) = element.as_object_mut() {
            element.shift_remove("byteOffset");
            element.shift_remove("sparse");
        }
        Ok(())
    };
    if let Some(indices) = packed
        .primitive
        .optional_index("indices", accessors.len())?
    {
        fill(indices, corners.len(), &|corner, _| {
            f64::from(corners[corner])
        })?;
    }
    let attributes = packed.primitive.child("attributes");
    let compressed = extension.child("attributes");
    let names = compressed.as_ref().and_then(|list| list.value.as_object());
    for (name, id) in names.into_iter().flatten() {
        let missing = || extension.invalid(format!("has no attribute for {name}"));
        let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
        let attribute = id.and_then(|id| mesh.attribute_by_unique_id(id));
        let attribute = attribute.ok_or_else(missing)?;
        let accessor = match &attributes {
            Some(list) => list.optional_index(name, accessors.len())?,
            None => None,
        };
        let accessor = accessor.ok_or_else(missing)?;
        fill(accessor, points, &|point, component| {
            number(attribute, point as u32, component)
        })?;
    }
    // The stream has been read: what is left of its view is as short as a view may be.
    views[view].bytes.truncate(1);
    drop_extension(json, packed);
    Ok(())
}

fn accessor_is_indices(packed: &Packed<'_>, accessor: usize) -> bool {
    let indices = packed.primitive.get("indices").and_then(Value::as_u64);
    indices == Some(accessor as u64)
}

fn decode(stream: &[u8], extension: &Element<'_>) -> Result<Mesh, FormatError> {
    let length = stream.len() as u64;
    let elements = MIN_ELEMENT_LIMIT.saturating_add(ELEMENTS_PER_BYTE * length);
    let limits = DecodeLimits::default()
        .with_max_points(elements)
        .with_max_faces(elements)
        .with_max_decoded_bytes((64 * MIN_ELEMENT_LIMIT).saturating_add(DECODED_PER_BYTE * length));
    let mut mesh = Mesh::new();
    let mut decoder = MeshDecoder::new();
    let mut buffer = DecoderBuffer::new(stream).with_limits(limits);
    match decoder.decode(&mut buffer, &mut mesh) {
        Ok(()) => Ok(mesh),
        Err(error) => Err(extension.invalid(format!("cannot be decompressed: {error}"))),
    }
}

/// A number of an attribute; zero where the stream has none.
fn number(attribute: &PointAttribute, point: u32, component: usize) -> f64 {
    let kind = attribute.data_type();
    let width = kind.byte_length();
    let index = attribute.mapped_index(PointIndex(point)).0 as usize;
    let stride = usize::try_from(attribute.byte_stride()).unwrap_or(0);
    let start = (index.checked_mul(stride)).and_then(|at| at.checked_add(component * width));
    let within = component < usize::from(attribute.num_components());
    let data = attribute.buffer().data();
    let bytes = start.and_then(|start| data.get(start..start.checked_add(width)?));
    let Some(bytes) = bytes.filter(|_| within) else {
        return 0.0;
    };
    match (kind, bytes) {
        (DataType::Int8, &[a]) => f64::from(a as i8),
        (DataType::Uint8 | DataType::Bool, &[a]) => f64::from(a),
        (DataType::Int16, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
        (DataType::Uint16, &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
        (DataType::Int32, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])),
        (DataType::Uint32, &[a, b, c, d]) => f64::from(u32::from_le_bytes([a, b, c, d])),
        (DataType::Float32, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => 0.0,
    }
}

fn component_size(kind: u64) -> usize {
    match kind {
        5120 | 5121 => 1,
        5122 | 5123 => 2,
        5125 | 5126 => 4,
        _ => 0,
    }
}

fn push_number(bytes: &mut Vec<u8>, kind: u64, number: f64) {
    match kind {
        5120 => bytes.extend((number as i8).to_le_bytes()),
        5121 => bytes.extend((number as u8).to_le_bytes()),
        5122 => bytes.extend((number as i16).to_le_bytes()),
        5123 => bytes.extend((number as u16).to_le_bytes()),
        5125 => bytes.extend((number as u32).to_le_bytes()),
        _ => bytes.extend((number as f32).to_le_bytes()),
    }
}

fn drop_extension(json: &mut Value, packed: &Packed<'_>) {
    let primitive = &mut json["meshes"][packed.mesh]["primitives"][packed.number];
    let Some(primitive) = primitive.as_object_mut() else {
        return;
    };
    if let Some(extensions) = primitive
        .get_mut("extensions")
        .and_then(Value::as_object_mut)
    {
        extensions.shift_remove(DRACO);
        if extensions.is_empty() {
            primitive.shift_remove("extensions");
        }
    }
}
