//! `supple template`

use std::cell::RefCell;
use std::path::Path;

use supple::anatomy::template::build::{Step, TemplateBuilder};
use supple::anatomy::template::save_template;
use supple::anatomy::template::sources::{BoneSource, muscle_source, template_builder};
use supple::anatomy::{Body, Sex};
use supple::rig::formats::save;
use supple_lab::template_sheet::{regions_sheet, template_sheet};

use crate::args;
use crate::console::{Console, Failure};
use crate::output::{check_file, check_png};

/// Notes on bones that are printed; all are in the report.
const SHOWN_NOTES: usize = 8;

/// Builds a template.
pub fn run(args: &args::MakeTemplate, console: &Console) -> Result<(), Failure> {
    check_file(&args.output)?;
    args.report.as_deref().map_or(Ok(()), check_file)?;
    for picture in [&args.picture, &args.regions].into_iter().flatten() {
        check_png(picture)?;
    }
    let builder = builder(args)?;
    if args.bones.is_some() {
        tell_notes(&builder, console);
    }
    let bar = RefCell::new(Some(console.progress("template", Step::ALL.len())));
    let (template, report) = builder.build(&|step| {
        if let Some(bar) = bar.borrow().as_ref() {
            bar.tell(step.name());
        }
    })?;
    bar.borrow_mut().take();
    save_template(&args.output, &template)?;
    if let Some(path) = &args.report {
        save(path, serde_json::to_string_pretty(&report)?.as_bytes())?;
    }
    let size = args.size.into();
    if let Some(path) = &args.picture {
        template_sheet(&template, size).save_png(path)?;
    }
    if let Some(path) = &args.regions {
        regions_sheet(&template, size).save_png(path)?;
    }
    let path = args.output.display().to_string();
    let text = format!("{report}\nwrote {path}");
    let mut value = serde_json::to_value(&report)?;
    value["output"] = path.into();
    console.result(text, &value);
    Ok(())
}

/// Prints what was noticed of the user's bones.
fn tell_notes(builder: &TemplateBuilder, console: &Console) {
    let notes = &builder.bones.notes;
    for note in notes.iter().take(SHOWN_NOTES) {
        console.notice()(&note.to_string());
    }
    if let Some(more @ 1..) = notes.len().checked_sub(SHOWN_NOTES) {
        console.notice()(&format!("{more} more notes on the bones are in the report (--report FILE)"));
    }
}

fn builder(args: &args::MakeTemplate) -> Result<TemplateBuilder, Failure> {
    let skin = args.skin.as_path();
    let sex = match (args.sex, skin.to_str()) {
        (Some(args::Sex::Male), _) | (None, Some("@male")) => Sex::Male,
        (Some(args::Sex::Female), _) | (None, Some("@female")) => Sex::Female,
        _ => {
            let text = format!("the sex of {} is not known", skin.display());
            return Err(Failure::new(text, "say --sex male or --sex female"));
        }
    };
    let character = supple::load(skin)?;
    let body = Body::from_character(&character, sex).map_err(|error| Failure {
        error: Box::new(error),
        hint: "a skin must be rigged with the joints of @male and @female: export one of them with `supple convert @male body.glb`, \
               change its shape, and keep its joints and weights"
            .to_owned(),
    })?;
    let bones = match &args.bones {
        Some(folder) => BoneSource::Folder(folder.clone()),
        None => BoneSource::Embedded,
    };
    let muscles = muscle_source(args.muscles.as_deref())?;
    Ok(template_builder(name(skin), body, &bones, muscles)?)
}

fn name(skin: &Path) -> String {
    let stem = skin.file_stem().unwrap_or_default().to_string_lossy();
    stem.trim_start_matches('@').to_owned()
}
