//! Reads a character from a document.

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::Affine3A;
use serde_json::Value;

use super::accessor::Accessors;
use super::animations::{Targets, read_animations};
use super::document::{Document, Resolver};
use super::faults::faults;
use super::json::Element;
use super::links::{Links, PartLink};
use super::materials::read_materials;
use super::nodes::{Joints, Nodes, make_joints, read_nodes};
use super::primitives::{Primitive, read_primitive, target_names};
use super::skins::{Skin, read_skins};
use super::{units, vrm};
use crate::character::{Binding, Influences, Problem, Severity};
use crate::formats::{FormatError, ReadOptions, Source};
use crate::{Character, Part};

/// Reads a GLB or VRM file, or a `.gltf` text with embedded buffers.
pub fn read_glb(bytes: &[u8], options: &ReadOptions) -> Result<Character, FormatError> {
    read_document(Document::from_bytes(bytes)?, options)
}

/// Reads a `.gltf` text; `resolve` returns the content of the buffers and images it refers to.
pub fn read_gltf(
    bytes: &[u8],
    resolve: Resolver<'_>,
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    read_document(Document::from_bytes_with(bytes, resolve)?, options)
}

/// Reads the character of a document and keeps the document as its source.
pub fn read_document(
    mut document: Document,
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    let (mut character, joint_nodes, parts) = build(&document)?;
    units::apply_units(&mut character, options);
    document.links = Links {
        joint_nodes,
        parts,
        clips: character.clips.clone(),
        units: character.units,
    };
    // A document with parts that still need weights cannot be written back unchanged.
    let unbound = |part: &Part| part.binding.influences.is_empty();
    if !character.parts.iter().any(unbound) {
        character.source = Source::Gltf(Arc::new(document));
    }
    Ok(character)
}

fn build(document: &Document) -> Result<(Character, Vec<usize>, Vec<PartLink>), FormatError> {
    let mut problems = Vec::new();
    check_extensions(document, &mut problems);
    let accessors = Accessors::new(document)?;
    let nodes = read_nodes(document, &mut problems)?;
    let skins = read_skins(document, &accessors)?;
    let meshes = document.root().items("meshes")?;
    let humanoid = vrm::humanoid_nodes(&document.json);
    let shown = shown_nodes(document, &nodes, meshes.len())?;
    let helpers = helper_nodes(
        document,
        &nodes,
        &meshes,
        &shown,
        humanoid.values().copied(),
    )?;
    let bones = bone_nodes(&nodes, &skins, &shown)?;
    let joints = make_joints(&nodes, &bones, &helpers)?;
    let materials = read_materials(document, &accessors, &mut problems)?;
    let reader = PartReader {
        nodes: &nodes,
        shown: &shown,
        skins: &skins,
        joints: &joints,
        meshes: &meshes,
        materials: materials.len(),
        accessors: &accessors,
    };
    let (parts, links) = reader.read_parts(&mut problems)?;
    if parts.is_empty() && joints.skeleton.is_empty() {
        return Err(FormatError::Empty("neither a mesh nor a skeleton"));
    }
    let morph_counts: Vec<usize> = parts.iter().map(|part| part.morphs.len()).collect();
    let targets = Targets {
        joint_of_node: &joints.joint_of_node,
        parts: &links,
        morph_counts: &morph_counts,
    };
    let clips = read_animations(document, &accessors, &targets, &mut problems)?;
    problems.extend(faults(document, &parts, &links));
    let humanoid = humanoid
        .into_iter()
        .filter_map(|(name, node)| Some((name, joints.joint_of_node[node]?)))
        .collect::<std::collections::BTreeMap<_, _>>();
    let character = Character {
        skeleton: joints.skeleton,
        parts,
        clips,
        materials,
        problems,
        humanoid: (!humanoid.is_empty()).then_some(humanoid),
        about: vrm::about(&document.json),
        ..Character::default()
    };
    Ok((character, joints.node_of_joint, links))
}

