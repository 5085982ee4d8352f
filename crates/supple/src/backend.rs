//! Choice of the backend that steps the tissue: the CPU or a GPU.
//!
//! [`Choice::Auto`] decides by the devices there are and the size of the model. It measures no times, so that the same model on the
//! same machine always gets the same backend.

use supple_sim::{Backend, CpuBackend, Model, Settings, SolveError, State, StepReport, Targets};

/// Free vertices from which [`Choice::Auto`] takes a GPU.
///
/// Bodies built with automatic settings have about 6,000, so they give the same bits on every machine. At 10,000 the CPU takes about
/// 4 ms a step. An H200 takes 0.4 ms including transfers, of which 0.3 ms do not depend on the size; a card with a tenth of its
/// bandwidth is still faster than the CPU. At half this size a small card is slower than the CPU.
pub const GPU_FROM: usize = 10_000;

/// The requested backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// A GPU if there is one and the model has at least [`GPU_FROM`] free vertices, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU, or a software driver; the CPU if there is neither.
    Gpu,
}

/// A backend, and why it was chosen.
pub struct Opened {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// Which one and why, in one line.
    pub reason: String,
}

/// Called with a one-line message when another backend takes over.
pub type Notice = Box<dyn Fn(&str) + Send>;

/// Opens the backend for a model. If the GPU has too little memory, is lost, or does not support something, the CPU takes over
/// and `notice` is called with the reason.
pub fn open(choice: Choice, model: &Model, notice: Notice) -> Opened {
    let size = model.free_count();
    let on_cpu = |reason: String| Opened {
        backend: Box::new(CpuBackend::new()),
        reason: format!("stepping on the CPU{reason}"),
    };
    if choice == Choice::Cpu {
        return on_cpu(String::new());
    }
    if choice == Choice::Auto && size < GPU_FROM {
        return on_cpu(format!(
            ": the model has {size} free vertices, fewer than the {GPU_FROM} from which a GPU is used"
        ));
    }
    // A software driver is slower than the CPU backend, so `Auto` does not use one.
    match open_gpu(choice == Choice::Gpu) {
        Ok((backend, name)) => Opened {
            backend: Box::new(Fallback::new(backend, notice)),
            reason: format!("stepping on the GPU: {name}"),
        },
        Err(reason) => on_cpu(format!(": {reason}")),
    }
}

