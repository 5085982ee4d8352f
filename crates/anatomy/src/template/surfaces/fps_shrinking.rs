//! The older way to an inner surface, for comparison [3.2.1, fig. 4.4]: along the line from each skin vertex to a base point on
//! the skeleton's bone lines, as far as the wrap.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::Surface;
use supple_geom::adjacency::Adjacency;
use supple_geom::surface::Ray;

use crate::Body;

/// Rounds of smoothing the base points along the bone lines.
const ROUNDS: usize = 20;

/// The inner surface of a body by rays to its bone lines.
pub fn fps_shrunk(body: &Body, wrap: &Surface) -> Vec<Vec3> {
    let layered = body.layered();
    let ring = Adjacency::new(&body.mesh).vertex_vertices;
    let segments = bone_lines(body);
    let mut bases: Vec<Vec3> = (body.mesh.positions.par_iter().enumerate())
        .map(|(v, p)| nearest_on(&segments, &body.influences[v], *p))
        .collect();
    for _ in 0..ROUNDS {
        bases = (0..bases.len())
            .into_par_iter()
            .map(|v| {
                let ring = ring.row(v);
                let sum: Vec3 = ring.iter().map(|&n| bases[n as usize]).sum();
                let middle = (bases[v] + sum) / (1 + ring.len()) as f32;
                nearest_on(&segments, &body.influences[v], middle)
            })
            .collect();
    }
    (body.mesh.positions.par_iter().enumerate())
        .map(|(v, skin)| {
            if !layered[v] {
                return *skin;
            }
            let ray = Ray {
                origin: *skin,
                direction: bases[v] - *skin,
            };
            let t = wrap.first_hit(ray, 1.0).map_or(1.0, |hit| hit.t);
            ray.origin + t * ray.direction
        })
        .collect()
}

/// Lines from each joint to its children, with the joint.
fn bone_lines(body: &Body) -> Vec<(u32, Vec3, Vec3)> {
    let worlds = body.skeleton.rest_worlds();
    let place = |joint: usize| Vec3::from(worlds[joint].translation);
    let joints = body.skeleton.joints().iter().enumerate();
    joints
        .filter_map(|(child, joint)| {
            let parent = joint.parent?;
            Some((parent as u32, place(parent), place(child)))
        })
        .collect()
}

/// The nearest point on the lines of the joints that move a vertex, or on any line if they have none.
fn nearest_on(segments: &[(u32, Vec3, Vec3)], joints: &[(u32, f32)], point: Vec3) -> Vec3 {
    let nearest = |is_own: &dyn Fn(u32) -> bool| {
        let points = segments.iter().filter(|(joint, ..)| is_own(*joint));
        points
            .map(|(_, a, b)| {
                let along = *b - *a;
                let t = (point - *a).dot(along) / along.length_squared().max(1e-12);
                *a + t.clamp(0.0, 1.0) * along
            })
            .min_by(|p, q| (p.distance_squared(point)).total_cmp(&q.distance_squared(point)))
    };
    nearest(&|joint| {
        joints
            .iter()
            .any(|(own, weight)| *own == joint && *weight > 0.1)
    })
    .or_else(|| nearest(&|_| true))
    .unwrap_or(point)
}
