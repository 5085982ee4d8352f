//! The tissue of a character: its model, and the way from poses to targets and from states to skins.

use glam::{Affine3A, DVec3, Vec3};
use supple_geom::TriMesh;
use supple_geom::adjacency::NONE;
use supple_rig::skinning::skin_matrices;
use supple_rig::{Character, Pose};
use supple_sim::{Model, State};

use crate::FleshError;
use crate::base_points::Foot;
use crate::bone_graph::BoneGraph;
use crate::builder::FleshBuilder;
use crate::colliders::Attached;
use crate::collision_tets::CollisionTets;
use crate::detail::Detail;
use crate::detail_cache::CacheUse;
use crate::frames::{Frames, frames};
use crate::holds::{Hold, held_position};
use crate::riders::Rider;
use crate::roles::Shell;
use crate::settings::Settings;
use crate::skeleton_volume::SkeletonVolume;
use crate::sliding::{Attachment, attached_position, rigid_position};
use crate::untangle::UntangleReport;

/// What construction did.
#[derive(Clone, Debug, Default)]
pub struct BuildReport {
    /// The character.
    pub name: String,
    /// Flesh vertices of the full skin, after welding.
    pub shown: usize,
    /// What became of the cache.
    pub cache: CacheUse,
    /// Vertices of the simulation mesh.
    pub vertices: usize,
    /// Its triangles.
    pub triangles: usize,
    /// Tets of the model.
    pub tets: usize,
    /// Unknowns of the model.
    pub free: usize,
    /// Driven vertices of the model.
    pub fixed: usize,
    /// Bones that carry flesh.
    pub bones: usize,
    /// Total mass \[kg\].
    pub mass: f64,
    /// Repair of inverted and flat tets.
    pub untangled: UntangleReport,
    /// Collision tets left out because they are degenerate.
    pub collision_excluded: usize,
    /// Shells and their roles.
    pub shells: Vec<Shell>,
}

/// A skin vertex with all below it.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The skin vertex in the caller's numbering of the model, or [`NONE`].
    pub skin: u32,
    /// Its bone-surface twin likewise.
    pub bone: u32,
    /// Whether the simulation moves it.
    pub is_free: bool,
}

/// What a driven vertex of the model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driven {
    /// Bone-surface point of a column.
    Bone(u32),
    /// Skin vertex of an excluded column.
    Skin(u32),
}

/// How an original vertex gets its place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ride {
    /// It is a vertex of the full flesh.
    Flesh(u32),
    /// It rides on the flesh.
    Bound(Rider),
    /// It rides on a joint.
    Rigid(u32),
}

/// The tissue of a character.
#[derive(Clone, Debug)]
pub struct Flesh {
    /// What is simulated.
    pub model: Model,
    /// What construction did.
    pub report: BuildReport,
    /// Tets for contact, over flesh vertices and base points.
    pub collision: CollisionTets,
    /// What it was built with.
    pub settings: Settings,
    /// Ground and colliders.
    pub colliders: Vec<Attached>,
    pub(crate) character: Character,
    pub(crate) bind_worlds: Vec<Affine3A>,
    pub(crate) graph: BoneGraph,
    pub(crate) volume: SkeletonVolume,
    pub(crate) feet: Vec<Foot>,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) holds: Vec<Hold>,
    pub(crate) bone: Vec<DVec3>,
    pub(crate) skin: TriMesh,
    pub(crate) original_of: Vec<u32>,
    pub(crate) columns: Vec<Column>,
    pub(crate) driven: Vec<Driven>,
    pub(crate) detail: Option<Detail>,
    pub(crate) rides: Vec<Ride>,
    pub(crate) starts: Vec<usize>,
    /// Vertices of every part in bind space, morph targets mixed in.
    pub(crate) shapes: Vec<Vec<Vec3>>,
    /// The same in the world.
    pub(crate) bind_positions: Vec<Vec<Vec3>>,
    /// Unit normals of every part in the world, as the file has them where it has some.
    pub(crate) bind_normals: Vec<Vec<Vec3>>,
    /// Unit normals of the full flesh at rest.
    pub(crate) rest_normals: Vec<Vec3>,
}

