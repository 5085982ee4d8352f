//! Topology of the tree over the prisms of a contact surface: eight prisms per leaf, eight children per node.

use glam::Vec3;
use supple_geom::simd::LANES;

/// Marks padding in the last leaf.
pub const NONE: u32 = u32::MAX;

/// Built once, from rest positions. Leaf `i` has the prisms `8 i` to `8 i + 7` of [`Tree::order`], node `i` of level 0
/// the leaves `8 i` to `8 i + 7`, and so on up to a single node.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Triangles in the order of the leaves, padded with [`NONE`].
    pub order: Vec<u32>,
    /// First, second and third corners of the triangles of each leaf.
    pub corners: Vec<[[u32; LANES]; 3]>,
    /// Skin points in the order of the leaves: neighbours are adjacent.
    pub points: Vec<u32>,
    /// Number of nodes of each level above the leaves; the last is 1.
    pub levels: Vec<usize>,
}

impl Tree {
    /// Splits triangles near the median along the longest axis of their centres.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Tree {
        let mut tree = Tree::default();
        if triangles.is_empty() {
            return tree;
        }
        let centres: Vec<Vec3> = triangles
            .iter()
            .map(|t| t.iter().map(|&v| positions[v as usize]).sum::<Vec3>() / 3.0)
            .collect();
        tree.order = (0..triangles.len() as u32).collect();
        split(&centres, &mut tree.order);
        let mut seen = vec![false; positions.len()];
        for &t in &tree.order {
            for v in triangles[t as usize] {
                if !std::mem::replace(&mut seen[v as usize], true) {
                    tree.points.push(v);
                }
            }
        }
        let leaves = triangles.len().div_ceil(LANES);
        tree.order.resize(leaves * LANES, NONE);
        for leaf in tree.order.chunks_exact(LANES) {
            let corner = |lane: usize, i: usize| {
                let triangle = triangles.get(leaf[lane] as usize);
                triangle.map_or(0, |corners| corners[i])
            };
            tree.corners
                .push([0, 1, 2].map(|i| std::array::from_fn(|lane| corner(lane, i))));
        }
        let mut count = leaves;
        while count > 1 || tree.levels.is_empty() {
            count = count.div_ceil(LANES);
            tree.levels.push(count);
        }
        tree
    }
}

/// Splits at multiples of whole nodes, so that only the last node of each level is not full.
fn split(centres: &[Vec3], order: &mut [u32]) {
    if order.len() <= LANES {
        return;
    }
    let mut node = LANES;
    while node * LANES < order.len() {
        node *= LANES;
    }
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &t in order.iter() {
        low = low.min(centres[t as usize]);
        high = high.max(centres[t as usize]);
    }
    let axis = (high - low).max_position();
    let key = |t: u32| (centres[t as usize][axis], t);
    let middle = order.len().div_ceil(node) / 2 * node;
    order.select_nth_unstable_by(middle, |&a, &b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    });
    let (left, right) = order.split_at_mut(middle);
    split(centres, left);
    split(centres, right);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_triangle_is_in_one_leaf_and_levels_end_in_one_node() {
        for count in [1_usize, 8, 9, 64, 65, 700] {
            let positions: Vec<Vec3> = (0..count + 2)
                .map(|i| Vec3::new((i * 37 % 101) as f32, (i * 53 % 89) as f32, i as f32))
                .collect();
            let triangles: Vec<[u32; 3]> = (0..count as u32).map(|i| [i, i + 1, i + 2]).collect();
            let tree = Tree::new(&positions, &triangles);
            let mut found: Vec<u32> = tree.order.iter().copied().filter(|&t| t != NONE).collect();
            found.sort_unstable();
            assert_eq!(found, (0..count as u32).collect::<Vec<_>>());
            assert_eq!(tree.points.len(), positions.len());
            assert_eq!(tree.levels.last(), Some(&1), "{count}");
            assert_eq!(tree.corners.len(), count.div_ceil(LANES));
        }
    }
}
