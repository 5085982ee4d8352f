//! PLY (Stanford polygon format): text, or binary in either byte order, with properties in any order.

mod body;
mod header;
mod write;

pub use write::write_ply;

use glam::{Vec2, Vec3, Vec4};
use supple_geom::TriMesh;

use super::checks::note;
use super::polygon::triangulate;
use super::text::finite;
use super::units::{Content, normalise_units};
use super::{FormatError, ReadOptions};
use crate::{Character, Part};
use body::Body;
use header::{Element, Property, parse_header};

/// Reads a PLY file. Vertices keep their order; polygons and strips are triangulated in file order.
pub fn read_ply(bytes: &[u8], options: &ReadOptions) -> Result<Character, FormatError> {
    let mut character = parse_ply(bytes)?;
    normalise_units(&mut character, options, Content::Mesh)?;
    Ok(character)
}

/// Parses the file, keeping its units and axes.
pub(super) fn parse_ply(bytes: &[u8]) -> Result<Character, FormatError> {
    let (encoding, elements, start) = parse_header(bytes)?;
    let mut body = Body::new(encoding, &bytes[start..]);
    let mut part = Part::default();
    let mut polygons = Polygons::default();
    for element in &elements {
        match element.name.as_str() {
            "vertex" => read_vertices(&mut body, element, &mut part)?,
            "face" | "tristrips" => read_faces(&mut body, element, &mut polygons)?,
            _ => skip(&mut body, element)?,
        }
    }
    if part.mesh.positions.is_empty() {
        return Err(FormatError::Empty("no vertices"));
    }
    let mut character = Character::default();
    let thin = polygons.cut(&mut part.mesh)?;
    if thin > 0 {
        note(
            &mut character,
            format!("{thin} faces have fewer than three corners. They are ignored."),
        );
    }
    character.parts.push(part);
    Ok(character)
}

/// Column of a vertex property in the row of values.
fn slot(name: &str) -> Option<usize> {
    const NAMES: [&[&str]; 12] = [
        &["x"],
        &["y"],
        &["z"],
        &["nx", "normal_x"],
        &["ny", "normal_y"],
        &["nz", "normal_z"],
        &["red", "r", "diffuse_red"],
        &["green", "g", "diffuse_green"],
        &["blue", "b", "diffuse_blue"],
        &["alpha", "a", "diffuse_alpha"],
        &["u", "s", "texture_u", "texture_s"],
        &["v", "t", "texture_v", "texture_t"],
    ];
    NAMES.iter().position(|names| names.contains(&name))
}

fn read_vertices(body: &mut Body, element: &Element, part: &mut Part) -> Result<(), FormatError> {
    let slots: Vec<Option<usize>> = element
        .properties
        .iter()
        .map(|property| slot(&property.name).filter(|_| property.list.is_none()))
        .collect();
    let has = |slot: usize| slots.contains(&Some(slot));
    if !(has(0) && has(1) && has(2)) && element.count > 0 {
        return Err(FormatError::invalid(
            "element vertex",
            "it has no x, y and z",
        ));
    }
    if !part.mesh.positions.is_empty() {
        return Err(FormatError::invalid("element vertex", "it appears twice"));
    }
    let (normals, colors, uvs) = (has(3), has(6), has(10));
    part.mesh
        .positions
        .reserve(element.count.min(body.remaining()));
    for vertex in 0..element.count {
        let mut row = [0.0f32; 12];
        row[9] = 1.0;
        for (property, slot) in element.properties.iter().zip(&slots) {
            match slot {
                Some(slot) => {
                    let value = body.scalar(property.kind)?;
                    let factor = if (6..10).contains(slot) {
                        property.kind.color_factor()
                    } else {
                        1.0
                    };
                    row[*slot] = (value * factor) as f32;
                }
                None => skip_property(body, property)?,
            }
        }
        let position = Vec3::new(row[0], row[1], row[2]);
        let decoration = row[3..].iter_mut().filter(|value| !value.is_finite());
        decoration.for_each(|value| *value = 0.0);
        part.mesh
            .positions
            .push(finite(position, || format!("vertex {vertex}"))?);
        if normals {
            part.normals
                .push(Vec3::new(row[3], row[4], row[5]).normalize_or_zero());
        }
        if colors {
            part.colors.push(Vec4::new(row[6], row[7], row[8], row[9]));
        }
        if uvs {
            // As in OBJ, texture coordinates start at the bottom.
            part.uvs.push(Vec2::new(row[10], 1.0 - row[11]));
        }
    }
    Ok(())
}

fn skip_property(body: &mut Body, property: &Property) -> Result<(), FormatError> {
    let count = match property.list {
        Some(count) => body.count(count)?,
        None => 1,
    };
    (0..count).try_for_each(|_| body.scalar(property.kind).map(|_| ()))
}

fn skip(body: &mut Body, element: &Element) -> Result<(), FormatError> {
    if element.properties.is_empty() {
        return Ok(());
    }
    for _ in 0..element.count {
        for property in &element.properties {
            skip_property(body, property)?;
        }
    }
    Ok(())
}

/// Faces and strips as listed in the file; vertices may follow later.
#[derive(Default)]
struct Polygons {
    ends: Vec<usize>,
    corners: Vec<i64>,
    strips: Vec<i64>,
}

