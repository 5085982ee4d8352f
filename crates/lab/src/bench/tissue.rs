//! Building and stepping tissue, compared to a textbook step in the same process.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use supple_flesh::settings::Resolution;
use supple_flesh::{Flesh, Settings};
use supple_rig::formats::{self, ReadOptions};
use supple_rig::{Character, Clip};
use supple_sim::{Backend, CpuBackend, Reference, State, Targets};

use supple::embedded::{self, Body};
use supple::tissue::TissueError;
use supple_rig::subdivision::subdivided;

/// Timed steps per row.
const STEPS: usize = 60;
/// Steps per turn before the next row follows; fewer for the textbook step, which is slow and varies little.
const STEPS_PER_TURN: usize = 10;
const TEXTBOOK_STEPS_PER_TURN: usize = 2;

/// One model.
#[derive(Clone, Debug, Serialize)]
pub struct TissueRow {
    /// Its name.
    pub model: String,
    /// Whether the tissue has volume constraints. The papers' has none, and only that is compared to the textbook step.
    pub keeps_volume: bool,
    /// Simulated vertices.
    pub vertices: usize,
    /// Tets.
    pub tets: usize,
    /// Construction of the model \[ms\].
    pub construction_ms: f64,
    /// Factorisation and reordering for the fast step \[ms\].
    pub preparation_ms: f64,
    /// The textbook step: double precision, one tet at a time, Higham polar decomposition with SVD fallback, sparse Cholesky, one
    /// right-hand side at a time \[ms\].
    pub textbook_ms: Option<f64>,
    /// The fast step, by number of threads.
    pub steps: Vec<StepRow>,
    /// Memory of model, state and solver, by growth of the process \[MB\]; `None` if the system does not report it.
    pub memory_mb: Option<f64>,
    /// Time to read the factor from memory, as a share of the triangular solves.
    pub solve_floor_share: f64,
}

/// The fast step with some number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct StepRow {
    /// Threads.
    pub threads: usize,
    /// Projections, summed over threads, median \[ms\].
    pub local_ms: f64,
    /// Triangular solves, summed over threads, median \[ms\].
    pub global_ms: f64,
    /// Wall time of a step, median \[ms\].
    pub total_ms: f64,
    /// 95th percentile \[ms\].
    pub p95_ms: f64,
    /// Ratio of the textbook median to this median.
    pub ratio: Option<f64>,
}

/// A character to measure, with a motion.
pub struct Subject {
    /// Name in the table.
    pub name: String,
    /// The character.
    pub character: Character,
    /// Its motion.
    pub clip: Clip,
    /// Settings of its tissue.
    pub settings: Settings,
}

/// The embedded bodies and, if the folder has them, the models `cylinder`, `tbone` and `male`, with a male of four times the
/// vertices.
pub fn subjects(fps_models: Option<&Path>) -> Result<Vec<Subject>, Box<dyn std::error::Error>> {
    let mut subjects = Vec::new();
    for (name, mesh) in [
        ("cylinder", "cylinder"),
        ("tbone", "tbone"),
        ("male", "male_LR20"),
    ] {
        let Some(folder) = fps_models
            .map(|folder| folder.join(name))
            .filter(|folder| folder.is_dir())
        else {
            continue;
        };
        let skeleton = folder.join(format!("{name}.skel"));
        let motion = folder.join(format!("{name}0.anim"));
        let mesh = folder.join(format!("{mesh}.off"));
        let character =
            formats::load_character(&mesh, Some(&skeleton), &[&motion], &ReadOptions::default())?;
        let clip = character.clips.first().cloned().unwrap_or_default();
        subjects.push(Subject {
            name: name.to_owned(),
            character,
            clip,
            settings: full_resolution(),
        });
    }
    if let Some(male) = subjects.iter().find(|subject| subject.name == "male") {
        subjects.push(finer(male));
    }
    for (name, which) in [
        ("embedded male", Body::Male),
        ("embedded female", Body::Female),
    ] {
        let character = embedded::body(which)?;
        let clip = embedded::clip("squat", &character)?;
        subjects.push(Subject {
            name: name.to_owned(),
            character,
            clip,
            settings: Settings::default(),
        });
    }
    Ok(subjects)
}

/// All vertices are simulated, as in the papers.
fn full_resolution() -> Settings {
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Full;
    settings
}

/// The same with four times the triangles.
fn finer(subject: &Subject) -> Subject {
    Subject {
        name: format!("{} x4", subject.name),
        character: subdivided(&subject.character),
        clip: subject.clip.clone(),
        settings: subject.settings.clone(),
    }
}

/// Builds and steps one subject with strain only, as in the papers, and with strain and volume.
pub fn measure(
    subject: &Subject,
    threads: &[usize],
    baseline: bool,
) -> Result<[TissueRow; 2], TissueError> {
    let mut strain = subject.settings.clone();
    strain.tissue.volume_stiffness = 0.0;
    Ok([
        measure_with(subject, strain, threads, baseline)?,
        measure_with(subject, subject.settings.clone(), threads, false)?,
    ])
}

