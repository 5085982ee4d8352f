//! Iterations of a body that touches: contacts see where the regions around them have moved to.

use std::sync::{Mutex, PoisonError, RwLock};

use super::phases::{self, Cell, lock};
use super::region::{Region, now};
use super::{Prepared, Step, Timings, solve_top};
use crate::State;
use crate::contact::Side;

impl Prepared {
    /// A whole step with contacts.
    pub(super) fn iterate_touching(&mut self, step: &Step, state: &State) {
        // On a thread of the pool from here on: to ask it from outside costs more than most of what follows.
        rayon::scope(|_| {
            let load = |region: &mut Region, _, _| region.load(step, state);
            phases::run(&mut self.regions, 1, load, |_, _| ());
            phases::attended(|| self.begin_contact(step, state));
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
    ///
    /// Three phases each, for regions that contacts reach: the local step and the first half of the solve; its second half;
    /// the sweep over the contacts. Others go through all of their iteration while contacts are swept.
    pub(super) fn iterate_with_contacts(&mut self, step: &Step, iterations: usize) {
        let rows = &self.rows;
        let contact = self.contact.as_mut().filter(|_| step.touches);
        let Some(contact) = contact.filter(|contact| contact.is_active()) else {
            return self.iterate_alone(step, iterations, &|_| {});
        };
        for region in &mut self.regions {
            region.touched.clear();
        }
        for &v in contact.touched() {
            let (region, row) = rows[v as usize];
            self.regions[region as usize].touched.push((row, v));
        }
        let sides = contact.lend_sides().map(|side| Mutex::new((side, 0.0)));
        let count = self.regions.len();
        let shared = RwLock::new((contact, &mut self.timings));
        let read = || shared.read().unwrap_or_else(PoisonError::into_inner);
        let work = |region: &mut Region, at: usize, phase: usize| {
            let contact = &read().0;
            let is_last = phase + 1 >= 3 * iterations;
            match phase % 3 {
                0 if phase == 0 => {
                    region.note_reached(contact.reached());
                    region.project(step, contact.forces());
                }
                0 if region.is_reached() => {
                    region.shift(contact);
                    if !is_last {
                        region.project(step, contact.forces());
                    }
                }
                1 if region.is_reached() => region.apply(step.clock),
                2 => {
                    for (number, side) in sides.iter().enumerate() {
                        if at == phases::share(number, sides.len(), count) {
                            let start = now(step.clock);
                            let mut side = side.lock().unwrap_or_else(PoisonError::into_inner);
                            contact.sweep_side(&mut side.0);
                            side.1 = now(step.clock) - start;
                        }
                    }
                    if !region.is_reached() {
                        region.apply(step.clock);
                        if !is_last {
                            region.project(step, &[]);
                        }
                    }
                }
                _ => {}
            }
        };
        let between = |regions: &[Mutex<Cell<Region>>], phase: usize| {
            if phase == 3 * iterations {
                return;
            }
            if phase.is_multiple_of(3) {
                return solve_top(regions, step.clock);
            }
            let mut shared = shared.write().unwrap_or_else(PoisonError::into_inner);
            let (contact, timings) = &mut *shared;
            let start = now(step.clock);
            if phase % 3 == 1 {
                let (_, positions) = contact.positions();
                for region in regions {
                    let mut region = lock(region);
                    let region = region.item();
                    for (&(_, v), &at) in region.touched.iter().zip(&region.touched_at) {
                        positions[v as usize] = at;
                    }
                }
            } else {
                let side = |side| Mutex::lock(side).unwrap_or_else(PoisonError::into_inner);
                let [mut first, mut second] = sides.each_ref().map(side);
                timings.contact += first.1.max(second.1);
                contact.end_sweep([&mut first.0, &mut second.0]);
            }
            timings.contact += now(step.clock) - start;
        };
        phases::run(&mut self.regions, 3 * iterations + 1, work, between);
        let side =
            |side: Mutex<(Side, f64)>| side.into_inner().unwrap_or_else(PoisonError::into_inner).0;
        let (contact, _) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        contact.take_back(sides.map(side));
    }
}
