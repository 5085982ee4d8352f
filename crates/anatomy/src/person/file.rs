//! Person files (`.person`), version 2: a GLB that any viewer opens, and behind its meshes what Supple reads back.
//!
//! The JSON's `extras.supple_person` holds measures, composition, the scans (how each was met, and its pose) and fit as plain JSON,
//! and the number of a buffer view. Version 1 had one scan, under `registration`. The view ends the binary chunk:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `SUPPLEPN` |
//! | 4 | version, little-endian, as all numbers |
//! | 4 | CRC-32 of all bytes of the file before this view |
//! | 4 | CRC-32 of everything that follows |
//! | rest | blocks of a tag, a length and bytes: `ANAT` (a [template file](crate::template::format::file)), `EYES` (the eyes_and_tongue) |
//!
//! The meshes of the GLB are for viewers: they have four joints a vertex with weights of a byte, and no surfaces where there are no
//! layers. Supple reads the view: skin, layers and weights come back to the bit, bones and muscles on the template's
//! grid of 0.05 mm, which [`Person`]s lie on from the start.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use supple_rig::formats::{FormatError, save};

use super::FitReport;
use super::glb;
use super::record::{EyesAndTongue, Person, ScanFit};
use crate::composition::{Composition, Measures};
use crate::template::format::blocks::{read_weights, write_weights};
use crate::template::format::bytes::{Malformed, Reader, Writer};
use crate::template::{TemplateError, read_template, write_template};

/// First bytes of the view.
pub const MAGIC: &[u8; 8] = b"SUPPLEPN";
/// Version that is written, and the highest that is read.
pub const VERSION: u32 = 2;
/// Name in the JSON's `extras`.
pub const EXTRAS: &str = "supple_person";
/// Bytes before the blocks.
const HEADER: usize = 20;

/// Why a person cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PersonFileError {
    /// The file cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] FormatError),
    /// No GLB, or one that Supple did not write.
    #[error("this is not a person file")]
    NotAPerson,
    /// Written by a later version.
    #[error(
        "the person file has version {found}, and this program reads versions up to {VERSION}; update Supple, or make it again"
    )]
    Newer {
        /// The file's version.
        found: u32,
    },
    /// Bytes have changed.
    #[error(
        "the person file is damaged, or was edited by another program: its checksum is {found:08x} and should be {wanted:08x}; make or copy it again"
    )]
    Checksum {
        /// Of the bytes.
        found: u32,
        /// In the file.
        wanted: u32,
    },
    /// Bytes are missing.
    #[error("the person file is damaged: {0}; make or copy it again")]
    Malformed(String),
    /// The anatomy inside.
    #[error("the anatomy in the person file cannot be read: {0}")]
    Anatomy(#[from] TemplateError),
}

impl From<Malformed> for PersonFileError {
    fn from(Malformed(reason): Malformed) -> Self {
        Self::Malformed(reason.to_owned())
    }
}

/// What the JSON holds.
#[derive(Serialize, Deserialize)]
struct Record {
    version: u32,
    #[serde(rename = "bufferView")]
    buffer_view: usize,
    measures: Measures,
    composition: Composition,
    #[serde(default)]
    scans: Vec<ScanFit>,
    /// The scan of a file of version 1.
    #[serde(default, skip_serializing)]
    registration: Option<ScanFit>,
    fit: FitReport,
}

/// Reads a person file.
pub fn load_person(path: &Path) -> Result<Person, PersonFileError> {
    let bytes = std::fs::read(path).map_err(|source| PersonFileError::Io {
        path: path.to_owned(),
        source,
    })?;
    read_person(&bytes)
}

/// Writes a person file under a temporary name, and renames it.
pub fn save_person(path: &Path, person: &Person) -> Result<(), PersonFileError> {
    Ok(save(path, &write_person(person)?)?)
}

