//! Frames of any duration, simulated with a fixed time step.

use glam::Vec3;

use crate::calm::{calmed, count_stillness};
use crate::divergence::check_state;
use crate::model::NO_CARRIER;
use crate::substeps::{step_in_substeps, substep_count};
use crate::{Backend, Mode, Model, Settings, SolveError, State, StepReport, Targets};

/// Most internal steps per frame. The rest of a longer frame is dropped: slow motion is better than a program that falls
/// further and further behind.
pub const MAX_STEPS: u32 = 8;

/// What happened in a frame.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Advance {
    /// Internal steps taken.
    pub steps: u32,
    /// Whether the pose jumped farther than [`Settings::jump_distance`] and the tissue was carried along.
    pub jumped: bool,
    /// Time that was dropped because the frame was too long \[s\].
    pub dropped: f64,
    /// Report of the last internal step.
    pub last: StepReport,
}

/// Advances `state` by a frame of `dt` seconds that ends at `targets`.
///
/// Takes internal steps of [`Settings::step`] whatever `dt` is, with interpolated targets, so that the motion does not depend
/// on the caller's frame rate. Time that does not fill a step is kept for the next frame; [`displayed`] gives the positions at
/// the frame's own time. [`Mode::Static`] takes one step per frame. With global contact and fast motion a step is split into
/// [substeps](crate::substeps); it counts as one. Jiggle that goes on after the bones have stopped is [damped](crate::calm).
///
/// If a fixed vertex moves farther than [`Settings::jump_distance`], free vertices are first moved with their carriers. A
/// caller who knows the bones' frames gets a better result with [`State::carry`] and [`State::rebase`] before this call.
///
/// A state that ends with a vertex far from its bones, or not finite, is [an error](SolveError::Diverged): see
/// [`divergence`](crate::divergence).
pub fn advance(
    backend: &mut dyn Backend,
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    dt: f64,
    state: &mut State,
) -> Result<Advance, SolveError> {
    if !(dt >= 0.0 && dt.is_finite()) {
        return Err(SolveError::Setting {
            name: "dt",
            value: dt,
        });
    }
    crate::backend::check_step(model, settings, targets, state)?;
    let mut report = Advance {
        jumped: carry_jump(model, settings, targets, state),
        ..Advance::default()
    };
    let from = previous_frame(targets, state);
    if settings.mode == Mode::Static {
        report.last = backend.step(model, settings, targets, state)?;
        report.steps = 1;
        state.remainder = 0.0;
    } else {
        count_stillness(model, &from, targets, dt, state);
        take_steps(
            backend,
            model,
            &calmed(settings, state),
            (&from, targets),
            dt,
            state,
            &mut report,
        )?;
    }
    check_state(model, settings, state)?;
    state.frame = Some(targets.clone());
    Ok(report)
}

fn take_steps(
    backend: &mut dyn Backend,
    model: &Model,
    settings: &Settings,
    (from, to): (&Targets, &Targets),
    dt: f64,
    state: &mut State,
    report: &mut Advance,
) -> Result<(), SolveError> {
    let h = settings.step;
    let total = state.remainder + dt;
    // If a frame is a multiple of h up to rounding, no step of 1e-17 s must be left for the next one.
    let due = (total / h + 1e-6).floor();
    let count = due.min(f64::from(MAX_STEPS)) as u32;
    report.dropped = (due - f64::from(count)) * h;
    let mut last = 0.0;
    for k in 1..=count {
        // If time is dropped, the remaining steps still cover the whole path.
        let t = if report.dropped > 0.0 {
            f64::from(k) / f64::from(count)
        } else {
            (f64::from(k) * h - state.remainder) / dt
        };
        let t = t.clamp(0.0, 1.0) as f32;
        let mut at = Targets::lerp(from, to, t);
        for contact in &mut at.external {
            *contact = contact.between(last, t);
        }
        report.last = step(backend, model, settings, (from, to, last), &at, state)?;
        last = t;
        report.steps += 1;
    }
    state.remainder = (total - due * h).max(0.0);
    Ok(())
}

/// One internal step to `at`, in substeps if the motion is fast. `last` is where the step before it ended, from 0 to 1 between
/// the frames.
fn step(
    backend: &mut dyn Backend,
    model: &Model,
    settings: &Settings,
    (from, to, last): (&Targets, &Targets, f32),
    at: &Targets,
    state: &mut State,
) -> Result<StepReport, SolveError> {
    let known = state.contact.bases.len() == at.bases.len();
    let bases = match known {
        true => &state.contact.bases,
        false => &from.bases,
    };
    let count = substep_count(model, settings, state, bases, at);
    if count == 1 {
        return backend.step(model, settings, at, state);
    }
    let mut before = Targets {
        fixed: state.fixed.clone(),
        bases: bases.clone(),
        ..Targets::lerp(from, to, last)
    };
    if state.contact.outside.len() == at.outside.len() {
        before.outside.clone_from(&state.contact.outside);
    }
    step_in_substeps(backend, model, settings, (&before, at), count, state)
}

fn carry_jump(model: &Model, settings: &Settings, targets: &Targets, state: &mut State) -> bool {
    let from = state
        .frame
        .as_ref()
        .map_or(&state.fixed, |frame| &frame.fixed);
    let jump = from
        .iter()
        .zip(&targets.fixed)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f32::max);
    let jumped = jump > settings.jump_distance;
    if jumped {
        state.carry_by_carriers(model, targets);
        state.rebase(targets);
    }
    jumped
}

fn previous_frame(targets: &Targets, state: &State) -> Targets {
    match &state.frame {
        Some(frame)
            if frame.fixed.len() == targets.fixed.len()
                && frame.anchors.len() == targets.anchors.len() =>
        {
            frame.clone()
        }
        _ => Targets {
            fixed: state.fixed.clone(),
            ..targets.clone()
        },
    }
}

/// Positions of all vertices (free, then fixed) at the time of the last frame, extrapolated from the last internal step.
///
/// Fixed vertices are at the frame's targets. A free vertex moves with its [carrier](Model::carriers) since the last internal
/// step, plus its own velocity relative to the carrier. So the skin does not lag behind the bones, and the result is exactly
/// the state if the frame ends on a step.
pub fn displayed(model: &Model, settings: &Settings, state: &State) -> Vec<Vec3> {
    let fixed = state
        .frame
        .as_ref()
        .map_or(&state.fixed, |frame| &frame.fixed);
    let (h, ahead) = (settings.step as f32, state.remainder as f32);
    let free = state
        .positions
        .iter()
        .zip(&state.velocities)
        .zip(model.carriers())
        .map(|((&x, &v), &carrier)| {
            if ahead == 0.0 {
                return x;
            }
            if carrier == NO_CARRIER {
                return x + v * ahead;
            }
            let c = carrier as usize;
            let carrier_velocity = (state.fixed[c] - state.fixed_previous[c]) / h;
            x + (fixed[c] - state.fixed[c]) + (v - carrier_velocity) * ahead
        });
    free.chain(fixed.iter().copied()).collect()
}
