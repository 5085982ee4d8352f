//! Shells that keep their shape: each moves by one rigid motion, the mean of its vertices' linear blend.

use glam::{Affine3A, DMat3, DVec3, Vec3};
use supple_geom::polar::rotation_f64;

/// A shell that keeps its shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigidPiece {
    /// Its joints.
    pub pulls: Vec<Pull>,
    /// Mean of its vertices in bind pose \[m\].
    pub centre: DVec3,
    /// Distance from linear blend beyond which a vertex follows its own weights after all \[m\]; infinite if it never does.
    pub slack: f32,
}

/// The share of a joint in a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// The joint.
    pub joint: usize,
    /// Mean of its weights over all vertices.
    pub weight: f64,
    /// Mean of weight times position \[m\].
    pub point: DVec3,
}

impl RigidPiece {
    /// A piece on one joint.
    pub fn on_joint(joint: usize) -> Self {
        Self {
            pulls: vec![Pull {
                joint,
                weight: 1.0,
                point: DVec3::ZERO,
            }],
            centre: DVec3::ZERO,
            slack: f32::INFINITY,
        }
    }

    /// A piece of vertices in bind pose \[m\] with their joints and weights.
    pub fn of_vertices<'a>(
        vertices: impl Iterator<Item = (Vec3, &'a [(usize, f64)])>,
        slack: f32,
    ) -> Self {
        let mut piece = Self {
            slack,
            ..Self::default()
        };
        let mut count = 0.0;
        for (position, weights) in vertices {
            let position = position.as_dvec3();
            piece.centre += position;
            count += 1.0;
            for &(joint, weight) in weights {
                let found = piece.pulls.iter().position(|pull| pull.joint == joint);
                let index = found.unwrap_or_else(|| {
                    piece.pulls.push(Pull {
                        joint,
                        weight: 0.0,
                        point: DVec3::ZERO,
                    });
                    piece.pulls.len() - 1
                });
                piece.pulls[index].weight += weight;
                piece.pulls[index].point += weight * position;
            }
        }
        piece.centre /= f64::max(count, 1.0);
        for pull in &mut piece.pulls {
            pull.weight /= f64::max(count, 1.0);
            pull.point /= f64::max(count, 1.0);
        }
        piece
    }

    /// Its motion from the bind pose, given that of every joint: it takes the centre to the centre of linear blend. Its rotation is
    /// the one closest to the mean matrix, and its scale the mean of the joints' scales.
    pub fn motion(&self, moves: &[Affine3A]) -> Affine3A {
        if let [only] = self.pulls.as_slice() {
            return moves.get(only.joint).copied().unwrap_or_default();
        }
        let (mut linear, mut centre) = (DMat3::ZERO, DVec3::ZERO);
        let (mut scale, mut total) = (0.0, 0.0);
        for pull in &self.pulls {
            let Some(moved) = moves.get(pull.joint) else {
                continue;
            };
            let matrix = DMat3::from_cols(
                moved.matrix3.x_axis.as_dvec3(),
                moved.matrix3.y_axis.as_dvec3(),
                moved.matrix3.z_axis.as_dvec3(),
            );
            linear += pull.weight * matrix;
            centre += matrix * pull.point + pull.weight * moved.translation.as_dvec3();
            scale += pull.weight * matrix.determinant().abs().cbrt();
            total += pull.weight;
        }
        if total <= 0.0 {
            return Affine3A::IDENTITY;
        }
        let turn = rotation_f64(linear) * (scale / total);
        let shift = centre / total - turn * self.centre;
        Affine3A::from_mat3_translation(turn.as_mat3(), shift.as_vec3())
    }

    /// A vertex at `rigid` \[m\] no farther than the slack from where linear blend puts it.
    pub fn near(&self, rigid: Vec3, blended: Vec3) -> Vec3 {
        let gap = rigid - blended;
        match gap.length() > self.slack {
            true => blended + gap * (self.slack / gap.length()),
            false => rigid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    fn plate() -> Vec<(Vec3, Vec<(usize, f64)>)> {
        let row = |x: f32| (0..4).map(move |y| Vec3::new(x, y as f32, 0.0));
        (0..4)
            .flat_map(|x| row(x as f32))
            .map(|p| {
                let weight = 0.4 + 0.05 * f64::from(p.x);
                (p, vec![(1, weight), (0, 1.0 - weight)])
            })
            .collect()
    }

    fn piece(slack: f32) -> RigidPiece {
        let plate = plate();
        RigidPiece::of_vertices(plate.iter().map(|(p, w)| (*p, w.as_slice())), slack)
    }

    #[test]
    fn a_flat_piece_keeps_its_lengths_between_two_joints() {
        let bent = Affine3A::from_quat(Quat::from_rotation_x(1.2));
        let motion = piece(f32::INFINITY).motion(&[Affine3A::IDENTITY, bent]);
        let moved: Vec<Vec3> = (plate().iter())
            .map(|(p, _)| motion.transform_point3(*p))
            .collect();
        for (i, (a, _)) in plate().iter().enumerate() {
            for (j, (b, _)) in plate().iter().enumerate() {
                assert!((a.distance(*b) - moved[i].distance(moved[j])).abs() < 1e-5);
            }
        }
        // Its centre is that of linear blend.
        let blended = |(p, weights): &(Vec3, Vec<(usize, f64)>)| {
            p.lerp(bent.transform_point3(*p), weights[0].1 as f32)
        };
        let mean = plate().iter().map(blended).sum::<Vec3>() / 16.0;
        assert!(moved.iter().sum::<Vec3>().distance(16.0 * mean) < 1e-4);
    }

    #[test]
    fn one_motion_of_all_joints_is_exact_and_the_slack_holds() {
        let moved = Affine3A::from_scale_rotation_translation(
            Vec3::splat(1.5),
            Quat::from_rotation_z(0.7),
            Vec3::new(1.0, 2.0, 3.0),
        );
        let piece = piece(0.1);
        let motion = piece.motion(&[moved, moved]);
        assert!(motion.abs_diff_eq(moved, 1e-5), "{motion:?}");
        let (far, near) = (Vec3::X, Vec3::X * 0.05);
        assert!(piece.near(far, Vec3::ZERO).distance(Vec3::X * 0.1) < 1e-6);
        assert_eq!(piece.near(near, Vec3::ZERO), near);
    }
}
