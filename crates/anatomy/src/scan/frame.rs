//! Floor, up axis and unit of a scan.

use glam::{DMat3, DQuat, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::svd3::svd3;
use supple_geom::{Surface, TriMesh};

use super::cloud::Cloud;
use super::{Options, Scan, ScanError};

/// Statures of adults, by which the unit is guessed \[m\]. The ranges of all units are apart.
const ADULT: std::ops::Range<f64> = 1.25..2.35;
/// Statures that are taken for a child, and refused by name \[m\].
const CHILD: std::ops::Range<f64> = 0.45..1.25;
/// m, cm, mm, inches, feet, dm.
const UNITS: [f64; 6] = [1.0, 0.01, 0.001, 0.0254, 0.3048, 0.1];
/// An axis can be up if the extent along it is at least this share of the largest: arms of a T reach as far as a body is
/// tall.
const TALL: f64 = 0.72;
/// A scan whose longest direction is farther from all axes is tilted \[rad\].
const TILT: f64 = 0.12;

/// A way to stand a scan up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upright {
    /// Rotation that takes the scan's up to +Y.
    pub rotation: DMat3,
    /// Quarter turns that take the axis nearest to the scan's up to +Y.
    pub axes: DMat3,
    /// Length of the scan's unit \[m\].
    pub metres_per_unit: f64,
    /// Stature \[m\].
    pub stature: f64,
    /// Up in the scan's axes.
    pub up: DVec3,
}

/// A plane through the feet, at one end of an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floor {
    axis: usize,
    is_low: bool,
    height: f32,
}

/// The floor, if the thin slab at one end of an axis covers much more than soles do.
pub(super) fn find_floor(cloud: &Cloud) -> Option<Floor> {
    /// Half thickness of the slab and size of its cells, in shares of the scan's size.
    const THICKNESS: f32 = 0.004;
    const CELL: f32 = 0.025;
    /// Area of a floor over the squared size of the scan. Soles have 0.02, the back of somebody who lies 0.1.
    const LEAST_AREA: f32 = 0.15;
    let size = cloud.extent().max_element();
    let mut best: Option<(f32, Floor)> = None;
    for axis in 0..3 {
        let mut along: Vec<f32> = cloud.points.iter().map(|p| p[axis]).collect();
        along.sort_by(f32::total_cmp);
        for is_low in [true, false] {
            let at = match is_low {
                true => along[along.len() / 500],
                false => along[along.len() - 1 - along.len() / 500],
            };
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let slab = (cloud.points.iter()).filter(|p| (p[axis] - at).abs() < THICKNESS * size);
            let mut heights = Vec::new();
            let mut filled: Vec<(i32, i32)> = slab
                .map(|p| {
                    heights.push(p[axis]);
                    ((p[u] / (CELL * size)) as i32, (p[v] / (CELL * size)) as i32)
                })
                .collect();
            filled.sort_unstable();
            filled.dedup();
            let area = filled.len() as f32 * CELL * CELL;
            if area > LEAST_AREA && best.is_none_or(|(most, _)| area > most) {
                heights.sort_by(f32::total_cmp);
                let height = heights[heights.len() / 2];
                best = Some((
                    area,
                    Floor {
                        axis,
                        is_low,
                        height,
                    },
                ));
            }
        }
    }
    best.map(|(_, floor)| floor)
}

/// Drops the floor and what is below it.
pub(super) fn remove_floor(cloud: &mut Cloud, floor: Floor) {
    // Above this share of a stature soles go too, below it the noise of a floor stays.
    const CLEARANCE: f32 = 0.005;
    let size = cloud.extent().max_element();
    cloud.retain(|p| {
        let above = (p[floor.axis] - floor.height) * if floor.is_low { 1.0 } else { -1.0 };
        above > CLEARANCE * size
    });
}

/// Drops ground that no floor covers enough to be found by itself: pieces of floor, a pedestal. That is what lies lower than `above`
/// \[m\] over the soles of a body and farther than `away` \[m\] from it. Returns whether there was any.
pub(super) fn remove_ground(cloud: &mut Cloud, body: TriMesh, above: f32, away: f32) -> bool {
    let soles = body.positions.iter().map(|p| p.y).fold(f32::MAX, f32::min);
    let surface = Surface::new(body);
    let keep: Vec<bool> = (cloud.points.par_iter())
        .map(|p| p.y > soles + above || surface.closest_point_within(*p, away).is_some())
        .collect();
    let found = keep.contains(&false);
    if found {
        cloud.keep(&keep);
    }
    found
}

