//! `supple people`

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use supple::people::{Batch, Event, Record, Summary, people_csv, tasks};
use supple::person::{Regressors, SURE};
use supple::rig::formats::save;
use supple_lab::people_sheet::people_sheet;

use super::person::frame_options;
use crate::args;
use crate::console::{Console, Failure};
use crate::output::check_folder;

/// Makes layered people of many scans.
pub fn run(args: &args::MakePeople, console: &Console) -> Result<(), Failure> {
    check_folder(&args.output)?;
    let options = frame_options(&args.frame)?;
    let tasks = tasks(&args.scans)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let batch = Batch {
        tasks: &tasks,
        output: &args.output,
        options: &options,
        jobs: args.jobs.map_or(threads, usize::from),
        again: args.again,
    };
    let progress = console.progress("people", tasks.len());
    let start = Instant::now();
    let (kept, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let records = batch.run(&|event| {
        let count = |counter: &AtomicUsize| counter.fetch_add(1, Ordering::Relaxed) + 1;
        match event {
            Event::Kept(_) => {
                count(&kept);
            }
            Event::Done(record, seconds) => {
                let (now, before) = (count(&done), kept.load(Ordering::Relaxed));
                let number = now + before;
                let open = tasks.len() - number;
                let left = start.elapsed().as_secs_f64() / now as f64 * open as f64;
                let line = format!(
                    "{number}/{} {}{}",
                    tasks.len(),
                    line(record, seconds),
                    remaining(left)
                );
                progress.suspend(|| console.say(line));
            }
        }
        progress.step();
    })?;
    drop(progress);
    let kept = kept.into_inner();
    if kept > 0 {
        console.say(format!("{kept} were done before"));
    }
    let regressors = options.regressors.as_ref();
    let mut summary = Summary::of(&records, regressors.unwrap_or(Regressors::embedded()));
    if let Some(study) = options.population {
        summary.keep(study);
    }
    save(
        &args.output.join("people.csv"),
        people_csv(&records).as_bytes(),
    )?;
    people_sheet(&summary).save_png(args.output.join("people.png"))?;
    let text = summary.to_markdown("people.png");
    save(&args.output.join("people.md"), text.as_bytes())?;
    let folder = args.output.display().to_string();
    let [women, men] = summary.people;
    let mut value = serde_json::to_value(&summary)?;
    value["output"] = folder.clone().into();
    value["kept"] = kept.into();
    console.result(
        format!(
            "{women} women, {men} men, {} refused; wrote {folder}/people.csv, people.md and people.png",
            summary.refused.len()
        ),
        &value,
    );
    Ok(())
}

/// What came of a scan, in a line.
fn line(record: &Record, seconds: f64) -> String {
    let name = &record.name;
    match (&record.person, &record.refused) {
        (Some(person), _) => {
            let made = &person.composition;
            format!(
                "{name}: {}{:.0} cm, {:.1} kg, fat {:.1} %, confidence {:.2}, {seconds:.1} s",
                match person.registration.sex_confidence < SURE {
                    true => "sex undecided, ",
                    false => "",
                },
                100.0 * made.height,
                made.weight.value,
                made.fat_percent.value,
                person.registration.confidence
            )
        }
        (None, reason) => {
            let reason = reason.as_deref().unwrap_or("no result");
            format!("{name}: refused: {reason}")
        }
    }
}

/// Time left, in words; nothing at the end.
fn remaining(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        0 => String::new(),
        1..100 => format!("; {:.0} s left", seconds.ceil()),
        100..6000 => format!("; {:.0} min left", seconds / 60.0),
        _ => format!("; {:.1} h left", seconds / 3600.0),
    }
}
