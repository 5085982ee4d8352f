//! Triangle rasterisation with exact shared edges, and near-plane clipping.
//!
//! Corners are rounded to 1/256 of a sample and edge functions are evaluated in f64, where all values are integers below
//! 2⁵³ for any realistic picture size. Neighbouring triangles therefore leave no gap and do not overlap (Pineda 1988).

use glam::{DVec2, Vec3};

use crate::camera::View;

/// Subsample grid steps per sample.
const SUBSAMPLE_STEPS: f64 = 256.0;

/// Samples `x0..x1`, `y0..y1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rect {
    pub x0: usize,
    pub y0: usize,
    pub x1: usize,
    pub y1: usize,
}

/// Rounds a position in samples to the subsample grid.
pub(crate) fn snap(x: f32, y: f32) -> DVec2 {
    DVec2::new(
        (f64::from(x) * SUBSAMPLE_STEPS).round(),
        (f64::from(y) * SUBSAMPLE_STEPS).round(),
    )
}

fn cross(a: DVec2, b: DVec2, p: DVec2) -> f64 {
    (b - a).perp_dot(p - a)
}

/// Samples of `rect` that the triangle's bounding box covers, if any.
fn covered(c: &[DVec2; 3], rect: Rect) -> Option<Rect> {
    let (low, high) = (c[0].min(c[1]).min(c[2]), c[0].max(c[1]).max(c[2]));
    // First sample at or after `low`, and first after `high`; the casts saturate.
    let first = |v: f64, from: usize| {
        (((v - SUBSAMPLE_STEPS / 2.0) / SUBSAMPLE_STEPS)
            .ceil()
            .max(0.0) as usize)
            .max(from)
    };
    let end = |v: f64, to: usize| {
        (((v - SUBSAMPLE_STEPS / 2.0) / SUBSAMPLE_STEPS).floor() + 1.0)
            .max(0.0)
            .min(to as f64) as usize
    };
    let r = Rect {
        x0: first(low.x, rect.x0),
        y0: first(low.y, rect.y0),
        x1: end(high.x, rect.x1),
        y1: end(high.y, rect.y1),
    };
    (r.x0 < r.x1 && r.y0 < r.y1).then_some(r)
}

/// Calls `f(x, y, barycentrics)` for every sample of `rect` whose centre is inside the triangle, for either
/// orientation. A centre on an edge belongs to exactly one of the edge's two triangles.
pub(crate) fn scan(corners: [DVec2; 3], rect: Rect, mut f: impl FnMut(usize, usize, Vec3)) {
    let Some(r) = covered(&corners, rect) else {
        return;
    };
    let area = cross(corners[0], corners[1], corners[2]);
    if area == 0.0 || !area.is_finite() {
        return;
    }
    let sign = area.signum();
    let inverse = 1.0 / area.abs();
    let start = DVec2::new(r.x0 as f64 + 0.5, r.y0 as f64 + 0.5) * SUBSAMPLE_STEPS;
    let mut row = [0.0; 3];
    let (mut dx, mut dy, mut owns) = ([0.0; 3], [0.0; 3], [false; 3]);
    for i in 0..3 {
        let (a, b) = (corners[(i + 1) % 3], corners[(i + 2) % 3]);
        let along = (b - a) * sign;
        row[i] = cross(a, b, start) * sign;
        (dx[i], dy[i]) = (-along.y * SUBSAMPLE_STEPS, along.x * SUBSAMPLE_STEPS);
        owns[i] = along.y < 0.0 || along.y == 0.0 && along.x > 0.0;
    }
    for y in r.y0..r.y1 {
        let mut e = row;
        for x in r.x0..r.x1 {
            let inside = |i: usize| e[i] > 0.0 || e[i] == 0.0 && owns[i];
            if inside(0) && inside(1) && inside(2) {
                f(
                    x,
                    y,
                    Vec3::new(
                        (e[0] * inverse) as f32,
                        (e[1] * inverse) as f32,
                        (e[2] * inverse) as f32,
                    ),
                );
            }
            for i in 0..3 {
                e[i] += dx[i];
            }
        }
        for i in 0..3 {
            row[i] += dy[i];
        }
    }
}

/// A projected triangle, clipped at the near plane.
#[derive(Clone, Debug)]
pub(crate) struct ScreenTriangle {
    /// Positions on the subsample grid, in samples.
    pub corners: [DVec2; 3],
    pub nearness: Vec3,
    weight: Vec3,
    /// Barycentrics of the corners in the unclipped triangle.
    whole: [Vec3; 3],
    pub mesh: u32,
    pub triangle: u32,
    /// Whether it is counter-clockwise as seen from the eye.
    pub front: bool,
}

impl ScreenTriangle {
    /// Perspective-correct barycentrics in the unclipped triangle.
    pub fn barycentrics(&self, screen: Vec3) -> Vec3 {
        let b = screen * self.weight;
        let b = b / (b.x + b.y + b.z);
        self.whole[0] * b.x + self.whole[1] * b.y + self.whole[2] * b.z
    }

