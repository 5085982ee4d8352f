//! Work on regions in phases, by all threads of the pool.
//!
//! Workers live for a whole step and meet between phases at a counter, which costs them a microsecond where waking a
//! thread costs ten. Nobody owns a region: a worker begins with its share, so that regions stay in its cache, and takes
//! over what others have not begun. One worker alone gets everything done, should the others be late or never come.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Looks at the counter before a waiting worker offers its processor to other programs: some ten microseconds. With
/// fewer, the system is asked in every phase; with more, a waiting worker stands in the way on a busy machine.
const SPINS: usize = 500;

/// An item, and how many phases it has been through.
pub struct Cell<'a, T> {
    item: &'a mut T,
    phases: usize,
}

/// Waits for the item.
pub fn lock<'c, 'a, T>(cell: &'c Mutex<Cell<'a, T>>) -> MutexGuard<'c, Cell<'a, T>> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Cell<'_, T> {
    /// The item.
    pub fn item(&mut self) -> &mut T {
        self.item
    }
}

/// Looks for work of a thread that [keeps](attended) others awake: some hundred microseconds.
const LOOKS: usize = 4000;

/// Does `work`, which asks the pool for help many times and shortly, while another thread of the pool stays awake: waking one takes as long as
/// many a piece of the work. The other does not wait for ever, since it may have its own things to do.
pub fn attended(work: impl FnOnce() + Send) {
    let is_done = AtomicBool::new(false);
    rayon::scope(|scope| {
        if rayon::current_num_threads() > 1 {
            scope.spawn(|_| {
                for _ in 0..LOOKS {
                    if is_done.load(Ordering::Acquire) {
                        return;
                    }
                    if rayon::yield_now() != Some(rayon::Yield::Executed) {
                        std::hint::spin_loop();
                    }
                }
            });
        }
        work();
        is_done.store(true, Ordering::Release);
    });
}

/// What else there is to know of items and threads.
pub trait Others: Sync {
    /// Whether items take as long as their sizes tell. If not, the large ones, which come first, are not left to the end of a phase.
    fn is_even(&self) -> bool;
    /// Whether others wait for an item: it comes first in every phase.
    fn is_urgent(&self, item: usize) -> bool;
    /// Asked again and again while a thread waits for the end of a phase.
    fn wait(&self, phase: usize);
}

impl Others for () {
    fn is_even(&self) -> bool {
        true
    }
    fn is_urgent(&self, _: usize) -> bool {
        false
    }
    fn wait(&self, _: usize) {}
}

/// For every phase, `work` on each item and its number, in any order and at the same time, then `between` on all. What it does must not
/// depend on the order of the items. Of two threads one begins with the first item, the other with the middle one or, if items are
/// [not even](Others::is_even), with the second.
pub fn run<T: Send>(
    items: &mut [T],
    phases: usize,
    work: impl Fn(&mut T, usize, usize) + Sync,
    others: &impl Others,
    between: impl Fn(&[Mutex<Cell<T>>], usize) + Sync,
) {
    let cells: Vec<Mutex<Cell<T>>> = items
        .iter_mut()
        .map(|item| Mutex::new(Cell { item, phases: 0 }))
        .collect();
    let workers = rayon::current_num_threads().min(cells.len());
    let crew = Crew {
        cells: &cells,
        phases,
        open: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        workers,
        work: &work,
        others,
        between: &between,
    };
    if workers <= 1 {
        return crew.work_as(0);
    }
    let crew = &crew;
    rayon::scope(|scope| {
        for worker in 1..workers {
            scope.spawn(move |_| crew.work_as(worker));
        }
        crew.work_as(0);
    });
}

struct Crew<'a, 'c, T, W, O, B> {
    cells: &'a [Mutex<Cell<'c, T>>],
    phases: usize,
    /// The phase that items may go through.
    open: AtomicUsize,
    /// Items done, over all phases.
    done: AtomicUsize,
    workers: usize,
    work: &'a W,
    others: &'a O,
    between: &'a B,
}

