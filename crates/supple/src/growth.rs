//! Bodies that gain and lose fat and muscle: layered persons and templates, in kilograms.
//!
//! ```no_run
//! use supple::growth::{FatGoal, Growth, grown};
//!
//! # fn main() -> Result<(), supple::Error> {
//! let somebody = supple::load_layered("@male")?;
//! let growth = Growth { fat: FatGoal::Change(8.0), ..Growth::default() };
//! let grown = grown(&somebody.growing()?, &growth)?;
//! println!("{}", grown.report);
//! # Ok(())
//! # }
//! ```

use supple_geom::normals::vertex_normals;
use supple_rig::character::Morph;
use supple_rig::clip::{Interpolation, MorphTrack};
use supple_rig::formats::Source;
use supple_rig::{Character, Clip};

pub use supple_anatomy::growth::{
    FatGoal, Grown, Growth, GrowthBody, GrowthError, GrowthFlow, GrowthReport, GrowthStep, Method,
    grown, grown_person, growth_steps,
};
pub use supple_anatomy::template::FatRegion;

use crate::Subject;

impl Subject {
    /// What grows: the body with its masses and weight.
    pub fn growing(&self) -> Result<GrowthBody<'_>, GrowthError> {
        if let Some(person) = self.person() {
            return Ok(GrowthBody::of_person(person));
        }
        GrowthBody::of_anatomy(self.body().ok_or(GrowthError::NoLayers)?)
    }

    /// The character with another skin of the same body.
    pub fn with_skin(&self, skin: &[glam::Vec3]) -> Character {
        let mut character = self.character().clone();
        // Written anew: the skin is not the document's.
        character.source = Source::None;
        let part = &mut character.parts[0];
        for (&v, p) in self.skin_vertices().iter().zip(skin) {
            part.mesh.positions[v as usize] = *p;
        }
        part.normals = vertex_normals(&part.mesh);
        character
    }

    /// The character with a row of growing bodies as morph targets. Each target is what one step adds to the step before, and the
    /// clip `kilograms` turns them up one after the other, a second a kilogram: its time is the slider.
    pub fn with_steps(&self, steps: &[GrowthStep]) -> Character {
        let own = (self.body().map(|body| &body.layers.skin[..])).unwrap_or_default();
        let mut character = self.character().clone();
        character.source = Source::None;
        let count = steps.len();
        let mut last = self.with_skin(own).parts[0].clone();
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
