//! A character as loaded: parts, skeleton, clips, materials, and the problems found in its file.

use std::collections::BTreeMap;

use glam::{Affine3A, Quat, Vec2, Vec3, Vec4};
use supple_geom::TriMesh;

use crate::formats::Source;
use crate::retarget::{BoneMap, Humanoid};
use crate::skeleton::JointKind;
use crate::skinning::{Method, Posed, Skinner, linear_blend};
use crate::{Clip, Pose, Skeleton};

/// The whole content of a file, in metres and Y up.
#[derive(Clone, Debug, Default)]
pub struct Character {
    /// File name without its extension.
    pub name: String,
    /// Joints. Empty for a bare mesh.
    pub skeleton: Skeleton,
    /// Index of each joint of a `.skel` in the skeleton, for motions that number its joints. Empty if the order is the same.
    pub file_joints: Vec<usize>,
    /// Parts in file order: one for each mesh primitive and each node that shows it. Empty for a bare motion.
    pub parts: Vec<Part>,
    /// Clips stored in the file.
    pub clips: Vec<Clip>,
    /// Materials, reduced to what renderings and newly written files need.
    pub materials: Vec<Material>,
    /// Joints by VRM 1.0 bone name (`hips`, `leftUpperArm`), where the file declares them.
    pub humanoid: Option<BTreeMap<String, usize>>,
    /// The file's own metadata (title, author, licence, generator), under its own keys.
    pub about: BTreeMap<String, String>,
    /// How file units were converted to metres.
    pub units: Units,
    /// Unusual things found in the file, and how they were handled.
    pub problems: Vec<Problem>,
    /// The source document, kept so that writing back preserves data Supple does not use.
    pub source: Source,
}

/// One mesh primitive with its skin.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Name of the mesh and its primitive.
    pub name: String,
    /// Triangles over the file's own vertices, in the file's order; positions in bind space \[m\].
    pub mesh: TriMesh,
    /// Unit normals in bind space, one per vertex, or empty.
    pub normals: Vec<Vec3>,
    /// Texture coordinates, one per vertex, or empty.
    pub uvs: Vec<Vec2>,
    /// Linear RGBA colours, one per vertex, or empty.
    pub colors: Vec<Vec4>,
    /// Joints and skin weights.
    pub binding: Binding,
    /// Morph targets, added before skinning.
    pub morphs: Vec<Morph>,
    /// Morph weights at rest.
    pub morph_weights: Vec<f32>,
    /// Index into the character's materials.
    pub material: Option<usize>,
}

/// The joints that move a part, and the skin weights of its vertices.
#[derive(Clone, Debug, Default)]
pub struct Binding {
    /// Skeleton joints that move this part. Influences index into this list ("slots").
    pub joints: Vec<usize>,
    /// Inverse bind matrix `joint_from_bind` of each slot.
    pub inverse_binds: Vec<Affine3A>,
    /// Skin weights of every vertex.
    pub influences: Influences,
    /// Whether Supple computed the weights. Geometric skinning uses computed weights; the tissue build ignores them, so its
    /// result does not depend on whether weights were computed before.
    pub computed: bool,
}

/// Sparse skin weights in CSR layout: those of vertex `i` are at `starts[i]..starts[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    /// Row starts: one more than the number of vertices, or empty if there are no weights.
    pub starts: Vec<u32>,
    /// Slot in [`Binding::joints`] and weight. The weights of a vertex sum to one.
    pub entries: Vec<(u32, f32)>,
}

/// A morph target: per-vertex offsets in bind space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Morph {
    /// Name in the file; may be empty.
    pub name: String,
    /// One offset per vertex \[m\].
    pub positions: Vec<Vec3>,
    /// One normal offset per vertex, or empty.
    pub normals: Vec<Vec3>,
}

/// The material of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name in the file; may be empty.
    pub name: String,
    /// Base colour, linear RGBA.
    pub base_color: Vec4,
    /// Encoded base-colour texture (PNG or JPEG bytes), if any.
    pub base_color_image: Option<std::sync::Arc<[u8]>>,
    /// Whether back faces are drawn.
    pub double_sided: bool,
}

/// The file's up axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Up {
    /// Y up, as in glTF.
    #[default]
    Y,
    /// Z up, as in Blender and many scans.
    Z,
}

/// How file units and axes were converted to metres and Y up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// Length of one file unit \[m\].
    pub metres_per_unit: f32,
    /// The file's up axis.
    pub up: Up,
    /// False if Supple guessed: the file does not declare units, or declares impossible ones.
    pub declared: bool,
}

