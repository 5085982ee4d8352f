//! The fine-scale deformation: the fitted figure bends to the scan [4.2.1, (4.1)–(4.2)].
//!
//! Least Σᵢ wᵢ |pᵢ − Σ bᵢₖ xₖ|² + λ Σᵥ Aᵥ |Δ(x − x⁰)|ᵥ²: closest points of the skin go to the scan's points, and the
//! displacement from the fitted figure bends little. λ falls from step to step, so that coarse shape comes first.

use std::sync::OnceLock;

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use supple_geom::kd_tree::KdTree;
use supple_geom::laplace::{Clamp, cotan_laplacian};
use supple_geom::sparse::{Cholesky, SymmetricCsc};
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

/// What depends on the model alone.
struct Bending {
    matrix: SymmetricCsc,
    factor: Cholesky,
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
        let rows: Vec<Vec<(u32, f64)>> = {
            let mut rows = vec![Vec::new(); mean.len()];
            for (row, column, value) in laplacian.triplets() {
                rows[row as usize].push((column, value));
            }
            rows
        };
        let mut entries = Vec::new();
        for (vertex, row) in rows.iter().enumerate() {
            let detail = model.is_detail(vertex);
            let stiffness = if detail { DETAIL_STIFFNESS } else { 1.0 };
            let factor = stiffness / laplacian.mass[vertex].max(1e-6);
            for &(i, a) in row {
                let lower = row.iter().filter(|&&(j, _)| j <= i);
                entries.extend(lower.map(|&(j, b)| (i, j, factor * a * b)));
            }
        }
        let matrix = SymmetricCsc::summed(mean.len(), entries);
        let mut held = matrix.clone();
        held.add_diagonal(&vec![1.0; mean.len()]);
        Bending {
            // A matrix with ones on its diagonal is positive definite.
            factor: Cholesky::new(&held).expect("bending of the embedded body"),
            matrix,
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
    let mut factor = bending.factor.clone();
    let mut skin = fitted.to_vec();
    for (length, width) in STEPS {
        let pairs = pairs(model, bending, &skin, &cloud, width);
        let stiffness = length.powi(4);
        let mut matrix = bending.matrix.scaled(stiffness);
        matrix.add_diagonal(&vec![HOLD; skin.len()]);
        let mut right = [(); 3].map(|()| vec![0.0; skin.len()]);
        for pair in &pairs {
            // The pull on the displacement from the fitted figure.
            let rest: DVec3 = (0..3)
                .map(|k| f64::from(pair.shares[k]) * fitted[pair.vertices[k] as usize])
                .sum();
            let pull = pair.weight * (pair.place - rest);
            for (k, &a) in pair.vertices.iter().enumerate() {
                let share = f64::from(pair.shares[k]);
                for axis in 0..3 {
                    right[axis][a as usize] += share * pull[axis];
                }
                for (l, &b) in pair.vertices.iter().enumerate().filter(|(_, b)| **b <= a) {
                    let value = pair.weight * share * f64::from(pair.shares[l]);
                    add(&mut matrix, a, b, value);
                }
            }
        }
        if factor.refactor(&matrix).is_err() {
            return skin;
        }
        factor.solve_columns(&mut right);
        for (v, place) in skin.iter_mut().enumerate() {
            *place = fitted[v] + DVec3::new(right[0][v], right[1][v], right[2][v]);
        }
        carry_hidden(model, fitted, &mut skin);
    }
    skin
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

/// Adds to an entry of the lower triangle that is in the pattern.
fn add(matrix: &mut SymmetricCsc, row: u32, column: u32, value: f64) {
    let start = matrix.column_starts[column as usize] as usize;
    let end = matrix.column_starts[column as usize + 1] as usize;
    if let Ok(at) = matrix.rows[start..end].binary_search(&row) {
        matrix.values[start + at] += value;
    }
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
