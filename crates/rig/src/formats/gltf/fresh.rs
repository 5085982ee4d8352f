//! Writes a new document for a character that has none.

use std::sync::Arc;

use serde_json::{Value, json};
use supple_geom::normals::vertex_normals;

use super::append::{Use, append_bytes, append_floats, append_indices, append_slots, push_in};
use super::document::{Document, media_type, push};
use super::links::{Links, PartLink};
use super::write_clips::append_clip;
use crate::character::{Binding, Influences, Morph};
use crate::formats::FormatError;
use crate::skeleton::JointKind;
use crate::{Character, Part, Skeleton};

/// The character as a new glTF document, in metres and Y up.
pub(super) fn fresh_document(character: &Character) -> Result<Document, FormatError> {
    let mut document = Document {
        json: json!({
            "asset": {"version": "2.0", "generator": concat!("Supple ", env!("CARGO_PKG_VERSION"))},
            "scene": 0,
            "scenes": [{"nodes": []}],
        }),
        ..Document::default()
    };
    if character.skeleton.is_empty() && character.parts.is_empty() {
        return Err(FormatError::Empty("neither a mesh nor a skeleton to write"));
    }
    write_skeleton(&mut document, &character.skeleton);
    write_materials(&mut document, character);
    let mut skins = Vec::new();
    let mut links = Vec::new();
    for part in &character.parts {
        links.push(write_part(&mut document, character, part, &mut skins)?);
    }
    if skins.is_empty() && !character.skeleton.is_empty() {
        write_skin(&mut document, &all_bones(&character.skeleton), &mut skins);
    }
    document.links = Links {
        joint_nodes: (0..character.skeleton.len()).collect(),
        parts: links,
        clips: character.clips.clone(),
        ..Links::default()
    };
    for clip in &character.clips {
        append_clip(&mut document, &character.skeleton, clip)?;
    }
    Ok(document)
}

fn show(document: &mut Document, node: usize) {
    push_in(&mut document.json["scenes"][0], "nodes", node.into());
}

/// A skin of no part, so that a skeleton alone is read back as one: glTF has no other word for a bone.
fn all_bones(skeleton: &Skeleton) -> Binding {
    let joints = skeleton.joints().iter().enumerate();
    let joints: Vec<usize> = joints
        .filter(|(_, joint)| joint.kind == JointKind::Bone)
        .map(|(index, _)| index)
        .collect();
    let worlds = skeleton.rest_worlds();
    Binding {
        inverse_binds: joints.iter().map(|&j| worlds[j].inverse()).collect(),
        joints,
        ..Binding::default()
    }
}

/// Writes one node per joint, in order, with a common root above several trees: the joints of a skin must share one.
fn write_skeleton(document: &mut Document, skeleton: &Skeleton) {
    let children = skeleton.children();
    for (joint, children) in skeleton.joints().iter().zip(&children) {
        let mut node = json!({
            "translation": joint.rest.translation.to_array(),
            "rotation": joint.rest.rotation.normalize().to_array(),
            "scale": joint.rest.scale.to_array(),
        });
        if !joint.name.is_empty() {
            node["name"] = joint.name.as_str().into();
        }
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        push(&mut document.json, "nodes", node);
    }
    let joints = skeleton.joints().iter().enumerate();
    let roots: Vec<usize> = joints
        .filter(|(_, joint)| joint.parent.is_none())
        .map(|(index, _)| index)
        .collect();
    match roots[..] {
        [] => {}
        [root] => show(document, root),
        _ => {
            let node = json!({"name": "skeleton", "children": roots});
            let above = push(&mut document.json, "nodes", node);
            show(document, above);
        }
    }
}