/// The GPU backend and the name of its device, or why there is none.
#[cfg(feature = "gpu")]
fn open_gpu(software: bool) -> Result<(Box<dyn Backend>, String), String> {
    let options = supple_gpu::Options {
        software,
        ..Default::default()
    };
    match supple_gpu::Gpu::open(options) {
        Ok(gpu) => {
            let name = gpu.name().to_owned();
            Ok((Box::new(supple_gpu::GpuBackend::new(gpu)), name))
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(not(feature = "gpu"))]
fn open_gpu(_: bool) -> Result<(Box<dyn Backend>, String), String> {
    Err("built without the feature `gpu`".to_owned())
}

/// A backend with the CPU as its fallback.
pub struct Fallback {
    first: Box<dyn Backend>,
    cpu: CpuBackend,
    /// Whether the first backend is still in use.
    in_use: bool,
    notice: Notice,
}

impl Fallback {
    /// Uses `first` until it fails.
    pub fn new(first: Box<dyn Backend>, notice: Notice) -> Fallback {
        Fallback {
            first,
            cpu: CpuBackend::new(),
            in_use: true,
            notice,
        }
    }

    /// Whether the first backend is in use and supports this model.
    fn uses_first(&mut self, model: &Model, settings: &Settings) -> bool {
        if self.in_use && !self.first.supports(model, settings) {
            self.give_up("the GPU backend does not support this model");
        }
        self.in_use
    }

    fn give_up(&mut self, reason: &str) {
        self.in_use = false;
        (self.notice)(&format!("{reason}; continuing on the CPU"));
    }
}

impl Backend for Fallback {
    fn name(&self) -> &'static str {
        if self.in_use {
            self.first.name()
        } else {
            self.cpu.name()
        }
    }

    fn supports(&self, model: &Model, settings: &Settings) -> bool {
        self.cpu.supports(model, settings)
    }

    fn prepare(&mut self, model: &Model, settings: &Settings) -> Result<(), SolveError> {
        if self.uses_first(model, settings) {
            match self.first.prepare(model, settings) {
                Err(SolveError::Device { reason, .. }) => self.give_up(&reason),
                done => return done,
            }
        }
        self.cpu.prepare(model, settings)
    }

    fn step(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &mut State,
    ) -> Result<StepReport, SolveError> {
        if self.uses_first(model, settings) {
            match self.first.step(model, settings, targets, state) {
                Ok(report) => return Ok(report),
                Err(SolveError::Device { reason, .. }) => self.give_up(&reason),
                Err(SolveError::Unsupported { what, .. }) => {
                    self.give_up(&format!("the GPU backend does not support {what}"));
                }
                Err(error) => return Err(error),
            }
        }
        self.cpu.step(model, settings, targets, state)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use supple_sim::{ModelBuilder, shapes};

    use super::*;

    /// Fails after some steps.
    struct Failing {
        steps: usize,
        error: SolveError,
    }

    impl Backend for Failing {
        fn name(&self) -> &'static str {
            "failing"
        }

        fn supports(&self, _: &Model, _: &Settings) -> bool {
            true
        }

        fn prepare(&mut self, _: &Model, _: &Settings) -> Result<(), SolveError> {
            Ok(())
        }

        fn step(
            &mut self,
            model: &Model,
            settings: &Settings,
            targets: &Targets,
            state: &mut State,
        ) -> Result<StepReport, SolveError> {
            if self.steps == 0 {
                return Err(self.error.clone());
            }
            self.steps -= 1;
            CpuBackend::new().step(model, settings, targets, state)
        }
    }

    fn listener() -> (Notice, Receiver<String>) {
        let (send, heard) = channel();
        let notice = move |line: &str| {
            let _ = send.send(line.to_owned());
        };
        (Box::new(notice), heard)
    }

    fn bar() -> Model {
        let bar = shapes::bar([4, 1, 1], 0.1);
        let mut builder = ModelBuilder::new();
        for &p in &bar.positions {
            builder.vertex(p, p.x == 0.0);
        }
        for &tet in &bar.tets {
            builder.tet(tet, 2_000.0);
        }
        builder.distribute_mass(0.004);
        builder.build().expect("bar")
    }

    #[test]
    fn a_lost_device_is_replaced_and_said_once() {
        let (notice, heard) = listener();
        let lost = Failing {
            steps: 2,
            error: SolveError::Device {
                backend: "failing",
                reason: "the device was lost".to_owned(),
            },
        };
        let mut backend = Fallback::new(Box::new(lost), notice);
        let model = bar();
        let mut state = State::at_rest(&model);
        let settings = Settings::default();
        for step in 0..5 {
            assert_eq!(backend.name(), if step < 3 { "failing" } else { "cpu" });
            backend
                .step(&model, &settings, &model.rest_targets(), &mut state)
                .expect("the CPU takes over");
        }
        let lines: Vec<String> = heard.try_iter().collect();
        assert_eq!(lines, ["the device was lost; continuing on the CPU"]);
    }

    #[test]
    fn what_a_device_cannot_do_is_done_by_the_processor() {
        let (notice, heard) = listener();
        let alone = Failing {
            steps: 0,
            error: SolveError::Unsupported {
                backend: "failing",
                what: "external contacts",
            },
        };
        let mut backend = Fallback::new(Box::new(alone), notice);
        let model = bar();
        let mut state = State::at_rest(&model);
        for _ in 0..3 {
            backend
                .step(
                    &model,
                    &Settings::default(),
                    &model.rest_targets(),
                    &mut state,
                )
                .expect("the CPU takes over");
        }
        let lines: Vec<String> = heard.try_iter().collect();
        let line = "the GPU backend does not support external contacts; continuing on the CPU";
        assert_eq!(lines, [line]);
    }

    #[test]
    fn whatever_is_chosen_steps_and_says_why() {
        let model = bar();
        for choice in [Choice::Auto, Choice::Cpu, Choice::Gpu] {
            let mut opened = open(choice, &model, Box::new(|_| ()));
            let mut state = State::at_rest(&model);
            let (settings, targets) = (Settings::default(), model.rest_targets());
            (opened.backend)
                .step(&model, &settings, &targets, &mut state)
                .expect("some backend");
            assert!(opened.reason.starts_with("stepping on the "));
        }
    }

    /// A small model is stepped by the CPU on every machine.
    #[test]
    fn the_size_decides() {
        let model = bar();
        assert!(model.free_count() < GPU_FROM);
        for _ in 0..3 {
            let opened = open(Choice::Auto, &model, Box::new(|_| ()));
            assert_eq!(opened.backend.name(), "cpu");
            let size = model.free_count().to_string();
            assert!(opened.reason.contains(&size), "{}", opened.reason);
        }
    }
}
