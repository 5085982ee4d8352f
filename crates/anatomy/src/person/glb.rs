//! A person as a plain glTF document that any viewer opens: named meshes on one rig.
//!
//! Attributes of all meshes share one buffer view a kind, so that four hundred meshes need few lines of JSON. Joints and
//! weights are bytes (core glTF); positions and normals stay floats, since quantised ones need an extension that not every viewer
//! has.

use glam::{Mat4, Vec3};
use serde_json::{Value, json};
use supple_geom::TriMesh;
use supple_geom::normals::vertex_normals;
use supple_rig::Skeleton;
use supple_rig::formats::gltf::Document;

use super::{EyesAndTongue, Person};
use crate::template::Weights;

/// Materials: name, colour (sRGB), roughness.
const MATERIALS: [(&str, [u8; 3], f32); 8] = [
    ("skin", [0xde, 0xb3, 0x9c], 0.7),
    ("muscle surface", [0xb8, 0x56, 0x4a], 0.6),
    ("skeleton surface", [0xd9, 0xcd, 0xa8], 0.7),
    ("bone", [0xef, 0xe5, 0xcc], 0.7),
    ("muscle", [0xae, 0x42, 0x38], 0.55),
    ("eyes", [0xf2, 0xee, 0xe8], 0.3),
    ("irises", [0x3f, 0x30, 0x26], 0.2),
    ("tongue", [0xad, 0x61, 0x5d], 0.5),
];
/// Colour of a tendon over that of muscle; colours of vertices are multiplied with the material's.
const TENDON: [u8; 3] = [0xe9, 0xdd, 0xd0];

/// Name of the skin's mesh and node.
pub const SKIN: &str = "skin";
/// What names of bones begin with.
pub const BONE: &str = "bone.";
/// What names of muscles begin with.
pub const MUSCLE: &str = "muscle.";

/// One mesh to write.
struct Piece<'a> {
    name: String,
    material: usize,
    mesh: TriMesh,
    weights: Box<dyn Fn(usize) -> &'a [(u32, f32)] + 'a>,
    /// Tendon at each vertex, 0 to 1; empty for no colours.
    tendon: &'a [f32],
}

/// The document, without what only Supple reads.
pub fn document(person: &Person) -> Document {
    let mut packed = Packed::new(&person.body.body.skeleton);
    for piece in pieces(person, &person.eyes_and_tongue.split()) {
        packed.add(piece);
    }
    packed.document()
}

fn pieces<'a>(person: &'a Person, eyes_and_tongue: &'a [EyesAndTongue; 3]) -> Vec<Piece<'a>> {
    let anatomy = &person.body;
    let skin = &anatomy.body.influences;
    let mut list = vec![Piece {
        name: SKIN.to_owned(),
        material: 0,
        mesh: anatomy.body.mesh.clone(),
        weights: Box::new(move |v| &skin[v]),
        tendon: &[],
    }];
    let layers = &anatomy.layers;
    for (material, positions) in [(1, &layers.muscle), (2, &layers.skeleton)] {
        // Where there are no layers the surfaces are the skin, and would flicker through it.
        let (mesh, vertices) = layered_part(positions, &layers.triangles, &layers.layered);
        list.push(Piece {
            name: MATERIALS[material].0.replace(' ', "_"),
            material,
            mesh,
            weights: Box::new(move |v| &skin[vertices[v] as usize]),
            tendon: &[],
        });
    }
    for entry in &anatomy.bones {
        list.push(Piece {
            name: format!("{BONE}{}", entry.bone.name),
            material: 3,
            mesh: entry.bone.mesh.clone(),
            weights: Box::new(move |v| entry.rig.weights(v, skin)),
            tendon: &[],
        });
    }
    for muscle in &anatomy.muscles {
        list.push(Piece {
            name: format!("{MUSCLE}{}", muscle.name),
            material: 4,
            mesh: muscle.mesh.clone(),
            weights: Box::new(move |v| muscle.rig.weights(v, skin)),
            tendon: &muscle.tendon,
        });
    }
    for (insert, material) in eyes_and_tongue.iter().zip([5, 6, 7]) {
        list.push(Piece {
            name: MATERIALS[material].0.to_owned(),
            material,
            mesh: insert.mesh.clone(),
            weights: Box::new(move |v| &insert.influences[v]),
            tendon: &[],
        });
    }
    // glTF has no empty meshes.
    list.retain(|piece| !piece.mesh.triangles.is_empty());
    list
}

