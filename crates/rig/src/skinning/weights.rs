//! Automatic skin weights by bone heat (Baran and Popović 2007, "Automatic Rigging and Animation of 3D
//! Characters", section 4).
//!
//! Every vertex is heated by the nearest visible bone, and heat diffuses over the skin: `(L + M H) w = M H p` for each
//! bone, with `H = 1 / d²` and `p` one where the bone is nearest. Seams are welded first. A connected component that sees no
//! bone (clothes around a body) is heated by its nearest bones.

use glam::{Affine3A, DVec3, Mat4, Vec3};
use rayon::prelude::*;
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::normals::vertex_normals;
use supple_geom::shells::shells;
use supple_geom::sparse::{Factor, SymmetricCsc};
use supple_geom::surface::Ray;
use supple_geom::weld::weld;
use supple_geom::{Surface, TriMesh};

use crate::character::{Binding, Influences};
use crate::skeleton::JointKind;
use crate::{Character, Part, Skeleton, Transform};

/// Most weights per vertex; engines read four.
const MAX_INFLUENCES: usize = 4;
/// Smaller weights are dropped: their effect is invisible but costs as much as that of others.
const MIN_WEIGHT: f64 = 0.01;
/// A connected component counts as seeing no bone if the fraction of its vertices that see one is below this.
const MIN_VISIBLE_FRACTION: f64 = 0.1;

/// Why weights could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WeightsError {
    /// The skeleton has no joints.
    #[error("the skeleton has no joints to bind the mesh to")]
    NoJoints,
    /// The mesh is invalid.
    #[error("the mesh cannot be bound: {0}")]
    Mesh(#[from] supple_geom::MeshError),
    /// The heat equation could not be solved.
    #[error(
        "automatic weights failed: the heat equation could not be solved because the mesh's triangles are too degenerate"
    )]
    Unsolvable,
}

/// A joint that can move skin, and its bone segments.
struct Source {
    joint: usize,
    segments: Vec<(Vec3, Vec3)>,
}

/// The bone that heats a vertex.
#[derive(Clone, Copy)]
struct Heat {
    source: usize,
    distance: f32,
    visible: bool,
}

/// Binds a mesh in world space to a skeleton at rest, with at most four weights per vertex, which sum to one.
pub fn automatic_binding(mesh: &TriMesh, skeleton: &Skeleton) -> Result<Binding, WeightsError> {
    mesh.check()?;
    let sources = sources(skeleton);
    if sources.is_empty() {
        return Err(WeightsError::NoJoints);
    }
    let rest = skeleton.rest_worlds();
    let welded = weld(mesh, 0.0);
    let heats = heat_vertices(&welded.mesh, &sources);
    let lists = spread_heat(&welded.mesh, &heats, sources.len())?;
    Ok(Binding {
        inverse_binds: sources
            .iter()
            .map(|source| rest[source.joint].inverse())
            .collect(),
        joints: sources.iter().map(|source| source.joint).collect(),
        influences: Influences::from_lists(welded.spread(&lists)),
        computed: true,
    })
}

/// Like [`automatic_binding`], for a part that is already bound. Its bind space is kept.
pub fn automatic_rebinding(character: &Character, part: &Part) -> Result<Binding, WeightsError> {
    let worlds = character.bind_worlds();
    let slot = (part.binding.joints.iter()).zip(&part.binding.inverse_binds);
    let world_from_bind = (slot.into_iter().next())
        .and_then(|(&joint, inverse)| Some(*worlds.get(joint)? * *inverse))
        .unwrap_or_default();
    let mut bind_pose = character.skeleton.clone();
    for (index, joint) in character.skeleton.joints().iter().enumerate() {
        let above = joint
            .parent
            .map_or(Affine3A::IDENTITY, |parent| worlds[parent]);
        let local = Mat4::from(above.inverse() * worlds[index]);
        *bind_pose.rest_mut(index) = Transform::from_matrix(&local);
    }
    let place = |&point: &Vec3| world_from_bind.transform_point3(point);
    let mesh = TriMesh {
        positions: part.mesh.positions.iter().map(place).collect(),
        triangles: part.mesh.triangles.clone(),
    };
    let mut binding = automatic_binding(&mesh, &bind_pose)?;
    for (inverse, &joint) in binding.inverse_binds.iter_mut().zip(&binding.joints) {
        *inverse = worlds[joint].inverse() * world_from_bind;
    }
    Ok(binding)
}