/// All ways in which the scan may stand, best guesses first.
pub(super) fn uprights(
    cloud: &Cloud,
    floor: Option<Floor>,
    scan: &Scan,
    options: &Options,
) -> Result<Vec<Upright>, ScanError> {
    let extent = cloud.extent().as_dvec3();
    let ups: Vec<DVec3> = match (options.up, floor) {
        (Some(up), _) => vec![up.as_dvec3().normalize_or(DVec3::Y)],
        (None, Some(floor)) => {
            vec![DVec3::AXES[floor.axis] * if floor.is_low { 1.0 } else { -1.0 }]
        }
        (None, None) => likely_ups(cloud, extent),
    };
    let mut found = Vec::new();
    let mut child: Option<f64> = None;
    for up in ups {
        let tall = height(cloud, up);
        match unit_of(tall, scan, options) {
            Some(unit) if CHILD.contains(&(tall * unit)) && options.metres_per_unit.is_none() => {
                child = Some(child.unwrap_or(0.0).max(tall * unit));
            }
            Some(metres_per_unit) => found.push(Upright {
                rotation: rotation_to_y(up),
                axes: axes_to_y(up),
                metres_per_unit,
                stature: tall * metres_per_unit,
                up,
            }),
            None => {}
        }
    }
    match (found.is_empty(), child) {
        (false, _) => Ok(found),
        (true, Some(stature)) => Err(ScanError::TooSmall {
            stature,
            least: ADULT.start,
        }),
        (true, None) if floor.is_some() => Err(ScanError::NotAPerson {
            reason: "nothing as tall as a person stands on its floor".to_owned(),
        }),
        (true, None) => Err(ScanError::NoUnit {
            extent: extent.max_element(),
        }),
    }
}

/// Length of a unit in which something this tall is a person.
fn unit_of(tall: f64, scan: &Scan, options: &Options) -> Option<f64> {
    if let Some(given) = options.metres_per_unit {
        return Some(given);
    }
    if let Some(declared) = scan.metres_per_unit
        && ADULT.contains(&(tall * declared))
    {
        return Some(declared);
    }
    let fits = |range: &std::ops::Range<f64>| {
        UNITS
            .iter()
            .copied()
            .find(|unit| range.contains(&(tall * unit)))
    };
    fits(&ADULT).or_else(|| fits(&CHILD))
}

fn likely_ups(cloud: &Cloud, extent: DVec3) -> Vec<DVec3> {
    let mut ups = Vec::new();
    let main = main_direction(cloud);
    let aligned = main.abs().max_element().clamp(0.0, 1.0).acos() < TILT;
    if !aligned {
        ups.extend([main, -main]);
    }
    // Y, Z, X: the order of how common they are.
    for axis in [1, 2, 0] {
        if extent[axis] >= TALL * extent.max_element() {
            ups.extend([DVec3::AXES[axis], -DVec3::AXES[axis]]);
        }
    }
    ups
}

/// The direction along which the points spread most.
fn main_direction(cloud: &Cloud) -> DVec3 {
    let count = cloud.points.len().max(1) as f64;
    let mean = cloud.points.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / count;
    let mut covariance = DMat3::ZERO;
    for point in &cloud.points {
        let d = point.as_dvec3() - mean;
        covariance += DMat3::from_cols(d * d.x, d * d.y, d * d.z);
    }
    let axis = svd3(covariance * (1.0 / count)).2.x_axis;
    axis * axis[axis.abs().max_position()].signum()
}

/// Extent along a direction without the outermost thousandths.
fn height(cloud: &Cloud, up: DVec3) -> f64 {
    let up = up.as_vec3();
    let mut along: Vec<f32> = cloud.points.iter().map(|p: &Vec3| p.dot(up)).collect();
    along.sort_by(f32::total_cmp);
    let cut = along.len() / 2000;
    f64::from(along[along.len() - 1 - cut] - along[cut])
}

/// The rotation that takes `up` to +Y: quarter turns for the nearest axis, then the least turn.
fn rotation_to_y(up: DVec3) -> DMat3 {
    let rough = axes_to_y(up);
    DMat3::from_quat(DQuat::from_rotation_arc((rough * up).normalize(), DVec3::Y)) * rough
}

fn axes_to_y(up: DVec3) -> DMat3 {
    let axis = up.abs().max_position();
    let quarter = match axis {
        0 => DMat3::from_cols(DVec3::Y, DVec3::NEG_X, DVec3::Z),
        1 => DMat3::IDENTITY,
        _ => DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y),
    };
    let half = match up[axis] < 0.0 {
        true => DMat3::from_diagonal(DVec3::new(1.0, -1.0, -1.0)),
        false => DMat3::IDENTITY,
    };
    half * quarter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_up_turns_to_y() {
        let tilted = DVec3::new(0.3, 0.9, -0.2).normalize();
        for up in DVec3::AXES.into_iter().chain([tilted]) {
            for up in [up, -up] {
                let rotation = rotation_to_y(up);
                assert!((rotation * up).distance(DVec3::Y) < 1e-12);
                assert!((rotation.determinant() - 1.0).abs() < 1e-12);
            }
        }
        // As the readers do it: Z up to Y up keeps X.
        assert_eq!(rotation_to_y(DVec3::Z) * DVec3::Y, DVec3::NEG_Z);
    }
}
