//! Iterations of a body that touches: two phases each, so that contacts see where all regions have moved to.

use std::sync::{PoisonError, RwLock};

use super::phases::{self, lock};
use super::region::{Region, now};
use super::{Prepared, Step, Timings, solve_top};
use crate::State;

impl Prepared {
    /// A whole step with contacts.
    pub(super) fn iterate_touching(&mut self, step: &Step, state: &State) {
        // On a thread of the pool from here on: to ask it from outside costs more than most of what follows.
        rayon::scope(|_| {
            let load = |region: &mut Region, _| region.load(step, state);
            phases::run(&mut self.regions, 1, load, |_, _| ());
            self.begin_contact(step, state);
            self.iterate_with_contacts(step, step.settings.iterations as usize);
        });
    }

    /// Finds contacts where the tissue starts from.
    pub(super) fn begin_contact(&mut self, step: &Step, state: &State) {
        self.timings = Timings::default();
        if let Some(contact) = self.contact.as_mut().filter(|_| step.touches) {
            let start = now(step.clock);
            for region in &self.regions {
                region.read_positions(&mut contact.start, |p| *p);
            }
            contact.detect(step.model, step.settings, step.targets, state);
            let found = now(step.clock);
            contact.assemble(step.model, step.settings, step.targets, state);
            self.timings.detect = found - start;
            self.timings.assemble = now(step.clock) - found;
        }
    }

    /// Iterations after which all regions are where their solution and the contacts have put them.
    pub(super) fn iterate_with_contacts(&mut self, step: &Step, iterations: usize) {
        let rows = &self.rows;
        let contact = self.contact.as_mut().filter(|_| step.touches);
        if !contact.as_ref().is_some_and(|contact| contact.is_active()) {
            return self.iterate_alone(step, iterations, &|_| {});
        }
        for region in &mut self.regions {
            region.touched.clear();
        }
        for &v in contact.iter().flat_map(|contact| contact.touched()) {
            let (region, row) = rows[v as usize];
            self.regions[region as usize].touched.push((row, v));
        }
        let shared = RwLock::new((contact, &mut self.timings));
        let work = |region: &mut Region, phase: usize| {
            let shared = shared.read().unwrap_or_else(PoisonError::into_inner);
            let Some(contact) = &shared.0 else {
                return;
            };
            if !phase.is_multiple_of(2) {
                return region.apply(step.clock);
            }
            if phase == 0 {
                region.note_reached(contact.reached());
            } else {
                region.shift(contact.shifts());
            }
            if phase < 2 * iterations {
                region.project(step, contact.forces());
            }
        };
        phases::run(
            &mut self.regions,
            2 * iterations + 1,
            work,
            |regions, phase| {
                if phase == 2 * iterations {
                    return;
                }
                if phase.is_multiple_of(2) {
                    return solve_top(regions, step.clock);
                }
                let mut shared = shared.write().unwrap_or_else(PoisonError::into_inner);
                let (contact, timings) = &mut *shared;
                if let Some(contact) = contact {
                    let start = now(step.clock);
                    let (touched, positions) = contact.positions();
                    let mut guards: Vec<_> = regions.iter().map(lock).collect();
                    for &v in touched {
                        let (region, row) = rows[v as usize];
                        positions[v as usize] = guards[region as usize].item().position(row);
                    }
                    drop(guards);
                    contact.sweep();
                    timings.contact += now(step.clock) - start;
                }
            },
        );
    }
}
