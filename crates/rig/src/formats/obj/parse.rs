//! Parses OBJ text into plain data, in one pass over its bytes.

use std::collections::HashMap;

use glam::{Vec2, Vec3, Vec4};

use super::super::FormatError;
use super::super::seams::{Corner, NONE};
use super::super::text::{finite, is_space, lossy, parse_number, scan_number};

/// The data of an OBJ file that describes polygon meshes.
#[derive(Default)]
pub(super) struct Obj {
    pub positions: Vec<Vec3>,
    /// One per position, or empty.
    pub colors: Vec<Vec4>,
    pub uvs: Vec<Vec2>,
    pub normals: Vec<Vec3>,
    /// Corners of all faces, concatenated; indices are not yet checked.
    pub corners: Vec<Corner>,
    /// Runs of similar faces.
    pub runs: Vec<Run>,
    /// Object or group, and material, in order of first use.
    pub sections: Vec<Section>,
    pub libraries: Vec<String>,
    pub lines_and_points: usize,
}

/// Consecutive faces with the same number of corners in the same section.
pub(super) struct Run {
    pub sides: u32,
    pub faces: u32,
    pub section: u32,
}

#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Section {
    pub object: String,
    pub group: String,
    pub material: String,
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    obj: Obj,
    now: Section,
    section: Option<u32>,
    known: HashMap<Section, u32>,
}

/// Parses the text. Indices become absolute and zero-based, but may be out of range.
pub(super) fn parse(bytes: &[u8]) -> Result<Obj, FormatError> {
    let mut parser = Parser {
        bytes,
        at: 0,
        line: 1,
        obj: Obj::default(),
        now: Section::default(),
        section: None,
        known: HashMap::new(),
    };
    while parser.statement()? {}
    Ok(parser.obj)
}

impl<'a> Parser<'a> {
    /// Reads one statement; false at the end of the file.
    fn statement(&mut self) -> Result<bool, FormatError> {
        self.skip_blank();
        let Some(&first) = self.bytes.get(self.at) else {
            return Ok(false);
        };
        let second = self.bytes.get(self.at + 1).copied().unwrap_or(b'\n');
        match (first, second) {
            (b'v', b' ' | b'\t') => self.position()?,
            (b'f', b' ' | b'\t') => self.face()?,
            (b'\n' | b'#', _) => {}
            _ => self.other()?,
        }
        self.skip_line();
        Ok(true)
    }

    fn other(&mut self) -> Result<(), FormatError> {
        let keyword = self.word();
        match keyword {
            b"vt" => {
                let (values, count) = self.numbers::<3>(1)?;
                let v = if count > 1 { values[1] } else { 0.0 };
                // OBJ texture coordinates start at the bottom, Supple's (as in glTF) at the top.
                let uv = finite(Vec3::new(values[0], 1.0 - v, 0.0), || {
                    format!("a texture coordinate on line {}", self.line)
                })?;
                self.obj.uvs.push(uv.truncate());
            }
            b"vn" => {
                let (values, _) = self.numbers::<3>(3)?;
                let normal = Vec3::from_array(values).normalize_or_zero();
                self.obj.normals.push(normal);
            }
            b"o" => self.change(|section, name| section.object = name),
            b"g" => self.change(|section, name| section.group = name),
            b"usemtl" => self.change(|section, name| section.material = name),
            b"mtllib" => {
                let name = lossy(self.rest_of_line());
                self.obj.libraries.push(name);
            }
            b"l" | b"p" => self.obj.lines_and_points += 1,
            _ => {}
        }
        Ok(())
    }

    fn change(&mut self, set: impl Fn(&mut Section, String)) {
        let name = lossy(self.rest_of_line());
        set(&mut self.now, name);
        self.section = None;
    }

    fn position(&mut self) -> Result<(), FormatError> {
        self.at += 1;
        let (values, count) = self.numbers::<7>(3)?;
        let vertex = self.obj.positions.len();
        let position = finite(Vec3::new(values[0], values[1], values[2]), || {
            format!("vertex {vertex} on line {}", self.line)
        })?;
        if count >= 6 {
            // Colours follow the position, or its optional weight.
            let first = count - 3;
            let color = finite(Vec3::from_slice(&values[first..count]), || {
                format!("the colour of vertex {vertex}")
            })?;
            self.obj.colors.resize(vertex, Vec4::ONE);
            self.obj.colors.push(color.extend(1.0));
        }
        self.obj.positions.push(position);
        Ok(())
    }

    fn face(&mut self) -> Result<(), FormatError> {
        self.at += 1;
        let first = self.obj.corners.len();
        while let Some(corner) = self.corner()? {
            self.obj.corners.push(corner);
        }
        let sides = (self.obj.corners.len() - first) as u32;
        let section = self.section();
        match self.obj.runs.last_mut() {
            Some(run) if run.sides == sides && run.section == section => run.faces += 1,
            _ => self.obj.runs.push(Run {
                sides,
                faces: 1,
                section,
            }),
        }
        Ok(())
    }

