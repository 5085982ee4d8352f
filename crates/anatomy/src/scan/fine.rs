//! The fine-scale deformation: the fitted figure bends to the scan [4.2.1, (4.1)–(4.2)].
//!
//! Least Σᵢ wᵢ |pᵢ − Σ bᵢₖ xₖ|² + λ Σᵥ Aᵥ |Δ(x − x⁰)|ᵥ²: closest points of the skin go to the scan's points, and the
//! displacement from the fitted figure bends little. λ falls from step to step, so that coarse shape comes first.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::kd_tree::KdTree;
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::least_squares::residuals::{PointToPoint, Smoothness};
use supple_geom::least_squares::{
    Damping, Equations, Points, Residual, Settings, SparseNormal, minimise,
};
use supple_geom::surface::{ClosestPoint, closest_on_triangle};
use supple_geom::{Surface, adjacency};

use super::cloud::Cloud;
use super::fit::HAIR_HEIGHT;
use crate::Sex;
use crate::body_model::BodyModel;

/// Bending length and kernel width of each step \[m\]: λ is the bending length to the fourth. Lengths below 0.02 follow
/// noise of 2 mm, a start above 0.2 moves nothing.
const STEPS: [(f64, f64); 5] = [
    (0.15, 0.03),
    (0.07, 0.02),
    (0.04, 0.015),
    (0.025, 0.012),
    (0.02, 0.01),
];
/// Spacing of the scan's points \[m\].
const SPACING: f32 = 0.008;
/// Pairs are sought up to this many kernel widths.
const REACH: f64 = 3.0;
/// Least cosine between normals of a pair.
const LEAST_COSINE: f32 = 0.3;
/// How much less head, hands and toes bend: their detail is finer than scans resolve.
const DETAIL_STIFFNESS: f64 = 10.0;
/// Keeps vertices that nothing pulls from drifting, in shares of a mean vertex's area \[m²\].
const HOLD: f64 = 1e-8;

/// Most that a place moves in one step \[m\]: pairs are nearer.
const LARGEST_STEP: f64 = 0.2;

/// What depends on the model alone.
struct Bending {
    /// Weight and terms of the Laplacian at each vertex.
    rows: Vec<(f64, Vec<(u32, f64)>)>,
    /// Equations that have been analysed.
    equations: SparseNormal<3>,
    vertex_triangles: adjacency::Rows,
}

fn bending(model: &BodyModel) -> &'static Bending {
    static CACHE: [OnceLock<Bending>; 2] = [OnceLock::new(), OnceLock::new()];
    let slot = match model.sex {
        Sex::Male => &CACHE[0],
        Sex::Female => &CACHE[1],
    };
    slot.get_or_init(|| Bending::of(model))
}

impl Bending {
    fn of(model: &BodyModel) -> Bending {
        let mean: Vec<DVec3> = (0..model.vertex_count())
            .map(|v| model.mean_point(v))
            .collect();
        let clamp = Clamp {
            least_weight: 0.02,
            largest_weight: 5.0,
            ..Clamp::COTANGENTS
        };
        let laplacian = cotan_laplacian(&mean, &model.triangles, clamp);
        let mut rows: Vec<(f64, Vec<(u32, f64)>)> = (0..mean.len())
            .map(|vertex| {
                let detail = model.is_detail(vertex);
                let stiffness = if detail { DETAIL_STIFFNESS } else { 1.0 };
                (stiffness / laplacian.mass[vertex].max(1e-6), Vec::new())
            })
            .collect();
        for (row, column, value) in laplacian.triplets() {
            rows[row as usize].1.push((column, value));
        }
        let points = Points::with_held(mean.clone(), &vec![false; mean.len()]);
        let mut equations = SparseNormal::new();
        let smooth = smoothness(&rows, 1.0, &points);
        let all = (0..Residual::<Points, 3>::pieces(&smooth)).map(|piece| {
            let mut rows = equations.piece(mean.len());
            smooth.linearise(&points, piece, &mut rows);
            rows
        });
        let all = all.collect();
        // Ones on the diagonal make it positive definite.
        let analysed = (equations.assemble(mean.len(), all))
            .and_then(|()| equations.solve(&vec![1.0; mean.len()]));
        analysed.expect("bending of the embedded body");
        Bending {
            rows,
            equations,
            vertex_triangles: adjacency::vertex_triangles(&model.mesh(&mean)),
        }
    }
}

