//! Template skeletons, scaled to a mesh's box: a start for placing joints by hand. Joints are named by role.

use glam::{Quat, Vec3};
use supple_geom::TriMesh;

use crate::keyed::mannequin;
use crate::skeleton::JointKind;
use crate::skeleton_fit::facing;
use crate::{Joint, Skeleton, Transform};

/// Height and half the arm span of the body around the mannequin's joints \[m\].
const MANNEQUIN_SIZE: (f32, f32) = (1.75, 0.88);
/// The mannequin's shoulder joint: what lies farther out is scaled to the arm span \[m\].
const MANNEQUIN_SHOULDER: f32 = 0.17;

/// A quadruped: name, parent, and position of the left and middle joints in its box: half widths to the left, heights, half
/// lengths forwards. The right side is mirrored.
const QUADRUPED: [(&str, &str, [f32; 3]); 15] = [
    ("hips", "", [0.0, 0.66, -0.55]),
    ("spine", "hips", [0.0, 0.68, -0.2]),
    ("chest", "spine", [0.0, 0.68, 0.2]),
    ("neck", "chest", [0.0, 0.76, 0.5]),
    ("head", "neck", [0.0, 0.88, 0.72]),
    ("tail", "hips", [0.0, 0.66, -0.75]),
    ("tailEnd", "tail", [0.0, 0.6, -0.92]),
    ("leftHindUpperLeg", "hips", [0.45, 0.58, -0.5]),
    ("leftHindLowerLeg", "leftHindUpperLeg", [0.45, 0.34, -0.46]),
    ("leftHindFoot", "leftHindLowerLeg", [0.45, 0.14, -0.56]),
    ("leftHindToes", "leftHindFoot", [0.45, 0.03, -0.48]),
    ("leftFrontUpperLeg", "chest", [0.45, 0.56, 0.36]),
    ("leftFrontLowerLeg", "leftFrontUpperLeg", [0.45, 0.34, 0.3]),
    ("leftFrontFoot", "leftFrontLowerLeg", [0.45, 0.12, 0.33]),
    ("leftFrontToes", "leftFrontFoot", [0.45, 0.03, 0.4]),
];

/// A kind of template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// A person in T-pose, with VRM joint names.
    Humanoid,
    /// An animal on four legs.
    Quadruped,
}

/// A template's skeleton in the box of a mesh that stands on its feet, Y up.
pub fn template(mesh: &TriMesh, template: Template) -> Skeleton {
    match template {
        Template::Humanoid => humanoid(mesh),
        Template::Quadruped => quadruped(mesh),
    }
}

fn humanoid(mesh: &TriMesh) -> Skeleton {
    let turn = facing(mesh).unwrap_or(Quat::IDENTITY);
    let skeleton = mannequin();
    let (height, span) = MANNEQUIN_SIZE;
    let shoulder = MANNEQUIN_SHOULDER;
    let places = skeleton.rest_worlds();
    let joints = skeleton.joints().iter().zip(places);
    in_box(mesh, turn, |half_width, tall, _| {
        let scale = tall / height;
        let arm = ((half_width - scale * shoulder) / (span - shoulder)).max(0.5 * scale);
        let place = |p: Vec3| {
            let inner = p.x.clamp(-shoulder, shoulder);
            Vec3::new(
                scale * inner + arm * (p.x - inner),
                scale * p.y,
                scale * p.z,
            )
        };
        joints
            .map(|(joint, world)| {
                let at = place(world.translation.into());
                (joint.name.clone(), joint.parent, at)
            })
            .collect()
    })
}

fn quadruped(mesh: &TriMesh) -> Skeleton {
    in_box(mesh, along_body(mesh), |half_width, tall, half_length| {
        let mut joints: Vec<(String, Option<usize>, Vec3)> = Vec::new();
        for (side, mirror) in [("left", 1.0), ("right", -1.0)] {
            for (name, parent, [x, y, z]) in QUADRUPED {
                if !name.starts_with("left") && side == "right" {
                    continue;
                }
                let parent = parent.replace("left", side);
                let parent = joints.iter().position(|(name, ..)| *name == parent);
                let place = Vec3::new(mirror * x * half_width, y * tall, z * half_length);
                joints.push((name.replace("left", side), parent, place));
            }
        }
        joints
    })
}

