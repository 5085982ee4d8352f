//! What steps the tissue: the CPU or a GPU.
//!
//! [`Choice::Auto`] decides by what is there and how large the model is, never by a stopwatch: the same model on the same machine
//! is stepped by the same backend every time.

use supple_sim::{Backend, CpuBackend, Model, Settings, SolveError, State, StepReport, Targets};

/// Free vertices from which [`Choice::Auto`] takes a GPU.
///
/// Bodies built with automatic settings have about 6,000, so they give the same bits on every machine. At 10,000 the CPU takes about
/// 4 ms a step. An H200 takes 0.4 ms including transfers, of which 0.3 ms do not depend on the size; a card with a tenth of its
/// bandwidth is still faster than the CPU. At half this size a small card is slower than the CPU.
pub const GPU_FROM: usize = 10_000;

/// What shall step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// The GPU for models of [`GPU_FROM`] free vertices and more, if there is one; else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU, or a software driver; the CPU if there is neither.
    Gpu,
}

/// A backend, and why it is that one.
pub struct Opened {
    /// What steps.
    pub backend: Box<dyn Backend>,
    /// Which and why, in one line.
    pub reason: String,
}

/// Hears, in one line, when a backend had to be given up for another.
pub type Notice = Box<dyn Fn(&str) + Send>;

/// Makes the backend for a model. If the GPU turns out too small, is lost, or cannot do what the model asks for, the CPU takes
/// over and `notice` hears why.
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
    // A software driver is slower than the CPU backend, so `Auto` takes none.
    match graphics(choice == Choice::Gpu) {
        Ok((backend, name)) => Opened {
            backend: Box::new(Fallback::new(backend, notice)),
            reason: format!("stepping on the GPU: {name}"),
        },
        Err(reason) => on_cpu(format!(": {reason}")),
    }
}

/// The graphics backend and the name of its device, or why there is none.
#[cfg(feature = "gpu")]
fn graphics(software: bool) -> Result<(Box<dyn Backend>, String), String> {
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
fn graphics(_: bool) -> Result<(Box<dyn Backend>, String), String> {
    Err("built without the graphics backend".to_owned())
}

/// A first choice, and the processor behind it.
pub struct Fallback {
    first: Box<dyn Backend>,
    processor: CpuBackend,
    /// Whether the first choice still steps.
    in_use: bool,
    notice: Notice,
}

impl Fallback {
    /// `first` steps as long as it can.
    pub fn new(first: Box<dyn Backend>, notice: Notice) -> Fallback {
        Fallback {
            first,
            processor: CpuBackend::new(),
            in_use: true,
            notice,
        }
    }

    /// Whether the first choice steps this model.
    fn wants(&mut self, model: &Model, settings: &Settings) -> bool {
        if self.in_use && !self.first.supports(model, settings) {
            self.give_up("the graphics backend does not do all that this model asks for");
        }
        self.in_use
    }

    fn give_up(&mut self, reason: &str) {
        self.in_use = false;
        (self.notice)(&format!("{reason}; the processor steps"));
    }
}

impl Backend for Fallback {
    fn name(&self) -> &'static str {
        if self.in_use {
            self.first.name()
        } else {
            self.processor.name()
        }
    }

    fn supports(&self, model: &Model, settings: &Settings) -> bool {
        self.processor.supports(model, settings)
    }

    fn prepare(&mut self, model: &Model, settings: &Settings) -> Result<(), SolveError> {
        if self.wants(model, settings) {
            match self.first.prepare(model, settings) {
                Err(SolveError::Device { reason, .. }) => self.give_up(&reason),
                done => return done,
            }
        }
        self.processor.prepare(model, settings)
    }

    fn step(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &mut State,
    ) -> Result<StepReport, SolveError> {
        if self.wants(model, settings) {
            match self.first.step(model, settings, targets, state) {
                Ok(report) => return Ok(report),
                Err(SolveError::Device { reason, .. }) => self.give_up(&reason),
                Err(SolveError::Unsupported { what, .. }) => {
                    self.give_up(&format!("the graphics backend does not do {what}"));
                }
                Err(error) => return Err(error),
            }
        }
        self.processor.step(model, settings, targets, state)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use supple_sim::{ModelBuilder, shapes};

    use super::*;

    /// Takes some steps, then fails.
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
                .expect("the processor takes over");
        }
        let lines: Vec<String> = heard.try_iter().collect();
        assert_eq!(lines, ["the device was lost; the processor steps"]);
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
                .expect("the processor takes over");
        }
        let lines: Vec<String> = heard.try_iter().collect();
        let line = "the graphics backend does not do external contacts; the processor steps";
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

    /// A small model is stepped by the CPU on every machine, whatever else there is.
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
