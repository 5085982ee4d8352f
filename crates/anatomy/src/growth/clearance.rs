//! How far skin can go before it meets other skin: arms and trunk, thigh and thigh, folds.

use glam::DVec3;
use rayon::prelude::*;
use supple_geom::surface::Ray;
use supple_geom::{Adjacency, Surface};

/// Distance that is left between two parts of the skin \[m\].
const GAP: f64 = 2e-3;
/// Distance at which other skin is looked for \[m\].
const SIGHT: f32 = 0.08;
/// How fast the way a vertex may go grows with the distance from one that is stopped, metres a metre: larger slopes show as
/// creases.
const SLOPE: f64 = 0.35;
/// Passes that spread what is stopped.
const PASSES: usize = 12;

/// How far each moving vertex can go along its direction \[m\] if what it would meet comes as far towards it; infinite where there
/// is nothing to meet.
pub fn clearance(
    skin: &Surface,
    directions: &[DVec3],
    moving: &[bool],
    adjacency: &Adjacency,
) -> Vec<f64> {
    let mesh = skin.mesh();
    let mut clearance: Vec<f64> = (0..moving.len())
        .into_par_iter()
        .map(|v| {
            if !moving[v] {
                return f64::INFINITY;
            }
            let ray = Ray {
                origin: mesh.positions[v],
                direction: directions[v].as_vec3(),
            };
            let other = skin.all_hits(ray, SIGHT).into_iter().find(|hit| {
                hit.front && !mesh.triangles[hit.triangle as usize].contains(&(v as u32))
            });
            other.map_or(f64::INFINITY, |hit| {
                (0.5 * (f64::from(hit.t) - GAP)).max(0.0)
            })
        })
        .collect();
    for _ in 0..PASSES {
        for &[a, b] in &adjacency.edges {
            let (a, b) = (a as usize, b as usize);
            let rise = SLOPE * f64::from(mesh.positions[a].distance(mesh.positions[b]));
            clearance[a] = clearance[a].min(clearance[b] + rise);
            clearance[b] = clearance[b].min(clearance[a] + rise);
        }
    }
    clearance
}
