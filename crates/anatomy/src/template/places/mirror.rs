//! The other side of a symmetric skin, vertex by vertex.

use glam::{DVec3, Vec3};
use supple_geom::kd_tree::KdTree;

/// Vertices and their mirror images may differ by this \[m\].
const TOLERANCE: f32 = 1e-4;

/// The vertex on the other side of x = 0 of each vertex; none if the positions are not symmetric.
pub fn mirrored_vertices(positions: &[Vec3]) -> Option<Vec<u32>> {
    let keys: Vec<[f32; 3]> = positions.iter().map(|p| p.to_array()).collect();
    let tree = KdTree::of_arrays(&keys);
    let other: Vec<u32> = (positions.iter())
        .map(|p| {
            let image = Vec3::new(-p.x, p.y, p.z);
            let found = tree.nearest_array(&image.to_array())?.index;
            (positions[found as usize].distance(image) < TOLERANCE).then_some(found)
        })
        .collect::<Option<_>>()?;
    let is_pairing = (0..other.len()).all(|v| other[other[v] as usize] as usize == v);
    is_pairing.then_some(other)
}

/// The mean of each point and its partner's mirror image.
pub fn symmetric(points: &[DVec3], other: &[u32]) -> Vec<DVec3> {
    (points.iter().zip(other))
        .map(|(p, &o)| {
            let q = points[o as usize];
            0.5 * (*p + DVec3::new(-q.x, q.y, q.z))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_and_evened_out() {
        let skin = [Vec3::X, Vec3::Y, -Vec3::X];
        let other = mirrored_vertices(&skin).unwrap();
        assert_eq!(other, [2, 1, 0]);
        let points = [
            DVec3::new(1.0, 2.0, 0.0),
            DVec3::new(0.2, 1.0, 0.0),
            -DVec3::X,
        ];
        let even = symmetric(&points, &other);
        assert_eq!(even[0], DVec3::new(1.0, 1.0, 0.0));
        assert_eq!(even[1], DVec3::Y);
        assert_eq!(even[2], DVec3::new(-1.0, 1.0, 0.0));
        assert_eq!(mirrored_vertices(&[Vec3::X, Vec3::Y]), None);
        assert_eq!(mirrored_vertices(&[Vec3::X, Vec3::X, -Vec3::X]), None);
    }
}
