//! Parts of a skin that pass through each other at rest, as the thighs of heavy bodies do, are parted.
//!
//! A vertex inside another part of the body meets that part's skin from within on its way out. It goes back by half of the way, and
//! so does the other part: both meet in the middle, as flesh does. What goes back spreads with a slope, so that no edge is left.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::normals::vertex_normals;
use supple_geom::surface::Ray;
use supple_geom::{Adjacency, Surface, TriMesh};

/// Rounds: each leaves about a quarter of the depth, as directions turn.
const ROUNDS: usize = 16;
/// Depth to which a part is looked for \[m\]: thighs of the heaviest bodies overlap by 6 cm.
const SIGHT: f32 = 0.12;
/// What is left between both parts on each side, and how far vertices of crossing triangles go back at least \[m\].
const GAP: f64 = 5e-4;
const LEAST: f64 = 1e-3;
/// How fast the way back fades with the distance, metres a metre: above 0.5 its end shows as a crease, below 0.2 thighs get thin.
const SLOPE: f64 = 0.35;
/// Passes that spread it.
const PASSES: usize = 12;

/// A skin whose parts are apart.
#[derive(Clone, Debug)]
pub(crate) struct Parted {
    /// Positions \[m\].
    pub skin: Vec<Vec3>,
    /// Pairs of triangles that crossed, and that still do.
    pub crossings: [usize; 2],
}

/// Parts a skin where layered vertices are inside another part of it. What crosses nothing stays as it is.
pub(crate) fn parted_skin(mesh: &TriMesh, layered: &[bool]) -> Parted {
    let is_near = |t: u32| {
        mesh.triangles[t as usize]
            .iter()
            .all(|&v| layered[v as usize])
    };
    let crossings = |skin: &Surface| {
        let mut found = skin.crossings(is_near);
        found.retain(|pair| pair.iter().all(|&t| is_near(t)));
        found
    };
    let mut surface = Surface::new(mesh.clone());
    let mut crossing = crossings(&surface);
    let mut best = Parted {
        skin: mesh.positions.clone(),
        crossings: [crossing.len(); 2],
    };
    let adjacency = Adjacency::new(mesh);
    for _ in 0..ROUNDS {
        if crossing.is_empty() {
            break;
        }
        let next = TriMesh {
            positions: drawn_back(&surface, &crossing, layered, &adjacency),
            triangles: mesh.triangles.clone(),
        };
        surface = Surface::new(next);
        crossing = crossing_triangles(&surface, layered);
        if crossing.len() < best.crossings[1] {
            best.crossings[1] = crossing.len();
            best.skin = surface.mesh().positions.clone();
        }
    }
    best
}

/// Pairs of crossing triangles of a skin whose corners all have layers.
pub(crate) fn crossing_triangles(skin: &Surface, layered: &[bool]) -> Vec<[u32; 2]> {
    let triangles = &skin.mesh().triangles;
    let is_layered = |t: u32| triangles[t as usize].iter().all(|&v| layered[v as usize]);
    let mut found = skin.crossings(is_layered);
    found.retain(|pair| pair.iter().all(|&t| is_layered(t)));
    found
}

/// One round: all that is inside another part goes half of its way back.
fn drawn_back(
    surface: &Surface,
    crossing: &[[u32; 2]],
    layered: &[bool],
    adjacency: &Adjacency,
) -> Vec<Vec3> {
    let mesh = surface.mesh();
    let normals = vertex_normals(mesh);
    let mut ways: Vec<f64> = (0..mesh.positions.len())
        .into_par_iter()
        .map(|v| {
            if !layered[v] {
                return 0.0;
            }
            let ray = Ray {
                origin: mesh.positions[v],
                direction: normals[v],
            };
            let other = (surface.all_hits(ray, SIGHT).into_iter())
                .find(|hit| !mesh.triangles[hit.triangle as usize].contains(&(v as u32)));
            match other {
                Some(hit) if !hit.front => 0.5 * f64::from(hit.t) + GAP,
                _ => 0.0,
            }
        })
        .collect();
    for t in crossing.iter().flatten() {
        for v in mesh.triangles[*t as usize].map(|v| v as usize) {
            ways[v] = ways[v].max(LEAST);
        }
    }
    for _ in 0..PASSES {
        for &[a, b] in &adjacency.edges {
            let (a, b) = (a as usize, b as usize);
            let fall = SLOPE * f64::from(mesh.positions[a].distance(mesh.positions[b]));
            ways[a] = ways[a].max(ways[b] - fall);
            ways[b] = ways[b].max(ways[a] - fall);
        }
    }
    (mesh.positions.iter().zip(&normals).zip(ways).zip(layered))
        .map(|(((p, n), way), layered)| match *layered && way > 0.0 {
            true => (p.as_dvec3() - way * DVec3::from(*n)).as_vec3(),
            false => *p,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::capped_tube;

    /// Two rods side by side that overlap by some metres.
    fn rods(overlap: f32) -> TriMesh {
        let rod = |x: f32| {
            let mut mesh = capped_tube(0.08, 0.5, 48, 30);
            mesh.positions.iter_mut().for_each(|p| p.x += x);
            mesh
        };
        let off = 0.08 - 0.5 * overlap;
        TriMesh::merged([&rod(-off), &rod(off)])
    }

    #[test]
    fn thighs_through_each_other_are_parted_in_the_middle_and_others_stay() {
        let apart = rods(-0.01);
        let layered = vec![true; apart.positions.len()];
        let same = parted_skin(&apart, &layered);
        assert_eq!((same.crossings, &same.skin), ([0, 0], &apart.positions));
        let through = rods(0.03);
        let found = parted_skin(&through, &layered);
        assert!(found.crossings[0] > 20, "{:?}", found.crossings);
        assert_eq!(found.crossings[1], 0);
        let half = through.positions.len() / 2;
        let inner = |range: std::ops::Range<usize>| {
            let xs = found.skin[range].iter().map(|p| p.x);
            xs.fold([f32::MAX, f32::MIN], |[a, b], x| [a.min(x), b.max(x)])
        };
        assert!(inner(0..half)[1] < 4e-3 && inner(half..2 * half)[0] > -4e-3);
        // The outer sides stay.
        for (a, b) in found.skin.iter().zip(&through.positions) {
            assert!(b.x.abs() < 0.09 || a == b, "{a} {b}");
        }
    }
}
