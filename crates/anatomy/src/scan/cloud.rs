//! Scans as evenly spread points with normals.

use glam::{DVec3, Vec3};
use supple_geom::kd_tree::KdTree;

use super::Scan;

/// Points and unit normals; without normals the second list is empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Cloud {
    pub points: Vec<Vec3>,
    pub normals: Vec<Vec3>,
}

/// Points drawn from a mesh. Fewer than 20,000 leave gaps in hands, more take longer for nothing.
const MESH_SAMPLES: usize = 60_000;
/// Cells along the largest extent to which clouds are thinned: 5 mm on a body, less where there is a wide floor.
const CELLS: f32 = 400.0;
/// Neighbours that give a point its company, and how far they may be in shares of the stature.
const COMPANY: usize = 6;
const LONELY: f32 = 0.025;

impl Cloud {
    /// Points of a scan in its own unit and axes, less `origin`: drawn evenly from triangles, or the cloud's own.
    pub fn of(scan: &Scan, origin: DVec3) -> Cloud {
        let cloud = match scan.triangles.is_empty() {
            true => Cloud::of_points(scan, origin),
            false => Cloud::of_triangles(scan, origin),
        };
        let size = cloud.extent().max_element();
        match size > 0.0 {
            true => cloud.thinned(size / CELLS),
            false => cloud,
        }
    }

    fn of_points(scan: &Scan, origin: DVec3) -> Cloud {
        let has_normals = scan.normals.len() == scan.points.len();
        let finite = (0..scan.points.len()).filter(|&i| scan.points[i].is_finite());
        let kept: Vec<usize> = finite.collect();
        let shifted = |&i: &usize| (scan.points[i].as_dvec3() - origin).as_vec3();
        Cloud {
            points: kept.iter().map(shifted).collect(),
            normals: match has_normals {
                true => kept
                    .iter()
                    .map(|&i| scan.normals[i].normalize_or_zero())
                    .collect(),
                false => Vec::new(),
            },
        }
    }

    /// Every triangle gets points in proportion to its area; what is left over goes on to the next triangle. Places within
    /// triangles follow the R₂ sequence (Roberts 2018), which spreads evenly without chance.
    fn of_triangles(scan: &Scan, origin: DVec3) -> Cloud {
        let corners = |t: &[u32; 3]| t.map(|v| scan.points[v as usize].as_dvec3() - origin);
        let doubled = |t: &[u32; 3]| {
            let [a, b, c] = corners(t);
            let normal = (b - a).cross(c - a);
            if normal.is_finite() {
                normal
            } else {
                DVec3::ZERO
            }
        };
        let total: f64 = scan.triangles.iter().map(|t| doubled(t).length()).sum();
        let mut cloud = Cloud::default();
        if total <= 0.0 {
            return cloud;
        }
        let (mut carried, mut step) = (0.5, 0.0f64);
        for triangle in &scan.triangles {
            let normal = doubled(triangle);
            carried += MESH_SAMPLES as f64 * normal.length() / total;
            let [a, b, c] = corners(triangle);
            while carried >= 1.0 {
                carried -= 1.0;
                step += 1.0;
                let (u, v) = (
                    (0.754_877_666 * step).fract(),
                    (0.569_840_291 * step).fract(),
                );
                let (u, v) = if u + v > 1.0 {
                    (1.0 - u, 1.0 - v)
                } else {
                    (u, v)
                };
                cloud.points.push((a + u * (b - a) + v * (c - a)).as_vec3());
                cloud.normals.push(normal.normalize_or_zero().as_vec3());
            }
        }
        cloud
    }

    /// Extent along each axis.
    pub fn extent(&self) -> Vec3 {
        let low = self.points.iter().fold(Vec3::INFINITY, |l, p| l.min(*p));
        let high = self
            .points
            .iter()
            .fold(Vec3::NEG_INFINITY, |h, p| h.max(*p));
        (high - low).max(Vec3::ZERO)
    }

    /// One point a cell: the mean of those in it whose normals agree with the first.
    pub fn thinned(&self, cell: f32) -> Cloud {
        let mut thin = Cloud::default();
        for group in cells(&self.points, cell).chunk_by(|a, b| a.0 == b.0) {
            let first = group[0].1 as usize;
            let normal_of = |i: u32| self.normals.get(i as usize).copied().unwrap_or(Vec3::ZERO);
            let leading = normal_of(group[0].1);
            let agrees = |&&(_, i): &&(u64, u32)| normal_of(i).dot(leading) >= 0.0;
            let (mut sum, mut normal, mut count) = (DVec3::ZERO, Vec3::ZERO, 0.0);
            for &(_, i) in group.iter().filter(agrees) {
                sum += (self.points[i as usize] - self.points[first]).as_dvec3();
                normal += normal_of(i);
                count += 1.0;
            }
            thin.points
                .push(self.points[first] + (sum / count).as_vec3());
            if !self.normals.is_empty() {
                thin.normals.push(normal.normalize_or(leading));
            }
        }
        thin
    }

    /// Keeps the points that are wanted.
    pub fn retain(&mut self, wanted: impl Fn(Vec3) -> bool) {
        let keep: Vec<bool> = self.points.iter().map(|&p| wanted(p)).collect();
        self.keep(&keep);
    }

    /// Keeps the flagged points.
    pub fn keep(&mut self, keep: &[bool]) {
        let mut flags = keep.iter();
        self.points
            .retain(|_| flags.next().copied().unwrap_or(false));
        let mut flags = keep.iter();
        self.normals
            .retain(|_| flags.next().copied().unwrap_or(false));
    }

    /// Drops isolated points, which are not part of a surface.
    pub fn drop_lonely(&mut self, stature: f32) {
        use rayon::prelude::*;
        let tree = KdTree::new(&self.points);
        let reach = LONELY * stature;
        let keep: Vec<bool> = (self.points.par_iter())
            .map(|&point| {
                let near = tree.nearest_several(point, COMPANY);
                near.len() == COMPANY && near[COMPANY - 1].distance_squared < reach * reach
            })
            .collect();
        self.keep(&keep);
    }

    /// Turns points and normals.
    pub fn transform(&mut self, rotation: glam::DMat3, scale: f64) {
        for point in &mut self.points {
            *point = (rotation * point.as_dvec3() * scale).as_vec3();
        }
        for normal in &mut self.normals {
            *normal = (rotation * normal.as_dvec3()).as_vec3();
        }
    }

    /// Turns the normals round.
    pub fn flip(&mut self) {
        self.normals.iter_mut().for_each(|n| *n = -*n);
    }
}

/// Cell and index of each point, sorted.
fn cells(points: &[Vec3], cell: f32) -> Vec<(u64, u32)> {
    let low = points.iter().fold(Vec3::INFINITY, |l, p| l.min(*p));
    let key = |p: Vec3| {
        let at = ((p - low) / cell).as_u64vec3();
        at.x.min(0x1F_FFFF) | at.y.min(0x1F_FFFF) << 21 | at.z.min(0x1F_FFFF) << 42
    };
    let mut keys: Vec<(u64, u32)> = (points.iter().enumerate())
        .map(|(i, &p)| (key(p), i as u32))
        .collect();
    keys.sort_unstable();
    keys
}

/// Index of one point a cell.
pub(super) fn one_per_cell(points: &[Vec3], cell: f32) -> Vec<u32> {
    let keys = cells(points, cell);
    let mut chosen: Vec<u32> = keys.chunk_by(|a, b| a.0 == b.0).map(|g| g[0].1).collect();
    chosen.sort_unstable();
    chosen
}
