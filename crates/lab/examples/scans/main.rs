//! Registers scans whose truth is known, and prints a table of what is missed.
//!
//! `cargo run --release -p supple-lab --example scans [FOLDER]` takes the scans of `FOLDER/index.json` (by default
//! `../shared/data/scans`); `--bodies N` adds N bodies drawn from the body space with noise, holes and poses; `--only NAME`
//! takes one; `--hard` gives drawn bodies hair, shorts, shoes, fists, bumps and a tilt; `--variants` adds a man and a woman in the
//! ways real scans come; `--soldiers N` checks sex and confidence on N bodies with soldiers' measures (`--tuning` takes
//! the rows used for tuning, `--cloth MM` dresses them, `--poses N` scans each N times); `--file SCAN` registers
//! a file without truth; `--out FOLDER` writes the registered skins as OBJ, `--write FOLDER` the scans as PLY and registers none.

mod drawn;
mod made_of;
mod soldiers;
mod variants;

use std::path::{Path, PathBuf};
use std::time::Instant;

use glam::{DVec3, Vec3};
use made_of::Tapes;
use supple_anatomy::Sex;
use supple_anatomy::body_model::BodyModel;
use supple_anatomy::scan::{Options, Registered, Scan, ScanError, register};

/// Joints that are compared: those that move limbs, trunk and head.
const JOINTS: [&str; 20] = [
    "root",
    "spine05",
    "spine03",
    "spine01",
    "neck01",
    "head",
    "clavicle.L",
    "clavicle.R",
    "upperarm01.L",
    "upperarm01.R",
    "lowerarm01.L",
    "lowerarm01.R",
    "wrist.L",
    "wrist.R",
    "upperleg01.L",
    "upperleg01.R",
    "lowerleg01.L",
    "lowerleg01.R",
    "foot.L",
    "foot.R",
];

/// What a scan shows.
struct Truth {
    sex: Sex,
    noise: f64,
    unit: f64,
    up: DVec3,
    heading: Option<f64>,
    posed: Vec<DVec3>,
    rest: Vec<DVec3>,
    rest_joints: Vec<DVec3>,
    joints: Vec<DVec3>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|a| a == name)?;
        arguments.get(at + 1).cloned()
    };
    let folder = match arguments.first() {
        Some(first) if !first.starts_with("--") => PathBuf::from(first),
        _ => PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../shared/data/scans"
        )),
    };
    let out = option("--out").map(PathBuf::from);
    if let Some(file) = option("--file") {
        return one_file(Path::new(&file), out.as_deref());
    }
    if let Some(count) = option("--soldiers") {
        let number = |name: &str, usual: f64| -> Result<f64, std::num::ParseFloatError> {
            option(name).map_or(Ok(usual), |text| text.parse())
        };
        let rest = if arguments.iter().any(|a| a == "--tuning") {
            1
        } else {
            3
        };
        let (cloth, poses) = (
            1e-3 * number("--cloth", 0.0)?,
            number("--poses", 1.0)? as usize,
        );
        return soldiers::calibration(count.parse()?, rest, cloth, poses);
    }
    let mut cases = made_scans(&folder, option("--only").as_deref())?;
    let bodies: usize = option("--bodies").map_or(Ok(0), |n| n.parse())?;
    let first: usize = option("--first").map_or(Ok(0), |n| n.parse())?;
    let is_hard = arguments.iter().any(|a| a == "--hard");
    cases.extend((first..first + bodies).map(|k| {
        let (scan, truth) = drawn::drawn(k as u64, is_hard);
        (format!("body {k}"), scan, truth)
    }));
    if arguments.iter().any(|a| a == "--variants") {
        cases.extend(variants::variants(option("--only").as_deref()));
    }
    if let Some(folder) = option("--write") {
        for (name, scan, _) in &cases {
            let name = name.replace([' ', ','], "_");
            std::fs::write(Path::new(&folder).join(format!("{name}.ply")), ply(scan))?;
        }
        return Ok(());
    }
    println!(
        "{:20} {:>5} | {:>5} {:>5} {:>5} | {:>5} {:>5} | {:>5} {:>5} | {:>6} {:>5} {:>5} {:>5} {:>6} | {:>6} {:>5} {:>5} | verdict",
        "scan",
        "s",
        "rms",
        "-noise",
        "bent",
        "v med",
        "v 95",
        "j med",
        "j 95",
        "vol %",
        "h cm",
        "waist",
        "tape",
        "fat kg",
        "sex p",
        "cover",
        "conf"
    );
    let tapes = Tapes::load()?;
    let mut counts = [0; 3];
    for (name, scan, truth) in &cases {
        counts[report(name, scan, truth, &tapes, out.as_deref())?] += 1;
    }
    println!(
        "{} within bounds, {} refused or flagged, {} outside",
        counts[0], counts[1], counts[2]
    );
    Ok(())
}

