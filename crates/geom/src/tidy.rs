//! Cleanup of welded meshes: removes duplicate triangles, and makes the orientation of neighbours consistent.

use std::collections::HashSet;

use crate::adjacency::{Adjacency, NONE};
use crate::mesh::TriMesh;

/// For each triangle whether it is the first with its three corners, in any order.
pub fn first_of_kind(mesh: &TriMesh) -> Vec<bool> {
    let mut seen = HashSet::with_capacity(mesh.triangles.len());
    let sorted = |mut corners: [u32; 3]| {
        corners.sort_unstable();
        corners
    };
    let triangles = mesh.triangles.iter();
    triangles
        .map(|&corners| seen.insert(sorted(corners)))
        .collect()
}

/// Flips triangles so that neighbours across every edge of two run along it in opposite directions; returns the number
/// of flips. Each connected patch keeps the orientation of most of its area. One-sided surfaces (a Möbius strip) keep a
/// seam.
pub fn turn_alike(mesh: &mut TriMesh) -> usize {
    let neighbours = Adjacency::new(mesh).triangle_neighbours();
    let count = mesh.triangles.len();
    let mut reached = vec![false; count];
    let mut turned = vec![false; count];
    let mut patch = Vec::new();
    for seed in 0..count {
        if reached[seed] {
            continue;
        }
        reached[seed] = true;
        patch.clear();
        patch.push(seed);
        let mut next = 0;
        while next < patch.len() {
            let t = patch[next];
            next += 1;
            for &other in neighbours[t].iter().filter(|&&other| other != NONE) {
                let other = other as usize;
                if !reached[other] {
                    reached[other] = true;
                    turned[other] = turned[t] != same_direction(mesh, t, other);
                    patch.push(other);
                }
            }
        }
        let area = |t: &usize| match turned[*t] {
            true => -mesh.triangle_area(*t),
            false => mesh.triangle_area(*t),
        };
        if patch.iter().map(area).sum::<f64>() < 0.0 {
            patch.iter().for_each(|&t| turned[t] = !turned[t]);
        }
    }
    for (corners, _) in (mesh.triangles.iter_mut().zip(&turned)).filter(|(_, turned)| **turned) {
        corners.swap(1, 2);
    }
    turned.into_iter().filter(|&turned| turned).count()
}

/// Whether two triangles run along a shared edge in the same direction: one of them is flipped.
fn same_direction(mesh: &TriMesh, a: usize, b: usize) -> bool {
    let sides = |t: usize| {
        let [a, b, c] = mesh.triangles[t];
        [[a, b], [b, c], [c, a]]
    };
    sides(a).iter().any(|side| sides(b).contains(side))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::icosphere;

    #[test]
    fn flipped_triangles_are_restored() {
        let ball = icosphere(1.0, 2);
        let mut mixed = ball.clone();
        for corners in mixed.triangles.iter_mut().step_by(3) {
            corners.swap(1, 2);
        }
        let wrong = ball.triangles.len().div_ceil(3);
        assert_eq!(turn_alike(&mut mixed), wrong);
        assert_eq!(mixed.signed_volume(), ball.signed_volume());
        assert_eq!(turn_alike(&mut mixed), 0);
        // A whole mesh that is inside out agrees with itself.
        for corners in &mut mixed.triangles {
            corners.swap(1, 2);
        }
        assert_eq!(turn_alike(&mut mixed), 0);
    }

    #[test]
    fn duplicates_are_found_in_any_order() {
        let mut ball = icosphere(1.0, 0);
        let [a, b, c] = ball.triangles[3];
        ball.triangles.extend([[b, a, c], [c, a, b]]);
        let first = first_of_kind(&ball);
        assert_eq!(first.iter().filter(|&&first| !first).count(), 2);
        assert!(first[3] && !first[first.len() - 1]);
    }
}
