//! Meshes of nodes, split by material, with skins and blend shapes.

use std::collections::HashMap;

use glam::{DMat4, DVec3, Vec2, Vec3, Vec4};
use supple_geom::TriMesh;

use super::super::FormatError;
use super::super::checks::warn;
use super::super::seams::{Corner, NONE, split_seams};
use super::{Joints, affine, matrix};
use crate::character::{Binding, Influences, Morph};
use crate::{Character, Part};

/// Blend channels of each part, as element ids in the order of the part's morph targets.
pub(super) type Links = Vec<Vec<u32>>;

/// Normals are rounded to this many steps per unit (about 0.06°): exporters compute one per corner, and rounding errors
/// must not create seams.
const NORMAL_STEPS: f32 = 1000.0;

/// Adds a part for each node with a mesh and each of its materials.
pub(super) fn read_meshes(
    scene: &ufbx::Scene,
    joints: &Joints,
    mut budget: usize,
    character: &mut Character,
) -> Result<Links, FormatError> {
    let mut links = Links::new();
    let mut scratch = Vec::new();
    for node in &scene.nodes {
        let Some(mesh) = &node.mesh else { continue };
        let shape = Shape::new(node, mesh)?;
        let lists = triangles_by_material(mesh);
        let single = lists.len() <= 1;
        for (material, corners) in lists {
            spend(
                &mut budget,
                corners.len() * 64 + if single { mesh.num_vertices * 64 } else { 0 },
            )?;
            let list: Vec<Corner> = corners
                .iter()
                .map(|&corner| shape.corners[corner as usize])
                .collect();
            let split = split_seams(&list, mesh.num_vertices, single, &mut scratch);
            let triangles = split
                .corners
                .chunks_exact(3)
                .map(|t| [t[0], t[1], t[2]])
                .collect();
            let mut part = shape.part(&split.vertices, triangles);
            part.name = node.element.name.to_string();
            part.material = node
                .materials
                .get(material)
                .map(|m| m.element.typed_id as usize);
            let control: Vec<u32> = split.vertices.iter().map(|vertex| vertex[0]).collect();
            part.binding = binding(node, mesh, joints, &shape, &control);
            links.push(morphs(mesh, &shape, &control, &mut part, &mut budget)?);
            character.parts.push(part);
        }
        if mesh.skin_deformers.len() > 1 {
            let name = &node.element.name;
            warn(
                character,
                format!("The mesh '{name}' has several skins. Only the first is used."),
            );
        }
    }
    Ok(links)
}

fn spend(budget: &mut usize, bytes: usize) -> Result<(), FormatError> {
    *budget = budget.checked_sub(bytes).ok_or_else(|| {
        FormatError::Unsupported(
            "the meshes need far more memory than the file size justifies; the file may be damaged"
                .into(),
        )
    })?;
    Ok(())
}

/// Corner indices of triangles, by material slot.
fn triangles_by_material(mesh: &ufbx::Mesh) -> Vec<(usize, Vec<u32>)> {
    let mut lists: Vec<(usize, Vec<u32>)> = Vec::new();
    let mut place: HashMap<usize, usize> = HashMap::new();
    let mut buffer = Vec::new();
    for (index, &face) in mesh.faces.iter().enumerate() {
        if face.num_indices < 3 {
            continue;
        }
        let material = mesh.face_material.get(index).map_or(0, |&m| m as usize);
        let count = ufbx::triangulate_face_vec(&mut buffer, mesh, face) as usize;
        let slot = *place.entry(material).or_insert_with(|| {
            lists.push((material, Vec::new()));
            lists.len() - 1
        });
        lists[slot]
            .1
            .extend(&buffer[..(count * 3).min(buffer.len())]);
    }
    if lists.is_empty() && mesh.num_vertices > 0 {
        lists.push((0, Vec::new()));
    }
    lists
}

/// A mesh as instanced by one node.
struct Shape<'a> {
    mesh: &'a ufbx::Mesh,
    world_from_geometry: DMat4,
    normal_matrix: DMat4,
    corners: Vec<Corner>,
    uvs: Vec<Vec2>,
    normals: Vec<Vec3>,
}

