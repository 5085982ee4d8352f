//! Cross-sections drawn as an anatomy book does: areas filled one over the other.

use glam::{DVec2, DVec3, Vec3};
use supple_geom::section::{Plane, section};
use supple_geom::{Adjacency, TriMesh};
use supple_picture::Image;

/// Samples per pixel in each direction.
const SAMPLES: usize = 3;

/// A picture of a plane that areas are drawn into.
pub struct SectionDrawing {
    plane: Plane,
    right: DVec3,
    up: DVec3,
    /// Half the width of the picture \[m\].
    reach: f64,
    size: usize,
    colours: Vec<Vec3>,
}

impl SectionDrawing {
    /// A square picture of `size` pixels around the plane's point. `up` is a direction that is drawn upwards.
    pub fn new(plane: Plane, up: Vec3, reach: f32, size: usize, paper: Vec3) -> Self {
        let normal = plane.normal.as_dvec3().normalize_or(DVec3::Y);
        let up = up.as_dvec3();
        let up = (up - up.dot(normal) * normal).normalize_or(normal.any_orthonormal_vector());
        Self {
            plane,
            right: up.cross(normal),
            up,
            reach: f64::from(reach),
            size,
            colours: vec![paper; (SAMPLES * size).pow(2)],
        }
    }

    /// Fills where the plane cuts a closed mesh, and draws the edge with a line.
    pub fn fill(&mut self, mesh: &TriMesh, colour: Option<Vec3>, edge: Option<Vec3>) {
        let distance = |p: &Vec3| (*p - self.plane.point).dot(self.plane.normal);
        let above = mesh.positions.iter().any(|p| distance(p) > 0.0);
        let below = mesh.positions.iter().any(|p| distance(p) <= 0.0);
        if !(above && below) {
            return;
        }
        let cut = section(mesh, &Adjacency::new(mesh), self.plane);
        let loops: Vec<Vec<DVec2>> = (cut.loops.iter())
            .map(|curve| curve.points.iter().map(|&p| self.on_paper(p)).collect())
            .collect();
        if let Some(colour) = colour {
            self.fill_loops(&loops, colour);
        }
        for (curve, edge) in loops.iter().zip(std::iter::repeat(edge)) {
            if let Some(edge) = edge {
                self.draw_loop(curve, edge);
            }
        }
    }

    /// Sample coordinates of a point.
    fn on_paper(&self, point: DVec3) -> DVec2 {
        let offset = point - self.plane.point.as_dvec3();
        let flat = DVec2::new(offset.dot(self.right), -offset.dot(self.up));
        let half = 0.5 * (SAMPLES * self.size) as f64;
        DVec2::splat(half) + flat * (half / self.reach)
    }

    /// Fills by winding number, one row of samples after the other.
    fn fill_loops(&mut self, loops: &[Vec<DVec2>], colour: Vec3) {
        let width = SAMPLES * self.size;
        for row in 0..width {
            let y = row as f64 + 0.5;
            let mut crossings: Vec<(f64, i32)> = Vec::new();
            for curve in loops {
                for (k, a) in curve.iter().enumerate() {
                    let b = curve[(k + 1) % curve.len()];
                    if (a.y <= y) != (b.y <= y) {
                        let x = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
                        crossings.push((x, if b.y > a.y { 1 } else { -1 }));
                    }
                }
            }
            crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut winding = 0;
            for pair in crossings.windows(2) {
                winding += pair[0].1;
                if winding != 0 {
                    let sample = |x: f64| (x - 0.5).ceil().clamp(0.0, width as f64) as usize;
                    let (from, to) = (sample(pair[0].0), sample(pair[1].0));
                    if from < to {
                        self.colours[row * width + from..row * width + to].fill(colour);
                    }
                }
            }
        }
    }

    /// A line of about one pixel along a curve.
    fn draw_loop(&mut self, curve: &[DVec2], colour: Vec3) {
        let width = SAMPLES * self.size;
        for (k, &a) in curve.iter().enumerate() {
            let b = curve[(k + 1) % curve.len()];
            let steps = (2.0 * a.distance(b)).ceil().min(4.0 * width as f64) as usize;
            for step in 0..=steps {
                let at = a.lerp(b, step as f64 / steps.max(1) as f64);
                let inside = |x: f64| (0.0..width as f64 - 1.0).contains(&x);
                if inside(at.x) && inside(at.y) {
                    let corner = at.y as usize * width + at.x as usize;
                    for sample in [corner, corner + 1, corner + width, corner + width + 1] {
                        self.colours[sample] = colour;
                    }
                }
            }
        }
    }

    /// The picture.
    pub fn image(&self) -> Image {
        let mut image = Image::new(self.size, self.size, Vec3::ZERO);
        let width = SAMPLES * self.size;
        for y in 0..self.size {
            for x in 0..self.size {
                let samples = (0..SAMPLES * SAMPLES).map(|k| {
                    let (row, column) = (SAMPLES * y + k / SAMPLES, SAMPLES * x + k % SAMPLES);
                    self.colours[row * width + column]
                });
                let mean = samples.sum::<Vec3>() / (SAMPLES * SAMPLES) as f32;
                image.blend(x as i64, y as i64, mean, 1.0);
            }
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::icosphere;

    #[test]
    fn a_sphere_is_a_disc_of_its_area() {
        let plane = Plane {
            point: Vec3::ZERO,
            normal: Vec3::Y,
        };
        let mut drawing = SectionDrawing::new(plane, Vec3::Z, 2.0, 64, Vec3::ONE);
        drawing.fill(&icosphere(1.0, 4), Some(Vec3::ZERO), None);
        let image = drawing.image();
        let dark = image.rgba.chunks_exact(4).filter(|p| p[0] < 128).count();
        let share = dark as f64 / (64.0 * 64.0);
        assert!(
            (share - std::f64::consts::PI / 16.0).abs() < 0.01,
            "{share}"
        );
    }

    #[test]
    fn up_is_up_and_right_is_seen_from_where_the_normal_points() {
        let plane = Plane {
            point: Vec3::ZERO,
            normal: Vec3::Y,
        };
        let mut drawing = SectionDrawing::new(plane, Vec3::Z, 2.0, 32, Vec3::ONE);
        let mut ball = icosphere(0.3, 2);
        (ball.positions.iter_mut()).for_each(|p| *p += Vec3::new(1.0, 0.0, 1.0));
        drawing.fill(&ball, Some(Vec3::ZERO), None);
        let image = drawing.image();
        // Seen from above with +Z upwards, +X is on the left.
        assert_eq!(image.pixel(8, 8)[0], 0);
        assert_eq!(image.pixel(24, 24)[0], 255);
    }
}
