//! Mesh primitives: triangles, vertex attributes, weights, morph targets.

use glam::{Vec2, Vec3, Vec4};
use serde_json::Value;
use supple_geom::TriMesh;

use super::accessor::Accessors;
use super::json::Element;
use crate::character::{Influences, Morph, Problem, Remedy, Severity};
use crate::formats::FormatError;

/// The data of a primitive that Supple uses.
#[derive(Clone)]
pub(super) struct Primitive {
    pub mesh: TriMesh,
    pub normals: Vec<Vec3>,
    pub uvs: Vec<Vec2>,
    pub colors: Vec<Vec4>,
    /// Weights over the slots of the node's skin; `None` for a primitive without weights.
    pub influences: Option<Influences>,
    pub morphs: Vec<Morph>,
    pub material: Option<usize>,
}

/// Reads a primitive; `None` if it has no surface (points, lines, no positions).
pub(super) fn read_primitive(
    primitive: &Element<'_>,
    target_names: &[String],
    materials: usize,
    accessors: &Accessors<'_>,
    problems: &mut Vec<Problem>,
) -> Result<Option<Primitive>, FormatError> {
    let mut note = |severity, remedy, text: &str| {
        problems.push(Problem {
            severity,
            remedy,
            place: primitive.path.clone(),
            text: text.to_owned(),
        });
    };
    let mode = primitive.uint("mode", 4)?;
    if mode < 4 {
        note(
            Severity::Note,
            None,
            "The primitive consists of points or lines. It is kept in the file but not simulated.",
        );
        return Ok(None);
    }
    let attributes = primitive
        .child("attributes")
        .ok_or_else(|| primitive.invalid("has no attributes"))?;
    let Some(position) = attributes.optional_index("POSITION", accessors.len())? else {
        note(
            Severity::Warning,
            None,
            "The primitive has no positions. It is ignored.",
        );
        return Ok(None);
    };
    let positions = accessors.vec3s(position)?;
    if let Some(vertex) = positions.iter().position(|position| !position.is_finite()) {
        return Err(FormatError::NotFinite {
            element: format!("{}: position of vertex {vertex}", primitive.path),
        });
    }
    let count = positions.len();
    let corners = read_corners(primitive, count, accessors)?;
    if mode == 4 && corners.len() % 3 != 0 {
        note(
            Severity::Warning,
            None,
            "The last triangle is incomplete. It is ignored.",
        );
    }
    let triangles =
        assemble(mode, &corners).ok_or_else(|| primitive.invalid("has an unknown mode"))?;
    let mut normals = optional(&attributes, "NORMAL", count, accessors, Accessors::vec3s)?;
    let mut uvs = optional(
        &attributes,
        "TEXCOORD_0",
        count,
        accessors,
        Accessors::vec2s,
    )?;
    let mut colors = optional(&attributes, "COLOR_0", count, accessors, Accessors::colors)?;
    if normals.iter().any(|normal| !normal.is_finite()) {
        note(
            Severity::Warning,
            None,
            "Some normals are not numbers. They are recomputed.",
        );
        normals.clear();
    }
    if uvs.iter().any(|uv| !uv.is_finite()) || colors.iter().any(|color| !color.is_finite()) {
        note(
            Severity::Warning,
            None,
            "Some texture coordinates or colours are not numbers. They are set to zero.",
        );
        uvs.iter_mut()
            .filter(|uv| !uv.is_finite())
            .for_each(|uv| *uv = Vec2::ZERO);
        colors
            .iter_mut()
            .filter(|c| !c.is_finite())
            .for_each(|c| *c = Vec4::ZERO);
    }
    let influences = read_influences(&attributes, count, accessors, &mut note)?;
    Ok(Some(Primitive {
        mesh: TriMesh {
            positions,
            triangles,
        },
        normals,
        uvs,
        colors,
        influences,
        morphs: read_morphs(primitive, target_names, count, accessors)?,
        material: primitive.optional_index("material", materials)?,
    }))
}

/// Vertex indices in drawing order, all in range.
fn read_corners(
    primitive: &Element<'_>,
    count: usize,
    accessors: &Accessors<'_>,
) -> Result<Vec<u32>, FormatError> {
    let Some(index) = primitive.optional_index("indices", accessors.len())? else {
        let count = u32::try_from(count).map_err(|_| primitive.invalid("has too many vertices"))?;
        accessors.spend(count as usize * 4, &primitive.path)?;
        return Ok((0..count).collect());
    };
    let corners = accessors.integers(index, &[1])?;
    match corners.iter().find(|&&corner| corner as usize >= count) {
        None => Ok(corners),
        Some(corner) => Err(FormatError::invalid(
            accessors.path(index),
            format!(
                "refers to vertex {corner}, but {} has only {count}",
                primitive.path
            ),
        )),
    }
}