    /// Screen barycentrics of a position in samples.
    pub fn at(&self, x: f32, y: f32) -> Vec3 {
        let p = DVec2::new(f64::from(x), f64::from(y)) * SUBSAMPLE_STEPS;
        let [a, b, c] = self.corners;
        let area = cross(a, b, c);
        Vec3::new(
            (cross(b, c, p) / area) as f32,
            (cross(c, a, p) / area) as f32,
            (cross(a, b, p) / area) as f32,
        )
    }

    /// Area [samples²].
    pub fn area(&self) -> f32 {
        let [a, b, c] = self.corners;
        (cross(a, b, c).abs() * 0.5 / (SUBSAMPLE_STEPS * SUBSAMPLE_STEPS)) as f32
    }

    /// Distances of a position, in samples, from the edges of the unclipped triangle; infinite for edges made by
    /// clipping.
    pub fn edge_distances(&self, screen: Vec3) -> [f32; 3] {
        std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let original = (0..3).any(|m| self.whole[j][m] == 0.0 && self.whole[k][m] == 0.0);
            let length = (self.corners[k] - self.corners[j]).length() / SUBSAMPLE_STEPS;
            if original {
                screen[i] * 2.0 * self.area() / length.max(1e-9) as f32
            } else {
                f32::INFINITY
            }
        })
    }
}

/// Projects a triangle given in view space, clipped at the near plane; `scale` is samples per pixel.
pub(crate) fn project_triangle(
    view: &View,
    scale: f32,
    corners: [Vec3; 3],
    mut emit: impl FnMut(ScreenTriangle),
) {
    let mut polygon: [(Vec3, Vec3); 4] = [(Vec3::ZERO, Vec3::ZERO); 4];
    let mut count = 0;
    let inside = |v: Vec3| v.z >= view.near;
    for i in 0..3 {
        let j = (i + 1) % 3;
        let (a, b) = (corners[i], corners[j]);
        if inside(a) {
            polygon[count] = (a, Vec3::AXES[i]);
            count += 1;
        }
        if inside(a) != inside(b) {
            // Clip from the inside corner outwards, so that both triangles of a shared edge get the same point.
            let ((p, u), (q, v)) = if inside(a) {
                ((a, i), (b, j))
            } else {
                ((b, j), (a, i))
            };
            let t = (p.z - view.near) / (p.z - q.z);
            let mut cut = p.lerp(q, t);
            cut.z = view.near;
            polygon[count] = (cut, Vec3::AXES[u].lerp(Vec3::AXES[v], t));
            count += 1;
        }
    }
    for k in 2..count {
        let part = [polygon[0], polygon[k - 1], polygon[k]];
        let projected = part.map(|(v, _)| view.project(v));
        let snapped = projected.map(|p| snap(p.x * scale, p.y * scale));
        if snapped.iter().all(|c| c.is_finite()) {
            emit(ScreenTriangle {
                corners: snapped,
                nearness: Vec3::from(projected.map(|p| p.nearness)),
                weight: Vec3::from(projected.map(|p| p.weight)),
                whole: part.map(|(_, b)| b),
                mesh: 0,
                triangle: 0,
                // Picture rows run downwards, so a positive area is clockwise.
                front: cross(snapped[0], snapped[1], snapped[2]) < 0.0,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECT: Rect = Rect {
        x0: 0,
        y0: 0,
        x1: 16,
        y1: 16,
    };

    #[test]
    fn a_fan_covers_each_sample_once() {
        // The fan's centre and spokes lie exactly on sample centres.
        let centre = snap(8.5, 8.5);
        let ring = [
            (0.5, 0.5),
            (8.5, -3.0),
            (15.5, 0.5),
            (20.0, 8.5),
            (15.5, 15.5),
            (8.5, 20.0),
            (0.5, 15.5),
            (-3.0, 8.5),
        ];
        let mut count = [[0; 16]; 16];
        for i in 0..8 {
            let (a, b) = (ring[i], ring[(i + 1) % 8]);
            let triangle = [centre, snap(a.0, a.1), snap(b.0, b.1)];
            let turned = if i % 2 == 0 {
                triangle
            } else {
                [triangle[0], triangle[2], triangle[1]]
            };
            scan(turned, RECT, |x, y, b| {
                count[y][x] += 1;
                assert!((b.x + b.y + b.z - 1.0).abs() < 1e-6);
            });
        }
        for (y, row) in count.iter().enumerate() {
            for (x, &n) in row.iter().enumerate() {
                assert!(
                    n == 1 || (n == 0 && (x == 0 || y == 0 || x == 15 || y == 15)),
                    "{x} {y}: {n}"
                );
            }
        }
    }

    #[test]
    fn huge_degenerate_and_infinite_triangles_terminate() {
        let big = [snap(-1e30, -1e30), snap(1e30, -1e30), snap(0.0, 1e30)];
        let mut n = 0;
        scan(big, RECT, |_, _, _| n += 1);
        scan([snap(1.0, 1.0); 3], RECT, |_, _, _| n += 1000);
        scan(
            [snap(f32::NAN, 0.0), snap(1.0, 0.0), snap(0.0, 1.0)],
            RECT,
            |_, _, _| n += 1000,
        );
        assert!(n <= 256);
    }
}
