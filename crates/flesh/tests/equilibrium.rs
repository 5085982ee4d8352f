//! Static equilibrium of whole characters: the tolerance is met in poses of every embedded clip and of the papers' release, and the
//! reported distance is right.

mod common;

use std::path::{Path, PathBuf};
use std::time::Instant;

use supple_flesh::Flesh;
use supple_rig::keyed::KeyedClip;
use supple_rig::{Character, Pose};
use supple_sim::{Backend, CpuBackend, Equilibrium, EquilibriumReport, Mode, Reference, State};

/// Times of the poses, as shares of the clip's duration.
const MOMENTS: [f32; 3] = [0.25, 0.5, 0.8];

/// Clips and times that are also solved in double precision.
const DOUBLE: [(&str, f32); 2] = [("elbow", 0.5), ("squat", 0.5)];

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../supple/assets")
}

/// A character carried to a pose by its bones, and the backend that solves for equilibrium.
struct Trial<'a> {
    flesh: &'a Flesh,
    pose: Pose,
    cpu: &'a mut CpuBackend,
}

impl Trial<'_> {
    fn start(&self) -> State {
        let flesh = self.flesh;
        let mut state = State::at_rest(&flesh.model);
        let rest = flesh.rest_pose();
        state.carry(&flesh.carry_frames(&rest, &self.pose).unwrap());
        state.rebase(&flesh.targets(&self.pose).unwrap());
        state
    }

    fn settle(&mut self, search: Equilibrium, state: &mut State) -> EquilibriumReport {
        settle(self.flesh, &self.pose, self.cpu, search, state)
    }

    /// Farthest a vertex still is from where a solve to a thousandth of the tolerance ends \[m\].
    fn left(&mut self, state: &State) -> f64 {
        let mut longer = state.clone();
        let search = Equilibrium::default().tolerance(1e-8).iterations(3_000);
        self.settle(search, &mut longer);
        farthest(state, &longer)
    }

    /// What thirty static steps of ten iterations leave, for comparison \[m\], and their time \[ms\].
    fn thirty_steps(&mut self, end: &State) -> (f64, f64) {
        let settings = supple_sim::Settings {
            mode: Mode::Static,
            ..self.flesh.settings.solver_settings()
        };
        let (mut state, model) = (self.start(), &self.flesh.model);
        let targets = self.flesh.targets(&self.pose).unwrap();
        let clock = Instant::now();
        for _ in 0..30 {
            self.cpu
                .step(model, &settings, &targets, &mut state)
                .unwrap();
        }
        (
            farthest(&state, end),
            clock.elapsed().as_secs_f64() * 1_000.0,
        )
    }
}

fn settle(
    flesh: &Flesh,
    pose: &Pose,
    backend: &mut dyn Backend,
    search: Equilibrium,
    state: &mut State,
) -> EquilibriumReport {
    let settings = flesh.settings.solver_settings();
    let targets = flesh.targets(pose).unwrap();
    search
        .solve(backend, &flesh.model, &settings, &targets, state)
        .unwrap()
}

fn farthest(a: &State, b: &State) -> f64 {
    let pairs = a.positions.iter().zip(&b.positions);
    pairs
        .map(|(a, b)| f64::from(a.distance(*b)))
        .fold(0.0, f64::max)
}

/// The tolerance that [`Equilibrium::default`] asks for \[m\].
fn tolerance(flesh: &Flesh) -> f64 {
    let rest = flesh.model.rest();
    let low = rest.iter().copied().reduce(|a, b| a.min(b)).unwrap();
    let high = rest.iter().copied().reduce(|a, b| a.max(b)).unwrap();
    Equilibrium::default().tolerance * f64::from((high - low).max_element())
}

