//! Local rotation at each vertex.

use glam::{Mat3, Quat, Vec3};

use crate::mesh::TriMesh;

/// Rotation of every vertex from rest to now: the area-weighted mean of its triangles' rotations; the identity without
/// triangles.
pub fn vertex_turns(rest: &TriMesh, now: &[Vec3]) -> Vec<Quat> {
    let mut sums = vec![glam::Vec4::ZERO; rest.positions.len()];
    for triangle in &rest.triangles {
        let before = triangle_frame(triangle.map(|v| rest.positions[v as usize]));
        let after = triangle_frame(triangle.map(|v| now[v as usize]));
        let (Some((before, area)), Some((after, _))) = (before, after) else {
            continue;
        };
        let turn = glam::Vec4::from(Quat::from_mat3(&(after * before.transpose())));
        for &v in triangle {
            let sum = &mut sums[v as usize];
            let sign = if sum.dot(turn) < 0.0 { -1.0 } else { 1.0 };
            *sum += turn * (sign * area);
        }
    }
    sums.into_iter()
        .map(|sum| sum.try_normalize().map_or(Quat::IDENTITY, Quat::from_vec4))
        .collect()
}

/// Orthonormal frame of a triangle and its area.
fn triangle_frame([a, b, c]: [Vec3; 3]) -> Option<(Mat3, f32)> {
    let (u, v) = (b - a, c - a);
    let cross = u.cross(v);
    let normal = cross.try_normalize()?;
    // Halfway between the two sides: more symmetric in the corners than one side alone.
    let along = (u.try_normalize()? + v.try_normalize()?).try_normalize()?;
    Some((
        Mat3::from_cols(along, normal.cross(along), normal),
        0.5 * cross.length(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn a_twist_turns_by_its_angle() {
        let rest = shapes::tube(0.1, 1.0, 32, 200);
        let turn = |p: Vec3| Quat::from_rotation_y(1.5 * p.y);
        let now: Vec<Vec3> = rest.positions.iter().map(|&p| turn(p) * p).collect();
        for (v, found) in vertex_turns(&rest, &now).into_iter().enumerate() {
            let wrong = found.angle_between(turn(rest.positions[v]));
            // A twist also shears, by at most 0.1 m × 1.5 rad/m.
            assert!(wrong < 0.16, "{wrong}");
        }
        let flat = TriMesh {
            positions: vec![Vec3::ZERO; 3],
            triangles: vec![[0, 1, 2]],
        };
        assert_eq!(vertex_turns(&flat, &flat.positions), [Quat::IDENTITY; 3]);
    }
}