impl Units {
    /// A position \[m\], Y up, in the file's unit and axes.
    pub fn to_file(&self, position: Vec3) -> Vec3 {
        let position = position / self.metres_per_unit;
        match self.up {
            Up::Y => position,
            Up::Z => Vec3::new(position.x, -position.z, position.y),
        }
    }
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

/// Severity of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Information only.
    Note,
    /// The result will differ from what the author intended.
    Warning,
}

/// What a user may set to mend a [`Problem`]. Programs say where: with an option, or with a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The file's unit.
    Unit,
    /// The file's unit and up axis.
    UnitAndUp,
    /// Z as the file's up axis.
    UpZ,
    /// Weights computed anew.
    Weights,
    /// A file for each body, and a scene of all.
    Scene,
}

/// Something unusual in a file, and its consequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Note or warning.
    pub severity: Severity,
    /// Name of the part or joint; empty if it concerns the whole file.
    pub place: String,
    /// What was found and what follows from it.
    pub text: String,
    /// What may mend it.
    pub remedy: Option<Remedy>,
}

impl Character {
    /// Bounding box at rest \[m\]: of the skin, or of the joints if there is no skin.
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

    /// Extent along Y at rest \[m\]; zero for an empty character.
    pub fn height(&self) -> f32 {
        self.bounds().map_or(0.0, |(low, high)| high.y - low.y)
    }

    /// Whether a part is bound to no bone while other parts are: a floor, a wall, a lamp. Scenery does not move.
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

    /// `world_from_joint` in the bind pose.
    ///
    /// Usually the bind pose is the rest pose: all joints of a part then agree on one `world_from_bind`.
    /// If they do not (a file saved in another pose), the skin's topmost joint fixes the bind space,
    /// and the other joints follow from their inverse bind matrices.
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

    /// A part in world space, in the pose of [`Character::bind_worlds`]; empty if there is no such part.
    pub fn bind_mesh(&self, part: usize) -> TriMesh {
        let Some(part) = self.parts.get(part) else {
            return TriMesh::default();
        };
        TriMesh {
            positions: linear_blend(part, &self.bind_worlds(), &part.morph_weights).positions,
            triangles: part.mesh.triangles.clone(),
        }
    }

    /// All parts, each as [`Character::bind_mesh`] gives it. For many parts this is much faster.
    pub fn bind_meshes(&self) -> Vec<TriMesh> {
        let worlds = self.bind_worlds();
        let placed = |part: &Part| TriMesh {
            positions: linear_blend(part, &worlds, &part.morph_weights).positions,
            triangles: part.mesh.triangles.clone(),
        };
        self.parts.iter().map(placed).collect()
    }

    /// The turn that brings +Z to where a humanoid looks; none for anything but a humanoid.
    pub fn facing(&self) -> Quat {
        let humanoid = Humanoid::find(&self.skeleton, &BoneMap::of(self));
        humanoid.map_or(Quat::IDENTITY, |humanoid| {
            humanoid.facing(&self.skeleton.rest_worlds())
        })
    }

    /// Skins one part. For many poses, build a [`Skinner`] once.
    pub fn skin_part(&self, part: usize, pose: &Pose, method: Method) -> Posed {
        let Some(one) = self.parts.get(part) else {
            return Posed::default();
        };
        let worlds = pose.worlds(&self.skeleton);
        Skinner::new(&Character::default(), method).skin(part, one, &worlds, &one.morph_weights)
    }

    /// Skins all parts. For many poses, build a [`Skinner`] once.
    pub fn skin(&self, pose: &Pose, method: Method) -> Vec<Posed> {
        Skinner::new(self, method).skin_all(self, &pose.worlds(&self.skeleton))
    }
}

impl Part {
    /// Joint and inverse bind matrix of every slot.
    fn slots(&self) -> impl Iterator<Item = (usize, Affine3A)> {
        let binding = &self.binding;
        (binding.joints.iter().copied()).zip(binding.inverse_binds.iter().copied())
    }

    /// Whether all slots agree on `world_from_bind` at rest, to a thousandth of the part's size.
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

/// Bounding box of the finite points.
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

    /// Builds the rows from one list per vertex.
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

    /// Binds every vertex to one slot with weight one.
    pub fn rigid(slot: u32, vertices: usize) -> Self {
        Self {
            starts: (0..=vertices as u32).collect(),
            entries: vec![(slot, 1.0); vertices],
        }
    }
}
