//! STL, text or binary. Every triangle keeps its own three vertices, in file order; the simulation welds them.

use glam::Vec3;

use super::checks::note;
use super::text::{Words, finite, lossy};
use super::units::{Content, normalise_units};
use super::{FormatError, ReadOptions};
use crate::{Character, Part};

/// Bytes before the first triangle of a binary file: comment and triangle count.
const HEADER_SIZE: usize = 84;
/// Bytes per triangle: normal, corners, attribute.
const FACET_SIZE: usize = 50;

/// Reads an STL file: three vertices per triangle, one part per solid.
pub fn read_stl(bytes: &[u8], options: &ReadOptions) -> Result<Character, FormatError> {
    let mut character = parse_stl(bytes)?;
    normalise_units(&mut character, options, Content::Mesh)?;
    Ok(character)
}

/// Parses the file, keeping its units and axes.
pub(super) fn parse_stl(bytes: &[u8]) -> Result<Character, FormatError> {
    let mut character = Character::default();
    character.parts = if is_text(bytes) {
        parse_text(bytes)?
    } else {
        vec![parse_binary(bytes, &mut character)?]
    };
    character
        .parts
        .retain(|part| !part.mesh.positions.is_empty());
    if character.parts.is_empty() {
        return Err(FormatError::Empty("no triangles"));
    }
    note(
        &mut character,
        "STL stores unconnected triangles, so each has its own vertices. The file keeps them; the simulation welds them.",
    );
    Ok(character)
}

/// Many binary files also start with "solid", so a matching binary length takes precedence.
fn is_text(bytes: &[u8]) -> bool {
    let exact = declared(bytes).is_some_and(|count| {
        count
            .checked_mul(FACET_SIZE)
            .is_some_and(|b| b + HEADER_SIZE == bytes.len())
    });
    let start = bytes.trim_ascii_start();
    let solid = start
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    // A text has a line end and "facet" early; an 80-byte binary header does not.
    let head = &start[..start.len().min(1024)];
    let facet = head
        .windows(5)
        .any(|word| word.eq_ignore_ascii_case(b"facet"));
    !exact && solid && (facet || bytes.len() < HEADER_SIZE || head.is_ascii())
}

fn declared(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(80..HEADER_SIZE)?;
    Some(u32::from_le_bytes(count.try_into().ok()?) as usize)
}

fn parse_binary(bytes: &[u8], character: &mut Character) -> Result<Part, FormatError> {
    let count = declared(bytes).ok_or_else(|| FormatError::Truncated {
        reason: format!("{} bytes are too few for an STL file", bytes.len()),
    })?;
    let body = &bytes[HEADER_SIZE..];
    if body.len() / FACET_SIZE < count {
        return Err(FormatError::Truncated {
            reason: format!(
                "it declares {count} triangles but has bytes for {}",
                body.len() / FACET_SIZE
            ),
        });
    }
    if body.len() > count * FACET_SIZE {
        note(
            character,
            "The file has extra bytes after the last triangle. They are ignored.",
        );
    }
    let mut part = Part::default();
    for facet in body.chunks_exact(FACET_SIZE).take(count) {
        for corner in facet[12..48].chunks_exact(12) {
            let value = |at: usize| {
                f32::from_le_bytes([corner[at], corner[at + 1], corner[at + 2], corner[at + 3]])
            };
            push(&mut part, Vec3::new(value(0), value(4), value(8)))?;
        }
    }
    Ok(part)
}

fn parse_text(bytes: &[u8]) -> Result<Vec<Part>, FormatError> {
    let mut words = Words::new(bytes, None);
    let mut parts: Vec<Part> = Vec::new();
    let mut corners = 0;
    while let Some(word) = words.next_word() {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        if is("solid") {
            let name = lossy(words.rest_of_line());
            parts.push(Part {
                name,
                ..Part::default()
            });
        } else if is("vertex") {
            let position = words.vec3("a vertex")?;
            if let Some(part) = parts.last_mut() {
                push(part, position)?;
            }
            corners += 1;
        } else if is("endfacet") {
            if corners != 3 {
                let reason =
                    format!("a facet has {corners} vertices; STL facets must be triangles");
                return Err(FormatError::text(words.line(), reason));
            }
            corners = 0;
        } else if is("endsolid") || is("facet") {
            words.rest_of_line();
        } else if !is("outer") && !is("loop") && !is("endloop") {
            let reason = format!("unexpected '{}' in an STL file", lossy(word));
            return Err(FormatError::text(words.line(), reason));
        }
    }
    if corners != 0 {
        return Err(FormatError::Truncated {
            reason: "the last facet is incomplete".into(),
        });
    }
    Ok(parts)
}

/// Adds a corner; every third one completes a triangle.
fn push(part: &mut Part, position: Vec3) -> Result<(), FormatError> {
    let vertex = part.mesh.positions.len();
    let position = finite(position, || {
        format!("vertex {} of triangle {}", vertex % 3, vertex / 3)
    })?;
    part.mesh.positions.push(position);
    if vertex % 3 == 2 {
        let last = vertex as u32;
        part.mesh.triangles.push([last - 2, last - 1, last]);
    }
    Ok(())
}

/// Writes all triangles as binary STL, in metres and Y up.
pub fn write_stl(character: &Character) -> Vec<u8> {
    let mut out = vec![b' '; 80];
    out[..16].copy_from_slice(b"metres, Y is up.");
    let count: usize = character
        .parts
        .iter()
        .map(|part| part.mesh.triangles.len())
        .sum();
    out.extend((count as u32).to_le_bytes());
    for part in &character.parts {
        for triangle in &part.mesh.triangles {
            let [a, b, c] = triangle.map(|i| {
                part.mesh
                    .positions
                    .get(i as usize)
                    .copied()
                    .unwrap_or_default()
            });
            let normal = (b - a).cross(c - a).normalize_or_zero();
            for vector in [normal, a, b, c] {
                out.extend(
                    vector
                        .to_array()
                        .iter()
                        .flat_map(|value| value.to_le_bytes()),
                );
            }
            out.extend([0, 0]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "solid my cube\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid my cube\n";

    #[test]
    fn text_and_binary_agree() {
        let text = parse_stl(TEXT.as_bytes()).unwrap();
        assert_eq!(text.parts[0].name, "my cube");
        assert_eq!(text.parts[0].mesh.triangles, [[0, 1, 2]]);
        let mut bytes = write_stl(&text);
        bytes[..5].copy_from_slice(b"solid");
        let binary = parse_stl(&bytes).unwrap();
        assert_eq!(binary.parts[0].mesh, text.parts[0].mesh);
    }

    #[test]
    fn bad_files_give_errors() {
        let fails = |bytes: &[u8], why: &str| {
            let error = parse_stl(bytes)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(error.contains(why), "{error}");
        };
        fails(b"", "too few");
        fails(b"solid\nendsolid\n", "no triangles");
        fails(TEXT.replace("vertex 1 0 0", "").as_bytes(), "2 vertices");
        fails(TEXT.replace("1 0 0", "1 nan 0").as_bytes(), "finite");
        fails(&TEXT.as_bytes()[..90], "too early");
        let bytes = write_stl(&parse_stl(TEXT.as_bytes()).unwrap());
        fails(&bytes[..bytes.len() - 1], "has bytes for 0");
        let mut bad = bytes;
        bad[HEADER_SIZE + 12..HEADER_SIZE + 16].copy_from_slice(&f32::NAN.to_le_bytes());
        fails(&bad, "finite");
    }
}
