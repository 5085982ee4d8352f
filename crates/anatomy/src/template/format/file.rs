//! Template files (`.template`), version 1.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `SUPPLETM` |
//! | 4 | version, little-endian, as all numbers |
//! | 4 | CRC-32 of everything that follows |
//! | 8 | length of the content before compression |
//! | rest | the content, compressed (raw deflate) |
//!
//! The content is six blocks in this order, each a tag of four letters, a length and bytes: `HEAD` (JSON: names, sex, joints,
//! landmarks, provenance), `SKIN` (mesh and weights of the body), `LAYR` (muscle surface and skeleton surface where there are
//! layers, thickness), `REGN` (regions), `BONE` and `MUSC` (meshes, what moves them, fibres). Skin, layers and weights are kept to
//! the bit, so that what is nested stays nested; bones and muscles lie on a grid of 0.05 mm. A file with a higher version is
//! refused: readers of version 1 do not know what it would leave out.

use std::path::{Path, PathBuf};

use supple_rig::formats::{FormatError, save};

use crate::Body;
use crate::template::format::blocks::*;
use crate::template::format::bytes::{Malformed, Reader, Writer};
use crate::template::format::header::Header;
use crate::template::{Landmark, LayeredBody};

/// First bytes of a template file.
pub const MAGIC: &[u8; 8] = b"SUPPLETM";
/// Version that is written, and the highest that is read.
pub const VERSION: u32 = 1;
/// Longest content \[bytes\]. The embedded templates have about 6 MB; a body with every vessel would have 100.
const LONGEST: usize = 256 << 20;
/// Compression level of deflate: 9 is the smallest that takes less than a second.
const LEVEL: u8 = 9;

