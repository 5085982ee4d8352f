//! Static equilibrium of a model for given targets.
//!
//! Local/global iterations converge linearly, and slowly where tissue is folded: after six hundred of them a squatting
//! body is still centimetres from equilibrium. Without contact they serve as evaluations of a quasi-Newton method
//! (`lbfgs.rs`), which needs one iteration of the backend each and no other solve. Contacts make the problem
//! non-smooth, so that plain steps are used with them.
//!
//! The remaining distance is estimated from the last moves: moves m that shrink by a rate r per iteration add up to
//! m/(1 − r).

use glam::{DVec3, Vec3};

use crate::assemble::{System, assemble};
use crate::backend::check_step;
use crate::contact::ContactSolver;
use crate::lbfgs::{Pairs, Point, difference, dot};
use crate::{Backend, ContactReport, Mode, Model, Settings, SolveError, State, Targets};

/// Largest number of iterations over which the convergence rate is measured. Over fewer, a few good steps look like
/// convergence.
const MAX_SPAN: usize = 10;

/// Smallest number; also that of steps with contact, each of [`Settings::iterations`].
const MIN_SPAN: usize = 3;

/// Safety factor on the estimated remaining distance. In poses of the embedded bodies the true distance was up to 1.6
/// times the estimate, since rates differ from iteration to iteration.
const SAFETY: f64 = 3.0;

/// Largest convergence rate of an estimate: the remaining distance is at most a thousand moves.
const MAX_RATE: f64 = 0.999;

/// Longest step relative to the model's size. Bodies take a tenth of it.
const LONGEST_STEP: f64 = 0.25;

/// Most steps tried along one direction.
const MAX_TRIES: usize = 6;

/// Sufficient decrease as a share of the slope [Armijo 1966].
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// Solver for static equilibrium.
///
/// ```
/// use supple_sim::{Equilibrium, ModelBuilder, Reference, Settings, State, shapes};
///
/// let bar = shapes::bar([4, 1, 1], 0.1);
/// let mut builder = ModelBuilder::new();
/// for &p in &bar.positions {
///     builder.vertex(p, p.x == 0.0); // one end is held
/// }
/// for &tet in &bar.tets {
///     builder.tet(tet, 2_000.0);
/// }
/// builder.distribute_mass(0.004);
/// let model = builder.build()?;
///
/// let settings = Settings { gravity: glam::Vec3::new(0.0, -9.81, 0.0), ..Settings::default() };
/// let mut state = State::at_rest(&model);
/// let report = Equilibrium::default().tolerance(1e-6).solve(
///     &mut Reference::new(),
///     &model,
///     &settings,
///     &model.rest_targets(),
///     &mut state,
/// )?;
/// assert!(report.is_met);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Equilibrium {
    /// Distance to the equilibrium at which to stop, of the farthest vertex and relative to the size of the model's
    /// rest shape.
    pub tolerance: f64,
    /// Largest number of local/global iterations.
    pub iterations: u32,
}

/// Result of [`Equilibrium::solve`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EquilibriumReport {
    /// Local/global iterations done.
    pub iterations: u32,
    /// Estimated distance of the farthest vertex to the equilibrium \[m\].
    pub left: f64,
    /// Whether that is within the tolerance.
    pub is_met: bool,
    /// Contacts in the final state.
    pub contact: ContactReport,
}

impl Default for Equilibrium {
    fn default() -> Equilibrium {
        Equilibrium {
            tolerance: 1e-5,
            iterations: 1_000,
        }
    }
}

impl Equilibrium {
    /// Sets the tolerance, relative to the model's size.
    pub fn tolerance(mut self, tolerance: f64) -> Equilibrium {
        self.tolerance = tolerance;
        self
    }

    /// Sets the largest number of iterations.
    pub fn iterations(mut self, iterations: u32) -> Equilibrium {
        self.iterations = iterations;
        self
    }