/// Prints a row of the table and returns the state; complaints go to `failed`.
fn check(
    what: &str,
    flesh: &Flesh,
    pose: Pose,
    cpu: &mut CpuBackend,
    failed: &mut Vec<String>,
) -> State {
    let mut trial = Trial { flesh, pose, cpu };
    let mut state = trial.start();
    let clock = Instant::now();
    let report = trial.settle(Equilibrium::default(), &mut state);
    let time = clock.elapsed().as_secs_f64() * 1_000.0;
    let off = trial.left(&state);
    let (before, thirty) = trial.thirty_steps(&state);
    println!(
        "{what:28} {:5} {time:7.0} {:9.1e} {off:9.1e} {thirty:7.0} {before:9.1e}",
        report.iterations, report.left
    );
    if !report.is_met || off > tolerance(flesh) {
        failed.push(format!("{what}: {off} m, {report:?}"));
    }
    state
}

/// Double precision all along: a thousand plain iterations from where [`Equilibrium`] ends move no vertex farther than its tolerance.
fn check_double(what: &str, flesh: &Flesh, pose: &Pose, single: &State) {
    let mut reference = Reference::new();
    let mut state = single.clone();
    let report = settle(
        flesh,
        pose,
        &mut reference,
        Equilibrium::default(),
        &mut state,
    );
    let apart = farthest(&state, single);
    let mut longer = state.clone();
    let settings = supple_sim::Settings {
        mode: Mode::Static,
        iterations: 1_000,
        ..flesh.settings.solver_settings()
    };
    let targets = flesh.targets(pose).unwrap();
    reference
        .step(&flesh.model, &settings, &targets, &mut longer)
        .unwrap();
    let off = farthest(&state, &longer);
    println!(
        "{what:28} {:5} in double precision, true {off:.1e} m, {apart:.1e} m from single",
        report.iterations
    );
    assert!(
        report.is_met && off <= tolerance(flesh),
        "{what}: {off} m, {report:?}"
    );
}

fn head() {
    println!(
        "{:28} {:>5} {:>7} {:>9} {:>9} {:>7} {:>9}",
        "pose", "iter.", "ms", "left m", "true m", "30×10", "true m"
    );
}

fn embedded(file: &str) {
    let character: Character = common::glb(&assets().join(file));
    let flesh = Flesh::builder(&character).build().unwrap();
    let mut cpu = CpuBackend::new();
    let mut failed = Vec::new();
    head();
    let mut clips: Vec<PathBuf> = std::fs::read_dir(assets().join("clips"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    clips.sort();
    assert!(clips.len() >= 8);
    for path in clips {
        let text = std::fs::read_to_string(&path).unwrap();
        let clip = KeyedClip::parse(&text).unwrap();
        let clip = clip.on(&character, 60.0).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy();
        for moment in MOMENTS {
            let pose = clip.sample(&character.skeleton, moment * clip.duration());
            let what = format!("{} {name} {moment}", character.name);
            let state = check(&what, &flesh, pose.clone(), &mut cpu, &mut failed);
            // Double precision is slow: few poses.
            if DOUBLE.contains(&(&*name, moment)) {
                check_double(&what, &flesh, &pose, &state);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn male() {
    embedded("male.glb");
}

#[test]
fn female() {
    embedded("female.glb");
}

#[test]
fn poses_of_the_papers_release() {
    let Some(path) = common::shared("fps/reference/index.json") else {
        return;
    };
    let index: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut failed = Vec::new();
    head();
    for (model, mesh) in [
        ("cylinder", "cylinder"),
        ("tbone", "tbone"),
        ("male", "male_LR20"),
    ] {
        let Some(character) = common::fps(model, mesh) else {
            return;
        };
        let flesh = Flesh::builder(&character).build().unwrap();
        let mut cpu = CpuBackend::new();
        for (name, entry) in index.as_object().unwrap() {
            if name.starts_with(&format!("{model}_static")) && !name.ends_with("_col") {
                let pose = common::reference_pose(&character.skeleton, entry);
                check(name, &flesh, pose, &mut cpu, &mut failed);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
