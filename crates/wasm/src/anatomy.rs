//! A layered template as arrays to draw: surfaces, bones and muscles with the joints that move them.

use serde::Serialize;
use supple::anatomy::LayeredBody;
use supple::anatomy::template::{Rig, read_template};
use supple::geom::TriMesh;
use supple::geom::normals::vertex_normals;

use crate::error::StageError;
use crate::stage::Stage;

/// Joints that move a vertex on the graphics card.
const INFLUENCES: usize = 4;

/// What is drawn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The surface around all muscles.
    MuscleSurface,
    /// The surface around all bones.
    SkeletonSurface,
    /// All muscles.
    Muscles,
    /// All bones.
    Bones,
}

impl Layer {
    /// By its name on the page.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "muscleSurface" => Self::MuscleSurface,
            "skeletonSurface" => Self::SkeletonSurface,
            "muscles" => Self::Muscles,
            "bones" => Self::Bones,
            _ => return None,
        })
    }
}

/// A bone or a muscle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Its name in words: "rectus femoris, left".
    pub name: String,
    /// "bone", or the muscle's group.
    pub group: String,
    /// Volume \[ml\].
    pub volume_ml: f64,
}

/// What the page needs to know of a template.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Names of its joints, to find those of the character.
    pub joints: Vec<String>,
    /// Bones, then muscles. Numbers of parts count through both.
    pub parts: Vec<Part>,
    /// How many of them are bones.
    pub bones: usize,
    /// Where it comes from.
    pub provenance: String,
}

/// Arrays of one layer.
#[derive(Clone, Debug, Default)]
pub struct Arrays {
    /// Three numbers a vertex \[m\].
    pub positions: Vec<f32>,
    /// Three numbers a vertex.
    pub normals: Vec<f32>,
    /// Corners of the triangles.
    pub triangles: Vec<u32>,
    /// Four joints a vertex.
    pub joints: Vec<u16>,
    /// Four weights a vertex.
    pub weights: Vec<f32>,
    /// Number of the part of each vertex.
    pub parts: Vec<u16>,
    /// How much of each vertex is tendon, 0 to 255.
    pub tendon: Vec<u8>,
}

/// A template on the page.
pub struct Anatomy {
    template: LayeredBody,
}

impl Anatomy {
    /// From the bytes of a template file.
    pub fn read(bytes: &[u8]) -> Result<Self, StageError> {
        let template =
            read_template(bytes).map_err(|error| StageError::Other(error.to_string()))?;
        Ok(Self { template })
    }

    /// That of the layered person on a stage.
    pub fn of_person(stage: &Stage) -> Option<Self> {
        let template = stage.character.person()?.body.clone();
        Some(Self { template })
    }

    /// What the page needs to know.
    pub fn describe(&self) -> Description {
        let template = &self.template;
        let bones = template.bones.iter().map(|entry| Part {
            name: in_words(&entry.bone.name),
            group: "bone".to_owned(),
            volume_ml: 1e6 * entry.bone.mesh.signed_volume(),
        });
        let muscles = template.muscles.iter().map(|muscle| Part {
            name: in_words(&muscle.name),
            group: muscle.group.name().to_owned(),
            volume_ml: 1e6 * muscle.volume,
        });
        let joints = template.body.skeleton.joints().iter();
        Description {
            name: template.name.clone(),
            joints: joints.map(|joint| joint.name.clone()).collect(),
            parts: bones.chain(muscles).collect(),
            bones: template.bones.len(),
            provenance: template.provenance.clone(),
        }
    }

    /// Arrays of a layer.
    pub fn arrays(&self, layer: Layer) -> Arrays {
        let template = &self.template;
        let mut arrays = Arrays::default();
        match layer {
            Layer::MuscleSurface => self.add_surface(&mut arrays, &template.layers.muscle),
            Layer::SkeletonSurface => self.add_surface(&mut arrays, &template.layers.skeleton),
            Layer::Bones => {
                for (number, entry) in template.bones.iter().enumerate() {
                    self.add(&mut arrays, &entry.bone.mesh, &entry.rig, number, &[]);
                }
            }
            Layer::Muscles => {
                for (number, muscle) in template.muscles.iter().enumerate() {
                    let number = template.bones.len() + number;
                    self.add(
                        &mut arrays,
                        &muscle.mesh,
                        &muscle.rig,
                        number,
                        &muscle.tendon,
                    );
                }
            }
        }
        arrays
    }