/// Rotation from +Z to the head of a four-legged body: along its longer horizontal side, towards the end that is higher.
fn along_body(mesh: &TriMesh) -> Quat {
    let bounds = mesh.bounds();
    let (size, middle) = (bounds.size(), bounds.center());
    let axis = if size.x > size.z { Vec3::X } else { Vec3::Z };
    let reach = 0.25 * size.dot(axis);
    let height = |end: f32| {
        let beyond = |p: &&Vec3| end * (**p - middle).dot(axis) > reach;
        let heights = mesh.positions.iter().filter(beyond).map(|p| p.y);
        heights.fold(f32::NEG_INFINITY, f32::max)
    };
    let forwards = if height(1.0) >= height(-1.0) {
        axis
    } else {
        -axis
    };
    Quat::from_rotation_y(forwards.x.atan2(forwards.z))
}

/// The skeleton of joints that are given in a box of which the half width, height and half length are known: its floor's
/// middle is the origin.
fn in_box(
    mesh: &TriMesh,
    turn: Quat,
    joints: impl FnOnce(f32, f32, f32) -> Vec<(String, Option<usize>, Vec3)>,
) -> Skeleton {
    let mut turned = TriMesh {
        positions: mesh.positions.iter().map(|&p| turn.inverse() * p).collect(),
        triangles: Vec::new(),
    }
    .bounds();
    if turned.is_empty() {
        (turned.min, turned.max) = (Vec3::ZERO, Vec3::ONE);
    }
    let (size, middle) = (turned.size(), turned.center());
    let floor = Vec3::new(middle.x, turned.min.y, middle.z);
    let joints = joints(0.5 * size.x, size.y, 0.5 * size.z);
    let worlds: Vec<Vec3> = joints.iter().map(|(.., at)| turn * (*at + floor)).collect();
    let joints = joints.iter().zip(&worlds).map(|((name, parent, _), &at)| {
        let origin = parent.map_or(Vec3::ZERO, |parent| worlds[parent]);
        Joint {
            name: name.clone(),
            parent: *parent,
            rest: Transform::from_translation(at - origin),
            tail: None,
            kind: JointKind::Bone,
        }
    });
    match Skeleton::from_unordered(joints.collect()) {
        Ok((skeleton, _)) => skeleton,
        Err(error) => unreachable!("the templates' tables name parents first: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box and a head at one end of it.
    fn animal(towards: Vec3) -> TriMesh {
        let size = Vec3::new(0.4, 0.8, 0.4) + 1.2 * towards.abs();
        let mut positions: Vec<Vec3> = (0..8)
            .map(|corner| {
                let high = |axis: usize| f32::from(corner >> axis & 1 == 1);
                Vec3::new(high(0) - 0.5, high(1), high(2) - 0.5) * size
            })
            .collect();
        positions.push(0.75 * towards + Vec3::Y);
        TriMesh {
            positions,
            triangles: Vec::new(),
        }
    }

    #[test]
    fn a_quadrupeds_head_is_where_it_is_high() {
        for towards in [Vec3::X, -Vec3::X, Vec3::Z, -Vec3::Z] {
            let mesh = animal(towards);
            let skeleton = template(&mesh, Template::Quadruped);
            let worlds = skeleton.rest_worlds();
            let at = |name: &str| Vec3::from(worlds[skeleton.find(name).unwrap()].translation);
            assert!((at("head") - at("hips")).dot(towards) > 0.5, "{towards}");
            let left = at("leftFrontFoot") - at("rightFrontFoot");
            assert!(Vec3::Y.cross(towards).dot(left) > 0.1, "{towards}");
            let bounds = mesh.bounds();
            assert!(worlds.iter().all(|w| bounds.contains(w.translation.into())));
        }
    }

    #[test]
    fn a_person_fills_its_box() {
        let mesh = TriMesh {
            positions: vec![Vec3::new(-1.0, 1.0, 0.2), Vec3::new(1.0, 3.0, -0.2)],
            triangles: Vec::new(),
        };
        let skeleton = template(&mesh, Template::Humanoid);
        let worlds = skeleton.rest_worlds();
        let hand = worlds[skeleton.find("leftHand").unwrap()].translation;
        assert!((0.7..0.9).contains(&hand.x), "{hand}");
        let bounds = mesh.bounds();
        assert!(
            worlds
                .iter()
                .all(|w| bounds.contains(w.translation.into()) || w.translation.z.abs() < 0.3)
        );
        // Nothing to stand in is no panic.
        template(&TriMesh::default(), Template::Humanoid);
    }
}
