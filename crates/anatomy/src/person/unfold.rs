//! Folds of a person's skin are smoothed, since no layers can be nested below them.
//!
//! Linear body spaces fold the skin of extreme bodies at armpits and crotch, and un-posing a scan with hanging arms does so
//! too. Scans do not show these places, so what is moved there is no measurement.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::adjacency::vertex_triangles;
use supple_geom::{Adjacency, TriMesh};

use super::untangle::{LEAST_VISIBLE, lowest_direction, mean, widen};

/// Rounds of smoothing, and after how many of them the smoothed region grows by a ring. Folds of 3 cm are gone after 40.
const ROUNDS: usize = 120;
const ROUNDS_A_RING: usize = 8;
/// Share of the way to the mean of its neighbours that a vertex goes in a round.
const STEP: f64 = 0.5;
/// Farthest that a vertex goes \[m\]. Folds of drawn bodies take 4 to 23 mm. Without a bound a region that never comes free grows over
/// a thigh, and smoothing draws the thigh together: a man of 113 kg lost 20 litres.
const FARTHEST: f64 = 0.03;
/// A fold is smoothed until lines can pass all triangles around a vertex by this sine: layers need some room below it.
const ROOM: f64 = 3.0 * LEAST_VISIBLE;

/// A skin without folds.
#[derive(Clone, Debug)]
pub(crate) struct Unfolded {
    /// Positions \[m\].
    pub skin: Vec<Vec3>,
    /// Layered vertices where the skin was folded.
    pub folded: usize,
    /// Farthest that a vertex was moved \[m\].
    pub moved: f64,
}

/// Smooths a skin where it is folded onto itself, as far around as is needed; nothing else moves.
pub(crate) fn unfolded_skin(mesh: &TriMesh, layered: &[bool]) -> Unfolded {
    let around = vertex_triangles(mesh);
    let mut skin: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let all: Vec<u32> = (0..skin.len() as u32)
        .filter(|&v| layered[v as usize])
        .collect();
    let folded = |skin: &[DVec3], among: &[u32], room: f64| -> Vec<u32> {
        let is_folded = |v: &&u32| is_folded(&mesh.triangles, skin, around.row(**v as usize), room);
        among.par_iter().filter(is_folded).copied().collect()
    };
    let found = folded(&skin, &all, LEAST_VISIBLE);
    if !found.is_empty() {
        let mut left = found.clone();
        let rings = Adjacency::new(mesh).vertex_vertices;
        let start = skin.clone();
        let mut best = (usize::MAX, skin.clone());
        for round in 0..ROUNDS {
            let mut region = left.clone();
            (0..=round / ROUNDS_A_RING).for_each(|_| widen(&mut region, &rings));
            let next: Vec<DVec3> = (region.iter())
                .map(|&v| {
                    let mean = mean(&skin, rings.row(v as usize));
                    let start = start[v as usize];
                    let way = skin[v as usize].lerp(mean, STEP) - start;
                    start + way.clamp_length_max(FARTHEST)
                })
                .collect();
            for (&v, place) in region.iter().zip(next) {
                skin[v as usize] = place;
            }
            widen(&mut region, &rings);
            region.retain(|&v| layered[v as usize]);
            left = folded(&skin, &region, ROOM);
            if left.len() < best.0 {
                best = (left.len(), skin.clone());
            }
            if left.is_empty() {
                break;
            }
        }
        skin = best.1;
    }
    let moves = (skin.iter().zip(&mesh.positions)).map(|(a, b)| a.distance(b.as_dvec3()));
    Unfolded {
        folded: found.len(),
        moved: moves.fold(0.0, f64::max),
        skin: skin.iter().map(|p| p.as_vec3()).collect(),
    }
}

/// Whether no direction lies below all triangles around a vertex by a sine.
fn is_folded(triangles: &[[u32; 3]], skin: &[DVec3], around: &[u32], room: f64) -> bool {
    let normal = |&t: &u32| {
        let [a, b, c] = triangles[t as usize].map(|v| skin[v as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    };
    let normals: Vec<DVec3> = around.iter().map(normal).collect();
    let lowest = lowest_direction(&normals);
    normals.iter().any(|n| n.dot(lowest) > -room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::icosphere;

    #[test]
    fn a_fold_is_smoothed_and_the_rest_stays() {
        let ball = icosphere(0.1, 4);
        let layered = vec![true; ball.positions.len()];
        let good = unfolded_skin(&ball, &layered);
        assert_eq!((good.folded, good.moved), (0, 0.0));
        assert_eq!(good.skin, ball.positions);
        // A patch is drawn sideways over its neighbours.
        let mut folded = ball.clone();
        for p in folded.positions.iter_mut().filter(|p| p.y > 0.097) {
            *p += Vec3::new(0.03, -0.006, 0.0);
        }
        let found = unfolded_skin(&folded, &layered);
        assert!(found.folded > 5, "{}", found.folded);
        let smooth = TriMesh {
            positions: found.skin.clone(),
            triangles: ball.triangles.clone(),
        };
        assert_eq!(unfolded_skin(&smooth, &layered).folded, 0);
        assert!(found.moved < 0.03, "{}", found.moved);
        let far = |v: &usize| folded.positions[*v].y < 0.04;
        for v in (0..layered.len()).filter(far) {
            assert_eq!(found.skin[v], folded.positions[v]);
        }
    }
}
