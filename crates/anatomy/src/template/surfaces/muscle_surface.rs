//! The muscle surface from a target on each line from skin to skeleton surface [4.2.2].

use glam::{DVec3, Vec3};

use crate::Layers;
use crate::inversion_guard::InversionGuard;
use crate::surface_fit::{SurfaceFit, VertexTarget};

/// Bending weights in turn, and iterations at each; vertices go back to their lines after each.
const SCHEDULE: [(f64, usize); 3] = [(1e-7, 3), (1e-8, 3), (1e-9, 3)];

/// Least thickness of the muscle layer \[m\] [4.2.2], and of the fat layer: skin is thicker. Lines shorter than both together
/// are split in the middle.
const LEAST_MUSCLE: f64 = 0.001;
const LEAST_FAT: f64 = 0.0005;

/// Rounds of moving vertices to their places without inverting prisms.
const ROUNDS: usize = 8;

/// Where the muscle surface should cross the line from a skin vertex to its skeleton vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MuscleTarget {
    /// Place along the line: 0 at the skin, 1 at the skeleton surface.
    pub t: f32,
    /// Weight: 1 where the place is known; less (0.01, say) where it is a guess, as at the knee [4.2.2].
    pub weight: f32,
}

/// The muscle surface: (4.1) with the targets on the lines, projected back onto the lines, at least 1 mm off the skeleton
/// surface and never above the skin. No prism of either layer is inverted, if that between skin and halfway surface is not.
/// One target a vertex; missing ones have no weight, and those of vertices without layers are not looked at, nor is
/// `layers.muscle`.
pub fn muscle_surface(layers: &Layers, targets: &[MuscleTarget]) -> Vec<Vec3> {
    let double = |positions: &[Vec3]| positions.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>();
    let (skin, skeleton) = (double(&layers.skin), double(&layers.skeleton));
    let held: Vec<bool> = layers.layered.iter().map(|l| !l).collect();
    let lines = Lines {
        skin: &skin,
        skeleton: &skeleton,
        layered: &layers.layered,
    };
    let wanted = lines.fitted(layers, &held, targets);
    let bar = InversionGuard::between(&layers.triangles, &skin, &skeleton, &layers.layered);
    let mut muscle: Vec<DVec3> = (0..skin.len()).map(|v| lines.at(v, 0.5)).collect();
    for _ in 0..ROUNDS {
        if !bar.advance(&mut muscle, &wanted).contains(&true) {
            break;
        }
    }
    muscle.iter().map(|p| p.as_vec3()).collect()
}

struct Lines<'a> {
    skin: &'a [DVec3],
    skeleton: &'a [DVec3],
    layered: &'a [bool],
}

impl Lines<'_> {
    /// The point of a line at t.
    fn at(&self, v: usize, t: f64) -> DVec3 {
        if self.layered[v] {
            self.skin[v].lerp(self.skeleton[v], t)
        } else {
            self.skin[v]
        }
    }

    /// The nearest place on a line with room for both layers.
    fn projected(&self, v: usize, point: DVec3) -> DVec3 {
        let line = self.skeleton[v] - self.skin[v];
        let length = line.length();
        if length <= LEAST_FAT + LEAST_MUSCLE {
            return self.at(v, 0.5);
        }
        let along = (point - self.skin[v]).dot(line) / length;
        self.at(v, along.clamp(LEAST_FAT, length - LEAST_MUSCLE) / length)
    }

    /// The smooth surface through the targets, on the lines.
    fn fitted(&self, layers: &Layers, held: &[bool], targets: &[MuscleTarget]) -> Vec<DVec3> {
        let target = |v: usize| targets.get(v).copied().unwrap_or_default();
        let goal = |v: usize| self.at(v, f64::from(target(v).t.clamp(0.0, 1.0)));
        let mut fit = SurfaceFit::new(&layers.triangles, held, self.skin);
        let areas = fit.areas().to_vec();
        let sums: Vec<VertexTarget> = (0..self.skin.len())
            .map(|v| {
                let mut sum = VertexTarget::default();
                sum.add(goal(v), f64::from(target(v).weight.max(0.0)) * areas[v]);
                sum
            })
            .collect();
        let mut x = self.skin.to_vec();
        for (bending, iterations) in SCHEDULE {
            for _ in 0..iterations {
                // Without any weight and any held vertex nothing is determined: the targets as they are.
                x = (fit.solve(&x, bending, &sums, &[]))
                    .unwrap_or_else(|_| (0..x.len()).map(goal).collect());
            }
            x = (0..x.len()).map(|v| self.projected(v, x[v])).collect();
            fit.renew(&x);
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple_geom::shapes::icosphere;

    fn balls(inner: f32) -> Layers {
        let ball = icosphere(0.1, 4);
        Layers {
            layered: vec![true; ball.positions.len()],
            skeleton: ball.positions.iter().map(|p| *p * inner).collect(),
            skin: ball.positions.clone(),
            muscle: Vec::new(),
            triangles: ball.triangles,
        }
    }

    #[test]
    fn targets_are_reached_and_gaps_bridged() {
        let mut layers = balls(0.5);
        // Known at 30 % of the way, but for a cap where a wrong guess weighs little.
        let is_cap = |p: &Vec3| p.y > 0.085;
        let targets: Vec<MuscleTarget> = (layers.skin.iter())
            .map(|p| match is_cap(p) {
                true => MuscleTarget {
                    t: 1.0,
                    weight: 1e-4,
                },
                false => MuscleTarget {
                    t: 0.3,
                    weight: 1.0,
                },
            })
            .collect();
        layers.muscle = muscle_surface(&layers, &targets);
        for (p, skin) in layers.muscle.iter().zip(&layers.skin) {
            let t = (0.1 - p.length()) / 0.05;
            let most = if is_cap(skin) { 0.7 } else { 0.32 };
            assert!((0.27..most).contains(&t), "{t} at {skin}");
            assert!(p.normalize().distance(skin.normalize()) < 1e-4);
        }
        let found = layers.measures();
        assert_eq!((found.inverted_fat, found.inverted_muscle), (0, 0));
    }

    #[test]
    fn wild_targets_stay_between_skin_and_bone() {
        let mut layers = balls(0.95);
        let targets: Vec<MuscleTarget> = (0..layers.skin.len())
            .map(|v| MuscleTarget {
                t: if v % 2 == 0 { -3.0 } else { 9.0 },
                weight: 1.0,
            })
            .collect();
        layers.muscle = muscle_surface(&layers, &targets);
        let found = layers.measures();
        assert_eq!((found.inverted_fat, found.inverted_muscle), (0, 0));
        assert_eq!((found.muscle_outside, found.skeleton_outside), (0, 0));
        let least = (layers.muscle.iter().zip(&layers.skeleton))
            .map(|(m, b)| m.distance(*b))
            .fold(f32::INFINITY, f32::min);
        assert!(least > 0.99e-3, "{least}");
        // No targets at all: still a surface in between.
        layers.muscle = muscle_surface(&layers, &[]);
        assert_eq!(layers.measures().inverted_fat, 0);
    }
}
