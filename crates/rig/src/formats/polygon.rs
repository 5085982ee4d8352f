//! Polygon triangulation.

use glam::{Vec2, Vec3};

/// Largest polygon that is ear-clipped. Larger ones become fans even if concave, because ear clipping takes quadratic time.
const MAX_EAR_CLIPPED: usize = 256;

/// Triangulates a polygon given by its corner positions; `add` gets corner indices. Orientation is kept.
///
/// Convex polygons become a fan around their first corner. Others are ear-clipped in the plane of their mean
/// normal.
pub(super) fn triangulate(corners: &[Vec3], mut add: impl FnMut([usize; 3])) {
    let count = corners.len();
    if count == 3 {
        return add([0, 1, 2]);
    }
    let flat = project(corners);
    if count > MAX_EAR_CLIPPED || is_convex(&flat) {
        return (1..count.saturating_sub(1)).for_each(|i| add([0, i, i + 1]));
    }
    let mut left: Vec<usize> = (0..count).collect();
    while left.len() > 3 {
        let ear = (0..left.len()).find(|&i| is_ear(&flat, &left, i));
        let ear = ear.unwrap_or(1);
        add(around(&left, ear));
        left.remove(ear);
    }
    add([left[0], left[1], left[2]]);
}

/// Projects onto the coordinate plane most perpendicular to the mean normal (Newell), counter-clockwise.
fn project(corners: &[Vec3]) -> Vec<Vec2> {
    let mut normal = Vec3::ZERO;
    for (i, &a) in corners.iter().enumerate() {
        let b = corners[(i + 1) % corners.len()];
        normal += (a - corners[0]).cross(b - corners[0]);
    }
    let size = normal.abs();
    let flatten = |p: &Vec3| {
        if size.x >= size.y && size.x >= size.z {
            Vec2::new(p.y * normal.x.signum(), p.z)
        } else if size.y >= size.z {
            Vec2::new(p.z * normal.y.signum(), p.x)
        } else {
            Vec2::new(p.x * normal.z.signum(), p.y)
        }
    };
    corners.iter().map(flatten).collect()
}

fn is_convex(flat: &[Vec2]) -> bool {
    let count = flat.len();
    (0..count).all(|i| turn(flat[i], flat[(i + 1) % count], flat[(i + 2) % count]) >= 0.0)
}

fn is_ear(flat: &[Vec2], left: &[usize], i: usize) -> bool {
    let [a, b, c] = around(left, i).map(|corner| flat[corner]);
    turn(a, b, c) > 0.0
        && left.iter().map(|&corner| flat[corner]).all(|p| {
            p == a
                || p == b
                || p == c
                || turn(a, b, p) < 0.0
                || turn(b, c, p) < 0.0
                || turn(c, a, p) < 0.0
        })
}

fn around(left: &[usize], i: usize) -> [usize; 3] {
    let count = left.len();
    [
        left[(i + count - 1) % count],
        left[i],
        left[(i + 1) % count],
    ]
}

fn turn(a: Vec2, b: Vec2, c: Vec2) -> f32 {
    (b - a).perp_dot(c - b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(corners: &[Vec3]) -> (usize, f32) {
        let (mut count, mut area) = (0, 0.0);
        triangulate(corners, |[a, b, c]| {
            count += 1;
            let normal = (corners[b] - corners[a]).cross(corners[c] - corners[a]);
            assert!(normal.z >= 0.0, "orientation is kept");
            area += 0.5 * normal.length();
        });
        (count, area)
    }

    #[test]
    fn a_concave_polygon_keeps_its_area() {
        let arrow = [(0.0, 0.0), (2.0, -1.0), (0.0, 3.0), (-2.0, -1.0)];
        let corners = arrow.map(|(x, y)| Vec3::new(x, y, 0.0));
        // Area of two triangles with base 3 and height 2.
        assert_eq!(area(&corners), (2, 6.0));
    }

    #[test]
    fn degenerate_polygons_terminate() {
        for count in 3..10 {
            let mut triangles = 0;
            triangulate(&vec![Vec3::ONE; count], |_| triangles += 1);
            assert_eq!(triangles, count - 2);
        }
    }
}