    /// Brings `state` to equilibrium at `targets`, whatever [`Settings::mode`] is; velocities become zero. On an error
    /// the state is unchanged.
    ///
    /// Ends when the tolerance is met, at the largest number of iterations, or when moves are lost in the rounding of
    /// the state.
    pub fn solve(
        &self,
        backend: &mut dyn Backend,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &mut State,
    ) -> Result<EquilibriumReport, SolveError> {
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(SolveError::Setting {
                name: "tolerance",
                value: self.tolerance,
            });
        }
        let settings = Settings {
            mode: Mode::Static,
            trace_energy: false,
            ..settings.clone()
        };
        check_step(model, &settings, targets, state)?;
        let mut search = Search {
            backend,
            model,
            settings: &settings,
            targets,
            state: state.clone(),
            size: size(model),
            most: self.iterations,
            report: EquilibriumReport {
                left: f64::INFINITY,
                ..EquilibriumReport::default()
            },
        };
        let tolerance = self.tolerance * search.size;
        if ContactSolver::is_wanted(model, &settings, targets) {
            search.step_until(tolerance)?;
        } else {
            search.descend_until(tolerance)?;
        }
        let mut report = search.report;
        report.is_met = report.left <= tolerance;
        *state = search.state;
        state.velocities.fill(Vec3::ZERO);
        state.rebase(targets);
        state.remainder = 0.0;
        Ok(report)
    }
}

/// A running search.
struct Search<'a> {
    backend: &'a mut dyn Backend,
    model: &'a Model,
    settings: &'a Settings,
    targets: &'a Targets,
    state: State,
    /// Size of the model \[m\].
    size: f64,
    /// Largest number of iterations.
    most: u32,
    report: EquilibriumReport,
}