impl<'a> Shape<'a> {
    fn new(node: &ufbx::Node, mesh: &'a ufbx::Mesh) -> Result<Self, FormatError> {
        let name = || format!("mesh '{}'", &*node.element.name);
        let mut world_from_geometry = matrix(&node.geometry_to_world);
        if !world_from_geometry.is_finite() {
            return Err(FormatError::NotFinite {
                element: format!("the transform of {}", name()),
            });
        }
        if world_from_geometry.determinant().abs() < 1e-30 {
            world_from_geometry = DMat4::IDENTITY;
        }
        let limit = u64::from(u32::MAX);
        if mesh.num_vertices as u64 >= limit || mesh.num_indices as u64 >= limit {
            return Err(FormatError::Unsupported(format!("{} is too large", name())));
        }
        let (uvs, uv_index) = unique(&mesh.vertex_uv.values, |v| {
            let uv = Vec2::new(v.x as f32, 1.0 - v.y as f32);
            (uv, [uv.x.to_bits(), uv.y.to_bits(), 0])
        });
        let (normals, normal_index) = unique(&mesh.vertex_normal.values, |v| {
            let n = super::vec3(*v);
            (
                n,
                n.to_array()
                    .map(|x| (x * NORMAL_STEPS).round() as i32 as u32),
            )
        });
        let find = |map: &[u32], indices: &[u32], corner: usize| {
            let value = indices
                .get(corner)
                .and_then(|&value| map.get(value as usize));
            value.copied().unwrap_or(NONE)
        };
        let corner = |(corner, &vertex): (usize, &u32)| {
            if vertex as usize >= mesh.num_vertices {
                return Err(FormatError::invalid(
                    name(),
                    format!(
                        "it refers to vertex {vertex}, but there are {}",
                        mesh.num_vertices
                    ),
                ));
            }
            Ok([
                vertex,
                find(&uv_index, &mesh.vertex_uv.indices, corner),
                find(&normal_index, &mesh.vertex_normal.indices, corner),
            ])
        };
        let corners = mesh
            .vertex_indices
            .iter()
            .enumerate()
            .map(corner)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            mesh,
            world_from_geometry,
            normal_matrix: world_from_geometry.inverse().transpose(),
            corners,
            uvs,
            normals,
        })
    }

    fn part(&self, vertices: &[Corner], triangles: Vec<[u32; 3]>) -> Part {
        let any = |which: usize| vertices.iter().any(|vertex| vertex[which] != NONE);
        let mut part = Part {
            mesh: TriMesh {
                positions: vertices
                    .iter()
                    .map(|vertex| self.position(vertex[0]))
                    .collect(),
                triangles,
            },
            ..Part::default()
        };
        // A mirroring node reverses the winding of faces.
        if self.world_from_geometry.determinant() < 0.0 {
            part.mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        if any(1) {
            let uv = |vertex: &Corner| {
                self.uvs
                    .get(vertex[1] as usize)
                    .copied()
                    .unwrap_or_default()
            };
            part.uvs = vertices.iter().map(uv).collect();
        }
        if any(2) {
            let normal = |vertex: &Corner| {
                self.normals
                    .get(vertex[2] as usize)
                    .copied()
                    .unwrap_or_default()
            };
            let turn = |n: Vec3| {
                self.normal_matrix
                    .transform_vector3(n.as_dvec3())
                    .normalize_or_zero()
                    .as_vec3()
            };
            part.normals = vertices.iter().map(|vertex| turn(normal(vertex))).collect();
        }
        if self.mesh.vertex_color.exists {
            part.colors = self.colors(vertices);
        }
        part
    }

    fn position(&self, vertex: u32) -> Vec3 {
        let v = self
            .mesh
            .vertices
            .get(vertex as usize)
            .copied()
            .unwrap_or_default();
        self.world_from_geometry
            .transform_point3(DVec3::new(v.x, v.y, v.z))
            .as_vec3()
    }

    /// The colour of the first corner of each control point.
    fn colors(&self, vertices: &[Corner]) -> Vec<Vec4> {
        let colors = &self.mesh.vertex_color;
        let color = |vertex: &Corner| {
            let corner = *self.mesh.vertex_first_index.get(vertex[0] as usize)?;
            let value = *colors.indices.get(corner as usize)?;
            let c = colors.values.get(value as usize)?;
            Some(Vec4::new(c.x as f32, c.y as f32, c.z as f32, c.w as f32))
        };
        vertices
            .iter()
            .map(|vertex| color(vertex).unwrap_or(Vec4::ONE))
            .collect()
    }
}

/// Distinct values, and the index of each given value among them: files often list one normal per corner.
fn unique<T, U: Copy>(values: &[T], read: impl Fn(&T) -> (U, [u32; 3])) -> (Vec<U>, Vec<u32>) {
    let mut distinct = Vec::new();
    let mut known: HashMap<[u32; 3], u32> = HashMap::new();
    let index = |value: &T| {
        let (value, key) = read(value);
        *known.entry(key).or_insert_with(|| {
            distinct.push(value);
            distinct.len() as u32 - 1
        })
    };
    let indices = values.iter().map(index).collect();
    (distinct, indices)
}

