//! Builds the tissue of a character, in the steps of [3.2.1].

use glam::{Affine3A, DVec3, Vec3};
use supple_geom::decimate::Decimated;
use supple_rig::Character;
use supple_rig::skinning::{linear_blend, morphed};

use crate::FleshError;
use crate::construction::assemble::{ModelInput, assemble_model};
use crate::construction::base_points::{BasePoint, Smoothing, base_points, base_position};
use crate::construction::bone_graph::BoneGraph;
use crate::construction::bone_surface::bone_surface;
use crate::construction::collision_tets::{collision_tets, contact_surface};
use crate::construction::full_flesh::{FullFlesh, surface};
use crate::construction::layers::{ColumnLayers, GivenLayers};
use crate::construction::prisms::split_orders;
use crate::construction::rest_skin::RestSkin;
use crate::construction::simulation_mesh::bending_points;
use crate::construction::skeleton_volume::{GivenRadii, skeleton_volume};
use crate::construction::tissue::{Stiffness, Tissue};
use crate::flesh::{BuildReport, Flesh};
use crate::motion::colliders::attached;
use crate::motion::holds::{HoldInput, flesh_weights, holds};
use crate::motion::regions::{bending_joints, excluded_columns};
use crate::motion::sliding::attachments;
use crate::motion::target_table::FollowTable;
use crate::settings::{ContactMode, Settings};
use crate::shells::covers::covers;
use crate::shells::rides::{RideInput, Rides, rides};
use crate::upsampling::detail::{Detail, DetailSource, Upsampler};
use crate::upsampling::detail_cache::DetailCache;

/// Collects options, then builds a [`Flesh`].
pub struct FleshBuilder<'a> {
    character: &'a Character,
    settings: Settings,
    cache: Option<&'a dyn DetailCache>,
    progress: Option<&'a dyn Fn(f32)>,
    layers: Option<&'a GivenLayers>,
    vertex_factors: Option<Vec<f64>>,
}

impl<'a> FleshBuilder<'a> {
    /// A builder with default settings.
    pub fn new(character: &'a Character) -> Self {
        Self {
            character,
            settings: Settings::default(),
            cache: None,
            progress: None,
            layers: None,
            vertex_factors: None,
        }
    }

