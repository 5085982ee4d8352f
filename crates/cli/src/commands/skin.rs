//! `supple skin`

use supple::contact_report::{Report, TetReport, simulate_reported};
use supple::export::{Bake, bake_for, bound_of, write_motion, write_motion_told};
use supple::flesh::{CacheUse, Settings};
use supple::inside::{Inside, simulate_inside};
use supple::rig::bake::BakeError;
use supple::skin::Method;
use supple::tissue::SoftBody;
use supple::{Character, Subject, skin};

use crate::args;
use crate::console::{Console, Failure};
use crate::output::{check_file, check_keeps};

/// Moves a character's skin over a clip and writes the motion.
pub fn run(args: &args::Skin, console: &Console) -> Result<(), Failure> {
    let bake = chosen(args)?;
    bake.check_name(&args.output)?;
    check_file(&args.output)?;
    let read = [
        Some(args.input.file.as_path()),
        args.input.skeleton.as_deref(),
        args.motion.motion.as_deref(),
    ];
    check_keeps(&args.output, &read, args.force)?;
    let wants_layers = args.layers || args.bake_layers;
    let subject = match wants_layers {
        true => super::load_layered(&args.input)?,
        false => super::load_rigged(&args.input, console)?,
    };
    let method = super::method(args.method);
    let is_glb = matches!(bake, Bake::Correctives { .. } | Bake::Morphs);
    let needs_weights = args.auto_weights
        || is_glb
        || method != Method::Tissue
        || super::is_retargeted(&subject, &args.motion);
    let bound = match needs_weights {
        true => super::bound(&subject, args.auto_weights, console)?,
        false => subject.clone(),
    };
    // Tissue takes the file's own weights or none. Recomputed ones only say that the file's are not to be used.
    let subject = if args.auto_weights {
        bound.clone()
    } else {
        subject
    };
    let mut character = bound.into_character();
    if character.parts.is_empty() {
        return Err(Failure::new(
            format!("{} has no mesh to skin", args.input.file.display()),
            "to play its motion on an embedded body: supple skin @male --motion FILE -o OUT",
        ));
    }
    let bake = within(bake, args.bound, &character);
    let settings = super::settings(&args.input, &args.tissue)?;
    // A person or template is a skin like any other for geometric methods.
    if wants_layers && method != Method::Tissue {
        return Err(Failure::new(
            "layers are simulated",
            "leave out --method, or --layers",
        ));
    }
    let (clip, span) = super::choose(&character, &args.motion, method, console)?;
    let mut body = match method {
        Method::Tissue => Some(soft_body(&subject, settings.clone(), args, console)?),
        _ => None,
    };
    let stepper = match &mut body {
        Some(body) => {
            let opened = super::backend(args.backend, &body.flesh().model, console);
            body.set_backend(opened.backend);
            Some(opened.reason)
        }
        None => None,
    };
    super::say_choice(&character, &args.motion, &clip, console);
    let has_contact = body.as_ref().is_some_and(SoftBody::has_contact);
    let rounds = 1 + usize::from(args.compare && has_contact);
    let progress = console.progress("moving the skin", rounds * span.times().len());
    let mut step = |_| progress.step();
    let inside = match (subject.body(), &body) {
        (Some(layered), Some(body)) if args.bake_layers => Some(Inside::new(layered, body.flesh())),
        _ => None,
    };
    let mut tissue = None;
    let (motion, report) = match (&mut body, inside) {
        (Some(body), Some(inside)) => {
            let whole = inside.character(&character);
            let motion = simulate_inside(inside, body, &character, &clip, span, &mut step)?;
            character = whole;
            (motion, None)
        }
        (Some(body), None) => {
            let found = simulate_reported(body, &character, &clip, span, args.compare, &mut step)?;
            tissue = Some(found.tissue);
            (found.motion, found.contact)
        }
        (None, _) => {
            let motion = skin::skin(&character, &clip, method, &settings, span, &mut step)?;
            (motion, None)
        }
    };
    drop(progress);
    let baking = console.progress("baking", 1000);
    let told = |share: f32| baking.reach((1000.0 * share) as u64);
    let written = match write_motion_told(
        &character,
        &motion,
        bake,
        &args.output,
        &clip.name,
        &told,
    ) {
        Err(error @ BakeError::Bound { .. }) if args.bake.is_none() => {
            let path = args.output.with_extension("pc2");
            console.notice()(&format!(
                "{error}; wrote a point cache instead of {} (to write that all the same: --allow-error)",
                args.output.display()
            ));
            write_motion(&character, &motion, Bake::Pc2, &path, &clip.name)?
        }
        other => other.map_err(|error| super::with_bound_hint(error, Some(&args.output)))?,
    };
    drop(baking);
    let mut text = super::describe(&written);
    let mut json = serde_json::to_value(&written)?;
    if let Some(report) = &report {
        text.push_str(&describe_contact(report));
        json["contact"] = serde_json::to_value(report)?;
    }
    if let Some(tissue) = &tissue {
        text.push_str(&describe_tissue(tissue));
        json["tissue"] = serde_json::to_value(tissue)?;
    }
    if let (Some(body), Some(reason)) = (&body, &stepper) {
        json["backend"] = serde_json::json!({ "name": body.backend_name(), "reason": reason });
    }
    console.result(text, &json);
    Ok(())
}

