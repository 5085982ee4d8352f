//! Muscles kept below a skin that came nearer.

use rayon::prelude::*;
use supple_geom::{Surface, TriMesh};

/// Least depth of a muscle below the skin \[m\]. Muscles' meshes lie up to a millimetre above the muscle surface that wraps them.
const DEPTH: f32 = 4e-4;
/// How far outside the skin muscles are looked for \[m\].
const REACH: f32 = 6e-3;

/// Moves vertices of a mesh that lie above the skin, or just below it, to just below it. Returns how many.
pub fn push_below_skin(mesh: &mut TriMesh, skin: &Surface) -> usize {
    let moved = mesh.positions.par_iter_mut().map(|p| {
        let Some(near) = skin.closest_point_within(*p, REACH) else {
            return 0;
        };
        let normal = skin.mesh().triangle_normal(near.triangle as usize);
        let depth = (near.position - *p).dot(normal);
        // On an edge the triangle's normal says little; the sign of the winding decides.
        if depth >= DEPTH || near.distance >= DEPTH && skin.contains(*p) {
            return 0;
        }
        *p = near.position - DEPTH * normal;
        1
    });
    moved.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::icosphere;

    #[test]
    fn what_sticks_out_goes_below_and_the_rest_stays() {
        let skin = Surface::new(icosphere(0.1, 4));
        let mut muscle = icosphere(0.095, 3);
        let before = muscle.clone();
        assert_eq!(push_below_skin(&mut muscle, &skin), 0);
        assert_eq!(muscle, before);
        let out = muscle.positions.iter().filter(|p| p.y > 0.08).count();
        for p in muscle.positions.iter_mut().filter(|p| p.y > 0.08) {
            *p *= 0.102 / 0.095;
        }
        assert_eq!(push_below_skin(&mut muscle, &skin), out);
        assert!(muscle.positions.iter().all(|p| skin.contains(*p)));
    }
}