fn write_materials(document: &mut Document, character: &Character) {
    let mut images: Vec<(Arc<[u8]>, usize)> = Vec::new();
    for material in &character.materials {
        let color = material.base_color.clamp(glam::Vec4::ZERO, glam::Vec4::ONE);
        let mut looks = json!({
            "baseColorFactor": color.to_array(), "metallicFactor": 0.0, "roughnessFactor": 0.8,
        });
        if let Some(bytes) = &material.base_color_image {
            let known = images.iter().find(|(other, _)| Arc::ptr_eq(other, bytes));
            let texture = known.map(|(_, texture)| *texture).unwrap_or_else(|| {
                let view = append_bytes(document, bytes, Use::Data);
                let image = json!({"bufferView": view, "mimeType": media_type(bytes)});
                let image = push(&mut document.json, "images", image);
                let texture = texture_of(document, image, media_type(bytes));
                push(&mut document.json, "textures", texture)
            });
            images.push((bytes.clone(), texture));
            looks["baseColorTexture"] = json!({"index": texture});
        }
        let mut entry = json!({"pbrMetallicRoughness": looks});
        if !material.name.is_empty() {
            entry["name"] = material.name.as_str().into();
        }
        if material.double_sided {
            entry["doubleSided"] = true.into();
        }
        push(&mut document.json, "materials", entry);
    }
}

/// A texture of an image. WebP is an extension.
fn texture_of(document: &mut Document, image: usize, media_type: &str) -> Value {
    const WEBP: &str = "EXT_texture_webp";
    if media_type != "image/webp" {
        return json!({"source": image});
    }
    for list in ["extensionsUsed", "extensionsRequired"] {
        let known = document.json.get(list).and_then(Value::as_array);
        if known.is_none_or(|names| names.iter().all(|name| name != WEBP)) {
            push(&mut document.json, list, WEBP.into());
        }
    }
    json!({"extensions": {WEBP: {"source": image}}})
}

fn write_part(
    document: &mut Document,
    character: &Character,
    part: &Part,
    skins: &mut Vec<(Binding, usize)>,
) -> Result<PartLink, FormatError> {
    let vertices = part.mesh.positions.len();
    if vertices == 0 {
        return Err(FormatError::Empty(
            "a part without vertices, which glTF does not support",
        ));
    }
    let mut primitive = json!({"attributes": write_attributes(document, part)});
    if part.mesh.triangles.is_empty() {
        primitive["mode"] = 0.into();
    } else {
        let corners = part.mesh.triangles.as_flattened();
        primitive["indices"] = append_indices(document, corners, vertices).into();
    }
    if let Some(material) = part
        .material
        .filter(|&index| index < character.materials.len())
    {
        primitive["material"] = material.into();
    }
    let mut mesh = json!({});
    if !part.morphs.is_empty() {
        primitive["targets"] = part
            .morphs
            .iter()
            .map(|morph| write_morph(document, morph))
            .collect();
        mesh["weights"] = json!(part.morph_weights);
        let names: Vec<&str> = part
            .morphs
            .iter()
            .map(|morph| morph.name.as_str())
            .collect();
        mesh["extras"] = json!({"targetNames": names});
    }
    let mut node = json!({});
    if !part.name.is_empty() {
        mesh["name"] = part.name.as_str().into();
        node["name"] = part.name.as_str().into();
    }
    if !part.binding.joints.is_empty() {
        node["skin"] = write_skin(document, &part.binding, skins).into();
        write_weights(
            document,
            &part.binding.influences,
            &mut primitive["attributes"],
        );
    }
    mesh["primitives"] = json!([primitive]);
    let mesh = push(&mut document.json, "meshes", mesh);
    node["mesh"] = mesh.into();
    let node = push(&mut document.json, "nodes", node);
    show(document, node);
    Ok(PartLink {
        node,
        mesh,
        primitive: 0,
        vertices,
    })
}

