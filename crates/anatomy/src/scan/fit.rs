//! Pose and shape by damped Gauss–Newton on closest points.
//!
//! Least Σ ρ(dᵢ) over pairs of scan points and vertices whose normals agree, in both directions, with the residual taken
//! along the scan's normal and a small part of it in all directions; ρ is Geman and McClure's (1985). Coefficients and joint
//! angles have normal priors.

use std::ops::ControlFlow;

use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::kd_tree::KdTree;
use supple_geom::least_squares::residuals::PointToPlane;
use supple_geom::least_squares::residuals::point_to_plane::Pull;
use supple_geom::least_squares::{
    Damping, DenseNormal, Residual, Rows, Settings, Variables, minimise,
};
use supple_geom::normals::vertex_normals;

use super::cloud::{Cloud, one_per_cell};
use super::jacobian::Linearised;
use crate::body_model::{BodyModel, Figure};

/// Joints that the fit turns, and the expected size of their angles about X, Y and Z of the parent \[°\].
pub(super) const TURNED: [(&str, [f64; 3]); 20] = [
    ("root", [400.0; 3]),
    ("spine05", [5.0; 3]),
    ("spine03", [5.0; 3]),
    ("spine01", [5.0; 3]),
    ("neck01", [8.0; 3]),
    ("head", [12.0, 20.0, 10.0]),
    ("clavicle.L", [4.0; 3]),
    ("clavicle.R", [4.0; 3]),
    ("upperarm01.L", [20.0, 20.0, 40.0]),
    ("upperarm01.R", [20.0, 20.0, 40.0]),
    ("lowerarm01.L", [15.0, 20.0, 15.0]),
    ("lowerarm01.R", [15.0, 20.0, 15.0]),
    ("wrist.L", [10.0; 3]),
    ("wrist.R", [10.0; 3]),
    ("upperleg01.L", [15.0, 8.0, 12.0]),
    ("upperleg01.R", [15.0, 8.0, 12.0]),
    ("lowerleg01.L", [15.0, 2.0, 2.0]),
    ("lowerleg01.R", [15.0, 2.0, 2.0]),
    ("foot.L", [8.0, 6.0, 6.0]),
    ("foot.R", [8.0, 6.0, 6.0]),
];
/// Independent measurements that a scan counts as, and their error \[m\], against the priors. Ten times more and holes are
/// filled by wild shapes; ten times fewer and girths stay near the mean's.
const MEASUREMENTS: f64 = 500.0;
const MEASUREMENT_ERROR: f64 = 0.004;
/// Least expected size of a component: people vary beyond the bodies that the components were found in.
const LEAST_DEVIATION: f64 = 0.05;
/// Largest turn of a joint in one step \[rad\]: beyond it the linearisation is wrong.
const LARGEST_TURN: f64 = 0.35;
/// Least cosine between normals of a pair.
const LEAST_COSINE: f32 = 0.5;
/// Pairs are sought up to this many kernel widths.
const REACH: f32 = 4.0;
/// Weight of a landmark in shares of all points.
const LANDMARK_WEIGHT: f64 = 0.02;
/// Weight of pairs whose point stands farther than this off the scalp \[m\]: it is hair. With 1 heads of people with hair
/// grow by a third; below 0.1, and without a margin, heads whose face is a hole shrink.
const HAIR_TRUST: f64 = 0.15;
pub(super) const HAIR_HEIGHT: f64 = 0.01;
/// Levenberg's damping, with a floor for what nothing pulls.
const DAMPING: Damping = Damping::Fixed {
    relative: 0.001,
    absolute: 1e-6,
};

/// Points to fit to.
pub(super) struct Target {
    pub cloud: Cloud,
    tree: KdTree,
}

impl Target {
    pub fn new(cloud: Cloud) -> Target {
        Target {
            tree: KdTree::new(&cloud.points),
            cloud,
        }
    }
}

/// How one step weighs its pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weighing {
    /// Kernel width \[m\].
    pub width: f64,
    /// Weight of pairs from the body to the scan, relative to those from the scan.
    pub reverse: f64,
    /// Share of the residual that counts in all directions.
    pub tangential: f64,
}

/// A place the body is known to pass through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    /// Vertex, or joint after the vertices.
    pub point: usize,
    pub place: DVec3,
}

