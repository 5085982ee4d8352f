//! Materials: base colour and its texture.

use std::sync::Arc;

use glam::Vec4;
use serde_json::Value;

use super::accessor::Accessors;
use super::base64::decode_data_uri;
use super::document::Document;
use super::json::{Element, as_uint};
use crate::character::{Material, Problem, Severity};
use crate::formats::FormatError;

pub(super) fn read_materials(
    document: &Document,
    accessors: &Accessors<'_>,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Material>, FormatError> {
    let images = document.root().items("images")?;
    let mut loaded: Vec<Option<Option<Arc<[u8]>>>> = vec![None; images.len()];
    let mut materials = Vec::new();
    for material in document.root().items("materials")? {
        let looks = material.child("pbrMetallicRoughness");
        let color = match &looks {
            Some(looks) => looks.floats("baseColorFactor")?,
            None => None,
        };
        let image = image_index(document, material.value).filter(|&index| index < images.len());
        let bytes = image.and_then(|index| {
            let load = || {
                let bytes = image_bytes(document, index, &images[index], accessors);
                problems.extend(image_problem(&images[index], bytes.as_deref()));
                bytes
            };
            loaded[index].get_or_insert_with(load).clone()
        });
        materials.push(Material {
            name: material.text("name"),
            base_color: color.map_or(Vec4::ONE, Vec4::from_array),
            base_color_image: bytes,
            double_sided: material.flag("doubleSided"),
        });
    }
    Ok(materials)
}

fn image_index(document: &Document, material: &Value) -> Option<usize> {
    let texture = material.pointer("/pbrMetallicRoughness/baseColorTexture/index")?;
    let texture = document.json.get("textures")?.get(as_uint(texture)?)?;
    let webp = || texture.pointer("/extensions/EXT_texture_webp/source");
    as_uint(texture.get("source").or_else(webp)?)
}

/// A note about an image that pictures cannot show.
fn image_problem(image: &Element<'_>, bytes: Option<&[u8]>) -> Option<Problem> {
    const KNOWN: [&[u8]; 3] = [b"\x89PNG", &[0xff, 0xd8, 0xff], b"RIFF"];
    let what = match bytes {
        Some(bytes) if KNOWN.iter().any(|start| bytes.starts_with(start)) => return None,
        Some(_) => "is neither PNG, JPEG nor WebP",
        None => "is missing or damaged",
    };
    Some(Problem {
        severity: Severity::Note,
        remedy: None,
        place: image.path.clone(),
        text: format!("The image {what}. It is drawn as a plain colour."),
    })
}

/// The encoded image; `None` if it is missing or damaged, which is no reason to reject a file.
fn image_bytes(
    document: &Document,
    index: usize,
    image: &Element<'_>,
    accessors: &Accessors<'_>,
) -> Option<Arc<[u8]>> {
    if let Some((_, bytes)) = document.loose_images.iter().find(|(i, _)| *i == index) {
        return Some(bytes.as_slice().into());
    }
    if let Some(uri) = image.get("uri").and_then(Value::as_str) {
        return decode_data_uri(uri).map(|(_, bytes)| bytes.into());
    }
    let view = image
        .optional_index("bufferView", accessors.view_count())
        .ok()??;
    let bytes = accessors.view(view).ok()?;
    accessors.spend(bytes.len(), &image.path).ok()?;
    Some(bytes.into())
}
