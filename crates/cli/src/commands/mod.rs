//! One file a subcommand.

mod bench;
mod convert;
mod demo;
mod info;
mod init;
mod manual;
mod picture;
mod scene;
mod skin;
mod view;

use supple::backend::{Choice, Opened};
use supple::clips;
use supple::flesh::Settings;
use supple::flesh::settings::{ContactMode, Ground, Upsample};
use supple::rig::character::{Severity, Up};
use supple::rig::formats::ReadOptions;
use supple::rig::rigging;
use supple::sim::Model;
use supple::skin::{Method, Span, bind_missing, frame_bytes};
use supple::{Character, LoadOptions};

use crate::args::{self, Command, Input, MotionArgs, TissueArgs};
use crate::console::{Console, Failure};

/// Runs a subcommand.
pub fn run(command: &Command, console: &Console) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(args, console),
        Command::Info(args) => info::run(args, console),
        Command::Convert(args) => convert::run(args, console),
        Command::Skin(args) => skin::run(args, console),
        Command::Init(args) => init::run(args, console),
        Command::Picture(args) => picture::run(args, console),
        Command::Scene(args) => scene::run(args, console),
        Command::View(args) => view::run(args, console),
        Command::Bench(args) => bench::run(args, console),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { folder } => manual::pages(folder.as_deref()),
    }
}

fn load(input: &Input) -> Result<Character, Failure> {
    let mut options = LoadOptions::new();
    options.skeleton = input.skeleton.clone();
    options.read = ReadOptions {
        metres_per_unit: input.unit,
        up: input.up.map(|up| match up {
            args::UpAxis::Y => Up::Y,
            args::UpAxis::Z => Up::Z,
        }),
    };
    supple::load_with(&input.file, &options).map_err(|error| Failure {
        error: Box::new(error),
        hint: "`supple demo` needs no file, and @male and @female name embedded bodies".to_owned(),
    })
}

/// As [`load`], with a skeleton: what comes without one gets a humanoid's, fitted into it. Warnings about the file are
/// said.
fn load_rigged(input: &Input, console: &Console) -> Result<Character, Failure> {
    let character = load(input)?;
    let warn = console.notice();
    for problem in &character.problems {
        if problem.severity == Severity::Warning {
            warn(format!("{} {}", problem.place, problem.text).trim());
        }
    }
    if !rigging::is_bare(&character) {
        for problem in supple::rig::motion_warnings::motion_warnings(&character) {
            warn(&problem.text);
        }
        return Ok(character);
    }
    let fitted = rigging::fitted(&character).ok_or_else(|| {
        Failure::new(
            format!("{} has no skeleton, and no humanoid fits its shape", input.file.display()),
            "--skeleton FILE gives it one (.skel, .bvh, .glb, …), `supple view` lets you build one; a person must stand upright, arms and legs apart (--up and --unit where that was guessed wrong)",
        )
    })?;
    warn("no skeleton in the file: a humanoid's was fitted into it");
    Ok(fitted)
}

/// As [`load_rigged`], with weights for what has none: geometric methods and correctives go by them, and clips stand on
/// the skin's soles by them.
fn load_bound(input: &Input, anew: bool, console: &Console) -> Result<Character, Failure> {
    let mut character = load_rigged(input, console)?;
    if character.parts.is_empty() || character.skeleton.is_empty() {
        return Ok(character);
    }
    let bound = bind_missing(&mut character, anew)?;
    if bound > 0 {
        let parts = character.parts.len();
        console.say(format!("computed weights for {bound} of {parts} parts"));
    }
    Ok(character)
}

/// The clip a user means and the moments of it.
fn choose(
    character: &Character,
    args: &MotionArgs,
    method: Method,
    console: &Console,
) -> Result<(supple::Clip, Span), Failure> {
    let clip = clips::choose(character, choice(args), args.fps).map_err(with_map_hint)?;
    let span = span(args, &clip)?;
    if span.to <= 0.0 {
        let text = format!(
            "clip `{}` has no length: a still pose is made of it",
            clip.name
        );
        console.notice()(&text);
    }
    let check = span.check(frame_bytes(character, method));
    check.map_err(|error| Failure {
        error: Box::new(error),
        hint: "--from and --to choose a part of the clip, a smaller --fps fewer frames".to_owned(),
    })?;
    Ok((clip, span))
}