impl Search<'_> {
    /// Plain steps, for bodies in contact.
    fn step_until(&mut self, tolerance: f64) -> Result<(), SolveError> {
        let mut moves = Moves::new(MIN_SPAN);
        while self.remaining() > 0 {
            let before = self.state.positions.clone();
            self.step(self.settings.iterations.max(1))?;
            if !self.state.is_finite() {
                self.state.positions = before;
                return Ok(());
            }
            let moved = before.iter().zip(&self.state.positions);
            let moved = moved.map(|(a, b)| f64::from(a.distance(*b)));
            moves.push(moved.fold(0.0, f64::max));
            self.report.left = moves.left() + self.rounding();
            if moves.are_within(self.rounding()) {
                self.report.left = SAFETY * self.rounding();
                return Ok(());
            }
            if self.report.left <= tolerance {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Quasi-Newton steps.
    fn descend_until(&mut self, tolerance: f64) -> Result<(), SolveError> {
        let (mut moves, mut pairs) = (Moves::new(MAX_SPAN), Pairs::default());
        let start = self.state.positions.clone();
        // The first step moves the fixed vertices to their targets, along with the tissue they carry.
        self.step(self.settings.iterations.max(1))?;
        let system = assemble(self.model, self.settings);
        let mut point = self.evaluate(&system)?;
        if !is_finite(&point) {
            self.state.positions = start;
            return Ok(());
        }
        loop {
            let mut direction = pairs.direction(&point);
            if dot(&direction, &point.g) >= 0.0 {
                pairs.clear();
                direction.clone_from(&point.f);
            }
            moves.push(largest(&direction));
            let slowest = largest(&point.f) / (1.0 - MAX_RATE);
            self.report.left = moves.left().min(slowest) + self.rounding();
            if moves.are_within(self.rounding()) {
                self.report.left = SAFETY * self.rounding();
                break;
            }
            if self.report.left <= tolerance || self.remaining() == 0 {
                break;
            }
            match self.search_along(&system, &point, &direction)? {
                Some(next) => {
                    pairs.push(&point, &next);
                    point = next;
                }
                None if self.remaining() == 0 => break,
                None if pairs.is_empty() => {
                    // One iteration lowers the objective, unless by less than the rounding error of its gradient.
                    if largest(&point.f) <= self.rounding() {
                        self.report.left = SAFETY * self.rounding();
                    }
                    break;
                }
                None => pairs.clear(),
            }
        }
        // One more local/global iteration: it never raises the objective.
        let reached = point
            .x
            .iter()
            .zip(&point.f)
            .map(|(x, f)| (*x + *f).as_vec3());
        self.state.positions = reached.collect();
        Ok(())
    }

    /// A point along a direction where the objective is lower. Its change is estimated from the slopes at both ends:
    /// the objective itself costs more than an iteration, and near the minimum its differences are lost in rounding.
    fn search_along(
        &mut self,
        system: &System,
        point: &Point,
        direction: &[DVec3],
    ) -> Result<Option<Point>, SolveError> {
        let slope = dot(&point.g, direction);
        let mut t = (LONGEST_STEP * self.size / largest(direction)).min(1.0);
        for _ in 0..MAX_TRIES {
            if self.remaining() == 0 {
                return Ok(None);
            }
            let places = point.x.iter().zip(direction);
            self.state.positions = places.map(|(x, d)| (*x + *d * t).as_vec3()).collect();
            let next = self.evaluate(system)?;
            let end = dot(&next.g, direction);
            if is_finite(&next) && 0.5 * (slope + end) <= SUFFICIENT_DECREASE * slope {
                return Ok(Some(next));
            }
            let secant = slope / (slope - end);
            t *= if secant.is_finite() {
                secant.clamp(0.1, 0.6)
            } else {
                0.1
            };
        }
        Ok(None)
    }

    /// The displacement of one iteration from the state, and the gradient there.
    fn evaluate(&mut self, system: &System) -> Result<Point, SolveError> {
        let read = |state: &State| -> Vec<DVec3> {
            state.positions.iter().map(|p| p.as_dvec3()).collect()
        };
        let x = read(&self.state);
        self.step(1)?;
        let f = difference(&read(&self.state), &x);
        let mut g = vec![DVec3::ZERO; f.len()];
        for column in 0..f.len() {
            for (row, value) in system.matrix.column(column) {
                g[row] -= f[column] * value;
                if row != column {
                    g[column] -= f[row] * value;
                }
            }
        }
        Ok(Point { x, f, g })
    }

    fn step(&mut self, iterations: u32) -> Result<(), SolveError> {
        let iterations = iterations.min(self.remaining()).max(1);
        let settings = Settings {
            iterations,
            ..self.settings.clone()
        };
        let (model, targets) = (self.model, self.targets);
        let report = self
            .backend
            .step(model, &settings, targets, &mut self.state)?;
        self.report.iterations += iterations;
        self.report.contact = report.contact;
        Ok(())
    }

    fn remaining(&self) -> u32 {
        self.most.saturating_sub(self.report.iterations)
    }

    /// Rounding error of positions in the state \[m\].
    fn rounding(&self) -> f64 {
        let farthest = self.state.positions.iter().map(|p| p.abs().max_element());
        f64::from(farthest.fold(0.0, f32::max) * f32::EPSILON)
    }
}

/// Lengths of the last moves.
struct Moves {
    span: usize,
    lengths: Vec<f64>,
}

impl Moves {
    fn new(span: usize) -> Moves {
        Moves {
            span,
            lengths: Vec::new(),
        }
    }

    fn push(&mut self, length: f64) {
        self.lengths.push(length);
    }

    /// Whether the last moves are within a bound.
    fn are_within(&self, bound: f64) -> bool {
        let first = self.lengths.len().saturating_sub(MIN_SPAN);
        let last = &self.lengths[first..];
        last.len() == MIN_SPAN && last.iter().all(|length| *length <= bound)
    }

    /// Estimated sum of all future moves, times [`SAFETY`]. The rate compares the largest of the last `span` moves with
    /// the largest of the `span` before. At the beginning spans are shorter.
    fn left(&self) -> f64 {
        let span = (self.lengths.len() / 2).min(self.span);
        if span < MIN_SPAN {
            return f64::INFINITY;
        }
        let first = self.lengths.len() - 2 * span;
        let largest = |list: &[f64]| list.iter().fold(0.0, |m: f64, l| m.max(*l));
        let (before, now) = self.lengths[first..].split_at(span);
        let (before, now) = (largest(before), largest(now));
        if now == 0.0 {
            return 0.0;
        }
        let rate = (now / before).powf(1.0 / span as f64);
        SAFETY * now / (1.0 - rate.min(MAX_RATE))
    }
}

/// Longest side of the box around the rest shape \[m\].
fn size(model: &Model) -> f64 {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let grow = |(low, high): (Vec3, Vec3), p: &Vec3| (low.min(*p), high.max(*p));
    let (low, high) = model.rest().iter().fold(start, grow);
    f64::from((high - low).max_element().max(0.0))
}

fn largest(list: &[DVec3]) -> f64 {
    list.iter().map(|v| v.length()).fold(0.0, f64::max)
}

fn is_finite(point: &Point) -> bool {
    point.f.iter().all(|f| f.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_series_is_summed() {
        let mut moves = Moves::new(3);
        for k in 0..12 {
            moves.push(0.5_f64.powi(k));
        }
        // The largest of the last three is two moves old: 0.5⁹/(1 − 0.5), and what is left is 0.5¹¹.
        assert!((moves.left() - SAFETY * 2.0 * 0.5_f64.powi(9)).abs() < 1e-12);
        // Moves that do not shrink never converge.
        for _ in 0..6 {
            moves.push(1e-3);
        }
        assert!(moves.left() >= 0.99);
    }
}
