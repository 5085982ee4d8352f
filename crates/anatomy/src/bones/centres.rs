//! Joint centres found on bones: spheres of heads, middles of condyles, places of contact.

use glam::{DMat3, DVec3};
use supple_geom::{Surface, TriMesh};

/// Least-squares sphere through points: centre and radius; `None` for fewer than four points or a plane.
/// With |p|² = 2 c·p + (r² − |c|²) it is linear in c and one more unknown; points are taken from their mean.
pub(super) fn sphere(points: &[DVec3]) -> Option<(DVec3, f64)> {
    if points.len() < 4 {
        return None;
    }
    let n = points.len() as f64;
    let mean = points.iter().sum::<DVec3>() / n;
    let squares = points
        .iter()
        .map(|p| (*p - mean).length_squared())
        .sum::<f64>()
        / n;
    let mut normal = DMat3::ZERO;
    let mut right = DVec3::ZERO;
    for p in points {
        let p = *p - mean;
        normal += DMat3::from_cols(p * p.x, p * p.y, p * p.z);
        right += p * (0.5 * (p.length_squared() - squares));
    }
    if normal.determinant().abs() < 1e-24 {
        return None;
    }
    let centre = normal.inverse() * right;
    let radius = (squares + centre.length_squared()).sqrt();
    (centre.is_finite()).then_some((mean + centre, radius))
}

/// The ball at the upper inner end of a femur or humerus: centre and radius. Falls back to the middle of the end's points.
fn head(mesh: &TriMesh, depth: f64) -> (DVec3, f64) {
    let points: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
    let top = points.iter().fold(f64::NEG_INFINITY, |top, p| top.max(p.y));
    let upper: Vec<DVec3> = (points.iter().copied())
        .filter(|p| p.y > top - depth)
        .collect();
    let inner = upper
        .iter()
        .fold(f64::INFINITY, |inner, p| inner.min(p.x.abs()));
    let mut ball: Vec<DVec3> = (upper.iter().copied())
        .filter(|p| p.x.abs() < inner + 0.6 * depth)
        .collect();
    let mean = |points: &[DVec3]| points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let mut found = (mean(&ball), 0.4 * depth);
    for _ in 0..6 {
        let Some((centre, radius)) = sphere(&ball) else {
            break;
        };
        if radius > depth || centre.distance(mean(&ball)) > depth {
            break;
        }
        found = (centre, radius);
        // The neck is farther from the centre than the ball; the shaft lies outwards and below.
        let near: Vec<DVec3> = (points.iter().copied())
            .filter(|p| (p.distance(centre) / radius - 1.0).abs() < 0.12)
            .filter(|p| p.x.abs() < centre.x.abs() + 0.25 * radius)
            .collect();
        if near.len() < 8 || near == ball {
            break;
        }
        ball = near;
    }
    found
}

/// Centre and radius of the femur's head.
pub(super) fn femoral_head(mesh: &TriMesh) -> (DVec3, f64) {
    head(mesh, 0.11 * f64::from(mesh.bounds().size().y))
}

/// Centre and radius of the humerus' head.
pub(super) fn humeral_head(mesh: &TriMesh) -> (DVec3, f64) {
    head(mesh, 0.12 * f64::from(mesh.bounds().size().y))
}

/// Middle of the box around the lowest part of a bone that hangs, `share` of its length high, and that part's half sizes.
pub(super) fn lower_end(mesh: &TriMesh, share: f32) -> (DVec3, DVec3) {
    let bounds = mesh.bounds();
    end(mesh, bounds.min.y, bounds.min.y + share * bounds.size().y)
}

/// Like [`lower_end`], of the highest part.
pub(super) fn upper_end(mesh: &TriMesh, share: f32) -> (DVec3, DVec3) {
    let bounds = mesh.bounds();
    end(mesh, bounds.max.y - share * bounds.size().y, bounds.max.y)
}

fn end(mesh: &TriMesh, low: f32, high: f32) -> (DVec3, DVec3) {
    let mut lowest = DVec3::INFINITY;
    let mut highest = DVec3::NEG_INFINITY;
    for p in (mesh.positions.iter()).filter(|p| (low..=high).contains(&p.y)) {
        lowest = lowest.min(p.as_dvec3());
        highest = highest.max(p.as_dvec3());
    }
    (0.5 * (lowest + highest), 0.5 * (highest - lowest))
}

