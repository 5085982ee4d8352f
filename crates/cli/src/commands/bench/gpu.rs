//! `supple bench --backend gpu`

use std::sync::Arc;

use supple::gpu::{Gpu, Options, Solver};
use supple_lab::bench::detail::full_male;
use supple_lab::bench::gpu::{GpuRow, SOLVERS, embedded_clips, measure};
use supple_lab::bench::gpu_contact::{self, GpuContactRow, HeldRow};
use supple_lab::bench::held::Held;
use supple_lab::bench::jump::Drag;

use crate::args::{Bench, GpuSolver};
use crate::console::{Console, Failure};

/// Measures tissue on the GPU.
pub fn run(args: &Bench, console: &Console) -> Result<(), Failure> {
    let gpu = Gpu::open(Options::default()).map_err(|error| Failure {
        error: Box::new(error),
        hint: "--backend cpu measures the CPU".to_owned(),
    })?;
    if args.contact {
        return run_contact(args, &gpu, console);
    }
    let mut subjects = match args.clips {
        true => embedded_clips().map_err(|error| Failure {
            error,
            hint: String::new(),
        })?,
        false => super::chosen_subjects(args)?,
    };
    if subjects.iter().any(|subject| subject.name == "male") {
        subjects.extend(full_male(&super::models_folder(args))?);
    }
    let solvers: Vec<(&'static str, Solver)> = args.solver.iter().map(|&s| named(s)).collect();
    let total = subjects.len() * solvers.len() * args.bodies.len();
    let progress = console.progress("stepping tissue", total);
    let mut rows = Vec::new();
    for subject in &subjects {
        rows.extend(measure(&gpu, subject, &solvers, &args.bodies, &mut || {
            progress.step()
        })?);
    }
    drop(progress);
    let json = serde_json::json!({ "device": gpu.name(), "tissue": rows });
    console.result(table(gpu.name(), &rows), &json);
    Ok(())
}

/// Measures contact of bodies with themselves.
fn run_contact(args: &Bench, gpu: &Arc<Gpu>, console: &Console) -> Result<(), Failure> {
    let (mut rows, mut held, mut drags) = (Vec::new(), Vec::new(), None);
    if args.clips {
        let _progress = console.progress("holding poses", 1);
        let failed = |error| Failure {
            error,
            hint: String::new(),
        };
        held = gpu_contact::held_poses(gpu).map_err(failed)?;
        drags = Some(gpu_contact::drags(gpu).map_err(failed)?);
    } else {
        let mut subjects = super::chosen_subjects(args)?;
        if subjects.iter().any(|subject| subject.name == "male") {
            subjects.extend(full_male(&super::models_folder(args))?);
        }
        let progress = console.progress("measuring contact", subjects.len());
        for subject in &subjects {
            rows.extend(gpu_contact::measure(gpu, subject)?);
            progress.step();
        }
    }
    let json =
        serde_json::json!({ "device": gpu.name(), "contact": rows, "held": held, "jump": drags });
    let text = match drags {
        Some([cpu, gpu]) => format!(
            "{}\nA jump with crossed arms, far from contacts, difference between contact on and off: CPU {}, GPU {}",
            held_table(&held),
            describe_drag(&cpu),
            describe_drag(&gpu)
        ),
        None => contact_table(gpu.name(), &rows),
    };
    console.result(text, &json);
    Ok(())
}

fn contact_table(device: &str, rows: &[GpuContactRow]) -> String {
    let mut text = format!(
        "Contact on {device}, ms per step of 10 iterations\n{:<16} {:>7} {:>8} {:>8} {:>10} {:>9} {:>9} {:>9} {:>8} {:>8}  stages",
        "model",
        "free",
        "contacts",
        "pressing",
        "dispatches",
        "GPU",
        "95th",
        "without",
        "MB",
        "contact"
    );
    for row in rows {
        let clock = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.4}"));
        text.push_str(&format!(
            "\n{:<16} {:>7} {:>8} {:>8} {:>10} {:>9} {:>9} {:>9} {:>8.2} {:>8.2} ",
            row.model,
            row.free,
            row.contacts,
            row.pressing,
            row.dispatches,
            clock(row.gpu_ms),
            clock(row.gpu_p95_ms),
            clock(row.without_ms),
            row.memory_mb,
            row.contact_mb
        ));
        for (stage, ms) in &row.stages {
            text.push_str(&format!(" {stage} {ms:.4}"));
        }
    }
    text
}

fn held_table(rows: &[HeldRow]) -> String {
    let mut text = format!(
        "Held poses: points inside, depth [mm] and as a share of the limb, speed [mm/s]\n{:<26} {:>8}   {:<32}   {:<32}",
        "pose", "without", "CPU", "GPU"
    );
    let describe = |held: &Held| {
        format!(
            "{:>5} {:>7.1} {:>7.1}% {:>8.2}  ",
            held.inside,
            held.depth_mm,
            100.0 * held.share,
            held.speed
        )
    };
    for row in rows {
        let (cpu, gpu) = (describe(&row.cpu), describe(&row.gpu));
        text.push_str(&format!(
            "\n{:<26} {:>8}   {cpu:<32}   {gpu:<32}",
            row.pose, row.without
        ));
    }
    text
}

fn describe_drag(drag: &Drag) -> String {
    let (position, displacement) = (1e3 * drag.largest, 1e3 * drag.of_motion);
    format!("{position:.2} mm in position, {displacement:.2} mm in displacement")
}

fn named(solver: GpuSolver) -> (&'static str, Solver) {
    SOLVERS[solver as usize]
}

fn table(device: &str, rows: &[GpuRow]) -> String {
    let mut text = format!(
        "Tissue on {device}, ms per step of 10 iterations\n{:<16} {:<10} {:>6} {:>7} {:>7} {:>10} {:>9} {:>9} {:>9} {:>8} {:>7} {:>8} {:>8} {:>9} {:>6}  stages",
        "model",
        "solver",
        "bodies",
        "free",
        "tets",
        "dispatches",
        "GPU",
        "95th",
        "skin",
        "shown",
        "latency",
        "MB",
        "prepare",
        "from CPU",
        "moved"
    );
    for row in rows {
        let clock = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.4}"));
        text.push_str(&format!(
            "\n{:<16} {:<10} {:>6} {:>7} {:>7} {:>10} {:>9} {:>9} {:>9} {:>8} {:>7.3} {:>8.2} {:>8.0} {:>9.1e} {:>6.3} ",
            row.model,
            row.solver,
            row.bodies,
            row.free,
            row.tets,
            row.dispatches,
            clock(row.gpu_ms),
            clock(row.gpu_p95_ms),
            clock(row.skin_ms),
            row.shown,
            row.latency_ms,
            row.memory_mb,
            row.preparation_ms,
            row.apart,
            row.moved
        ));
        for (stage, ms) in &row.stages {
            text.push_str(&format!(" {stage} {ms:.4}"));
        }
    }
    text.push_str("\nGPU: by the device's clock; skin: full skin with normals; latency: from a pose to positions, both on the CPU; from CPU: largest distance to the CPU's result after the motion; moved: to the start; both relative to the height; stages are timed one pass each and add up to more than a step");
    text
}
