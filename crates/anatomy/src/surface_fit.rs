//! A surface fitted to targets while it keeps its bending: (4.1) with (4.2) and (4.3), by local/global iterations.
//!
//! `supple_sim`'s solver minimises the same energies, but keeps its state in single precision and a model's targets and
//! weights as one set for all time. Here bending weights go down to 1e-8 (Laplacians in 1/m, areas in m²), targets change
//! their kind and weight from one iteration to the next, and rest Laplacians are renewed every few: in effect a new model an
//! iteration. So these are residuals of a fit in double precision, with one ordering for all of its matrices.

use std::ops::ControlFlow;

use glam::DVec3;
use supple_geom::laplace::Clamp;
use supple_geom::least_squares::residuals::TurnedBending;
use supple_geom::least_squares::{
    Damping, FitError, Points, Residual, Rows, Settings, SparseNormal, minimise,
};
use supple_geom::sparse::SparseError;

/// Bounds on the Laplacian's weights, so that needles (cotangent 10 is 6°) are not stiff and every edge has a hold.
const CLAMP: Clamp = Clamp {
    cotangent: 10.0,
    least_weight: 0.02,
    largest_weight: f64::INFINITY,
};

/// Least area of a vertex \[m²\], which bounds the coefficients of tiny triangles.
const LEAST_AREA: f64 = 2e-6;

/// One local/global iteration. No point of a body is farther from its target than the bound \[m\].
const ITERATION: Settings = Settings {
    steps: 1,
    damping: Damping::NONE,
    largest_step: 2.5,
    still: 0.0,
};

/// A target of one vertex: the sum of any number of weighted points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VertexTarget {
    /// Sum of the weights \[m²\].
    pub weight: f64,
    /// Sum of weight times point \[m³\].
    pub sum: DVec3,
}

impl VertexTarget {
    /// Adds a point \[m\] with a weight (that of (4.3) times the vertex' area) \[m²\].
    pub fn add(&mut self, point: DVec3, weight: f64) {
        self.weight += weight;
        self.sum += weight * point;
    }
}

/// A target of a point of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Corners.
    pub vertices: [u32; 3],
    /// Their shares in the point.
    pub shares: [f64; 3],
    /// Where it should be \[m\].
    pub target: DVec3,
    /// Weight \[m²\].
    pub weight: f64,
}

/// A surface with some of its vertices held.
#[derive(Clone)]
pub struct SurfaceFit {
    bending: TurnedBending,
    points: Points,
    equations: SparseNormal<3>,
}

impl SurfaceFit {
    /// A surface over `held.len()` vertices with the bending of a reference.
    pub fn new(triangles: &[[u32; 3]], held: &[bool], reference: &[DVec3]) -> Self {
        let points = Points::with_held(reference.to_vec(), held);
        SurfaceFit {
            bending: TurnedBending::new(triangles, &points, CLAMP, LEAST_AREA),
            points,
            equations: SparseNormal::new(),
        }
    }

    /// Vertices that move, ascending.
    pub fn free(&self) -> &[u32] {
        self.points.free()
    }

    /// Area of each vertex of the reference \[m²\].
    pub fn areas(&self) -> &[f64] {
        self.bending.areas()
    }

    /// Takes the Laplacians of another shape as those to keep.
    pub fn renew(&mut self, reference: &[DVec3]) {
        self.bending.renew(reference);
    }

    /// One local/global iteration from x: the free vertices where bending (4.2) times its weight and the targets (4.3) are
    /// least for the present rotations. Fails if a vertex has neither bending nor target.
    pub fn solve(
        &mut self,
        x: &[DVec3],
        bending: f64,
        targets: &[VertexTarget],
        pulls: &[Pull],
    ) -> Result<Vec<DVec3>, SparseError> {
        self.bending.weight = bending;
        self.points.at.copy_from_slice(x);
        let targets = Targets {
            unknowns: self.unknowns(),
            targets,
            pulls,
        };
        let residuals: [&dyn Residual<Points, 3>; 2] = [&self.bending, &targets];
        let go_on = &mut |_| ControlFlow::Continue(());
        let (points, equations) = (&mut self.points, &mut self.equations);
        minimise(points, &residuals, equations, &ITERATION, go_on)
            .map_err(FitError::into_sparse)?;
        Ok(self.points.at.clone())
    }