/// All joints with a bone. A leaf without a tail is extended by the length of the bone before it.
fn sources(skeleton: &Skeleton) -> Vec<Source> {
    let mut segments: Vec<Vec<(Vec3, Vec3)>> = vec![Vec::new(); skeleton.len()];
    let bones = skeleton.bones();
    for bone in &bones {
        segments[bone.joint].push((bone.from, bone.to));
    }
    for bone in &bones {
        let leaf = bone.child.filter(|&child| {
            segments[child].is_empty() && skeleton.joints()[child].kind == JointKind::Bone
        });
        if let Some(leaf) = leaf {
            segments[leaf].push((bone.to, bone.to + 0.5 * (bone.to - bone.from)));
        }
    }
    let mut sources: Vec<Source> = (segments.into_iter().enumerate())
        .filter(|(_, segments)| !segments.is_empty())
        .map(|(joint, segments)| Source { joint, segments })
        .collect();
    if sources.is_empty() && !skeleton.is_empty() {
        // A single joint, or all joints at one point.
        let place = Vec3::from(skeleton.rest_worlds()[0].translation);
        sources.push(Source {
            joint: 0,
            segments: vec![(place, place)],
        });
    }
    sources
}

/// The nearest visible bone of each vertex, or the nearest bone if none is visible.
fn heat_vertices(mesh: &TriMesh, sources: &[Source]) -> Vec<Heat> {
    let surface = Surface::new(mesh.clone());
    let normals = vertex_normals(mesh);
    let size = mesh.bounds().diagonal();
    (0..mesh.positions.len())
        .into_par_iter()
        .map(|vertex| {
            let place = mesh.positions[vertex];
            let mut near: Vec<(f32, usize, Vec3)> = (sources.iter().enumerate())
                .map(|(index, source)| {
                    let (distance, point) = nearest_on(source, place);
                    (distance, index, point)
                })
                .collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let sees = |point: Vec3| can_see(&surface, place, normals[vertex], point, size);
            // Only the nearest few are tested: a hidden nearest bone is usually in another limb.
            let seen = near.iter().take(6).find(|&&(_, _, point)| sees(point));
            let &(distance, source, _) = seen.unwrap_or(&near[0]);
            Heat {
                source,
                distance,
                visible: seen.is_some() && place.is_finite(),
            }
        })
        .collect()
}

/// Distance to a joint's nearest segment, and the nearest point on it.
fn nearest_on(source: &Source, place: Vec3) -> (f32, Vec3) {
    let mut best = (f32::INFINITY, place);
    for &(from, to) in &source.segments {
        let along = to - from;
        let t = (place - from).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
        let point = from + t.clamp(0.0, 1.0) * along;
        let distance = point.distance(place);
        if distance < best.0 {
            best = (distance, point);
        }
    }
    best
}

/// Whether the segment to a point runs inwards and crosses no other skin.
fn can_see(surface: &Surface, place: Vec3, normal: Vec3, point: Vec3, size: f32) -> bool {
    let way = point - place;
    let distance = way.length();
    let lift = 1e-4 * size;
    if distance < 4.0 * lift {
        return true;
    }
    // A slight outward slant is common, because bones often lie off the limb's centre.
    if way.dot(normal) > 0.3 * distance {
        return false;
    }
    let origin = place + way * (lift / distance) - normal * lift;
    let ray = Ray {
        origin,
        direction: point - origin,
    };
    !surface.any_hit(ray, 1.0)
}

