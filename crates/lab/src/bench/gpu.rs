//! Steps of tissue on the GPU, timed by the device's clock.

use std::sync::Arc;
use std::time::Instant;

use glam::Vec3;
use serde::Serialize;
use supple_flesh::Settings;
use supple_gpu::krylov::Method;
use supple_gpu::tables::Tables;
use supple_gpu::{Gpu, GpuBodies, GpuError, Solver};
use supple_rig::Pose;
use supple_sim::{Backend, CpuBackend, State};

use super::tissue::{Subject, milliseconds, percentile};
use supple::crowd::{Crowd, CrowdError};
use supple::embedded::{self, Body};
use supple::tissue::{SoftBody, TissueError};

/// Timed steps.
const STEPS: usize = 100;
/// Steps timed by stage.
const STAGED_STEPS: usize = 10;
/// Duration of the warm-up \[s\]: an idle GPU runs at a fraction of its clock.
pub(super) const WARM_UP: f64 = 0.5;

/// One model, solver and number of bodies.
#[derive(Clone, Debug, Serialize)]
pub struct GpuRow {
    /// Its name.
    pub model: String,
    /// Solver of the global step.
    pub solver: &'static str,
    /// Bodies stepped together.
    pub bodies: u32,
    /// Free vertices of a body.
    pub free: usize,
    /// Tets of a body.
    pub tets: usize,
    /// Vertices of its full skin.
    pub shown: usize,
    /// Dispatches per step.
    pub dispatches: usize,
    /// Time of a step by the device's clock, median \[ms\]; `None` if it has no clock.
    pub gpu_ms: Option<f64>,
    /// 95th percentile \[ms\].
    pub gpu_p95_ms: Option<f64>,
    /// Sums over the dispatches of each stage \[ms\]. Each has its own pass, so they add up to more than the step.
    pub stages: Vec<(&'static str, f64)>,
    /// Full skin with normals, by the device's clock, median \[ms\].
    pub skin_ms: Option<f64>,
    /// Latency from a pose on the CPU to positions of the first body on the CPU, median \[ms\].
    pub latency_ms: f64,
    /// Device memory, with the full skin \[MB\].
    pub memory_mb: f64,
    /// PreparedTemplate of tables and buffers \[ms\].
    pub preparation_ms: f64,
    /// Largest distance to the CPU's result after the motion, relative to the height.
    pub apart: f64,
    /// Largest displacement of a vertex by the motion, relative to the height.
    pub moved: f64,
}

/// The solvers by name.
pub const SOLVERS: [(&str, Solver); 4] = [
    ("patches", Solver::Patches),
    ("pcg", Solver::Iterative(Method::Pcg)),
    ("pipelined", Solver::Iterative(Method::PipelinedCg)),
    ("chebyshev", Solver::Iterative(Method::Chebyshev)),
];

/// Why a model could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum GpuBenchError {
    /// The tissue, or the CPU backend.
    #[error(transparent)]
    Tissue(#[from] TissueError),
    /// The device.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The crowd.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
}

/// The embedded bodies in every embedded clip.
pub fn embedded_clips() -> Result<Vec<Subject>, Box<dyn std::error::Error>> {
    let mut subjects = Vec::new();
    for (name, which) in [("male", Body::Male), ("female", Body::Female)] {
        let character = embedded::body(which)?;
        for clip in embedded::clip_names() {
            subjects.push(Subject {
                name: format!("{name} {clip}"),
                character: character.clone(),
                clip: embedded::clip(clip, &character)?,
                settings: Settings::default(),
            });
        }
    }
    Ok(subjects)
}

/// Steps `subject` on the device for every solver and every number of bodies.
pub fn measure(
    gpu: &Arc<Gpu>,
    subject: &Subject,
    solvers: &[(&'static str, Solver)],
    bodies: &[u32],
    row_done: &mut dyn FnMut(),
) -> Result<Vec<GpuRow>, GpuBenchError> {
    let run = Run::new(subject)?;
    let start = Instant::now();
    let tables = Tables::new(&run.body.flesh().model, &run.settings).map_err(GpuError::from)?;
    let tables_ms = milliseconds(start);
    let mut rows = Vec::new();
    for &(name, solver) in solvers {
        for &count in bodies {
            let start = Instant::now();
            let mut crowd = Crowd::with_tables(
                gpu,
                run.body.shared_flesh(),
                &run.settings,
                tables.clone(),
                count,
                solver,
            )?;
            let preparation_ms = tables_ms + milliseconds(start);
            let mut row = run.row(gpu, &mut crowd, name)?;
            row.preparation_ms = preparation_ms;
            rows.push(row);
            row_done();
        }
    }
    Ok(rows)
}

/// A motion and the CPU's result.
struct Run {
    name: String,
    body: SoftBody,
    settings: supple_sim::Settings,
    poses: Vec<Pose>,
    /// At rest in the first pose.
    start: State,
    expected: State,
    height: f32,
}

impl Run {
    fn new(subject: &Subject) -> Result<Run, TissueError> {
        let mut body = SoftBody::new(&subject.character, subject.settings.clone())?;
        let pose = |step: usize| {
            let time = step as f32 / 60.0 % subject.clip.duration().max(0.1);
            subject.clip.sample(&subject.character.skeleton, time)
        };
        body.place(&pose(0))?;
        let flesh = body.flesh();
        let settings = flesh.settings.solver_settings();
        let poses: Vec<Pose> = (0..STEPS).map(pose).collect();
        let start = body.state().clone();
        let mut expected = start.clone();
        let mut processor = CpuBackend::new();
        for pose in &poses {
            let targets = flesh.targets(pose)?;
            processor.step(&flesh.model, &settings, &targets, &mut expected)?;
        }
        let heights = flesh.model.rest().iter().map(|p| p.y);
        let (low, high) = heights.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), y| {
            (low.min(y), high.max(y))
        });
        Ok(Run {
            name: subject.name.clone(),
            settings,
            poses,
            start,
            expected,
            height: (high - low).max(1e-3),
            body,
        })
    }

    fn row(
        &self,
        gpu: &Arc<Gpu>,
        crowd: &mut Crowd,
        solver: &'static str,
    ) -> Result<GpuRow, CrowdError> {
        self.warm_up(gpu, crowd)?;
        let (mut times, mut latencies) = (Vec::new(), Vec::new());
        let mut positions = self.expected.positions.clone();
        for pose in &self.poses {
            for body in 0..crowd.len() {
                crowd.set_pose(body, pose)?;
            }
            times.extend(crowd.gpu_bodies().timed_step()?);
        }
        let bodies = crowd.gpu_bodies();
        bodies.unpack(&bodies.request_positions(0).wait()?, &mut positions);
        let farthest = |from: &[Vec3]| {
            let pairs = positions.iter().zip(from);
            f64::from(pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max) / self.height)
        };
        let apart = farthest(&self.expected.positions);
        let moved = farthest(&self.start.positions);
        for pose in &self.poses {
            let start = Instant::now();
            crowd.set_pose(0, pose)?;
            crowd.step()?;
            crowd.gpu_bodies().request_positions(0).wait()?;
            latencies.push(milliseconds(start));
        }
        let mut skins = Vec::new();
        for _ in 0..STAGED_STEPS {
            skins.extend(crowd.gpu_skin().timed_update()?);
        }
        let bodies = crowd.gpu_bodies();
        let median = |times: &[f64]| (!times.is_empty()).then(|| percentile(times, 0.5));
        Ok(GpuRow {
            model: self.name.clone(),
            solver,
            bodies: bodies.count(),
            free: self.body.flesh().model.free_count(),
            tets: self.body.flesh().model.tets().len(),
            shown: self.body.flesh().full_mesh().positions.len(),
            dispatches: bodies.dispatches(),
            gpu_ms: median(&times),
            gpu_p95_ms: (!times.is_empty()).then(|| percentile(&times, 0.95)),
            stages: stages(bodies)?,
            skin_ms: median(&skins),
            latency_ms: percentile(&latencies, 0.5),
            memory_mb: crowd.memory() as f64 / 1e6,
            preparation_ms: 0.0,
            apart,
            moved,
        })
    }

    /// Warms up the device and leaves all bodies at rest in the first pose.
    fn warm_up(&self, gpu: &Gpu, crowd: &Crowd) -> Result<(), GpuError> {
        let start = Instant::now();
        while !gpu.is_software() && start.elapsed().as_secs_f64() < WARM_UP {
            for _ in 0..10 {
                crowd.step()?;
            }
            crowd.gpu_bodies().wait()?;
        }
        for body in 0..crowd.len() {
            crowd.set_state(body, &self.start);
        }
        Ok(())
    }
}

/// Medians over some steps.
pub(super) fn stages(bodies: &GpuBodies) -> Result<Vec<(&'static str, f64)>, GpuError> {
    let steps = (0..STAGED_STEPS)
        .map(|_| Ok(bodies.timed_stages()?.0))
        .collect::<Result<Vec<_>, GpuError>>()?;
    let Some(first) = steps.first() else {
        return Ok(Vec::new());
    };
    let median = |k: usize| {
        let times: Vec<f64> = steps.iter().map(|stages| stages[k].1).collect();
        percentile(&times, 0.5)
    };
    Ok((0..first.len()).map(|k| (first[k].0, median(k))).collect())
}
