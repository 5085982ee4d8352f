//! `supple demo`

use supple::embedded::{Body, body, clip};
use supple::export::{Bake, write_motion};
use supple::skin::{Method, Span};
use supple::tissue::SoftBody;
use supple_lab::compare::{Comparison, compare};
use supple_lab::sheet::{Look, Tile, sheet};

use crate::args;
use crate::console::{Console, Failure};
use crate::output::check_folder;

const METHODS: [Method; 3] = [Method::Lbs, Method::Dqs, Method::Tissue];

/// Plays an embedded clip on an embedded body with three methods.
pub fn run(args: &args::Demo, console: &Console) -> Result<(), Failure> {
    check_folder(&args.output)?;
    if args.person {
        return super::demo_person::run(args, console);
    }
    let character = body(Body::Male)?;
    let clip = clip("squat", &character)?;
    let span = Span::all(&clip, 30.0);
    let frames = span.times().len();
    let knee = character.skeleton.find("lowerleg01.L").unwrap_or(0);
    let progress = console.progress("simulating", METHODS.len() * frames);
    let mut soft = SoftBody::new(&character, Default::default())?;
    let opened = super::backend(args.backend, &soft.flesh().model, console);
    soft.set_backend(opened.backend);
    let compared = compare(
        &mut soft,
        &character,
        &clip,
        &METHODS,
        knee,
        span,
        &mut |_| progress.step(),
    )?;
    drop(progress);
    let Some(tissue) = compared.last() else {
        return Ok(());
    };

    let progress = console.progress("baking and drawing", 2);
    let glb = args.output.join("demo.glb");
    let written = write_motion(
        &character,
        &tissue.motion,
        Bake::Correctives {
            bound_mm: 1.0,
            allow_error: false,
        },
        &glb,
        &clip.name,
    )?;
    progress.step();
    let deepest = frames / 2;
    let shown: Vec<_> = (compared.iter())
        .map(|one| one.motion.frames.get(deepest))
        .collect();
    let tiles: Vec<Tile> = compared
        .iter()
        .zip(&shown)
        .map(|(one, positions)| Tile {
            caption: format!(
                "{}: knee keeps {:.0} % volume",
                one.method,
                100.0 * one.joint_volume
            ),
            positions,
            pose: one.motion.poses.get(deepest),
            ..Tile::default()
        })
        .collect();
    let look = Look {
        direction: supple::glam::Vec3::new(1.0, 0.12, 0.45),
        ..Look::default()
    };
    let png = args.output.join("demo.png");
    sheet(&character, "", &tiles, METHODS.len(), &look).save_png(&png)?;
    drop(progress);

    let text = format!(
        "{}\n\n{}\nwrote {}\n\n{}",
        table(&compared),
        super::describe(&written),
        png.display(),
        NEXT
    );
    let json = serde_json::json!({ "methods": compared, "glb": written, "picture": png });
    console.result(text, &json);
    Ok(())
}

fn table(compared: &[Comparison]) -> String {
    let mut text = format!(
        "{:<18} {:>18} {:>13} {:>10} {:>10}",
        "method", "knee volume kept", "ms per frame", "worst tet", "inverted"
    );
    for one in compared {
        text.push_str(&format!(
            "\n{:<18} {:>16.1} % {:>13.2} {:>10.2} {:>8.2} %",
            one.method,
            100.0 * one.joint_volume,
            one.ms_per_frame,
            one.worst_tet,
            100.0 * one.inverted
        ));
    }
    text
}

const NEXT: &str = "What to try next:
  supple info YOUR.glb                      the contents of your character's file
  supple skin YOUR.glb --clip squat -o out/squat.glb
  supple skin YOUR.vrm --motion WALK.bvh -o out/walk.glb
  supple init YOUR.glb                      tissue settings to edit
  supple picture @male --clip arms_crossed --compare methods
  supple demo --person                      from a body scan to fat, muscles and bones
(in a checkout, write `cargo run --release --` in place of `supple`)";