/// A model made ready for fitting with vertices of one spacing.
pub(super) struct Fitter<'a> {
    pub model: &'a BodyModel,
    /// Vertices that take part.
    sample: Vec<u32>,
    /// Whether hair grows on each.
    scalp: Vec<bool>,
    mean_normals: Vec<Vec3>,
    turned: Vec<usize>,
    anchors: &'a [Anchor],
}

impl<'a> Fitter<'a> {
    pub fn new(model: &'a BodyModel, spacing: f32, anchors: &'a [Anchor]) -> Self {
        let count = model.vertex_count();
        let mean: Vec<DVec3> = (0..count).map(|v| model.mean_point(v)).collect();
        let mesh = model.mesh(&mean);
        let sample: Vec<u32> = one_per_cell(&mesh.positions, spacing)
            .into_iter()
            .filter(|&v| !model.is_hidden(v as usize))
            .collect();
        Fitter {
            model,
            scalp: sample.iter().map(|&v| model.is_scalp(v as usize)).collect(),
            sample,
            mean_normals: vertex_normals(&mesh),
            turned: TURNED.iter().map(|(name, _)| model.joint(name)).collect(),
            anchors,
        }
    }

    /// One step. Returns the cost before it.
    pub fn step(&self, figure: &mut Figure, target: &Target, weighing: Weighing) -> f64 {
        let linear = Linearised::new(self.model, figure, &self.turned);
        let (pulls, mut cost) = self.pairs(&linear, target, weighing);
        let precision = MEASUREMENTS / MEASUREMENT_ERROR.powi(2);
        let pulled: Vec<(usize, Pull)> = (self.sample.iter().map(|&v| v as usize).zip(pulls))
            .chain(self.anchored(&linear, weighing, &mut cost))
            .collect();
        let pairs = PointToPlane::new(&linear, pulled, precision, 0.5 * cost);
        let mut posed = Posed {
            fitter: self,
            linear: &linear,
            figure: figure.clone(),
        };
        let cost = precision * cost + 2.0 * Priors.cost(&posed);
        let settings = Settings {
            steps: 1,
            damping: DAMPING,
            largest_step: LARGEST_TURN,
            still: 0.0,
        };
        let residuals: [&dyn Residual<Posed, 1>; 2] = [&pairs, &Priors];
        let go_on = &mut |_| ControlFlow::Continue(());
        if minimise(
            &mut posed,
            &residuals,
            &mut DenseNormal::new(),
            &settings,
            go_on,
        )
        .is_ok()
        {
            *figure = posed.figure;
        }
        cost
    }

    /// Closest points in both directions, gathered by vertex, and their cost.
    fn pairs(&self, linear: &Linearised, target: &Target, weighing: Weighing) -> (Vec<Pull>, f64) {
        let posed: Vec<(Vec3, Vec3)> = (self.sample.par_iter())
            .map(|&v| {
                let (place, rotation) = linear.place(v as usize);
                let normal = rotation * self.mean_normals[v as usize].as_dvec3();
                (place.as_vec3(), normal.as_vec3().normalize_or_zero())
            })
            .collect();
        let places: Vec<Vec3> = posed.iter().map(|p| p.0).collect();
        let tree = KdTree::new(&places);
        let cloud = &target.cloud;
        let reach = REACH * weighing.width as f32;
        let forward: Vec<Option<u32>> = (0..cloud.points.len())
            .into_par_iter()
            .map(|i| {
                let agrees = |v: u32| posed[v as usize].1.dot(cloud.normals[i]) > LEAST_COSINE;
                tree.nearest_where(cloud.points[i], reach, agrees)
                    .map(|n| n.index)
            })
            .collect();
        let backward: Vec<Option<u32>> = posed
            .par_iter()
            .map(|(place, normal)| {
                let agrees = |i: u32| cloud.normals[i as usize].dot(*normal) > LEAST_COSINE;
                target
                    .tree
                    .nearest_where(*place, reach, agrees)
                    .map(|n| n.index)
            })
            .collect();
        let mut pulls = vec![Pull::NONE; posed.len()];
        let mut cost = 0.0;
        let square = weighing.width * weighing.width;
        let mut pair = |vertex: u32, point: u32, share: f64| {
            let normal = cloud.normals[point as usize].as_dvec3();
            let miss = (cloud.points[point as usize] - places[vertex as usize]).as_dvec3();
            let off = miss.dot(posed[vertex as usize].1.as_dvec3());
            let hair = self.scalp[vertex as usize] && off > HAIR_HEIGHT;
            let share = if hair { HAIR_TRUST * share } else { share };
            let kernel = square / (square + miss.length_squared());
            let weight = share * kernel * kernel;
            cost += share * kernel * miss.length_squared();
            pulls[vertex as usize].add(weight, normal, miss, weighing.tangential);
        };
        let share = 1.0 / cloud.points.len().max(1) as f64;
        let mut lost = 0.0;
        for (point, found) in forward.iter().enumerate() {
            match found {
                Some(vertex) => pair(*vertex, point as u32, share),
                None => lost += share,
            }
        }
        let share = weighing.reverse / posed.len().max(1) as f64;
        for (vertex, found) in backward.iter().enumerate() {
            match found {
                Some(point) => pair(vertex as u32, *point, share),
                None => lost += share,
            }
        }
        (pulls, cost + lost * square)
    }