/// A scan as an ASCII PLY.
fn ply(scan: &Scan) -> String {
    let has_normals = scan.normals.len() == scan.points.len();
    let mut text = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\n",
        scan.points.len()
    );
    let names = if has_normals {
        &["x", "y", "z", "nx", "ny", "nz"][..]
    } else {
        &["x", "y", "z"]
    };
    names
        .iter()
        .for_each(|name| text += &format!("property float {name}\n"));
    if !scan.triangles.is_empty() {
        text += &format!(
            "element face {}\nproperty list uchar int vertex_indices\n",
            scan.triangles.len()
        );
    }
    text += "end_header\n";
    for (v, p) in scan.points.iter().enumerate() {
        text += &format!("{} {} {}", p.x, p.y, p.z);
        if has_normals {
            let n = scan.normals[v];
            text += &format!(" {} {} {}", n.x, n.y, n.z);
        }
        text.push('\n');
    }
    for [a, b, c] in &scan.triangles {
        text += &format!("3 {a} {b} {c}\n");
    }
    text
}

/// Registers and prints a line. 0: within bounds, 1: refused or flagged, 2: outside.
fn report(
    name: &str,
    scan: &Scan,
    truth: &Truth,
    tapes: &Tapes,
    out: Option<&Path>,
) -> Result<usize, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let result = register(scan, &Options::default());
    let seconds = start.elapsed().as_secs_f64();
    let found = match result {
        Ok(found) => found,
        Err(error) => {
            println!("{name:20} {seconds:5.1} | refused: {error}");
            return Ok(1);
        }
    };
    write_skin(&found, name, out);
    let errors = Errors::of(&found, truth, tapes)?;
    let mut wrong = Vec::new();
    let mut line = |bad: bool, what: &str| {
        if bad {
            wrong.push(what.to_owned());
        }
    };
    line(found.sex != truth.sex, "SEX");
    line(
        (found.placement.metres_per_unit / truth.unit - 1.0).abs() > 1e-3,
        "UNIT",
    );
    line(found.placement.up.dot(truth.up) < 0.9, "UP");
    let turned = truth.heading.map_or(0.0, |h| {
        (h - found.placement.heading).sin().abs() + 1.0 - (h - found.placement.heading).cos()
    });
    line(turned > 0.4, "HEADING");
    line(found.distances.rms > truth.noise + 0.0015, "rms");
    line(
        errors.vertices.0 > 0.007 || errors.vertices.1 > 0.030,
        "vertices",
    );
    line(errors.joints.0 > 0.008 || errors.joints.1 > 0.030, "joints");
    line(errors.volume.abs() > 0.005, "volume");
    line(errors.stature.abs() > 0.01, "stature");
    line(errors.waist.abs() > 0.01, "waist");
    line(errors.tape.abs() > 0.01, "tape");
    line(errors.fat.abs() > 0.5, "fat");
    println!(
        "{name:20} {seconds:5.1} | {:5.2} {:5.2} {:5.1} | {:5.1} {:5.1} | {:5.1} {:5.1} | {:6.2} {:5.2} {:5.2} {:5.2} {:6.2} | {:6.4} {:5.2} {:5.2} | {} {}",
        1e3 * found.distances.rms,
        1e3 * (found.distances.rms - truth.noise),
        1e3 * found.distances.bent,
        1e3 * errors.vertices.0,
        1e3 * errors.vertices.1,
        1e3 * errors.joints.0,
        1e3 * errors.joints.1,
        100.0 * errors.volume,
        100.0 * errors.stature,
        100.0 * errors.waist,
        100.0 * errors.tape,
        errors.fat,
        found.sex_confidence,
        found.coverage.whole,
        found.confidence,
        if wrong.is_empty() {
            "good".to_owned()
        } else {
            wrong.join(" ")
        },
        found.warnings.join("; ")
    );
    Ok(match (wrong.is_empty(), found.warnings.is_empty()) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    })
}

