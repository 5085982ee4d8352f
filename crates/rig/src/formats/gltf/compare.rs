//! Compares two documents: reports what the second lost or changed.

use serde_json::Value;

use super::accessor::Accessors;
use super::document::Document;
use super::json::Element;
use crate::formats::FormatError;

/// Something that was lost or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Path in the first document.
    pub element: String,
    /// What changed.
    pub what: String,
}

/// Compares everything a file must keep when Supple rewrites it: vertices and their order, indices, texture coordinates,
/// all other attributes, morph targets, materials, textures, images, skins, the node tree, extensions and extras.
/// Additions of the second document (targets, animations) do not count as differences.
pub fn compare(before: &Document, after: &Document) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut report = |element: String, what: &str| {
        differences.push(Difference {
            element,
            what: what.to_owned(),
        });
    };
    if let Err(error) = compare_meshes(before, after, &mut report) {
        report("meshes".into(), &error.to_string());
    }
    if let Err(error) = compare_skins(before, after, &mut report) {
        report("skins".into(), &error.to_string());
    }
    if let Err(error) = compare_images(before, after, &mut report) {
        report("images".into(), &error.to_string());
    }
    for list in ["materials", "textures", "samplers", "cameras", "scenes"] {
        compare_list(before, after, list, &mut report);
    }
    compare_nodes(before, after, &mut report);
    for key in [
        "extensions",
        "extensionsUsed",
        "extensionsRequired",
        "extras",
        "scene",
        "asset",
    ] {
        if before.json.get(key) != after.json.get(key) {
            report(key.into(), "changed");
        }
    }
    differences
}

type Report<'a> = &'a mut dyn FnMut(String, &str);

fn items<'a>(document: &'a Document, list: &str) -> Vec<Element<'a>> {
    document.root().items(list).unwrap_or_default()
}

fn compare_list(before: &Document, after: &Document, list: &str, report: Report) {
    let (old, new) = (items(before, list), items(after, list));
    if old.len() != new.len() {
        report(list.into(), &format!("{} became {}", old.len(), new.len()));
    }
    for (old, new) in old.iter().zip(&new) {
        if old.value != new.value {
            report(old.path.clone(), "changed");
        }
    }
}

fn compare_nodes(before: &Document, after: &Document, report: Report) {
    let (old, new) = (items(before, "nodes"), items(after, "nodes"));
    if old.len() != new.len() {
        report(
            "nodes".into(),
            &format!("{} became {}", old.len(), new.len()),
        );
    }
    for (old, new) in old.iter().zip(&new) {
        for key in ["name", "children", "skin", "camera", "extensions", "extras"] {
            if old.get(key) != new.get(key) {
                report(format!("{}.{key}", old.path), "changed");
            }
        }
    }
}

fn compare_meshes(before: &Document, after: &Document, report: Report) -> Result<(), FormatError> {
    let (old_numbers, new_numbers) = (Accessors::new(before)?, Accessors::new(after)?);
    let pair = Pair {
        old: &old_numbers,
        new: &new_numbers,
    };
    let (old, new) = (items(before, "meshes"), items(after, "meshes"));
    if old.len() > new.len() {
        report(
            "meshes".into(),
            &format!("{} became {}", old.len(), new.len()),
        );
    }
    for (old, new) in old.iter().zip(&new) {
        if old.get("name") != new.get("name") || old.get("extensions") != new.get("extensions") {
            report(old.path.clone(), "name or extensions changed");
        }
        let (old_parts, new_parts) = (old.items("primitives")?, new.items("primitives")?);
        if old_parts.len() != new_parts.len() {
            report(old.path.clone(), "number of primitives changed");
        }
        for (old, new) in old_parts.iter().zip(&new_parts) {
            compare_primitives(old, new, &pair, report)?;
        }
    }
    Ok(())
}

