//! Iterations with contact: a contact sweep follows every global step.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use supple_geom::simd::Row;

use super::phases::{self, Cell, Schedule, lock};
use super::region::{Region, now};
use super::{Clock, Prepared, Step, Timings, solve_top};
use crate::State;
use crate::contact::{ContactSolver, Side};

/// A side of the contact sweep.
#[derive(Default)]
struct Swept {
    side: Side,
    /// Time of the last sweep \[s\].
    seconds: f64,
}

impl Prepared {
    /// A whole step with contacts.
    pub(super) fn iterate_touching(&mut self, step: &Step, state: &State) {
        // Run on a thread of the pool: entering the pool from outside costs more than most of what follows.
        rayon::scope(|_| {
            let iterations = step.settings.iterations as usize;
            // A thread that uses the pool inside a phase may be given another body's work while regions wait for it.
            if ContactSolver::finds_alone(step.settings, step.targets) {
                return self.iterate_with_contacts(step, iterations, Some(state));
            }
            let places = Mutex::new(self.contact.as_mut().map(|contact| &mut contact.start));
            let load = |region: &mut Region, _, _| {
                region.load(step, state);
                if let Some(places) = &mut *hold(&places) {
                    region.read_positions(places, |p| *p);
                }
            };
            phases::run(&mut self.regions, 1, load, &(), |_, _| ());
            if let Some(contact) = &mut self.contact {
                phases::with_pool_awake(|| find(contact, &mut self.timings, step, state));
            }
            self.iterate_with_contacts(step, iterations, None);
        });
    }

    /// Detects contacts at the regions' positions.
    pub(super) fn begin_contact(&mut self, step: &Step, state: &State) {
        if let Some(contact) = self.contact.as_mut().filter(|_| step.touches) {
            for region in &self.regions {
                region.read_positions(&mut contact.start, |p| *p);
            }
            find(contact, &mut self.timings, step, state);
        }
    }

    /// Iterations with contact, if it is enabled. With a state, regions are loaded from it, and one thread detects contacts
    /// while the others begin.
    pub(super) fn iterate_with_contacts(
        &mut self,
        step: &Step,
        iterations: usize,
        state: Option<&State>,
    ) {
        let Some(contact) = self.contact.as_mut().filter(|_| step.touches) else {
            return self.iterate_alone(step, iterations, &|_| {});
        };
        let rows = &self.rows;
        let touch = Touch {
            positions: RwLock::new(std::mem::take(contact.positions().1)),
            shared: RwLock::new((contact, &mut self.timings)),
            sides: Default::default(),
            touched: self.regions.iter().map(|_| AtomicBool::default()).collect(),
            count: AtomicUsize::new(0),
            written: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            swept: AtomicUsize::new(0),
            first: usize::from(state.is_some()),
            clock: step.clock,
        };
        // First the local step, then forward substitution. After that, two phases per iteration: backward substitution, with the
        // contact sweep as soon as all touched regions have written their positions; then the local step and forward
        // substitution of the next iteration.
        let work = |region: &mut Region, at: usize, phase: usize| {
            let Some(phase) = phase.checked_sub(touch.first) else {
                if let Some(state) = state {
                    region.load(step, state);
                    region.read_positions(&mut write(&touch.shared).0.start, |p| *p);
                }
                return;
            };
            if phase == 0 {
                if let (0, Some(state)) = (at, state) {
                    let (contact, timings) = &mut *write(&touch.shared);
                    find(contact, timings, step, state);
                }
                region.set_fixed();
                return region.gather(step);
            }
            if phase >= 2 && phase.is_multiple_of(2) {
                region.apply(step.clock);
                return touch.write_positions(region, at, phase / 2);
            }
            let contact = &read(&touch.shared).0;
            match phase {
                1 => region.note_reached(contact),
                _ => region.shift(contact),
            }
            if phase / 2 < iterations {
                if phase > 1 {
                    region.gather(step);
                }
                region.start_solve(contact.forces(), step.clock);
            }
        };
        let between =
            |regions: &[Mutex<Cell<Region>>], phase: usize| match phase.checked_sub(touch.first) {
                None => {}
                Some(0) => touch.begin(regions, rows),
                Some(phase) if !phase.is_multiple_of(2) && phase / 2 < iterations => {
                    solve_top(regions, step.clock);
                }
                Some(_) => {}
            };
        let phases = touch.first + 2 * iterations + 2;
        phases::run(&mut self.regions, phases, work, &touch, between);
        touch.end();
    }
}

