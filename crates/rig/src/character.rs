//! A character as loaded: parts, skeleton, clips, and what was odd about the file.

use std::collections::BTreeMap;

use glam::{Affine3A, Quat, Vec2, Vec3, Vec4};
use supple_geom::TriMesh;

use crate::formats::Source;
use crate::retarget::{BoneMap, Humanoid};
use crate::skeleton::JointKind;
use crate::skinning::{Method, Posed, Skinner, linear_blend};
use crate::{Clip, Pose, Skeleton};

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
    /// Triangles over the file's own vertices, in the file's order; positions in bind space \[m\].
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
    /// Whether Supple computed them. Geometric skinning goes by them; tissue does as it does without any, whether or not
    /// something needed weights before it was built.
    pub computed: bool,
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
    /// One offset a vertex \[m\].
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
    /// Length of one file unit \[m\].
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

impl Character {
    /// Smallest and largest coordinates at rest \[m\]: of the skin, or of the joints where there is none.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let worlds = self.skeleton.rest_worlds();
        let skin = (self.parts.iter())
            .flat_map(|part| linear_blend(part, &worlds, &part.morph_weights).positions);
        let joints = || {
            let ends = self.skeleton.bones().into_iter().map(|bone| bone.to);
            let places = worlds.iter().map(|world| Vec3::from(world.translation));
            bounds(places.chain(ends))
        };
        bounds(skin).or_else(joints)
    }

    /// Extent along Y at rest \[m\]; zero where there is nothing.
    pub fn height(&self) -> f32 {
        self.bounds().map_or(0.0, |(low, high)| high.y - low.y)
    }

    /// Whether a part hangs on no bone while others do: a floor, a wall, a lamp. It stays where it is.
    pub fn is_scenery(&self, part: &Part) -> bool {
        let joints = self.skeleton.joints();
        let is_bone = |joint: usize| joints.get(joint).is_some_and(|j| j.kind == JointKind::Bone);
        let moved = |&joint: &usize| {
            let parent = |&j: &usize| joints.get(j)?.parent;
            std::iter::successors(Some(joint), parent).any(is_bone)
        };
        let bound = &part.binding.joints;
        (0..joints.len()).any(is_bone) && !bound.is_empty() && !bound.iter().any(moved)
    }

    /// `world_from_joint` in the pose the skin was bound in.
    ///
    /// Usually that is the rest pose: then every part has one matrix `world_from_bind` that all its joints agree on.
    /// Where they do not (a file saved in a pose), the skin's topmost joint decides where bind space lies in the world,
    /// and the others follow from their inverse-bind matrices.
    pub fn bind_worlds(&self) -> Vec<Affine3A> {
        let rest = self.skeleton.rest_worlds();
        if self.parts.iter().all(|part| part.rests_in_bind(&rest)) {
            return rest;
        }
        let mut bind: Vec<Option<Affine3A>> = vec![None; rest.len()];
        for part in &self.parts {
            let Some((root, _)) = part.slots().min_by_key(|&(joint, _)| joint) else {
                continue;
            };
            let (_, root_inverse) = part.slots().find(|slot| slot.0 == root).unwrap_or_default();
            let world_from_bind = rest.get(root).copied().unwrap_or_default() * root_inverse;
            for (joint, inverse_bind) in part.slots() {
                let regular = inverse_bind.matrix3.determinant().abs() > 1e-20;
                if let (Some(slot @ None), true) = (bind.get_mut(joint), regular) {
                    *slot = Some(world_from_bind * inverse_bind.inverse());
                }
            }
        }
        let mut worlds: Vec<Affine3A> = Vec::with_capacity(rest.len());
        for (index, joint) in self.skeleton.joints().iter().enumerate() {
            let followed = || match joint.parent {
                Some(parent) => worlds[parent] * joint.rest.to_affine(),
                None => rest[index],
            };
            worlds.push(bind[index].unwrap_or_else(followed));
        }
        worlds
    }

    /// A part in world space, in the pose of [`Character::bind_worlds`]; empty where there is no such part.
    pub fn bind_mesh(&self, part: usize) -> TriMesh {
        let Some(part) = self.parts.get(part) else {
            return TriMesh::default();
        };
        TriMesh {
            positions: linear_blend(part, &self.bind_worlds(), &part.morph_weights).positions,
            triangles: part.mesh.triangles.clone(),
        }
    }

    /// The turn that brings +Z to where a humanoid looks; none for what is no humanoid.
    pub fn facing(&self) -> Quat {
        let humanoid = Humanoid::find(&self.skeleton, &BoneMap::of(self));
        humanoid.map_or(Quat::IDENTITY, |humanoid| {
            humanoid.facing(&self.skeleton.rest_worlds())
        })
    }

    /// One part in a pose. For many poses make a [`Skinner`] once.
    pub fn skin_part(&self, part: usize, pose: &Pose, method: Method) -> Posed {
        let Some(one) = self.parts.get(part) else {
            return Posed::default();
        };
        let worlds = pose.worlds(&self.skeleton);
        Skinner::new(&Character::default(), method).skin(part, one, &worlds, &one.morph_weights)
    }

    /// All parts in a pose. For many poses make a [`Skinner`] once.
    pub fn skin(&self, pose: &Pose, method: Method) -> Vec<Posed> {
        Skinner::new(self, method).skin_all(self, &pose.worlds(&self.skeleton))
    }
}

impl Part {
    /// Joint and inverse-bind matrix of every slot.
    fn slots(&self) -> impl Iterator<Item = (usize, Affine3A)> {
        let binding = &self.binding;
        (binding.joints.iter().copied()).zip(binding.inverse_binds.iter().copied())
    }

    /// Whether all slots agree, to a thousandth of the part's size, on where bind space lies in the world.
    fn rests_in_bind(&self, rest: &[Affine3A]) -> bool {
        let Some((low, high)) = bounds(self.mesh.positions.iter().copied()) else {
            return true;
        };
        let mut maps = self
            .slots()
            .filter_map(|(joint, inverse)| Some(*rest.get(joint)? * inverse));
        let Some(first) = maps.next() else {
            return true;
        };
        let size = first.transform_vector3(high - low).length();
        let corners = [low, high, Vec3::new(low.x, high.y, low.z), Vec3::ZERO];
        maps.all(|map| {
            corners.iter().all(|&corner| {
                let gap = map.transform_point3(corner) - first.transform_point3(corner);
                gap.length() <= 1e-3 * size
            })
        })
    }
}

/// Smallest and largest coordinates of finite points.
fn bounds(points: impl Iterator<Item = Vec3>) -> Option<(Vec3, Vec3)> {
    points
        .filter(|point| point.is_finite())
        .fold(None, |bounds, point| match bounds {
            None => Some((point, point)),
            Some((low, high)) => Some((low.min(point), high.max(point))),
        })
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
