//! What templates are built from: embedded bones and atlas, or folders and files of the user's.

use std::path::{Path, PathBuf};

use crate::Body;
use crate::bones::{BoneError, read_bones};
use crate::template::build::{MuscleSource, TemplateBuilder};
use crate::template::musculature::atlas::{Atlas, AtlasError};
use crate::template::musculature::given_muscles::{GivenMuscleError, read_given};

/// Where bones come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoneSource {
    /// The embedded bones.
    Embedded,
    /// A folder of meshes.
    Folder(PathBuf),
}

/// Why sources cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Of the bones.
    #[error(transparent)]
    Bones(#[from] BoneError),
    /// Of muscles in a folder.
    #[error(transparent)]
    Muscles(#[from] GivenMuscleError),
    /// Of an atlas.
    #[error("{}: {source}", path.display())]
    Atlas {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: AtlasError,
    },
    /// A file cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// Muscles of a folder, of an atlas' file, or (without a path) of the embedded atlas.
pub fn muscle_source(path: Option<&Path>) -> Result<MuscleSource, SourceError> {
    let in_file = |path: &Path, source: AtlasError| SourceError::Atlas {
        path: path.to_owned(),
        source,
    };
    let Some(path) = path else {
        let atlas =
            Atlas::embedded().map_err(|error| in_file(Path::new("embedded atlas"), error))?;
        return Ok(MuscleSource::Atlas(atlas));
    };
    if path.is_dir() {
        return Ok(MuscleSource::Meshes(read_given(path)?));
    }
    let text = std::fs::read_to_string(path).map_err(|source| SourceError::Io {
        path: path.to_owned(),
        source,
    })?;
    let atlas = Atlas::parse(&text).map_err(|error| in_file(path, error))?;
    Ok(MuscleSource::Atlas(atlas))
}

/// A builder with bones from a source, and with where everything comes from in words.
pub fn template_builder(
    name: String,
    body: Body,
    bones: &BoneSource,
    muscles: MuscleSource,
) -> Result<TemplateBuilder, SourceError> {
    let (set, bones) = match bones {
        BoneSource::Embedded => (crate::bones::embedded_bones()?, EMBEDDED_BONES.to_owned()),
        BoneSource::Folder(folder) => (
            read_bones(folder)?,
            format!("bones of {}", folder.display()),
        ),
    };
    let muscle_words = match &muscles {
        MuscleSource::Atlas(atlas) => format!("an atlas of {} muscles a side", atlas.entries.len()),
        MuscleSource::Meshes(given) => format!("{} muscle meshes", given.len()),
    };
    let provenance =
        format!("skin '{name}'; {bones}; {muscle_words}; built by supple template {VERSION}");
    Ok(TemplateBuilder {
        name,
        body,
        bones: set,
        muscles,
        provenance,
    })
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Notices that go with the embedded bones.
const EMBEDDED_BONES: &str = "bones of the full-body model of Rajagopal et al. 2015 (Copyright (c) 2015 Stanford University, MIT License; OpenSim, CC BY 3.0)";