    /// Replaces the settings.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the cache for the simulation mesh and the upsampling weights.
    pub fn cache(mut self, cache: &'a dyn DetailCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Calls back between the stages of a build, with a share from 0 to 1.
    pub fn progress(mut self, progress: &'a dyn Fn(f32)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Gives the body layers of its own: fat and muscle over a skeleton surface, instead of one layer over capsules.
    pub fn layers(mut self, layers: &'a GivenLayers) -> Self {
        self.layers = Some(layers);
        self
    }

    /// Multiplies the stiffness of the tissue below every vertex: one factor for each vertex of the character's parts, in their
    /// order.
    pub fn stiffness(mut self, factors: Vec<f64>) -> Self {
        self.vertex_factors = Some(factors);
        self
    }

    /// Builds the tissue.
    pub fn build(self) -> Result<Flesh, FleshError> {
        let Self {
            character,
            settings,
            cache,
            progress,
            layers,
            vertex_factors,
        } = self;
        let pass = |share: f32| {
            if let Some(progress) = progress {
                progress(share);
            }
        };
        let without;
        let character = if character.parts.iter().any(|part| part.binding.computed) {
            without = without_computed_weights(character);
            &without
        } else {
            character
        };
        let worlds = checked_worlds(character, &settings, layers, vertex_factors.as_deref())?;
        let full = FullFlesh::new(character, &settings)?;
        let colliders = attached(character, &settings, full.mesh.bounds().min.y)?;
        pass(0.1);
        let graph = full.graph(character, &settings, &worlds);
        let radii = given_radii(character, &settings, &graph)?;
        let volume = skeleton_volume(&graph, &full.skin, &radii);
        pass(0.2);
        let full_weights = full.weights(character);
        let full_excluded = match &full_weights {
            Some(weights) => excluded_columns(character, &settings, weights)?,
            None => Vec::new(),
        };
        let bends = bending_points(&graph, &bending_joints(character));
        let source = DetailSource {
            skin: &full.mesh,
            bones: graph.bones.len(),
            bends: &bends,
            excluded: &full_excluded,
            settings: &settings.detail,
        };
        let (Decimated { mesh, kept }, upsampler, cache_use) = source.load_or_build(cache);
        pass(0.5);
        let skin = surface(&mesh);
        let (base_points, base) = column_bases(&graph, &skin, &settings);
        let original_of: Vec<u32> = kept.iter().map(|&v| full.original_of[v as usize]).collect();
        let hold_input = HoldInput {
            graph: &graph,
            skeleton: &character.skeleton,
            skin: &skin,
            base_points: &base_points,
            base: &base,
            given: full_weights
                .map(|weights| kept.iter().map(|&v| weights[v as usize].clone()).collect()),
        };
        pass(0.6);
        let weights = flesh_weights(&hold_input);
        let excluded = excluded_columns(character, &settings, &weights)?;
        let given_factors = vertex_factors.as_deref();
        let mut stiffness = Stiffness::new(
            character,
            &settings,
            &weights,
            [&skin.positions, &base],
            skin.size(),
            given_factors.map(|factors| (factors, &original_of[..])),
        )?;

        let hits = bone_surface(&graph, &volume, &skin, &base_points);
        let bone: Vec<DVec3> = hits.iter().map(|hit| hit.position).collect();
        let orders = split_orders(&skin, &bone);
        let welded = |column: usize| full.welded_of[kept[column] as usize];
        let layers = layers.map(|layers| layers.at_columns(&full.kinds.body, &skin, welded));
        let tissue = Tissue::new(&hold_input, &settings, &weights, &excluded, bone, layers);
        let anchors = tissue.anchors(|column| hits[column].position);
        let attachments = attachments(&graph, &volume, &hits, &anchors, settings.tissue.sliding);
        let holds = holds(&hold_input, &anchors, &attachments, &weights);
        pass(0.7);
        if let Some(layers) = &tissue.layers {
            stiffness = stiffness.layered(layers, &settings, &skin);
        }
        let collision = collision_tets(&skin, &base, &orders);
        let input = ModelInput {
            settings: &settings,
            skin: &skin,
            volume: full.skin.volume().abs(),
            bone: &tissue.bone,
            layers: tissue.layers.as_ref(),
            tets: &tissue.tets,
            attachments: &attachments,
            excluded: &excluded,
            factors: &stiffness.deep,
            material_factors: &stiffness.by_material,
        };
        let assembled = assemble_model(&input, |columns, model| {
            contact_surface(&skin, &base, &collision, columns, model)
        })?;
        pass(0.85);
        let Rides { rides, pieces } = rides(&RideInput {
            character,
            kinds: &full.kinds,
            flesh: &full.mesh,
            welded_of: &full.welded_of,
        });
        let covers = covers(&full.kinds, &full.mesh, &full.welded_of, &full_excluded);
        let report = BuildReport {
            name: character.name.clone(),
            shown: full.mesh.positions.len(),
            cache: cache_use,
            vertices: skin.len(),
            triangles: skin.triangles.len(),
            tets: assembled.model.tets().len(),
            free: assembled.model.free_count(),
            fixed: assembled.model.fixed_count(),
            bones: graph.bones.len(),
            mass: assembled.mass,
            layered: (tissue.layers.iter())
                .flat_map(ColumnLayers::columns)
                .count(),
            untangled: tissue.tets.report,
            collision_excluded: collision.excluded,
            shells: full.kinds.shells.clone(),
        };
        let mut flesh = Flesh {
            model: assembled.model,
            report,
            collision,
            settings,
            colliders,
            character: character.clone(),
            bind_worlds: worlds,
            graph,
            volume,
            base_points,
            attachments,
            holds,
            follow: FollowTable::default(),
            bone: tissue.bone,
            layers: tissue.layers,
            skin: mesh,
            original_of,
            columns: assembled.columns,
            driven: assembled.driven,
            rides,
            pieces,
            covers,
            shell_of: (full.kinds.body.welded.welded_from_original.iter())
                .map(|&welded| full.kinds.body.shells.of_vertex[welded as usize])
                .collect(),
            starts: full.kinds.body.starts.clone(),
            detail: upsampler
                .map(|upsampler| detail(full, kept, upsampler, full_excluded, &excluded)),
            shapes: (character.parts.iter())
                .map(|part| morphed(part, &part.morph_weights).positions)
                .collect(),
            bind_positions: (character.bind_meshes().into_iter())
                .map(|mesh| mesh.positions)
                .collect(),
            bind_normals: Vec::new(),
            rest_normals: Vec::new(),
        };
        pass(0.9);
        flesh.find_follows();
        flesh.find_rest_normals();
        if flesh.settings.contact.mode == ContactMode::Local {
            flesh.find_local_pairs();
        }
        Ok(flesh)
    }
}

/// `world_from_joint` of all joints in the pose the skin was bound in, if tissue can be built of what was given.
fn checked_worlds(
    character: &Character,
    settings: &Settings,
    layers: Option<&GivenLayers>,
    vertex_factors: Option<&[f64]>,
) -> Result<Vec<Affine3A>, FleshError> {
    if character.skeleton.is_empty() {
        return Err(FleshError::NoSkeleton {
            name: character.name.clone(),
        });
    }
    settings.check()?;
    if let Some(layers) = layers {
        layers.check(character)?;
    }
    check_vertex_factors(character, vertex_factors)?;
    let worlds = character.bind_worlds();
    match worlds.iter().position(|world| !world.is_finite()) {
        Some(joint) => Err(FleshError::BadPart {
            part: character.skeleton.joints()[joint].name.clone(),
            reason: "its position is not finite; check this joint's transform in the file"
                .to_owned(),
        }),
        None => Ok(worlds),
    }
}

/// The base point of every column, and its position \[m\].
fn column_bases(
    graph: &BoneGraph,
    skin: &RestSkin,
    settings: &Settings,
) -> (Vec<BasePoint>, Vec<DVec3>) {
    let smoothing = Smoothing {
        reach: settings.tissue.smoothing,
        ..Smoothing::default()
    };
    let base_points = base_points(graph, skin, smoothing);
    let nodes: Vec<DVec3> = graph.nodes.iter().map(|node| node.position).collect();
    let base = (base_points.iter())
        .map(|base| base_position(graph, &nodes, base))
        .collect();
    (base_points, base)
}

/// How the full flesh follows the simulated vertices `kept`, of which some are excluded.
fn detail(
    full: FullFlesh,
    kept: Vec<u32>,
    upsampler: Upsampler,
    full_excluded: Vec<bool>,
    excluded: &[bool],
) -> Detail {
    let kinematic = if full_excluded.is_empty() {
        Vec::new()
    } else {
        kinematic_shares(&upsampler, full.mesh.positions.len(), excluded)
    };
    Detail {
        mesh: full.mesh,
        kept,
        upsampler,
        original_of: full.original_of,
        excluded: full_excluded,
        kinematic,
    }
}

/// One factor for each vertex of the parts, each finite and not negative.
fn check_vertex_factors(character: &Character, factors: Option<&[f64]>) -> Result<(), FleshError> {
    let Some(factors) = factors else {
        return Ok(());
    };
    let parts = character.parts.iter();
    let count: usize = parts.map(|part| part.mesh.positions.len()).sum();
    if factors.len() != count {
        return Err(FleshError::Settings(format!(
            "{} stiffness factors were given for {count} vertices",
            factors.len()
        )));
    }
    match factors.iter().position(|f| !(0.0..=1e6).contains(f)) {
        Some(vertex) => Err(FleshError::Settings(format!(
            "the stiffness factor of vertex {vertex} is {}; it must be from 0 to 1000000",
            factors[vertex]
        ))),
        None => Ok(()),
    }
}

/// Skin vertices that are interpolated, wholly or in part, from excluded simulated vertices, and the smoothed share.
fn kinematic_shares(upsampler: &Upsampler, count: usize, excluded: &[bool]) -> Vec<(u32, f32)> {
    let shares = upsampler.shares(count, excluded);
    (0..count as u32)
        .zip(shares)
        .filter(|&(_, share)| share > 1e-3)
        .map(|(v, share)| (v, share * share * (3.0 - 2.0 * share)))
        .collect()
}

fn given_radii(
    character: &Character,
    settings: &Settings,
    graph: &BoneGraph,
) -> Result<GivenRadii, FleshError> {
    let find = |name: &String| {
        character
            .skeleton
            .find(name)
            .ok_or_else(|| FleshError::NoSuchJoint {
                what: "a radius".to_owned(),
                name: name.clone(),
            })
    };
    let mut given = GivenRadii::default();
    for (name, &radius) in &settings.bone_radii {
        let joint = find(name)?;
        for (index, bone) in graph.bones.iter().enumerate() {
            if bone.joint == joint {
                given.bones.insert(index, radius);
            }
        }
    }
    for (name, &radius) in &settings.joint_radii {
        let joint = find(name)?;
        for (index, node) in graph.nodes.iter().enumerate() {
            if node.joints.contains(&joint) {
                given.nodes.insert(index, radius);
            }
        }
    }
    Ok(given)
}

/// The character without its computed weights: unbound, with the skin at its rest position in the world.
fn without_computed_weights(character: &Character) -> Character {
    let mut character = character.clone();
    let worlds = character.skeleton.rest_worlds();
    let parts = character.parts.iter_mut();
    for part in parts.filter(|part| part.binding.computed) {
        let placed = linear_blend(part, &worlds, &part.morph_weights).positions;
        let shape = morphed(part, &part.morph_weights).positions;
        let size = part.mesh.bounds().diagonal();
        let is_there = |(a, b): (&Vec3, &Vec3)| a.distance(*b) <= 1e-4 * size;
        if !shape.iter().zip(&placed).all(is_there) {
            part.mesh.positions = placed;
            part.morphs.clear();
            part.morph_weights.clear();
        }
        part.binding = Default::default();
    }
    character
}