    fn section(&mut self) -> u32 {
        if let Some(section) = self.section {
            return section;
        }
        let next = self.obj.sections.len() as u32;
        let section = *self.known.entry(self.now.clone()).or_insert(next);
        if section == next {
            self.obj.sections.push(self.now.clone());
        }
        self.section = Some(section);
        section
    }

    /// Reads `v`, `v/vt`, `v//vn` or `v/vt/vn`.
    fn corner(&mut self) -> Result<Option<Corner>, FormatError> {
        self.skip_blank();
        if self.at_end_of_values() {
            return Ok(None);
        }
        let counts = [
            self.obj.positions.len(),
            self.obj.uvs.len(),
            self.obj.normals.len(),
        ];
        let mut corner = [NONE; 3];
        for (which, count) in counts.into_iter().enumerate() {
            match self.bytes.get(self.at) {
                Some(b'-' | b'0'..=b'9') => corner[which] = self.index(count)?,
                Some(b'/') if which == 1 => {}
                _ if which == 0 => return Err(self.bad("a corner of a face")),
                _ => {}
            }
            if self.bytes.get(self.at) != Some(&b'/') || which == 2 {
                break;
            }
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            Some(&byte) if !is_space(byte) && byte != b'\\' => Err(self.bad("a corner of a face")),
            _ => Ok(Some(corner)),
        }
    }

    /// Reads an index: from 1, or negative from the end.
    fn index(&mut self, count: usize) -> Result<u32, FormatError> {
        let negative = self.bytes.get(self.at) == Some(&b'-');
        self.at += usize::from(negative);
        let start = self.at;
        let mut value: u64 = 0;
        while let Some(digit) = self.bytes.get(self.at).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            value = (value * 10 + u64::from(digit)).min(u64::from(NONE) + 1);
            self.at += 1;
        }
        let index = if self.at == start || value == 0 {
            None
        } else if negative {
            (count as u64).checked_sub(value)
        } else {
            Some(value - 1)
        };
        match index {
            Some(index) if index < u64::from(NONE) => Ok(index as u32),
            _ => Err(FormatError::text(
                self.line,
                "an index is zero or points before the first element; indices count from 1, or back from -1",
            )),
        }
    }

    /// Reads up to `N` numbers of this line, at least `least`.
    fn numbers<const N: usize>(&mut self, least: usize) -> Result<([f32; N], usize), FormatError> {
        let mut values = [0.0; N];
        let mut count = 0;
        while count < N {
            self.skip_blank();
            if self.at_end_of_values() {
                break;
            }
            values[count] = self.number()?;
            count += 1;
        }
        if count < least {
            return Err(FormatError::text(
                self.line,
                format!("{count} numbers, but {least} are needed"),
            ));
        }
        Ok((values, count))
    }

    fn number(&mut self) -> Result<f32, FormatError> {
        let start = self.at;
        if let Some(value) = scan_number(self.bytes, &mut self.at)
            && self.bytes.get(self.at).is_none_or(|&byte| is_space(byte))
        {
            return Ok(value as f32);
        }
        self.at = start;
        let value = parse_number(self.word());
        value.map(|value| value as f32).ok_or_else(|| {
            self.at = start;
            self.bad("a number")
        })
    }

    fn bad(&mut self, wanted: &str) -> FormatError {
        let found = lossy(self.word());
        FormatError::text(self.line, format!("expected {wanted}, found '{found}'"))
    }

    fn word(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let length = rest
            .iter()
            .position(|&byte| is_space(byte))
            .unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn rest_of_line(&mut self) -> &'a [u8] {
        let start = self.at;
        while !self.at_line_end() {
            self.at += 1;
        }
        self.bytes[start..self.at].trim_ascii()
    }

    /// Whether the line or its values end here (at a comment).
    fn at_end_of_values(&self) -> bool {
        self.at_line_end() || self.bytes.get(self.at) == Some(&b'#')
    }

    fn at_line_end(&self) -> bool {
        matches!(self.bytes.get(self.at), None | Some(b'\n'))
    }

    /// Skips spaces, and line ends after a backslash.
    fn skip_blank(&mut self) {
        loop {
            match self.bytes.get(self.at..).unwrap_or_default() {
                [b'\n', ..] => return,
                [b'\\', b'\n', ..] => self.at += 2,
                [b'\\', b'\r', b'\n', ..] => self.at += 3,
                [byte, ..] if is_space(*byte) => {
                    self.at += 1;
                    continue;
                }
                _ => return,
            }
            self.line += 1;
        }
    }

    fn skip_line(&mut self) {
        while !self.at_line_end() {
            self.at += 1;
        }
        self.at = (self.at + 1).min(self.bytes.len());
        self.line += 1;
    }
}
