//! All constraints other than tet strain and tet volume, not vectorised: projections in double precision, forces in single.

use glam::{DMat3, DVec3};
use supple_geom::simd::Row;

use super::rows::volume_of_tets;
use crate::constraints::polyhedron::{StretchLimits, closest_limited};
use crate::constraints::rescale;
use crate::constraints::volume::closest_with_determinant;
use crate::{Model, Targets, Weights};

/// The constraints of one region, in its local rows.
#[derive(Clone, Debug, Default)]
pub struct OtherConstraints {
    anchors: Vec<Anchor>,
    lengths: Vec<Length>,
    shapes: Vec<Shape>,
}

/// Anchor `index` of the model.
#[derive(Clone, Debug)]
struct Anchor {
    index: usize,
    row: u32,
    weight: f64,
}

/// A spring or a bending constraint: the sum of coefficients × positions is rescaled to a length.
#[derive(Clone, Debug)]
struct Length {
    rows: Vec<u32>,
    coefficients: Vec<f64>,
    weight: f64,
    length: f64,
    rest: DVec3,
}

/// A tet volume or a polyhedron: the deformation gradient is projected.
#[derive(Clone, Debug)]
struct Shape {
    rows: Vec<u32>,
    gradients: Vec<DVec3>,
    weight: f64,
    goal: Goal,
}

#[derive(Clone, Debug)]
enum Goal {
    Volume(f64),
    Limits(Box<StretchLimits>),
}

impl Goal {
    fn closest(&self, f: DMat3) -> DMat3 {
        match self {
            Goal::Volume(ratio) => closest_with_determinant(f, *ratio),
            Goal::Limits(limits) => closest_limited(f, limits),
        }
    }
}

/// Gives the region of a constraint from its vertices, and their rows there; `None` if no vertex is free.
pub type Place<'a> = &'a mut dyn FnMut(&[u32]) -> Option<(usize, Vec<u32>)>;

/// Distributes a model's constraints to regions, with scaled weights.
pub fn distribute(
    model: &Model,
    weights: &Weights,
    scale: f64,
    place: Place,
    regions: &mut [&mut OtherConstraints],
) {
    let anchors = model.anchors();
    for (index, (&vertex, &w)) in anchors.vertices.iter().zip(&anchors.weights).enumerate() {
        if let Some((region, rows)) = place(&[vertex]).filter(|_| w > 0.0) {
            regions[region].anchors.push(Anchor {
                index,
                row: rows[0],
                weight: w * weights.anchor(index) * scale,
            });
        }
    }
    let mut length = |vertices: &[u32], coefficients: &[f64], w: f64, length: f64, rest: DVec3| {
        if let Some((region, rows)) = place(vertices).filter(|_| w > 0.0) {
            let coefficients = coefficients.to_vec();
            regions[region].lengths.push(Length {
                rows,
                coefficients,
                weight: w * scale,
                length,
                rest,
            });
        }
    };
    let springs = model.springs();
    for (i, ends) in springs.vertices.iter().enumerate() {
        length(
            ends,
            &[-1.0, 1.0],
            springs.weights[i] * weights.springs,
            springs.lengths[i],
            springs.rest[i],
        );
    }
    let bendings = model.bendings();
    for i in 0..bendings.len() {
        let (vertices, coefficients) = bendings.stencil(i);
        length(
            vertices,
            coefficients,
            bendings.weights[i] * weights.bending,
            bendings.rest[i].length(),
            bendings.rest[i],
        );
    }
    let mut shape = |vertices: &[u32], gradients: &[DVec3], w: f64, goal: Goal| {
        if let Some((region, rows)) = place(vertices).filter(|_| w > 0.0) {
            regions[region].shapes.push(Shape {
                rows,
                gradients: gradients.to_vec(),
                weight: w * scale,
                goal,
            });
        }
    };
    let (tets, volumes) = (model.tets(), model.volumes());
    let together = volume_of_tets(model);
    for (i, &t) in volumes.tets.iter().enumerate() {
        let t = t as usize;
        if together[t] == Some(i) {
            continue;
        }
        shape(
            &tets.vertices[t],
            &tets.gradients(t),
            volumes.weights[i] * weights.volume_of(tets.materials[t]),
            Goal::Volume(volumes.ratios[i]),
        );
    }
    let polyhedra = model.polyhedra();
    for i in 0..polyhedra.len() {
        let (vertices, gradients) = polyhedra.stencil(i);
        let limits = Goal::Limits(Box::new(polyhedra.limits[i]));
        let weight = polyhedra.weights[i] * weights.polyhedra;
        shape(vertices, gradients, weight, limits);
    }
}

impl OtherConstraints {
    /// Adds the forces w Qᵀ(p − Qx) at positions `x` to `forces`.
    pub fn add_forces(&self, model: &Model, targets: &Targets, x: &[Row], forces: &mut [Row]) {
        for anchor in &self.anchors {
            let at = point(x, anchor.row);
            let force = (model.anchors().project(anchor.index, targets, at) - at) * anchor.weight;
            add(forces, anchor.row, force);
        }
        for c in &self.lengths {
            // Coefficients sum to zero, so differences to one corner avoid cancellation.
            let origin = point(x, c.rows[0]);
            let terms = c.rows.iter().zip(&c.coefficients);
            let sum: DVec3 = terms
                .clone()
                .map(|(&row, &k)| (point(x, row) - origin) * k)
                .sum();
            let force = (rescale(sum, c.length, c.rest) - sum) * c.weight;
            for (&row, &k) in terms {
                add(forces, row, force * k);
            }
        }
        for s in &self.shapes {
            let f = deformation_gradient(&s.rows, &s.gradients, x);
            let stress = (s.goal.closest(f) - f) * s.weight;
            for (&row, &g) in s.rows.iter().zip(&s.gradients) {
                add(forces, row, stress * g);
            }
        }
    }

    /// Memory \[bytes\], without the lists inside bending constraints and polyhedra.
    pub fn memory(&self) -> usize {
        size_of_val(&self.anchors[..])
            + size_of_val(&self.lengths[..])
            + size_of_val(&self.shapes[..])
    }
}

/// F = Σ (xₐ − x₀) gₐᵀ: gradients sum to zero.
fn deformation_gradient(rows: &[u32], gradients: &[DVec3], x: &[Row]) -> DMat3 {
    let origin = point(x, rows[0]);
    let mut f = DMat3::ZERO;
    for (&row, g) in rows.iter().zip(gradients) {
        let e = point(x, row) - origin;
        f += DMat3::from_cols(e * g.x, e * g.y, e * g.z);
    }
    f
}

fn point(x: &[Row], row: u32) -> DVec3 {
    DVec3::from(x[row as usize].xyz().map(f64::from))
}

fn add(forces: &mut [Row], row: u32, force: DVec3) {
    let sum = &mut forces[row as usize];
    *sum = *sum + Row::new(force.to_array().map(|c| c as f32));
}