/// Solves the heat equation for all bones and keeps the largest weights.
fn spread_heat(
    mesh: &TriMesh,
    heats: &[Heat],
    bones: usize,
) -> Result<Vec<Vec<(u32, f32)>>, WeightsError> {
    let count = mesh.positions.len();
    let positions: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let laplacian = cotan_laplacian(&positions, &mesh.triangles, Clamp::NON_NEGATIVE);
    let heated = heated(mesh, heats);
    let largest = laplacian
        .mass
        .iter()
        .fold(1e-12_f64, |m, &mass| m.max(mass));
    let mut diagonal = vec![0.0; count];
    let mut right = vec![0.0; count];
    for vertex in 0..count {
        let heat = heats[vertex];
        let mass = laplacian.mass[vertex].max(1e-4 * largest);
        let distance = f64::from(heat.distance).max(1e-3 * largest.sqrt());
        // A small heat term everywhere keeps the matrix regular where no bone is visible.
        let share = if heated[vertex] { 1.0 } else { 1e-4 };
        let strength = if distance.is_finite() {
            share * mass / (distance * distance)
        } else {
            1.0
        };
        diagonal[vertex] = strength;
        right[vertex] = strength;
    }
    let mut entries = Vec::with_capacity(count + laplacian.edges.len());
    for (&[a, b], &weight) in laplacian.edges.iter().zip(&laplacian.weights) {
        let (a, b) = (a as usize, b as usize);
        diagonal[a] += weight;
        diagonal[b] += weight;
        entries.push((a.max(b) as u32, a.min(b) as u32, -weight));
    }
    entries.extend((0..count).map(|vertex| (vertex as u32, vertex as u32, diagonal[vertex])));
    let matrix =
        SymmetricCsc::from_entries(count, entries).map_err(|_| WeightsError::Unsolvable)?;
    let factor = Factor::new(&matrix).map_err(|_| WeightsError::Unsolvable)?;
    let temperatures = temperatures(&factor, heats, &right, bones);
    Ok((0..count)
        .map(|vertex| {
            let all = (0..bones).map(|bone| {
                (
                    bone as u32,
                    f64::from(temperatures[bone / 3][vertex][bone % 3]),
                )
            });
            strongest(all, heats[vertex].source as u32)
        })
        .collect())
}

/// The temperature field of each bone, three bones per solve.
fn temperatures(
    factor: &Factor,
    heats: &[Heat],
    right: &[f64],
    bones: usize,
) -> Vec<Vec<[f32; 3]>> {
    let solve = |first: usize| {
        let mut columns = vec![[0.0; 3]; heats.len()];
        for ((column, heat), &strength) in columns.iter_mut().zip(heats).zip(right) {
            if (first..first + 3).contains(&heat.source) {
                column[heat.source - first] = strength as f32;
            }
        }
        factor.solve3(&mut columns);
        columns
    };
    (0..bones.div_ceil(3))
        .map(|triple| solve(3 * triple))
        .collect()
}

/// Vertices that take heat: those that see a bone, and all vertices of components that see none.
fn heated(mesh: &TriMesh, heats: &[Heat]) -> Vec<bool> {
    let components = shells(mesh);
    let mut visible_and_all = vec![(0_u32, 0_u32); components.count];
    let component_of = |vertex: usize| {
        components
            .of_vertex
            .get(vertex)
            .map(|&component| component as usize)
    };
    for (vertex, heat) in heats.iter().enumerate() {
        if let Some(counts) =
            component_of(vertex).and_then(|component| visible_and_all.get_mut(component))
        {
            counts.0 += u32::from(heat.visible);
            counts.1 += 1;
        }
    }
    let sees_no_bone = |vertex: usize| {
        let counts = component_of(vertex).and_then(|component| visible_and_all.get(component));
        counts.is_none_or(|&(seen, all)| f64::from(seen) < MIN_VISIBLE_FRACTION * f64::from(all))
    };
    (heats.iter().enumerate())
        .map(|(vertex, heat)| heat.visible || sees_no_bone(vertex))
        .collect()
}