impl Flesh {
    /// Starts building the tissue of a character.
    pub fn builder(character: &Character) -> FleshBuilder<'_> {
        FleshBuilder::new(character)
    }

    /// Bones that carry flesh.
    pub fn graph(&self) -> &BoneGraph {
        &self.graph
    }

    /// Their radii.
    pub fn volume(&self) -> &SkeletonVolume {
        &self.volume
    }

    /// The simulation mesh in bind pose: skin vertex `i` is column `i`.
    pub fn skin_mesh(&self) -> &TriMesh {
        &self.skin
    }

    /// The full welded flesh in bind pose.
    pub fn full_mesh(&self) -> &TriMesh {
        self.detail
            .as_ref()
            .map_or(&self.skin, |detail| &detail.mesh)
    }

    /// What lies between the simulation mesh and the full skin; `None` where they are the same.
    pub fn detail(&self) -> Option<&Detail> {
        self.detail.as_ref()
    }

    /// Columns of the flesh and their vertices in the model.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Base point of every column.
    pub fn feet(&self) -> &[Foot] {
        &self.feet
    }

    /// Bone-surface point of every column at rest \[m\].
    pub fn bone_surface(&self) -> &[DVec3] {
        &self.bone
    }

    /// What each bone-surface point follows.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// What else holds it, around joints that do not slide.
    pub fn holds(&self) -> &[Hold] {
        &self.holds
    }

    /// The rest pose of the tissue: the pose the skin was bound in.
    pub fn rest_pose(&self) -> Pose {
        crate::targets::pose_of_worlds(&self.character.skeleton, &self.bind_worlds)
    }

    pub(crate) fn frames(&self, pose: &Pose) -> Result<Frames, FleshError> {
        let expected = self.character.skeleton.len();
        if pose.locals.len() != expected {
            return Err(FleshError::PoseSize {
                given: pose.locals.len(),
                expected,
            });
        }
        Ok(frames(
            &self.graph,
            &self.character.skeleton,
            &self.bind_worlds,
            pose,
        ))
    }

    /// Where a pose puts the bone-surface point of a column, if anything holds it.
    pub(crate) fn driven_position(&self, frames: &Frames, column: usize) -> Option<DVec3> {
        let (point, hold) = (self.bone[column], &self.holds[column]);
        let attachment = &self.attachments[column];
        let held = || held_position(&self.graph, frames, hold, point);
        if hold.share >= 1.0 {
            return Some(held());
        }
        let attached = attached_position(&self.graph, frames, attachment, point)?;
        Some(if hold.share > 0.0 {
            attached.lerp(held(), hold.share)
        } else {
            attached
        })
    }

    /// Where a point goes that keeps to the frame of a column.
    pub(crate) fn carried_position(&self, frames: &Frames, column: usize, point: DVec3) -> DVec3 {
        let (attachment, foot) = (&self.attachments[column], &self.feet[column]);
        let carried = rigid_position(&self.graph, frames, attachment, foot, point);
        let hold = &self.holds[column];
        if hold.share > 0.0 {
            carried.lerp(held_position(&self.graph, frames, hold, point), hold.share)
        } else {
            carried
        }
    }

    /// Vertices of the simulation mesh (columns) of a state \[m\].
    pub fn flesh_positions(&self, pose: &Pose, state: &State) -> Result<Vec<Vec3>, FleshError> {
        let simulated = self.model.caller_positions(state);
        let outside = self.outside_columns();
        let mut kinematic = self.kinematic_positions(pose, &outside)?.into_iter();
        Ok(self
            .columns
            .iter()
            .map(|column| match column.skin {
                NONE => kinematic.next().unwrap_or_default(),
                skin => simulated[skin as usize],
            })
            .collect())
    }

    /// The same from the vertices of the model, free then fixed, and those columns that are not in it, as
    /// [`Targets::outside`](supple_sim::Targets::outside) has them \[m\].
    pub fn columns_of(&self, vertices: &[Vec3], outside: &[Vec3]) -> Vec<Vec3> {
        let index_of = self.model.index_of();
        let mut outside = outside.iter().copied();
        let columns = self.columns.iter();
        columns
            .map(|column| match column.skin {
                NONE => outside.next().unwrap_or_default(),
                skin => vertices[index_of[skin as usize] as usize],
            })
            .collect()
    }

    /// Positions of skin vertices that are not simulated: by their weights, or with their bone where there are none.
    pub(crate) fn kinematic_positions(
        &self,
        pose: &Pose,
        columns: &[u32],
    ) -> Result<Vec<Vec3>, FleshError> {
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let originals = columns
            .iter()
            .map(|&column| self.original_of[column as usize]);
        let blended = self.blended(pose, originals);
        let frames = match blended.iter().any(Option::is_none) {
            true => self.frames(pose)?,
            false => Frames::default(),
        };
        Ok(columns
            .iter()
            .zip(blended)
            .map(|(&column, blended)| {
                blended.unwrap_or_else(|| {
                    let column = column as usize;
                    let point = self.skin.positions[column].as_dvec3();
                    self.carried_position(&frames, column, point).as_vec3()
                })
            })
            .collect())
    }

    /// Linear blend skinning of some original vertices; `None` for those without weights.
    pub(crate) fn blended(
        &self,
        pose: &Pose,
        originals: impl Iterator<Item = u32>,
    ) -> Vec<Option<Vec3>> {
        let worlds = pose.worlds(&self.character.skeleton);
        let parts = &self.character.parts;
        let matrices: Vec<Vec<Affine3A>> = (parts.iter())
            .map(|part| skin_matrices(part, &worlds))
            .collect();
        originals
            .map(|original| {
                let (part, vertex) = self.part_of(original as usize);
                let influences = &parts[part].binding.influences;
                (vertex < influences.len()).then(|| {
                    let place = self.shapes[part][vertex];
                    let moved =
                        |&(slot, weight): &(u32, f32)| match matrices[part].get(slot as usize) {
                            Some(matrix) => weight * matrix.transform_point3(place),
                            None => weight * place,
                        };
                    influences.of(vertex).iter().map(moved).sum()
                })
            })
            .collect()
    }

    pub(crate) fn part_of(&self, original: usize) -> (usize, usize) {
        let part = self.starts.partition_point(|&start| start <= original) - 1;
        (part, original - self.starts[part])
    }
}