    /// A surface without what has no layers.
    fn add_surface(&self, arrays: &mut Arrays, positions: &[supple::glam::Vec3]) {
        let layers = &self.template.layers;
        let is_layered = |&t: &usize| {
            let corners = layers.triangles[t];
            corners.iter().any(|&v| layers.layered[v as usize])
        };
        let whole = TriMesh {
            positions: positions.to_vec(),
            triangles: layers.triangles.clone(),
        };
        let triangles = (0..layers.triangles.len()).filter(is_layered);
        let part = whole.extract(triangles.map(|t| t as u32));
        let rig = Rig::Skin(part.whole_vertex.clone());
        self.add(arrays, &part.mesh, &rig, u16::MAX.into(), &[]);
    }

    fn add(&self, arrays: &mut Arrays, mesh: &TriMesh, rig: &Rig, number: usize, tendon: &[f32]) {
        let first = (arrays.positions.len() / 3) as u32;
        let corners = mesh.triangles.iter().flatten();
        arrays
            .triangles
            .extend(corners.map(|&corner| first + corner));
        let numbers = |points: &[supple::glam::Vec3]| -> Vec<f32> {
            points.iter().flat_map(|point| point.to_array()).collect()
        };
        arrays.positions.extend(numbers(&mesh.positions));
        arrays.normals.extend(numbers(&vertex_normals(mesh)));
        for vertex in 0..mesh.positions.len() {
            let mut row = rig.weights(vertex, &self.template.body.influences).to_vec();
            row.sort_by(|a, b| b.1.total_cmp(&a.1));
            row.truncate(INFLUENCES);
            let sum: f32 = row.iter().map(|&(_, weight)| weight).sum();
            row.resize(INFLUENCES, (0, 0.0));
            arrays
                .joints
                .extend(row.iter().map(|&(joint, _)| joint as u16));
            let share = |&(_, weight): &(u32, f32)| weight / sum.max(f32::MIN_POSITIVE);
            arrays.weights.extend(row.iter().map(share));
            arrays.parts.push(number.min(u16::MAX.into()) as u16);
            let tendon = tendon.get(vertex).copied().unwrap_or(0.0);
            arrays.tendon.push((255.0 * tendon) as u8);
        }
    }
}

/// A name with blanks and its side at the end.
fn in_words(name: &str) -> String {
    let (stem, side) = match (name.strip_suffix("_l"), name.strip_suffix("_r")) {
        (Some(stem), _) => (stem, ", left"),
        (_, Some(stem)) => (stem, ", right"),
        _ => (name, ""),
    };
    format!("{}{side}", stem.replace('_', " "))
}

impl Stage {
    /// Transform of every joint from rest to now: 16 numbers each, column by column.
    pub fn joint_matrices(&self) -> Vec<f32> {
        let skeleton = &self.character.skeleton;
        let now = self.pose.worlds(skeleton);
        (now.iter().zip(&self.character.bind_worlds()))
            .flat_map(|(now, rest)| supple::glam::Mat4::from(*now * rest.inverse()).to_cols_array())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::anatomy::template::{example::example, write_template};

    #[test]
    fn arrays_have_one_entry_a_vertex() {
        let anatomy = Anatomy::read(&write_template(&example())).unwrap();
        let description = anatomy.describe();
        assert_eq!((description.bones, description.parts.len()), (1, 2));
        assert_eq!(description.parts[1].name, "cover, left");
        for layer in ["muscleSurface", "skeletonSurface", "muscles", "bones"] {
            let arrays = anatomy.arrays(Layer::named(layer).unwrap());
            let count = arrays.positions.len() / 3;
            assert!(count > 0 && arrays.triangles.iter().all(|&v| (v as usize) < count));
            assert_eq!(arrays.normals.len(), 3 * count);
            assert_eq!(
                (arrays.joints.len(), arrays.weights.len()),
                (4 * count, 4 * count)
            );
            assert_eq!((arrays.parts.len(), arrays.tendon.len()), (count, count));
            for row in arrays.weights.chunks_exact(4) {
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{row:?}");
            }
        }
    }

    #[test]
    fn joints_do_not_move_at_rest() {
        let mut stage = Stage::embedded("male").unwrap();
        stage.rest(true);
        stage.advance(1.0 / 60.0, 0.0, true).unwrap();
        for matrix in stage.joint_matrices().chunks_exact(16) {
            let matrix = supple::glam::Mat4::from_cols_slice(matrix);
            assert!(
                matrix.abs_diff_eq(supple::glam::Mat4::IDENTITY, 1e-4),
                "{matrix}"
            );
        }
    }
}