/// The bytes of a person file. Times are left out, so that the same scan gives the same bytes.
pub fn write_person(person: &Person) -> Result<Vec<u8>, PersonFileError> {
    let mut document = glb::document(person);
    let mut view = vec![0; HEADER];
    view[..8].copy_from_slice(MAGIC);
    view[8..12].copy_from_slice(&VERSION.to_le_bytes());
    let mut blocks = Writer::default();
    let anatomy = Writer {
        bytes: write_template(&person.body),
    };
    blocks.block(b"ANAT", anatomy);
    blocks.block(b"EYES", eyes_block(&person.eyes_and_tongue));
    view[16..HEADER].copy_from_slice(&crc32fast::hash(&blocks.bytes).to_le_bytes());
    view.extend(blocks.bytes);
    // Whole words, so that nothing follows it in the chunk.
    view.resize(view.len().next_multiple_of(4), 0);
    let buffer = &mut document.buffers[0];
    buffer.resize(buffer.len().next_multiple_of(4), 0);
    let (offset, length) = (buffer.len(), view.len());
    buffer.extend(&view);
    let views = document.json["bufferViews"].as_array_mut();
    let number = views.map_or(0, |views| {
        views.push(json!({"buffer": 0, "byteOffset": offset, "byteLength": length}));
        views.len() - 1
    });
    document.json["buffers"][0]["byteLength"] = document.buffers[0].len().into();
    let mut fit = person.fit.clone();
    fit.seconds.clear();
    let record = Record {
        version: VERSION,
        buffer_view: number,
        measures: person.measures,
        composition: person.composition.clone(),
        scans: person.scans.clone(),
        registration: None,
        fit,
    };
    let record = serde_json::to_value(&record)
        .map_err(|error| PersonFileError::Malformed(error.to_string()))?;
    document.json["extras"] = json!({ EXTRAS: record });
    let mut bytes = document.to_glb()?;
    let start = bytes.len() - length;
    let before = crc32fast::hash(&bytes[..start]);
    bytes[start + 12..start + 16].copy_from_slice(&before.to_le_bytes());
    Ok(bytes)
}

/// A person from the bytes of its file.
pub fn read_person(bytes: &[u8]) -> Result<Person, PersonFileError> {
    let (json, bin) = chunks(bytes)?;
    let json: Value = serde_json::from_slice(json)
        .map_err(|error| PersonFileError::Malformed(error.to_string()))?;
    let record = (json.get("extras"))
        .and_then(|extras| extras.get(EXTRAS))
        .ok_or(PersonFileError::NotAPerson)?;
    let version = record.get("version").and_then(Value::as_u64).unwrap_or(0);
    if version > u64::from(VERSION) {
        return Err(PersonFileError::Newer {
            found: u32::try_from(version).unwrap_or(u32::MAX),
        });
    }
    let record: Record = serde::Deserialize::deserialize(record)
        .map_err(|error: serde_json::Error| PersonFileError::Malformed(error.to_string()))?;
    let start = bin + view_offset(&json, record.buffer_view)?;
    let view = bytes.get(start..).unwrap_or_default();
    if view.len() < HEADER || &view[..8] != MAGIC {
        return Err(PersonFileError::NotAPerson);
    }
    let number =
        |at: usize| u32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]);
    if number(8) > VERSION {
        return Err(PersonFileError::Newer { found: number(8) });
    }
    let mut reader = Reader {
        bytes: &view[HEADER..],
    };
    let anatomy = reader.block(b"ANAT")?;
    let eyes = reader.block(b"EYES")?;
    let blocks = view.len() - reader.bytes.len();
    for (part, wanted) in [
        (&bytes[..start], number(12)),
        (&view[HEADER..blocks], number(16)),
    ] {
        let found = crc32fast::hash(part);
        if found != wanted {
            return Err(PersonFileError::Checksum { found, wanted });
        }
    }
    if reader.bytes.len() > 3 || reader.bytes.iter().any(|&byte| byte != 0) {
        return Err(PersonFileError::Malformed(
            "something follows its end".to_owned(),
        ));
    }
    let scans = match record.registration {
        Some(scan) => vec![scan],
        None => record.scans,
    };
    if scans.is_empty() {
        return Err(PersonFileError::Malformed("it names no scan".to_owned()));
    }
    let body = read_template(anatomy.bytes)?;
    let joints = body.body.skeleton.len();
    Ok(Person {
        eyes_and_tongue: read_eyes(eyes, joints)?,
        body,
        measures: record.measures,
        composition: record.composition,
        scans,
        fit: record.fit,
    })
}

