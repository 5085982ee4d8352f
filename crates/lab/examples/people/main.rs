//! Fits the embedded templates into scans and into bodies steered through the body space, and prints what must hold of people.
//!
//! `cargo run --release -p supple-lab --example people` takes the scans of `../shared/data/scans` and 20 bodies a sex with body
//! mass indices from 16 to 45 and heights from 1.35 to 2.15 m, as far as the space reaches. `--scans FOLDER` takes other scans,
//! `--bodies N` another number of bodies, `--only NAME` one case, `--out FOLDER` writes surfaces, bones and muscles as OBJ.
//! `--soldiers N` takes bodies with the measures of N soldiers of ANSUR II a sex instead (`--first K` leaves out the first K), and sums up
//! what their limbs hold. `--self` fits each template into its own skin.
//! Seconds are those of a clock and of the processor: on a machine with other work half the latter is what two threads take.

mod cases;
mod inside;
mod soldiers;

use std::path::{Path, PathBuf};
use std::time::Instant;

use cases::{Case, Source};
use inside::{Inside, Ribs};
use supple_anatomy::composition::{Composition, Known, Measures, Regressors, Tape, composition};
use supple_anatomy::person::{FitReport, PersonFit, PersonSkin, Transfer, fitted_person};
use supple_anatomy::template::{LayeredBody, load_template};
use supple_anatomy::{Sex, scan};

type Failure = Box<dyn std::error::Error>;

/// A template and what its people share.
struct Base {
    template: LayeredBody,
    transfer: Transfer,
    tape: Tape,
    ribs: Ribs,
}

impl Base {
    fn load(sex: Sex) -> Result<Base, Failure> {
        let name = if sex == Sex::Male { "male" } else { "female" };
        let path = format!(
            "{}/../supple/assets/{name}.template",
            env!("CARGO_MANIFEST_DIR")
        );
        let template = load_template(Path::new(&path))?;
        let start = Clock::now();
        let transfer = Transfer::of_template(&template)?;
        println!("{name}: factors of the warps {}", start.text());
        let bones: Vec<_> = template.bones.iter().map(|b| b.bone.mesh.clone()).collect();
        let muscles: Vec<_> = template.muscles.iter().map(|m| m.mesh.clone()).collect();
        let inside = Inside::of(&template, &template.layers, &bones);
        let ribs = Ribs::of(&template, &template.layers, &bones, &muscles);
        println!("{name}: template itself: {inside}\n  {}", ribs.text(&ribs));
        Ok(Base {
            tape: Tape::new(&template.body)?,
            template,
            transfer,
            ribs,
        })
    }
}

/// A clock, and the processor's.
#[derive(Clone, Copy)]
struct Clock {
    wall: Instant,
    cpu: f64,
}

impl Clock {
    fn now() -> Clock {
        Clock {
            wall: Instant::now(),
            cpu: cpu_seconds(),
        }
    }

    fn text(&self) -> String {
        let (wall, cpu) = (self.wall.elapsed().as_secs_f64(), cpu_seconds() - self.cpu);
        format!("{wall:.2} s ({cpu:.2} s of processor)")
    }
}

/// Processor time of this process \[s\]; zero where the system does not say.
fn cpu_seconds() -> f64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/stat") else {
        return 0.0;
    };
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |k: usize| fields.get(k).and_then(|f| f.parse::<f64>().ok());
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0
}

/// Largest memory of this process so far \[MB\]; zero where the system does not say.
fn peak_memory() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmHWM"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    number.unwrap_or(0.0) / 1024.0
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|a| a == name)?;
        arguments.get(at + 1).cloned()
    };
    let folder = option("--scans").map_or_else(
        || {
            PathBuf::from(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../../shared/data/scans"
            ))
        },
        PathBuf::from,
    );
    let bodies: usize = option("--bodies").map_or(Ok(20), |n| n.parse())?;
    let only = option("--only");
    let out = option("--out").map(PathBuf::from);
    let bases = [Base::load(Sex::Male)?, Base::load(Sex::Female)?];
    let mut missed = Vec::new();
    let mut count = 0;
    let soldiers = option("--soldiers").map(|n| n.parse()).transpose()?;
    let first = option("--first").map_or(Ok(0), |n| n.parse())?;
    let cases = match soldiers {
        Some(count) => soldiers::cases(&bases, first, count)?,
        None if arguments.iter().any(|a| a == "--self") => soldiers::themselves(&bases),
        None => cases::all(&folder, bodies)?,
    };
    let mut limbs = Vec::new();
    for case in cases {
        if only.as_ref().is_none_or(|only| case.name.contains(only)) {
            count += 1;
            missed.extend(report(&bases, &case, out.as_deref(), &mut limbs)?);
        }
    }
    soldiers::summary(&limbs);
    println!("\n{count} people, peak memory {:.0} MB", peak_memory());
    println!("{} lines missed", missed.len());
    missed.iter().for_each(|line| println!("  {line}"));
    Ok(())
}

