//! Points that should lie on planes: those of a scan through its points, found anew in each step.

use glam::{DMat3, DVec3};

use crate::least_squares::{Residual, Rows};

/// Points of a piece.
const PIECE: usize = 96;

/// Where a state has its points, and their derivatives.
pub trait Placement: Sync {
    /// Where a point is.
    fn place(&self, point: usize) -> DVec3;

    /// Replaces `derivatives` by those of a point by the unknowns.
    fn derivatives(&self, point: usize, derivatives: &mut Vec<(u32, DVec3)>);
}

/// Pairs of points and planes, gathered by point: Σ w (|n·m|² + τ |m|²) of what each point misses of its planes, m.
pub struct PointToPlane<'a, P> {
    placement: &'a P,
    points: Vec<(usize, Pull)>,
    cost: f64,
}

/// Pairs of one point: Σ w (n nᵀ + τ I), and Σ w (n nᵀ + τ I) m.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pull {
    matrix: DMat3,
    vector: DVec3,
}

impl Pull {
    /// No pair.
    pub const NONE: Pull = Pull {
        matrix: DMat3::ZERO,
        vector: DVec3::ZERO,
    };

    /// Adds a pair: the plane's normal, what the point misses of a point of the plane \[m\], and the part τ of that which counts
    /// in all directions.
    pub fn add(&mut self, weight: f64, normal: DVec3, miss: DVec3, tangential: f64) {
        let plane = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        let all = DMat3::from_diagonal(DVec3::splat(tangential));
        self.matrix += weight * (plane + all);
        self.vector += weight * (normal * normal.dot(miss) + tangential * miss);
    }

    /// Whether there is no pair.
    pub fn is_none(&self) -> bool {
        self.matrix == DMat3::ZERO
    }

    /// Three rows with Σ v vᵀ = A (Cholesky's columns), and what each misses: L y = b.
    fn rows(&self) -> [(DVec3, f64); 3] {
        let (a, b) = (self.matrix, self.vector);
        let l00 = a.x_axis.x.max(0.0).sqrt().max(1e-150);
        let (l10, l20) = (a.x_axis.y / l00, a.x_axis.z / l00);
        let l11 = (a.y_axis.y - l10 * l10).max(0.0).sqrt();
        let over = |x: f64, l: f64| if l > 1e-150 { x / l } else { 0.0 };
        let l21 = over(a.y_axis.z - l20 * l10, l11);
        let l22 = (a.z_axis.z - l20 * l20 - l21 * l21).max(0.0).sqrt();
        let y0 = b.x / l00;
        let y1 = over(b.y - l10 * y0, l11);
        let y2 = over(b.z - l20 * y0 - l21 * y1, l22);
        [
            (DVec3::new(l00, l10, l20), y0),
            (DVec3::new(0.0, l11, l21), y1),
            (DVec3::new(0.0, 0.0, l22), y2),
        ]
    }
}

impl<'a, P: Placement> PointToPlane<'a, P> {
    /// Pulls of points, times `weight`. `cost` is that of the pairs, which are robust.
    pub fn new(
        placement: &'a P,
        points: impl IntoIterator<Item = (usize, Pull)>,
        weight: f64,
        cost: f64,
    ) -> Self {
        let scaled = |(point, pull): (usize, Pull)| {
            let Pull { matrix, vector } = pull;
            let pull = Pull {
                matrix: weight * matrix,
                vector: weight * vector,
            };
            (point, pull)
        };
        let pulled = points.into_iter().filter(|(_, pull)| !pull.is_none());
        PointToPlane {
            placement,
            points: pulled.map(scaled).collect(),
            cost: weight * cost,
        }
    }
}

impl<P: Placement, S: Sync> Residual<S, 1> for PointToPlane<'_, P> {
    fn pieces(&self) -> usize {
        self.points.len().div_ceil(PIECE)
    }

    /// At the state of the placement.
    fn linearise(&self, _: &S, piece: usize, rows: &mut dyn Rows<1>) {
        let last = ((piece + 1) * PIECE).min(self.points.len());
        let (mut columns, mut row) = (Vec::new(), Vec::new());
        for (point, pull) in &self.points[piece * PIECE..last] {
            self.placement.derivatives(*point, &mut columns);
            for (root, miss) in pull.rows() {
                row.clear();
                row.extend(columns.iter().map(|(unknown, d)| (*unknown, root.dot(*d))));
                rows.row(1.0, &row, [-miss]);
            }
        }
    }

    fn cost(&self, _: &S) -> f64 {
        self.cost
    }
}
