//! A character as loaded: parts, skeleton, clips, and what was odd about the file.

use std::collections::BTreeMap;

use glam::{Affine3A, Vec2, Vec3, Vec4};
use supple_geom::TriMesh;

use crate::formats::Source;
use crate::{Clip, Skeleton};

/// Everything a file held, in metres and Y up.
#[derive(Clone, Debug, Default)]
pub struct Character {
    /// From the file's name.
    pub name: String,
    /// May be empty: a bare mesh.
    pub skeleton: Skeleton,
    /// One per primitive and node that shows it, in file order. May be empty: a bare motion.
    pub parts: Vec<Part>,
    /// Motions that came with the file.
    pub clips: Vec<Clip>,
    /// Looks, as far as pictures and fresh files need them.
    pub materials: Vec<Material>,
    /// Joints by VRM 1.0 bone name (`hips`, `leftUpperArm`), where the file says which is which.
    pub humanoid: Option<BTreeMap<String, usize>>,
    /// What the file says about itself (title, author, licence, generator), by its own keys.
    pub about: BTreeMap<String, String>,
    /// How the file's numbers became metres.
    pub units: Units,
    /// What is unusual about the file and what was done about it.
    pub problems: Vec<Problem>,
    /// The file itself, where writing back keeps what Supple does not use.
    pub source: Source,
}

/// One mesh primitive with its skin.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Mesh and primitive.
    pub name: String,
    /// Triangles over the file's own vertices, in the file's order; positions in bind space [m].
    pub mesh: TriMesh,
    /// Unit normals in bind space, one a vertex, or empty.
    pub normals: Vec<Vec3>,
    /// Texture coordinates, one a vertex, or empty.
    pub uvs: Vec<Vec2>,
    /// Colours, one a vertex, or empty (linear RGBA).
    pub colors: Vec<Vec4>,
    /// How the skeleton moves the part.
    pub binding: Binding,
    /// Shapes that can be mixed in before skinning.
    pub morphs: Vec<Morph>,
    /// Their weights at rest.
    pub morph_weights: Vec<f32>,
    /// Index into the character's materials.
    pub material: Option<usize>,
}

/// Which joints move a part's vertices, and how much.
#[derive(Clone, Debug, Default)]
pub struct Binding {
    /// Skeleton joints this part listens to; influences name slots of this list.
    pub joints: Vec<usize>,
    /// `joint_from_bind` of each slot.
    pub inverse_binds: Vec<Affine3A>,
    /// Weights of every vertex.
    pub influences: Influences,
}

/// Sparse weights, any number a vertex, those of vertex `i` at `starts[i]..starts[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    /// One more than there are vertices (or empty: no weights).
    pub starts: Vec<u32>,
    /// Slot in [`Binding::joints`] and weight; the weights of a vertex sum to one.
    pub entries: Vec<(u32, f32)>,
}

/// A morph target: offsets in bind space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Morph {
    /// As the file has it; may be empty.
    pub name: String,
    /// One offset a vertex [m].
    pub positions: Vec<Vec3>,
    /// One normal offset a vertex, or empty.
    pub normals: Vec<Vec3>,
}

/// The look of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// As the file has it; may be empty.
    pub name: String,
    /// Linear RGBA.
    pub base_color: Vec4,
    /// Encoded image (PNG or JPEG bytes) of the base colour, where the file has one.
    pub base_color_image: Option<std::sync::Arc<[u8]>>,
    /// Seen from both sides.
    pub double_sided: bool,
}

/// An axis of the file that is up in Supple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Up {
    /// As in glTF.
    #[default]
    Y,
    /// As in Blender and many scans.
    Z,
}

/// How the file's numbers became metres and Y up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// Length of one file unit [m].
    pub metres_per_unit: f32,
    /// The file's up axis.
    pub up: Up,
    /// False where Supple guessed because the file (or its format) does not say, or says what cannot be.
    pub declared: bool,
}

impl Default for Units {
    fn default() -> Self {
        Self {
            metres_per_unit: 1.0,
            up: Up::Y,
            declared: true,
        }
    }
}

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Note,
    /// Something will look or behave other than the author meant.
    Warning,
}

/// Something unusual about a file, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How much it matters.
    pub severity: Severity,
    /// Which part or joint, in the file's words; empty for the whole file.
    pub place: String,
    /// What was found and what it means, one sentence each.
    pub text: String,
}

impl Influences {
    /// The influences of one vertex.
    pub fn of(&self, vertex: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are no weights at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// From one list a vertex.
    pub fn from_lists(lists: impl IntoIterator<Item = Vec<(u32, f32)>>) -> Self {
        let mut influences = Self {
            starts: vec![0],
            entries: Vec::new(),
        };
        for list in lists {
            influences.entries.extend(list);
            influences.starts.push(influences.entries.len() as u32);
        }
        influences
    }

    /// Every vertex on one slot alone.
    pub fn rigid(slot: u32, vertices: usize) -> Self {
        Self {
            starts: (0..=vertices as u32).collect(),
            entries: vec![(slot, 1.0); vertices],
        }
    }
}
