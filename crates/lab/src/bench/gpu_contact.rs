//! Contact on the GPU: its cost, and held poses compared to the CPU.

use std::sync::Arc;

use serde::Serialize;
use supple_flesh::Settings;
use supple_gpu::{Gpu, GpuBackend, GpuBodies, GpuError, Solver};
use supple_sim::{Backend, ContactMode, CpuBackend, State};

use super::contact::curl;
use super::gpu::{GpuBenchError, WARM_UP, stages};
use super::held::{HOLD_SECONDS, Held, POSES, RATES, hold, hold_at};
use super::jump::{self, Drag};
use super::tissue::{Subject, percentile};
use supple::embedded::{self, Body};
use supple::tissue::{SoftBody, TissueError};

/// Numbers of contacts to measure.
const COUNTS: [usize; 2] = [300, 1000];
/// Timed steps.
const STEPS: usize = 100;
/// One model at one number of contacts.
#[derive(Clone, Debug, Serialize)]
pub struct GpuContactRow {
    /// Its name.
    pub model: String,
    /// Free vertices.
    pub free: usize,
    /// Number of contacts.
    pub contacts: usize,
    /// Number of contacts that press.
    pub pressing: usize,
    /// Dispatches per step.
    pub dispatches: usize,
    /// Time of a step by the device's clock, median \[ms\]; `None` if it has no clock.
    pub gpu_ms: Option<f64>,
    /// 95th percentile \[ms\].
    pub gpu_p95_ms: Option<f64>,
    /// The same step without contact, median \[ms\].
    pub without_ms: Option<f64>,
    /// Sums over the dispatches of each stage, one pass each \[ms\].
    pub stages: Vec<(&'static str, f64)>,
    /// Device memory without the full skin \[MB\].
    pub memory_mb: f64,
    /// The part of it for contact \[MB\].
    pub contact_mb: f64,
}

/// A held pose.
#[derive(Clone, Debug, Serialize)]
pub struct HeldRow {
    /// Body, clip and steps per second.
    pub pose: String,
    /// Skin points inside other parts without contact.
    pub without: usize,
    /// On the CPU.
    pub cpu: Held,
    /// On the GPU.
    pub gpu: Held,
}

/// Measures a humanoid; no rows for other characters.
pub fn measure(gpu: &Arc<Gpu>, subject: &Subject) -> Result<Vec<GpuContactRow>, GpuBenchError> {
    let Some(curl) = curl(&subject.character) else {
        return Ok(Vec::new());
    };
    let body = SoftBody::new(&subject.character, subject.settings.clone())?;
    let (flesh, pose) = (body.flesh(), |time: f32| {
        curl.sample(&subject.character.skeleton, time)
    });
    let off = flesh.settings.solver_settings();
    let mut on = off.clone();
    on.contact.mode = ContactMode::Global;
    let model = &flesh.model;
    let mut backend = GpuBackend::new(gpu.clone());
    let mut state = State::at_rest(model);
    let mut rows = Vec::new();
    let mut time = 0.0;
    for count in COUNTS {
        while state.contact.contacts.len() < count && time < 2.0 {
            time += 1.0 / 120.0;
            let targets = flesh.targets(&pose(time)).map_err(TissueError::from)?;
            let step = backend.step(model, &on, &targets, &mut state);
            step.map_err(TissueError::from)?;
        }
        let targets = flesh.targets(&pose(time)).map_err(TissueError::from)?;
        let timed = |settings: &supple_sim::Settings| -> Result<_, GpuError> {
            let bodies = GpuBodies::new(gpu, model, settings, 1, Solver::Patches)?;
            bodies.set_targets(0, &targets);
            warm_up(gpu, &bodies)?;
            bodies.upload(0, &state);
            bodies.upload_contacts(0, &state, &targets);
            let mut times = Vec::new();
            for _ in 0..STEPS {
                times.extend(bodies.timed_step()?);
            }
            Ok((bodies, times))
        };
        let (bodies, times) = timed(&on)?;
        let (alone, without) = timed(&off)?;
        let report = supple_sim::ContactReport::of(&state);
        let median = |times: &[f64]| (!times.is_empty()).then(|| percentile(times, 0.5));
        rows.push(GpuContactRow {
            model: subject.name.clone(),
            free: model.free_count(),
            contacts: report.known,
            pressing: report.pressing,
            dispatches: bodies.dispatches(),
            gpu_ms: median(&times),
            gpu_p95_ms: (!times.is_empty()).then(|| percentile(&times, 0.95)),
            without_ms: median(&without),
            stages: stages(&bodies)?,
            memory_mb: bodies.memory() as f64 / 1e6,
            contact_mb: (bodies.memory() - alone.memory()) as f64 / 1e6,
        });
    }
    Ok(rows)
}

fn warm_up(gpu: &Gpu, bodies: &GpuBodies) -> Result<(), GpuError> {
    let start = std::time::Instant::now();
    while !gpu.is_software() && start.elapsed().as_secs_f64() < WARM_UP {
        for _ in 0..10 {
            bodies.step()?;
        }
        bodies.wait()?;
    }
    Ok(())
}

/// Held poses of the embedded bodies, on both backends, at all step rates.
pub fn held_poses(gpu: &Arc<Gpu>) -> Result<Vec<HeldRow>, Box<dyn std::error::Error>> {
    let mut rows = Vec::new();
    for (name, which) in [("male", Body::Male), ("female", Body::Female)] {
        let character = embedded::body(which)?;
        let mut body = SoftBody::new(&character, Settings::default())?;
        for (clip_name, until) in POSES {
            let clip = embedded::clip(clip_name, &character)?;
            body.set_backend(Box::new(CpuBackend::new()));
            let without = hold(&mut body, &character, &clip, until, ContactMode::Off)?;
            for rate in RATES {
                let mut held = |backend: Box<dyn Backend>| {
                    body.set_backend(backend);
                    let how = (rate, HOLD_SECONDS);
                    hold_at(
                        &mut body,
                        &character,
                        &clip,
                        until,
                        ContactMode::Global,
                        how,
                    )
                };
                rows.push(HeldRow {
                    pose: format!("{name} {clip_name} {rate}/s"),
                    without: without.inside,
                    cpu: held(Box::new(CpuBackend::new()))?,
                    gpu: held(Box::new(GpuBackend::new(gpu.clone())))?,
                });
            }
        }
    }
    Ok(rows)
}

/// Effect of contact on a jump of the embedded male, on the CPU and on the GPU.
pub fn drags(gpu: &Arc<Gpu>) -> Result<[Drag; 2], Box<dyn std::error::Error>> {
    let character = embedded::body(Body::Male)?;
    let mut body = SoftBody::new(&character, Settings::default())?;
    let cpu = jump::drag(&mut body, &character)?;
    body.set_backend(Box::new(GpuBackend::new(gpu.clone())));
    let gpu = jump::drag(&mut body, &character)?;
    Ok([cpu, gpu])
}
