//! Positions of all vertices at one moment.

use glam::Vec3;

use super::Source;
use crate::{Model, State, Targets};

/// Positions of all vertices at one moment.
pub(super) struct Moment<'a> {
    model: &'a Model,
    free: &'a [Vec3],
    fixed: &'a [Vec3],
    outside: &'a [Vec3],
}

impl<'a> Moment<'a> {
    /// At the start of a step's iterations.
    pub(super) fn now(model: &'a Model, start: &'a [Vec3], targets: &'a Targets) -> Moment<'a> {
        Moment {
            model,
            free: start,
            fixed: &targets.fixed,
            outside: &targets.outside,
        }
    }

    /// After the last step.
    pub(super) fn before(model: &'a Model, targets: &'a Targets, state: &'a State) -> Moment<'a> {
        let known = state.contact.outside.len() == targets.outside.len();
        Moment {
            model,
            free: &state.positions,
            fixed: &state.fixed,
            outside: if known {
                &state.contact.outside
            } else {
                &targets.outside
            },
        }
    }

    pub(super) fn position(&self, source: Source) -> Vec3 {
        let free = self.model.free_count();
        let found = match source {
            Source::Vertex(v) if (v as usize) < free => self.free.get(v as usize),
            Source::Vertex(v) => self.fixed.get(v as usize - free),
            Source::Outside(i) => self.outside.get(i as usize),
        };
        found.copied().unwrap_or_default()
    }
}
