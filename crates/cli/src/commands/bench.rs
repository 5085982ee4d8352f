//! `supple bench`

mod gpu;

use std::path::PathBuf;

use supple_lab::bench::contact::{self, ContactRow, GrowthRow};
use supple_lab::bench::detail::{self, DetailRow};
use supple_lab::bench::obj::{ReadRow, read_obj};
use supple_lab::bench::tissue::{Subject, TissueRow, measure, subjects};

use crate::args;
use crate::console::{Console, Failure};

/// Default folder of the papers' models.
const FPS_MODELS: &str = "../shared/data/fps";

/// Measures tissue, contact, upsampling, and reading of OBJ files, or some of these.
pub fn run(args: &args::Bench, console: &Console) -> Result<(), Failure> {
    if args.backend == args::Backend::Gpu {
        return gpu::run(args, console);
    }
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    // Only when asked for: it takes long.
    let large = match !args.only.is_empty() && wanted(detail::LARGE) {
        true => Some(detail::large().map_err(|error| Failure {
            error,
            hint: String::new(),
        })?),
        false => None,
    };
    let subjects = match large.is_some() && args.only.len() == 1 {
        true => Vec::new(),
        false => chosen_subjects(args)?,
    };
    let measures = |part: args::BenchPart| args.parts.contains(&part);
    let mut tissue = Vec::new();
    if measures(args::BenchPart::Tissue) {
        let progress = console.progress("stepping tissue", subjects.len());
        for subject in &subjects {
            tissue.extend(measure(subject, &args.threads, args.baseline)?);
            progress.step();
        }
    }
    let male = match wanted("male")
        && (measures(args::BenchPart::Contact) || measures(args::BenchPart::Skin))
    {
        true => detail::full_male(&models_folder(args))?,
        false => None,
    };
    let (mut contact, mut growth) = (Vec::new(), Vec::new());
    if measures(args::BenchPart::Contact) {
        let progress = console.progress("measuring contact", subjects.len() + 1);
        for subject in &subjects {
            contact.extend(contact::measure(subject)?);
            progress.step();
        }
        if let Some(male) = &male {
            growth = contact::growth(male)?;
        }
    }
    let mut detail = Vec::new();
    if measures(args::BenchPart::Skin) {
        let progress = console.progress("upsampling", 2);
        let embedded = subjects.iter().find(|one| one.name == "embedded male");
        for subject in male.iter().chain(embedded).chain(&large) {
            detail.extend(detail::measure(subject, &args.threads)?);
            progress.step();
        }
    }
    let mut obj = Vec::new();
    if measures(args::BenchPart::Obj) {
        let sizes = [args.vertices / 10, args.vertices / 3, args.vertices];
        let progress = console.progress("reading OBJ", sizes.len());
        for size in sizes.into_iter().filter(|&size| size > 3) {
            obj.push(read_obj(size)?);
            progress.step();
        }
    }
    let tables = [
        (tissue.is_empty(), tissue_table(&tissue)),
        (contact.is_empty(), contact_table(&contact)),
        (growth.is_empty(), growth_table(&growth)),
        (detail.is_empty(), detail_table(&detail)),
        (obj.is_empty(), obj_table(&obj)),
    ];
    let tables = tables.into_iter().filter(|(is_empty, _)| !is_empty);
    let text: Vec<String> = tables.map(|(_, table)| table).collect();
    let text = text.join("\n\n");
    let json = serde_json::json!({
        "tissue": tissue, "contact": contact, "growth": growth, "detail": detail, "obj": obj
    });
    console.result(text, &json);
    Ok(())
}

fn models_folder(args: &args::Bench) -> PathBuf {
    args.models.clone().unwrap_or_else(|| FPS_MODELS.into())
}

/// The models named on the command line, or all.
fn chosen_subjects(args: &args::Bench) -> Result<Vec<Subject>, Failure> {
    let mut found = subjects(Some(&models_folder(args))).map_err(|error| Failure {
        error,
        hint: "--models takes a folder with cylinder/, tbone/ and male/".to_owned(),
    })?;
    if !args.only.is_empty() {
        found.retain(|subject| args.only.contains(&subject.name));
    }
    if found.is_empty() {
        let names =
            "cylinder, tbone, male, male x4, embedded male, embedded female, embedded male x16";
        return Err(Failure::new(
            "no model has that name".to_owned(),
            format!("--only takes {names}"),
        ));
    }
    Ok(found)
}