/// Says which clip was chosen for want of a word.
fn say_choice(character: &Character, args: &MotionArgs, clip: &supple::Clip, console: &Console) {
    if args.clip.is_some() || args.motion.is_some() {
        return;
    }
    match character.clips.len() {
        0 => console.notice()(&format!(
            "no clip in the file: playing the embedded `{}` (--clip and --motion choose)",
            clip.name
        )),
        1 => {}
        more => console.notice()(&format!(
            "playing `{}`, the first of {more} clips (--clip chooses)",
            clip.name
        )),
    }
}

fn with_map_hint(error: clips::MotionError) -> Failure {
    use clips::MotionError::{Embedded, Map, Retarget, TooLong};
    let hint = match error {
        Embedded(_) | Map(_) | Retarget(_) => {
            "--map FILE names the joints: a line `hips = \"Bip01\"` a bone, under [target] for the character's, under [source] for the motion's"
        }
        TooLong(_) => "cut the motion, or make it with a smaller --fps",
        _ => "",
    };
    Failure {
        error: Box::new(error),
        hint: hint.to_owned(),
    }
}

fn choice(args: &MotionArgs) -> clips::Choice<'_> {
    match (&args.clip, &args.motion) {
        (Some(name), _) => clips::Choice::Named(name, args.map.as_deref()),
        (None, Some(path)) => clips::Choice::File(path, args.map.as_deref()),
        (None, None) => clips::Choice::Default,
    }
}

fn span(args: &MotionArgs, clip: &supple::Clip) -> Result<Span, Failure> {
    let whole = Span::all(clip, args.fps);
    let span = Span {
        from: args.from,
        to: args.to.unwrap_or(whole.to).min(whole.to),
        fps: args.fps,
    };
    if span.from < 0.0 || span.from > span.to {
        let text = format!(
            "there is nothing from {} s to {} s of a clip of {} s",
            args.from,
            args.to.unwrap_or(whole.to),
            whole.to
        );
        return Err(Failure::new(
            text,
            "--from and --to are seconds within the clip",
        ));
    }
    Ok(span)
}

/// What steps the tissue of a model, and why; the choice is a line on the console.
fn backend(backend: args::Backend, model: &Model, console: &Console) -> Opened {
    let choice = match backend {
        args::Backend::Auto => Choice::Auto,
        args::Backend::Cpu => Choice::Cpu,
        args::Backend::Gpu => Choice::Gpu,
    };
    let opened = supple::backend::open(choice, model, console.notice());
    console.notice()(&opened.reason);
    opened
}

fn method(method: args::Method) -> Method {
    match method {
        args::Method::Lbs => Method::Lbs,
        args::Method::Dqs => Method::Dqs,
        args::Method::Cor => Method::Cor,
        args::Method::Tissue => Method::Tissue,
    }
}

/// What was written; `exact` is what to try where correctives are not exact enough.
fn describe(written: &supple::export::Written, exact: &str) -> String {
    let mut text = format!(
        "wrote {}: {} frames",
        written.path.display(),
        written.frames
    );
    if written.targets > 0 {
        text.push_str(&format!(", {} morph targets", written.targets));
    }
    text.push_str(&format!(
        "\nlargest error {:.4} mm, RMS {:.4} mm against the source motion",
        written.max_error_mm, written.rms_error_mm
    ));
    if let (Some(bound), false) = (written.bound_mm, written.bound_met) {
        text.push_str(&format!("\nwarning: the bound of {bound} mm is not kept, not even with the most morph targets; try {exact}"));
    }
    text
}

fn settings(input: &Input, args: &TissueArgs) -> Result<Settings, Failure> {
    let mut settings = match &args.settings {
        Some(path) => supple::settings::load_settings(path)?,
        None => supple::settings::settings_beside(&input.file)?,
    };
    let detail = &mut settings.detail;
    detail.resolution = args.resolution.unwrap_or(detail.resolution);
    if let Some(upsample) = args.upsample {
        detail.upsample = match upsample {
            args::Upsample::Quadratic => Upsample::Quadratic,
            args::Upsample::Linear => Upsample::Linear,
            args::Upsample::Normals => Upsample::Normals,
        };
    }
    if args.ground && settings.contact.ground == Ground::Switch(false) {
        settings.contact.ground = Ground::Switch(true);
    }
    if let Some(contact) = args.contact {
        settings.contact.mode = match contact {
            args::Contact::Off => ContactMode::Off,
            args::Contact::Local => ContactMode::Local,
            args::Contact::Global => ContactMode::Global,
        };
    }
    Ok(settings)
}
