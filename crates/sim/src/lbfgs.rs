//! Limited-memory quasi-Newton directions with the system matrix as the initial Hessian [Liu 2017, §4].
//!
//! The two loops of Nocedal (1980) need A⁻¹ once per direction. Here no extra solve is needed: one local/global
//! iteration from x moves by f = −A⁻¹g, so that A⁻¹g, and A⁻¹y of the pairs y = g₊ − g, are known.

use std::collections::VecDeque;

use glam::DVec3;

/// Number of pairs kept. Five perform as well as twenty on the embedded bodies, and cost less.
const MAX_PAIRS: usize = 5;

/// Least curvature s·y of a pair relative to y·A⁻¹y; pairs with less carry no information about the minimum.
const MIN_CURVATURE: f64 = 1e-3;

/// Positions, the displacement by one local/global iteration, and the gradient of the objective.
#[derive(Clone, Debug)]
pub struct Point {
    /// Positions x \[m\].
    pub x: Vec<DVec3>,
    /// Displacement by one iteration f = −A⁻¹g \[m\].
    pub f: Vec<DVec3>,
    /// Gradient g = −A f \[N\].
    pub g: Vec<DVec3>,
}

/// The last steps and the changes of the gradient.
#[derive(Clone, Debug, Default)]
pub struct Pairs(VecDeque<Pair>);

#[derive(Clone, Debug)]
struct Pair {
    /// Step s.
    s: Vec<DVec3>,
    /// Change of the gradient y.
    y: Vec<DVec3>,
    /// A⁻¹y.
    w: Vec<DVec3>,
    /// s·y.
    sy: f64,
}

impl Pairs {
    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a step, unless the objective is not convex along it.
    pub fn push(&mut self, from: &Point, to: &Point) {
        let s = difference(&to.x, &from.x);
        let y = difference(&to.g, &from.g);
        let w = difference(&from.f, &to.f);
        let sy = dot(&s, &y);
        if sy > 0.0 && sy > MIN_CURVATURE * dot(&y, &w) {
            self.0.push_back(Pair { s, y, w, sy });
        }
        if self.0.len() > MAX_PAIRS {
            self.0.pop_front();
        }
    }

    /// The direction −H⁻¹g.
    pub fn direction(&self, point: &Point) -> Vec<DVec3> {
        let (mut q, mut d) = (point.g.clone(), point.f.clone());
        let mut alphas = Vec::with_capacity(self.0.len());
        for pair in self.0.iter().rev() {
            let alpha = dot(&pair.s, &q) / pair.sy;
            add(&mut q, -alpha, &pair.y);
            add(&mut d, alpha, &pair.w);
            alphas.push(alpha);
        }
        for (pair, alpha) in self.0.iter().zip(alphas.iter().rev()) {
            let beta = -dot(&pair.y, &d) / pair.sy;
            add(&mut d, beta - alpha, &pair.s);
        }
        d
    }
}

/// a·b.
pub fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// a − b.
pub fn difference(a: &[DVec3], b: &[DVec3]) -> Vec<DVec3> {
    a.iter().zip(b).map(|(a, b)| *a - *b).collect()
}

/// a + t b in place.
fn add(a: &mut [DVec3], t: f64, b: &[DVec3]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += *b * t;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a quadratic with as many pairs as unknown eigenvalues, the direction leads to the minimum.
    #[test]
    fn a_quadratic_is_solved_in_few_steps() {
        // Hessian H, initial guess A = 1.
        let stiffness = [0.9, 0.5, 0.1, 0.02];
        let gradient =
            |x: &[DVec3]| -> Vec<DVec3> { x.iter().zip(stiffness).map(|(x, k)| *x * k).collect() };
        let at = |x: Vec<DVec3>| {
            let g = gradient(&x);
            let f = g.iter().map(|g| -*g).collect();
            Point { x, f, g }
        };
        let mut point = at(vec![DVec3::new(1.0, -2.0, 3.0); 4]);
        let mut pairs = Pairs::default();
        for _ in 0..8 {
            let d = pairs.direction(&point);
            // The exact step along the direction.
            let t = -dot(&point.g, &d) / dot(&gradient(&d), &d);
            let x = point.x.iter().zip(&d).map(|(x, d)| *x + *d * t).collect();
            let next = at(x);
            pairs.push(&point, &next);
            point = next;
            if dot(&point.g, &point.g) < 1e-24 {
                return;
            }
        }
        panic!("{:?}", point.x);
    }
}
