//! Layered bodies in all motions there are, as the tables of `docs/method/layers.md`: `layered_bodies [torso | speed | BODY …]`. A body is
//! `@male`, `@female`, a `.template`, a `.person`, a scan, or `man30` or `woman30` of a body mass index. Ends with an error if one of them fails.

use std::path::Path;
use std::time::Instant;

use supple::anatomy::Sex;
use supple::anatomy::tissue_layers::bound_to_bones;
use supple::backend::Choice;
use supple::embedded;
use supple::flesh::settings::Resolution;
use supple::glam::Vec3;
use supple::person::{PersonOptions, Scan, person};
use supple::{Clip, ContactMode, SoftBody, Subject, clips};
use supple_lab::layered_motion::{
    SideJump, Torso, folds, mean_shear, triangles_within, turned_spine,
};
use supple_lab::people::person_of_bmi;
use supple_lab::trials::{Outcome, Trial};

/// Motion capture of the shared data.
const MOCAP: [&str; 3] = ["05_06", "09_01", "16_03"];

/// What is to hold: least section of a limb, and the distance from rest \[mm\], on soles that were flattened by the ground as well.
const LEAST_SECTION: f64 = 0.7;
const LARGEST_OFF: f32 = 1.0;
const LARGEST_OFF_ON_GROUND: f32 = 3.0;

type Error = Box<dyn std::error::Error>;

/// A body by its name.
fn body_of(name: &str) -> Result<Subject, Error> {
    for (word, sex) in [("woman", Sex::Female), ("man", Sex::Male)] {
        if let Some(bmi) = name.strip_prefix(word).and_then(|text| text.parse().ok()) {
            return Ok(person_of_bmi(sex, bmi)?.into());
        }
    }
    match supple::load_layered(name) {
        Err(supple::Error::NoLayers { .. }) => {
            let scan = Scan::load(Path::new(name))?;
            Ok(person(name, &scan, &PersonOptions::default())?.into())
        }
        other => Ok(other?),
    }
}

/// Prints a row; false if something does not hold.
fn row(name: &str, motion: &str, outcome: &Outcome, largest_off: f32) -> bool {
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
    let is_nested = outcome.inverted == 0 || largest_off > LARGEST_OFF;
    outcome.finite
        && outcome.smallest >= LEAST_SECTION
        && outcome.off_mm <= largest_off
        && is_nested
}

