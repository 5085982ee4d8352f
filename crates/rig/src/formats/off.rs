//! OFF (Object File Format): text, with the optional normals, colours and texture coordinates of `[ST][C]\[N\]OFF`.

use glam::{Vec2, Vec3, Vec4};
use supple_geom::TriMesh;

use super::checks::note;
use super::polygon::triangulate;
use super::text::{Words, lossy};
use super::units::{Content, normalise_units};
use super::{FormatError, ReadOptions};
use crate::character::{Character, Part};

/// Reads an OFF file. Vertices keep their order; polygons are triangulated in file order.
pub fn read_off(bytes: &[u8], options: &ReadOptions) -> Result<Character, FormatError> {
    let mut character = parse_off(bytes)?;
    normalise_units(&mut character, options, Content::Mesh)?;
    Ok(character)
}

#[derive(Clone, Copy, Default)]
struct Extras {
    normals: bool,
    colors: bool,
    uvs: bool,
}

/// Parses the file, keeping its units and axes.
pub(super) fn parse_off(bytes: &[u8]) -> Result<Character, FormatError> {
    let mut words = Words::new(bytes, Some(b'#'));
    let extras = header(&mut words)?;
    let vertices = words.count("the number of vertices")?;
    let faces = words.count("the number of faces")?;
    if words.next_on_line().is_none() {
        // Some writers omit the number of edges, which is unused.
    }
    words.check_fits(vertices, 6, "vertices")?;
    let mut character = Character::default();
    let mut part = Part::default();
    read_vertices(&mut words, vertices, extras, &mut part)?;
    words.check_fits(faces, 2, "faces")?;
    let (mesh, thin) = read_faces(&mut words, faces, part.mesh.positions)?;
    part.mesh = mesh;
    if thin > 0 {
        note(
            &mut character,
            format!("{thin} faces have fewer than three corners. They are ignored."),
        );
    }
    if part.mesh.positions.is_empty() {
        return Err(FormatError::Empty("no vertices"));
    }
    character.parts.push(part);
    Ok(character)
}

fn header(words: &mut Words) -> Result<Extras, FormatError> {
    let first = words.peek().ok_or(FormatError::Empty("nothing"))?;
    let Some(prefix) = first.strip_suffix(b"OFF") else {
        if super::text::parse_number(first).is_some() {
            return Ok(Extras::default());
        }
        return Err(FormatError::text(
            words.line(),
            format!(
                "an OFF file starts with 'OFF', but this one with '{}'",
                lossy(first)
            ),
        ));
    };
    words.next_word();
    if words.clone().next_on_line() == Some(b"BINARY") {
        return Err(FormatError::Unsupported(
            "binary OFF is not supported; save the file as text OFF, PLY or OBJ".into(),
        ));
    }
    let (uvs, rest) = strip(prefix, b"ST");
    let (colors, rest) = strip(rest, b"C");
    let (normals, rest) = strip(rest, b"N");
    if !rest.is_empty() {
        return Err(FormatError::Unsupported(format!(
            "'{}' files (points in four or n dimensions) are not supported; save the file as plain OFF",
            lossy(first)
        )));
    }
    Ok(Extras {
        normals,
        colors,
        uvs,
    })
}