/// Fits one person and prints it; the lines that do not hold.
fn report(
    bases: &[Base; 2],
    case: &Case,
    out: Option<&Path>,
    limbs: &mut Vec<soldiers::Limbs>,
) -> Result<Vec<String>, Failure> {
    let base = &bases[case.sex as usize];
    let mut missed = Vec::new();
    let clock = Clock::now();
    let (skin, joints) = match &case.source {
        Source::Steered { skin, joints } => (case.of_body(&base.template, skin), joints.clone()),
        Source::Own { skin, joints } => (skin.clone(), joints.clone()),
        Source::Scan { path, .. } => {
            let found = scan::register(&scan::Scan::load(path)?, &scan::Options::default())?;
            if found.sex != case.sex {
                missed.push(format!("{}: sex", case.name));
            }
            let skin: Vec<_> = found.rest_vertices.iter().map(|p| p.as_vec3()).collect();
            let joints = found.rest_joints.iter().map(|p| p.as_vec3()).collect();
            (case.of_body(&base.template, &skin), joints)
        }
    };
    let registered = clock.text();
    let measures = base.tape.measures(&skin, &joints);
    let own = case.own_masses;
    let known = Known {
        fat_mass: own.map(|own| own[0]),
        muscle_mass: own.map(|own| own[1]),
        ..Known::sex(case.sex)
    };
    let made_of = composition(&measures, &known, Regressors::embedded())?;
    println!(
        "\n{}: {:.3} m, BMI {:.1}, waist {:.3} m, weight {:.1} kg, fat {:.1} %",
        case.name,
        measures.height,
        made_of.body_mass_index,
        measures.waist,
        made_of.weight.value,
        made_of.fat_percent.value
    );
    let person = PersonSkin {
        skin: &skin,
        joints: &joints,
    };
    let fitting = Clock::now();
    let fit = fitted_person(
        &base.template,
        &base.transfer,
        &person,
        made_of.fat_mass.value,
        made_of.muscle_mass.value,
    )?;
    println!(
        "  registered {registered}, fit {}, {}",
        fitting.text(),
        steps(&fit.report)
    );
    let mut check = |holds: bool, what: String| {
        if !holds {
            missed.push(format!("{}: {what}", case.name));
        }
    };
    if let Source::Scan { rest, joints, .. } = &case.source {
        let truth = base
            .tape
            .measures(&case.of_body(&base.template, rest), joints);
        let of_truth = composition(&truth, &known, Regressors::embedded())?;
        against_truth(&measures, &made_of, &truth, &of_truth, &mut check);
    }
    check_fit(base, &fit, &mut check);
    let found = soldiers::Limbs::of(case.sex, &made_of, &fit.report);
    println!("  {found}");
    limbs.push(found);
    if let Some(folder) = out {
        cases::write(folder, &case.name, &base.template, &fit)?;
    }
    Ok(missed)
}

fn steps(report: &FitReport) -> String {
    let parts = report
        .seconds
        .iter()
        .map(|(name, s)| format!("{name} {s:.2}"));
    parts.collect::<Vec<_>>().join(", ")
}

fn against_truth(
    found: &Measures,
    made_of: &Composition,
    truth: &Measures,
    of_truth: &Composition,
    check: &mut impl FnMut(bool, String),
) {
    let waist = found.waist - truth.waist;
    let height = found.height - truth.height;
    let fat = made_of.fat_mass.value - of_truth.fat_mass.value;
    println!(
        "  against its truth: height {:+.2} cm, waist {:+.2} cm, fat {fat:+.2} kg, muscle {:+.2} kg",
        100.0 * height,
        100.0 * waist,
        made_of.muscle_mass.value - of_truth.muscle_mass.value
    );
    check(
        waist.abs() <= 0.01,
        format!("waist {:.1} cm", 100.0 * waist),
    );
    check(
        height.abs() <= 0.01,
        format!("height {:.1} cm", 100.0 * height),
    );
    check(
        fat.abs() <= 0.5,
        format!("fat {fat:.2} kg from the truth's"),
    );
}