/// Steps the first frames of a clip on the processor and on the device, and prints how far they are apart.
fn compare_backends(made: &Subject, clip: &Clip) -> Result<(), Error> {
    let mut bodies = Vec::new();
    for choice in [Choice::Cpu, Choice::Gpu] {
        let builder = SoftBody::builder(made);
        let builder = builder.resolution(Resolution::Vertices(1500));
        bodies.push(builder.backend(choice).build()?);
    }
    let mut apart = 0.0_f32;
    for frame in 0..20 {
        let pose = clip.sample(&made.skeleton, frame as f32 / 60.0);
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

/// Jump, twist and bend of lean and heavy people with two layers, with three, and with all of the skeleton surface bound to bones.
fn torso_table() -> Result<(), Error> {
    println!(
        "| body | layers | jump: belly, ribs \\[mm\\] | ratio | twist: shear | bend: folded edges |"
    );
    println!("|---|---|---|---|---|---|");
    let bodies: [(&str, Subject); 4] = [
        ("man", supple::load_layered("@male")?),
        ("woman", supple::load_layered("@female")?),
        ("man, BMI 30", person_of_bmi(Sex::Male, 30.0)?.into()),
        ("woman, BMI 30", person_of_bmi(Sex::Female, 30.0)?.into()),
    ];
    for (name, made) in bodies {
        let (Some(anatomy), Some(layers)) = (made.body(), made.layers()) else {
            continue;
        };
        let bound = bound_to_bones(anatomy, layers.vertices.clone());
        let torso = Torso::new(anatomy, layers)?;
        let mesh = &made.parts[0].mesh;
        let [ribs, waist] =
            [&torso.ribs, &torso.waist].map(|region| triangles_within(&mesh.triangles, region));
        for (kind, layers) in [
            ("two", None),
            ("three", Some(layers)),
            ("bound", Some(&bound)),
        ] {
            let builder = SoftBody::builder(made.character());
            let mut body = match layers {
                Some(layers) => builder.layers(layers.clone()).build()?,
                None => builder.build()?,
            };
            let regions = [&torso.belly[..], &torso.ribs[..]];
            let swings = SideJump::default().swings(&mut body, 0, &regions)?;
            let rest = body.flesh().rest_pose();
            let [twisted, bent] = [Vec3::Y, Vec3::NEG_X].map(|axis| {
                let pose = turned_spine(&made.skeleton, &rest, axis, 60.0);
                body.reset(&pose).map(|()| body.positions().swap_remove(0))
            });
            println!(
                "| {name} | {kind} | {:.1}, {:.1} | {:.1} | {:.1}° | {} |",
                1000.0 * swings[0],
                1000.0 * swings[1],
                swings[0] / swings[1],
                mean_shear(&ribs, &mesh.positions, &twisted?),
                folds(&waist, &mesh.positions, &bent?, 30.0)
            );
        }
    }
    Ok(())
}

/// Steps a second in a jump.
fn speed(name: &str, made: &Subject, frames: u32) -> Result<(), Error> {
    let character = made.character();
    let mut body = SoftBody::builder(made).build()?;
    let jump = embedded::clip("jump", character)?;
    body.reset(&jump.sample(&character.skeleton, 0.0))?;
    let clock = Instant::now();
    for frame in 0..frames {
        let time = (frame as f32 / 60.0) % jump.duration();
        body.advance(&jump.sample(&character.skeleton, time), 1.0 / 60.0)?;
    }
    let rate = f64::from(frames) / clock.elapsed().as_secs_f64();
    let free = body.flesh().report.free;
    eprintln!("{name}: {rate:.0} steps a second, {free} free vertices");
    Ok(())
}

fn main() -> Result<(), Error> {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    match files.first().map(String::as_str) {
        Some("torso") => return torso_table(),
        Some("speed") => return speed("@male", &body_of("@male")?, 1000),
        _ => {}
    }
    if files.is_empty() {
        files = ["@male", "@female", "woman30"].map(str::to_owned).to_vec();
        let scan = data.join("scans/00_male.ply");
        files.extend(scan.is_file().then(|| scan.display().to_string()));
    }
    println!(
        "| body | motion | smallest section of a limb | finite | back at rest | inverted then |"
    );
    println!("|---|---|---|---|---|---|");
    let mut failed = 0;
    for file in &files {
        let made = body_of(file)?;
        let name = Path::new(file)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        let (character, name) = (made.character(), &*name);
        let mut judge = |motion: &str, outcome: &Outcome, largest_off: f32| {
            failed += usize::from(!row(name, motion, outcome, largest_off));
        };
        let mut body = SoftBody::builder(&made).build()?;
        let mut trial = Trial::new(character, &mut body)?;
        for clip in embedded::clip_names() {
            let motion = embedded::clip(clip, character)?;
            judge(clip, &trial.clip(&motion, motion.duration())?, LARGEST_OFF);
        }
        for motion in MOCAP {
            let path = data.join("mocap").join(motion).with_extension("bvh");
            if path.is_file() {
                let clip: Clip = clips::clip_from(character, path)?;
                judge(motion, &trial.clip(&clip, clip.duration())?, LARGEST_OFF);
            }
        }
        for (frames, rate) in [(60, 30.0), (600, 60.0), (60, 120.0), (60, 240.0)] {
            let text = format!("{frames} wild frames, {rate} steps a second");
            judge(&text, &trial.wild(frames, rate)?, LARGEST_OFF);
        }
        for mode in [ContactMode::Local, ContactMode::Global] {
            let builder = SoftBody::builder(&made);
            let mut body = builder.contact(mode).ground(0.0).build()?;
            // Soles that stand on the ground rest a little flatter.
            body.place(&body.flesh().rest_pose())?;
            let mut trial = Trial::new(character, &mut body)?;
            let squat = embedded::clip("squat", character)?;
            let text = format!("squat on the ground, {mode:?} contact").to_lowercase();
            let outcome = trial.clip(&squat, squat.duration())?;
            judge(&text, &outcome, LARGEST_OFF_ON_GROUND);
        }
        let jump = embedded::clip("jump", character)?;
        compare_backends(&made, &jump)?;
        speed(name, &made, 120)?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(format!("{failed} motions do not hold").into()),
    }
}