fn strip<'a>(text: &'a [u8], prefix: &[u8]) -> (bool, &'a [u8]) {
    match text.strip_prefix(prefix) {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}

fn read_vertices(
    words: &mut Words,
    count: usize,
    extras: Extras,
    part: &mut Part,
) -> Result<(), FormatError> {
    part.mesh.positions.reserve(count);
    let mut more: Vec<f32> = Vec::new();
    for vertex in 0..count {
        part.mesh.positions.push(words.vec3("a vertex")?);
        more.clear();
        while let Some(word) = words.next_on_line() {
            if extras.normals || extras.colors || extras.uvs {
                more.push(words.as_number(word, "a vertex attribute")? as f32);
            }
        }
        if extras.normals {
            let normal = more.get(..3).ok_or_else(|| short(vertex, "normal"))?;
            part.normals
                .push(Vec3::from_slice(normal).normalize_or_zero());
            more.drain(..3);
        }
        if extras.uvs {
            let start = more.len().checked_sub(2);
            let start = start.ok_or_else(|| short(vertex, "texture coordinate"))?;
            part.uvs.push(Vec2::from_slice(&more[start..]));
            more.truncate(start);
        }
        if extras.colors {
            let color = color(&more).ok_or_else(|| short(vertex, "colour"))?;
            part.colors.push(color);
        }
    }
    rescale_bytes(&mut part.colors);
    Ok(())
}

fn short(vertex: usize, what: &str) -> FormatError {
    FormatError::invalid(
        format!("vertex {vertex}"),
        format!("it has no {what}, but the header declares one"),
    )
}

fn color(values: &[f32]) -> Option<Vec4> {
    let &[r, g, b, ..] = values else { return None };
    Some(Vec4::new(
        r,
        g,
        b,
        values.get(3).copied().unwrap_or(f32::NAN),
    ))
}

/// Colours are 0..1 or 0..255; the header does not say which. A missing alpha (NaN) becomes one.
fn rescale_bytes(colors: &mut [Vec4]) {
    let largest = colors
        .iter()
        .fold(0.0f32, |l, c| l.max(c.x).max(c.y).max(c.z));
    let factor = if largest > 1.0 { 1.0 / 255.0 } else { 1.0 };
    for color in colors {
        *color *= factor;
        if color.w.is_nan() {
            color.w = 1.0;
        }
    }
}

fn read_faces(
    words: &mut Words,
    count: usize,
    positions: Vec<Vec3>,
) -> Result<(TriMesh, usize), FormatError> {
    let mut triangles = Vec::with_capacity(count);
    let mut thin = 0;
    let mut polygon: Vec<u32> = Vec::new();
    let mut corners: Vec<Vec3> = Vec::new();
    for face in 0..count {
        let sides = words.count("the number of a face's corners")?;
        words.check_fits(sides, 2, "corners of one face")?;
        polygon.clear();
        corners.clear();
        for _ in 0..sides {
            let index = words.count("a corner of a face")?;
            let position = positions.get(index).ok_or_else(|| {
                FormatError::invalid(
                    format!("face {face}"),
                    format!(
                        "it refers to vertex {index}, but there are only {}",
                        positions.len()
                    ),
                )
            })?;
            polygon.push(index as u32);
            corners.push(*position);
        }
        if sides < 3 {
            thin += 1;
        } else {
            triangulate(&corners, |corners| {
                triangles.push(corners.map(|corner| polygon[corner]));
            });
        }
        while words.next_on_line().is_some() {}
    }
    Ok((
        TriMesh {
            positions,
            triangles,
        },
        thin,
    ))
}

/// Writes all parts as one OFF mesh, in metres and Y up.
pub fn write_off(character: &Character) -> String {
    use std::fmt::Write;
    let vertices: usize = character.parts.iter().map(|p| p.mesh.positions.len()).sum();
    let faces: usize = character.parts.iter().map(|p| p.mesh.triangles.len()).sum();
    let mut out = format!("OFF\n{vertices} {faces} 0\n");
    for position in character.parts.iter().flat_map(|p| &p.mesh.positions) {
        let _ = writeln!(out, "{} {} {}", position.x, position.y, position.z);
    }
    let mut first = 0;
    for part in &character.parts {
        for [a, b, c] in &part.mesh.triangles {
            let _ = writeln!(out, "3 {} {} {}", a + first, b + first, c + first);
        }
        first += part.mesh.positions.len() as u32;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_colours_and_polygons() {
        let text = b"# made by hand\nCOFF # header\n4 2 0\n0 0 0 255 0 0 255\n1 0 0 255 0 0\n\n1 1 0 0 0 255\n0 1 0 0 0 0\n4 0 1 2 3 0.5 0.5 0.5\n2 0 1";
        let character = parse_off(text).unwrap();
        let part = &character.parts[0];
        assert_eq!(part.mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(part.colors[0], Vec4::new(1.0, 0.0, 0.0, 1.0));
        assert_eq!(part.colors[2], Vec4::new(0.0, 0.0, 1.0, 1.0));
        assert_eq!(character.problems.len(), 1);
    }

    #[test]
    fn bad_files_give_errors() {
        let fails = |text: &str, why: &str| {
            let error = parse_off(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        fails("", "nothing");
        fails("OFF\n0 0 0\n", "no vertices");
        fails("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "only 3");
        fails("OFF\n3 1 0\n0 0 0\n1 0 nan\n0 1 0\n3 0 1 2\n", "finite");
        fails("OFF\n900000000 1 0\n0 0 0\n", "more than");
        fails("OFF\n3 1 0\n0 0 0\n1 0\n", "too early");
        fails("OFF BINARY\n", "binary");
        fails("4OFF\n", "four");
        fails("hello", "starts with");
    }

    #[test]
    fn round_trip_is_exact() {
        let text = "OFF\n3 1 0\n0 0 0\n1 0 0.1\n0 1 0\n3 0 1 2\n";
        let character = parse_off(text.as_bytes()).unwrap();
        assert_eq!(write_off(&character), text);
    }
}
