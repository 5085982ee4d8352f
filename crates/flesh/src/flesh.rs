//! The tissue of a character: its model, targets from poses, and skins from states.

use glam::{Affine3A, DVec3, Vec3};
use supple_geom::TriMesh;
use supple_geom::adjacency::NONE;
use supple_rig::{Character, Pose, Skeleton};
use supple_sim::{Model, Quality, State, measure_where};

use crate::FleshError;
use crate::builder::FleshBuilder;
use crate::construction::base_points::BasePoint;
use crate::construction::bone_graph::BoneGraph;
use crate::construction::collision_tets::CollisionTets;
use crate::construction::layers::ColumnLayers;
use crate::construction::skeleton_volume::SkeletonVolume;
use crate::construction::untangle::UntangleReport;
use crate::motion::colliders::Attached;
use crate::motion::frames::{Frames, frames};
use crate::motion::holds::Hold;
use crate::motion::sliding::Attachment;
use crate::motion::target_table::FollowTable;
use crate::motion::targets::positions;
use crate::settings::Settings;
use crate::shells::covers::Cover;
use crate::shells::rides::Ride;
use crate::shells::rigid_pieces::RigidPiece;
use crate::shells::shell_kinds::Shell;
use crate::upsampling::detail::Detail;
use crate::upsampling::detail_cache::CacheUse;

/// What construction did.
#[derive(Clone, Debug, Default)]
pub struct BuildReport {
    /// The character.
    pub name: String,
    /// Flesh vertices of the full skin, after welding.
    pub shown: usize,
    /// How the cache was used.
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
    /// Columns with a muscle surface and a skeleton surface of their own.
    pub layered: usize,
    /// Repair of inverted and flat tets.
    pub untangled: UntangleReport,
    /// Collision tets left out because they are degenerate.
    pub collision_excluded: usize,
    /// Shells and their kinds.
    pub shells: Vec<Shell>,
}

/// A skin vertex and what lies below it.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The skin vertex, in the model's input numbering, or [`NONE`].
    pub skin: u32,
    /// The muscle-surface point, likewise; [`NONE`] where there are no layers.
    pub muscle: u32,
    /// The bone-surface point, likewise.
    pub bone: u32,
    /// Whether the skin vertex is simulated.
    pub is_free: bool,
}

impl Column {
    /// All its vertices, in the model's input numbering; [`NONE`] for those it does not have.
    pub fn vertices(&self) -> [u32; 3] {
        [self.skin, self.muscle, self.bone]
    }
}

/// The origin of a driven vertex of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driven {
    /// Bone-surface point of a column.
    Bone(u32),
    /// Skin vertex of an excluded column.
    Skin(u32),
    /// Point below the free skeleton surface of a layered body.
    Core(u32),
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
    pub(crate) base_points: Vec<BasePoint>,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) holds: Vec<Hold>,
    pub(crate) follow: FollowTable,
    pub(crate) bone: Vec<DVec3>,
    pub(crate) layers: Option<ColumnLayers>,
    pub(crate) skin: TriMesh,
    pub(crate) original_of: Vec<u32>,
    pub(crate) columns: Vec<Column>,
    pub(crate) driven: Vec<Driven>,
    pub(crate) detail: Option<Detail>,
    pub(crate) rides: Vec<Ride>,
    /// Shells that keep their shape.
    pub(crate) pieces: Vec<RigidPiece>,
    /// Vertices of the full flesh that other shells cover.
    pub(crate) covers: Vec<Cover>,
    /// Shell of every vertex of every part, or [`NONE`].
    pub(crate) shell_of: Vec<u32>,
    pub(crate) starts: Vec<usize>,
    /// Vertices of every part in bind space, morph targets mixed in.
    pub(crate) shapes: Vec<Vec<Vec3>>,
    /// The same in the world.
    pub(crate) bind_positions: Vec<Vec<Vec3>>,
    /// Unit normals of every part in the world: the file's own, if it has any.
    pub(crate) bind_normals: Vec<Vec<Vec3>>,
    /// Unit normals of the full flesh at rest.
    pub(crate) rest_normals: Vec<Vec3>,
}