/// The JSON chunk of a GLB, and where the binary chunk's content begins.
fn chunks(bytes: &[u8]) -> Result<(&[u8], usize), PersonFileError> {
    let word = |at: usize| {
        let four = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(four.try_into().ok()?) as usize)
    };
    if !bytes.starts_with(b"glTF") || word(16) != Some(0x4E4F_534A) {
        return Err(PersonFileError::NotAPerson);
    }
    let cut = || {
        PersonFileError::Malformed(format!(
            "it says it has {} bytes and has {}",
            word(8).unwrap_or(0),
            bytes.len()
        ))
    };
    if word(8) != Some(bytes.len()) {
        return Err(cut());
    }
    let length = word(12).ok_or_else(cut)?;
    let json = (20usize.checked_add(length))
        .and_then(|end| bytes.get(20..end))
        .ok_or_else(cut)?;
    match word(20 + length + 4) {
        Some(0x004E_4942) => Ok((json, 20 + length + 8)),
        _ => Err(PersonFileError::NotAPerson),
    }
}

fn view_offset(json: &Value, view: usize) -> Result<usize, PersonFileError> {
    (json.get("bufferViews"))
        .and_then(|views| views.get(view))
        .and_then(|view| view.get("byteOffset"))
        .and_then(Value::as_u64)
        .and_then(|offset| u32::try_from(offset).ok())
        .map(|offset| offset as usize)
        .ok_or(PersonFileError::NotAPerson)
}

fn eyes_block(eyes_and_tongue: &EyesAndTongue) -> Writer {
    let mut writer = Writer::default();
    let mesh = &eyes_and_tongue.mesh;
    writer.unsigned(mesh.positions.len() as u64);
    writer.unsigned(mesh.triangles.len() as u64);
    writer.points(&mesh.positions);
    let corners = mesh.triangles.as_flattened();
    writer.differences(corners.iter().map(|&v| i64::from(v)));
    write_weights(&eyes_and_tongue.influences, &mut writer);
    writer
}

