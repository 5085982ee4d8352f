//! One file per subcommand.

mod bench;
mod composition;
mod convert;
mod demo;
mod demo_person;
mod grow;
mod info;
mod init;
mod manual;
mod people;
mod person;
mod picture;
mod rig;
mod scene;
mod skin;
mod template;
mod view;

use std::path::Path;

use supple::backend::{Choice, Opened};
use supple::clips;
use supple::flesh::Settings;
use supple::flesh::settings::{ContactMode, Ground, Upsample};
use supple::flesh::shells::shell_kinds::Shell;
use supple::rig::bake::BakeError;
use supple::rig::character::{Severity, Up};
use supple::rig::formats::ReadOptions;
use supple::rig::markers::Markers;
use supple::rig::problem_groups::grouped;
use supple::rig::{Part, rigging};
use supple::sim::Model;
use supple::skin::{Method, Span, bind_missing, frame_bytes};
use supple::{Character, LoadOptions, Subject};

use crate::args::{self, Command, Input, MotionArgs, TissueArgs};
use crate::console::{Console, Failure};
use crate::hints::remedy;

/// Runs a subcommand.
pub fn run(command: &Command, console: &Console) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(args, console),
        Command::Info(args) => info::run(args, console),
        Command::Convert(args) => convert::run(args, console),
        Command::Skin(args) => skin::run(args, console),
        Command::Init(args) => init::run(args, console),
        Command::Rig(args) => rig::run(args, console),
        Command::Grow(args) => grow::run(args, console),
        Command::Template(args) => template::run(args, console),
        Command::Person(args) => person::run(args, console),
        Command::People(args) => people::run(args, console),
        Command::Composition(args) => composition::run(args, console),
        Command::Picture(args) => picture::run(args, console),
        Command::Scene(args) => scene::run(args, console),
        Command::View(args) => view::run(args, console),
        Command::Bench(args) => bench::run(args, console),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { folder } => manual::pages(folder.as_deref()),
    }
}

/// A file's name without its ending.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The text of a file that a user named.
fn read_text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display()), ""))
}

/// The subject of a file.
fn load(input: &Input) -> Result<Subject, Failure> {
    load_with(input, LoadOptions::new())
}

/// The subject of a file, with layers.
fn load_layered(input: &Input) -> Result<Subject, Failure> {
    load_with(input, LoadOptions::new().layers())
}

fn load_with(input: &Input, mut options: LoadOptions) -> Result<Subject, Failure> {
    options.skeleton = input.skeleton.clone();
    options.read = ReadOptions {
        metres_per_unit: input.unit,
        up: input.up.map(|up| match up {
            args::UpAxis::Y => Up::Y,
            args::UpAxis::Z => Up::Z,
        }),
    };
    supple::load_with(&input.file, &options).map_err(load_hint)
}

/// What may help where a file cannot be loaded.
fn load_hint(error: supple::Error) -> Failure {
    let is_format = matches!(error, supple::Error::Format(_));
    let mut failure = Failure::from(error);
    if is_format {
        failure.hint =
            "to try Supple without a file, use `supple demo`, or @male or @female in place of a file"
                .to_owned();
    }
    failure
}

/// As [`load`], with a skeleton: a humanoid skeleton is fitted if the file has none. Prints warnings about the file.
fn load_rigged(input: &Input, console: &Console) -> Result<Subject, Failure> {
    let character = load(input)?;
    if character.body().is_some() {
        return Ok(character);
    }
    let warn = console.notice();
    let warnings = character.problems.iter().cloned();
    let warnings = warnings.filter(|problem| problem.severity == Severity::Warning);
    for problem in grouped(warnings.collect()) {
        let remedy = remedy(problem.remedy);
        warn(format!("{} {}{remedy}", problem.place, problem.text).trim());
    }
    if !rigging::is_bare(&character) {
        for problem in supple::rig::motion_warnings::motion_warnings(&character) {
            warn(&format!("{}{}", problem.text, remedy(problem.remedy)));
        }
        return Ok(character);
    }
    let fitted = rigging::fitted(&character, &Markers::default()).map_err(|error| {
        Failure::new(
            format!("{} has no skeleton, and no humanoid skeleton could be fitted: {error}", input.file.display()),
            "register a person with `supple person FILE -o OUT.person` and move that, place markers with `supple rig FILE --marker NAME=X,Y,Z -o OUT.glb`, take a skeleton from another file with --skeleton FILE (.skel, .bvh, .glb, …), or build one in `supple view`; fitting needs a person who stands upright with arms and legs apart (check --up and --unit)",
        )
    })?;
    warn("the file has no skeleton; a humanoid skeleton was fitted");
    Ok(fitted.into())
}

/// As [`load_rigged`], with weights for parts that have none.
fn load_bound(input: &Input, console: &Console) -> Result<Subject, Failure> {
    bound(&load_rigged(input, console)?, false, console)
}

/// A subject with weights for parts that have none, or (`recompute`) for all. Geometric methods, correctives and the search for the
/// soles of a motion need them; tissue does not.
fn bound(subject: &Subject, recompute: bool, console: &Console) -> Result<Subject, Failure> {
    let mut subject = subject.clone();
    let is_unbound = |part: &Part| part.binding.influences.is_empty();
    let wanted = recompute || subject.parts.iter().any(is_unbound);
    if !wanted || subject.body().is_some() || subject.skeleton.is_empty() {
        return Ok(subject);
    }
    let bound = bind_missing(subject.character_mut(), recompute)?;
    if bound > 0 {
        let parts = subject.parts.len();
        console.say(format!("computed weights for {bound} of {parts} parts"));
    }
    Ok(subject)
}