/// Masses may miss by this much where they lie between smallest and largest muscles \[kg\].
const MASS_MISS: f64 = 1.0;
/// Bones: most root mean square and 95th percentile of deformation beyond scaling.
const BONE_STRETCH: [f64; 2] = [0.03, 0.08];

fn check_fit(base: &Base, fit: &PersonFit, check: &mut impl FnMut(bool, String)) {
    let report = &fit.report;
    let layers = &report.layers;
    let nested = [
        layers.inverted_fat,
        layers.inverted_muscle,
        layers.inverted_soft,
        layers.muscle_outside,
        layers.skeleton_outside,
    ];
    let masses = &report.masses;
    let within = |x: f64, [low, high]: [f64; 2]| low <= x && x <= high;
    let between = within(masses.fat_asked, masses.fat_range)
        && within(masses.muscle_asked, masses.muscle_range);
    let (fat, muscle) = (
        masses.fat - masses.fat_asked,
        masses.muscle - masses.muscle_asked,
    );
    println!(
        "  inverted {}/{}/{}, outside {}/{}, {} rounds, {} repaired, skin folded at {} (moved by {:.1} mm)",
        nested[0],
        nested[1],
        nested[2],
        nested[3],
        nested[4],
        report.rounds,
        report.repaired,
        report.folded,
        1e3 * report.unfolded
    );
    println!(
        "  fat {:.1} of {:.1} kg in {:.1}–{:.1}, muscle {:.1} of {:.1} kg in {:.1}–{:.1}, place {:.2}{}",
        masses.fat,
        masses.fat_asked,
        masses.fat_range[0],
        masses.fat_range[1],
        masses.muscle,
        masses.muscle_asked,
        masses.muscle_range[0],
        masses.muscle_range[1],
        masses.place,
        if between { "" } else { " (beyond)" }
    );
    let m = &masses.masses;
    println!(
        "    soft {:.1} l, visceral {:.1}, within muscle {:.1}, marrow {:.1}, head, hands, feet {:.1}, rest {:.1}, skin {:.1}, crotch {:.1}, cavity {:.1}, other muscle {:.1} kg",
        1e3 * m.soft_volume,
        m.places.visceral,
        m.places.within_muscle,
        m.places.marrow,
        m.places.head_hands_feet,
        m.rest,
        m.skin,
        m.crotch,
        m.cavity,
        m.other_muscle
    );
    let rms = (report.bones.iter().map(|b| b.rms.powi(2)).sum::<f64>()
        / report.bones.len().max(1) as f64)
        .sqrt();
    let worst = |of: fn(&supple_anatomy::person::BoneStretch) -> f64| {
        let names = base.template.bones.iter().map(|b| b.bone.name.as_str());
        (report.bones.iter().map(of).zip(names))
            .fold((0.0, ""), |a, b| if b.0 > a.0 { b } else { a })
    };
    let (most, p95, bend) = (worst(|b| b.rms), worst(|b| b.p95), worst(|b| b.bend));
    println!(
        "  bones beyond scaling: RMS {:.2} %, worst {:.2} % ({}), 95th {:.2} % ({}), bend {:.1} mm ({})",
        100.0 * rms,
        100.0 * most.0,
        most.1,
        100.0 * p95.0,
        p95.1,
        1e3 * bend.0,
        bend.1
    );
    let inside = Inside::of(&base.template, &fit.layers, &fit.bones);
    let ribs = Ribs::of(&base.template, &fit.layers, &fit.bones, &fit.muscles);
    println!("  {inside}\n  {}", ribs.text(&base.ribs));
    check(
        nested == [0; 5],
        format!("not nested {nested:?}, skin folded at {}", report.folded),
    );
    check(
        !between || (fat.abs() <= MASS_MISS && muscle.abs() <= MASS_MISS),
        format!("masses off by {fat:.1} and {muscle:.1} kg"),
    );
    check(
        most.0 <= BONE_STRETCH[0],
        format!("bones RMS {:.3}", most.0),
    );
    check(p95.0 <= BONE_STRETCH[1], format!("bones 95th {:.3}", p95.0));
    check(inside.holds(), format!("{inside}"));
    check(ribs.holds(&base.ribs), ribs.text(&base.ribs));
}
