//! What is so far from everything else that it cannot belong to the scan: stray vertices, in clouds and in meshes.

use glam::Vec3;

use super::Scan;

/// The share of the points at each end of an axis that does not count for the extent, and how far beyond that extent points may lie, in
/// shares of the largest one. A floor may reach a body's height to all sides; a body with a tenth of its points in one hand
/// loses nothing.
const TRIMMED: f64 = 0.005;
const BEYOND: f32 = 0.75;
/// Points by which the extent is found.
const SAMPLE: usize = 50_000;
/// A vertex is stray if all edges of its triangles are longer than this share of the extent, while other edges are shorter.
const LONG: f32 = 0.15;

/// A scan without its stray points, and without the triangles that hold any; none if there are no strays.
pub(super) fn without_strays(scan: &Scan) -> Option<Scan> {
    let count = scan.points.len();
    let is_cloud = scan.triangles.is_empty();
    let mut used = vec![is_cloud; count];
    scan.triangles
        .iter()
        .flatten()
        .for_each(|&v| used[v as usize] = true);
    let mut keep: Vec<bool> = (scan.points.iter().zip(&used))
        .map(|(p, used)| *used && p.is_finite())
        .collect();
    let (low, high) = trimmed(&scan.points, &keep)?;
    let size = (high - low).max_element();
    let (low, high) = (low - BEYOND * size, high + BEYOND * size);
    for (keep, p) in keep.iter_mut().zip(&scan.points) {
        *keep &= p.cmpge(low).all() && p.cmple(high).all();
    }
    let mut wild = vec![false; scan.triangles.len()];
    if !is_cloud {
        let mut shortest = vec![f32::INFINITY; count];
        for t in &scan.triangles {
            for k in 0..3 {
                let (a, b) = (t[k] as usize, t[(k + 1) % 3] as usize);
                let length = scan.points[a].distance(scan.points[b]);
                shortest[a] = shortest[a].min(length);
                shortest[b] = shortest[b].min(length);
            }
        }
        let is_far = |v: u32| shortest[v as usize] > LONG * size;
        for (t, wild) in scan.triangles.iter().zip(&mut wild) {
            let far = t.iter().filter(|&&v| is_far(v)).count();
            *wild = t.iter().any(|&v| !keep[v as usize]) || (1..3).contains(&far);
        }
    }
    // Vertices of no triangle are no points of the scan, but are not worth a copy.
    let has_strays = match is_cloud {
        true => keep
            .iter()
            .zip(&scan.points)
            .any(|(keep, p)| !keep && p.is_finite()),
        false => {
            wild.contains(&true) || (keep.contains(&false) && lies_beyond(scan, &used, low, high))
        }
    };
    has_strays.then(|| cut(scan, &keep, &wild))
}

/// Whether a vertex of no triangle is far off: the extent of the points must not see it.
fn lies_beyond(scan: &Scan, used: &[bool], low: Vec3, high: Vec3) -> bool {
    let mut unused = scan
        .points
        .iter()
        .zip(used)
        .filter(|(p, used)| !**used && p.is_finite());
    unused.any(|(p, _)| p.cmplt(low).any() || p.cmpgt(high).any())
}

fn cut(scan: &Scan, keep: &[bool], wild: &[bool]) -> Scan {
    let mut place = vec![u32::MAX; keep.len()];
    let mut cut = Scan {
        metres_per_unit: scan.metres_per_unit,
        ..Scan::default()
    };
    let has_normals = scan.normals.len() == scan.points.len();
    for (v, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
        place[v] = cut.points.len() as u32;
        cut.points.push(scan.points[v]);
        if has_normals {
            cut.normals.push(scan.normals[v]);
        }
    }
    let triangles = scan.triangles.iter().zip(wild).filter(|(_, wild)| !**wild);
    let triangles = triangles.map(|(t, _)| t.map(|v| place[v as usize]));
    cut.triangles
        .extend(triangles.filter(|t| !t.contains(&u32::MAX)));
    cut
}

/// Extent of the wanted points without the outermost.
fn trimmed(points: &[Vec3], wanted: &[bool]) -> Option<(Vec3, Vec3)> {
    let wanted: Vec<Vec3> = (points.iter().zip(wanted))
        .filter(|(_, wanted)| **wanted)
        .map(|(p, _)| *p)
        .collect();
    let step = wanted.len() / SAMPLE + 1;
    let (mut low, mut high) = (Vec3::ZERO, Vec3::ZERO);
    for axis in 0..3 {
        let mut along: Vec<f32> = wanted.iter().step_by(step).map(|p| p[axis]).collect();
        along.sort_by(f32::total_cmp);
        let cut = (TRIMMED * along.len() as f64) as usize;
        low[axis] = *along.get(cut)?;
        high[axis] = *along.get(along.len() - 1 - cut)?;
    }
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes;

    #[test]
    fn strays_go_and_floors_stay() {
        let ball = shapes::icosphere(1.0, 4);
        let mut scan = Scan {
            points: ball.positions.clone(),
            triangles: ball.triangles.clone(),
            ..Scan::default()
        };
        assert!(without_strays(&scan).is_none());
        // A floor of two triangles.
        let first = scan.points.len() as u32;
        for (x, z) in [(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)] {
            scan.points.push(Vec3::new(x, -1.0, z));
        }
        scan.triangles
            .extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        assert!(without_strays(&scan).is_none());
        // A vertex torn out of the ball.
        let mut torn = scan.clone();
        torn.points[7] = Vec3::new(900.0, 3.0, 0.0);
        let cut = without_strays(&torn).unwrap();
        assert_eq!(cut.points.len(), scan.points.len() - 1);
        let left = scan.triangles.iter().filter(|t| !t.contains(&7)).count();
        assert_eq!(cut.triangles.len(), left);
        torn.points[7] = Vec3::new(1.2, 1.2, 0.0);
        assert_eq!(without_strays(&torn).unwrap().triangles.len(), left);
        // A point of a cloud.
        torn.points[7] = Vec3::new(0.0, 40.0, 0.0);
        torn.triangles.clear();
        assert_eq!(
            without_strays(&torn).unwrap().points.len(),
            scan.points.len() - 1
        );
    }
}