/// Reports extensions that are required but not supported.
fn check_extensions(document: &Document, problems: &mut Vec<Problem>) {
    let required = document
        .json
        .get("extensionsRequired")
        .and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let harmless = [
            "KHR_mesh_quantization",
            "KHR_texture_",
            "KHR_materials_",
            "EXT_texture_",
            "KHR_lights_",
            "VRM",
        ];
        if !harmless.iter().any(|prefix| name.starts_with(prefix)) {
            problems.push(Problem {
                severity: Severity::Warning,
                remedy: None,
                place: "extensionsRequired".into(),
                text: format!(
                    "The file requires the extension {name}, which Supple does not support. Parts of it may be missing."
                ),
            });
        }
    }
}

/// The visible nodes: those of the default scene; if it has no mesh, those of all scenes, or else all nodes.
fn shown_nodes(
    document: &Document,
    nodes: &Nodes<'_>,
    meshes: usize,
) -> Result<Vec<bool>, FormatError> {
    let count = nodes.elements.len();
    let scenes = document.root().items("scenes")?;
    let roots = scenes
        .iter()
        .map(|scene| scene.indices("nodes", count))
        .collect::<Result<Vec<_>, _>>()?;
    let first = document.root().optional_index("scene", scenes.len())?;
    let default = roots.get(first.unwrap_or(0)).cloned().unwrap_or_default();
    let mut children = vec![Vec::new(); count];
    for (node, parent) in nodes.parents.iter().enumerate() {
        if let Some(parent) = parent {
            children[*parent].push(node);
        }
    }
    for mut open in [default, roots.concat()] {
        let mut shown = vec![false; count];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut shown[node], true) {
                open.extend(&children[node]);
            }
        }
        let mut elements = nodes.elements.iter().zip(&shown);
        if meshes == 0 || elements.any(|(node, &shown)| shown && node.get("mesh").is_some()) {
            return Ok(shown);
        }
    }
    Ok(vec![true; count])
}

/// Nodes that become joints although no skin lists them: those with rigid meshes, and humanoid bones. In a file
/// with neither mesh nor skin, all animated nodes.
fn helper_nodes(
    document: &Document,
    nodes: &Nodes<'_>,
    meshes: &[Element<'_>],
    shown: &[bool],
    humanoid: impl Iterator<Item = usize>,
) -> Result<Vec<usize>, FormatError> {
    let mut helpers: BTreeSet<usize> = humanoid.collect();
    for (index, node) in nodes.elements.iter().enumerate() {
        let mesh = node.optional_index("mesh", meshes.len())?;
        if mesh.is_some() && shown[index] && node.get("skin").is_none() {
            helpers.insert(index);
        }
    }
    if meshes.is_empty() && document.count("skins") == 0 {
        for animation in document.root().items("animations")? {
            for channel in animation.items("channels")? {
                let target = channel.child("target");
                let node = target.map(|target| target.optional_index("node", nodes.elements.len()));
                helpers.extend(node.transpose()?.flatten());
            }
        }
    }
    Ok(helpers.into_iter().collect())
}

/// Joints of the visible skins, or of all skins if none is visible.
fn bone_nodes(
    nodes: &Nodes<'_>,
    skins: &[Skin],
    shown: &[bool],
) -> Result<Vec<usize>, FormatError> {
    let mut used = vec![false; skins.len()];
    for (node, _) in nodes
        .elements
        .iter()
        .zip(shown)
        .filter(|(_, shown)| **shown)
    {
        if let (Some(_), Some(skin)) = (node.get("mesh"), node.optional_index("skin", skins.len())?)
        {
            used[skin] = true;
        }
    }
    let none = !used.contains(&true);
    let seen = skins.iter().zip(used).filter(|(_, used)| *used || none);
    Ok(seen.flat_map(|(skin, _)| skin.joints.clone()).collect())
}

struct PartReader<'a> {
    nodes: &'a Nodes<'a>,
    shown: &'a [bool],
    skins: &'a [Skin],
    joints: &'a Joints,
    meshes: &'a [Element<'a>],
    materials: usize,
    accessors: &'a Accessors<'a>,
}