fn compare_primitives(
    old: &Element,
    new: &Element,
    pair: &Pair,
    report: Report,
) -> Result<(), FormatError> {
    for key in ["mode", "material", "extensions", "extras"] {
        if old.get(key) != new.get(key) {
            report(format!("{}.{key}", old.path), "changed");
        }
    }
    pair.compare(old, new, "indices", report)?;
    compare_attributes(
        old.child("attributes"),
        new.child("attributes"),
        pair,
        report,
    )?;
    let (old_targets, new_targets) = (old.items("targets")?, new.items("targets")?);
    if old_targets.len() > new_targets.len() {
        report(format!("{}.targets", old.path), "some are missing");
    }
    for (old, new) in old_targets.into_iter().zip(new_targets) {
        compare_attributes(Some(old), Some(new), pair, report)?;
    }
    Ok(())
}

fn compare_attributes(
    old: Option<Element>,
    new: Option<Element>,
    pair: &Pair,
    report: Report,
) -> Result<(), FormatError> {
    let (Some(old), Some(new)) = (old, new) else {
        return Ok(());
    };
    for key in old.value.as_object().into_iter().flat_map(|map| map.keys()) {
        pair.compare(&old, &new, key, report)?;
    }
    Ok(())
}

/// The accessors of both documents.
struct Pair<'a> {
    old: &'a Accessors<'a>,
    new: &'a Accessors<'a>,
}

impl Pair<'_> {
    /// Compares the accessors that both elements refer to under `key`, number by number.
    fn compare(
        &self,
        old: &Element,
        new: &Element,
        key: &str,
        report: Report,
    ) -> Result<(), FormatError> {
        const ANY: &[usize] = &[1, 2, 3, 4, 16];
        let before = old.optional_index(key, self.old.len())?;
        let after = new.optional_index(key, self.new.len())?;
        let same = match (before, after) {
            (None, None) => true,
            (Some(before), Some(after)) => {
                let before = self.old.floats(before, ANY)?;
                let after = self.new.floats(after, ANY)?;
                let bits =
                    |numbers: &[f32]| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
                bits(&before) == bits(&after)
            }
            _ => false,
        };
        if !same {
            report(
                format!("{}.{key}", old.path),
                "numbers or their order changed",
            );
        }
        Ok(())
    }
}

fn compare_skins(before: &Document, after: &Document, report: Report) -> Result<(), FormatError> {
    let (old_numbers, new_numbers) = (Accessors::new(before)?, Accessors::new(after)?);
    let pair = Pair {
        old: &old_numbers,
        new: &new_numbers,
    };
    let (old, new) = (items(before, "skins"), items(after, "skins"));
    if old.len() != new.len() {
        report(
            "skins".into(),
            &format!("{} became {}", old.len(), new.len()),
        );
    }
    for (old, new) in old.iter().zip(&new) {
        for key in ["joints", "skeleton", "name", "extensions"] {
            if old.get(key) != new.get(key) {
                report(format!("{}.{key}", old.path), "changed");
            }
        }
        pair.compare(old, new, "inverseBindMatrices", report)?;
    }
    Ok(())
}

fn compare_images(before: &Document, after: &Document, report: Report) -> Result<(), FormatError> {
    let (old, new) = (items(before, "images"), items(after, "images"));
    let (old_views, new_views) = (Accessors::new(before)?, Accessors::new(after)?);
    if old.len() != new.len() {
        report(
            "images".into(),
            &format!("{} became {}", old.len(), new.len()),
        );
    }
    for (index, (old, new)) in old.iter().zip(&new).enumerate() {
        let before = content(before, index, old, &old_views)?;
        let after = content(after, index, new, &new_views)?;
        if before != after {
            report(old.path.clone(), "content changed");
        }
    }
    Ok(())
}

/// An image's bytes, or its URI if it is external.
fn content(
    document: &Document,
    index: usize,
    image: &Element,
    views: &Accessors,
) -> Result<Vec<u8>, FormatError> {
    if let Some((_, bytes)) = document.loose_images.iter().find(|(i, _)| *i == index) {
        return Ok(bytes.clone());
    }
    match image.optional_index("bufferView", views.view_count())? {
        Some(view) => Ok(views.view(view)?.to_vec()),
        None => Ok(image
            .get("uri")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .into()),
    }
}
