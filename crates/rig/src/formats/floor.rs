//! Detects the floor of a scan: a plane below the body that must not influence the estimate of its size.

use glam::Vec3;
use supple_geom::TriMesh;

use crate::character::Character;

/// Largest thickness of a flat side, relative to the largest extent. Scanned floors are rough and a little tilted.
const MAX_THICKNESS: f32 = 0.02;
/// Smallest fraction of a side of the bounding box that a floor covers. Soles and other supports
/// cover less.
const MIN_COVERAGE: f32 = 0.5;
/// Smallest height of the body above the floor, relative to the largest extent. A sheet has no floor.
const MIN_HEIGHT: f32 = 0.1;

/// A flat side of a character's bounding box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Floor {
    /// Axis it is perpendicular to: 0, 1 or 2.
    pub axis: usize,
    /// Whether it is at the low end of that axis.
    pub is_low: bool,
    end: f32,
    reach: f32,
}

impl Floor {
    /// Whether a point lies in the floor.
    pub fn contains(&self, point: Vec3) -> bool {
        (point[self.axis] - self.end).abs() <= self.reach
    }
}

/// The only flat side of a character's bounding box. `None` for boxes and cylinders, which have several flat sides.
pub(super) fn find_floor(character: &Character) -> Option<Floor> {
    let meshes = || character.parts.iter().map(|part| &part.mesh);
    let points = || meshes().flat_map(|mesh| &mesh.positions);
    let low = points().fold(Vec3::INFINITY, |low, &p| low.min(p));
    let high = points().fold(Vec3::NEG_INFINITY, |high, &p| high.max(p));
    let size = high - low;
    if !size.is_finite() || size.max_element() <= 0.0 {
        return None;
    }
    let reach = MAX_THICKNESS * size.max_element();
    let mut flat = (0..6).filter_map(|side| {
        let (axis, is_low) = (side / 2, side % 2 == 0);
        let end = if is_low { low[axis] } else { high[axis] };
        let floor = Floor {
            axis,
            is_low,
            end,
            reach,
        };
        let rectangle = size[(axis + 1) % 3] * size[(axis + 2) % 3];
        let covered: f32 = meshes().map(|mesh| area_in(mesh, &floor)).sum();
        let stands = size[axis] > MIN_HEIGHT * size.max_element();
        (stands && covered > MIN_COVERAGE * rectangle).then_some(floor)
    });
    flat.next().filter(|_| flat.next().is_none())
}

/// Area of the triangles in a floor, projected along its axis.
fn area_in(mesh: &TriMesh, floor: &Floor) -> f32 {
    let corners = |t: &[u32; 3]| -> Option<[Vec3; 3]> {
        let mut all = [Vec3::ZERO; 3];
        for (point, &corner) in all.iter_mut().zip(t) {
            *point = *mesh.positions.get(corner as usize)?;
        }
        all.iter().all(|&p| floor.contains(p)).then_some(all)
    };
    let inside = mesh.triangles.iter().filter_map(corners);
    inside
        .map(|[a, b, c]| 0.5 * (b - a).cross(c - a)[floor.axis].abs())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Part;
    use supple_geom::shapes;

    fn of(mesh: TriMesh) -> Character {
        let part = Part {
            mesh,
            ..Part::default()
        };
        Character {
            parts: vec![part],
            ..Character::default()
        }
    }

    #[test]
    fn a_plate_under_a_ball_is_a_floor_and_a_box_has_none() {
        let mut scan = shapes::icosphere(0.5, 3);
        let mut plate = shapes::cuboid(Vec3::new(3.0, 0.02, 3.0), 1);
        plate.positions.iter_mut().for_each(|p| p.y -= 0.5);
        scan.append(&plate);
        let floor = find_floor(&of(scan.clone())).unwrap();
        assert!(floor.axis == 1 && floor.is_low);
        let left = scan
            .positions
            .iter()
            .filter(|&&p| !floor.contains(p))
            .count();
        assert!(left > 550 && left < scan.positions.len());
        for shape in [
            shapes::icosphere(0.5, 3),
            shapes::cuboid(Vec3::ONE, 4),
            shapes::capsule(0.1, 1.0, 16, 8),
            plate,
        ] {
            assert_eq!(find_floor(&of(shape)), None);
        }
        assert_eq!(find_floor(&Character::default()), None);
    }
}
