//! PLY header: elements and their storage.

use super::super::FormatError;
use super::super::text::{Words, lossy};
use super::body::{Encoding, Kind};

pub(super) struct Property {
    pub name: String,
    pub kind: Kind,
    /// The type of the count, for lists.
    pub list: Option<Kind>,
}

pub(super) struct Element {
    pub name: String,
    pub count: usize,
    pub properties: Vec<Property>,
}

/// Encoding, elements, and the offset of the body.
pub(super) fn parse_header(bytes: &[u8]) -> Result<(Encoding, Vec<Element>, usize), FormatError> {
    let mut words = Words::new(bytes, None);
    let shift = bytes.len() - words.remaining();
    if words.next_word() != Some(b"ply") {
        return Err(FormatError::text(1, "a PLY file starts with 'ply'"));
    }
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    loop {
        let keyword = words.next_word().ok_or_else(|| FormatError::Truncated {
            reason: "the header has no 'end_header'".into(),
        })?;
        match keyword {
            b"format" => encoding = Some(parse_encoding(&mut words)?),
            b"element" => {
                let name = words.next_on_line().map(lossy).unwrap_or_default();
                let count = words.count("the number of elements")?;
                elements.push(Element {
                    name,
                    count,
                    properties: Vec::new(),
                });
            }
            b"property" => {
                let line = words.line();
                let property = parse_property(&mut words)?;
                let element = elements.last_mut();
                let element = element
                    .ok_or_else(|| FormatError::text(line, "a property before any element"))?;
                element.properties.push(property);
            }
            b"end_header" => break,
            b"comment" | b"obj_info" => {}
            other => {
                return Err(FormatError::text(
                    words.line(),
                    format!("unexpected '{}' in the header", lossy(other)),
                ));
            }
        }
        words.rest_of_line();
    }
    let encoding = encoding.ok_or_else(|| FormatError::text(1, "the header declares no format"))?;
    let rest = words.rest();
    let end = rest
        .iter()
        .position(|&byte| byte == b'\n')
        .map_or(rest.len(), |at| at + 1);
    Ok((
        encoding,
        elements,
        shift.max(bytes.len() - rest.len()) + end,
    ))
}

fn parse_encoding(words: &mut Words) -> Result<Encoding, FormatError> {
    match words.next_on_line().unwrap_or_default() {
        b"ascii" => Ok(Encoding::Text),
        b"binary_little_endian" => Ok(Encoding::Little),
        b"binary_big_endian" => Ok(Encoding::Big),
        other => Err(FormatError::text(
            words.line(),
            format!("'{}' is not a PLY encoding", lossy(other)),
        )),
    }
}

fn parse_property(words: &mut Words) -> Result<Property, FormatError> {
    let mut word = |what: &str| {
        let line = words.line();
        words
            .next_on_line()
            .ok_or_else(|| FormatError::text(line, format!("a property lacks its {what}")))
            .map(|word| (word, line))
    };
    let kind = |(word, line): (&[u8], usize)| {
        Kind::named(word)
            .ok_or_else(|| FormatError::text(line, format!("'{}' is not a PLY type", lossy(word))))
    };
    let first = word("type")?;
    let (list, item) = match first.0 {
        b"list" => (Some(kind(word("count type")?)?), word("item type")?),
        _ => (None, first),
    };
    Ok(Property {
        kind: kind(item)?,
        list,
        name: lossy(word("name")?.0),
    })
}
