//! Points as text: one a line, `x y z`, with the normal as columns 4 to 6 where these are unit vectors. Other columns
//! (colour, intensity) are skipped. Columns are separated by spaces, tabs, commas or semicolons.

use glam::Vec3;

use super::text::{is_space, lossy, parse_number};
use super::units::{Content, normalise_units};
use super::{FormatError, ReadOptions};
use crate::character::{Character, Part};

/// Reads a cloud of points. Points keep their order.
pub fn read_xyz(bytes: &[u8], options: &ReadOptions) -> Result<Character, FormatError> {
    let mut character = parse_xyz(bytes)?;
    normalise_units(&mut character, options, Content::Mesh)?;
    Ok(character)
}

/// How far the length of a normal may be from one: text has three digits at least.
const UNIT_TOLERANCE: f32 = 0.02;

/// Parses the file, keeping its units and axes.
pub(super) fn parse_xyz(bytes: &[u8]) -> Result<Character, FormatError> {
    let mut part = Part::default();
    let mut has_normals = true;
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let separates = |&byte: &u8| is_space(byte) || byte == b',' || byte == b';';
        let mut words = line.split(separates).filter(|word| !word.is_empty());
        let mut columns = [0.0f32; 6];
        let mut count = 0;
        let mut bad = None;
        for word in words.by_ref().take(6) {
            match parse_number(word) {
                Some(value) => columns[count] = value as f32,
                None => {
                    bad = Some(word);
                    break;
                }
            }
            count += 1;
        }
        if count == 0 || (count < 3 && part.mesh.positions.is_empty()) {
            let is_comment = line.trim_ascii_start().starts_with(b"#")
                || line.trim_ascii_start().starts_with(b"//");
            // A first line may hold the number of points, or the names of the columns.
            if bad.is_none() || is_comment || part.mesh.positions.is_empty() {
                continue;
            }
        }
        if count < 3 {
            return Err(FormatError::text(
                index + 1,
                match bad {
                    Some(word) => format!("a coordinate should be a number, not '{}'", lossy(word)),
                    None => format!("a point has three coordinates, but this one has {count}"),
                },
            ));
        }
        let (position, normal) = (Vec3::from_slice(&columns), Vec3::from_slice(&columns[3..]));
        part.mesh.positions.push(super::text::finite(position, || {
            format!("the point on line {}", index + 1)
        })?);
        has_normals &= count == 6 && (normal.length() - 1.0).abs() < UNIT_TOLERANCE;
        match has_normals {
            true => part.normals.push(normal.normalize()),
            false => part.normals = Vec::new(),
        }
    }
    if part.mesh.positions.is_empty() {
        return Err(FormatError::Empty("no points"));
    }
    Ok(Character {
        parts: vec![part],
        ..Character::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_comments_and_counts() {
        let text = "2\n# made by hand\n1 2 3 0 0 1\n4,5;6, 1 0 0 255\n\n";
        let part = &parse_xyz(text.as_bytes()).unwrap().parts[0];
        assert_eq!(
            part.mesh.positions,
            [Vec3::new(1., 2., 3.), Vec3::new(4., 5., 6.)]
        );
        assert_eq!(part.normals, [Vec3::Z, Vec3::X]);
        let colours = "x y z r g b\n1 2 3 255 0 1\n4 5 6 0 0 1\n";
        let part = &parse_xyz(colours.as_bytes()).unwrap().parts[0];
        assert_eq!((part.mesh.positions.len(), part.normals.len()), (2, 0));
    }

    #[test]
    fn bad_lines_are_named() {
        for (text, why) in [
            ("1 2 3\n4 5\n", "line 2"),
            ("1 2 3\n4 x 6\n", "'x'"),
            ("1 2 3\n4 nan 6\n", "line 2"),
            ("# nothing\n", "no points"),
        ] {
            let error = parse_xyz(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }
}