impl Flesh {
    /// Starts building the tissue of a character.
    pub fn builder(character: &Character) -> FleshBuilder<'_> {
        FleshBuilder::new(character)
    }

    /// The character's skeleton.
    pub fn skeleton(&self) -> &Skeleton {
        &self.character.skeleton
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

    /// Shell of every vertex of every part, one part after another, as an index into [`BuildReport::shells`]; [`NONE`] for
    /// vertices without triangles.
    pub fn shell_of_vertices(&self) -> &[u32] {
        &self.shell_of
    }

    /// Original vertex of every vertex of the full flesh.
    pub(crate) fn full_originals(&self) -> &[u32] {
        self.detail
            .as_ref()
            .map_or(&self.original_of, |detail| &detail.original_of)
    }

    /// Columns of the flesh and their vertices in the model.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Base point of every column.
    pub fn base_points(&self) -> &[BasePoint] {
        &self.base_points
    }

    /// Bone-surface point of every column at rest \[m\].
    pub fn bone_surface(&self) -> &[DVec3] {
        &self.bone
    }

    /// Quality of the tissue in a state. Soft ties below a free skeleton surface are no tissue: where it slides, they turn over.
    pub fn quality(&self, state: &State) -> Quality {
        let (free, tets) = (self.model.free_count(), self.model.tets());
        let is_core = |v: &u32| {
            let fixed = (*v as usize).checked_sub(free);
            fixed.is_some_and(|k| matches!(self.driven[k], Driven::Core(_)))
        };
        measure_where(&self.model, state, |tet| {
            !tets.vertices[tet].iter().any(is_core)
        })
    }

    /// The layers at every column at rest, if the body was given any.
    pub fn layers(&self) -> Option<&ColumnLayers> {
        self.layers.as_ref()
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
        crate::motion::targets::pose_of_worlds(&self.character.skeleton, &self.bind_worlds)
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

    /// Vertices of the simulation mesh (columns) of a state \[m\].
    pub fn flesh_positions(&self, pose: &Pose, state: &State) -> Result<Vec<Vec3>, FleshError> {
        let outside = match self.follow.outside.is_empty() {
            true => Vec::new(),
            false => positions(&self.follow.outside, &self.all_frames(pose)?),
        };
        let vertices: Vec<Vec3> = (state.positions.iter())
            .chain(&state.fixed)
            .copied()
            .collect();
        Ok(self.columns_of(&vertices, &outside))
    }

    /// Muscle surface and skeleton surface of a state at every column \[m\]; the skin where there are no layers. `None` for a
    /// body without layers.
    pub fn layer_positions(
        &self,
        pose: &Pose,
        state: &State,
    ) -> Result<Option<[Vec<Vec3>; 2]>, FleshError> {
        let Some(layers) = &self.layers else {
            return Ok(None);
        };
        let skin = self.flesh_positions(pose, state)?;
        let index_of = self.model.index_of();
        let vertices: Vec<Vec3> = (state.positions.iter())
            .chain(&state.fixed)
            .copied()
            .collect();
        let surface = |vertex: fn(&Column) -> u32| {
            let at = |(v, column): (usize, &Column)| match index_of.get(vertex(column) as usize) {
                Some(&index) if layers.layered[v] => vertices[index as usize],
                _ => skin[v],
            };
            self.columns.iter().enumerate().map(at).collect()
        };
        Ok(Some([
            surface(|column| column.muscle),
            surface(|column| column.bone),
        ]))
    }

    /// The same as [`Flesh::flesh_positions`] from the vertices of the model, free then fixed, and from the columns outside it, in the order of
    /// [`Targets::outside`](supple_sim::Targets::outside) \[m\].
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

    pub(crate) fn part_of(&self, original: usize) -> (usize, usize) {
        let part = self.starts.partition_point(|&start| start <= original) - 1;
        (part, original - self.starts[part])
    }
}