fn write_attributes(document: &mut Document, part: &Part) -> Value {
    let vertices = part.mesh.positions.len();
    let positions: Vec<[f32; 3]> = part.mesh.positions.iter().map(|p| p.to_array()).collect();
    let normals = match part.normals.len() == vertices {
        true => part.normals.clone(),
        false => vertex_normals(&part.mesh),
    };
    let normals: Vec<[f32; 3]> = normals
        .iter()
        .map(|normal| normal.normalize_or(glam::Vec3::Y).to_array())
        .collect();
    let mut attributes = json!({
        "POSITION": append_floats(document, &positions, Use::Vertices),
        "NORMAL": append_floats(document, &normals, Use::Vertices),
    });
    if part.uvs.len() == vertices {
        let uvs: Vec<[f32; 2]> = part.uvs.iter().map(|uv| uv.to_array()).collect();
        attributes["TEXCOORD_0"] = append_floats(document, &uvs, Use::Vertices).into();
    }
    if part.colors.len() == vertices {
        let clamp = |color: &glam::Vec4| color.clamp(glam::Vec4::ZERO, glam::Vec4::ONE).to_array();
        let colors: Vec<[f32; 4]> = part.colors.iter().map(clamp).collect();
        attributes["COLOR_0"] = append_floats(document, &colors, Use::Vertices).into();
    }
    attributes
}

fn write_morph(document: &mut Document, morph: &Morph) -> Value {
    let offsets = |vectors: &[glam::Vec3]| -> Vec<[f32; 3]> {
        vectors.iter().map(|offset| offset.to_array()).collect()
    };
    let positions = append_floats(document, &offsets(&morph.positions), Use::Vertices);
    let mut target = json!({"POSITION": positions});
    if morph.normals.len() == morph.positions.len() {
        let normals = append_floats(document, &offsets(&morph.normals), Use::Vertices);
        target["NORMAL"] = normals.into();
    }
    target
}

/// The skin of a binding, shared between parts with the same binding.
pub(super) fn write_skin(
    document: &mut Document,
    binding: &Binding,
    skins: &mut Vec<(Binding, usize)>,
) -> usize {
    let alike = |other: &Binding| {
        other.joints == binding.joints && other.inverse_binds == binding.inverse_binds
    };
    if let Some((_, skin)) = skins.iter().find(|(other, _)| alike(other)) {
        return *skin;
    }
    let matrices: Vec<[f32; 16]> = binding
        .inverse_binds
        .iter()
        .map(|inverse| glam::Mat4::from(*inverse).to_cols_array())
        .collect();
    let matrices = append_floats(document, &matrices, Use::Data);
    let skin = json!({"joints": binding.joints, "inverseBindMatrices": matrices});
    let skin = push(&mut document.json, "skins", skin);
    let influences = Influences::default();
    skins.push((
        Binding {
            influences,
            ..binding.clone()
        },
        skin,
    ));
    skin
}

/// Writes weights in sets of four, the largest first: many viewers read only the first set.
pub(super) fn write_weights(
    document: &mut Document,
    influences: &Influences,
    attributes: &mut Value,
) {
    let lists: Vec<Vec<(u32, f32)>> = (0..influences.len())
        .map(|vertex| {
            let mut list = influences.of(vertex).to_vec();
            list.sort_by(|a, b| b.1.total_cmp(&a.1));
            list
        })
        .collect();
    let sets = lists
        .iter()
        .map(Vec::len)
        .max()
        .unwrap_or(0)
        .div_ceil(4)
        .max(1);
    for set in 0..sets {
        let entry = |list: &[(u32, f32)], corner: usize| {
            list.get(4 * set + corner).copied().unwrap_or((0, 0.0))
        };
        let slots: Vec<[u16; 4]> = lists
            .iter()
            .map(|list| std::array::from_fn(|corner| entry(list, corner).0 as u16))
            .collect();
        let weights: Vec<[f32; 4]> = lists
            .iter()
            .map(|list| std::array::from_fn(|corner| entry(list, corner).1))
            .collect();
        attributes[format!("JOINTS_{set}")] = append_slots(document, &slots).into();
        attributes[format!("WEIGHTS_{set}")] =
            append_floats(document, &weights, Use::Vertices).into();
    }
}