/// The triangles of a surface with at least one layered corner, and the vertex of the surface for each of theirs.
fn layered_part(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    layered: &[bool],
) -> (TriMesh, Vec<u32>) {
    let mut place = vec![u32::MAX; positions.len()];
    let mut vertices = Vec::new();
    let mut mesh = TriMesh::default();
    for triangle in triangles {
        if !triangle.iter().any(|&v| layered[v as usize]) {
            continue;
        }
        mesh.triangles.push(triangle.map(|v| {
            let slot = &mut place[v as usize];
            if *slot == u32::MAX {
                *slot = vertices.len() as u32;
                vertices.push(v);
                mesh.positions.push(positions[v as usize]);
            }
            *slot
        }));
    }
    (mesh, vertices)
}

/// Attributes of all meshes, one list a kind, and the JSON that refers to them.
struct Packed {
    json: Value,
    nodes: Vec<usize>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    wide_joints: bool,
    views: [Vec<u8>; KINDS],
    inverse_binds: Vec<u8>,
}

/// Kinds of attributes: positions, normals, joints, weights, colours, short and long indices.
const KINDS: usize = 7;
const POSITIONS: usize = 0;
const NORMALS: usize = 1;
const JOINTS: usize = 2;
const WEIGHTS: usize = 3;
const COLOURS: usize = 4;
const SHORT: usize = 5;
const LONG: usize = 6;

impl Packed {
    fn new(skeleton: &Skeleton) -> Self {
        let joints = skeleton.joints();
        let children = skeleton.children();
        let mut nodes = Vec::new();
        for (joint, children) in joints.iter().zip(&children) {
            let mut node = json!({
                "name": joint.name,
                "translation": joint.rest.translation.to_array(),
                "rotation": joint.rest.rotation.normalize().to_array(),
                "scale": joint.rest.scale.to_array(),
            });
            if !children.is_empty() {
                node["children"] = json!(children);
            }
            nodes.push(node);
        }
        let mut shown: Vec<usize> = (0..joints.len())
            .filter(|&joint| joints[joint].parent.is_none())
            .collect();
        // The joints of a skin must share a root.
        if shown.len() > 1 {
            nodes.push(json!({"name": "rig", "children": shown}));
            shown = vec![nodes.len() - 1];
        }
        let mut inverse_binds = Vec::new();
        for world in skeleton.rest_worlds() {
            let matrix = Mat4::from(world.inverse()).to_cols_array();
            inverse_binds.extend(matrix.iter().flat_map(|x| x.to_le_bytes()));
        }
        let materials: Vec<Value> = MATERIALS.iter().map(material).collect();
        Packed {
            json: json!({
                "asset": {"version": "2.0", "generator": concat!("Supple ", env!("CARGO_PKG_VERSION"))},
                "scene": 0,
                "materials": materials,
                "nodes": nodes,
                "skins": [{
                    "joints": (0..joints.len()).collect::<Vec<_>>(),
                    "inverseBindMatrices": 0,
                }],
            }),
            nodes: shown,
            accessors: vec![json!({
                "bufferView": 0, "componentType": FLOAT, "count": joints.len(), "type": "MAT4",
            })],
            meshes: Vec::new(),
            wide_joints: joints.len() > 256,
            views: Default::default(),
            inverse_binds,
        }
    }

    /// Starts an accessor in a view.
    fn accessor(&mut self, view: usize, component: u32, count: usize, of: &str) -> usize {
        // View 0 holds the inverse bind matrices.
        self.accessors.push(json!({
            "bufferView": view + 1, "byteOffset": self.views[view].len(), "componentType": component,
            "count": count, "type": of,
        }));
        self.accessors.len() - 1
    }

