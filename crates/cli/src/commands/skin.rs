//! `supple skin`

use supple::export::{Bake, bake_for, write_motion};
use supple::flesh::{CacheUse, GivenLayers, Settings};
use supple::inside::Inside;
use supple::rig::bake::BakeError;
use supple::skin::Method;
use supple::tissue::SoftBody;
use supple::{Character, skin};
use supple_lab::contact_report::{Report, TetReport, simulate_reported};

use crate::args;
use crate::console::{Console, Failure};
use crate::output::check_file;

/// Moves a character's skin over a clip and writes the motion.
pub fn run(args: &args::Skin, console: &Console) -> Result<(), Failure> {
    let bake = chosen(args)?;
    bake.check_name(&args.output)?;
    check_file(&args.output)?;
    let anatomy = super::load_anatomy(&args.input, args.layers || args.bake_layers)?;
    let mut character = match &anatomy {
        Some(anatomy) => anatomy.body.character.clone(),
        None => super::load_bound(&args.input, args.auto_weights, console)?,
    };
    if character.parts.is_empty() {
        return Err(Failure::new(
            format!("{} has no mesh to skin", args.input.file.display()),
            "to play its motion on an embedded body: supple skin @male --motion FILE -o OUT",
        ));
    }
    let method = super::method(args.method);
    let settings = super::settings(&args.input, &args.tissue)?;
    // A person or template is a skin like any other for geometric methods.
    if (args.layers || args.bake_layers) && method != Method::Tissue {
        return Err(Failure::new(
            "layers are simulated",
            "leave out --method, or --layers",
        ));
    }
    let (clip, span) = super::choose(&character, &args.motion, method, console)?;
    let mut body = match method {
        Method::Tissue => {
            let layers = anatomy.as_ref().map(|anatomy| &anatomy.body.layers);
            Some(soft_body(
                &character,
                settings.clone(),
                layers,
                args,
                console,
            )?)
        }
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
    let inside = match (&anatomy, &body) {
        (Some(anatomy), Some(body)) if args.bake_layers => {
            Some(Inside::new(&anatomy.template, body.flesh()))
        }
        _ => None,
    };
    let mut tissue = None;
    let (motion, report) = match (&mut body, inside) {
        (Some(body), Some(inside)) => {
            let whole = inside.character(&character);
            let motion = inside.simulate(body, &character, &clip, span, &mut step)?;
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
    let spinner = console.progress("baking", 1);
    let written = match write_motion(&character, &motion, bake, &args.output, &clip.name) {
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
    drop(spinner);
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
    character: &Character,
    settings: Settings,
    layers: Option<&GivenLayers>,
    args: &args::Skin,
    console: &Console,
) -> Result<SoftBody, Failure> {
    let progress = console.progress("building tissue", 1);
    let mut builder = SoftBody::builder(character).settings(settings);
    if let Some(layers) = layers {
        builder = builder.layers(layers);
    }
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

/// The way to write the motion: as asked for, or by the extension of the file.
fn chosen(args: &args::Skin) -> Result<Bake, Failure> {
    let correctives = Bake::Correctives {
        bound_mm: args.bound,
        allow_error: args.allow_error,
    };
    Ok(match args.bake {
        None => match bake_for(&args.output, args.bound)? {
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
