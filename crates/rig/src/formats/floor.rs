//! The floor of a scan: a plane below a shape, which says nothing about the size of what stands on it.

use glam::Vec3;
use supple_geom::TriMesh;

use crate::character::Character;

/// Thickness of what counts as flat, as a share of the largest extent: scanned floors are rough and a little tilted.
const FLAT: f32 = 0.02;
/// Least share of a side of the box around everything that a floor covers. Soles, and all other things that shapes stand
/// on, cover less.
const COVERED: f32 = 0.5;
/// Least height of what stands on a floor, as a share of the largest extent: a sheet has no floor.
const STANDING: f32 = 0.1;

/// One side of the box around a character that is a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Floor {
    /// 0, 1, 2: the axis it is perpendicular to.
    pub axis: usize,
    /// Whether it is at the axis' low end.
    pub is_low: bool,
    end: f32,
    reach: f32,
}

impl Floor {
    /// Whether a point lies in it.
    pub fn holds(&self, point: Vec3) -> bool {
        (point[self.axis] - self.end).abs() <= self.reach
    }
}

/// The only flat side of a character's box: boxes and cylinders, which have several, stand on no floor.
pub(super) fn find_floor(character: &Character) -> Option<Floor> {
    let meshes = || character.parts.iter().map(|part| &part.mesh);
    let points = || meshes().flat_map(|mesh| &mesh.positions);
    let low = points().fold(Vec3::INFINITY, |low, &p| low.min(p));
    let high = points().fold(Vec3::NEG_INFINITY, |high, &p| high.max(p));
    let size = high - low;
    if !size.is_finite() || size.max_element() <= 0.0 {
        return None;
    }
    let reach = FLAT * size.max_element();
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
        let stands = size[axis] > STANDING * size.max_element();
        (stands && covered > COVERED * rectangle).then_some(floor)
    });
    flat.next().filter(|_| flat.next().is_none())
}

/// Area of the triangles that lie in a floor, seen along its axis.
fn area_in(mesh: &TriMesh, floor: &Floor) -> f32 {
    let corners = |t: &[u32; 3]| -> Option<[Vec3; 3]> {
        let mut all = [Vec3::ZERO; 3];
        for (point, &corner) in all.iter_mut().zip(t) {
            *point = *mesh.positions.get(corner as usize)?;
        }
        all.iter().all(|&p| floor.holds(p)).then_some(all)
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
        let left = scan.positions.iter().filter(|&&p| !floor.holds(p)).count();
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
