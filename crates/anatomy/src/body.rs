//! The rigged skin that anatomy is built into.

use glam::Vec3;
use supple_geom::shells::shells;
use supple_geom::{Surface, TriMesh};
use supple_rig::{Character, Skeleton};

/// Sex, as far as it decides proportions and composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sex {
    /// Male.
    Male,
    /// Female.
    Female,
}

/// A rigged skin: one closed shell, a skeleton and weights.
#[derive(Clone, Debug)]
pub struct Body {
    /// Sex.
    pub sex: Sex,
    /// The largest shell of the skin in its rest pose \[m\]; Y up, facing +Z, left at +X, feet at y = 0.
    pub mesh: TriMesh,
    /// Vertex of the character's part for each vertex of [`Body::mesh`].
    pub file_vertices: Vec<u32>,
    /// The rig.
    pub skeleton: Skeleton,
    /// Joints (of the skeleton) and weights of each vertex.
    pub influences: Vec<Vec<(u32, f32)>>,
}

/// Why a character is not a body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// No mesh.
    #[error("the file has no skin mesh")]
    NoMesh,
    /// No skin weights.
    #[error("part '{part}' has no skin weights; give a rigged skin")]
    NoWeights {
        /// Name of the part.
        part: String,
    },
    /// A joint that anatomy is placed by is missing.
    #[error(
        "the rig has no joint '{name}'; anatomy is placed by the joints of the embedded bodies"
    )]
    NoJoint {
        /// Name of the joint.
        name: String,
    },
}

impl Body {
    /// The largest part of a character, and of that the largest shell.
    pub fn from_character(character: &Character, sex: Sex) -> Result<Body, BodyError> {
        let size = |part: &&supple_rig::Part| part.mesh.triangles.len();
        let part = (character.parts.iter().max_by_key(size)).ok_or(BodyError::NoMesh)?;
        if part.mesh.triangles.is_empty() {
            return Err(BodyError::NoMesh);
        }
        let found = shells(&part.mesh);
        let rows = found.triangles();
        let largest = (0..rows.len()).max_by_key(|&shell| rows.row(shell).len());
        let shell = found.extract(&part.mesh, largest.unwrap_or(0) as u32);
        let binding = &part.binding;
        if binding.influences.starts.len() != part.mesh.positions.len() + 1 {
            return Err(BodyError::NoWeights {
                part: part.name.clone(),
            });
        }
        let influences = (shell.whole_vertex.iter())
            .map(|&vertex| {
                let starts = &binding.influences.starts[vertex as usize..];
                (binding.influences.entries[starts[0] as usize..starts[1] as usize].iter())
                    .map(|&(slot, weight)| (binding.joints[slot as usize] as u32, weight))
                    .collect()
            })
            .collect();
        Ok(Body {
            sex,
            mesh: shell.mesh,
            file_vertices: shell.whole_vertex,
            skeleton: character.skeleton.clone(),
            influences,
        })
    }

    /// Rest position of a joint \[m\].
    pub fn joint(&self, name: &str) -> Result<Vec3, BodyError> {
        let joint = self.skeleton.find(name).ok_or_else(|| BodyError::NoJoint {
            name: name.to_owned(),
        })?;
        Ok(self.skeleton.rest_worlds()[joint].translation.into())
    }

    /// For each vertex the sum of its weights on joints whose names are `wanted`.
    pub fn weight_on(&self, wanted: impl Fn(&str) -> bool) -> Vec<f32> {
        let is_wanted: Vec<bool> = (self.skeleton.joints().iter())
            .map(|joint| wanted(&joint.name))
            .collect();
        (self.influences.iter())
            .map(|entries| {
                (entries
                    .iter()
                    .filter(|(joint, _)| is_wanted[*joint as usize]))
                .map(|&(_, weight)| weight)
                .sum()
            })
            .collect()
    }

    /// Which vertices have layers: all but those of head, hands and toes [4.2.2].
    pub fn layered(&self) -> Vec<bool> {
        let share = |prefixes: &[&str]| {
            self.weight_on(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
        };
        let head = share(&["head", "neck02", "neck03", "eye", "jaw", "tongue"]);
        let hands = share(&["wrist", "finger", "metacarpal"]);
        let toes = share(&["toe"]);
        (0..self.mesh.positions.len())
            .map(|v| head[v] <= 0.5 && hands[v] <= 0.5 && toes[v] <= 0.5)
            .collect()
    }

    /// Height \[m\].
    pub fn height(&self) -> f32 {
        self.mesh.bounds().size().y
    }

    /// The skin to ask for closest points, rays and insides.
    pub fn surface(&self) -> Surface {
        Surface::new(self.mesh.clone())
    }
}
