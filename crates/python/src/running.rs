//! Calls that take long: outside of the interpreter's lock, stopped by Ctrl-C, with progress, and without panics that reach Python.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::Failure;

/// Time between two looks for Ctrl-C: people notice more, less costs the interpreter.
const LOOK: Duration = Duration::from_millis(20);
/// Stack of the threads, that of a program's main thread \[bytes\].
const STACK: usize = 8 << 20;

/// The process that made the threads, and the threads. A forked process has none of its parent's threads and makes its own.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

fn pool() -> Result<Arc<ThreadPool>, Failure> {
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let own = std::process::id();
    if let Some((process, pool)) = &*slot
        && *process == own
    {
        return Ok(Arc::clone(pool));
    }
    let made = ThreadPoolBuilder::new().stack_size(STACK).build();
    let made = Arc::new(made.map_err(|error| {
        Failure::Argument("SuppleError", format!("no threads can be started: {error}"))
    })?);
    // The parent's threads are not here to be waited for.
    std::mem::forget(slot.replace((own, Arc::clone(&made))));
    Ok(made)
}

/// What a long call tells and is told.
pub struct Task {
    stop: Arc<AtomicBool>,
    tell: Box<dyn Fn(f32) + Send + Sync>,
}

impl Task {
    /// Tells the share that is done, from 0 to 1.
    pub fn tell(&self, share: f32) {
        (self.tell)(share);
    }

    /// Fails if the caller wants no more.
    pub fn check(&self) -> Result<(), Failure> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(Failure::Stopped),
            false => Ok(()),
        }
    }
}

enum Message<T> {
    Share(f32),
    Done(Result<T, Failure>),
}

/// Work that may take longer than a moment. The calling thread calls `progress` and looks for Ctrl-C meanwhile; when it is stopped, work
/// that does not look at its [`Task`] ends in the background, and its result is dropped.
pub fn long<T, F>(py: Python, progress: Option<Bound<PyAny>>, work: F) -> PyResult<T>
where
    T: Send + 'static,
    F: FnOnce(&Task) -> Result<T, Failure> + Send + 'static,
{
    let progress = progress.map(called).transpose()?.flatten();
    let pool = pool().map_err(|failure| failure.raise(py))?;
    let (send, receive) = channel::<Message<T>>();
    let receive = Mutex::new(receive);
    let stop = Arc::new(AtomicBool::new(false));
    let task = Task {
        stop: Arc::clone(&stop),
        tell: teller(send.clone(), progress.is_some()),
    };
    pool.spawn(move || {
        let done = caught(|| work(&task));
        // Nobody listens to a call that was stopped.
        let _ = send.send(Message::Done(done));
    });
    let wait = || {
        let receive = receive.lock().unwrap_or_else(PoisonError::into_inner);
        receive.recv_timeout(LOOK)
    };
    let result = loop {
        match py.detach(wait) {
            Ok(Message::Done(done)) => break done.map_err(|failure| failure.raise(py)),
            Ok(Message::Share(share)) => {
                if let Some(Err(error)) = progress.as_ref().map(|told| told.call1((share,))) {
                    break Err(error);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let text = "a thread ended without a result".to_owned();
                break Err(Failure::Defect(text).raise(py));
            }
        }
        if let Err(error) = py.check_signals() {
            break Err(error);
        }
    };
    stop.store(true, Ordering::Relaxed);
    result
}

/// Work of a moment, on the calling thread and the pool.
pub fn brief<T: Send>(py: Python, work: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<T> {
    let done = py.detach(|| {
        let pool = pool()?;
        pool.install(|| caught(work))
    });
    done.map_err(|failure| failure.raise(py))
}

fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(payload) => Err(Failure::Defect(text_of(payload.as_ref()))),
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("no reason is known").to_owned()
}

/// Sends shares, each hundredth once.
fn teller<T: Send + 'static>(
    send: Sender<Message<T>>,
    wanted: bool,
) -> Box<dyn Fn(f32) + Send + Sync> {
    let last = Mutex::new(-1);
    Box::new(move |share| {
        let hundredth = (100.0 * share) as i32;
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted && hundredth > *last {
            *last = hundredth;
            let _ = send.send(Message::Share(share.clamp(0.0, 1.0)));
        }
    })
}

/// What is called with the share: `True` is a bar, nothing without tqdm.
fn called(progress: Bound<PyAny>) -> PyResult<Option<Bound<PyAny>>> {
    let py = progress.py();
    if progress.is_none() || progress.is_callable() {
        return Ok((!progress.is_none()).then_some(progress));
    }
    match progress.extract::<bool>() {
        Ok(true) => {
            let bar = py.import("supple._interchange")?.call_method0("bar")?;
            Ok((!bar.is_none()).then_some(bar))
        }
        Ok(false) => Ok(None),
        Err(_) => {
            let text = "progress is a function of the share that is done, True or None".to_owned();
            Err(Failure::Argument("ArgumentError", text).raise(py))
        }
    }
}
