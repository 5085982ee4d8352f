//! Builds the tissue of a character, in the steps of [3.2.1].

use glam::{DVec3, Vec3};
use supple_geom::decimate::Decimated;
use supple_geom::{Surface, TriMesh};
use supple_rig::Character;
use supple_rig::skinning::{linear_blend, morphed};

use crate::FleshError;
use crate::construction::assemble::{ModelInput, assemble_model};
use crate::construction::base_points::{Smoothing, base_points, base_position};
use crate::construction::bone_graph::{BoneGraph, GraphInput, bone_graph};
use crate::construction::bone_surface::bone_surface;
use crate::construction::collision_tets::{collision_tets, contact_surface};
use crate::construction::layered_prisms::TissueTets;
use crate::construction::layers::{ColumnLayers, GivenLayers, Layer};
use crate::construction::prisms::split_orders;
use crate::construction::rest_skin::RestSkin;
use crate::construction::simulation_mesh::bending_points;
use crate::construction::skeleton_volume::{GivenRadii, skeleton_volume};
use crate::flesh::{BuildReport, Flesh};
use crate::motion::colliders::attached;
use crate::motion::holds::{
    HoldInput, bones_by_joint, flesh_weights, given_weights, holds, influences,
};
use crate::motion::joint_use::joint_uses;
use crate::motion::regions::{
    bending_joints, depth_factor, excluded_columns, material_factors, stiffness_factors,
};
use crate::motion::sliding::attachments;
use crate::motion::sliding_core::{cores, mean_weights};
use crate::motion::target_table::FollowTable;
use crate::settings::{ContactMode, Settings};
use crate::shells::covers::covers;
use crate::shells::rides::{RideInput, Rides, rides};
use crate::shells::shell_kinds::{Kind, ShellKinds, shell_kinds};
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
        if character.skeleton.is_empty() {
            return Err(FleshError::NoSkeleton {
                name: character.name.clone(),
            });
        }
        settings.check()?;
        if let Some(layers) = layers {
            layers.check(character)?;
        }
        check_vertex_factors(character, vertex_factors.as_deref())?;
        let worlds = character.bind_worlds();
        if let Some(joint) = worlds.iter().position(|world| !world.is_finite()) {
            return Err(FleshError::BadPart {
                part: character.skeleton.joints()[joint].name.clone(),
                reason: "its position is not finite; check this joint's transform in the file"
                    .to_owned(),
            });
        }
        let kinds = shell_kinds(character, &settings.shells)?;
        let (full, welded_of) = kinds
            .body
            .ordered_shells_mesh(&|shell| kinds.shells[shell].kind == Kind::Flesh);
        let full_skin = surface(&full);
        let lowest = full.bounds().min.y;
        let colliders = attached(character, &settings, lowest)?;
        pass(0.1);
        let graph = flesh_graph(character, &settings, &kinds, &full, &worlds, &full_skin);
        let radii = given_radii(character, &settings, &graph)?;
        let volume = skeleton_volume(&graph, &full_skin, &radii);
        pass(0.2);
        let full_originals: Vec<u32> = (welded_of.iter())
            .map(|&w| kinds.body.welded.original_from_welded[w as usize])
            .collect();
        let full_part_of = |vertex: usize| kinds.body.part_of(full_originals[vertex] as usize);
        let full_weights = given_weights(character, full_part_of, full_skin.len());
        let full_excluded = match &full_weights {
            Some(weights) => excluded_columns(character, &settings, weights)?,
            None => Vec::new(),
        };
        let bends = bending_points(&graph, &bending_joints(character));
        let source = DetailSource {
            skin: &full,
            bones: graph.bones.len(),
            bends: &bends,
            excluded: &full_excluded,
            settings: &settings.detail,
        };
        let (Decimated { mesh, kept }, upsampler, cache_use) = source.load_or_build(cache);
        pass(0.5);
        let skin = surface(&mesh);
        let smoothing = Smoothing {
            reach: settings.tissue.smoothing,
            ..Smoothing::default()
        };
        let base_points = base_points(&graph, &skin, smoothing);
        let nodes: Vec<DVec3> = graph.nodes.iter().map(|node| node.position).collect();
        let base: Vec<DVec3> = base_points
            .iter()
            .map(|base| base_position(&graph, &nodes, base))
            .collect();
        let original_of: Vec<u32> = kept.iter().map(|&v| full_originals[v as usize]).collect();
        let given =
            full_weights.map(|weights| kept.iter().map(|&v| weights[v as usize].clone()).collect());
        let hold_input = HoldInput {
            graph: &graph,
            skeleton: &character.skeleton,
            skin: &skin,
            base_points: &base_points,
            base: &base,
            given,
        };
        pass(0.6);
        let weights = flesh_weights(&hold_input);
        let excluded = excluded_columns(character, &settings, &weights)?;
        let factors = stiffness_factors(character, &settings, &weights)?;
        let size = skin.size();
        let mut deep_factors: Vec<f64> = (factors.iter().enumerate())
            .map(|(v, factor)| {
                factor * depth_factor(&settings.tissue, skin.positions[v].distance(base[v]), size)
            })
            .collect();
        let mut own_factors = [None, None, None, None];
        for (layer, own) in Layer::ALL.into_iter().zip(&mut own_factors) {
            *own = material_factors(character, &settings, &weights, layer)?;
            if let Some(factors) = &vertex_factors {
                let own = own.get_or_insert_with(|| vec![1.0; skin.len()]);
                for (own, &vertex) in own.iter_mut().zip(&original_of) {
                    *own *= factors[vertex as usize];
                }
            }
        }

        let hits = bone_surface(&graph, &volume, &skin, &base_points);
        let mut bone: Vec<DVec3> = hits.iter().map(|hit| hit.position).collect();
        let orders = split_orders(&skin, &bone);
        let is_simulated = |triangle: usize| {
            let corners = skin.triangles[triangle];
            corners.iter().any(|&v| !excluded[v as usize])
        };
        let welded = |column: usize| welded_of[kept[column] as usize];
        let mut layers = layers.map(|layers| layers.at_columns(&kinds.body, &skin, welded));
        let mut tets = match &mut layers {
            None => TissueTets::of_two_surfaces(&skin, &mut bone, &is_simulated),
            Some(layers) => {
                layers.put_skeleton(&mut bone);
                TissueTets::of_three_surfaces(&skin, layers, &mut bone, &is_simulated)
            }
        };
        if let Some(layers) = (layers.as_mut()).filter(|_| settings.layers.sliding_stiffness > 0.0)
        {
            let bones_of = bones_by_joint(&hold_input);
            layers.cores = cores(&settings.layers, &skin, layers, &bone, &is_simulated);
            for core in &mut layers.cores {
                let mean = mean_weights(&weights, core.columns);
                core.influences = influences(&graph, &bones_of, &mean, core.point);
            }
            tets.add_cores(skin.len(), &layers.cores);
        }
        // Layered columns are carried as two-layer ones would be, though their skeleton surface follows its own weights.
        let mut anchors = bone.clone();
        for column in layers.iter().flat_map(ColumnLayers::columns) {
            anchors[column] = hits[column].position;
        }
        let attachments = attachments(&graph, &volume, &hits, &anchors, settings.tissue.sliding);
        let holds = holds(&hold_input, &anchors, &attachments, &weights);
        pass(0.7);
        if let Some(layers) = &layers {
            deep_factors = layers.stiffness_factors(&settings, &skin, &factors, &deep_factors);
        }
        let collision = collision_tets(&skin, &base, &orders);
        let input = ModelInput {
            settings: &settings,
            skin: &skin,
            volume: full_skin.volume().abs(),
            bone: &bone,
            layers: layers.as_ref(),
            tets: &tets,
            attachments: &attachments,
            excluded: &excluded,
            factors: &deep_factors,
            material_factors: &own_factors,
        };
        let assembled = assemble_model(&input, |columns, model| {
            contact_surface(&skin, &base, &collision, columns, model)
        })?;
        pass(0.85);
        let Rides { rides, pieces } = rides(&RideInput {
            character,
            kinds: &kinds,
            flesh: &full,
            welded_of: &welded_of,
        });
        let covers = covers(&kinds, &full, &welded_of, &full_excluded);
        let shell_of = (kinds.body.welded.welded_from_original.iter())
            .map(|&welded| kinds.body.shells.of_vertex[welded as usize])
            .collect();
        let shown = full.positions.len();
        let detail = upsampler.map(|upsampler| {
            let kinematic = if full_excluded.is_empty() {
                Vec::new()
            } else {
                kinematic_shares(&upsampler, shown, &excluded)
            };
            Detail {
                mesh: full,
                kept,
                upsampler,
                original_of: full_originals,
                excluded: full_excluded,
                kinematic,
            }
        });
        let report = BuildReport {
            name: character.name.clone(),
            shown,
            cache: cache_use,
            vertices: skin.len(),
            triangles: skin.triangles.len(),
            tets: assembled.model.tets().len(),
            free: assembled.model.free_count(),
            fixed: assembled.model.fixed_count(),
            bones: graph.bones.len(),
            mass: assembled.mass,
            layered: layers.iter().flat_map(ColumnLayers::columns).count(),
            untangled: tets.report,
            collision_excluded: collision.excluded,
            shells: kinds.shells.clone(),
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
            bone,
            layers,
            skin: mesh,
            original_of,
            columns: assembled.columns,
            driven: assembled.driven,
            detail,
            rides,
            pieces,
            covers,
            shell_of,
            starts: kinds.body.starts,
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

fn surface(mesh: &TriMesh) -> RestSkin {
    let positions = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    RestSkin::new(positions, mesh.triangles.clone())
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

fn flesh_graph(
    character: &Character,
    settings: &Settings,
    kinds: &ShellKinds,
    mesh: &TriMesh,
    worlds: &[glam::Affine3A],
    skin: &RestSkin,
) -> BoneGraph {
    let surface = Surface::new(mesh.clone());
    let meshes = character.bind_meshes();
    let is_flesh = |part: usize, vertex: usize| {
        kinds
            .body
            .shell_of(part, vertex)
            .is_some_and(|shell| kinds.shells[shell].kind == Kind::Flesh)
    };
    let uses = joint_uses(character, &meshes, &is_flesh);
    bone_graph(&GraphInput {
        skeleton: &character.skeleton,
        worlds,
        uses: uses.as_deref(),
        inside: &|point| surface.contains(point.as_vec3()),
        merge_distance: 1e-3 * skin.size(),
        virtual_bones: &settings.virtual_bones,
    })
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
