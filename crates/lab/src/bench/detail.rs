//! Upsampling by moving least squares and by normal displacements: building, loading and applying.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use glam::Vec3;
use serde::Serialize;
use supple_flesh::settings::Resolution;
use supple_flesh::upsampling::detail::{DetailWork, Upsampler};
use supple_flesh::upsampling::normal_displacement::NormalDisplacement;
use supple_flesh::{CacheUse, DetailCache, Flesh, Settings};
use supple_rig::formats::{self, ReadOptions};
use supple_sim::{Backend, CpuBackend, State};

use super::tissue::{Subject, bandwidth, milliseconds, percentile};
use supple::embedded::{self, Body};
use supple::tissue::TissueError;
use supple_rig::subdivision::subdivided;

/// Frames timed for each row.
const FRAMES: usize = 60;

/// One character.
#[derive(Clone, Debug, Serialize)]
pub struct DetailRow {
    /// Its name.
    pub model: String,
    /// Vertices of the full skin.
    pub shown: usize,
    /// Simulated vertices.
    pub simulated: usize,
    /// Building geodesic neighbours and weights \[ms\].
    pub weights_ms: f64,
    /// Loading both and the simulation mesh from a cache, with checks \[ms\].
    pub cached_ms: f64,
    /// By number of threads.
    pub frames: Vec<FrameRow>,
    /// Bytes that a frame of least squares reads and writes \[MB\].
    pub megabytes: f64,
    /// Time in which one core moves those bytes, as a share of a frame's time on one thread.
    pub floor_share: f64,
}

/// A frame with some number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct FrameRow {
    /// Threads.
    pub threads: usize,
    /// A simulation step, median \[ms\].
    pub step_ms: f64,
    /// Positions and normals by moving least squares, median \[µs\].
    pub least_squares_us: f64,
    /// The same by normal displacements, median \[µs\].
    pub normals_us: f64,
    /// Time of moving least squares relative to the step.
    pub step_share: f64,
    /// Time of normal displacements relative to moving least squares.
    pub ratio: f64,
}

/// The full male of the papers' models, if the folder has it, with as many simulated vertices as theirs.
pub fn full_male(fps_models: &Path) -> Result<Option<Subject>, formats::FormatError> {
    let folder = fps_models.join("male");
    if !folder.is_dir() {
        return Ok(None);
    }
    let [mesh, skeleton, motion] =
        ["male.off", "male.skel", "male0.anim"].map(|name| folder.join(name));
    let options = ReadOptions::default();
    let character = formats::load_character(&mesh, Some(&skeleton), &[&motion], &options)?;
    let clip = character.clips.first().cloned().unwrap_or_default();
    // As many vertices as the papers' own simulation mesh of it.
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Vertices(4651);
    Ok(Some(Subject {
        name: "male, full".to_owned(),
        character,
        clip,
        settings,
    }))
}

/// Name of [`large`].
pub const LARGE: &str = "embedded male x16";

/// The embedded male with every triangle split into sixteen: 219 thousand vertices.
pub fn large() -> Result<Subject, Box<dyn std::error::Error>> {
    let body = embedded::body(Body::Male)?;
    Ok(Subject {
        name: LARGE.to_owned(),
        clip: embedded::clip("squat", &body)?,
        character: subdivided(&subdivided(&body)),
        settings: Settings::default(),
    })
}

/// Builds and applies the upsampling of one subject.
pub fn measure(subject: &Subject, threads: &[usize]) -> Result<Option<DetailRow>, TissueError> {
    let settings = &subject.settings;
    let memory = Memory::default();
    let build = || {
        let builder = Flesh::builder(&subject.character).settings(settings.clone());
        builder.cache(&memory).build()
    };
    let flesh = build()?;
    let Some(detail) = flesh.detail() else {
        return Ok(None);
    };
    let (skin, coarse) = (&detail.mesh, flesh.skin_mesh());
    let start = Instant::now();
    let upsampler = Upsampler::new(skin, &detail.kept, coarse, settings.detail.upsample);
    let weights_ms = milliseconds(start);
    let Upsampler::LeastSquares(upsampling) = &upsampler else {
        return Ok(None);
    };
    let start = Instant::now();
    let cached_ms = match (flesh.reload_detail(&memory), start.elapsed()) {
        (CacheUse::Used, time) => time.as_secs_f64() * 1e3,
        _ => f64::NAN,
    };
    let normals = Upsampler::Normals(NormalDisplacement::new(skin, coarse));
    let frames = threads
        .iter()
        .map(|&threads| time_frames(subject, &flesh, [&upsampler, &normals], threads))
        .collect::<Result<Vec<_>, _>>()?;
    let bytes = upsampling.bytes_per_frame() as f64;
    let one = frames.iter().find(|row| row.threads == 1);
    Ok(Some(DetailRow {
        model: subject.name.clone(),
        shown: skin.positions.len(),
        simulated: coarse.positions.len(),
        weights_ms,
        cached_ms,
        megabytes: bytes / 1e6,
        floor_share: one.map_or(f64::NAN, |row| {
            bytes / bandwidth() * 1e6 / row.least_squares_us
        }),
        frames,
    }))
}

fn time_frames(
    subject: &Subject,
    flesh: &Flesh,
    upsamplers: [&Upsampler; 2],
    threads: usize,
) -> Result<FrameRow, TissueError> {
    let settings = flesh.settings.solver_settings();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let count = flesh.full_mesh().positions.len();
    let (mut positions, mut normals) = (vec![Vec3::ZERO; count], vec![Vec3::ZERO; count]);
    let mut work = DetailWork::default();
    let mut backend = CpuBackend::new();
    let mut state = State::at_rest(&flesh.model);
    let mut times = [const { Vec::new() }; 3];
    let mut frame = |step: usize| -> Result<(), TissueError> {
        let time = step as f32 / 60.0 % subject.clip.duration().max(0.1);
        let pose = subject.clip.sample(&subject.character.skeleton, time);
        let targets = flesh.targets(&pose)?;
        let start = Instant::now();
        backend.step(&flesh.model, &settings, &targets, &mut state)?;
        times[0].push(milliseconds(start));
        let simulated = flesh.flesh_positions(&pose, &state)?;
        for (upsampler, times) in upsamplers.iter().zip(&mut times[1..]) {
            let start = Instant::now();
            upsampler.apply(&simulated, &mut work, &mut positions, &mut normals);
            times.push(milliseconds(start));
        }
        Ok(())
    };
    for step in 0..FRAMES {
        match &pool {
            Ok(pool) => pool.install(|| frame(step))?,
            Err(_) => frame(step)?,
        }
    }
    let [step_ms, least_squares, normals] = times.map(|times| percentile(&times[1..], 0.5));
    Ok(FrameRow {
        threads,
        step_ms,
        least_squares_us: 1e3 * least_squares,
        normals_us: 1e3 * normals,
        step_share: least_squares / step_ms,
        ratio: normals / least_squares,
    })
}

/// A cache in memory.
#[derive(Default)]
struct Memory(RefCell<Option<Vec<u8>>>);

impl DetailCache for Memory {
    fn load(&self) -> Option<Vec<u8>> {
        self.0.borrow().clone()
    }

    fn store(&self, bytes: &[u8]) {
        self.0.replace(Some(bytes.to_vec()));
    }
}
