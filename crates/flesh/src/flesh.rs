//! The tissue of a character: its model, targets from poses, and skins from states.

use glam::{Affine3A, DVec3, Vec3};
use supple_geom::TriMesh;
use supple_geom::adjacency::NONE;
use supple_geom::normals::vertex_normals;
use supple_geom::turns::vertex_turns;
use supple_rig::skinning::{linear_blend, skin_matrices};
use supple_rig::{Character, Pose};
use supple_sim::{Model, State};

use crate::FleshError;
use crate::base_points::Foot;
use crate::bone_graph::BoneGraph;
use crate::builder::FleshBuilder;
use crate::colliders::Attached;
use crate::collision_tets::CollisionTets;
use crate::detail::{Detail, DetailWork};
use crate::detail_cache::CacheUse;
use crate::frames::{Frames, frames};
use crate::holds::{Hold, held_position};
use crate::riders::{Rider, rider_position};
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
    /// What happened to the cache.
    pub cache: CacheUse,
    /// Vertices of the simulation mesh.
    pub vertices: usize,
    /// Triangles of the simulation mesh.
    pub triangles: usize,
    /// Tets of the model.
    pub tets: usize,
    /// Free vertices of the model: its unknowns.
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

/// A skin vertex and its bone-surface point.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The skin vertex, in the model's input numbering, or [`NONE`].
    pub skin: u32,
    /// The bone-surface point, likewise.
    pub bone: u32,
    /// Whether the skin vertex is simulated.
    pub is_free: bool,
}

/// The origin of a driven vertex of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driven {
    /// Bone-surface point of a column.
    Bone(u32),
    /// Skin vertex of an excluded column.
    Skin(u32),
}

/// How an original vertex is moved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ride {
    /// It is a vertex of the full flesh.
    Flesh(u32),
    /// It is bound to the nearest flesh.
    Bound(Rider),
    /// It is rigid on a joint.
    Rigid(u32),
}

/// The tissue of a character.
#[derive(Clone, Debug)]
pub struct Flesh {
    /// The simulation model.
    pub model: Model,
    /// What construction did.
    pub report: BuildReport,
    /// Tets for contact, over flesh vertices and base points.
    pub collision: CollisionTets,
    /// The settings it was built with.
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

    /// Radii of bones and joints.
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

    /// The upsampling from the simulation mesh to the full skin; `None` if the full skin is simulated.
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

    /// The bones or joints that each bone-surface point follows.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// The blend of joints that holds each bone-surface point around joints that do not slide.
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

    /// Position of a column's bone-surface point in a pose, if the pose drives it.
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

    /// Position of a point that moves rigidly with the frame of a column.
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

    /// Positions of the simulation mesh's vertices (columns) in a state \[m\].
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

    /// Positions \[m\] and unit normals of the full flesh in a state.
    pub fn full_positions(
        &self,
        pose: &Pose,
        state: &State,
    ) -> Result<(Vec<Vec3>, Vec<Vec3>), FleshError> {
        Ok(self.full_positions_of(pose, &self.flesh_positions(pose, state)?))
    }

    /// The same from the vertices of the simulation mesh.
    fn full_positions_of(&self, pose: &Pose, simulated: &[Vec3]) -> (Vec<Vec3>, Vec<Vec3>) {
        let Some(detail) = &self.detail else {
            let mesh = TriMesh {
                positions: simulated.to_vec(),
                triangles: self.skin.triangles.clone(),
            };
            let normals = vertex_normals(&mesh);
            return (mesh.positions, normals);
        };
        let mut positions = vec![Vec3::ZERO; detail.mesh.positions.len()];
        let mut normals = positions.clone();
        detail.upsampler.apply(
            simulated,
            &mut DetailWork::default(),
            &mut positions,
            &mut normals,
        );
        let originals = detail
            .kinematic
            .iter()
            .map(|&(v, _)| detail.original_of[v as usize]);
        for (&(v, share), kinematic) in detail.kinematic.iter().zip(self.blended(pose, originals)) {
            if let Some(place) = kinematic {
                let position = &mut positions[v as usize];
                *position = position.lerp(place, share);
            }
        }
        (positions, normals)
    }

    /// Positions of skin vertices that are not simulated: by their skin weights, or rigidly with their bone without weights.
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
    fn blended(&self, pose: &Pose, originals: impl Iterator<Item = u32>) -> Vec<Option<Vec3>> {
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

    /// Linear blend skinning of every part that has weights; an empty list for the others.
    fn blended_parts(&self, pose: &Pose) -> Vec<Vec<Vec3>> {
        let worlds = pose.worlds(&self.character.skeleton);
        self.character
            .parts
            .iter()
            .map(|part| {
                if part.binding.influences.is_empty() {
                    Vec::new()
                } else {
                    linear_blend(part, &worlds, &part.morph_weights).positions
                }
            })
            .collect()
    }

    pub(crate) fn part_of(&self, original: usize) -> (usize, usize) {
        let part = self.starts.partition_point(|&start| start <= original) - 1;
        (part, original - self.starts[part])
    }

    /// Posed positions of every vertex of every part, in the file's order \[m\]. `pose` must be the one the state's targets
    /// were made from: rigid shells and excluded regions follow it directly.
    pub fn skin(&self, pose: &Pose, state: &State) -> Result<Vec<Vec<Vec3>>, FleshError> {
        Ok(self.skin_of(pose, &self.flesh_positions(pose, state)?))
    }

    /// The same from the vertices of the simulation mesh, as [`Flesh::flesh_positions`] gives them for this pose.
    pub fn skin_of(&self, pose: &Pose, simulated: &[Vec3]) -> Vec<Vec<Vec3>> {
        let (now, _) = self.full_positions_of(pose, simulated);
        let flesh = self.full_mesh();
        let any_bound = self.rides.iter().any(|ride| matches!(ride, Ride::Bound(_)));
        let turns = if any_bound {
            vertex_turns(flesh, &now)
        } else {
            Vec::new()
        };
        let any_loose = |ride: &Ride| matches!(ride, Ride::Bound(rider) if rider.grip < 1.0);
        let blended = if self.rides.iter().any(any_loose) {
            self.blended_parts(pose)
        } else {
            vec![Vec::new(); self.character.parts.len()]
        };
        let moves: Vec<Affine3A> = pose
            .worlds(&self.character.skeleton)
            .iter()
            .zip(&self.bind_worlds)
            .map(|(world, bind)| *world * bind.inverse())
            .collect();
        (0..self.character.parts.len())
            .map(|part| {
                let start = self.starts[part];
                self.bind_positions[part]
                    .iter()
                    .enumerate()
                    .map(|(v, &rest)| match &self.rides[start + v] {
                        Ride::Flesh(column) => now[*column as usize],
                        Ride::Rigid(joint) => moves[*joint as usize].transform_point3(rest),
                        Ride::Bound(rider) => {
                            let triangle = flesh.triangles[rider.triangle as usize];
                            let on_flesh = rider_position(rider, triangle, &now, &turns);
                            match blended[part].get(v) {
                                Some(&loose) => loose.lerp(on_flesh, rider.grip),
                                None => on_flesh,
                            }
                        }
                    })
                    .collect()
            })
            .collect()
    }
}
