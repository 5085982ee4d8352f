//! People to fit: scans with their truth, and bodies steered through the body space.

use std::path::{Path, PathBuf};

use glam::Vec3;
use supple_anatomy::Sex;
use supple_anatomy::body_model::{BodyModel, BodySampler};
use supple_anatomy::composition::{Known, Regressors, Tape, composition};
use supple_anatomy::person::PersonFit;
use supple_anatomy::template::{LayeredBody, load_template};
use supple_geom::TriMesh;

use crate::Failure;

/// Body mass indices \[kg/m²\] and heights \[m\] that are asked for.
const INDICES: [f64; 2] = [16.0, 45.0];
const HEIGHTS: [f64; 2] = [1.35, 2.15];
/// How far drawn builds are from the mean before they are steered, over what is drawn for adults.
const VARIETY: f64 = 0.5;
/// Corrections of the volume until the body mass index is met.
const CORRECTIONS: usize = 5;

pub struct Case {
    pub name: String,
    pub sex: Sex,
    pub source: Source,
    /// Fat and muscle mass, where they are known [kg].
    pub own_masses: Option<[f64; 2]>,
}

/// Vertices are those of the file of the embedded body; lengths are metres.
pub enum Source {
    Steered {
        skin: Vec<Vec3>,
        joints: Vec<Vec3>,
    },
    /// Vertices of the template.
    Own {
        skin: Vec<Vec3>,
        joints: Vec<Vec3>,
    },
    Scan {
        path: PathBuf,
        rest: Vec<Vec3>,
        joints: Vec<Vec3>,
    },
}

impl Case {
    /// The vertices that a template has.
    pub fn of_body(&self, template: &LayeredBody, file: &[Vec3]) -> Vec<Vec3> {
        let vertices = template.body.file_vertices.iter();
        vertices.map(|&v| file[v as usize]).collect()
    }
}

/// The scans of a folder, and `bodies` a sex.
pub fn all(folder: &Path, bodies: usize) -> Result<Vec<Case>, Failure> {
    let mut cases = scans(folder)?;
    for sex in [Sex::Male, Sex::Female] {
        for k in 0..bodies {
            cases.push(steered(sex, k)?);
        }
    }
    Ok(cases)
}

/// A body of a series that begins with the four corners of the range and then fills it (Halton 1960).
fn steered(sex: Sex, k: usize) -> Result<Case, Failure> {
    let part = |mut i: usize, base: usize| {
        let (mut sum, mut digit) = (0.0, 1.0 / base as f64);
        while i > 0 {
            sum += (i % base) as f64 * digit;
            i /= base;
            digit /= base as f64;
        }
        sum
    };
    let [u, v] = match k {
        0..4 => [(k % 2) as f64, (k / 2) as f64],
        _ => [part(k - 3, 2), part(k - 3, 3)],
    };
    let index = INDICES[0] + u * (INDICES[1] - INDICES[0]);
    let height = HEIGHTS[0] + v * (HEIGHTS[1] - HEIGHTS[0]);
    let model = BodyModel::embedded(sex);
    let mut sampler = BodySampler::new(77 + k as u64);
    let start: Vec<f64> = (sampler.coefficients(model).iter())
        .map(|c| VARIETY * c)
        .collect();
    let (skin, joints) = steered_body(sex, &start, height, index)?;
    let name = if sex == Sex::Male { "man" } else { "woman" };
    Ok(Case {
        name: format!("{name} {k} ({height:.2} m, {index:.0})"),
        sex,
        source: Source::Steered { skin, joints },
        own_masses: None,
    })
}

/// Skin and joints of the body nearest to `start` with a height and a body mass index.
fn steered_body(
    sex: Sex,
    start: &[f64],
    height: f64,
    index: f64,
) -> Result<(Vec<Vec3>, Vec<Vec3>), Failure> {
    let model = BodyModel::embedded(sex);
    let name = if sex == Sex::Male { "male" } else { "female" };
    let path = format!(
        "{}/../supple/assets/{name}.template",
        env!("CARGO_MANIFEST_DIR")
    );
    let template = load_template(Path::new(&path))?;
    let tape = Tape::new(&template.body)?;
    let single =
        |points: Vec<glam::DVec3>| -> Vec<Vec3> { points.iter().map(|p| p.as_vec3()).collect() };
    let mut volume = 1e-3 * index * height * height;
    let mut body = Default::default();
    for _ in 0..CORRECTIONS {
        let coefficients = model.steered(start, height, volume);
        let (skin, joints) = (
            single(model.rest_vertices(&coefficients)),
            single(model.rest_joints(&coefficients)),
        );
        let vertices = template.body.file_vertices.iter();
        let shell: Vec<Vec3> = vertices.map(|&v| skin[v as usize]).collect();
        let measures = tape.measures(&shell, &joints);
        let found = composition(&measures, &Known::sex(sex), Regressors::embedded())?;
        volume *= index / found.body_mass_index;
        body = (skin, joints);
    }
    Ok(body)
}

fn scans(folder: &Path) -> Result<Vec<Case>, Failure> {
    let Ok(index) = std::fs::read(folder.join("index.json")) else {
        println!("skipped: there is no index.json in {}", folder.display());
        return Ok(Vec::new());
    };
    let index: serde_json::Value = serde_json::from_slice(&index)?;
    let mut cases = Vec::new();
    for (name, about) in index["scans"].as_object().ok_or("no scans")? {
        let text = |key: &str| about[key].as_str().unwrap_or_default();
        let bytes = std::fs::read(folder.join(format!("{name}.rest.f32")))?;
        let floats: &[f32] =
            bytemuck::try_cast_slice(&bytes).map_err(|e| format!("{name}: {e}"))?;
        let mut rest: Vec<Vec3> = floats.chunks_exact(3).map(Vec3::from_slice).collect();
        let sex = if text("sex") == "male" {
            Sex::Male
        } else {
            Sex::Female
        };
        let joints = rest.split_off(BodyModel::embedded(sex).vertex_count());
        cases.push(Case {
            name: name.clone(),
            sex,
            source: Source::Scan {
                path: folder.join(text("file")),
                rest,
                joints,
            },
            own_masses: None,
        });
    }
    Ok(cases)
}

/// Writes surfaces, bones and muscles of a person.
pub fn write(
    folder: &Path,
    name: &str,
    template: &LayeredBody,
    fit: &PersonFit,
) -> Result<(), Failure> {
    let mut text = String::new();
    let mut first = 1;
    let mut add = |name: &str, mesh: &TriMesh| {
        text += &format!("o {name}\n");
        for p in &mesh.positions {
            text += &format!("v {:.5} {:.5} {:.5}\n", p.x, p.y, p.z);
        }
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|v| v + first);
            text += &format!("f {a} {b} {c}\n");
        }
        first += mesh.positions.len() as u32;
    };
    add("skin", &fit.layers.skin_mesh());
    add("muscle_surface", &fit.layers.muscle_mesh());
    add("skeleton_surface", &fit.layers.skeleton_mesh());
    for (bone, mesh) in template.bones.iter().zip(&fit.bones) {
        add(&bone.bone.name, mesh);
    }
    for (muscle, mesh) in template.muscles.iter().zip(&fit.muscles) {
        add(&muscle.name, mesh);
    }
    let file = name.split(" (").next().unwrap_or(name).replace(' ', "_");
    Ok(std::fs::write(folder.join(format!("{file}.obj")), text)?)
}