/// The largest weights, normalised; all on `nearest` if the heat is not a number.
fn strongest(all: impl Iterator<Item = (u32, f64)>, nearest: u32) -> Vec<(u32, f32)> {
    let mut list: Vec<(u32, f64)> = all.filter(|&(_, weight)| weight > MIN_WEIGHT).collect();
    list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    list.truncate(MAX_INFLUENCES);
    let total: f64 = list.iter().map(|&(_, weight)| weight).sum();
    if !(total.is_finite() && total > 0.0) {
        return vec![(nearest, 1.0)];
    }
    list.into_iter()
        .map(|(bone, weight)| (bone, (weight / total) as f32))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Joint, Transform};
    use supple_geom::shapes::capsule;

    fn joint(parent: Option<usize>, offset: Vec3, tail: Option<Vec3>) -> Joint {
        Joint {
            name: String::new(),
            parent,
            rest: Transform::from_translation(offset),
            tail,
            kind: JointKind::Bone,
        }
    }

    /// Two upright legs side by side, closer than they are thick, each with two bones.
    fn legs() -> (TriMesh, Skeleton) {
        let mut mesh = TriMesh::default();
        let mut joints = vec![joint(None, Vec3::new(0.0, 1.2, 0.0), None)];
        for side in [-1.0_f32, 1.0] {
            let mut leg = capsule(0.1, 1.0, 16, 20);
            let middle = leg.bounds().center();
            for place in &mut leg.positions {
                *place += Vec3::X * 0.11 * side - middle;
            }
            mesh.append(&leg);
            let hip = joints.len();
            joints.push(joint(Some(0), Vec3::new(0.11 * side, -0.75, 0.0), None));
            joints.push(joint(Some(hip), -Vec3::Y * 0.45, Some(-Vec3::Y * 0.45)));
        }
        (mesh, Skeleton::from_unordered(joints).unwrap().0)
    }

    #[test]
    fn weights_do_not_cross_between_legs() {
        let (mesh, skeleton) = legs();
        let binding = automatic_binding(&mesh, &skeleton).unwrap();
        let mut blended = 0;
        for (vertex, place) in mesh.positions.iter().enumerate() {
            let own = binding.influences.of(vertex);
            let sum: f32 = own.iter().map(|&(_, weight)| weight).sum();
            assert!((sum - 1.0).abs() < 1e-6 && own.len() <= MAX_INFLUENCES);
            let right_side = place.x > 0.0;
            for &(slot, _) in own {
                let joint = binding.joints[slot as usize];
                assert!(joint == 0 || (joint >= 3) == right_side, "{place}: {joint}");
            }
            blended += usize::from(own.len() > 1);
        }
        assert!(blended > 20, "weights blend around the knees: {blended}");
    }

    #[test]
    fn weights_are_smooth_along_edges() {
        let (mesh, skeleton) = legs();
        let binding = automatic_binding(&mesh, &skeleton).unwrap();
        let weight = |vertex: u32, slot: u32| {
            let own = binding.influences.of(vertex as usize);
            own.iter()
                .find(|entry| entry.0 == slot)
                .map_or(0.0, |e| e.1)
        };
        for triangle in &mesh.triangles {
            for slot in 0..binding.joints.len() as u32 {
                let step = weight(triangle[0], slot) - weight(triangle[1], slot);
                // One ring is half a radius high; heat diffuses over about one radius.
                assert!(step.abs() < 0.5, "{step}");
            }
        }
    }

    #[test]
    fn degenerate_input_gives_weights_or_errors() {
        let (_, skeleton) = legs();
        let mesh = TriMesh {
            positions: vec![Vec3::ZERO, Vec3::ZERO, Vec3::NAN, Vec3::Y],
            triangles: vec![[0, 1, 3]],
        };
        if let Ok(binding) = automatic_binding(&mesh, &skeleton) {
            assert_eq!(binding.influences.len(), 4);
        }
        let nothing = automatic_binding(&TriMesh::default(), &Skeleton::default());
        assert!(nothing.is_err());
        let one = Skeleton::from_unordered(vec![joint(None, Vec3::ZERO, None)]).unwrap();
        let binding = automatic_binding(&capsule(0.1, 1.0, 8, 8), &one.0).unwrap();
        assert!((0..binding.influences.len()).all(|v| binding.influences.of(v) == [(0, 1.0)]));
    }
}