    /// Unknown of each vertex that moves.
    fn unknowns(&self) -> Vec<Option<u32>> {
        let mut unknowns = vec![None; self.points.at.len()];
        for (k, &v) in (0u32..).zip(self.points.free()) {
            unknowns[v as usize] = Some(k);
        }
        unknowns
    }
}

/// Targets of vertices and of points between them.
struct Targets<'a> {
    unknowns: Vec<Option<u32>>,
    targets: &'a [VertexTarget],
    pulls: &'a [Pull],
}

impl Residual<Points, 3> for Targets<'_> {
    fn linearise(&self, points: &Points, _: usize, rows: &mut dyn Rows<3>) {
        for (&v, unknown) in points.free().iter().zip(0u32..) {
            let target = &self.targets[v as usize];
            // The sum itself may be at its target without weight.
            if target.weight > 0.0 {
                let off = points.at[v as usize] - target.sum / target.weight;
                rows.row(target.weight, &[(unknown, 1.0)], off.to_array());
            }
        }
        for pull in self.pulls {
            let corners = || pull.vertices.iter().zip(pull.shares);
            let at: DVec3 = corners()
                .map(|(&v, share)| share * points.at[v as usize])
                .sum();
            let mut derivatives = [(0, 0.0); 3];
            let mut count = 0;
            for (&v, share) in corners() {
                if let Some(unknown) = self.unknowns[v as usize] {
                    derivatives[count] = (unknown, share);
                    count += 1;
                }
            }
            rows.row(
                pull.weight,
                &derivatives[..count],
                (at - pull.target).to_array(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use supple_geom::shapes::icosphere;

    fn ball() -> (Vec<[u32; 3]>, Vec<DVec3>) {
        let mesh = icosphere(0.1, 3);
        (
            mesh.triangles,
            mesh.positions.iter().map(|p| p.as_dvec3()).collect(),
        )
    }

    #[test]
    fn a_turned_surface_is_found_from_three_targets() {
        let (triangles, x) = ball();
        let mut fit = SurfaceFit::new(&triangles, &vec![false; x.len()], &x);
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.8);
        let goal: Vec<DVec3> = x.iter().map(|p| turn * *p + DVec3::X).collect();
        let mut targets = vec![VertexTarget::default(); x.len()];
        (0..x.len())
            .step_by(40)
            .for_each(|v| targets[v].add(goal[v], 1e-3));
        let mut found = x;
        for _ in 0..60 {
            found = fit.solve(&found, 1e-6, &targets, &[]).unwrap();
        }
        let worst = found
            .iter()
            .zip(&goal)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        assert!(worst < 1e-4, "{worst}");
    }

    #[test]
    fn held_vertices_stay_and_pulls_reach() {
        let (triangles, x) = ball();
        let held: Vec<bool> = x.iter().map(|p| p.y < 0.0).collect();
        let mut fit = SurfaceFit::new(&triangles, &held, &x);
        let top = (triangles.iter())
            .find(|t| t.iter().all(|&v| x[v as usize].y > 0.08))
            .unwrap();
        let pull = Pull {
            vertices: *top,
            shares: [0.2, 0.3, 0.5],
            target: DVec3::new(0.0, 0.13, 0.0),
            weight: 1.0,
        };
        let targets = vec![VertexTarget::default(); x.len()];
        let mut found = x.clone();
        for _ in 0..10 {
            found = fit.solve(&found, 1e-6, &targets, &[pull]).unwrap();
        }
        let at: DVec3 = (0..3)
            .map(|k| pull.shares[k] * found[top[k] as usize])
            .sum();
        assert!(at.distance(pull.target) < 1e-3, "{at}");
        for v in 0..x.len() {
            assert!(!held[v] || found[v] == x[v]);
        }
        assert!(found.iter().zip(&x).any(|(a, b)| a.distance(*b) > 0.01));
    }
}
