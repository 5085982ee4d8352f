//! Bodies that gain and lose fat and muscle: layered persons and templates, in kilograms.
//!
//! ```no_run
//! use supple::growth::{FatGoal, Growth, Subject};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let somebody = Subject::load("@male".as_ref())?;
//! let growth = Growth { fat: FatGoal::Change(8.0), ..Growth::default() };
//! let grown = supple::growth::grown(&somebody.body()?, &growth)?;
//! println!("{}", grown.report);
//! # Ok(())
//! # }
//! ```

use std::path::Path;

use supple_anatomy::LayeredBody;
use supple_anatomy::person::{Person, PersonFileError, character::skin_character};
use supple_anatomy::template::{TemplateError, load_template};
use supple_geom::normals::vertex_normals;
use supple_rig::character::Morph;
use supple_rig::clip::{Interpolation, MorphTrack};
use supple_rig::formats::FormatError;
use supple_rig::{Character, Clip};

pub use supple_anatomy::growth::{
    FatGoal, Grown, Growth, GrowthBody, GrowthError, GrowthFlow, GrowthReport, GrowthStep, Method,
    grown, grown_person, growth_steps,
};
pub use supple_anatomy::template::FatRegion;

use crate::embedded::{self, Body};
use crate::person::{is_person, load_person};

/// A layered body that can grow.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Skin, layers, bones and muscles.
    pub anatomy: LayeredBody,
    /// Measures and composition, if it is a person.
    pub person: Option<Person>,
    /// How it looks: its skin, with the eyes if there are any. Part 0 has the vertices of the anatomy's skin
    /// ([`Subject::skin_vertices`]).
    pub character: Character,
    /// Vertex of part 0 for each vertex of the anatomy's skin.
    pub skin_vertices: Vec<u32>,
}

/// Why a body cannot be loaded to grow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubjectError {
    /// A person's file.
    #[error(transparent)]
    Person(#[from] PersonFileError),
    /// A template's file.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// An embedded body.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Neither.
    #[error("{path} is neither a person (.person) nor a template (.template, @male, @female)")]
    Unlayered {
        /// The path.
        path: String,
    },
}

impl Subject {
    /// A person, a template, or `@male` or `@female`.
    pub fn load(path: &Path) -> Result<Self, SubjectError> {
        if let Some(body) = embedded_body(path) {
            let anatomy = embedded::template(body)?;
            let mut character = embedded::body(body)?;
            // What is written is made new: its skin has changed.
            character.source = Default::default();
            return Ok(Subject {
                skin_vertices: anatomy.body.file_vertices.clone(),
                character,
                anatomy,
                person: None,
            });
        }
        if is_person(path) {
            return Ok(Subject::of_person(load_person(path)?));
        }
        if path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("template"))
        {
            let anatomy = load_template(path)?;
            return Ok(Subject {
                skin_vertices: (0..anatomy.layers.skin.len() as u32).collect(),
                character: skin_character(&anatomy),
                anatomy,
                person: None,
            });
        }
        Err(SubjectError::Unlayered {
            path: path.display().to_string(),
        })
    }

    /// A person.
    pub fn of_person(person: Person) -> Self {
        Subject {
            skin_vertices: (0..person.anatomy.layers.skin.len() as u32).collect(),
            character: person.character(),
            anatomy: person.anatomy.clone(),
            person: Some(person),
        }
    }

    /// What grows: the anatomy with its masses and weight.
    pub fn body(&self) -> Result<GrowthBody<'_>, GrowthError> {
        match &self.person {
            Some(person) => Ok(GrowthBody::of_person(person)),
            None => GrowthBody::of_anatomy(&self.anatomy),
        }
    }

    /// The character with another skin of the same anatomy.
    pub fn with_skin(&self, skin: &[glam::Vec3]) -> Character {
        let mut character = self.character.clone();
        let part = &mut character.parts[0];
        for (&v, p) in self.skin_vertices.iter().zip(skin) {
            part.mesh.positions[v as usize] = *p;
        }
        part.normals = vertex_normals(&part.mesh);
        character
    }

    /// The character with a row of growing bodies as morph targets. Each target is what one step adds to the step before, and the
    /// clip `kilograms` turns them up one after the other, a second a kilogram: its time is the slider.
    pub fn with_steps(&self, steps: &[GrowthStep]) -> Character {
        let mut character = self.character.clone();
        let count = steps.len();
        let mut last = self.with_skin(&self.anatomy.layers.skin).parts[0].clone();
        let part = &mut character.parts[0];
        for step in steps {
            let next = self.with_skin(&step.layers.skin).parts[0].clone();
            let difference = |a: &[glam::Vec3], b: &[glam::Vec3]| -> Vec<glam::Vec3> {
                a.iter().zip(b).map(|(a, b)| *b - *a).collect()
            };
            part.morphs.push(Morph {
                name: format!("{:+.1} kg", step.kilograms),
                positions: difference(&last.mesh.positions, &next.mesh.positions),
                normals: difference(&last.normals, &next.normals),
            });
            last = next;
        }
        let first = part.morphs.len() - count;
        part.morph_weights.resize(first + count, 0.0);
        let mut times = vec![0.0];
        let mut weights = vec![0.0; first + count];
        for (k, step) in steps.iter().enumerate() {
            // Seconds ascend whether kilograms come or go.
            times.push((step.kilograms.abs() as f32).max(times[k] + 1e-3));
            weights.extend(
                (0..first + count).map(|m| f32::from(u8::from((first..=first + k).contains(&m)))),
            );
        }
        character.clips.push(Clip {
            name: "kilograms".to_owned(),
            morphs: vec![MorphTrack {
                part: 0,
                times,
                weights,
                interpolation: Interpolation::Linear,
            }],
            ..Clip::default()
        });
        character
    }
}

fn embedded_body(path: &Path) -> Option<Body> {
    match path.to_str() {
        Some("@male") => Some(Body::Male),
        Some("@female") => Some(Body::Female),
        _ => None,
    }
}
