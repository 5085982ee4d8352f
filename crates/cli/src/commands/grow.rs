//! `supple grow`

use std::path::Path;

use supple::Subject;
use supple::anatomy::template::save_template;
use supple::growth::{
    FatGoal, FatRegion, Grown, Growth, GrowthError, GrowthStep, Method, grown, grown_person,
    growth_steps,
};
use supple::person::{is_person, save_person};
use supple::rig::Character;
use supple::rig::formats::{save, save_character};
use supple_lab::growth_sheet::{Column, growth_sheet};

use crate::args::{self, GrowthMethod, Region};
use crate::console::{Console, Failure};
use crate::output::{check_file, check_keeps, check_png};

/// Bodies of a row that a picture shows.
const SHOWN: usize = 6;

/// Grows a layered body.
pub fn run(args: &args::Grow, console: &Console) -> Result<(), Failure> {
    check(args)?;
    let progress = console.progress("reading", 3);
    let load = |path: &Path| {
        supple::load_layered(path).map_err(|error| Failure {
            error: Box::new(error),
            hint:
                "make a layered person of a scan with `supple person SCAN`, or use @male or @female"
                    .to_owned(),
        })
    };
    let subject = load(&args.file)?;
    let output = Output::of(args, &subject)?;
    let like = args.like.as_deref().map(load).transpose()?;
    let growth = Growth {
        fat: match (args.fat, args.weight, args.bmi) {
            (Some(fat), _, _) => FatGoal::Change(fat),
            (_, Some(weight), _) => FatGoal::Weight(weight),
            (_, _, Some(index)) => FatGoal::BodyMassIndex(index),
            _ => FatGoal::default(),
        },
        muscle: args.muscle.unwrap_or(0.0),
        regions: args.region.iter().map(region).collect(),
        method: match args.method {
            GrowthMethod::Volume => Method::Volume,
            GrowthMethod::Pressure => Method::Pressure,
            GrowthMethod::Both => Method::Both,
        },
        like: (like.as_ref().and_then(Subject::body)).map(|body| &body.layers),
        visceral: None,
    };
    progress.tell("growing");
    let body = subject.growing().map_err(with_hint)?;
    let (steps, result) = match args.steps {
        Some(count) => growth_steps(&body, &growth, count.into()).map_err(with_hint)?,
        None => (Vec::new(), grown(&body, &growth).map_err(with_hint)?),
    };
    progress.tell("writing");
    let report = result.report.clone();
    if let Some(path) = &args.picture {
        draw(&subject, &steps, &result, args.size.into()).save_png(path)?;
    }
    write(&subject, output, &steps, result, &args.output)?;
    if let Some(path) = &args.report {
        save(path, serde_json::to_string_pretty(&report)?.as_bytes())?;
    }
    drop(progress);
    let path = args.output.display().to_string();
    let mut value = serde_json::to_value(&report)?;
    value["output"] = path.clone().into();
    console.result(format!("{report}\nwrote {path}"), &value);
    Ok(())
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Person,
    Template,
    Character,
}

impl Output {
    fn of(args: &args::Grow, subject: &Subject) -> Result<Self, Failure> {
        let path = &args.output;
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        let output = match ending.to_str() {
            _ if is_person(path) => Output::Person,
            Some("template") => Output::Template,
            Some("glb") => Output::Character,
            _ => {
                return Err(Failure::new(
                    format!("{} is not named .person, .template or .glb", path.display()),
                    "choose one of them with -o",
                ));
            }
        };
        if output == Output::Person && subject.person().is_none() {
            return Err(Failure::new(
                format!("{} is a template, not a person", args.file.display()),
                format!("use -o {}", path.with_extension("template").display()),
            ));
        }
        if args.steps.is_some() && output != Output::Character {
            return Err(Failure::new(
                "morph targets are written as a GLB",
                format!("use -o {}", path.with_extension("glb").display()),
            ));
        }
        Ok(output)
    }
}

fn check(args: &args::Grow) -> Result<(), Failure> {
    check_file(&args.output)?;
    let read = [Some(args.file.as_path()), args.like.as_deref()];
    check_keeps(&args.output, &read, args.force)?;
    args.report.as_deref().map_or(Ok(()), check_file)?;
    args.picture.as_deref().map_or(Ok(()), check_png)?;
    if [args.fat, args.weight, args.bmi, args.muscle]
        .iter()
        .all(Option::is_none)
    {
        return Err(Failure::new(
            "nothing is to change",
            "say how much with --fat +8kg, --weight 95kg, --bmi 30 or --muscle +3kg",
        ));
    }
    Ok(())
}

fn with_hint(error: GrowthError) -> Failure {
    let hint = match error {
        GrowthError::TooLean { .. } => "ask for less, or let muscles shrink too with --muscle",
        GrowthError::OtherMesh { .. } => "--like takes people made with the embedded templates",
        _ => "",
    };
    Failure {
        error: Box::new(error),
        hint: hint.to_owned(),
    }
}

fn region(region: &Region) -> FatRegion {
    match region {
        Region::Legs => FatRegion::Legs,
        Region::Belly => FatRegion::Belly,
        Region::Chest => FatRegion::Chest,
        Region::Arms => FatRegion::Arms,
    }
}

fn write(
    subject: &Subject,
    output: Output,
    steps: &[GrowthStep],
    result: Grown,
    path: &Path,
) -> Result<(), Failure> {
    match (output, subject.person()) {
        (Output::Person, Some(person)) => {
            save_person(path, &grown_person(person, result).map_err(with_hint)?)?;
        }
        (Output::Character, _) if !steps.is_empty() => {
            save_character(path, &subject.with_steps(steps))?;
        }
        (Output::Character, _) => {
            save_character(path, &subject.with_skin(&result.anatomy.layers.skin))?;
        }
        _ => save_template(path, &result.anatomy.rounded())?,
    }
    Ok(())
}

fn draw(
    subject: &Subject,
    steps: &[GrowthStep],
    result: &Grown,
    size: usize,
) -> supple_picture::Image {
    let column = |caption: String, character: Character| {
        let mut meshes = character.parts.into_iter().map(|part| part.mesh);
        Column {
            caption,
            skin: meshes.next().unwrap_or_default(),
            others: meshes.collect(),
        }
    };
    let report = &result.report;
    let before = (subject.body().map(|body| &body.layers.skin[..])).unwrap_or_default();
    let mut columns = vec![column(
        format!("{:.1} kg", report.weight[0]),
        subject.with_skin(before),
    )];
    let every = steps.len().div_ceil(SHOWN).max(1);
    for step in steps.iter().skip(every - 1).step_by(every) {
        let caption = format!("{:+.1} kg", step.kilograms);
        columns.push(column(caption, subject.with_skin(&step.layers.skin)));
    }
    if steps.is_empty() {
        let caption = format!("{:.1} kg", report.weight[1]);
        let after = &result.anatomy.layers.skin;
        columns.push(column(caption, subject.with_skin(after)));
    }
    let title = format!(
        "{}: fat {:.1} to {:.1} kg, muscle {:.1} to {:.1} kg",
        subject.name, report.fat[0], report.fat[1], report.muscle[0], report.muscle[1]
    );
    growth_sheet(&title, &columns, size)
}