/// Contact state shared by the threads during the iterations.
struct Touch<'a> {
    shared: RwLock<(&'a mut ContactSolver, &'a mut Timings)>,
    /// Positions of touched vertices.
    positions: RwLock<Vec<Row>>,
    sides: [Mutex<Swept>; 2],
    /// Which regions have contacts, and how many.
    touched: Vec<AtomicBool>,
    count: AtomicUsize,
    /// Counters over all iterations: positions written by touched regions, sweeps of sides begun, sweeps done.
    written: AtomicUsize,
    begun: AtomicUsize,
    swept: AtomicUsize,
    /// Phases before the first local step.
    first: usize,
    clock: Option<Clock>,
}

impl Touch<'_> {
    /// Sets the touched rows of every region.
    fn begin(&self, regions: &[Mutex<Cell<Region>>], rows: &[(u32, u32)]) {
        let contact = &mut write(&self.shared).0;
        for region in regions {
            lock(region).item().touched.clear();
        }
        for &v in contact.touched() {
            let (region, row) = rows[v as usize];
            let mut cell = lock(&regions[region as usize]);
            cell.item().touched.push((row, v));
            if !self.touched[region as usize].swap(true, Ordering::Relaxed) {
                self.count.fetch_add(1, Ordering::Relaxed);
            }
        }
        // Contacts among colliders only are swept too.
        if contact.is_active() && self.count.load(Ordering::Relaxed) == 0 {
            self.touched[0].store(true, Ordering::Relaxed);
            self.count.store(1, Ordering::Relaxed);
        }
        for (swept, side) in self.sides.iter().zip(contact.lend_sides()) {
            hold(swept).side = side;
        }
    }

    /// Writes the positions of a region. The thread that writes the last region of an iteration finishes the contact sweep.
    fn write_positions(&self, region: &Region, at: usize, iteration: usize) {
        if !self.is_urgent(at) {
            return;
        }
        region.write_touched(&mut write(&self.positions));
        let written = self.written.fetch_add(1, Ordering::AcqRel) + 1;
        if written < self.count.load(Ordering::Acquire) * iteration {
            return;
        }
        self.sweep_sides(iteration);
        // Another thread may still sweep a side.
        while self.swept.load(Ordering::Acquire) < 2 * iteration {
            std::thread::yield_now();
        }
        let start = now(self.clock);
        let [mut first, mut second] = self.sides.each_ref().map(hold);
        let (contact, timings) = &mut *write(&self.shared);
        contact.end_sweep([&mut first.side, &mut second.side], &read(&self.positions));
        timings.contact += first.seconds.max(second.seconds) + now(self.clock) - start;
    }

    /// Sweeps the sides that no thread has begun in an iteration.
    fn sweep_sides(&self, iteration: usize) {
        loop {
            let next = self.begun.load(Ordering::Relaxed);
            if next >= 2 * iteration {
                return;
            }
            let (done, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            if (self.begun.compare_exchange(next, next + 1, done, failed)).is_ok() {
                let _done = CountOnDrop(&self.swept);
                let start = now(self.clock);
                let mut swept = hold(&self.sides[next % 2]);
                let contact = &read(&self.shared).0;
                contact.sweep_side(&mut swept.side, &read(&self.positions));
                swept.seconds = now(self.clock) - start;
            }
        }
    }

    /// Gives everything back after the last iteration.
    fn end(self) {
        let (contact, _) = self
            .shared
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let positions = self.positions.into_inner();
        *contact.positions().1 = positions.unwrap_or_else(PoisonError::into_inner);
        contact.take_back(self.sides.map(|side| std::mem::take(&mut hold(&side).side)));
    }
}

/// Counts when dropped, also after a panic: other threads wait for the count.
struct CountOnDrop<'a>(&'a AtomicUsize);

impl Drop for CountOnDrop<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

impl Schedule for Touch<'_> {
    /// Strongly compressed tets take longer.
    fn is_even(&self) -> bool {
        false
    }

    fn is_urgent(&self, region: usize) -> bool {
        self.touched[region].load(Ordering::Relaxed)
    }

    fn wait(&self, phase: usize) {
        let Some(phase) = phase.checked_sub(self.first) else {
            return;
        };
        let (iteration, count) = (phase / 2, self.count.load(Ordering::Acquire));
        if phase.is_multiple_of(2)
            && count > 0
            && self.written.load(Ordering::Acquire) == count * iteration
        {
            self.sweep_sides(iteration);
        }
    }
}

/// Detects contacts at the initial guess, and assembles them.
fn find(contact: &mut ContactSolver, timings: &mut Timings, step: &Step, state: &State) {
    let start = now(step.clock);
    contact.detect(step.model, step.settings, step.targets, state);
    let found = now(step.clock);
    contact.assemble(step.model, step.settings, step.targets, state);
    *timings = Timings {
        detect: found - start,
        assemble: now(step.clock) - found,
        ..Timings::default()
    };
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