/// The mean of the vertices near the extreme of `along`, within `reach` \[m\] of it.
pub(super) fn extreme(mesh: &TriMesh, along: DVec3, reach: f64) -> DVec3 {
    let height = |p: &glam::Vec3| p.as_dvec3().dot(along);
    let top = (mesh.positions.iter()).fold(f64::NEG_INFINITY, |top, p| top.max(height(p)));
    let near = (mesh.positions.iter()).filter(|p| height(p) >= top - reach);
    let (sum, n) = near.fold((DVec3::ZERO, 0), |(sum, n), p| (sum + p.as_dvec3(), n + 1));
    sum / f64::from(n.max(1))
}

/// Where two bones face each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contact {
    /// Middle of the facing places.
    pub at: DVec3,
    /// From the first to the second bone, unit length.
    pub along: DVec3,
    /// Least distance between them \[m\].
    pub gap: f64,
}

/// How much farther than the nearest vertices still count as facing \[m\].
const FACING: f32 = 0.0025;

/// The place where `b` faces `a`; `None` if one is empty.
pub(super) fn contact(a: &Surface, b: &TriMesh) -> Option<Contact> {
    let found: Vec<_> = (b.positions.iter())
        .filter_map(|&p| Some((p, a.closest_point(p)?.position)))
        .collect();
    let gap = found
        .iter()
        .fold(f32::INFINITY, |gap, (p, q)| gap.min(p.distance(*q)));
    let near = found.iter().filter(|(p, q)| p.distance(*q) <= gap + FACING);
    let (mut on_a, mut on_b, mut n) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for (p, q) in near {
        on_a += q.as_dvec3();
        on_b += p.as_dvec3();
        n += 1.0;
    }
    if n == 0.0 {
        return None;
    }
    let (on_a, on_b) = (on_a / n, on_b / n);
    let middles = b.bounds().center().as_dvec3() - a.bounds().center().as_dvec3();
    let along = (on_b - on_a).try_normalize();
    Some(Contact {
        at: 0.5 * (on_a + on_b),
        along: along.unwrap_or_else(|| middles.normalize_or_zero()),
        gap: f64::from(gap),
    })
}

/// The direction in which a bone is longest, and the first and last coordinate along it from the bone's middle.
pub(super) fn longest_axis(mesh: &TriMesh) -> DVec3 {
    let n = mesh.positions.len().max(1) as f64;
    let mean = mesh.positions.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / n;
    let mut spread = DMat3::ZERO;
    for p in &mesh.positions {
        let p = p.as_dvec3() - mean;
        spread += DMat3::from_cols(p * p.x, p * p.y, p * p.z);
    }
    // Power iteration: bones that need an axis are several times longer than wide.
    let mut axis = DVec3::new(0.3, 1.0, 0.2);
    for _ in 0..60 {
        axis = (spread * axis).normalize_or_zero();
    }
    if axis == DVec3::ZERO { DVec3::Y } else { axis }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes;

    #[test]
    fn sphere_of_a_cap_is_the_whole_sphere() {
        let centre = DVec3::new(0.3, 1.0, -0.2);
        let cap: Vec<DVec3> = (shapes::icosphere(0.024, 3).positions.iter())
            .filter(|p| p.y > 0.008)
            .map(|p| p.as_dvec3() + centre)
            .collect();
        let (found, radius) = sphere(&cap).unwrap();
        assert!(found.distance(centre) < 1e-6 && (radius - 0.024).abs() < 1e-6);
        assert!(sphere(&cap[..3]).is_none());
    }

    #[test]
    fn contact_is_between_two_spheres() {
        let a = shapes::icosphere(0.01, 3);
        let mut b = a.clone();
        b.positions.iter_mut().for_each(|p| p.y += 0.024);
        let found = contact(&Surface::new(a), &b).unwrap();
        assert!((found.gap - 0.004).abs() < 2e-4);
        assert!(found.at.distance(DVec3::new(0.0, 0.012, 0.0)) < 1e-3);
        assert!(found.along.dot(DVec3::Y) > 0.99);
    }
}
