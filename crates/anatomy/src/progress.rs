//! How far a long task is.

use std::sync::atomic::{AtomicU64, Ordering};

/// One, as it is counted.
const WHOLE: f64 = 1e9;

/// Tells how much of a task is done, from 0 to 1; never less than before.
pub struct Progress<'a> {
    report: &'a (dyn Fn(f64) + Sync),
    done: AtomicU64,
}

impl<'a> Progress<'a> {
    /// With a function that is told the share that is done, perhaps from several threads.
    pub fn new(report: &'a (dyn Fn(f64) + Sync)) -> Self {
        Progress {
            report,
            done: AtomicU64::new(0),
        }
    }

    /// Reports nothing.
    pub fn silent() -> Progress<'static> {
        Progress::new(&|_| ())
    }

    /// A share more is done.
    pub fn advance(&self, share: f64) {
        let more = (WHOLE * share) as u64;
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        self.tell(done);
    }

    /// All before a share is done.
    pub fn reach(&self, share: f64) {
        let least = (WHOLE * share) as u64;
        let done = self.done.fetch_max(least, Ordering::Relaxed).max(least);
        self.tell(done);
    }

    fn tell(&self, done: u64) {
        (self.report)((done as f64 / WHOLE).min(1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn shares_add_up_and_never_fall() {
        let told = Mutex::new(Vec::new());
        let note = |share: f64| told.lock().unwrap().push(share);
        let progress = Progress::new(&note);
        progress.advance(0.25);
        progress.reach(0.5);
        progress.reach(0.3);
        progress.advance(0.75);
        assert_eq!(*told.lock().unwrap(), [0.25, 0.5, 0.5, 1.0]);
    }
}