/// Why a template cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
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
    /// Other bytes at the start.
    #[error("this is not a template file")]
    NotATemplate,
    /// Written by a later version.
    #[error(
        "the template file has version {found}, and this program reads versions up to {VERSION}; update Supple, or write it again"
    )]
    Newer {
        /// The file's version.
        found: u32,
    },
    /// Bytes have changed or are missing.
    #[error(
        "the template file is damaged: its checksum is {found:08x} and should be {wanted:08x}; copy or download it again"
    )]
    Checksum {
        /// Of the bytes.
        found: u32,
        /// In the file.
        wanted: u32,
    },
    /// The content makes no sense though its checksum fits.
    #[error("the template file is damaged at {block}: {reason}")]
    Malformed {
        /// The block.
        block: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// Reads a template file.
pub fn load_template(path: &Path) -> Result<LayeredBody, TemplateError> {
    let bytes = std::fs::read(path).map_err(|source| TemplateError::Io {
        path: path.to_owned(),
        source,
    })?;
    read_template(&bytes)
}

/// Writes a template file under a temporary name, and renames it.
pub fn save_template(path: &Path, template: &LayeredBody) -> Result<(), TemplateError> {
    Ok(save(path, &write_template(template))?)
}

/// The bytes of a template file.
pub fn write_template(template: &LayeredBody) -> Vec<u8> {
    let mut content = Writer::default();
    let header = Header::of(template);
    let json = Writer {
        bytes: serde_json::to_vec(&header).unwrap_or_default(),
    };
    content.block(b"HEAD", json);
    content.block(b"SKIN", skin_block(&template.body));
    content.block(b"LAYR", layers_block(template));
    content.block(b"REGN", regions_block(&template.regions));
    content.block(b"BONE", bones_block(&template.bones));
    content.block(b"MUSC", muscles_block(&template.muscles));
    let mut rest = (content.bytes.len() as u64).to_le_bytes().to_vec();
    rest.extend(miniz_oxide::deflate::compress_to_vec(&content.bytes, LEVEL));
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(crc32fast::hash(&rest).to_le_bytes());
    bytes.extend(rest);
    bytes
}

/// A template from the bytes of its file.
pub fn read_template(bytes: &[u8]) -> Result<LayeredBody, TemplateError> {
    let prefix = bytes.get(..16).ok_or(TemplateError::NotATemplate)?;
    if &prefix[..8] != MAGIC {
        return Err(TemplateError::NotATemplate);
    }
    let number = |at: usize| {
        u32::from_le_bytes([prefix[at], prefix[at + 1], prefix[at + 2], prefix[at + 3]])
    };
    let (version, wanted) = (number(8), number(12));
    if version > VERSION {
        return Err(TemplateError::Newer { found: version });
    }
    let found = crc32fast::hash(&bytes[16..]);
    if found != wanted {
        return Err(TemplateError::Checksum { found, wanted });
    }
    let content = content(&bytes[16..]).map_err(in_block("its compressed content"))?;
    let mut reader = Reader { bytes: &content };
    let template = read_content(&mut reader)?;
    reader.end().map_err(in_block("its end"))?;
    Ok(template)
}

fn in_block(block: &'static str) -> impl Fn(Malformed) -> TemplateError {
    move |Malformed(reason)| TemplateError::Malformed {
        block,
        reason: reason.to_owned(),
    }
}

fn content(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut reader = Reader { bytes };
    let mut length = [0; 8];
    length.copy_from_slice(reader.take(8)?);
    let length = (usize::try_from(u64::from_le_bytes(length)).ok())
        .filter(|&length| length <= LONGEST)
        .ok_or(Malformed("it says it is too long"))?;
    let content = miniz_oxide::inflate::decompress_to_vec_with_limit(reader.bytes, length)
        .map_err(|_| Malformed("it cannot be decompressed"))?;
    match content.len() == length {
        true => Ok(content),
        false => Err(Malformed("it is shorter than it says")),
    }
}

fn read_content(reader: &mut Reader) -> Result<LayeredBody, TemplateError> {
    let json = reader.block(b"HEAD").map_err(in_block("HEAD"))?;
    let malformed = |reason: String| TemplateError::Malformed {
        block: "HEAD",
        reason,
    };
    let header: Header =
        serde_json::from_slice(json.bytes).map_err(|e| malformed(e.to_string()))?;
    let skeleton = header.skeleton().map_err(malformed)?;
    let joints = skeleton.len();
    let mut body = Body {
        sex: header.sex,
        mesh: Default::default(),
        file_vertices: Vec::new(),
        skeleton,
        influences: Vec::new(),
    };
    let block = reader.block(b"SKIN").map_err(in_block("SKIN"))?;
    read_skin(block, &mut body).map_err(in_block("SKIN"))?;
    let block = reader.block(b"LAYR").map_err(in_block("LAYR"))?;
    let (layers, thickness) = read_layers(block, &body).map_err(in_block("LAYR"))?;
    let block = reader.block(b"REGN").map_err(in_block("REGN"))?;
    let (vertices, bones) = (body.mesh.positions.len(), header.bones.len());
    let regions = read_regions(block, vertices, bones).map_err(in_block("REGN"))?;
    let sizes = Sizes { vertices, joints };
    let block = reader.block(b"BONE").map_err(in_block("BONE"))?;
    let bones = read_bones(block, &header, sizes).map_err(in_block("BONE"))?;
    let block = reader.block(b"MUSC").map_err(in_block("MUSC"))?;
    let muscles = read_muscles(block, &header, sizes).map_err(in_block("MUSC"))?;
    let stray = |mark: &Landmark| mark.skin_vertex as usize >= vertices || !mark.bone.is_finite();
    if header.landmarks.values().any(stray) {
        return Err(malformed("a landmark is nowhere on the skin".to_owned()));
    }
    Ok(LayeredBody {
        name: header.name,
        body,
        layers,
        bones,
        muscles,
        thickness,
        regions,
        landmarks: header.landmarks,
        provenance: header.provenance,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::example::example;

    #[test]
    fn a_template_comes_back_to_the_bit() {
        let template = example().rounded();
        let bytes = write_template(&template);
        let again = read_template(&bytes).unwrap();
        assert_eq!(again.name, template.name);
        assert_eq!(again.body.mesh, template.body.mesh);
        assert_eq!(again.body.file_vertices, template.body.file_vertices);
        assert_eq!(again.body.skeleton, template.body.skeleton);
        assert_eq!(again.body.influences, template.body.influences);
        assert_eq!(again.layers, template.layers);
        assert_eq!(again.bones, template.bones);
        assert_eq!(again.muscles, template.muscles);
        assert_eq!(again.thickness, template.thickness);
        assert_eq!(again.regions, template.regions);
        assert_eq!(again.landmarks, template.landmarks);
        assert_eq!(again.provenance, template.provenance);
        assert_eq!(write_template(&again), bytes);
    }

    #[test]
    fn damage_is_told() {
        let bytes = write_template(&example());
        assert!(matches!(
            read_template(b"glTF"),
            Err(TemplateError::NotATemplate)
        ));
        let mut newer = bytes.clone();
        newer[8] = VERSION as u8 + 1;
        let error = read_template(&newer).unwrap_err();
        assert!(matches!(error, TemplateError::Newer { found } if found == VERSION + 1));
        let mut changed = bytes.clone();
        changed[100] ^= 4;
        assert!(matches!(
            read_template(&changed),
            Err(TemplateError::Checksum { .. })
        ));
        let cut = &bytes[..bytes.len() - 7];
        assert!(matches!(
            read_template(cut),
            Err(TemplateError::Checksum { .. })
        ));
        for length in 0..16 {
            assert!(read_template(&bytes[..length]).is_err());
        }
    }

    #[test]
    fn a_file_that_would_fill_the_memory_is_refused() {
        let mut rest = u64::MAX.to_le_bytes().to_vec();
        rest.extend(miniz_oxide::deflate::compress_to_vec(&[0; 100], 6));
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(crc32fast::hash(&rest).to_le_bytes());
        bytes.extend(rest);
        let error = read_template(&bytes).unwrap_err().to_string();
        assert!(error.contains("too long"), "{error}");
    }
}