/// The first skin, or a rigid binding to the part's own node.
fn binding(
    node: &ufbx::Node,
    mesh: &ufbx::Mesh,
    joints: &Joints,
    shape: &Shape,
    control: &[u32],
) -> Binding {
    let mut binding = Binding::default();
    let own = joints.of(node);
    let Some(skin) = mesh.skin_deformers.first() else {
        if let Some(own) = own {
            binding.joints = vec![own];
            binding.inverse_binds = vec![joints.rest_worlds[own].inverse()];
            binding.influences = Influences::rigid(0, control.len());
        }
        return binding;
    };
    let geometry_from_world = shape.world_from_geometry.inverse();
    let mut slots = Vec::new();
    for cluster in &skin.clusters {
        let joint = cluster.bone_node.as_ref().and_then(|bone| joints.of(bone));
        let bind = affine(&(matrix(&cluster.geometry_to_bone) * geometry_from_world));
        slots.push(joint.filter(|_| bind.is_finite()).map(|joint| {
            binding.joints.push(joint);
            binding.inverse_binds.push(bind);
            binding.joints.len() as u32 - 1
        }));
    }
    // Vertices without weights follow the mesh's node.
    let spare = binding.joints.len() as u32;
    if let Some(own) = own {
        binding.joints.push(own);
        binding
            .inverse_binds
            .push(joints.rest_worlds[own].inverse());
    }
    if binding.joints.is_empty() {
        return Binding::default();
    }
    let spare = spare.min(binding.joints.len() as u32 - 1);
    let lists = control
        .iter()
        .map(|&vertex| weights(skin, vertex, &slots, spare));
    binding.influences = Influences::from_lists(lists);
    let used = binding
        .influences
        .entries
        .iter()
        .any(|&(slot, _)| slot == spare);
    if own.is_some() && !used {
        binding.joints.pop();
        binding.inverse_binds.pop();
    }
    binding
}

fn weights(
    skin: &ufbx::SkinDeformer,
    vertex: u32,
    slots: &[Option<u32>],
    spare: u32,
) -> Vec<(u32, f32)> {
    let mut list: Vec<(u32, f32)> = Vec::new();
    if let Some(about) = skin.vertices.get(vertex as usize) {
        let first = about.weight_begin as usize;
        let all = skin
            .weights
            .get(first..first.saturating_add(about.num_weights as usize));
        for weight in all.unwrap_or_default() {
            let slot = slots.get(weight.cluster_index as usize).copied().flatten();
            let value = weight.weight as f32;
            if let Some(slot) = slot.filter(|_| value.is_finite() && value > 0.0) {
                list.push((slot, value));
            }
        }
    }
    let sum: f32 = list.iter().map(|entry| entry.1).sum();
    if !(sum.is_finite() && sum > 0.0) {
        return vec![(spare, 1.0)];
    }
    list.iter_mut().for_each(|entry| entry.1 /= sum);
    list
}

/// Adds the part's blend shapes; returns their channels.
fn morphs(
    mesh: &ufbx::Mesh,
    shape: &Shape,
    control: &[u32],
    part: &mut Part,
    budget: &mut usize,
) -> Result<Vec<u32>, FormatError> {
    let mut channels = Vec::new();
    for channel in mesh
        .blend_deformers
        .iter()
        .flat_map(|blend| &blend.channels)
    {
        let last = channel.keyframes.last().map(|key| &key.shape);
        let Some(target) = channel.target_shape.as_ref().or(last) else {
            continue;
        };
        spend(budget, control.len() * 12)?;
        let mut offsets: HashMap<u32, Vec3> = HashMap::new();
        for (&vertex, offset) in target.offset_vertices.iter().zip(&target.position_offsets) {
            let offset = DVec3::new(offset.x, offset.y, offset.z);
            let offset = shape
                .world_from_geometry
                .transform_vector3(offset)
                .as_vec3();
            if !offset.is_finite() {
                return Err(FormatError::NotFinite {
                    element: format!("blend shape '{}'", &*channel.element.name),
                });
            }
            offsets.insert(vertex, offset);
        }
        let at = |vertex: &u32| offsets.get(vertex).copied().unwrap_or_default();
        part.morphs.push(Morph {
            name: channel.element.name.to_string(),
            positions: control.iter().map(at).collect(),
            normals: Vec::new(),
        });
        part.morph_weights.push(channel.weight as f32);
        channels.push(channel.element.element_id);
    }
    Ok(channels)
}
