//! A stop watch for reports.

use std::time::Instant;

/// A stop watch. WebAssembly has no clock of its own: there every lap takes 0 s.
pub(crate) struct Clock(Option<Instant>);

impl Clock {
    /// Starts.
    pub(crate) fn start() -> Self {
        Clock(now())
    }

    /// Seconds since the start, or since the last lap.
    pub(crate) fn lap(&mut self) -> f64 {
        let last = std::mem::replace(&mut self.0, now());
        last.map_or(0.0, |last| last.elapsed().as_secs_f64())
    }
}

fn now() -> Option<Instant> {
    (!cfg!(target_arch = "wasm32")).then(Instant::now)
}
