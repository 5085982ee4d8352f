//! Writes a character as GLB.

use serde_json::Value;

use super::document::Document;
use super::fresh::{fresh_document, write_skin, write_weights};
use super::write_clips::append_clip;
use crate::Character;
use crate::formats::{FormatError, Source};

/// Writes a character as GLB.
///
/// A character read from glTF is written as its original document, in the file's own units and unchanged except for
/// clips that were added or removed and skin weights that were recomputed. Other characters, and those whose joints
/// or parts no longer match their document, are written as a new file in metres. Edited vertices of a glTF character are not
/// written back: bake them, or clear [`Character::source`] first.
pub fn write_glb(character: &Character) -> Result<Vec<u8>, FormatError> {
    document_of(character)?.to_glb()
}

/// The document that [`write_glb`] would write.
pub fn document_of(character: &Character) -> Result<Document, FormatError> {
    match &character.source {
        Source::Gltf(document) if matches(character, document) => {
            let mut document = Document::clone(document);
            if !replace_weights(&mut document, character) {
                return fresh_document(character);
            }
            sync_clips(&mut document, character)?;
            Ok(document)
        }
        _ => fresh_document(character),
    }
}

fn matches(character: &Character, document: &Document) -> bool {
    let links = &document.links;
    links.joint_nodes.len() == character.skeleton.len()
        && links.parts.len() == character.parts.len()
        && links
            .parts
            .iter()
            .zip(&character.parts)
            .all(|(link, part)| link.vertices == part.mesh.positions.len())
}

/// Replaces skin weights by those that Supple computed. False if nodes share data that would have to differ.
fn replace_weights(document: &mut Document, character: &Character) -> bool {
    let links = document.links.clone();
    let computed = |part: usize| character.parts[part].binding.computed;
    let ours: Vec<usize> = (0..links.parts.len()).filter(|&p| computed(p)).collect();
    let shares = |part: usize| {
        let own = links.parts[part];
        (links.parts.iter().enumerate()).any(|(other, link)| {
            let same_mesh = link.mesh == own.mesh && link.primitive == own.primitive;
            other != part && (same_mesh || (link.node == own.node && !computed(other)))
        })
    };
    if ours.iter().any(|&part| shares(part)) {
        return false;
    }
    let mut skins = Vec::new();
    for part in ours {
        let link = links.parts[part];
        let mut binding = character.parts[part].binding.clone();
        let influences = std::mem::take(&mut binding.influences);
        for joint in &mut binding.joints {
            *joint = links.joint_nodes[*joint];
        }
        for inverse in &mut binding.inverse_binds {
            inverse.translation /= links.units.metres_per_unit;
        }
        let skin = write_skin(document, &binding, &mut skins);
        document.json["nodes"][link.node]["skin"] = skin.into();
        let primitive = &mut document.json["meshes"][link.mesh]["primitives"][link.primitive];
        let mut attributes = primitive["attributes"].take();
        if let Some(list) = attributes.as_object_mut() {
            list.retain(|name, _| !name.starts_with("JOINTS_") && !name.starts_with("WEIGHTS_"));
        }
        write_weights(document, &influences, &mut attributes);
        document.json["meshes"][link.mesh]["primitives"][link.primitive]["attributes"] = attributes;
    }
    true
}

/// Removes animations whose clip was removed; appends new clips.
fn sync_clips(document: &mut Document, character: &Character) -> Result<(), FormatError> {
    let mut kept = vec![false; document.links.clips.len()];
    let mut added = Vec::new();
    for clip in &character.clips {
        let known = document.links.clips.iter().zip(&kept);
        match known
            .into_iter()
            .position(|(known, kept)| !kept && known == clip)
        {
            Some(index) => kept[index] = true,
            None => added.push(clip),
        }
    }
    if kept.iter().any(|kept| !kept)
        && let Some(animations) = document
            .json
            .get_mut("animations")
            .and_then(Value::as_array_mut)
    {
        let mut kept = kept.into_iter();
        animations.retain(|_| kept.next().unwrap_or(true));
        if animations.is_empty()
            && let Some(root) = document.json.as_object_mut()
        {
            root.shift_remove("animations");
        }
    }
    for clip in added {
        append_clip(document, &character.skeleton, clip)?;
    }
    document.links.clips = character.clips.clone();
    Ok(())
}