    fn floats(&mut self, view: usize, points: &[Vec3]) -> usize {
        let index = self.accessor(view, FLOAT, points.len(), "VEC3");
        let bytes = points.iter().flat_map(|p| p.to_array());
        self.views[view].extend(bytes.flat_map(f32::to_le_bytes));
        index
    }

    fn add(&mut self, piece: Piece) {
        let mesh = &piece.mesh;
        let count = mesh.positions.len();
        let positions = self.floats(POSITIONS, &mesh.positions);
        let bounds = mesh.bounds();
        self.accessors[positions]["min"] = json!(bounds.min.to_array());
        self.accessors[positions]["max"] = json!(bounds.max.to_array());
        let normals: Vec<Vec3> = (vertex_normals(mesh).iter())
            .map(|normal| normal.normalize_or(Vec3::Y))
            .collect();
        let mut attributes = json!({
            "POSITION": positions,
            "NORMAL": self.floats(NORMALS, &normals),
        });
        let rows: Vec<([u16; 4], [u8; 4])> = (0..count)
            .map(|v| four_weights((piece.weights)(v)))
            .collect();
        let kind = if self.wide_joints { SHORTS } else { BYTES };
        attributes["JOINTS_0"] = self.accessor(JOINTS, kind, count, "VEC4").into();
        let wide = self.wide_joints;
        for (joints, _) in &rows {
            for joint in joints {
                let bytes = joint.to_le_bytes();
                self.views[JOINTS].extend(&bytes[..1 + usize::from(wide)]);
            }
        }
        let weights = self.accessor(WEIGHTS, BYTES, count, "VEC4");
        self.accessors[weights]["normalized"] = true.into();
        self.views[WEIGHTS].extend(rows.iter().flat_map(|(_, weights)| weights));
        attributes["WEIGHTS_0"] = weights.into();
        if piece.tendon.len() == count {
            let colours = self.accessor(COLOURS, BYTES, count, "VEC4");
            self.accessors[colours]["normalized"] = true.into();
            let flesh = MATERIALS[piece.material].1;
            let colours_of = piece.tendon.iter().flat_map(|&share| tint(flesh, share));
            self.views[COLOURS].extend(colours_of);
            attributes["COLOR_0"] = colours.into();
        }
        let corners = mesh.triangles.as_flattened();
        // The largest index is reserved.
        let indices = if count < usize::from(u16::MAX) {
            let index = self.accessor(SHORT, SHORTS, corners.len(), "SCALAR");
            let bytes = corners.iter().flat_map(|&v| (v as u16).to_le_bytes());
            self.views[SHORT].extend(bytes);
            index
        } else {
            let index = self.accessor(LONG, LONGS, corners.len(), "SCALAR");
            self.views[LONG].extend(corners.iter().flat_map(|v| v.to_le_bytes()));
            index
        };
        let primitive =
            json!({"attributes": attributes, "indices": indices, "material": self.paint(&piece)});
        self.meshes
            .push(json!({"name": piece.name, "primitives": [primitive]}));
        let node = json!({"name": piece.name, "mesh": self.meshes.len() - 1, "skin": 0});
        if let Some(nodes) = self.json["nodes"].as_array_mut() {
            nodes.push(node);
            self.nodes.push(nodes.len() - 1);
        }
    }

    /// Material of a piece: with colours at the vertices, the material itself is white.
    fn paint(&self, piece: &Piece) -> usize {
        match piece.tendon.is_empty() {
            true => piece.material,
            false => MATERIALS.len(),
        }
    }

