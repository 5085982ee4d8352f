//! The muscle thickness map [4.2.2]: how much of the line from skin to skeleton surface runs inside muscles.

use rayon::prelude::*;
use supple_geom::surface::Ray;
use supple_geom::{Surface, TriMesh};

use super::RiggedMuscle;
use crate::Layers;

/// Thickness at each vertex \[m\]; 0 where there are no layers. Muscles that overlap count once.
pub fn muscle_thickness(layers: &Layers, muscles: &[RiggedMuscle]) -> Vec<f32> {
    let all = Surface::new(TriMesh::merged(muscles.iter().map(|muscle| &muscle.mesh)));
    let at = |v: usize| {
        let (origin, end) = (layers.skin[v], layers.skeleton[v]);
        let direction = end - origin;
        if !layers.layered[v] || direction.length() < 1e-6 {
            return 0.0;
        }
        let mut hits = all.all_hits(Ray { origin, direction }, 1.0);
        hits.sort_by(|a, b| a.t.total_cmp(&b.t));
        // Muscles lie below the skin: a line begins outside of them.
        let (mut depth, mut since, mut inside) = (0i32, 0.0, 0.0);
        for hit in hits {
            let normal = all.mesh().area_vector(hit.triangle as usize).as_vec3();
            let enters = normal.dot(direction) < 0.0;
            match enters {
                true if depth == 0 => (depth, since) = (1, hit.t),
                true => depth += 1,
                false if depth == 1 => {
                    inside += hit.t - since;
                    depth = 0;
                }
                false => depth = (depth - 1).max(0),
            }
        }
        if depth > 0 {
            inside += 1.0 - since;
        }
        inside * direction.length()
    };
    (0..layers.skin.len()).into_par_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::example::example;
    use supple_geom::shapes::icosphere;

    #[test]
    fn a_shell_of_muscle_is_as_thick_as_it_is() {
        let template = example();
        let mut muscles = template.muscles.clone();
        // From 0.06 down to the skeleton surface at 0.04; an overlap does not count twice.
        let mut inner = icosphere(0.05, 3);
        inner.positions.iter_mut().for_each(|p| p.x += 1e-4);
        muscles.push(RiggedMuscle {
            mesh: inner,
            ..muscles[0].clone()
        });
        let thickness = muscle_thickness(&template.layers, &muscles);
        for (v, &found) in thickness.iter().enumerate() {
            let wanted = if template.layers.layered[v] { 0.02 } else { 0.0 };
            assert!((found - wanted).abs() < 1e-4, "{found} and not {wanted}");
        }
    }
}
