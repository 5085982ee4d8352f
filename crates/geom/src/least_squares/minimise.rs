//! Damped Gauss–Newton: Levenberg 1944, Marquardt 1963; adaptive damping after Nielsen 1999, "Damping parameter in Marquardt's
//! method".

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::rows::Values;
use super::{Equations, FitError, Residual, Variables};

/// Steps of adaptive damping that may be rejected one after the other: by then they are 2¹⁰⁰ times shorter.
const REJECTIONS: usize = 14;

/// What is added to the diagonal of Jᵀ W J.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// The same in every step: a share of the diagonal, and an amount. Every step is taken, so that residuals may seek their
    /// correspondences anew.
    Fixed {
        /// Share of the diagonal.
        relative: f64,
        /// Amount: a floor for unknowns that no row concerns.
        absolute: f64,
    },
    /// As much as it takes for the cost to fall. Residuals must be the same function throughout.
    Adaptive(Adaptive),
}

/// Adaptive damping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive {
    /// Share of the diagonal at the start.
    pub relative: f64,
    /// Amount: a floor for unknowns that no row concerns.
    pub absolute: f64,
}

impl Damping {
    /// None.
    pub const NONE: Damping = Damping::Fixed {
        relative: 0.0,
        absolute: 0.0,
    };
}

/// How [`minimise`] goes about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Most steps.
    pub steps: usize,
    /// Damping.
    pub damping: Damping,
    /// Most that one step may measure ([`Variables::length`]): longer ones are scaled down, whatever residuals and damping say.
    pub largest_step: f64,
    /// The fit has converged after a step that measures less.
    pub still: f64,
}

/// A step that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps so far.
    pub steps: usize,
    /// What the last one measured.
    pub length: f64,
}

/// Why a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The last step was below [`Settings::still`].
    Converged,
    /// All steps were taken.
    StepsTaken,
    /// No step lowers the cost.
    Stalled,
    /// The caller broke off.
    Cancelled,
}

/// How a fit went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Steps that were taken.
    pub steps: usize,
    /// What the last one measured.
    pub length: f64,
    /// Why it ended.
    pub outcome: Outcome,
}