fn read_eyes(mut reader: Reader, joints: usize) -> Result<EyesAndTongue, Malformed> {
    let vertices = reader.count()?;
    let triangles = reader.count()?;
    let positions = reader.points(vertices)?;
    let corners = reader.indices(3 * triangles, vertices)?;
    let influences = read_weights(&mut reader, vertices, joints)?;
    reader.end()?;
    Ok(EyesAndTongue {
        mesh: supple_geom::TriMesh {
            positions,
            triangles: corners
                .chunks_exact(3)
                .map(|c| [c[0], c[1], c[2]])
                .collect(),
        },
        influences,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::person::example::example_person;

    #[test]
    fn a_person_comes_back_to_the_bit() {
        let person = example_person();
        let bytes = write_person(&person).unwrap();
        let again = read_person(&bytes).unwrap();
        assert_eq!(again.body.layers, person.body.layers);
        assert_eq!(again.body.body.mesh, person.body.body.mesh);
        assert_eq!(again.body.body.skeleton, person.body.body.skeleton);
        assert_eq!(again.body.bones, person.body.bones);
        assert_eq!(again.body.muscles, person.body.muscles);
        assert_eq!(again.body.thickness, person.body.thickness);
        assert_eq!(again.eyes_and_tongue, person.eyes_and_tongue);
        assert_eq!(again.measures, person.measures);
        assert_eq!(again.composition, person.composition);
        assert_eq!(again.scans, person.scans);
        assert_eq!(again.fit.masses, person.fit.masses);
        assert!(again.fit.seconds.is_empty());
        assert_eq!(write_person(&again).unwrap(), bytes);
    }

    /// A file as version 1 wrote it: one scan, by another name.
    fn version_1(person: &Person) -> Vec<u8> {
        let bytes = write_person(person).unwrap();
        let (json, bin) = chunks(&bytes).unwrap();
        let mut json: Value = serde_json::from_slice(json).unwrap();
        let record = json["extras"][EXTRAS].as_object_mut().unwrap();
        let scans = record.remove("scans").unwrap();
        record.insert("registration".to_owned(), scans[0].clone());
        record.insert("version".to_owned(), 1.into());
        let view = view_offset(
            &json,
            json["extras"][EXTRAS]["bufferView"].as_u64().unwrap() as usize,
        );
        let mut bin = bytes[bin..].to_vec();
        let view = view.unwrap();
        bin[view + 8..view + 12].copy_from_slice(&1u32.to_le_bytes());
        let mut json = serde_json::to_vec(&json).unwrap();
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut file = b"glTF".to_vec();
        let word = |x: usize| (x as u32).to_le_bytes();
        file.extend([word(2), word(28 + json.len() + bin.len())].concat());
        file.extend([word(json.len()), word(0x4E4F_534A)].concat());
        file.extend(json);
        file.extend([word(bin.len()), word(0x004E_4942)].concat());
        let start = file.len() + view;
        file.extend(bin);
        let before = crc32fast::hash(&file[..start]);
        file[start + 12..start + 16].copy_from_slice(&before.to_le_bytes());
        file
    }

    #[test]
    fn files_of_version_1_open() {
        let mut person = example_person();
        person.scans[0].confidence = 0.625;
        let read = read_person(&version_1(&person)).unwrap();
        assert_eq!(read.scans, person.scans);
        assert_eq!(read.body.layers, person.body.layers);
        assert_eq!(read.composition, person.composition);
        // Written again it is of this version.
        assert_eq!(write_person(&read).unwrap(), write_person(&person).unwrap());
    }

    #[test]
    fn several_scans_of_a_person_are_kept() {
        let mut person = example_person();
        let mut other = person.scans[0].clone();
        other.figure.translation.x = 0.25;
        person.scans.push(other);
        let again = read_person(&write_person(&person).unwrap()).unwrap();
        assert_eq!(again.scans, person.scans);
        person.scans.clear();
        let error = read_person(&write_person(&person).unwrap()).unwrap_err();
        assert!(error.to_string().contains("no scan"), "{error}");
    }

    #[test]
    fn viewers_find_named_meshes_on_one_rig() {
        let bytes = write_person(&example_person()).unwrap();
        let read = supple_rig::formats::gltf::read_glb(&bytes, &Default::default()).unwrap();
        let names: Vec<&str> = read.parts.iter().map(|part| part.name.as_str()).collect();
        let wanted = [
            "skin",
            "muscle_surface",
            "skeleton_surface",
            "bone.ball",
            "muscle.cover_l",
            "eyes",
            "irises",
        ];
        assert_eq!(names, wanted);
        assert_eq!(read.skeleton.len(), 2);
        for part in &read.parts {
            assert_eq!(part.binding.joints.len(), 2, "{}", part.name);
            assert_eq!(part.binding.influences.len(), part.mesh.positions.len());
        }
    }

    #[test]
    fn nonsense_with_right_checksums_breaks_nothing() {
        let bytes = write_person(&example_person()).unwrap();
        let start = (0..bytes.len() - 8)
            .rfind(|&at| &bytes[at..at + 8] == MAGIC)
            .unwrap();
        let eyes = (start..bytes.len() - 4)
            .rfind(|&at| &bytes[at..at + 4] == b"EYES")
            .unwrap();
        let mut read = 0;
        for at in (eyes..bytes.len()).step_by(3) {
            for flip in [0x01, 0x80] {
                let mut changed = bytes.clone();
                changed[at] ^= flip;
                // The blocks may end up to three bytes before the file does.
                for padding in 0..4 {
                    let hash = crc32fast::hash(&changed[start + HEADER..bytes.len() - padding]);
                    changed[start + 16..start + HEADER].copy_from_slice(&hash.to_le_bytes());
                    if let Ok(person) = read_person(&changed) {
                        read += 1;
                        person.character();
                        write_person(&person).unwrap();
                    }
                }
            }
        }
        assert!(read > 100, "{read}");
    }

    #[test]
    fn no_damage_goes_unnoticed() {
        let bytes = write_person(&example_person()).unwrap();
        for length in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
            assert!(read_person(&bytes[..length]).is_err(), "{length}");
        }
        for at in (0..bytes.len()).step_by(61) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert!(read_person(&changed).is_err(), "byte {at}");
        }
        let mut longer = bytes.clone();
        longer.extend([0; 4]);
        assert!(read_person(&longer).is_err());
        assert!(matches!(
            read_person(b"SUPPLETM"),
            Err(PersonFileError::NotAPerson)
        ));
    }
}