fn write_skin(found: &Registered, name: &str, out: Option<&Path>) {
    let Some(folder) = out else { return };
    let points = found
        .vertices
        .iter()
        .map(|p| format!("v {:.5} {:.5} {:.5}\n", p.x, p.y, p.z));
    let faces = found
        .model()
        .triangles
        .iter()
        .map(|t| format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    let path = folder.join(format!("{}.obj", name.replace(' ', "_")));
    if let Err(error) = std::fs::write(&path, points.chain(faces).collect::<String>()) {
        println!("{}: {error}", path.display());
    }
}

/// Registers a scan without truth.
fn one_file(path: &Path, out: Option<&Path>) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let found = register(&Scan::load(path)?, &Options::default())?;
    println!(
        "{:?} ({:.2}), {:.2} m, {:.1} s\n{:?}\n{:?}\n{:?}\nconfidence {:.2}\n{}",
        found.sex,
        found.sex_confidence,
        found.stature(),
        start.elapsed().as_secs_f64(),
        found.placement,
        found.distances,
        found.coverage,
        found.confidence,
        found.warnings.join("\n")
    );
    let model = found.model();
    for (name, (c, d)) in model
        .field_names
        .iter()
        .zip(found.figure.coefficients.iter().zip(&model.deviations))
    {
        print!("{name} {:.1}; ", c / d.max(0.05));
    }
    println!();
    write_skin(
        &found,
        &path.file_stem().unwrap_or_default().to_string_lossy(),
        out,
    );
    Ok(())
}

/// What a registration misses.
struct Errors {
    vertices: (f64, f64),
    joints: (f64, f64),
    volume: f64,
    stature: f64,
    waist: f64,
    tape: f64,
    fat: f64,
}

impl Errors {
    fn of(
        found: &Registered,
        truth: &Truth,
        tapes: &Tapes,
    ) -> Result<Errors, Box<dyn std::error::Error>> {
        let model = found.model();
        let body = model.trunk_and_limbs();
        let misses = (found.vertices.iter().zip(&truth.posed).zip(body))
            .filter(|(_, body)| *body)
            .map(|((a, b), _)| a.distance(*b));
        let joints = JOINTS.iter().map(|name| {
            let joint = model.joint(name);
            found.joints[joint].distance(truth.joints[joint])
        });
        let tall = |v: &[DVec3]| {
            let y = || v.iter().map(|p| p.y);
            y().fold(f64::MIN, f64::max) - y().fold(f64::MAX, f64::min)
        };
        let volume = |v: &[DVec3]| model.mesh(v).signed_volume();
        let made_of = tapes.made_of(found.sex, &found.rest_vertices, &found.rest_joints)?;
        let of_truth = tapes.made_of(truth.sex, &truth.rest, &truth.rest_joints)?;
        Ok(Errors {
            vertices: percentiles(misses.collect()),
            joints: percentiles(joints.collect()),
            volume: volume(&found.vertices) / volume(&truth.posed) - 1.0,
            stature: tall(&found.rest_vertices) - tall(&truth.rest),
            waist: waist(model, &found.rest_vertices) - waist(model, &truth.rest),
            tape: made_of.waist - of_truth.waist,
            fat: made_of.fat - of_truth.fat,
        })
    }
}

