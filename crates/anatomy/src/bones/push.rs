//! What is still outside the skin after the fit, pushed in locally and smoothly.

use std::collections::BTreeMap;

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::{Surface, TriMesh};

use super::articulations::pairs;
use super::report::{BoneRegion, bone_region};
use crate::Bone;

/// Depth that vertices are pushed to \[m\].
const DEPTH: f32 = 0.0008;
/// Reach of a push \[m\]: a bone moves as a whole across this distance, so that it is bent rather than dented. Digits have less.
const REACH: f32 = 0.030;
const DIGIT_REACH: f32 = 0.012;
/// Bone nearer than this to the bone it meets stays; from the second distance on it is free \[m\].
const HELD: [f32; 2] = [0.003, 0.012];
/// Farthest that is pushed \[m\]: what is farther outside is no small rest, and pushing would tear the bone.
const MOST: f32 = 0.008;
/// Rounds of pushing.
const ROUNDS: usize = 12;

/// Pushes vertices inside; places where bones meet stay. Returns the largest push of each bone that was changed \[m\].
pub(super) fn push_inside(bones: &mut [Bone], skin: &Surface) -> BTreeMap<String, f32> {
    let changed: Vec<Option<(usize, TriMesh, f32)>> = (0..bones.len())
        .into_par_iter()
        .map(|index| {
            let bone = &bones[index];
            let needs = needs(&bone.mesh, skin);
            if needs.is_empty() {
                return None;
            }
            let free = freedom(bones, index);
            let reach = match bone_region(&bone.name) {
                BoneRegion::Hands | BoneRegion::Feet => DIGIT_REACH,
                _ => REACH,
            };
            let mut mesh = bone.mesh.clone();
            let mut needs = needs;
            for _ in 0..ROUNDS {
                let farthest = needs
                    .iter()
                    .map(|(_, need)| need.length())
                    .fold(0.0, f32::max);
                if farthest > MOST {
                    break;
                }
                push(&mut mesh, &needs, &free, reach);
                needs = self::needs(&mesh, skin);
                if needs.is_empty() {
                    break;
                }
            }
            let moved = (mesh.positions.iter().zip(&bone.mesh.positions))
                .map(|(a, b)| a.distance(*b))
                .fold(0.0, f32::max);
            Some((index, mesh, moved))
        })
        .collect();
    let mut pushed = BTreeMap::new();
    for (index, mesh, moved) in changed.into_iter().flatten() {
        bones[index].mesh = mesh;
        pushed.insert(bones[index].name.clone(), moved);
    }
    pushed
}

/// Vertices that are not deep enough, and the way in.
fn needs(mesh: &TriMesh, skin: &Surface) -> Vec<(Vec3, Vec3)> {
    (mesh.positions.iter())
        .filter_map(|&p| {
            let inside = skin.contains(p);
            let closest = if inside {
                skin.closest_point_within(p, DEPTH)?
            } else {
                skin.closest_point(p)?
            };
            let inward = (p - closest.position) * if inside { 1.0 } else { -1.0 };
            let direction = inward
                .try_normalize()
                .unwrap_or_else(|| -skin.mesh().triangle_normal(closest.triangle as usize));
            let depth = if inside {
                closest.distance
            } else {
                -closest.distance
            };
            Some((p, direction * (DEPTH - depth)))
        })
        .collect()
}

/// How free each vertex is: none where the bone meets another.
fn freedom(bones: &[Bone], index: usize) -> Vec<f32> {
    let bone = &bones[index];
    let mut others = Vec::new();
    for pair in pairs() {
        for (mine, other) in [(0, 1), (1, 0)] {
            if pair.bones[mine].contains(&bone.name) {
                others.extend(pair.bones[other].iter().cloned());
            }
        }
    }
    let met = bones
        .iter()
        .filter(|b| others.contains(&b.name) && b.name != bone.name);
    let met = Surface::new(TriMesh::merged(met.map(|b| &b.mesh)));
    (bone.mesh.positions.iter())
        .map(|&p| {
            let near = met.closest_point_within(p, HELD[1]);
            near.map_or(1.0, |found| {
                ((found.distance - HELD[0]) / (HELD[1] - HELD[0])).clamp(0.0, 1.0)
            })
        })
        .collect()
}

/// Moves each vertex by the mean of the needs around it, fading with the distance from the nearest.
fn push(mesh: &mut TriMesh, needs: &[(Vec3, Vec3)], free: &[f32], reach: f32) {
    for (p, free) in mesh.positions.iter_mut().zip(free) {
        let mut sum = Vec3::ZERO;
        let mut total = 0.0;
        let mut most = 0.0_f32;
        for (at, need) in needs {
            let weight = (1.0 - at.distance_squared(*p) / (reach * reach))
                .max(0.0)
                .powi(2);
            sum += *need * weight;
            total += weight;
            most = most.max(weight);
        }
        if total > 0.0 {
            *p += sum / total * most * *free;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes;

    #[test]
    fn a_bone_that_pokes_out_is_bent_inside() {
        let skin = Surface::new(shapes::icosphere(0.1, 4));
        let mut mesh = shapes::capsule(0.01, 0.12, 16, 24);
        mesh.positions
            .iter_mut()
            .for_each(|p| *p = Vec3::new(p.x + 0.07, p.z, p.y));
        let mut bones = vec![Bone {
            name: "femur_l".into(),
            mesh: mesh.clone(),
        }];
        assert!(mesh.positions.iter().any(|&p| !skin.contains(p)));
        let pushed = push_inside(&mut bones, &skin);
        assert!(bones[0].mesh.positions.iter().all(|&p| skin.contains(p)));
        assert!(pushed["femur_l"] > 0.001 && pushed["femur_l"] < 0.03);
        assert!((bones[0].mesh.signed_volume() / mesh.signed_volume() - 1.0).abs() < 0.1);
    }
}