fn measure_with(
    subject: &Subject,
    settings: Settings,
    threads: &[usize],
    baseline: bool,
) -> Result<TissueRow, TissueError> {
    let before = resident_mb();
    let start = Instant::now();
    let flesh = Flesh::builder(&subject.character)
        .settings(settings)
        .build()?;
    let construction_ms = milliseconds(start);
    let settings = flesh.settings.solver_settings();
    let targets = (0..STEPS)
        .map(|step| {
            let time = step as f32 / 60.0 % subject.clip.duration().max(0.1);
            flesh.targets(&subject.clip.sample(&subject.character.skeleton, time))
        })
        .collect::<Result<Vec<Targets>, _>>()?;
    let mut runs = threads
        .iter()
        .map(|&count| Run::new(&flesh, count))
        .collect::<Vec<_>>();
    let start = Instant::now();
    runs[0].backend.prepare(&flesh.model, &settings)?;
    let preparation_ms = milliseconds(start);
    let memory_mb = before
        .zip(resident_mb())
        .map(|(before, after)| (after - before).max(0.0));
    let mut textbook = (Reference::new(), State::at_rest(&flesh.model), Vec::new());
    // Rows take turns, so that disturbances affect all of them. A turn has several steps, so that each finds its data in the
    // caches as in a motion.
    for turn in targets.chunks(STEPS_PER_TURN) {
        if baseline {
            for targets in &turn[..TEXTBOOK_STEPS_PER_TURN] {
                let start = Instant::now();
                textbook
                    .0
                    .step(&flesh.model, &settings, targets, &mut textbook.1)?;
                textbook.2.push(milliseconds(start));
            }
        }
        for run in &mut runs {
            for targets in turn {
                run.step(&flesh, &settings, targets)?;
            }
        }
    }
    // The first step of each row prepares the solver and fills caches.
    let textbook_ms = baseline.then(|| percentile(&textbook.2[1..], 0.5));
    let solve = runs[0].row(None).global_ms / f64::from(settings.iterations);
    let floor = runs[0].backend.factor_bytes_per_solve() as f64 / bandwidth() * 1e3;
    Ok(TissueRow {
        model: subject.name.clone(),
        keeps_volume: flesh.settings.tissue.volume_stiffness > 0.0,
        vertices: flesh.report.vertices,
        tets: flesh.report.tets,
        construction_ms,
        preparation_ms,
        textbook_ms,
        steps: runs.iter().map(|run| run.row(textbook_ms)).collect(),
        memory_mb,
        solve_floor_share: floor / solve,
    })
}

/// The fast step on its own thread pool.
struct Run {
    threads: usize,
    pool: Option<rayon::ThreadPool>,
    backend: CpuBackend,
    state: State,
    total: Vec<f64>,
    local: Vec<f64>,
    global: Vec<f64>,
}

impl Run {
    fn new(flesh: &Flesh, threads: usize) -> Self {
        let mut backend = CpuBackend::new();
        backend.set_clock(Some(seconds));
        Self {
            threads,
            pool: rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .ok(),
            backend,
            state: State::at_rest(&flesh.model),
            total: Vec::new(),
            local: Vec::new(),
            global: Vec::new(),
        }
    }

    fn step(
        &mut self,
        flesh: &Flesh,
        settings: &supple_sim::Settings,
        targets: &Targets,
    ) -> Result<(), TissueError> {
        let (backend, state) = (&mut self.backend, &mut self.state);
        let mut work = || {
            let start = Instant::now();
            backend
                .step(&flesh.model, settings, targets, state)
                .map(|_| milliseconds(start))
        };
        let total = match &self.pool {
            Some(pool) => pool.install(work)?,
            None => work()?,
        };
        self.total.push(total);
        self.local.push(self.backend.timings().local * 1e3);
        self.global.push(self.backend.timings().global * 1e3);
        Ok(())
    }

    fn row(&self, textbook_ms: Option<f64>) -> StepRow {
        let total_ms = percentile(&self.total[1..], 0.5);
        StepRow {
            threads: self.threads,
            local_ms: percentile(&self.local[1..], 0.5),
            global_ms: percentile(&self.global[1..], 0.5),
            total_ms,
            p95_ms: percentile(&self.total[1..], 0.95),
            ratio: textbook_ms.map(|textbook| textbook / total_ms),
        }
    }
}

pub(super) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((share * last as f64).round() as usize)
        .copied()
        .unwrap_or(f64::NAN)
}

pub(super) fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

pub(super) fn seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Bytes per second that one core reads from a buffer of the factor's size; best of several passes.
pub(super) fn bandwidth() -> f64 {
    let buffer = vec![1.0_f32; 1 << 20];
    let pass = |_| {
        let start = Instant::now();
        let mut sums = [0.0_f32; 16];
        for chunk in std::hint::black_box(&buffer).chunks_exact(16) {
            sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x);
        }
        std::hint::black_box(sums);
        (buffer.len() * 4) as f64 / start.elapsed().as_secs_f64()
    };
    (0..20).map(pass).fold(0.0, f64::max)
}

/// Memory of this process, if the system reports it \[MB\].
fn resident_mb() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096.0 / 1e6)
}
