//! Cost of contact: a body curls up until it has a given number of contacts, and steps are timed with and without contact.

use std::time::Instant;

use serde::Serialize;
use supple_flesh::settings::Resolution;
use supple_flesh::{Flesh, Settings};
use supple_rig::keyed::KeyedClip;
use supple_rig::{Character, Clip, Pose};
use supple_sim::{Backend, ContactMode, CpuBackend, State};

use super::tissue::{Subject, milliseconds, percentile, seconds};
use supple::tissue::TissueError;

/// Numbers of contacts to measure.
const COUNTS: [usize; 2] = [300, 1000];
/// Timed steps.
const STEPS: usize = 40;
/// Steps after which a pose counts as held: a second.
const REST: usize = 60;
/// A body that crouches and curls up: at time 1 as far as a person can, later farther.
const CURL: &str = "
[[key]]
time = 0.0
[[key]]
time = 2.0
upperLeg = [-200, 8, 6]
lowerLeg = [220, 0, 0]
spine = [40, 0, 0]
chest = [30, 0, 0]
upperArm = [60, -120, -60]
lowerArm = [0, -170, 0]
";

/// One model at one number of contacts, on all threads of the pool.
#[derive(Clone, Debug, Serialize)]
pub struct ContactRow {
    /// Its name.
    pub model: String,
    /// Local contact, or global contact in a pose that was just reached, that is held, or in motion.
    pub mode: &'static str,
    /// Simulated vertices.
    pub vertices: usize,
    /// Number of contacts.
    pub contacts: usize,
    /// Number of contacts that press.
    pub pressing: usize,
    /// PreparedTemplate: columns of the inverse \[ms\].
    pub preparation_ms: f64,
    /// Detection, mean without outliers \[ms\].
    pub detect_ms: f64,
    /// Assembly of rows, mean \[ms\].
    pub assemble_ms: f64,
    /// Solve for forces, mean \[ms\].
    pub solve_ms: f64,
    /// Step with contact, mean \[ms\].
    pub step_ms: f64,
    /// Step without contact, mean \[ms\].
    pub without_ms: f64,
    /// Ratio of both.
    pub ratio: f64,
}

/// A walk of one second: elbows and knees bend and stretch.
const WALK: &str = "
[[key]]
time = 0.0
lowerLeg = [100, 0, 0]
lowerArm = [0, -100, 0]
[[key]]
time = 0.5
lowerLeg = [30, 0, 0]
lowerArm = [0, -130, 0]
[[key]]
time = 1.0
lowerLeg = [100, 0, 0]
lowerArm = [0, -100, 0]
";
/// Amplitude of the motion along the clip while steps are timed \[s\].
const SWAY: f32 = 0.1;

fn keyed(keys: &str, character: &Character) -> Option<Clip> {
    KeyedClip::parse(keys).ok()?.on(character, 60.0).ok()
}

/// The clip on a humanoid; `None` for other characters.
pub(super) fn curl(character: &Character) -> Option<Clip> {
    keyed(CURL, character)
}

/// Measures a humanoid; no rows for other characters.
pub fn measure(subject: &Subject) -> Result<Vec<ContactRow>, TissueError> {
    let (curl, walk) = (curl(&subject.character), keyed(WALK, &subject.character));
    let (Some(curl), Some(walk)) = (curl, walk) else {
        return Ok(Vec::new());
    };
    let flesh = Flesh::builder(&subject.character)
        .settings(Settings::default())
        .build()?;
    flesh.find_local_pairs();
    let skeleton = &subject.character.skeleton;
    let pose = |time: f32| curl.sample(skeleton, time);
    let mut bench = Bench::new(&flesh, ContactMode::Global)?;
    let mut rows = Vec::new();
    let mut time = 0.0;
    for count in COUNTS {
        while bench.touching.1.contact.contacts.len() < count && time < 2.0 {
            time += 1.0 / 120.0;
            bench.step(&pose(time))?;
        }
        rows.push(bench.row(&subject.name, "stopped", &|_| pose(time))?);
        for _ in STEPS..REST {
            bench.step(&pose(time))?;
        }
        rows.push(bench.row(&subject.name, "held", &|_| pose(time))?);
        let sway = |step: usize| pose(swayed(time, step));
        rows.push(bench.row(&subject.name, "moving", &sway)?);
    }
    let mut bench = Bench::new(&flesh, ContactMode::Local)?;
    let walking = |step: usize| walk.sample(skeleton, (step as f32 / 60.0).rem_euclid(1.0));
    for step in 0..30 {
        bench.step(&walking(step))?;
    }
    rows.push(bench.row(&subject.name, "local", &|step| walking(30 + step))?);
    Ok(rows)
}

/// Growth of detection time with the size of the simulation mesh, on all threads of the pool.
#[derive(Clone, Debug, Serialize)]
pub struct GrowthRow {
    /// Its name.
    pub model: String,
    /// Global contact in a pose that is held, or in motion.
    pub mode: &'static str,
    /// Simulated vertices of the coarse and the fine mesh.
    pub vertices: [usize; 2],
    /// Number of contacts of each.
    pub contacts: [usize; 2],
    /// Detection, mean of each \[ms\].
    pub detect_ms: [f64; 2],
    /// Ratio of vertices.
    pub times_vertices: f64,
    /// Ratio of times.
    pub times_detect: f64,
}

