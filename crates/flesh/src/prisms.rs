//! Prisms between skin and bone surface, split into tetrahedra [3.2.1].

use glam::DVec3;

/// Tetrahedra of all prisms: three a triangle, skin vertex `i` is node `i`, its bone-surface twin node `count + i`.
///
/// Every quad is split from its lower to its higher vertex, in an order all triangles share: neighbours agree, and no
/// triangle can have its three arrows run in a circle, so nothing needs the papers' random flips. Each tet has positive
/// volume where its prism does.
pub fn split_prisms(triangles: &[[u32; 3]], count: usize) -> Vec<[u32; 4]> {
    let mut tets = Vec::with_capacity(3 * triangles.len());
    let below = |v: u32| v + count as u32;
    for triangle in triangles {
        let ([a, b, c], even) = sorted(*triangle);
        let prism = [
            [b, a, c, below(c)],
            [a, b, below(b), below(c)],
            [below(a), a, below(b), below(c)],
        ];
        tets.extend(prism.map(|[p, q, r, s]| if even { [p, q, r, s] } else { [q, p, r, s] }));
    }
    tets
}

/// Vertices in ascending order, and whether that is an even permutation.
fn sorted([a, b, c]: [u32; 3]) -> ([u32; 3], bool) {
    let mut order = [a, b, c];
    order.sort_unstable();
    let even = order == [a, b, c] || order == [b, c, a] || order == [c, a, b];
    (order, even)
}

/// Six times the signed volume.
pub fn determinant([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a))
}

/// Smallest altitude of a tet: negative inverted, near zero flat.
pub fn altitude(corners: [DVec3; 4]) -> f64 {
    let [a, b, c, d] = corners;
    let double_area = |p: DVec3, q: DVec3, r: DVec3| (q - p).cross(r - p).length_squared();
    let largest = double_area(a, b, c)
        .max(double_area(a, b, d))
        .max(double_area(a, c, d))
        .max(double_area(b, c, d))
        .sqrt();
    if largest > 0.0 {
        determinant(corners) / largest
    } else {
        0.0
    }
}

/// Longest edge of a tet.
pub fn longest_edge(corners: [DVec3; 4]) -> f64 {
    let mut longest = 0.0_f64;
    for i in 0..4 {
        for j in 0..i {
            longest = longest.max(corners[i].distance_squared(corners[j]));
        }
    }
    longest.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::tests::sphere;
    use std::collections::BTreeMap;

    fn prism_positions() -> (Vec<DVec3>, Vec<[u32; 4]>, crate::surface::Surface) {
        let skin = sphere(2);
        let tets = split_prisms(&skin.triangles, skin.len());
        let inner = skin.positions.iter().map(|&p| 0.4 * p);
        (
            skin.positions.iter().copied().chain(inner).collect(),
            tets,
            skin,
        )
    }

    #[test]
    fn tets_fill_the_shell() {
        let (positions, tets, skin) = prism_positions();
        let volumes: Vec<f64> = tets
            .iter()
            .map(|t| determinant(t.map(|v| positions[v as usize])) / 6.0)
            .collect();
        assert!(volumes.iter().all(|&v| v > 0.0));
        let expected = skin.volume() * (1.0 - 0.4_f64.powi(3));
        assert!((volumes.iter().sum::<f64>() - expected).abs() < 1e-12);
    }

    /// Conforming: every face belongs to two tets, or to one and lies wholly on the skin or the bone surface.
    #[test]
    fn faces_match() {
        let (_, tets, skin) = prism_positions();
        let mut faces = BTreeMap::new();
        for [a, b, c, d] in tets {
            for mut face in [[a, b, c], [a, b, d], [a, c, d], [b, c, d]] {
                face.sort_unstable();
                *faces.entry(face).or_insert(0) += 1;
            }
        }
        let count = skin.len() as u32;
        for (face, times) in faces {
            let layer = face.iter().filter(|&&v| v < count).count();
            assert_eq!(times, if layer == 0 || layer == 3 { 1 } else { 2 });
        }
    }
}
