//! The convex hull of points in a plane.

use glam::DVec2;

/// The corners of the convex hull, counter-clockwise from the leftmost point (Andrew 1979, monotone chain). Points on a side
/// are left out, and so are points that are not finite.
pub fn convex_hull(points: &[DVec2]) -> Vec<DVec2> {
    let mut sorted: Vec<DVec2> = points.iter().copied().filter(|p| p.is_finite()).collect();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let mut hull = half(sorted.iter());
    let upper = half(sorted.iter().rev());
    hull.extend(upper);
    hull
}

/// Lower half of the hull of points in order, without its last point.
fn half<'a>(points: impl Iterator<Item = &'a DVec2>) -> Vec<DVec2> {
    let mut chain: Vec<DVec2> = Vec::new();
    for &p in points {
        while let [.., a, b] = chain[..] {
            if (b - a).perp_dot(p - b) > 0.0 {
                break;
            }
            chain.pop();
        }
        chain.push(p);
    }
    chain.pop();
    chain
}

/// Length of a closed polygon \[m\].
pub fn perimeter(polygon: &[DVec2]) -> f64 {
    let next = polygon.iter().cycle().skip(1);
    (polygon.iter().zip(next))
        .map(|(a, b)| a.distance(*b))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn square_with_points_inside_and_on_its_sides() {
        let grid = (0..25).map(|i| DVec2::new(f64::from(i % 5), f64::from(i / 5)));
        let hull = convex_hull(&grid.collect::<Vec<_>>());
        let corners = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]].map(DVec2::from);
        assert_eq!(hull, corners);
        assert_eq!(perimeter(&hull), 16.0);
    }

    #[test]
    fn dents_of_a_star_are_spanned() {
        let star = (0..20).map(|i| {
            DVec2::from_angle(TAU * f64::from(i) / 20.0) * if i % 2 == 0 { 2.0 } else { 1.0 }
        });
        let hull = convex_hull(&star.collect::<Vec<_>>());
        assert_eq!(hull.len(), 10);
        assert!((perimeter(&hull) - 40.0 * (TAU / 20.0).sin()).abs() < 1e-12);
    }

    #[test]
    fn degenerate_points() {
        assert!(convex_hull(&[]).is_empty());
        assert_eq!(
            convex_hull(&[DVec2::ONE, DVec2::NAN, DVec2::ONE]),
            [DVec2::ONE]
        );
        let line: Vec<DVec2> = (0..5).map(|i| DVec2::splat(f64::from(i))).collect();
        assert_eq!(convex_hull(&line), [line[0], line[4]]);
    }
}
