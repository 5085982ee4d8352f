//! Runs work on regions in phases, on all threads of the pool.
//!
//! Workers live for a whole step and synchronise between phases on a spinning counter, which takes about a microsecond; waking
//! a thread takes ten. A worker begins with its own share of the items, so that they stay in its cache, then steals what others
//! have not begun. One worker can finish everything alone if the others are late or never start.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Spins before a waiting worker yields its core: about ten microseconds. With fewer, workers yield in every phase; with more,
/// a waiting worker blocks others on a busy machine.
const SPINS_BEFORE_YIELD: usize = 500;

/// An item, and the number of phases it has completed.
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

/// Polls for work before the thread kept awake by [`with_pool_awake`] gives up: about a hundred microseconds.
const IDLE_POLLS: usize = 4000;

/// Runs `work`, which uses the pool in many short bursts, while another thread of the pool stays awake: waking a thread takes as
/// long as many of the bursts. That thread gives up after a while, since it may have other work.
pub fn with_pool_awake(work: impl FnOnce() + Send) {
    let is_done = AtomicBool::new(false);
    rayon::scope(|scope| {
        if rayon::current_num_threads() > 1 {
            scope.spawn(|_| {
                for _ in 0..IDLE_POLLS {
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

/// Order of items, and what waiting threads do.
pub trait Schedule: Sync {
    /// Whether the cost of an item is proportional to its size. If not, threads begin with the large items, which come first.
    fn is_even(&self) -> bool;
    /// Whether other work depends on an item: it then comes first in every phase.
    fn is_urgent(&self, item: usize) -> bool;
    /// Called repeatedly while a thread waits for the end of a phase.
    fn wait(&self, phase: usize);
}

impl Schedule for () {
    fn is_even(&self) -> bool {
        true
    }
    fn is_urgent(&self, _: usize) -> bool {
        false
    }
    fn wait(&self, _: usize) {}
}

/// In every phase calls `work` with each item and its index, in parallel and in any order, then `between` with all items. The
/// result must not depend on the order. Of two threads one begins with the first item, and the other with the middle one or, if
/// items are [not even](Schedule::is_even), with the second.
pub fn run<T: Send>(
    items: &mut [T],
    phases: usize,
    work: impl Fn(&mut T, usize, usize) + Sync,
    schedule: &impl Schedule,
    between: impl Fn(&[Mutex<Cell<T>>], usize) + Sync,
) {
    let cells: Vec<Mutex<Cell<T>>> = items
        .iter_mut()
        .map(|item| Mutex::new(Cell { item, phases: 0 }))
        .collect();
    let workers = rayon::current_num_threads().min(cells.len());
    let team = Workers {
        cells: &cells,
        phases,
        open: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        workers,
        work: &work,
        schedule,
        between: &between,
    };
    if workers <= 1 {
        return team.work_as(0);
    }
    let team = &team;
    rayon::scope(|scope| {
        for worker in 1..workers {
            scope.spawn(move |_| team.work_as(worker));
        }
        team.work_as(0);
    });
}

struct Workers<'a, 'c, T, W, O, B> {
    cells: &'a [Mutex<Cell<'c, T>>],
    phases: usize,
    /// The current phase.
    open: AtomicUsize,
    /// Items completed, over all phases.
    done: AtomicUsize,
    workers: usize,
    work: &'a W,
    schedule: &'a O,
    between: &'a B,
}

impl<'c, T, W, O, B> Workers<'_, 'c, T, W, O, B>
where
    W: Fn(&mut T, usize, usize),
    O: Schedule,
    B: Fn(&[Mutex<Cell<'c, T>>], usize),
{
    /// Works until all phases are over: first on its own share of the items, then on the remaining ones, last to first.
    fn work_as(&self, worker: usize) {
        let _guard = EndOnPanic(&self.open, self.phases);
        let mut phase = self.open.load(Ordering::Acquire);
        while phase < self.phases {
            let (count, workers) = (self.cells.len(), self.workers.max(1));
            let (first, stride) = match self.schedule.is_even() {
                true => (worker * count / workers, 1),
                false => (worker, workers),
            };
            let order = (first..count).step_by(stride).chain((0..count).rev());
            for urgent in [true, false] {
                for at in order.clone() {
                    if self.schedule.is_urgent(at) == urgent {
                        self.try_item(at, phase);
                    }
                }
            }
            // Items that are not done are being worked on by other threads.
            phase = self.wait_for_more(phase);
        }
    }

    /// Waits for the next phase.
    fn wait_for_more(&self, last: usize) -> usize {
        let mut spins = 0;
        loop {
            let phase = self.open.load(Ordering::Acquire);
            if phase != last {
                return phase;
            }
            self.schedule.wait(last);
            spins += 1;
            if spins > SPINS_BEFORE_YIELD {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Works on an item unless another thread does or has. The thread that completes the last item opens the next phase.
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

/// Ends all phases if a worker panics: the others would wait forever.
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

    /// Every phase updates the items; `between` adds the sum of all to each.
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
    fn results_do_not_depend_on_the_number_of_threads() {
        let alone = sums(1);
        for threads in [2, 3, 8] {
            assert_eq!(sums(threads), alone, "{threads} threads");
        }
    }

    #[test]
    fn nested_work_with_the_pool_awake_completes() {
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let mut sum = 0_u64;
            pool.build().expect("a pool").install(|| {
                // Nested calls, in parallel with others.
                with_pool_awake(|| {
                    let one = |i: u64| {
                        let mut own = 0;
                        with_pool_awake(|| {
                            own = (0..100).into_par_iter().map(|j: u64| i * j).sum()
                        });
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
