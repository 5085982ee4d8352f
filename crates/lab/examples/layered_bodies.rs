//! Layered bodies in all motions there are, as the table of `docs/method/layers.md`: `layered_bodies [@male @female FILE.template …]`.

use std::path::Path;
use std::time::Instant;

use supple::backend::Choice;
use supple::embedded;
use supple::flesh::settings::Resolution;
use supple::layers::{Layered, layered};
use supple::{Clip, ContactMode, SoftBody, clips};
use supple_lab::trials::{Outcome, Trial};

/// Motion capture of the shared data.
const MOCAP: [&str; 3] = ["05_06", "09_01", "16_03"];

fn row(name: &str, motion: &str, outcome: &Outcome) {
    let section = match outcome.smallest.is_finite() {
        true => format!("{:.0} % ({})", 100.0 * outcome.smallest, outcome.place),
        false => "–".to_owned(),
    };
    println!(
        "| {name} | {motion} | {section} | {} | {:.2} mm after {} frames | {} |",
        if outcome.finite { "yes" } else { "no" },
        outcome.off_mm,
        outcome.frames,
        outcome.inverted
    );
}

/// Steps the first frames of a clip on the processor and on the device, and prints how far they are apart.
fn compare_backends(made: &Layered, clip: &Clip) -> Result<(), Box<dyn std::error::Error>> {
    let mut bodies = Vec::new();
    for choice in [Choice::Cpu, Choice::Gpu] {
        let builder = SoftBody::builder(&made.character).layers(&made.layers);
        let builder = builder.resolution(Resolution::Vertices(1500));
        bodies.push(builder.backend(choice).build()?);
    }
    let mut apart = 0.0_f32;
    for frame in 0..20 {
        let pose = clip.sample(&made.character.skeleton, frame as f32 / 60.0);
        for body in &mut bodies {
            body.advance(&pose, 1.0 / 60.0)?;
        }
        let [a, b] = [0, 1].map(|k| bodies[k].positions().concat());
        let distances = a.iter().zip(&b).map(|(a, b)| a.distance(*b));
        apart = apart.max(distances.fold(0.0, f32::max));
    }
    let names: Vec<&str> = bodies.iter().map(SoftBody::backend_name).collect();
    eprintln!("{names:?}: {:.3} mm apart at most", 1000.0 * apart);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        files = ["@male", "@female"].map(str::to_owned).to_vec();
    }
    println!(
        "| body | motion | smallest section of a limb | finite | back at rest | inverted then |"
    );
    println!("|---|---|---|---|---|---|");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mocap");
    for file in &files {
        let made = layered(&supple::load_template(file)?);
        let (character, name) = (&made.character, file.as_str());
        let mut body = SoftBody::builder(character).layers(&made.layers).build()?;
        let mut trial = Trial::new(character, &mut body)?;
        for clip in embedded::clip_names() {
            let motion = embedded::clip(clip, character)?;
            row(name, clip, &trial.clip(&motion, motion.duration())?);
        }
        for motion in MOCAP {
            let path = folder.join(motion).with_extension("bvh");
            if path.is_file() {
                let clip: Clip = clips::clip_from(character, path)?;
                row(name, motion, &trial.clip(&clip, clip.duration())?);
            }
        }
        for (frames, rate) in [(60, 30.0), (600, 60.0), (60, 120.0), (60, 240.0)] {
            let text = format!("{frames} wild frames, {rate} steps a second");
            row(name, &text, &trial.wild(frames, rate)?);
        }
        for mode in [ContactMode::Local, ContactMode::Global] {
            let builder = SoftBody::builder(character).layers(&made.layers);
            let mut body = builder.contact(mode).ground(0.0).build()?;
            // Soles that stand on the ground rest a little flatter.
            body.place(&body.flesh().rest_pose())?;
            let mut trial = Trial::new(character, &mut body)?;
            let squat = embedded::clip("squat", character)?;
            let text = format!("squat on the ground, {mode:?} contact").to_lowercase();
            row(name, &text, &trial.clip(&squat, squat.duration())?);
        }
        let jump = embedded::clip("jump", character)?;
        compare_backends(&made, &jump)?;
        body.reset(&jump.sample(&character.skeleton, 0.0))?;
        let (clock, frames) = (Instant::now(), 120);
        for frame in 0..frames {
            body.advance(
                &jump.sample(&character.skeleton, frame as f32 / 60.0),
                1.0 / 60.0,
            )?;
        }
        let rate = f64::from(frames) / clock.elapsed().as_secs_f64();
        eprintln!(
            "{name}: {rate:.0} steps a second, {} free vertices",
            body.flesh().report.free
        );
    }
    Ok(())
}
