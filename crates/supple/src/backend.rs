//! What steps the tissue: the processor, the graphics processor, or whichever is faster.

use supple_sim::{Backend, CpuBackend, Model, Settings, SolveError, State, StepReport, Targets};

/// A wish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Whichever is faster on the body at hand, by measurement.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The graphics processor, where there is one.
    Gpu,
}

/// Hears, in one line, when the wish could not be granted.
pub type Notice = Box<dyn Fn(&str) + Send>;

/// Makes a backend. Where the graphics processor is missing, too small or lost, or cannot do what the model asks for, the
/// processor takes over and `notice` hears why.
pub fn open(choice: Choice, notice: Notice) -> Box<dyn Backend> {
    match choice {
        Choice::Cpu => Box::new(CpuBackend::new()),
        Choice::Auto | Choice::Gpu => match graphics(choice) {
            Ok(backend) => Box::new(Fallback::new(backend, choice, notice)),
            Err(reason) => {
                // Who leaves the choice to Supple is not missing anything.
                if choice == Choice::Gpu {
                    notice(&format!("{reason}; the processor steps"));
                }
                Box::new(CpuBackend::new())
            }
        },
    }
}

/// Software drivers are slower than the processor's own step, so only who asks for the graphics processor gets one.
#[cfg(feature = "gpu")]
fn graphics(choice: Choice) -> Result<Box<dyn Backend>, String> {
    let options = supple_gpu::Options {
        software: choice == Choice::Gpu,
        ..Default::default()
    };
    match supple_gpu::Gpu::open(options) {
        Ok(gpu) => Ok(Box::new(supple_gpu::GpuBackend::new(gpu))),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(not(feature = "gpu"))]
fn graphics(_: Choice) -> Result<Box<dyn Backend>, String> {
    Err("built without the graphics backend".to_owned())
}

/// Steps taken with each backend before one is chosen; the first prepares and is not counted.
const TRIALS: usize = 4;

/// A first choice, and the processor behind it.
pub struct Fallback {
    first: Box<dyn Backend>,
    processor: CpuBackend,
    /// Whether the first choice still steps.
    in_use: bool,
    /// Model that speed was last compared on; `None`: not to be compared.
    compared: Option<Option<u64>>,
    notice: Notice,
}

impl Fallback {
    /// `first` steps; with [`Choice::Auto`] only if it is faster than the processor.
    pub fn new(first: Box<dyn Backend>, choice: Choice, notice: Notice) -> Fallback {
        Fallback {
            first,
            processor: CpuBackend::new(),
            in_use: true,
            compared: (choice == Choice::Auto).then_some(None),
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

    /// Tries both on a copy of the state and keeps the faster one.
    fn compare(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &State,
    ) -> Result<(), SolveError> {
        if self.compared.is_none_or(|last| last == Some(model.id())) {
            return Ok(());
        }
        self.compared = Some(Some(model.id()));
        let first = time(&mut *self.first, model, settings, targets, state)?;
        let processor = time(&mut self.processor, model, settings, targets, state)?;
        self.in_use = first < processor;
        Ok(())
    }
}

/// Seconds of the fastest of some steps from the same state.
fn time(
    backend: &mut dyn Backend,
    model: &Model,
    settings: &Settings,
    targets: &Targets,
    state: &State,
) -> Result<f64, SolveError> {
    let mut fastest = f64::INFINITY;
    for trial in 0..TRIALS {
        let mut copy = state.clone();
        let start = web_safe_now();
        backend.step(model, settings, targets, &mut copy)?;
        if trial > 0 {
            fastest = fastest.min(web_safe_now() - start);
        }
    }
    Ok(fastest)
}

/// Seconds since any moment. Browsers have no clock here; nothing is then faster than anything else.
fn web_safe_now() -> f64 {
    #[cfg(target_arch = "wasm32")]
    return 0.0;
    #[cfg(not(target_arch = "wasm32"))]
    {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START
            .get_or_init(std::time::Instant::now)
            .elapsed()
            .as_secs_f64()
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
            let first = self
                .compare(model, settings, targets, state)
                .and_then(|()| {
                    let first = self.in_use.then_some(&mut self.first);
                    first
                        .map(|backend| backend.step(model, settings, targets, state))
                        .transpose()
                });
            match first {
                Ok(Some(report)) => return Ok(report),
                Ok(None) => {}
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
        let mut backend = Fallback::new(Box::new(lost), Choice::Gpu, notice);
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
        let mut backend = Fallback::new(Box::new(alone), Choice::Gpu, notice);
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
    fn whatever_is_chosen_steps() {
        let model = bar();
        for choice in [Choice::Auto, Choice::Cpu, Choice::Gpu] {
            let mut backend = open(choice, Box::new(|_| ()));
            let mut state = State::at_rest(&model);
            backend
                .step(
                    &model,
                    &Settings::default(),
                    &model.rest_targets(),
                    &mut state,
                )
                .expect("some backend");
        }
    }
}
