//! What a person takes over from the template: the rig at the person's joints, fibres, thickness and landmarks.

use glam::{Mat3, Vec3};
use rayon::prelude::*;
use supple_geom::TriMesh;
use supple_rig::{Skeleton, Transform};

use crate::Layers;

/// A rig whose joints are elsewhere at rest \[m\]. Rotations and scales at rest stay; tails grow with the bone above them.
pub fn skeleton_at(skeleton: &Skeleton, joints: &[Vec3]) -> Skeleton {
    let before = skeleton.rest_worlds();
    let mut list = skeleton.joints().to_vec();
    for (index, joint) in list.iter_mut().enumerate() {
        let parent = joint.parent;
        let above = parent.map_or(glam::Affine3A::IDENTITY, |parent| glam::Affine3A {
            translation: joints[parent].into(),
            ..before[parent]
        });
        let place = above.inverse().transform_point3(joints[index]);
        if let (Some(tail), Some(parent)) = (joint.tail, parent) {
            let length = |from: Vec3, to: Vec3| from.distance(to);
            let old = length(
                before[parent].translation.into(),
                before[index].translation.into(),
            );
            let new = length(joints[parent], joints[index]);
            let grown = if old > 0.0 { new / old } else { 1.0 };
            joint.tail = Some(tail * grown);
        }
        joint.rest = Transform {
            translation: place,
            ..joint.rest
        };
    }
    match Skeleton::from_unordered(list) {
        Ok((made, _)) => made,
        // The joints keep their parents, which made a skeleton before.
        Err(_) => skeleton.clone(),
    }
}

/// Directions on a mesh after it was deformed: each is carried by the deformation of the triangles around its vertex.
pub fn carried_directions(before: &TriMesh, after: &[Vec3], directions: &[Vec3]) -> Vec<Vec3> {
    if directions.is_empty() {
        return Vec::new();
    }
    let mut sums = vec![Mat3::ZERO; before.positions.len()];
    for triangle in &before.triangles {
        let old = frame(triangle.map(|v| before.positions[v as usize]));
        let new = frame(triangle.map(|v| after[v as usize]));
        let area = old.z_axis.length_squared();
        if area <= 0.0 || old.determinant() == 0.0 {
            continue;
        }
        let gradient = new * old.inverse() * area;
        for &v in triangle {
            sums[v as usize] += gradient;
        }
    }
    (directions.iter().zip(sums))
        .map(|(&direction, sum)| (sum * direction).try_normalize().unwrap_or(direction))
        .collect()
}

/// Two edges of a triangle and its normal, as long as the square root of its area.
fn frame([a, b, c]: [Vec3; 3]) -> Mat3 {
    let normal = (b - a).cross(c - a);
    let length = normal.length();
    let unit = if length > 0.0 {
        normal / length
    } else {
        Vec3::ZERO
    };
    Mat3::from_cols(b - a, c - a, unit * length.sqrt())
}

/// Length of the lines from skin to skeleton surface inside muscles \[m\]: the template's, in proportion to the muscle layer.
pub fn carried_thickness(template: &Layers, person: &Layers, thickness: &[f32]) -> Vec<f32> {
    let depth = |layers: &Layers, v: usize| layers.muscle[v].distance(layers.skeleton[v]);
    (thickness.par_iter().enumerate())
        .map(|(v, &length)| {
            let usual = depth(template, v);
            let ratio = if usual > 0.0 {
                depth(person, v) / usual
            } else {
                0.0
            };
            length * ratio
        })
        .collect()
}

/// A point on the bones after they were deformed: it moves as the vertex nearest to it.
pub fn carried_point<'a>(
    bones: impl Iterator<Item = (&'a TriMesh, &'a [Vec3])>,
    point: Vec3,
) -> Vec3 {
    let mut nearest = (f32::INFINITY, Vec3::ZERO);
    for (before, after) in bones {
        for (old, new) in before.positions.iter().zip(after) {
            let distance = old.distance_squared(point);
            if distance < nearest.0 {
                nearest = (distance, *new - *old);
            }
        }
    }
    point + nearest.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::icosphere;

    #[test]
    fn a_moved_rig_has_its_joints_where_they_were_asked() {
        let skeleton = crate::template::example::example().body.skeleton;
        let joints = [Vec3::new(0.1, 0.2, 0.3), Vec3::new(-0.2, 0.5, 0.4)];
        let moved = skeleton_at(&skeleton, &joints);
        for (world, joint) in moved.rest_worlds().iter().zip(joints) {
            assert!(Vec3::from(world.translation).distance(joint) < 1e-6);
        }
        assert_eq!(moved.joints()[1].name, skeleton.joints()[1].name);
    }

    #[test]
    fn directions_turn_and_stretch_with_the_mesh() {
        let ball = icosphere(0.1, 3);
        let map = Mat3::from_rotation_z(0.7) * Mat3::from_diagonal(Vec3::new(1.0, 1.4, 1.0));
        let after: Vec<Vec3> = ball.positions.iter().map(|p| map * *p).collect();
        // Tangential fibres about Y.
        let fibres: Vec<Vec3> = (ball.positions.iter())
            .map(|p| Vec3::Y.cross(*p).normalize_or(Vec3::X))
            .collect();
        let carried = carried_directions(&ball, &after, &fibres);
        for (fibre, found) in fibres.iter().zip(carried) {
            let exact = (map * *fibre).normalize();
            assert!(exact.dot(found) > 0.999, "{exact} {found}");
        }
    }

    #[test]
    fn thickness_follows_the_layer() {
        let template = crate::template::example::example();
        let mut person = template.layers.clone();
        for (m, b) in person.muscle.iter_mut().zip(&person.skeleton) {
            *m = *b + 1.5 * (*m - *b);
        }
        let found = carried_thickness(&template.layers, &person, &template.thickness);
        for (found, before) in found.iter().zip(&template.thickness) {
            assert!((found - 1.5 * before).abs() < 1e-6);
        }
    }
}