/// Moves a state to a minimum of ½ Σ w |r|². `watch` is called after every step and may break off. After an error the state is
/// that after the last step.
pub fn minimise<const D: usize, S, E>(
    state: &mut S,
    residuals: &[&dyn Residual<S, D>],
    equations: &mut E,
    settings: &Settings,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Report, FitError>
where
    S: Variables<D> + Sync,
    E: Equations<D>,
{
    let unknowns = state.unknowns();
    let mut report = Report {
        steps: 0,
        length: 0.0,
        outcome: Outcome::StepsTaken,
    };
    if unknowns == 0 {
        report.outcome = Outcome::Converged;
        return Ok(report);
    }
    let constant = residuals.iter().all(|r| r.is_constant());
    let mut trust = Trust::new(settings.damping, residuals, state);
    while report.steps < settings.steps {
        let known = constant && report.steps > 0 && equations.renew(&values(state, residuals));
        if !known {
            let rows = linearised(state, residuals, equations);
            equations.assemble(unknowns, rows)?;
        }
        let Some(length) = trust.step(state, residuals, equations, settings.largest_step)? else {
            report.outcome = Outcome::Stalled;
            break;
        };
        report.steps += 1;
        report.length = length;
        let progress = Progress {
            steps: report.steps,
            length,
        };
        if watch(progress).is_break() {
            report.outcome = Outcome::Cancelled;
            break;
        }
        if length < settings.still {
            report.outcome = Outcome::Converged;
            break;
        }
    }
    Ok(report)
}

fn pieces<const D: usize, S>(residuals: &[&dyn Residual<S, D>]) -> Vec<(usize, usize)> {
    let all = residuals.iter().enumerate();
    all.flat_map(|(k, residual)| (0..residual.pieces()).map(move |piece| (k, piece)))
        .collect()
}

fn linearised<const D: usize, S: Variables<D> + Sync, E: Equations<D>>(
    state: &S,
    residuals: &[&dyn Residual<S, D>],
    equations: &E,
) -> Vec<E::Piece> {
    let empty: Vec<((usize, usize), E::Piece)> = (pieces(residuals).into_iter())
        .map(|which| (which, equations.piece(state.unknowns())))
        .collect();
    (empty.into_par_iter())
        .map(|((k, piece), mut rows)| {
            residuals[k].linearise(state, piece, &mut rows);
            rows
        })
        .collect()
}

fn values<const D: usize, S: Sync>(
    state: &S,
    residuals: &[&dyn Residual<S, D>],
) -> Vec<Vec<[f64; D]>> {
    (pieces(residuals).into_par_iter())
        .map(|(k, piece)| {
            let mut values = Values::default();
            residuals[k].linearise(state, piece, &mut values);
            values.all()
        })
        .collect()
}

/// The damping now.
struct Trust {
    damping: Damping,
    /// Share of the diagonal, and the factor it grows by at the next rejection.
    share: f64,
    growth: f64,
    /// Cost at the state, where damping is adaptive.
    cost: f64,
}

impl Trust {
    fn new<const D: usize, S>(
        damping: Damping,
        residuals: &[&dyn Residual<S, D>],
        state: &S,
    ) -> Trust {
        let (share, cost) = match damping {
            Damping::Fixed { relative, .. } => (relative, 0.0),
            Damping::Adaptive(adaptive) => (adaptive.relative, cost(residuals, state)),
        };
        Trust {
            damping,
            share,
            growth: 2.0,
            cost,
        }
    }

    /// Takes a step and returns what it measures. None if no step lowers the cost.
    fn step<const D: usize, S, E>(
        &mut self,
        state: &mut S,
        residuals: &[&dyn Residual<S, D>],
        equations: &mut E,
        largest: f64,
    ) -> Result<Option<f64>, FitError>
    where
        S: Variables<D>,
        E: Equations<D>,
    {
        let absolute = match self.damping {
            Damping::Fixed { absolute, .. } => absolute,
            Damping::Adaptive(adaptive) => adaptive.absolute,
        };
        for _ in 0..=REJECTIONS {
            let diagonal = equations.diagonal().iter();
            let added: Vec<f64> = diagonal.map(|d| self.share * d + absolute).collect();
            let adaptive = matches!(self.damping, Damping::Adaptive(_));
            let mut step = match equations.solve(&added) {
                Err(FitError::Sparse(_) | FitError::Dense(_)) if adaptive => {
                    self.reject();
                    continue;
                }
                solved => solved?,
            };
            let length = bounded(state, &mut step, largest)?;
            if !adaptive {
                state.advance(&step);
                return Ok(Some(length));
            }
            let mut next = state.clone();
            next.advance(&step);
            let cost = cost(residuals, &next);
            // Half of δ·(damping δ − gradient): what the linear model promises for the full step.
            let expected: f64 = (step.iter().zip(equations.gradient()).zip(&added))
                .map(|((s, g), d)| (0..D).map(|k| 0.5 * s[k] * (d * s[k] - g[k])).sum::<f64>())
                .sum();
            if cost.is_finite() && cost <= self.cost && expected >= 0.0 {
                let gain = (self.cost - cost) / expected.max(f64::MIN_POSITIVE);
                self.share *= (1.0 - (2.0 * gain - 1.0).powi(3)).clamp(1.0 / 3.0, 2.0);
                self.growth = 2.0;
                self.cost = cost;
                *state = next;
                return Ok(Some(length));
            }
            self.reject();
        }
        Ok(None)
    }

    fn reject(&mut self) {
        self.share = self.share.max(1e-12) * self.growth;
        self.growth *= 2.0;
    }
}

fn cost<const D: usize, S>(residuals: &[&dyn Residual<S, D>], state: &S) -> f64 {
    residuals.iter().map(|residual| residual.cost(state)).sum()
}

/// Scales a step that is too long; returns what it measures then.
fn bounded<const D: usize, S: Variables<D>>(
    state: &S,
    step: &mut [[f64; D]],
    largest: f64,
) -> Result<f64, FitError> {
    if !step.as_flattened().iter().all(|x| x.is_finite()) {
        return Err(FitError::NotFinite);
    }
    let length = state.length(step);
    if length <= largest {
        return Ok(length);
    }
    let factor = largest / length;
    (step.as_flattened_mut().iter_mut()).for_each(|x| *x *= factor);
    Ok(largest)
}
