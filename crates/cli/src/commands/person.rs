//! `supple person`

use std::path::{Path, PathBuf};
use std::time::Instant;

use supple::glam::Vec3;
use supple::person::{
    Given, PersonError, PersonOptions, Regressors, Scan, ScanOptions, Sex, Study, person,
    person_info, read_landmarks, save_person,
};
use supple::rig::formats::save;
use supple_lab::person_sheet::person_sheet;

use crate::args;
use crate::console::{Console, Failure};
use crate::output::{check_file, check_png};

/// Makes a layered person of a scan.
pub fn run(args: &args::MakePerson, console: &Console) -> Result<(), Failure> {
    let output = output(args)?;
    check_file(&output)?;
    args.report.as_deref().map_or(Ok(()), check_file)?;
    args.picture.as_deref().map_or(Ok(()), check_png)?;
    let options = options(args)?;
    let progress = console.progress("reading the scan", 3);
    let start = Instant::now();
    let scan = Scan::load(&args.scan).map_err(|error| refusal(error.into(), &args.scan))?;
    let reading = ("reading", start.elapsed().as_secs_f64());
    progress.tell("finding the person");
    let made = person(&super::stem(&args.scan), &scan, &options);
    let mut somebody = made.map_err(|error| refusal(error, &args.scan))?;
    somebody.fit.seconds.insert(0, reading);
    progress.tell("writing");
    save_person(&output, &somebody)?;
    let info = person_info(&somebody);
    if let Some(path) = &args.report {
        save(path, serde_json::to_string_pretty(&info)?.as_bytes())?;
    }
    if let Some(path) = &args.picture {
        person_sheet(&somebody, args.size.into()).save_png(path)?;
    }
    drop(progress);
    let path = output.display().to_string();
    let mut value = serde_json::to_value(&info)?;
    value["output"] = path.clone().into();
    console.result(format!("{info}\nwrote {path}"), &value);
    Ok(())
}

/// Names the scan, and says what may help.
fn refusal(error: PersonError, scan: &Path) -> Failure {
    use supple::anatomy::scan::ScanError;
    let hint = match &error {
        PersonError::Scan(ScanError::Format(_) | ScanError::Landmark { .. }) => "",
        PersonError::Scan(ScanError::NoUnit { .. } | ScanError::TooSmall { .. }) => {
            "give the scan's unit with --unit m, cm, mm, in or ft"
        }
        PersonError::Scan(_) => {
            "scans must show one standing adult from head to feet, with arms off the trunk; --up, --unit and --landmarks FILE may help"
        }
        PersonError::Composition(_) => "check --weight, --fat, --muscle, --height and --age",
        _ => "",
    };
    // Errors of the reader name the file.
    let text = match &error {
        PersonError::Scan(ScanError::Format(inner)) => inner.to_string(),
        other => format!("{}: {other}", scan.display()),
    };
    Failure::new(text, hint)
}

fn output(args: &args::MakePerson) -> Result<PathBuf, Failure> {
    let path = (args.output.clone())
        .unwrap_or_else(|| PathBuf::from(super::stem(&args.scan)).with_extension("person"));
    match supple::person::is_person(&path) {
        true => Ok(path),
        false => Err(Failure::new(
            format!(
                "persons are written as .person, but {} is not named so",
                path.display()
            ),
            format!(
                "use -o {}; it is a GLB, and may be renamed for viewers that ask for one",
                path.with_extension("person").display()
            ),
        )),
    }
}

fn options(args: &args::MakePerson) -> Result<PersonOptions, Failure> {
    let mut options = frame_options(&args.frame)?;
    options.scan.sex = args.sex.map(|sex| match sex {
        args::Sex::Male => Sex::Male,
        args::Sex::Female => Sex::Female,
    });
    if let Some(path) = &args.landmarks {
        let text = super::read_text(path)?;
        let marks = read_landmarks(&text);
        options.scan.landmarks = marks.map_err(|error| {
            Failure::new(
                format!("{}: {error}", path.display()),
                "landmarks are lines such as `wrist.L 0.31 1.02 0.05`, in the scan's unit and axes",
            )
        })?;
    }
    options.given = Given {
        age: args.age,
        height: args.height,
        weight: args.weight,
        fat: args.fat,
        muscle_mass: args.muscle,
    };
    Ok(options)
}

/// Unit, axis and regressors.
pub fn frame_options(frame: &args::Frame) -> Result<PersonOptions, Failure> {
    let regressors = match &frame.regressors {
        Some(path) => {
            let read = Regressors::from_toml(&super::read_text(path)?);
            let read = read.map_err(|error| {
                let reason = error.message().to_owned();
                Failure::new(
                    format!("{} holds no models of fat mass: {reason}", path.display()),
                    "`supple composition fit TABLE.csv -o models.toml` writes them",
                )
            })?;
            Some(read)
        }
        None => None,
    };
    Ok(PersonOptions {
        scan: ScanOptions {
            metres_per_unit: frame.unit.map(f64::from),
            up: frame.up.map(|up| match up {
                args::UpAxis::Y => Vec3::Y,
                args::UpAxis::Z => Vec3::Z,
            }),
            ..ScanOptions::default()
        },
        regressors,
        population: frame.population.map(|study| match study {
            args::Study::Nhanes => Study::Nhanes,
            args::Study::Kyle => Study::Kyle,
        }),
        ..PersonOptions::default()
    })
}