/// Whether the motion that is asked for comes from elsewhere than the character's file.
fn is_retargeted(character: &Character, args: &MotionArgs) -> bool {
    let clips = &character.clips;
    let is_own = match &args.clip {
        Some(name) => clips.iter().any(|clip| clip.name == *name),
        None => !clips.is_empty(),
    };
    args.motion.is_some() || !is_own
}

/// The clip that the user chose, cut where its last pose is to be held, and the span of it.
fn choose(
    character: &Character,
    args: &MotionArgs,
    method: Method,
    console: &Console,
) -> Result<(supple::Clip, Span), Failure> {
    let notice = console.notice();
    let notify = |text: &str| notice(text);
    let mut clip =
        clips::choose_with_notice(character, choice(args), args.fps, args.retarget, &notify)
            .map_err(with_map_hint)?;
    let mut span = span(args, &clip)?;
    if args.hold > 0.0 {
        clip = clip.up_to(span.to);
        span.to += args.hold;
    }
    if span.to <= 0.0 {
        let text = format!(
            "clip `{}` has no duration; it is written as a single pose",
            clip.name
        );
        console.notice()(&text);
    }
    let check = span.check(frame_bytes(character, method));
    check.map_err(|error| Failure {
        error: Box::new(error),
        hint: "shorten the clip with --from and --to, or use a smaller --fps".to_owned(),
    })?;
    Ok((clip, span))
}

/// Prints which clip was chosen, if the user named none.
fn say_choice(character: &Character, args: &MotionArgs, clip: &supple::Clip, console: &Console) {
    if args.clip.is_some() || args.motion.is_some() {
        return;
    }
    match character.clips.len() {
        0 => console.notice()(&format!(
            "the file has no clip; playing the embedded `{}` (choose with --clip or --motion)",
            clip.name
        )),
        1 => {}
        more => console.notice()(&format!(
            "playing `{}`, the first of {more} clips (choose with --clip)",
            clip.name
        )),
    }
}

fn with_map_hint(error: clips::MotionError) -> Failure {
    use clips::MotionError::{Embedded, Map, NotAPerson, Retarget, TooLong};
    let hint = match error {
        Embedded(_) | Map(_) | Retarget(_) => {
            "name the joints with --map FILE: lines such as `hips = \"Bip01\"`, under [target] for the character and under [source] for the motion"
        }
        NotAPerson { .. } => {
            "play one of its own clips with --clip NAME, or a motion of its kind with --motion FILE; if it is a person after all, name its joints with --map FILE"
        }
        TooLong(_) => "cut the motion, or use a smaller --fps",
        _ => "",
    };
    Failure {
        error: Box::new(error),
        hint: hint.to_owned(),
    }
}

fn choice(args: &MotionArgs) -> clips::Choice<'_> {
    let map = args.map.as_deref();
    match (&args.clip, &args.motion) {
        (Some(name), Some(path)) => clips::Choice::FileClip(path, name, map),
        (Some(name), None) => clips::Choice::Named(name, map),
        (None, Some(path)) => clips::Choice::File(path, map),
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
            "no frames between {} s and {} s: the clip is {} s long",
            args.from,
            args.to.unwrap_or(whole.to),
            whole.to
        );
        return Err(Failure::new(
            text,
            "--from and --to are in seconds from the start of the clip",
        ));
    }
    Ok(span)
}

/// Prints which kinds the shells of a character have, if there are several.
fn say_shells(shells: &[Shell], console: &Console) {
    if shells.len() < 2 {
        return;
    }
    let kinds = ["flesh", "cloth", "rigid", "hair", "skinned"];
    let counts = kinds.map(|kind| shells.iter().filter(|s| s.kind.name() == kind).count());
    let present = kinds.iter().zip(counts).filter(|(_, count)| *count > 0);
    let list: Vec<String> = present
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    console.notice()(&format!(
        "{} shells: {} (list them with `supple info FILE --shells`, change one with --shell NAME=KIND)",
        shells.len(),
        list.join(", ")
    ));
}

/// Opens the backend for a model, and prints which one and why.
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

/// Ways out where correctives miss their bound.
fn with_bound_hint(error: BakeError, output: Option<&Path>) -> Failure {
    let exact = match output {
        Some(path) => format!(
            "write a point cache with -o {}, or one morph target per frame with --bake morphs; or ",
            path.with_extension("pc2").display()
        ),
        None => String::new(),
    };
    let hint = match error {
        BakeError::Bound { .. } => format!(
            "{exact}raise the bound with --bound MM, or write the file as it is with --allow-error"
        ),
        _ => String::new(),
    };
    Failure {
        error: Box::new(error),
        hint,
    }
}

/// Describes a written file.
fn describe(written: &supple::export::Written) -> String {
    let mut text = format!(
        "wrote {}: {} frames",
        written.path.display(),
        written.frames
    );
    if written.targets > 0 {
        text.push_str(&format!(", {} morph targets", written.targets));
    }
    text.push_str(&format!(
        "\nerror against the source motion: largest {:.4} mm, RMS {:.4} mm",
        written.max_error_mm, written.rms_error_mm
    ));
    if let (Some(bound), false) = (written.bound_mm, written.bound_met) {
        text.push_str(&format!(
            "\nwarning: the error exceeds the bound of {bound} mm even with the most morph targets"
        ));
    }
    text
}

fn settings(input: &Input, args: &TissueArgs) -> Result<Settings, Failure> {
    let mut settings = match &args.settings {
        Some(path) => supple::settings::load_settings(path)?,
        None => supple::settings::settings_beside(&input.file)?,
    };
    settings.shells.extend(args.shell.iter().cloned());
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