/// Skin of the fitted figure, bent to the scan \[m\].
pub(super) fn deformed(model: &BodyModel, fitted: &[DVec3], cloud: &Cloud) -> Vec<DVec3> {
    let bending = bending(model);
    let mut cloud = cloud.thinned(SPACING);
    let hair = hair(model, fitted, &cloud);
    cloud.keep(&hair.iter().map(|hair| !hair).collect::<Vec<_>>());
    let mut equations = bending.equations.clone();
    let start = Points::with_held(fitted.to_vec(), &vec![false; fitted.len()]);
    let mut skin = fitted.to_vec();
    for (length, width) in STEPS {
        // The displacement is that from the fitted figure in each step.
        let mut places = PointToPoint::new(&start);
        for pair in pairs(model, bending, &skin, &cloud, width) {
            let shares = pair.vertices.into_iter().zip(pair.shares.map(f64::from));
            places.push(pair.weight, shares, pair.place, &start);
        }
        let smooth = smoothness(&bending.rows, length.powi(4), &start);
        let settings = Settings {
            steps: 1,
            damping: Damping::Fixed {
                relative: 0.0,
                absolute: HOLD,
            },
            largest_step: LARGEST_STEP,
            still: 0.0,
        };
        let residuals: [&dyn Residual<Points, 3>; 2] = [&smooth, &places];
        let mut moved = start.clone();
        let go_on = &mut |_| ControlFlow::Continue(());
        if minimise(&mut moved, &residuals, &mut equations, &settings, go_on).is_err() {
            return skin;
        }
        skin = moved.at;
        carry_hidden(model, fitted, &mut skin);
    }
    skin
}

/// Bending of the displacement from where the points are.
fn smoothness(rows: &[(f64, Vec<(u32, f64)>)], weight: f64, points: &Points) -> Smoothness {
    let mut smooth = Smoothness::new(points);
    for (own, terms) in rows {
        smooth.push(weight * own, terms.iter().copied(), points);
    }
    smooth
}

/// Points that stand off the scalp of the fitted figure: hair and hats, to which the skin must not bend.
pub(super) fn hair(model: &BodyModel, fitted: &[DVec3], cloud: &Cloud) -> Vec<bool> {
    let surface = Surface::new(model.mesh(fitted));
    (cloud.points.par_iter())
        .map(|&point| {
            let Some(near) = surface.closest_point(point) else {
                return false;
            };
            let triangle = near.triangle as usize;
            let normal = surface.mesh().triangle_normal(triangle);
            model.is_scalp(model.triangles[triangle][0] as usize)
                && f64::from((point - near.position).dot(normal)) > HAIR_HEIGHT
        })
        .collect()
}

/// A point of the scan and the place of the skin it pulls.
struct Pair {
    vertices: [u32; 3],
    shares: [f32; 3],
    place: DVec3,
    weight: f64,
}

fn pairs(
    model: &BodyModel,
    bending: &Bending,
    skin: &[DVec3],
    cloud: &Cloud,
    width: f64,
) -> Vec<Pair> {
    let mesh = model.mesh(skin);
    let vertex_normals = supple_geom::normals::vertex_normals(&mesh);
    let tree = KdTree::new(&mesh.positions);
    let surface = Surface::new(mesh);
    let reach = (REACH * width) as f32;
    let area = f64::from(SPACING * SPACING);
    let agrees = |a: Vec3, b: Vec3| a.dot(b) > LEAST_COSINE;
    (0..cloud.points.len())
        .into_par_iter()
        .filter_map(|i| {
            let (point, normal) = (cloud.points[i], cloud.normals[i]);
            let mut found = surface.closest_point_within(point, reach)?;
            if !agrees(
                surface.mesh().triangle_normal(found.triangle as usize),
                normal,
            ) {
                let facing = |v: u32| agrees(vertex_normals[v as usize], normal);
                let near = tree.nearest_where(point, reach, facing)?.index;
                let around = bending.vertex_triangles.row(near as usize).iter();
                let closest = around.map(|&t| on_triangle(&surface, t, point));
                found = closest.min_by(|a, b| a.distance.total_cmp(&b.distance))?;
            }
            let vertices = model.triangles[found.triangle as usize];
            if model.is_hidden(vertices[0] as usize) {
                return None;
            }
            let distance = f64::from(found.distance);
            let kernel = width * width / (width * width + distance * distance);
            Some(Pair {
                vertices,
                shares: found.barycentric,
                place: point.as_dvec3(),
                weight: kernel * kernel * area,
            })
        })
        .collect()
}

fn on_triangle(surface: &Surface, triangle: u32, point: Vec3) -> ClosestPoint {
    let corners = surface
        .mesh()
        .corners(triangle as usize)
        .map(|p| p.as_dvec3());
    let shares = closest_on_triangle(point.as_dvec3(), corners);
    let position: DVec3 = corners.iter().zip(shares).map(|(&p, s)| s * p).sum();
    ClosestPoint {
        position: position.as_vec3(),
        triangle,
        barycentric: shares.map(|s| s as f32),
        distance: position.distance(point.as_dvec3()) as f32,
    }
}

/// Moves what no scan shows (eyeballs) with the skin nearest to it.
fn carry_hidden(model: &BodyModel, fitted: &[DVec3], skin: &mut [DVec3]) {
    for &(hidden, carrier) in model.carried() {
        let (hidden, carrier) = (hidden as usize, carrier as usize);
        skin[hidden] = fitted[hidden] + skin[carrier] - fitted[carrier];
    }
}