fn describe_tissue(tissue: &TetReport) -> String {
    format!(
        "\nworst frame: {} of {} tets inverted",
        tissue.inverted, tissue.tets
    )
}

fn describe_contact(report: &Report) -> String {
    let after = report.after;
    let mut text = format!(
        "\nworst frame: {} vertices inside the body, the ground or colliders, up to {:.1} mm deep",
        after.vertices, after.worst_mm
    );
    if let Some(before) = report.before {
        text.push_str(&format!(
            " (without contact: {} vertices, {:.1} mm)",
            before.vertices, before.worst_mm
        ));
    }
    text
}

fn soft_body(
    subject: &Subject,
    settings: Settings,
    args: &args::Skin,
    console: &Console,
) -> Result<SoftBody, Failure> {
    let progress = console.progress("building tissue", 1);
    let builder = SoftBody::builder(subject).settings(settings);
    let body = builder.cache_beside(&args.input.file).build()?;
    drop(progress);
    let report = &body.flesh().report;
    super::say_shells(&report.shells, console);
    if report.vertices < report.shown {
        console.say(format!(
            "simulating {} of {} skin vertices",
            report.vertices, report.shown
        ));
    }
    match report.cache {
        CacheUse::Stale => console.say("the cache beside the file was stale and has been rebuilt"),
        CacheUse::Damaged => {
            console.say("the cache beside the file was damaged and has been rebuilt")
        }
        _ => {}
    }
    Ok(body)
}

/// The same with the bound that the user gave, or that of the character's size.
fn within(bake: Bake, bound: Option<f32>, character: &Character) -> Bake {
    match bake {
        Bake::Correctives { allow_error, .. } => Bake::Correctives {
            bound_mm: bound.unwrap_or_else(|| bound_of(character)),
            allow_error,
        },
        other => other,
    }
}

/// The way to write the motion: as asked for, or by the extension of the file.
fn chosen(args: &args::Skin) -> Result<Bake, Failure> {
    let bound = args.bound.unwrap_or(1.0);
    let correctives = Bake::Correctives {
        bound_mm: bound,
        allow_error: args.allow_error,
    };
    Ok(match args.bake {
        None => match bake_for(&args.output, bound)? {
            Bake::Correctives { .. } => correctives,
            other => other,
        },
        Some(args::Bake::Correctives) => correctives,
        Some(args::Bake::Morphs) => Bake::Morphs,
        Some(args::Bake::Pc2) => Bake::Pc2,
        Some(args::Bake::Mdd) => Bake::Mdd,
        Some(args::Bake::Obj) => Bake::Obj,
        Some(args::Bake::Ply) => Bake::Ply,
    })
}