impl<'c, T, W, O, B> Crew<'_, 'c, T, W, O, B>
where
    W: Fn(&mut T, usize, usize),
    O: Others,
    B: Fn(&[Mutex<Cell<'c, T>>], usize),
{
    /// Takes part until all phases are over: with the items of its share, then with what is left, from the last on.
    fn work_as(&self, worker: usize) {
        let _guard = EndOnPanic(&self.open, self.phases);
        let mut phase = self.open.load(Ordering::Acquire);
        while phase < self.phases {
            let (count, workers) = (self.cells.len(), self.workers.max(1));
            let (first, stride) = match self.others.is_even() {
                true => (worker * count / workers, 1),
                false => (worker, workers),
            };
            let order = (first..count).step_by(stride).chain((0..count).rev());
            for urgent in [true, false] {
                for at in order.clone() {
                    if self.others.is_urgent(at) == urgent {
                        self.try_item(at, phase);
                    }
                }
            }
            // Whatever is not done, somebody is doing.
            phase = self.wait_for_more(phase);
        }
    }

    /// The next phase that is open.
    fn wait_for_more(&self, last: usize) -> usize {
        let mut spins = 0;
        loop {
            let phase = self.open.load(Ordering::Acquire);
            if phase != last {
                return phase;
            }
            self.others.wait(last);
            spins += 1;
            if spins > SPINS {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Takes an item through a phase, unless somebody else does or has. Whoever is last opens the next phase.
    fn try_item(&self, at: usize, phase: usize) {
        let mut cell = match self.cells[at].try_lock() {
            Ok(cell) => cell,
            Err(TryLockError::WouldBlock | TryLockError::Poisoned(_)) => return,
        };
        if cell.phases != phase {
            return;
        }
        (self.work)(cell.item, at, phase);
        cell.phases += 1;
        drop(cell);
        if self.done.fetch_add(1, Ordering::AcqRel) + 1 == self.cells.len() * (phase + 1) {
            (self.between)(self.cells, phase);
            self.open.store(phase + 1, Ordering::Release);
        }
    }
}

/// Sends the other workers home when one panics: they would wait for it for ever.
struct EndOnPanic<'a>(&'a AtomicUsize, usize);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(self.1, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// Items sum what the last phase left; `between` spreads the sum of all.
    fn sums(threads: usize) -> Vec<u64> {
        let mut items: Vec<u64> = (1..8).collect();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| {
            run(
                &mut items,
                200,
                |item, _, phase| *item = item.wrapping_mul(31).wrapping_add(phase as u64),
                &(),
                |cells, _| {
                    let sum = cells
                        .iter()
                        .fold(0_u64, |sum, cell| sum.wrapping_add(*lock(cell).item()));
                    for cell in cells {
                        let mut cell = lock(cell);
                        *cell.item() = cell.item().wrapping_add(sum);
                    }
                },
            )
        });
        items
    }

    #[test]
    fn every_item_goes_through_every_phase_whatever_the_threads() {
        let alone = sums(1);
        for threads in [2, 3, 8] {
            assert_eq!(sums(threads), alone, "{threads} threads");
        }
    }

    #[test]
    fn attended_work_is_done_whoever_attends() {
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let mut sum = 0_u64;
            pool.build().expect("a pool").install(|| {
                // Work that is itself attended, and that of others at the same time.
                attended(|| {
                    let one = |i: u64| {
                        let mut own = 0;
                        attended(|| own = (0..100).into_par_iter().map(|j: u64| i * j).sum());
                        own
                    };
                    sum = (0..100).into_par_iter().map(one).sum();
                })
            });
            assert_eq!(sum, 4950 * 4950, "{threads} threads");
        }
    }

    #[test]
    fn a_panic_ends_the_others() {
        let failed = std::panic::catch_unwind(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
            pool.expect("a pool").install(|| {
                let work = |item: &mut usize, _, phase| assert!(*item != 2 || phase < 5);
                run(&mut [0, 1, 2, 3], 10, work, &(), |_, _| ());
            })
        });
        assert!(failed.is_err());
    }
}
