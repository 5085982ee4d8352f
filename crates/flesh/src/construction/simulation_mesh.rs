//! The simulation mesh: a subset of the skin's vertices, small enough for real time, denser where the body bends [3.2.4].

use std::collections::BTreeMap;

use glam::DVec3;
use supple_geom::TriMesh;
use supple_geom::decimate::{Decimated, Decimation, decimate};
use supple_geom::shells::shells;

use crate::construction::bone_graph::BoneGraph;
use crate::settings::Resolution;

/// Skins of up to this many vertices are simulated in full.
pub const FULL_UP_TO: usize = 5000;
/// Automatic resolution: this many vertices plus [`VERTICES_PER_BONE`] per bone, up to [`FULL_UP_TO`].
const BASE_COUNT: usize = 3000;
/// Additional vertices per bone.
const VERTICES_PER_BONE: usize = 20;
/// Vertex density around bending joints, relative to straight limbs. Above 30 straight limbs get so coarse that the bone
/// surface has steps; at 1 a bent knee has too few vertices to stay round.
const JOINT_DENSITY: f64 = 6.0;
/// Radius of that density, relative to the distance between joint and skin.
const JOINT_REACH: f64 = 3.0;
/// Vertex density where separate shells touch.
const TOUCH_DENSITY: f64 = 2.0;
/// Distance at which shells touch, relative to the character's size.
const TOUCH_DISTANCE: f64 = 0.01;
/// Vertex density of excluded regions, which are not simulated.
const EXCLUDED_DENSITY: f64 = 0.05;

/// Number of vertices to simulate of a skin with `vertices` vertices and `bones` bones.
pub fn target_count(resolution: Resolution, vertices: usize, bones: usize) -> usize {
    match resolution {
        Resolution::Full => vertices,
        Resolution::Vertices(count) => count,
        Resolution::Automatic if vertices <= FULL_UP_TO => vertices,
        Resolution::Automatic => (BASE_COUNT + VERTICES_PER_BONE * bones).min(FULL_UP_TO),
    }
}

/// Positions of the nodes where bones bend against each other. `bends` marks the joints that bend.
pub fn bending_points(graph: &BoneGraph, bends: &[bool]) -> Vec<DVec3> {
    let nodes = graph.nodes.iter().zip(&graph.incident);
    nodes
        .filter(|(node, incident)| {
            incident.len() > 1 && node.joints.iter().any(|&joint| bends[joint])
        })
        .map(|(node, _)| node.position)
        .collect()
}

/// Chooses the vertices to simulate. `bends` are the points where the body bends. `excluded` marks vertices that are not
/// simulated, and is empty if that is not known.
pub fn simulation_mesh(
    skin: &TriMesh,
    bends: &[DVec3],
    excluded: &[bool],
    target: usize,
) -> Decimated {
    if target >= skin.positions.len() {
        return Decimated {
            mesh: skin.clone(),
            kept: (0..skin.positions.len() as u32).collect(),
        };
    }
    let density = densities(skin, bends, excluded);
    let settings = Decimation {
        target,
        density: &density,
        ..Decimation::default()
    };
    decimate(skin, &settings)
}

fn densities(skin: &TriMesh, bends: &[DVec3], excluded: &[bool]) -> Vec<f64> {
    let points: Vec<DVec3> = skin.positions.iter().map(|p| p.as_dvec3()).collect();
    let mut densities = vec![1.0_f64; points.len()];
    for &bend in bends {
        let distances = || points.iter().map(|p| p.distance(bend));
        let reach = JOINT_REACH * distances().fold(f64::INFINITY, f64::min);
        for (density, distance) in densities.iter_mut().zip(distances()) {
            // Full up to half the reach, then fading.
            let t = (2.0 - 2.0 * distance / reach).clamp(0.0, 1.0);
            *density = density.max(1.0 + (JOINT_DENSITY - 1.0) * t);
        }
    }
    for v in touching(skin, &points) {
        densities[v] = densities[v].max(TOUCH_DENSITY);
    }
    for (density, _) in densities.iter_mut().zip(excluded).filter(|(_, out)| **out) {
        *density = EXCLUDED_DENSITY;
    }
    densities
}

/// Vertices with another shell within about [`TOUCH_DISTANCE`], found with a grid of cells of that size.
fn touching(skin: &TriMesh, points: &[DVec3]) -> Vec<usize> {
    let shells = shells(skin);
    let size = crate::construction::rest_skin::size_of(points);
    if shells.count < 2 || size <= 0.0 {
        return Vec::new();
    }
    let cell = |p: DVec3| {
        (p / (TOUCH_DISTANCE * size))
            .floor()
            .as_i64vec3()
            .to_array()
    };
    let mut owners: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
    for (&p, &shell) in points.iter().zip(&shells.of_vertex) {
        let list = owners.entry(cell(p)).or_default();
        if !list.contains(&shell) {
            list.push(shell);
        }
    }
    let is_touching = |&v: &usize| {
        let [x, y, z] = cell(points[v]);
        (0..27).any(|k| {
            let neighbour = [x + k / 9 - 1, y + k / 3 % 3 - 1, z + k % 3 - 1];
            let list = owners.get(&neighbour);
            list.is_some_and(|list| list.iter().any(|&s| s != shells.of_vertex[v]))
        })
    };
    (0..points.len()).filter(is_touching).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Affine3A, Vec3};
    use supple_geom::shapes;

    #[test]
    fn counts() {
        assert_eq!(target_count(Resolution::Automatic, 4800, 90), 4800);
        assert_eq!(target_count(Resolution::Automatic, 5001, 20), 3400);
        assert_eq!(target_count(Resolution::Automatic, 200_000, 500), 5000);
        assert_eq!(target_count(Resolution::Full, 200_000, 500), 200_000);
        assert_eq!(target_count(Resolution::Vertices(123), 200_000, 500), 123);
    }

    #[test]
    fn touching_shells_are_found() {
        let ball = shapes::icosphere(1.0, 3);
        let mut other = ball.clone();
        other.transform(&Affine3A::from_translation(Vec3::X * 2.01));
        let pair = TriMesh::merged([&ball, &other]);
        let points: Vec<DVec3> = pair.positions.iter().map(|p| p.as_dvec3()).collect();
        let near = touching(&pair, &points);
        assert!(!near.is_empty() && near.len() < 40);
        assert!(near.iter().all(|&v| (points[v].x - 1.005).abs() < 0.1));
        assert!(touching(&ball, &points[..ball.positions.len()]).is_empty());
    }

    #[test]
    fn density_is_higher_where_shells_touch() {
        let ball = shapes::icosphere(1.0, 5);
        let mut other = ball.clone();
        other.transform(&Affine3A::from_translation(Vec3::X * 2.0));
        let pair = TriMesh::merged([&ball, &other]);
        // Share of a cap's vertices that is kept.
        let kept = |mesh: &TriMesh, side: f32| {
            let count = |mesh: &TriMesh| {
                let cap = |p: &&Vec3| p.x < 1.0 && p.x * side > 0.97;
                mesh.positions.iter().filter(cap).count() as f64
            };
            count(mesh) / count(&pair)
        };
        let small = simulation_mesh(&pair, &[], &[], pair.positions.len() / 8).mesh;
        let (near, far) = (kept(&small, 1.0), kept(&small, -1.0));
        assert!(near > 1.3 * far, "{near} {far}");
    }
}
