//! Compact code of the meshes of bones and muscles: positions on a grid, differences of successive numbers.

use glam::{Vec2, Vec3};
use supple_geom::TriMesh;

use crate::template::format::bytes::{Malformed, Reader, Writer};

/// Spacing of the grid that bones and muscles are stored on \[m\]. Coarser steps show on small bones of the hand; finer ones
/// only take space: the bones themselves are known to millimetres.
pub const GRID: f64 = 5e-5;
/// Places farther than this from the origin are not stored \[m\].
const FARTHEST: f64 = 1e4;

/// Moves points to the grid.
pub fn round_positions(positions: &mut [Vec3]) {
    for point in positions {
        *point = from_grid(on_grid(*point));
    }
}

fn on_grid(point: Vec3) -> [i64; 3] {
    let cell = |x: f32| (f64::from(x).clamp(-FARTHEST, FARTHEST) / GRID).round() as i64;
    point.to_array().map(cell)
}

fn from_grid(cells: [i64; 3]) -> Vec3 {
    Vec3::from_array(cells.map(|cell| (cell as f64 * GRID) as f32))
}

/// Writes a mesh; positions are rounded to the grid.
pub fn write_mesh(mesh: &TriMesh, writer: &mut Writer) {
    writer.unsigned(mesh.positions.len() as u64);
    writer.unsigned(mesh.triangles.len() as u64);
    let cells: Vec<[i64; 3]> = mesh.positions.iter().map(|&point| on_grid(point)).collect();
    for axis in 0..3 {
        writer.differences(cells.iter().map(|cell| cell[axis]));
    }
    // The corners of successive triangles are near each other, each as each.
    for corner in 0..3 {
        let corners = mesh.triangles.iter().map(|triangle| triangle[corner]);
        match corner {
            0 => writer.differences(corners.map(i64::from)),
            _ => mesh
                .triangles
                .iter()
                .for_each(|t| writer.signed(i64::from(t[corner]) - i64::from(t[corner - 1]))),
        }
    }
}

/// Reads a mesh.
pub fn read_mesh(reader: &mut Reader) -> Result<TriMesh, Malformed> {
    let vertices = reader.count()?;
    let triangles = reader.count()?;
    let axes = [
        reader.differences(vertices)?,
        reader.differences(vertices)?,
        reader.differences(vertices)?,
    ];
    let farthest = (FARTHEST / GRID) as i64;
    if axes
        .iter()
        .flatten()
        .any(|cell| !(-farthest..=farthest).contains(cell))
    {
        return Err(Malformed("a vertex is too far away"));
    }
    let positions = (0..vertices).map(|v| from_grid([axes[0][v], axes[1][v], axes[2][v]]));
    let positions = positions.collect();
    let mut corners = vec![[0u32; 3]; 0];
    let first = reader.indices(triangles, vertices)?;
    corners.extend(first.iter().map(|&a| [a, 0, 0]));
    for corner in 1..3 {
        for triangle in &mut corners {
            let index = i64::from(triangle[corner - 1]).checked_add(reader.signed()?);
            triangle[corner] = (index.and_then(|index| u32::try_from(index).ok()))
                .filter(|&index| (index as usize) < vertices)
                .ok_or(Malformed("an index is out of range"))?;
        }
    }
    Ok(TriMesh {
        positions,
        triangles: corners,
    })
}

/// A direction as two bytes: the octahedron unfolded to a square.
pub fn direction_code(direction: Vec3) -> [i8; 2] {
    // On the octahedron's edges several codes are one direction; the first that comes back as itself is taken.
    let mut code = nearest_code(direction);
    for _ in 0..4 {
        let again = nearest_code(coded_direction(code));
        if again == code {
            break;
        }
        code = again;
    }
    code
}

fn nearest_code(direction: Vec3) -> [i8; 2] {
    let size = direction.abs().element_sum();
    let on = match size > 0.0 && size.is_finite() {
        true => direction / size,
        false => Vec3::Z,
    };
    let folded = match on.z >= 0.0 {
        true => on.truncate(),
        false => (Vec2::ONE - on.truncate().yx_abs()) * signs(on.truncate()),
    };
    folded.to_array().map(|x| (127.0 * x).round() as i8)
}

/// The direction of a code, of unit length.
pub fn coded_direction([x, y]: [i8; 2]) -> Vec3 {
    let flat = Vec2::new(f32::from(x), f32::from(y)) / 127.0;
    let z = 1.0 - flat.abs().element_sum();
    let on = match z >= 0.0 {
        true => flat,
        false => (Vec2::ONE - flat.yx_abs()) * signs(flat),
    };
    on.extend(z).normalize_or(Vec3::Z)
}

/// The nearest direction that can be stored.
pub fn rounded_direction(direction: Vec3) -> Vec3 {
    coded_direction(direction_code(direction))
}

/// A share from 0 to 1 as a byte.
pub fn share_code(share: f32) -> u8 {
    (255.0 * share).round() as u8
}

/// The share of a byte.
pub fn coded_share(code: u8) -> f32 {
    f32::from(code) / 255.0
}

fn signs(v: Vec2) -> Vec2 {
    let sign = |x: f32| if x >= 0.0 { 1.0 } else { -1.0 };
    Vec2::new(sign(v.x), sign(v.y))
}

trait YxAbs {
    /// Both coordinates without sign, in the other order.
    fn yx_abs(self) -> Self;
}

impl YxAbs for Vec2 {
    fn yx_abs(self) -> Self {
        Vec2::new(self.y.abs(), self.x.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::icosphere;

    #[test]
    fn a_rounded_mesh_comes_back_to_the_bit() {
        let mut mesh = icosphere(0.237, 3);
        let exact = mesh.positions.clone();
        round_positions(&mut mesh.positions);
        let mut writer = Writer::default();
        write_mesh(&mesh, &mut writer);
        let mut reader = Reader {
            bytes: &writer.bytes,
        };
        assert_eq!(read_mesh(&mut reader).unwrap(), mesh);
        assert!(reader.end().is_ok());
        for (rounded, exact) in mesh.positions.iter().zip(&exact) {
            assert!((*rounded - *exact).abs().max_element() <= 0.51 * GRID as f32);
        }
    }

    #[test]
    fn every_direction_is_stored_within_a_degree_and_then_stays() {
        for point in icosphere(1.0, 4).positions {
            let stored = rounded_direction(point);
            assert!(stored.angle_between(point) < 1.0f32.to_radians());
            assert!((stored.length() - 1.0).abs() < 1e-6);
            assert_eq!(rounded_direction(stored), stored);
        }
        for x in -128..=127i8 {
            for y in -128..=127i8 {
                let direction = rounded_direction(coded_direction([x, y]));
                assert!(direction.is_normalized());
                assert_eq!(rounded_direction(direction), direction);
            }
        }
    }

    #[test]
    fn no_direction_is_some_direction() {
        for direction in [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY] {
            assert!(rounded_direction(direction).is_normalized());
        }
    }
}