/// Measures a humanoid with a fifth of its vertices and with all of them, in the pose in which the coarse one has 300 contacts; no rows
/// for other characters.
pub fn growth(subject: &Subject) -> Result<Vec<GrowthRow>, TissueError> {
    let Some(curl) = curl(&subject.character) else {
        return Ok(Vec::new());
    };
    let pose = |time: f32| curl.sample(&subject.character.skeleton, time);
    let build = |resolution| {
        let mut settings = Settings::default();
        settings.detail.resolution = resolution;
        Flesh::builder(&subject.character)
            .settings(settings)
            .build()
    };
    let fine = build(Resolution::Full)?;
    let coarse = build(Resolution::Vertices(fine.report.vertices / 5))?;
    let mut time = 0.0;
    let mut both = Vec::new();
    for flesh in [&coarse, &fine] {
        let mut bench = Bench::new(flesh, ContactMode::Global)?;
        let mut now = 0.0;
        let is_reached = |bench: &Bench, now: f32| match time > 0.0 {
            true => now >= time,
            false => bench.touching.1.contact.contacts.len() >= COUNTS[0] || now >= 2.0,
        };
        while !is_reached(&bench, now) {
            now += 1.0 / 120.0;
            bench.step(&pose(now))?;
        }
        time = now;
        for _ in 0..REST {
            bench.step(&pose(time))?;
        }
        both.push([
            bench.row(&subject.name, "held", &|_| pose(time))?,
            bench.row(&subject.name, "moving", &|step| pose(swayed(time, step)))?,
        ]);
    }
    let [coarse, fine] = [&both[0], &both[1]];
    let rows = coarse.iter().zip(fine).map(|(a, b)| GrowthRow {
        model: a.model.clone(),
        mode: a.mode,
        vertices: [a.vertices, b.vertices],
        contacts: [a.contacts, b.contacts],
        detect_ms: [a.detect_ms, b.detect_ms],
        times_vertices: b.vertices as f64 / a.vertices as f64,
        times_detect: b.detect_ms / a.detect_ms,
    });
    Ok(rows.collect())
}

/// Mean without the shortest and the longest tenth. Steps differ, since a body at rest is not searched in every step, and other programs
/// use the CPU too.
fn mean(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let cut = times.len() / 10;
    let middle = &times[cut..times.len() - cut];
    middle.iter().sum::<f64>() / middle.len().max(1) as f64
}

/// Times that move away from a time of the clip and back, at the speed of the clip.
fn swayed(time: f32, step: usize) -> f32 {
    let phase = (step as f32 / 60.0 / SWAY).rem_euclid(2.0);
    time - SWAY * phase.min(2.0 - phase)
}

struct Bench<'a> {
    flesh: &'a Flesh,
    settings: supple_sim::Settings,
    touching: (CpuBackend, State),
    alone: (CpuBackend, State),
    preparation_ms: f64,
}

impl<'a> Bench<'a> {
    fn new(flesh: &'a Flesh, mode: ContactMode) -> Result<Self, TissueError> {
        let mut settings = flesh.settings.solver_settings();
        let side = || (CpuBackend::new(), State::at_rest(&flesh.model));
        let (mut touching, mut alone) = (side(), side());
        for (backend, _) in [&mut touching, &mut alone] {
            backend.set_clock(Some(seconds));
        }
        alone.0.prepare(&flesh.model, &settings)?;
        touching.0.prepare(&flesh.model, &settings)?;
        settings.contact.mode = mode;
        let start = Instant::now();
        touching.0.prepare(&flesh.model, &settings)?;
        Ok(Self {
            flesh,
            settings,
            touching,
            alone,
            preparation_ms: milliseconds(start),
        })
    }

    /// Steps both bodies; returns their times \[ms\].
    fn step(&mut self, pose: &Pose) -> Result<[f64; 2], TissueError> {
        let targets = self.flesh.targets(pose)?;
        let model = &self.flesh.model;
        let start = Instant::now();
        let (backend, state) = &mut self.touching;
        backend.step(model, &self.settings, &targets, state)?;
        let with = milliseconds(start);
        let off = supple_sim::Settings {
            contact: Default::default(),
            ..self.settings.clone()
        };
        let (backend, state) = &mut self.alone;
        let start = Instant::now();
        backend.step(model, &off, &targets, state)?;
        Ok([with, milliseconds(start)])
    }

    fn row(
        &mut self,
        name: &str,
        mode: &'static str,
        pose: &dyn Fn(usize) -> Pose,
    ) -> Result<ContactRow, TissueError> {
        let (mut with, mut without, mut stages) = (Vec::new(), Vec::new(), Vec::new());
        let (mut contacts, mut pressing) = (Vec::new(), Vec::new());
        for step in 0..STEPS {
            let [a, b] = self.step(&pose(step))?;
            let now = &self.touching.1.contact.contacts;
            contacts.push(now.len() as f64);
            pressing.push(now.iter().filter(|c| c.force != glam::Vec3::ZERO).count() as f64);
            with.push(a);
            without.push(b);
            stages.push(self.touching.0.timings());
        }
        let stage = |of: fn(&supple_sim::cpu::Timings) -> f64| {
            mean(&stages.iter().map(of).collect::<Vec<_>>()) * 1e3
        };
        let (step_ms, without_ms) = (mean(&with), mean(&without));
        Ok(ContactRow {
            model: name.to_owned(),
            mode,
            vertices: self.flesh.report.vertices,
            contacts: percentile(&contacts, 0.5) as usize,
            pressing: percentile(&pressing, 0.5) as usize,
            preparation_ms: self.preparation_ms,
            detect_ms: stage(|t| t.detect),
            assemble_ms: stage(|t| t.assemble),
            solve_ms: stage(|t| t.contact),
            step_ms,
            without_ms,
            ratio: step_ms / without_ms,
        })
    }
}
