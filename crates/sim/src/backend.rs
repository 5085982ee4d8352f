//! The interface of solvers.

use crate::targets::first_not_finite;
use crate::{Model, Settings, State, Targets};

/// A solver that steps models. [`backend_tests!`](crate::backend_tests) is its conformance suite.
///
/// A backend may keep whatever it derives from model and settings (factor, buffers) between steps, keyed by
/// [`Model::id`] and [`Settings::matrix_key`]; it keeps nothing that belongs to the state.
pub trait Backend: Send {
    /// Short name for reports.
    fn name(&self) -> &'static str;

    /// Whether this backend can step `model` with `settings`; a fast backend may leave out rare constraints.
    fn supports(&self, model: &Model, settings: &Settings) -> bool;

    /// Does the one-time work of the first step with this model and these settings (factorise, allocate, compile).
    fn prepare(&mut self, model: &Model, settings: &Settings) -> Result<(), SolveError>;

    /// One internal step of [`Settings::step`] seconds: afterwards the fixed vertices are at `targets`.
    /// On an error the state is unchanged.
    fn step(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &mut State,
    ) -> Result<StepReport, SolveError>;
}

/// Report of a step. [`measure`](crate::measure) gives the quality of the result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Local/global iterations done.
    pub iterations: u32,
    /// Largest motion of a vertex in the last iteration \[m\]: an estimate of the remaining error.
    pub residual: f32,
    /// Objective (2.8) before the first and after every iteration \[J\]; empty unless
    /// [`Settings::trace_energy`] is set.
    pub energies: Vec<f64>,
    /// Contacts of the step.
    pub contact: ContactReport,
}

/// Contacts of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactReport {
    /// Tracked pairs: touching or close.
    pub known: usize,
    /// Pairs with a contact force.
    pub pressing: usize,
    /// Points of tracked pairs that are inside at the end of the step.
    pub inside: usize,
    /// Largest depth \[m\].
    pub depth: f32,
}

impl ContactReport {
    /// Counts the contacts of a state.
    pub fn of(state: &State) -> ContactReport {
        let own = state.contact.contacts.iter();
        let own = own.map(|contact| (contact.force, contact.distance));
        let external = state.contact.external.iter();
        let external = external.map(|contact| (contact.force, contact.distance));
        let mut report = ContactReport::default();
        for (force, distance) in own.chain(external) {
            report.known += 1;
            report.pressing += usize::from(force != glam::Vec3::ZERO);
            report.inside += usize::from(distance < 0.0);
            report.depth = report.depth.max(-distance);
        }
        report
    }
}

/// Why a step was not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// A list of targets or state has a wrong length.
    #[error("{list} has {found} entries, but the model needs {expected}")]
    Length {
        /// Name of the list.
        list: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// A target or a state entry is NaN or infinite.
    #[error("{list}[{index}] is not finite")]
    NotFinite {
        /// Name of the list.
        list: &'static str,
        /// First bad entry.
        index: usize,
    },
    /// A setting is out of range.
    #[error("{name} is {value}; it must be positive and finite")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A factor of the weights makes no sense.
    #[error("{name} is {value}, it must be finite and not negative")]
    Weight {
        /// Name of the factor.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// The system matrix could not be factorised.
    #[error(
        "the system matrix is not positive definite at vertex {vertex}; check stiffness and masses"
    )]
    NotPositiveDefinite {
        /// The free vertex whose pivot failed.
        vertex: usize,
    },
    /// The backend does not support a constraint type or option of the model or settings.
    #[error("the {backend} backend does not support {what}; use the reference backend")]
    Unsupported {
        /// Name of the backend.
        backend: &'static str,
        /// What is missing.
        what: &'static str,
    },
    /// A vertex has come away from its bones.
    #[error(
        "the tissue has come apart: vertex {vertex} is {distance} m from its bone; reset the body, and try shorter frames, \
         slower motion or no contact"
    )]
    Diverged {
        /// The free vertex.
        vertex: usize,
        /// Its distance from its carrier, now or after another step \[m\]; infinite if it is not finite.
        distance: f32,
    },
    /// The backend's device has failed; the state is unchanged.
    #[error("the {backend} backend failed: {reason}")]
    Device {
        /// Name of the backend.
        backend: &'static str,
        /// The device's error message.
        reason: String,
    },
}

/// Checks that settings, targets and state match the model and are finite. Every backend calls it first.
pub fn check_step(
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    state: &State,
) -> Result<(), SolveError> {
    if !(settings.step > 0.0 && settings.step.is_finite()) {
        return Err(SolveError::Setting {
            name: "step",
            value: settings.step,
        });
    }
    // Infinity is "no damping".
    if settings.damping_half_life.is_nan() || settings.damping_half_life <= 0.0 {
        return Err(SolveError::Setting {
            name: "damping_half_life",
            value: settings.damping_half_life,
        });
    }
    // Infinity is "no bound".
    if settings.max_relative_speed.is_nan() || settings.max_relative_speed <= 0.0 {
        return Err(SolveError::Setting {
            name: "max_relative_speed",
            value: settings.max_relative_speed,
        });
    }
    settings.weights.check(model)?;
    let (free, fixed) = (model.free_count(), model.fixed_count());
    let lengths = [
        ("targets.fixed", targets.fixed.len(), fixed),
        (
            "targets.anchors",
            targets.anchors.len(),
            model.anchors().len(),
        ),
        ("state.positions", state.positions.len(), free),
        ("state.velocities", state.velocities.len(), free),
        ("state.fixed", state.fixed.len(), fixed),
        ("state.fixed_previous", state.fixed_previous.len(), fixed),
    ];
    for (list, found, expected) in lengths {
        if found != expected {
            return Err(SolveError::Length {
                list,
                found,
                expected,
            });
        }
    }
    let optional = [
        (
            "targets.directions",
            targets.directions.len(),
            model.anchors().len(),
        ),
        ("targets.forces", targets.forces.len(), free),
    ];
    for (list, found, expected) in optional {
        if found != 0 && found != expected {
            return Err(SolveError::Length {
                list,
                found,
                expected,
            });
        }
    }
    if let Some((list, index)) = targets.first_non_finite() {
        return Err(SolveError::NotFinite { list, index });
    }
    for (list, entries) in [
        ("state.positions", &state.positions),
        ("state.velocities", &state.velocities),
    ] {
        if let Some(index) = first_not_finite(entries) {
            return Err(SolveError::NotFinite { list, index });
        }
    }
    Ok(())
}