fn read_faces(
    body: &mut Body,
    element: &Element,
    polygons: &mut Polygons,
) -> Result<(), FormatError> {
    let strips = element.name == "tristrips";
    let is_corners = |property: &Property| {
        property.list.is_some()
            && matches!(property.name.as_str(), "vertex_indices" | "vertex_index")
    };
    if !element.properties.iter().any(is_corners) {
        return skip(body, element);
    }
    for _ in 0..element.count {
        for property in &element.properties {
            let Some(count) = property.list.filter(|_| is_corners(property)) else {
                skip_property(body, property)?;
                continue;
            };
            for _ in 0..body.count(count)? {
                let index = body.scalar(property.kind)? as i64;
                match strips {
                    true => polygons.strips.push(index),
                    false => polygons.corners.push(index),
                }
            }
        }
        match strips {
            true => polygons.strips.push(-1),
            false => polygons.ends.push(polygons.corners.len()),
        }
    }
    Ok(())
}

impl Polygons {
    /// Triangulates into the mesh; returns the number of faces with fewer than three corners.
    fn cut(&self, mesh: &mut TriMesh) -> Result<usize, FormatError> {
        let count = mesh.positions.len();
        let vertex = |face: usize, index: i64| match usize::try_from(index) {
            Ok(index) if index < count => Ok(index as u32),
            _ => Err(FormatError::invalid(
                format!("face {face}"),
                format!("it refers to vertex {index}, but there are only {count}"),
            )),
        };
        let mut thin = 0;
        let mut start = 0;
        for (face, &end) in self.ends.iter().enumerate() {
            let indices = self.corners[start..end]
                .iter()
                .map(|&index| vertex(face, index));
            let indices: Vec<u32> = indices.collect::<Result<_, _>>()?;
            start = end;
            if indices.len() < 3 {
                thin += 1;
                continue;
            }
            let places: Vec<Vec3> = indices
                .iter()
                .map(|&i| mesh.positions[i as usize])
                .collect();
            let triangles = &mut mesh.triangles;
            triangulate(&places, |corners| {
                triangles.push(corners.map(|c| indices[c]))
            });
        }
        for strip in self.strips.split(|&index| index < 0) {
            for (i, window) in strip.windows(3).enumerate() {
                let [a, b, c] = [window[0], window[1], window[2]].map(|index| vertex(i, index));
                let (a, b, c) = (a?, b?, c?);
                mesh.triangles
                    .push(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
            }
        }
        Ok(thin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ply\r\nformat ascii 1.0\r\ncomment by hand\r\nelement vertex 4\r\nproperty uchar red\r\nproperty uchar green\r\nproperty uchar blue\r\nproperty float x\r\nproperty double z\r\nproperty float y\r\nproperty list uchar float extra\r\nelement nothing 4000000000\r\nelement face 2\r\nproperty float quality\r\nproperty list uint8 int32 vertex_index\r\nend_header\r\n255 0 0 0 0 0 0\r\n0 255 0 1 0 0 1 7\r\n0 0 255 1 0 1 2 7 8\r\n0 0 0 0 0 1 0\r\n1 4 0 1 2 3\r\n0 2 0 1\r\n";

    #[test]
    fn any_order_of_properties() {
        let character = parse_ply(TEXT.as_bytes()).unwrap();
        let part = &character.parts[0];
        assert_eq!(part.mesh.positions[2], Vec3::new(1.0, 1.0, 0.0));
        assert_eq!(part.colors[1], Vec4::new(0.0, 1.0, 0.0, 1.0));
        assert_eq!(part.mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(character.problems.len(), 1);
    }

    #[test]
    fn big_endian_and_strips() {
        let mut bytes = b"ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n".to_vec();
        for p in [
            [0.0f32, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 1.0, 0.0],
        ] {
            bytes.extend(p.iter().flat_map(|v| v.to_be_bytes()));
        }
        bytes.extend([4i32, 0, 1, 2, 3].iter().flat_map(|v| v.to_be_bytes()));
        let character = parse_ply(&bytes).unwrap();
        assert_eq!(character.parts[0].mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
        bytes.pop();
        assert!(parse_ply(&bytes).is_err_and(|e| e.to_string().contains("too early")));
    }

    #[test]
    fn round_trip_is_exact() {
        let mut character = parse_ply(TEXT.as_bytes()).unwrap();
        character.parts[0].normals = vec![Vec3::Z; 4];
        character.parts[0].uvs = vec![Vec2::new(0.25, 0.5); 4];
        let back = parse_ply(&write_ply(&character)).unwrap();
        assert_eq!(back.parts[0].mesh, character.parts[0].mesh);
        assert_eq!(back.parts[0].normals, character.parts[0].normals);
        assert_eq!(back.parts[0].uvs, character.parts[0].uvs);
        assert_eq!(back.parts[0].colors, character.parts[0].colors);
    }

    #[test]
    fn bad_files_give_errors() {
        let fails = |from: &str, to: &str, why: &str| {
            let error = parse_ply(TEXT.replace(from, to).as_bytes()).err();
            let error = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(why), "{to}: {error}");
        };
        fails("ply\r\n", "plx\r\n", "starts with 'ply'");
        fails("ascii", "binary_middle_endian", "binary_middle_endian");
        fails("end_header", "", "header");
        fails("vertex 4\r\nprop", "vertex 9000000000\r\nprop", "too early");
        fails("property float x", "property float w", "no x, y and z");
        fails("property double z", "property quad z", "quad");
        fails("4 0 1 2 3", "4 0 1 2 4", "only 4");
        fails("4 0 1 2 3", "4 0 1 2 -3", "only 4");
        fails("4 0 1 2 3", "-4 0 1 2 3", "count");
        fails("0 255 0 1", "0 255 0 nan", "finite");
        fails("\r\n1 4 0 1 2 3\r\n0 2 0 1\r\n", "", "too early");
    }
}