fn percentiles(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], values[values.len() * 19 / 20])
}

/// Least girth between hips and chest: the hull of the trunk's section \[m\].
fn waist(model: &BodyModel, rest: &[DVec3]) -> f64 {
    let joints = model.joints_of(rest);
    let (low, high) = (joints[0].y, joints[model.joint("neck01")].y);
    let arm: Vec<bool> = (0..model.vertex_count())
        .map(|v| {
            let name = &model.joint_names[model.main_joint(v)];
            [
                "upperarm",
                "lowerarm",
                "wrist",
                "finger",
                "metacarpal",
                "shoulder",
            ]
            .iter()
            .any(|p| name.starts_with(p))
        })
        .collect();
    let girth = |y: f64| {
        let mut points = Vec::new();
        for t in model
            .triangles
            .iter()
            .filter(|t| t.iter().all(|&v| !arm[v as usize]))
        {
            for k in 0..3 {
                let (a, b) = (rest[t[k] as usize], rest[t[(k + 1) % 3] as usize]);
                if (a.y - y) * (b.y - y) < 0.0 {
                    let p = a.lerp(b, (y - a.y) / (b.y - a.y));
                    points.push((p.x, p.z));
                }
            }
        }
        hull_length(points)
    };
    (0..28)
        .map(|k| girth(low + (high - low) * (0.08 + 0.54 * f64::from(k) / 27.0)))
        .fold(f64::MAX, f64::min)
}

/// Length of the convex hull (Andrew 1979).
fn hull_length(mut points: Vec<(f64, f64)>) -> f64 {
    points.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let half = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        let mut hull: Vec<(f64, f64)> = Vec::new();
        for p in points {
            while let [.., a, b] = hull[..]
                && (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0) <= 0.0
            {
                hull.pop();
            }
            hull.push(p);
        }
        hull.windows(2)
            .map(|w| (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1))
            .sum::<f64>()
    };
    half(&mut points.iter().copied()) + half(&mut points.iter().rev().copied())
}

type Case = (String, Scan, Truth);

/// The scans of an index.
fn made_scans(folder: &Path, only: Option<&str>) -> Result<Vec<Case>, Box<dyn std::error::Error>> {
    let Ok(index) = std::fs::read(folder.join("index.json")) else {
        println!(
            "skipped: there is no {}",
            folder.join("index.json").display()
        );
        return Ok(Vec::new());
    };
    let index: serde_json::Value = serde_json::from_slice(&index)?;
    let mut cases = Vec::new();
    for (name, about) in index["scans"].as_object().ok_or("no scans")? {
        if only.is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let text = |key: &str| about[key].as_str().unwrap_or_default();
        let points = |which: &str| -> Result<Vec<DVec3>, std::io::Error> {
            let bytes = std::fs::read(folder.join(format!("{name}.{which}.f32")))?;
            let floats: Vec<f32> = bytes
                .chunks_exact(4)
                .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect();
            Ok(floats
                .chunks_exact(3)
                .map(|p| Vec3::from_slice(p).as_dvec3())
                .collect())
        };
        let (mut posed, mut rest) = (points("posed")?, points("rest")?);
        let joints = posed.split_off(13_718);
        let rest_joints = rest.split_off(13_718);
        let truth = Truth {
            sex: if text("sex") == "male" {
                Sex::Male
            } else {
                Sex::Female
            },
            noise: about["noise_m"].as_f64().unwrap_or(0.0),
            unit: match text("unit") {
                "cm" => 0.01,
                "mm" => 0.001,
                _ => 1.0,
            },
            up: if text("up") == "z" {
                DVec3::Z
            } else {
                DVec3::Y
            },
            heading: about["turned_deg"].as_f64().map(f64::to_radians),
            posed,
            rest,
            rest_joints,
            joints,
        };
        let scan = Scan::load(&folder.join(text("file"))).map_err(|e: ScanError| e.to_string())?;
        cases.push((name.clone(), scan, truth));
    }
    Ok(cases)
}
