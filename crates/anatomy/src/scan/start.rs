//! Where a fit starts: a grid of headings and arm angles, scored by distances alone.

use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::kd_tree::KdTree;

use super::cloud::{Cloud, one_per_cell};
use crate::Sex;
use crate::body_model::{BodyModel, Figure};

/// Headings of the grid. Eight are enough for a fit that turns by up to 40°; twelve cost nothing.
const HEADINGS: usize = 12;
/// Arm angles from the rest pose: hanging to a T \[rad\].
const ARMS: [f64; 5] = [-0.6, -0.3, 0.0, 0.35, 0.75];
/// Spacing of the points that are scored \[m\].
const SPACING: f32 = 0.035;
/// Distances count up to this \[m\].
const REACH: f32 = 0.15;

/// A place to start from.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub score: f64,
    /// Sex of the figure's model.
    pub sex: Sex,
    /// Index among the headings.
    pub heading: usize,
    pub figure: Figure,
}

/// For each heading the best arm angle, best heading first.
pub(super) fn starts(model: &BodyModel, cloud: &Cloud, stature: f64) -> Vec<Start> {
    let chosen = one_per_cell(&cloud.points, SPACING);
    let scan: Vec<Vec3> = chosen.iter().map(|&i| cloud.points[i as usize]).collect();
    let scan_tree = KdTree::new(&scan);
    let mut found: Vec<Start> = (0..HEADINGS * ARMS.len())
        .into_par_iter()
        .map(|k| {
            let heading = k / ARMS.len();
            let angle = std::f64::consts::TAU * heading as f64 / HEADINGS as f64;
            let mut figure = sized(model, stature);
            figure.locals[0] = DQuat::from_rotation_y(angle);
            for (joint, sign) in [("upperarm01.L", 1.0), ("upperarm01.R", -1.0)] {
                figure.locals[model.joint(joint)] =
                    DQuat::from_rotation_z(sign * ARMS[k % ARMS.len()]);
            }
            let body = sampled(model, &figure);
            figure.translation += offset(&scan, &body);
            let shift = offset(&scan, &body).as_vec3();
            let body: Vec<Vec3> = body.iter().map(|&p| p + shift).collect();
            let score = spread(&scan, &KdTree::new(&body)) + spread(&body, &scan_tree);
            Start {
                score,
                sex: model.sex,
                heading,
                figure,
            }
        })
        .collect();
    found.sort_by(|a, b| a.score.total_cmp(&b.score));
    let mut seen = [false; HEADINGS];
    found.retain(|start| !std::mem::replace(&mut seen[start.heading], true));
    found
}

/// Whether two headings are far enough apart to be tried both.
pub(super) fn differ(a: usize, b: usize) -> bool {
    let apart = a.abs_diff(b);
    apart.min(HEADINGS - apart) >= 2
}

/// Whether two headings are back to back.
pub(super) fn opposite(a: usize, b: usize) -> bool {
    a.abs_diff(b) == HEADINGS / 2
}

/// The mean body, with the first component set so that it is as tall as asked.
pub(super) fn sized(model: &BodyModel, stature: f64) -> Figure {
    let mut figure = Figure::mean(model);
    let heights = |v: usize| model.mean_point(v).y;
    let order = |&a: &usize, &b: &usize| heights(a).total_cmp(&heights(b));
    let (Some(top), Some(low)) = (
        (0..model.vertex_count()).max_by(order),
        (0..model.vertex_count()).min_by(order),
    ) else {
        return figure;
    };
    let growth = f64::from(model.point_fields(top)[0].y - model.point_fields(low)[0].y);
    let most = 2.5 * model.deviations[0];
    let missing = stature - (heights(top) - heights(low));
    figure.coefficients[0] = (missing / growth).clamp(-most, most);
    figure
}

fn sampled(model: &BodyModel, figure: &Figure) -> Vec<Vec3> {
    let mean: Vec<Vec3> = (0..model.vertex_count())
        .map(|v| model.mean_point(v).as_vec3())
        .collect();
    let frames = figure.frames(model, &model.rest_joints(&figure.coefficients));
    (one_per_cell(&mean, SPACING).iter())
        .map(|&v| {
            let rest = model.rest_point(v as usize, &figure.coefficients);
            frames.place(model, v as usize, rest).as_vec3()
        })
        .collect()
}

/// What brings the body's middle and crown to the scan's. The crown, because soles go with a floor.
fn offset(scan: &[Vec3], body: &[Vec3]) -> DVec3 {
    let middle = |points: &[Vec3], axis: usize| {
        let mut along: Vec<f32> = points.iter().map(|p| p[axis]).collect();
        along.sort_by(f32::total_cmp);
        along.get(along.len() / 2).copied().unwrap_or(0.0)
    };
    let top = |points: &[Vec3]| points.iter().map(|p| p.y).fold(f32::MIN, f32::max);
    DVec3::new(
        f64::from(middle(scan, 0) - middle(body, 0)),
        f64::from(top(scan) - top(body)),
        f64::from(middle(scan, 2) - middle(body, 2)),
    )
}

/// Mean squared distance to the tree's points, each up to the reach.
fn spread(points: &[Vec3], tree: &KdTree) -> f64 {
    let squared = |&p: &Vec3| {
        let near = tree.nearest(p, REACH);
        f64::from(near.map_or(REACH * REACH, |n| n.distance_squared))
    };
    points.iter().map(squared).sum::<f64>() / points.len().max(1) as f64
}