impl PartReader<'_> {
    /// Reads one part for each primitive of each visible node with a mesh.
    fn read_parts(
        &self,
        problems: &mut Vec<Problem>,
    ) -> Result<(Vec<Part>, Vec<PartLink>), FormatError> {
        let mut parts = Vec::new();
        let mut links = Vec::new();
        let mut shown = vec![false; self.meshes.len()];
        for (index, node) in self.nodes.elements.iter().enumerate() {
            let Some(mesh) = node.optional_index("mesh", self.meshes.len())? else {
                continue;
            };
            if !self.shown[index] {
                continue;
            }
            let skin = node.optional_index("skin", self.skins.len())?;
            let mut aside = Vec::new();
            let notes = if shown[mesh] {
                &mut aside
            } else {
                &mut *problems
            };
            shown[mesh] = true;
            let element = &self.meshes[mesh];
            let names = target_names(element.value);
            for (number, primitive) in element.items("primitives")?.iter().enumerate() {
                let Some(read) =
                    read_primitive(primitive, &names, self.materials, self.accessors, notes)?
                else {
                    continue;
                };
                let vertices = read.mesh.positions.len();
                if skin.is_some() && read.influences.is_none() {
                    notes.push(Problem {
                        severity: Severity::Warning,
                        remedy: None,
                        place: primitive.path.clone(),
                        text: "The mesh has a skeleton but no skin weights. They are computed when needed.".into(),
                    });
                }
                let binding = self.bind(&read, index, skin, &primitive.path)?;
                let name = part_name(element, node, index, number);
                parts.push(make_part(read, name, binding, rest_weights(node, element)));
                links.push(PartLink {
                    node: index,
                    mesh,
                    primitive: number,
                    vertices,
                });
            }
        }
        for (mesh, _) in shown.iter().enumerate().filter(|(_, shown)| !**shown) {
            problems.push(Problem {
                severity: Severity::Note,
                remedy: None,
                place: format!("meshes[{mesh}]"),
                text: "No node of the scene uses this mesh. It is kept in the file but ignored."
                    .into(),
            });
        }
        Ok((parts, links))
    }

    fn bind(
        &self,
        primitive: &Primitive,
        node: usize,
        skin: Option<usize>,
        path: &str,
    ) -> Result<Binding, FormatError> {
        if skin.is_some() && primitive.influences.is_none() {
            return Ok(Binding::default());
        }
        let (Some(skin), Some(influences)) = (skin, &primitive.influences) else {
            let joint = self.joints.joint_of_node[node];
            return Ok(Binding {
                joints: vec![
                    joint.ok_or_else(|| FormatError::invalid(path, "belongs to no node"))?,
                ],
                inverse_binds: vec![Affine3A::IDENTITY],
                influences: Influences::rigid(0, primitive.mesh.positions.len()),
                computed: false,
            });
        };
        let skin = &self.skins[skin];
        let slots = skin.joints.len();
        if let Some((slot, _)) = influences
            .entries
            .iter()
            .find(|(slot, _)| *slot as usize >= slots)
        {
            let reason = format!("has weights for joint {slot}, but its skin has only {slots}");
            return Err(FormatError::invalid(path, reason));
        }
        self.accessors.spend(slots.saturating_mul(80), path)?;
        Ok(Binding {
            joints: skin
                .joints
                .iter()
                .filter_map(|&node| self.joints.joint_of_node[node])
                .collect(),
            inverse_binds: skin.inverse_binds.clone(),
            influences: influences.clone(),
            computed: false,
        })
    }
}

/// The mesh's name, or else its node's.
fn part_name(mesh: &Element<'_>, node: &Element<'_>, index: usize, primitive: usize) -> String {
    let name = [mesh.text("name"), node.text("name")];
    let name = (name.into_iter())
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| format!("mesh of node {index}"));
    match primitive {
        0 => name,
        _ => format!("{name}.{primitive}"),
    }
}

/// Rest weights of a node's morph targets: its own, or else its mesh's.
fn rest_weights(node: &Element<'_>, mesh: &Element<'_>) -> Vec<f32> {
    match node.get("weights") {
        Some(_) => node.float_list("weights"),
        None => mesh.float_list("weights"),
    }
}

fn make_part(read: Primitive, name: String, binding: Binding, mut weights: Vec<f32>) -> Part {
    weights.resize(read.morphs.len(), 0.0);
    Part {
        name,
        mesh: read.mesh,
        normals: read.normals,
        uvs: read.uvs,
        colors: read.colors,
        binding,
        morphs: read.morphs,
        morph_weights: weights,
        material: read.material,
    }
}
