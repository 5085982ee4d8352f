//! The muscle thickness map [4.2.2]: how much of the line from skin to skeleton surface is muscle.

use rayon::prelude::*;
use supple_geom::surface::Ray;
use supple_geom::{Surface, TriMesh};

use crate::Layers;
use crate::template::musculature::muscles::Muscle;

/// Length of each vertex' line from skin to skeleton surface that lies in muscles \[m\]; zero where there are no layers. Muscles may
/// overlap: what lies in two counts once.
pub fn thickness_map(layers: &Layers, muscles: &[Muscle]) -> Vec<f32> {
    let all = TriMesh::merged(muscles.iter().map(|muscle| &muscle.mesh));
    covered_lengths(layers, &Surface::new(all))
}

/// [`thickness_map`] for closed meshes of any origin.
pub fn covered_lengths(layers: &Layers, muscles: &Surface) -> Vec<f32> {
    (0..layers.skin.len())
        .into_par_iter()
        .map(|v| {
            let (origin, end) = (layers.skin[v], layers.skeleton[v]);
            let direction = end - origin;
            let length = direction.length();
            if !layers.layered[v] || length < 1e-6 {
                return 0.0;
            }
            let hits = muscles.all_hits(Ray { origin, direction }, 1.0);
            // The line may begin inside, where a muscle touches the skin.
            let mut inside = i32::from(muscles.contains(origin));
            let (mut covered, mut before) = (0.0, 0.0);
            for hit in hits {
                if inside > 0 {
                    covered += hit.t - before;
                }
                inside += if hit.front { 1 } else { -1 };
                before = hit.t;
            }
            if inside > 0 {
                covered += 1.0 - before;
            }
            covered * length
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use supple_geom::shapes;

    #[test]
    fn lines_through_overlapping_balls() {
        let mut balls = shapes::icosphere(0.1, 4);
        let mut second = balls.clone();
        second.positions.iter_mut().for_each(|p| p.x += 0.1);
        balls.append(&second);
        let layers = Layers {
            skin: vec![Vec3::X * -0.5, Vec3::ZERO, Vec3::X * -0.5],
            skeleton: vec![Vec3::X * 0.5, Vec3::X * 0.5, Vec3::X * 0.5],
            layered: vec![true, true, false],
            ..Layers::default()
        };
        let lengths = covered_lengths(&layers, &Surface::new(balls));
        // From −0.1 to 0.2, from 0 to 0.2, and no layers.
        for (length, exact) in lengths.iter().zip([0.3, 0.2, 0.0]) {
            assert!((length - exact).abs() < 1e-3, "{lengths:?}");
        }
    }
}
