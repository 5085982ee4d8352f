//! FBX, read by the library ufbx: meshes, skins, blend shapes, the node tree, animation stacks, materials.
//!
//! ufbx converts to metres and Y up. If anything in the file is skinned or animated, every node becomes a joint. A
//! part's bind space is the world at rest: its positions are as the file shows them, and the inverse bind matrices map them
//! to the bones' own bind pose.

mod clips;
mod materials;
mod meshes;
mod repair;

use glam::{Affine3A, DMat4, DVec3, Quat, Vec3};

use super::checks::{remedy, warn};
use super::gltf::units::{guess, short};
use super::load::Resolver;
use super::unit_conversion::convert;
use super::{FormatError, ReadOptions, check_meshes};
use crate::character::{Remedy, Units, Up};
use crate::skeleton::{Joint, JointKind};
use crate::{Character, Skeleton, Transform};

/// Memory limit while reading: this plus [`MEMORY_FACTOR`] times the file size.
const MEMORY_FLOOR: usize = 32 << 20;
/// Compressed arrays rarely shrink to less than a hundredth.
const MEMORY_FACTOR: usize = 100;

/// Reads an FBX file, binary or text. `resolve` returns textures that are not embedded; they may be missing.
pub fn read_fbx(
    bytes: &[u8],
    resolve: Resolver,
    options: &ReadOptions,
) -> Result<Character, FormatError> {
    if bytes.is_empty() {
        return Err(FormatError::Empty("nothing"));
    }
    let scene = load_scene(bytes)?;
    let mut character = Character::default();
    let joints = Joints::new(&scene)?;
    character.skeleton = joints.skeleton.clone();
    materials::read_materials(&scene, resolve, &mut character);
    let budget = memory(bytes.len());
    let links = meshes::read_meshes(&scene, &joints, budget, &mut character)?;
    clips::read_clips(&scene, &joints, &links, budget, &mut character)?;
    if character.parts.is_empty() && character.skeleton.is_empty() {
        return Err(FormatError::Empty("no meshes, bones or motions"));
    }
    normalise_units(&scene, options, &mut character)?;
    check_meshes(&mut character);
    Ok(character)
}

fn load_scene(bytes: &[u8]) -> Result<ufbx::SceneRoot, FormatError> {
    let load = |bytes: &[u8]| ufbx::load_memory(bytes, load_options(bytes.len())).map_err(broken);
    load(bytes).or_else(|error| match repair::terminate_lists(bytes) {
        Some(repaired) => load(&repaired),
        None if repair::is_cut_off(bytes) => Err(FormatError::Truncated {
            reason: "its last record is incomplete; export or copy the file again".into(),
        }),
        None => Err(error),
    })
}

fn memory(length: usize) -> usize {
    MEMORY_FLOOR.saturating_add(length.saturating_mul(MEMORY_FACTOR))
}

fn allocator(length: usize) -> ufbx::AllocatorOpts {
    ufbx::AllocatorOpts {
        memory_limit: memory(length),
        allocation_limit: 10_000_000,
        ..Default::default()
    }
}

fn load_options(length: usize) -> ufbx::LoadOpts<'static> {
    ufbx::LoadOpts {
        temp_allocator: allocator(length),
        result_allocator: allocator(length),
        file_format: ufbx::FileFormat::Fbx,
        target_axes: ufbx::axes_right_handed_y_up(),
        target_unit_meters: 1.0,
        space_conversion: ufbx::SpaceConversion::ModifyGeometry,
        inherit_mode_handling: ufbx::InheritModeHandling::HelperNodes,
        index_error_handling: ufbx::IndexErrorHandling::NoIndex,
        node_depth_limit: 1000,
        normalize_normals: true,
        ..Default::default()
    }
}

/// The message of ufbx, with details.
fn broken(error: ufbx::Error) -> FormatError {
    let mut buffer = [0; 1024];
    let length = ufbx::format_error(&mut buffer, &error).min(buffer.len());
    let text = String::from_utf8_lossy(&buffer[..length]);
    // "ufbx v0.0.0 error: description (details)", followed by lines for developers.
    let first = text.lines().next().unwrap_or_default();
    let reason = first.split_once("error: ").map_or(first, |split| split.1);
    let way_out = match error.type_ {
        ufbx::ErrorType::Unknown => "; the file is damaged: export it again, or as GLB",
        _ => "",
    };
    FormatError::invalid("the FBX", format!("{reason}{way_out}"))
}

/// Joints made from the scene's nodes.
struct Joints {
    skeleton: Skeleton,
    /// Joint index of each node, by the node's `typed_id`.
    of_node: Vec<Option<usize>>,
    rest_worlds: Vec<Affine3A>,
}

