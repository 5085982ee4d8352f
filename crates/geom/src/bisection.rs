//! Spatial order of points by recursive bisection, so that neighbours in space are close in memory.

use glam::Vec3;

/// Indices of all points, ordered so that every group of `group` consecutive ones is a compact cluster: the bounding
/// box is split along its longest side, at a whole number of groups, until one group is left.
pub fn bisection_order(points: &[Vec3], group: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    halve(points, group.max(1), &mut order);
    order
}

fn halve(points: &[Vec3], group: usize, order: &mut [u32]) {
    if order.len() <= group {
        return;
    }
    let place = |v: &u32| points[*v as usize];
    let low = order.iter().map(place).fold(Vec3::INFINITY, Vec3::min);
    let high = order.iter().map(place).fold(Vec3::NEG_INFINITY, Vec3::max);
    let axis = (high - low).max_position();
    let middle = (order.len() / 2)
        .next_multiple_of(group)
        .min(order.len() - 1);
    order.select_nth_unstable_by(middle, |a, b| {
        place(a)[axis].total_cmp(&place(b)[axis]).then(a.cmp(b))
    });
    let (left, right) = order.split_at_mut(middle);
    rayon::join(
        || halve(points, group, left),
        || halve(points, group, right),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn groups_are_compact() {
        let points = shapes::icosphere(1.0, 4).positions;
        let order = bisection_order(&points, 8);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(k, &v)| k as u32 == v));
        // Eight of 2562 vertices cover a patch of radius √(4 · 8 / 2562) = 0.11.
        let widths = order.chunks(8).map(|group| {
            let first = points[group[0] as usize];
            let far = group.iter().map(|&v| points[v as usize].distance(first));
            far.fold(0.0, f32::max)
        });
        let mean = widths.sum::<f32>() / order.len().div_ceil(8) as f32;
        assert!(mean < 0.25, "{mean}");
        assert!(bisection_order(&[], 8).is_empty());
        assert_eq!(bisection_order(&[Vec3::NAN; 20], 8).len(), 20);
    }
}