fn tissue_table(rows: &[TissueRow]) -> String {
    let mut text = format!(
        "Tissue, ms per step of 10 iterations\n{:<16} {:>7} {:>8} {:>8} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>9} {:>7} {:>6} {:>6}",
        "model",
        "volume",
        "vertices",
        "tets",
        "build",
        "prepare",
        "threads",
        "local",
        "global",
        "median",
        "95th",
        "textbook",
        "ratio",
        "MB",
        "floor"
    );
    for row in rows {
        for step in &row.steps {
            let optional = |value: Option<f64>, digits: usize| {
                value.map_or("-".to_owned(), |v| format!("{v:.digits$}"))
            };
            text.push_str(&format!(
                "\n{:<16} {:>7} {:>8} {:>8} {:>7.0} {:>7.0} {:>7} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>9} {:>7} {:>6} {:>5.0}%",
                row.model,
                if row.keeps_volume { "kept" } else { "-" },
                row.vertices,
                row.tets,
                row.construction_ms,
                row.preparation_ms,
                step.threads,
                step.local_ms,
                step.global_ms,
                step.total_ms,
                step.p95_ms,
                optional(row.textbook_ms, 1),
                optional(step.ratio, 1),
                optional(row.memory_mb, 0),
                100.0 * row.solve_floor_share
            ));
        }
    }
    text.push_str("\nlocal and global: sums over threads; floor: time to read the factor once from cache, as a share of the triangular solves");
    text
}

fn contact_table(rows: &[ContactRow]) -> String {
    let mut text = format!(
        "Contact, ms per step, all threads\n{:<16} {:<7} {:>8} {:>8} {:>8} {:>7} {:>7} {:>8} {:>6} {:>8} {:>8} {:>6}",
        "model",
        "mode",
        "vertices",
        "contacts",
        "pressing",
        "prepare",
        "detect",
        "assemble",
        "solve",
        "with",
        "without",
        "ratio"
    );
    for row in rows {
        text.push_str(&format!(
            "\n{:<16} {:<7} {:>8} {:>8} {:>8} {:>7.0} {:>7.2} {:>8.2} {:>6.2} {:>8.2} {:>8.2} {:>6.2}",
            row.model,
            row.mode,
            row.vertices,
            row.contacts,
            row.pressing,
            row.preparation_ms,
            row.detect_ms,
            row.assemble_ms,
            row.solve_ms,
            row.step_ms,
            row.without_ms,
            row.ratio
        ));
    }
    text
}

fn growth_table(rows: &[GrowthRow]) -> String {
    let mut text = format!(
        "Detection on finer meshes, all threads\n{:<16} {:<7} {:>15} {:>13} {:>13} {:>9} {:>6}",
        "model", "mode", "vertices", "contacts", "detect ms", "vertices", "time"
    );
    for row in rows {
        let ([few, many], [quick, slow]) = (row.vertices, row.detect_ms);
        text.push_str(&format!(
            "\n{:<16} {:<7} {:>15} {:>13} {:>13} {:>8.1}x {:>5.1}x",
            row.model,
            row.mode,
            format!("{few} {many}"),
            format!("{} {}", row.contacts[0], row.contacts[1]),
            format!("{quick:.2} {slow:.2}"),
            row.times_vertices,
            row.times_detect
        ));
    }
    text
}

fn detail_table(rows: &[DetailRow]) -> String {
    let mut text = format!(
        "Full skin\n{:<16} {:>8} {:>9} {:>10} {:>9} {:>7} {:>8} {:>7} {:>8} {:>9} {:>6} {:>6} {:>6}",
        "model",
        "shown",
        "simulated",
        "weights ms",
        "cached ms",
        "threads",
        "step ms",
        "MLS us",
        "of step",
        "normals us",
        "ratio",
        "MB",
        "floor"
    );
    for row in rows {
        for frame in &row.frames {
            text.push_str(&format!(
                "\n{:<16} {:>8} {:>9} {:>10.0} {:>9.1} {:>7} {:>8.2} {:>7.0} {:>7.1}% {:>9.0} {:>6.1} {:>6.2} {:>5.0}%",
                row.model,
                row.shown,
                row.simulated,
                row.weights_ms,
                row.cached_ms,
                frame.threads,
                frame.step_ms,
                frame.least_squares_us,
                100.0 * frame.step_share,
                frame.normals_us,
                frame.ratio,
                row.megabytes,
                100.0 * row.floor_share
            ));
        }
    }
    text.push_str("\nMLS: moving least squares, normals: normal displacements, both with normals of the skin; floor: time to move a frame's bytes, as a share of the frame on one thread");
    text
}

fn obj_table(rows: &[ReadRow]) -> String {
    let mut text = format!(
        "OBJ\n{:>10} {:>8} {:>12} {:>12} {:>12} {:>14}",
        "vertices", "MB", "read MB/s", "parse MB/s", "weld MB/s", "s per million"
    );
    for row in rows {
        text.push_str(&format!(
            "\n{:>10} {:>8.1} {:>12.0} {:>12.0} {:>12.0} {:>14.3}",
            row.vertices,
            row.megabytes,
            row.raw_mb_per_s,
            row.parse_mb_per_s,
            row.weld_mb_per_s,
            row.seconds_per_million
        ));
    }
    text
}
