//! Guests as odd as files are: meshes and skeletons that exporters leave behind, hundreds of small shells, and a giant.

use std::f32::consts::TAU;

use glam::{Affine3A, Vec3};
use supple_geom::{TriMesh, shapes};
use supple_rig::character::Influences;
use supple_rig::skeleton::JointKind;
use supple_rig::{Character, Joint, Skeleton, Transform};

use super::figure::Figure;
use super::made::{ADULT, Person, boxes, chain, line, made, moved, skeleton};

/// Names of the odd guests.
pub const ODD_NAMES: [&str; 7] = [
    "unwelded",
    "fins",
    "stretched",
    "mirrored",
    "hundredfold",
    "beads",
    "giant",
];

/// An odd guest by name.
pub fn odd(name: &str) -> Option<Character> {
    let mut character = match name {
        "unwelded" => unwelded(made("coarse")?),
        "fins" => fins(made("coarse")?),
        "stretched" => stretched(made("dog")?),
        "mirrored" => below_helper(made("coarse")?, Vec3::new(-1.0, 1.0, 1.0), 1.0),
        "hundredfold" => below_helper(made("coarse")?, Vec3::splat(0.01), 100.0),
        "beads" => beads().character(name, false),
        "giant" => giant().character(name, true),
        _ => return None,
    };
    character.name = name.to_owned();
    Some(character)
}

/// Every triangle has corners of its own.
fn unwelded(mut character: Character) -> Character {
    for part in &mut character.parts {
        let corners: Vec<u32> = part.mesh.triangles.iter().flatten().copied().collect();
        let weights = |&v: &u32| part.binding.influences.of(v as usize).to_vec();
        part.binding.influences = Influences::from_lists(corners.iter().map(weights));
        let place = |&v: &u32| part.mesh.positions[v as usize];
        part.mesh = TriMesh {
            positions: corners.iter().map(place).collect(),
            triangles: (0..corners.len() as u32 / 3)
                .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
                .collect(),
        };
    }
    character
}

/// Edges with three triangles, triangles without area, and triangles that are there twice, back and front.
fn fins(mut character: Character) -> Character {
    for part in &mut character.parts {
        let mesh = &mut part.mesh;
        let lists = (0..mesh.positions.len()).map(|v| part.binding.influences.of(v).to_vec());
        let mut lists: Vec<_> = lists.collect();
        for t in (0..mesh.triangles.len()).step_by(17) {
            let [a, b, c] = mesh.triangles[t];
            let [p, q, r] = mesh.triangles[t].map(|v| mesh.positions[v as usize]);
            let out = (q - p).cross(r - p).normalize_or_zero();
            let tip = mesh.positions.len() as u32;
            mesh.positions
                .push(0.5 * (p + q) + 0.3 * p.distance(q) * out);
            lists.push(lists[a as usize].clone());
            mesh.triangles
                .extend([[a, b, tip], [a, a, c], [b, b, b], [c, b, a]]);
        }
        part.binding.influences = Influences::from_lists(lists);
    }
    character
}

/// Joints that are scaled by different factors along their axes; the mesh stays as it is.
fn stretched(mut character: Character) -> Character {
    let mut joints = character.skeleton.joints().to_vec();
    let worlds = character.skeleton.rest_worlds();
    let mut scales: Vec<Vec3> = Vec::new();
    for (index, joint) in joints.iter_mut().enumerate() {
        let above = joint.parent.map_or(Vec3::ONE, |parent| scales[parent]);
        let own = match index % 3 {
            1 => Vec3::new(1.06, 0.96, 1.0),
            2 => Vec3::new(0.95, 1.0, 1.04),
            _ => Vec3::ONE,
        };
        joint.rest.translation /= above;
        joint.rest.scale = own;
        scales.push(above * own);
        joint.tail = joint.tail.map(|tail| tail / scales[index]);
    }
    for part in &mut character.parts {
        let binding = &mut part.binding;
        for (&joint, inverse) in binding.joints.iter().zip(&mut binding.inverse_binds) {
            let world = worlds[joint] * Affine3A::from_scale(scales[joint]);
            *inverse = world.inverse();
        }
    }
    character.skeleton = Skeleton::from_unordered(joints).unwrap_or_default().0;
    character
}

/// The whole character, enlarged by a factor, below a helper that scales it.
fn below_helper(mut character: Character, scale: Vec3, enlarged: f32) -> Character {
    let mut joints = vec![Joint {
        name: "armature".to_owned(),
        parent: None,
        rest: Transform {
            scale,
            ..Transform::IDENTITY
        },
        tail: None,
        kind: JointKind::Helper,
    }];
    for joint in character.skeleton.joints() {
        let mut joint = joint.clone();
        joint.parent = Some(joint.parent.map_or(0, |parent| parent + 1));
        joint.rest.translation *= enlarged;
        joint.tail = joint.tail.map(|tail| tail * enlarged);
        joints.push(joint);
    }
    character.skeleton = Skeleton::from_unordered(joints).unwrap_or_default().0;
    for part in &mut character.parts {
        for p in &mut part.mesh.positions {
            *p *= enlarged;
        }
        part.binding.joints.iter_mut().for_each(|joint| *joint += 1);
        for inverse in &mut part.binding.inverse_binds {
            inverse.translation *= enlarged;
        }
    }
    for joint in character
        .humanoid
        .iter_mut()
        .flat_map(|map| map.values_mut())
    {
        *joint += 1;
    }
    character
}

/// Bones of the beads and of [`cord`], with limbs of a radius \[m\].
fn string(radius: f32) -> Figure {
    let mut figure = Figure::default();
    let spine = line(Vec3::new(0.0, 0.1, -1.2), Vec3::new(0.0, 0.1, 1.2), 8);
    chain(&mut figure, ("spine", None), &spine, |_| radius);
    figure
}

/// Three hundred balls in fifty rings around a string of bones, of twelve or forty-two vertices.
fn beads() -> Figure {
    let mut figure = string(0.07);
    let (rings, around) = (50, 6);
    let mut mesh = TriMesh::default();
    for ring in 0..rings {
        let z = 1.2 * (2.0 * (ring as f32 + 0.5) / rings as f32 - 1.0);
        for k in 0..around {
            let angle = TAU * (k as f32 / around as f32) + 0.5 * ring as f32;
            let at = Vec3::new(0.06 * angle.cos(), 0.1 + 0.06 * angle.sin(), z);
            mesh.append(&moved(shapes::icosphere(0.025, ring as u32 % 2), at));
        }
    }
    figure.cloth(mesh);
    figure
}

/// One skin around the bones of the beads, of at least three times their vertices.
pub fn cord() -> Character {
    let mut figure = string(0.12);
    figure.skin(0.0075, 0.0);
    figure.character("cord", false)
}

/// A robot of four and a half metres with a belly of flesh, which swings once in about a second.
fn giant() -> Figure {
    let height = 4.5;
    let mut figure = skeleton(&Person { height, ..ADULT });
    for (joint, from, to, width) in boxes(&figure, height) {
        // Boxes that do not meet are shells of their own, and rigid.
        let size = 0.9 * (to - from).abs().max(Vec3::splat(0.6 * width));
        figure.piece(joint, moved(shapes::cuboid(size, 2), 0.5 * (from + to)));
    }
    let mut belly = shapes::icosphere(1.0, 3);
    for p in &mut belly.positions {
        *p *= height * Vec3::new(0.2, 0.18, 0.2);
    }
    let at = figure.place(figure.find("spine")) + 0.08 * height * Vec3::Z;
    figure.cloth(moved(belly, at));
    figure
}