    /// Pulls of the landmarks.
    fn anchored(
        &self,
        linear: &Linearised,
        weighing: Weighing,
        cost: &mut f64,
    ) -> Vec<(usize, Pull)> {
        let square = weighing.width * weighing.width;
        (self.anchors.iter())
            .map(|anchor| {
                let miss = anchor.place - linear.point(anchor.point);
                let kernel = square / (square + miss.length_squared());
                *cost += LANDMARK_WEIGHT * kernel * miss.length_squared();
                let mut pull = Pull::NONE;
                pull.add(LANDMARK_WEIGHT * kernel * kernel, DVec3::ZERO, miss, 1.0);
                (anchor.point, pull)
            })
            .collect()
    }
}

/// A figure at which the model is linearised, as what is fitted: translation, coefficients, and turns about the world's axes.
#[derive(Clone)]
struct Posed<'a> {
    fitter: &'a Fitter<'a>,
    linear: &'a Linearised<'a>,
    figure: Figure,
}

impl Posed<'_> {
    fn turn(&self, slot: usize, step: &[[f64; 1]]) -> DVec3 {
        let at = self.linear.turn_column(slot);
        DVec3::new(step[at][0], step[at + 1][0], step[at + 2][0])
    }
}

impl Variables<1> for Posed<'_> {
    fn unknowns(&self) -> usize {
        self.linear.unknowns()
    }

    fn advance(&mut self, step: &[[f64; 1]]) {
        self.figure.translation += DVec3::new(step[0][0], step[1][0], step[2][0]);
        for (field, c) in self.figure.coefficients.iter_mut().enumerate() {
            *c += step[self.linear.field_column(field)][0];
        }
        for (slot, &joint) in self.fitter.turned.iter().enumerate() {
            let turn = match self.fitter.model.parents[joint] {
                None => self.turn(slot, step),
                Some(parent) => {
                    self.linear.frames.rotations[parent].transpose() * self.turn(slot, step)
                }
            };
            let local = &mut self.figure.locals[joint];
            *local = (DQuat::from_scaled_axis(turn) * *local).normalize();
        }
    }

    /// Largest turn \[rad\].
    fn length(&self, step: &[[f64; 1]]) -> f64 {
        (0..self.fitter.turned.len())
            .map(|slot| self.turn(slot, step).abs().max_element())
            .fold(0.0, f64::max)
    }
}

/// Normal priors of coefficients and joint angles.
struct Priors;

impl Residual<Posed<'_>, 1> for Priors {
    fn linearise(&self, posed: &Posed, _: usize, rows: &mut dyn Rows<1>) {
        let Posed {
            fitter,
            linear,
            figure,
        } = posed;
        let deviations = &fitter.model.deviations;
        for (field, (&c, &deviation)) in figure.coefficients.iter().zip(deviations).enumerate() {
            let weight = deviation.max(LEAST_DEVIATION).powi(-2);
            rows.row(weight, &[(linear.field_column(field) as u32, 1.0)], [c]);
        }
        for (slot, (&joint, (_, sizes))) in fitter.turned.iter().zip(TURNED).enumerate() {
            let Some(parent) = fitter.model.parents[joint] else {
                continue;
            };
            // Turns are about the world's axes, angles about the parent's.
            let carrier = linear.frames.rotations[parent];
            let angles = figure.locals[joint].to_scaled_axis();
            let first = linear.turn_column(slot) as u32;
            for (axis, size) in sizes.into_iter().enumerate() {
                let along = carrier.col(axis);
                let row = [0, 1, 2].map(|k| (first + k as u32, along[k]));
                rows.row(size.to_radians().powi(-2), &row, [angles[axis]]);
            }
        }
    }
}
