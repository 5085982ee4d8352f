//! Soft anchors: pull a vertex to a point, a line or a plane that may move every step [2.2.1].

use glam::{DVec3, Vec3};

use super::AddEntry;
use crate::{Targets, Weights};

/// What an anchor pulls its vertex to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AnchorKind {
    /// The target point.
    #[default]
    Point,
    /// The line through the target point along the direction.
    Line,
    /// The plane through the target point; the direction is its normal.
    Plane,
}

/// Soft anchors, w/2 ‖x − p‖². Hard ones are fixed vertices [2.2.3].
#[derive(Clone, Debug, Default)]
pub struct Anchors {
    /// Anchored vertex.
    pub vertices: Vec<u32>,
    /// Weight \[N/m\].
    pub weights: Vec<f64>,
    /// Point, line or plane.
    pub kinds: Vec<AnchorKind>,
    /// Default target \[m\].
    pub points: Vec<Vec3>,
    /// Default unit direction of a line or normal of a plane.
    pub directions: Vec<Vec3>,
}

impl Anchors {
    /// Number of anchors.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there are no anchors.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// The targets the model was built with.
    pub fn rest_targets(&self) -> Vec<Vec3> {
        self.points.clone()
    }

    /// Closest allowed position to `x`.
    pub fn project(&self, i: usize, targets: &Targets, x: DVec3) -> DVec3 {
        let point = targets.anchors[i].as_dvec3();
        let direction = targets
            .directions
            .get(i)
            .unwrap_or(&self.directions[i])
            .as_dvec3()
            .normalize_or_zero();
        let along = direction * (x - point).dot(direction);
        match self.kinds[i] {
            AnchorKind::Point => point,
            AnchorKind::Line => point + along,
            AnchorKind::Plane => x - along,
        }
    }

    /// w QᵀQ with Q a selector.
    pub fn add_matrix(&self, weights: &Weights, add: AddEntry) {
        for (i, (&v, &w)) in self.vertices.iter().zip(&self.weights).enumerate() {
            add(v, v, w * weights.anchor(i));
        }
    }

    /// Local step.
    pub fn add_rhs(&self, weights: &Weights, targets: &Targets, z: &[DVec3], rhs: &mut [DVec3]) {
        for (i, (&v, &w)) in self.vertices.iter().zip(&self.weights).enumerate() {
            let weight = w * weights.anchor(i);
            rhs[v as usize] += self.project(i, targets, z[v as usize]) * weight;
        }
    }

    /// Energy \[J\].
    pub fn energy(&self, weights: &Weights, targets: &Targets, z: &[DVec3]) -> f64 {
        let of = |(i, (&v, &w)): (usize, (&u32, &f64))| {
            let x = z[v as usize];
            0.5 * w * weights.anchor(i) * x.distance_squared(self.project(i, targets, x))
        };
        self.vertices
            .iter()
            .zip(&self.weights)
            .enumerate()
            .map(of)
            .sum()
    }
}