/// Triangles of a list, strip or fan (glTF 2.0, section 3.7.2.1). Degenerate triangles that stitch strips are dropped.
fn assemble(mode: usize, corners: &[u32]) -> Option<Vec<[u32; 3]>> {
    let full = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    Some(match mode {
        4 => corners
            .chunks_exact(3)
            .map(|c| [c[0], c[1], c[2]])
            .collect(),
        5 => corners
            .windows(3)
            .enumerate()
            .map(|(i, c)| match i % 2 {
                0 => [c[0], c[1], c[2]],
                _ => [c[1], c[0], c[2]],
            })
            .filter(full)
            .collect(),
        6 => corners
            .get(1..)
            .unwrap_or_default()
            .windows(2)
            .map(|c| [corners[0], c[0], c[1]])
            .filter(full)
            .collect(),
        _ => return None,
    })
}

/// A vertex attribute: one entry per vertex, or empty if missing.
fn optional<'a, T>(
    attributes: &Element<'_>,
    key: &str,
    count: usize,
    accessors: &Accessors<'a>,
    read: impl Fn(&Accessors<'a>, usize) -> Result<Vec<T>, FormatError>,
) -> Result<Vec<T>, FormatError> {
    let Some(index) = attributes.optional_index(key, accessors.len())? else {
        return Ok(Vec::new());
    };
    let values = read(accessors, index)?;
    match values.len() == count {
        true => Ok(values),
        false => Err(FormatError::invalid(
            format!("{}.{key}", attributes.path),
            format!("has {} entries for {count} vertices", values.len()),
        )),
    }
}

/// Weights of all sets (`JOINTS_0`, `JOINTS_1`, …), normalised.
fn read_influences(
    attributes: &Element<'_>,
    count: usize,
    accessors: &Accessors<'_>,
    note: &mut impl FnMut(Severity, Option<Remedy>, &str),
) -> Result<Option<Influences>, FormatError> {
    let mut sets = Vec::new();
    for set in 0.. {
        let read_slots = |accessors: &Accessors<'_>, index| accessors.integers(index, &[4]);
        let joints = attributes.optional_index(&format!("JOINTS_{set}"), accessors.len())?;
        let weights = format!("WEIGHTS_{set}");
        let (Some(joints), true) = (joints, attributes.get(&weights).is_some()) else {
            break;
        };
        let slots = read_slots(accessors, joints)?;
        let weights = optional(attributes, &weights, count, accessors, Accessors::vec4s)?;
        if slots.len() != 4 * count {
            return Err(attributes.invalid("does not have one set of joints per vertex"));
        }
        sets.push((slots, weights));
    }
    if sets.is_empty() {
        return Ok(None);
    }
    let mut weightless = 0usize;
    let influences = Influences::from_lists((0..count).map(|vertex| {
        let mut list: Vec<(u32, f32)> = Vec::with_capacity(4);
        for (slots, weights) in &sets {
            for (corner, weight) in weights[vertex].to_array().into_iter().enumerate() {
                if weight > 0.0 && weight.is_finite() {
                    add_influence(&mut list, slots[4 * vertex + corner], weight);
                }
            }
        }
        let sum: f64 = list.iter().map(|&(_, weight)| f64::from(weight)).sum();
        if list.is_empty() {
            weightless += 1;
            list.push((sets[0].0[4 * vertex], 1.0));
        } else {
            list.iter_mut()
                .for_each(|(_, weight)| *weight = (f64::from(*weight) / sum) as f32);
        }
        list
    }));
    if weightless > 0 {
        note(
            Severity::Warning,
            Some(Remedy::Weights),
            &format!(
                "{weightless} vertices have no skin weights. They follow the first joint they list."
            ),
        );
    }
    Ok(Some(influences))
}

fn add_influence(list: &mut Vec<(u32, f32)>, slot: u32, weight: f32) {
    match list.iter_mut().find(|(other, _)| *other == slot) {
        Some((_, sum)) => *sum += weight,
        None => list.push((slot, weight)),
    }
}

fn read_morphs(
    primitive: &Element<'_>,
    names: &[String],
    count: usize,
    accessors: &Accessors<'_>,
) -> Result<Vec<Morph>, FormatError> {
    let mut morphs = Vec::new();
    for (index, target) in primitive.items("targets")?.iter().enumerate() {
        let mut positions = optional(target, "POSITION", count, accessors, Accessors::vec3s)?;
        if positions.is_empty() {
            accessors.spend(count.saturating_mul(12), &target.path)?;
            positions = vec![Vec3::ZERO; count];
        }
        let normals = optional(target, "NORMAL", count, accessors, Accessors::vec3s)?;
        if positions
            .iter()
            .chain(&normals)
            .any(|offset| !offset.is_finite())
        {
            return Err(FormatError::NotFinite {
                element: format!("{} (morph target)", target.path),
            });
        }
        morphs.push(Morph {
            name: names.get(index).cloned().unwrap_or_default(),
            positions,
            normals,
        });
    }
    Ok(morphs)
}

/// Names of a mesh's morph targets: in its extras or, in older files, in those of its first primitive's targets.
pub(super) fn target_names(mesh: &Value) -> Vec<String> {
    let list = mesh
        .pointer("/extras/targetNames")
        .or_else(|| mesh.pointer("/primitives/0/extras/targetNames"))
        .and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .map(|name| name.as_str().unwrap_or_default().to_owned())
        .collect()
}
