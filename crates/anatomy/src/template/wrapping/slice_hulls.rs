//! Horizontal slices of a solid on a lattice, filled to their convex hulls.

use supple_geom::voxels::Voxels;

/// Fills each slice of constant y to the convex hull of its filled cells.
pub fn fill_slice_hulls(solid: &mut Voxels) {
    let [nx, ny, nz] = solid.size;
    for y in 0..ny {
        // The ends of each row are enough.
        let mut ends = Vec::new();
        for z in 0..nz {
            let row = (0..nx).filter(|&x| solid.filled[solid.index([x, y, z])]);
            let (first, last) = (row.clone().next(), row.clone().next_back());
            ends.extend(first.into_iter().chain(last).map(|x| (x as i64, z as i64)));
        }
        let hull = convex_hull(ends);
        if hull.len() < 3 {
            continue;
        }
        for z in 0..nz {
            for x in 0..nx {
                let p = (x as i64, z as i64);
                let is_left = |k: usize| cross(hull[k], hull[(k + 1) % hull.len()], p) >= 0;
                if (0..hull.len()).all(is_left) {
                    let index = solid.index([x, y, z]);
                    solid.filled[index] = true;
                }
            }
        }
    }
}

fn cross(a: (i64, i64), b: (i64, i64), c: (i64, i64)) -> i64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

/// Counter-clockwise, by Andrew's monotone chain.
fn convex_hull(mut points: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    points.sort_unstable();
    points.dedup();
    let chain = |points: &mut dyn Iterator<Item = (i64, i64)>| {
        let mut chain: Vec<(i64, i64)> = Vec::new();
        for p in points {
            while chain.len() > 1 && cross(chain[chain.len() - 2], chain[chain.len() - 1], p) <= 0 {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut hull = chain(&mut points.iter().copied());
    hull.extend(chain(&mut points.iter().rev().copied()));
    hull
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_angle_becomes_a_triangle() {
        let mut solid = Voxels {
            cell: 1.0,
            size: [12, 2, 12],
            filled: vec![false; 288],
            ..Voxels::default()
        };
        for k in 0..10 {
            for place in [[k, 1, 0], [0, 1, k]] {
                let index = solid.index(place);
                solid.filled[index] = true;
            }
        }
        fill_slice_hulls(&mut solid);
        assert_eq!(solid.filled.iter().filter(|f| **f).count(), 55);
    }
}