    fn document(mut self) -> Document {
        let strides = [12, 12, if self.wide_joints { 8 } else { 4 }, 4, 4, 0, 0];
        let mut buffer = self.inverse_binds;
        let mut views = vec![json!({"buffer": 0, "byteOffset": 0, "byteLength": buffer.len()})];
        // Accessors count views from the first kind; kinds that hold nothing are left out below.
        let mut place = [0; KINDS];
        for (kind, bytes) in self.views.iter().enumerate() {
            if bytes.is_empty() {
                continue;
            }
            buffer.resize(buffer.len().next_multiple_of(4), 0);
            place[kind] = views.len();
            let mut view =
                json!({"buffer": 0, "byteOffset": buffer.len(), "byteLength": bytes.len()});
            match strides[kind] {
                0 => view["target"] = json!(34963),
                stride => {
                    view["byteStride"] = json!(stride);
                    view["target"] = json!(34962);
                }
            }
            buffer.extend(bytes);
            views.push(view);
        }
        for accessor in self.accessors.iter_mut().skip(1) {
            let kind = accessor["bufferView"].as_u64().unwrap_or(1) as usize - 1;
            accessor["bufferView"] = place[kind].into();
        }
        if let Some(list) = self.json["materials"].as_array_mut() {
            let mut white = material(&("muscle and tendon", [255; 3], MATERIALS[4].2));
            white["name"] = json!("muscle and tendon");
            list.push(white);
        }
        self.json["scenes"] = json!([{"nodes": self.nodes}]);
        self.json["meshes"] = self.meshes.into();
        self.json["accessors"] = self.accessors.into();
        self.json["bufferViews"] = views.into();
        self.json["buffers"] = json!([{"byteLength": buffer.len()}]);
        let mut document = Document::default();
        document.json = self.json;
        document.buffers = vec![buffer];
        document
    }
}

/// Component types of accessors.
const BYTES: u32 = 5121;
const SHORTS: u32 = 5123;
const LONGS: u32 = 5125;
const FLOAT: u32 = 5126;

fn material((name, colour, roughness): &(&str, [u8; 3], f32)) -> Value {
    let [r, g, b] = colour.map(linear);
    json!({
        "name": name,
        "pbrMetallicRoughness": {
            "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": roughness,
        },
    })
}

/// Linear colour of an sRGB byte (IEC 61966-2-1), to four digits.
fn linear(byte: u8) -> f32 {
    let x = f32::from(byte) / 255.0;
    let y = match x <= 0.04045 {
        true => x / 12.92,
        false => ((x + 0.055) / 1.055).powf(2.4),
    };
    (1e4 * y).round() / 1e4
}

/// Linear colour of flesh that is partly tendon, as bytes.
fn tint(flesh: [u8; 3], share: f32) -> [u8; 4] {
    let share = share.clamp(0.0, 1.0);
    let mix = |k: usize| {
        let value = linear(flesh[k]) * (1.0 - share) + linear(TENDON[k]) * share;
        (255.0 * value).round() as u8
    };
    [mix(0), mix(1), mix(2), 255]
}

/// The four largest weights as bytes that sum to 255.
fn four_weights(row: &[(u32, f32)]) -> ([u16; 4], [u8; 4]) {
    let mut row: Weights = row.to_vec();
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    row.truncate(4);
    let sum: f32 = row.iter().map(|entry| entry.1).sum();
    let (mut joints, mut weights) = ([0; 4], [0u8; 4]);
    if row.is_empty() || sum <= 0.0 {
        weights[0] = 255;
        return (joints, weights);
    }
    let mut left = 255;
    for (k, &(joint, weight)) in row.iter().enumerate().skip(1) {
        let share = ((255.0 * weight / sum).round() as u8).min(left);
        left -= share;
        if share > 0 {
            (joints[k], weights[k]) = (joint as u16, share);
        }
    }
    (joints[0], weights[0]) = (row[0].0 as u16, left);
    (joints, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_name_no_joint_without_weight() {
        let (joints, weights) = four_weights(&[(3, 0.1), (7, 0.6), (9, 0.299), (4, 0.001)]);
        assert_eq!(weights.iter().map(|&w| u32::from(w)).sum::<u32>(), 255);
        assert_eq!((joints[0], joints[1], joints[2], joints[3]), (7, 9, 3, 0));
        assert_eq!(weights[3], 0);
        assert_eq!(four_weights(&[]), ([0; 4], [255, 0, 0, 0]));
        assert_eq!(four_weights(&[(2, 0.5)]).1, [255, 0, 0, 0]);
    }
}
