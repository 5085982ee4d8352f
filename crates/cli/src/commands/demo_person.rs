//! `supple demo --person`

use supple::anatomy::body_model::{BodyModel, BodySampler, PoseRange};
use supple::embedded::clip;
use supple::export::{Bake, write_motion};
use supple::geom::TriMesh;
use supple::geom::normals::vertex_normals;
use supple::growth::{FatGoal, Growth, growth_steps};
use supple::person::{PersonOptions, Scan, Sex, person};
use supple::play::simulate;
use supple::skin::Span;
use supple::{SoftBody, Subject};
use supple_lab::story_sheet::{Story, story_sheet};

use crate::args;
use crate::console::{Console, Failure};

/// Height \[m\] and volume \[m³\] of the man who is scanned.
const MAN: [f64; 2] = [1.76, 0.084];
/// Noise of the scan \[m\], and the seed of pose and noise.
const NOISE: f64 = 0.001;
const SEED: u64 = 8;
/// Kilograms of fat that he gains.
const GAIN: f64 = 10.0;
/// Shares of the motion that are shown.
const SHOWN: [f32; 4] = [0.25, 0.45, 0.6, 0.75];
/// Width of a picture \[px\].
const SIZE: usize = 300;

/// Makes a person of a scan, moves it, and lets it gain weight.
pub fn run(args: &args::Demo, console: &Console) -> Result<(), Failure> {
    let progress = console.progress("finding the person in the scan", 5);
    let mesh = scanned();
    let scan = Scan {
        points: mesh.positions.clone(),
        triangles: mesh.triangles.clone(),
        ..Scan::default()
    };
    let somebody = person("somebody", &scan, &PersonOptions::default())?;
    progress.step();

    progress.tell("moving the layers");
    let subject = Subject::from(&somebody);
    let mut soft = SoftBody::builder(&subject).build()?;
    let opened = super::backend(args.backend, &soft.flesh().model, console);
    soft.set_backend(opened.backend);
    let jump = clip("jump", &subject)?;
    let span = Span::all(&jump, 30.0);
    let motion = simulate(&mut soft, &subject, &jump, span, &mut |_| {})?;
    progress.step();

    progress.tell("gaining weight");
    let growth = Growth {
        fat: FatGoal::Change(GAIN),
        ..Growth::default()
    };
    let (steps, grown) = growth_steps(&subject.growing()?, &growth, 1)?;
    progress.step();

    progress.tell("writing");
    let glb = args.output.join("person.glb");
    let correctives = Bake::Correctives {
        bound_mm: 1.0,
        allow_error: true,
    };
    let character = subject.with_steps(&steps);
    let written = write_motion(&character, &motion, correctives, &glb, &jump.name)?;
    progress.step();
    let last = motion.frames.len().saturating_sub(1);
    let frames = SHOWN.map(|share| (share * last as f32) as usize);
    let report = &grown.report;
    let story = Story {
        scan: &mesh,
        person: &somebody,
        character: &subject,
        motion: &motion,
        frames: &frames,
        heavier: (
            &grown.anatomy.layers.skin,
            format!("{:.0} kg more fat: {:.0} kg", GAIN, report.weight[1]),
        ),
    };
    let png = args.output.join("person.png");
    story_sheet(&story, SIZE).save_png(&png)?;
    drop(progress);
    let text = format!(
        "{}\n\n{report}\n\n{}\nwrote {}\n\n{NEXT}",
        supple::person::person_info(&somebody),
        super::describe(&written),
        png.display(),
    );
    let json = serde_json::json!({
        "composition": somebody.composition,
        "growth": report,
        "glb": written,
        "picture": png,
    });
    console.result(text, &json);
    Ok(())
}

/// What a scanner sees of a man of the body space who stands with his arms apart.
fn scanned() -> TriMesh {
    let model = BodyModel::embedded(Sex::Male);
    let mut sampler = BodySampler::new(SEED);
    let mut figure = sampler.figure(model, &PoseRange::default(), 0.0);
    figure.coefficients = model.steered(&vec![0.0; model.field_count()], MAN[0], MAN[1]);
    let mut mesh = model.mesh(&figure.vertices(model));
    mesh.triangles
        .retain(|t| !t.iter().any(|&v| model.is_hidden(v as usize)));
    let normals = vertex_normals(&mesh);
    for (p, normal) in mesh.positions.iter_mut().zip(normals) {
        *p += (NOISE * sampler.normal()) as f32 * normal;
    }
    mesh
}

const NEXT: &str =
    "In a viewer person.glb plays `jump`; the morph target with kilograms in its name is a slider.
What to try next:
  supple person YOUR-SCAN.ply -o you.person --picture you.png
  supple skin you.person --clip squat -o squat.glb
  supple grow you.person --fat -5kg -o leaner.person
  supple view you.person
(in a checkout, write `cargo run --release --` in place of `supple`)";