impl Joints {
    fn new(scene: &ufbx::Scene) -> Result<Self, FormatError> {
        let nodes = scene.nodes.len();
        let moves = !scene.skin_clusters.is_empty()
            || !scene.bones.is_empty()
            || !scene.anim_curves.is_empty();
        if !moves {
            return Ok(Self {
                skeleton: Skeleton::default(),
                of_node: vec![None; nodes],
                rest_worlds: Vec::new(),
            });
        }
        let mut bone = vec![false; nodes];
        for cluster in &scene.skin_clusters {
            if let Some(node) = &cluster.bone_node {
                bone[node.element.typed_id as usize] = true;
            }
        }
        let mut joints = Vec::new();
        let mut given = vec![None; nodes];
        for node in scene.nodes.iter().filter(|node| !node.is_root) {
            given[node.element.typed_id as usize] = Some(joints.len());
            joints.push(node);
        }
        let joint = |node: &&ufbx::Ref<ufbx::Node>| Joint {
            name: node.element.name.to_string(),
            parent: node
                .parent
                .as_ref()
                .and_then(|p| given[p.element.typed_id as usize]),
            rest: transform(&node.local_transform),
            tail: None,
            kind: match bone[node.element.typed_id as usize] || node.bone.is_some() {
                true => JointKind::Bone,
                false => JointKind::Helper,
            },
        };
        let list: Vec<Joint> = joints.iter().map(joint).collect();
        if let Some(bad) = list.iter().find(|joint| !is_finite(&joint.rest)) {
            return Err(FormatError::NotFinite {
                element: format!("the transform of node '{}'", bad.name),
            });
        }
        let (skeleton, order) = Skeleton::from_unordered(list)?;
        let of_node = given
            .into_iter()
            .map(|given| given.map(|joint| order[joint]))
            .collect();
        let rest_worlds = skeleton.rest_worlds();
        Ok(Self {
            skeleton,
            of_node,
            rest_worlds,
        })
    }

    fn of(&self, node: &ufbx::Node) -> Option<usize> {
        self.of_node
            .get(node.element.typed_id as usize)
            .copied()
            .flatten()
    }
}

fn normalise_units(
    scene: &ufbx::Scene,
    options: &ReadOptions,
    character: &mut Character,
) -> Result<(), FormatError> {
    let setting = |name: &str| ufbx::find_prop(&scene.settings.props, name);
    // The default unit of FBX is the centimetre.
    let declared = setting("UnitScaleFactor").map_or(1.0, |prop| prop.value_vec4.x) as f32 * 0.01;
    let sane = declared.is_finite() && declared > 0.0;
    let declared = if sane { declared } else { 0.01 };
    let up = match setting("UpAxis").map(|prop| prop.value_int) {
        Some(2) => Up::Z,
        _ => Up::Y,
    };
    let (unit, certain) = match options.metres_per_unit {
        Some(given) => (given, true),
        None => likely_unit(declared, character),
    };
    if !(unit.is_finite() && unit > 0.0) {
        return Err(FormatError::invalid(
            "the given unit",
            "give a positive number of metres",
        ));
    }
    let turn = match (options.up, up) {
        (Some(Up::Z), Up::Y) => Up::Z,
        _ => Up::Y,
    };
    if unit != declared || turn != Up::Y {
        convert(character, unit / declared, turn);
    }
    character.units = Units {
        metres_per_unit: unit,
        up: options.up.unwrap_or(up),
        declared: certain,
    };
    Ok(())
}

/// The declared unit, unless it gives an impossible size: many exporters write metres but declare centimetres.
fn likely_unit(declared: f32, character: &mut Character) -> (f32, bool) {
    let (low, high) = character.bounds().unwrap_or_default();
    let extent = (high - low).max_element();
    let (power_of_ten, certain) = guess(extent);
    if certain || character.skeleton.is_empty() {
        return (declared, true);
    }
    let mixed_up = [100.0, 0.01].into_iter().find(|&f| guess(extent * f).1);
    let unit = declared * mixed_up.unwrap_or(power_of_ten);
    warn(
        character,
        format!(
            "The file declares {declared} m per unit, which would make it {} m large. {unit} m per unit is used instead.",
            short(extent)
        ),
    );
    remedy(character, Remedy::Unit);
    (unit, false)
}

fn vec3(v: ufbx::Vec3) -> Vec3 {
    DVec3::new(v.x, v.y, v.z).as_vec3()
}

fn quat(q: ufbx::Quat) -> Quat {
    let q = glam::DQuat::from_xyzw(q.x, q.y, q.z, q.w);
    match q.is_finite() && q.length_squared() > 1e-12 {
        true => q.normalize().as_quat(),
        false => Quat::IDENTITY,
    }
}

fn transform(t: &ufbx::Transform) -> Transform {
    Transform {
        translation: vec3(t.translation),
        rotation: quat(t.rotation),
        scale: vec3(t.scale),
    }
}

fn is_finite(t: &Transform) -> bool {
    t.translation.is_finite() && t.scale.is_finite()
}

fn matrix(m: &ufbx::Matrix) -> DMat4 {
    DMat4::from_cols_array(&[
        m.m00, m.m10, m.m20, 0.0, m.m01, m.m11, m.m21, 0.0, m.m02, m.m12, m.m22, 0.0, m.m03, m.m13,
        m.m23, 1.0,
    ])
}

/// The affine map of a 4×4 matrix.
fn affine(m: &DMat4) -> Affine3A {
    Affine3A::from_mat4(m.as_mat4())
}
