//! Paths of muscles in a body: strips of fibres from origin to insertion.

use glam::Vec3;
use supple_geom::{Surface, TriMesh};

use crate::template::musculature::atlas::{AtlasError, Entry, Place};
use crate::template::places::frame::Half;
use crate::template::places::segments::Section;

/// Samples along each fibre.
const SAMPLES: usize = 33;
/// Largest distance between neighbouring fibres of a strip where it is widest \[m\]; the strip's own shape is no finer.
const FIBRE_SPACING: f32 = 0.012;
/// Most fibres of a strip. With 14 those of the belly wall are 25 mm apart, and the strip cuts the corner at the crest of the ilium.
const MOST_FIBRES: usize = 28;
/// Width of the strip of a muscle that is a line \[m\].
const LINE_WIDTH: f32 = 2e-4;

/// The middle of a muscle: fibres side by side, each from origin to insertion in as many steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Fibres \[m\].
    pub fibres: Vec<Vec<Vec3>>,
    /// Thickness of the muscle at each step, relative to where it is thickest.
    pub profile: Vec<f32>,
}

impl Strip {
    /// Steps along each fibre.
    pub fn samples(&self) -> usize {
        self.fibres.first().map_or(0, Vec::len)
    }

    /// The strip as a mesh; vertex `k · samples + j` is sample `j` of fibre `k`.
    pub fn mesh(&self) -> TriMesh {
        let n = self.samples() as u32;
        let mut mesh = TriMesh {
            positions: self.fibres.concat(),
            triangles: Vec::new(),
        };
        for k in 1..self.fibres.len() as u32 {
            for j in 1..n {
                let at = |k: u32, j: u32| k * n + j;
                let [a, b] = [at(k - 1, j - 1), at(k - 1, j)];
                let [c, d] = [at(k, j), at(k, j - 1)];
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        mesh
    }

    /// Unit tangent of each vertex of [`Strip::mesh`], from origin to insertion.
    pub fn tangents(&self) -> Vec<Vec3> {
        let mut tangents = Vec::new();
        for fibre in &self.fibres {
            for j in 0..fibre.len() {
                let ends = [j.saturating_sub(1), (j + 1).min(fibre.len() - 1)];
                let along = fibre[ends[1]] - fibre[ends[0]];
                tangents.push(along.normalize_or(Vec3::NEG_Y));
            }
        }
        tangents
    }

    /// Mean length of the fibres \[m\].
    pub fn length(&self) -> f32 {
        let lengths = (self.fibres.iter())
            .map(|fibre| fibre.windows(2).map(|p| p[0].distance(p[1])).sum::<f32>());
        lengths.sum::<f32>() / self.fibres.len().max(1) as f32
    }

    /// The strip with every point moved.
    pub fn moved(&self, place: impl Fn(Vec3) -> Vec3) -> Strip {
        Strip {
            fibres: (self.fibres.iter())
                .map(|fibre| fibre.iter().map(|&p| place(p)).collect())
                .collect(),
            profile: self.profile.clone(),
        }
    }

    /// Area of the strip \[m²\].
    pub fn area(&self) -> f64 {
        self.mesh().area()
    }
}

/// The strip of a muscle in a body whose muscle surface is `surface`, in the space of `half`.
pub fn strip(entry: &Entry, half: &Half, surface: &Surface) -> Result<Strip, AtlasError> {
    let last = entry.rows.len() - 1;
    let mut rows: Vec<Vec<Vec3>> = Vec::with_capacity(entry.rows.len());
    for (r, row) in entry.rows.iter().enumerate() {
        let place = |place: &Place| place_at(entry, half, surface, place, r == 0 || r == last);
        rows.push(row.iter().map(place).collect::<Result<_, _>>()?);
    }
    let widest = rows.iter().map(|row| length(row)).fold(0.0, f32::max);
    let fibres = if widest == 0.0 {
        2
    } else {
        ((widest / FIBRE_SPACING).ceil() as usize + 1).clamp(2, MOST_FIBRES)
    };
    let rows: Vec<Vec<Vec3>> = rows.iter().map(|row| resampled(row, fibres)).collect();
    let mut strip = Strip {
        fibres: (0..fibres)
            .map(|k| {
                let points: Vec<Vec3> = rows.iter().map(|row| row[k]).collect();
                spline(&points, &entry.depth, surface)
            })
            .collect(),
        profile: (0..SAMPLES)
            .map(|j| entry.profile(j as f32 / (SAMPLES - 1) as f32))
            .collect(),
    };
    widen(&mut strip);
    Ok(strip)
}

fn place_at(
    entry: &Entry,
    half: &Half,
    surface: &Surface,
    place: &Place,
    attached: bool,
) -> Result<Vec3, AtlasError> {
    let missing = |bone: &str| AtlasError::NoBone {
        muscle: entry.name.clone(),
        bone: format!("{bone}{}", half.side.suffix()),
    };
    match place {
        Place::Bone(name, at) => {
            let bone = half.bone(name).ok_or_else(|| AtlasError::NoBone {
                muscle: entry.name.clone(),
                bone: name.clone(),
            })?;
            Ok(if attached { bone.on(*at) } else { bone.at(*at) })
        }
        Place::Section(segment, t, at) => {
            let section = Section::new(half, surface, *segment, *t).ok_or_else(|| {
                let absent = segment.bones().into_iter().find(|b| half.bone(b).is_none());
                missing(absent.unwrap_or_default())
            })?;
            Ok(section.at(surface, *at))
        }
    }
}

fn length(points: &[Vec3]) -> f32 {
    points.windows(2).map(|p| p[0].distance(p[1])).sum()
}

/// `count` points at equal lengths along a polyline.
fn resampled(points: &[Vec3], count: usize) -> Vec<Vec3> {
    let total = length(points);
    if points.len() == 1 || total == 0.0 {
        return vec![points[0]; count];
    }
    let mut out = Vec::with_capacity(count);
    let (mut k, mut before) = (1, 0.0);
    for i in 0..count {
        let wanted = total * i as f32 / (count - 1) as f32;
        while k + 1 < points.len() && before + points[k - 1].distance(points[k]) < wanted {
            before += points[k - 1].distance(points[k]);
            k += 1;
        }
        let step = points[k - 1].distance(points[k]).max(f32::MIN_POSITIVE);
        out.push(points[k - 1].lerp(points[k], ((wanted - before) / step).clamp(0.0, 1.0)));
    }
    out
}

/// A centripetal Catmull–Rom spline through the points, sampled evenly, brought to the rows' depths.
fn spline(points: &[Vec3], depth: &[Option<f32>], surface: &Surface) -> Vec<Vec3> {
    const FINE: usize = 12;
    let n = points.len();
    let mut fine = Vec::new();
    for s in 0..n - 1 {
        let [p1, p2] = [points[s], points[s + 1]];
        let p0 = if s > 0 { points[s - 1] } else { p1 + (p1 - p2) };
        let p3 = if s + 2 < n {
            points[s + 2]
        } else {
            p2 + (p2 - p1)
        };
        for k in 0..=FINE {
            if k == FINE && s + 2 < n {
                continue;
            }
            let t = k as f32 / FINE as f32;
            let p = catmull_rom([p0, p1, p2, p3], t);
            fine.push(at_depth(p, depth[s], depth[s + 1], t, surface));
        }
    }
    resampled(&fine, SAMPLES)
}

fn catmull_rom([p0, p1, p2, p3]: [Vec3; 4], t: f32) -> Vec3 {
    let step = |a: Vec3, b: Vec3| a.distance(b).sqrt().max(1e-4);
    let t1 = step(p0, p1);
    let t2 = t1 + step(p1, p2);
    let t3 = t2 + step(p2, p3);
    let t = t1 + t * (t2 - t1);
    let a1 = p0.lerp(p1, t / t1);
    let a2 = p1.lerp(p2, (t - t1) / (t2 - t1));
    let a3 = p2.lerp(p3, (t - t2) / (t3 - t2));
    let b1 = a1.lerp(a2, t / t2);
    let b2 = a2.lerp(a3, (t - t1) / (t3 - t1));
    b1.lerp(b2, (t - t1) / (t2 - t1))
}

/// The point brought to a depth below the surface that changes from one row's to the next's.
fn at_depth(p: Vec3, from: Option<f32>, to: Option<f32>, t: f32, surface: &Surface) -> Vec3 {
    let (depth, strength) = match (from, to) {
        (None, None) => return p,
        (Some(a), Some(b)) => (a + t * (b - a), 1.0),
        (Some(a), None) => (a, 1.0 - smooth(t)),
        (None, Some(b)) => (b, smooth(t)),
    };
    let Some(found) = surface.closest_point(p) else {
        return p;
    };
    let inside = surface.contains(p);
    let out = (found.position - p) * if inside { 1.0 } else { -1.0 };
    let normal = surface.mesh().triangle_normal(found.triangle as usize);
    let out = if found.distance > 1e-3 {
        out.normalize_or(normal)
    } else {
        normal
    };
    p.lerp(found.position - depth * out, strength)
}

fn smooth(t: f32) -> f32 {
    t * t * (3.0 - 2.0 * t)
}

/// Strips that are a line get a small width, so that they are meshes without degenerate triangles.
fn widen(strip: &mut Strip) {
    let n = strip.samples();
    for j in 0..n {
        let ends = [j.saturating_sub(1), (j + 1).min(n - 1)];
        let along = strip.fibres[0][ends[1]] - strip.fibres[0][ends[0]];
        let across = along
            .cross(Vec3::Z)
            .normalize_or(along.any_orthogonal_vector().normalize_or(Vec3::X));
        let count = strip.fibres.len();
        let width: f32 = (1..count)
            .map(|k| strip.fibres[k - 1][j].distance(strip.fibres[k][j]))
            .sum();
        if width < LINE_WIDTH {
            for (k, fibre) in strip.fibres.iter_mut().enumerate() {
                fibre[j] += across * (LINE_WIDTH * (k as f32 / (count - 1) as f32 - 0.5));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splines_pass_through_their_points() {
        let points = [
            Vec3::ZERO,
            Vec3::new(0.1, -0.2, 0.0),
            Vec3::new(0.1, -0.5, 0.1),
        ];
        let nothing = Surface::new(TriMesh::default());
        let fibre = spline(&points, &[None; 3], &nothing);
        assert_eq!(fibre.len(), SAMPLES);
        for p in points {
            let nearest = fibre
                .iter()
                .map(|q| q.distance(p))
                .fold(f32::INFINITY, f32::min);
            assert!(nearest < 0.012, "{nearest}");
        }
        let steps: Vec<f32> = fibre.windows(2).map(|w| w[0].distance(w[1])).collect();
        let mean = steps.iter().sum::<f32>() / steps.len() as f32;
        assert!(steps.iter().all(|s| (s / mean - 1.0).abs() < 0.1));
    }
}
