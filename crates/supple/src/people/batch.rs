//! Works on many scans at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use supple_anatomy::Sex;
use supple_anatomy::body_model::BodyModel;
use supple_anatomy::person::{person_info, save_person};
use supple_rig::formats::save;

use super::{PeopleError, Record, Task};
use crate::person::{Person, PersonError, PersonOptions, Scan, Templates};

/// Scans, where the results go, and how.
#[derive(Debug)]
pub struct Batch<'a> {
    /// The scans.
    pub tasks: &'a [Task],
    /// Folder of the results.
    pub output: &'a Path,
    /// Unit, axis and regressors for all of them.
    pub options: &'a PersonOptions,
    /// Scans that are worked on at a time: bounds the memory. Threads are shared among them.
    pub jobs: usize,
    /// Whether what was done before is done again.
    pub again: bool,
}

/// What happens to a scan.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// It was done before.
    Kept(&'a Record),
    /// It was done or refused now, in so many seconds.
    Done(&'a Record, f64),
}

impl Batch<'_> {
    /// Works on all scans that are not done yet, and returns the records of all in the order of the tasks. A refused scan is an
    /// event, not an error; an error means that results cannot be written.
    pub fn run(&self, tell: &(dyn Fn(Event) + Sync)) -> Result<Vec<Record>, PeopleError> {
        self.clean();
        let mut records: Vec<Option<Record>> = Vec::with_capacity(self.tasks.len());
        let mut open = Vec::new();
        for (index, task) in self.tasks.iter().enumerate() {
            let wanted = Record::new(task, self.options);
            let finished = match self.again {
                true => None,
                false => wanted.finished(self.output),
            };
            match &finished {
                Some(record) => tell(Event::Kept(record)),
                None => open.push(index),
            }
            records.push(finished);
        }
        if !open.is_empty() {
            let templates = prepared()?;
            for (index, record) in self.work(&open, &templates, tell)? {
                records[index] = Some(record);
            }
        }
        Ok(records.into_iter().flatten().collect())
    }

    /// Removes what a stopped run left half written.
    fn clean(&self) {
        let Ok(entries) = std::fs::read_dir(self.output) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_ours = |task: &Task| {
                let name = name.strip_prefix('.').unwrap_or_default();
                let rest = name.strip_prefix(&task.name).unwrap_or_default();
                rest.starts_with(".person.") || rest.starts_with(".json.")
            };
            if name.ends_with(".part") && self.tasks.iter().any(is_ours) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    fn work(
        &self,
        open: &[usize],
        templates: &Templates,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Vec<(usize, Record)>, PeopleError> {
        let jobs = self.jobs.clamp(1, open.len());
        let threads = rayon::current_num_threads();
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let found = Mutex::new(Vec::with_capacity(open.len()));
        let failure = Mutex::new(None);
        let fail = |error: PeopleError| {
            stop.store(true, Ordering::Relaxed);
            if let Ok(mut slot) = failure.lock() {
                slot.get_or_insert(error);
            }
        };
        std::thread::scope(|scope| {
            for job in 0..jobs {
                let share = threads / jobs + usize::from(job < threads % jobs);
                let (next, stop, found, fail) = (&next, &stop, &found, &fail);
                scope.spawn(move || {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(share.max(1));
                    let pool = match pool.build() {
                        Ok(pool) => pool,
                        Err(error) => return fail(PeopleError::Threads(error.to_string())),
                    };
                    while !stop.load(Ordering::Relaxed) {
                        let Some(&index) = open.get(next.fetch_add(1, Ordering::Relaxed)) else {
                            return;
                        };
                        let start = Instant::now();
                        match pool.install(|| self.one(&self.tasks[index], templates)) {
                            Ok(record) => {
                                tell(Event::Done(&record, start.elapsed().as_secs_f64()));
                                if let Ok(mut found) = found.lock() {
                                    found.push((index, record));
                                }
                            }
                            Err(error) => fail(error),
                        }
                    }
                });
            }
        });
        match failure.into_inner().ok().flatten() {
            Some(error) => Err(error),
            None => Ok(found.into_inner().unwrap_or_default()),
        }
    }

    /// One scan: its person and then its record are written.
    fn one(&self, task: &Task, templates: &Templates) -> Result<Record, PeopleError> {
        let mut record = Record::new(task, self.options);
        // A scan that breaks something nobody thought of costs one line, not the others.
        let made = catch_unwind(AssertUnwindSafe(|| self.person(task, templates)));
        match made {
            Ok(Ok(mut somebody)) => {
                somebody.fit.seconds.clear();
                save_person(
                    &self.output.join(format!("{}.person", task.name)),
                    &somebody,
                )?;
                record.person = Some(person_info(&somebody));
            }
            Ok(Err(error)) => record.refused = Some(error.to_string()),
            Err(_) => {
                record.refused =
                    Some("an internal error; please report it with the scan".to_owned());
            }
        }
        let path = self.output.join(format!("{}.json", task.name));
        save(&path, record.to_json().as_bytes())?;
        Ok(record)
    }

    fn person(&self, task: &Task, templates: &Templates) -> Result<Person, PersonError> {
        let scan = Scan::load(&task.scan)?;
        let mut options = self.options.clone();
        options.scan.sex = task.sex.or(options.scan.sex);
        options.given = task.given;
        templates.person(&task.name, &scan, &options)
    }
}

/// What all scans share, unpacked before threads need it.
fn prepared() -> Result<Templates, PeopleError> {
    let templates = Templates::new();
    for sex in [Sex::Male, Sex::Female] {
        BodyModel::embedded(sex);
        templates.prepared(sex)?;
    }
    Ok(templates)
}
