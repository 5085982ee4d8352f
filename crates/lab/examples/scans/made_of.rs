//! What bodies measure and are made of, as a person's report says it.

use std::path::Path;

use glam::{DVec3, Vec3};
use supple_anatomy::Sex;
use supple_anatomy::composition::{Known, Regressors, Tape, composition};
use supple_anatomy::template::load_template;

/// A tape for bodies in the rest pose of a template.
struct Base {
    tape: Tape,
    file_vertices: Vec<u32>,
}

/// Tapes of men and women.
pub struct Tapes([Base; 2]);

/// Waist \[m\] and fat mass \[kg\].
pub struct MadeOf {
    pub waist: f64,
    pub fat: f64,
}

impl Tapes {
    pub fn load() -> Result<Tapes, Box<dyn std::error::Error>> {
        let base = |name: &str| -> Result<Base, Box<dyn std::error::Error>> {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../supple/assets");
            let template = load_template(&Path::new(folder).join(format!("{name}.template")))?;
            Ok(Base {
                tape: Tape::new(&template.body)?,
                file_vertices: template.body.file_vertices,
            })
        };
        Ok(Tapes([base("male")?, base("female")?]))
    }

    /// Of a body in the rest pose. Only the sex is given: weight follows from the volume, as for a scan.
    pub fn made_of(
        &self,
        sex: Sex,
        rest: &[DVec3],
        joints: &[DVec3],
    ) -> Result<MadeOf, Box<dyn std::error::Error>> {
        let base = &self.0[sex as usize];
        let vertices = base.file_vertices.iter();
        let skin: Vec<Vec3> = vertices.map(|&v| rest[v as usize].as_vec3()).collect();
        let joints: Vec<Vec3> = joints.iter().map(|p| p.as_vec3()).collect();
        let measures = base.tape.measures(&skin, &joints);
        let found = composition(&measures, &Known::sex(sex), Regressors::embedded())?;
        Ok(MadeOf {
            waist: measures.waist,
            fat: found.fat_mass.value,
        })
    }
}
