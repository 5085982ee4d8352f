//! The dispatches of a step: planning, submission and timing.

use super::GpuBodies;
use crate::kernels::{BATCH, Compiled, Touch};
use crate::krylov::Stage;
use crate::stage_times::Timestamps;
use crate::{GpuError, StageTimes};

/// A phase of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Targets, initial guess, contact detection.
    Start,
    /// One local/global iteration.
    Iterate,
    /// Velocities.
    Finish,
}

/// One dispatch.
#[derive(Clone, Copy)]
enum Dispatch {
    Follow,
    Predict,
    Contact(Touch),
    Project,
    PatchSolve,
    Krylov(Stage, u32),
    Finish,
}

impl Dispatch {
    fn stage(self) -> &'static str {
        match self {
            Dispatch::Follow => "targets",
            Dispatch::Predict => "predict",
            Dispatch::Contact(Touch::Points | Touch::Boxes) => "contact boxes",
            Dispatch::Contact(Touch::Search | Touch::Collide) => "contact search",
            Dispatch::Contact(Touch::Answers) => "contact rows",
            Dispatch::Contact(Touch::Forces) => "contact forces",
            Dispatch::Contact(Touch::Shift) => "contact answer",
            Dispatch::Project | Dispatch::Contact(Touch::Project) => "local",
            Dispatch::PatchSolve | Dispatch::Krylov(..) => "global",
            Dispatch::Finish | Dispatch::Contact(Touch::Finish) => "velocities",
        }
    }
}

impl GpuBodies {
    /// Number of dispatches per step.
    pub fn dispatches(&self) -> usize {
        self.plan(&self.whole_step()).len()
    }

    /// Takes one step of all bodies; returns immediately.
    pub fn step(&self) -> Result<(), GpuError> {
        self.submit(&self.whole_step())
    }

    /// Submits phases of a step.
    pub(crate) fn submit(&self, phases: &[Phase]) -> Result<(), GpuError> {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for dispatch in self.plan(phases) {
            self.dispatch(&mut pass, dispatch);
        }
        drop(pass);
        self.gpu.queue.submit([encoder.finish()]);
        self.gpu.check()
    }

    fn whole_step(&self) -> Vec<Phase> {
        let mut phases = vec![Phase::Start];
        phases.extend((0..self.iterations).map(|_| Phase::Iterate));
        phases.push(Phase::Finish);
        phases
    }

    fn plan(&self, phases: &[Phase]) -> Vec<Dispatch> {
        let global = match &self.krylov {
            None => vec![Dispatch::PatchSolve],
            Some(krylov) => krylov
                .plan()
                .into_iter()
                .map(|(stage, it)| Dispatch::Krylov(stage, it))
                .collect(),
        };
        let either = |touching, alone| match self.touches() {
            true => Dispatch::Contact(touching),
            false => alone,
        };
        let mut plan = Vec::new();
        for phase in phases {
            match phase {
                Phase::Start => {
                    plan.extend(self.follow.as_ref().map(|_| Dispatch::Follow));
                    plan.push(Dispatch::Predict);
                    let find = [
                        (Touch::Points, self.touches()),
                        (Touch::Boxes, self.touches_itself),
                        (Touch::Search, self.touches_itself),
                        (Touch::Collide, self.collides),
                        (Touch::Answers, self.touches()),
                    ];
                    let wanted = find.into_iter().filter(|(_, is_wanted)| *is_wanted);
                    plan.extend(wanted.map(|(kernel, _)| Dispatch::Contact(kernel)));
                }
                Phase::Iterate => {
                    plan.push(either(Touch::Project, Dispatch::Project));
                    plan.extend_from_slice(&global);
                    let answer = [Touch::Forces, Touch::Shift].map(Dispatch::Contact);
                    plan.extend(answer.into_iter().filter(|_| self.touches()));
                }
                Phase::Finish => plan.push(either(Touch::Finish, Dispatch::Finish)),
            }
        }
        plan
    }

    fn dispatch(&self, pass: &mut wgpu::ComputePass, dispatch: Dispatch) {
        let kernels = &self.gpu.pipelines;
        let (variant, batches) = match self.batched {
            false => (0, self.count),
            true => (1, self.count.div_ceil(BATCH)),
        };
        let by_vertex = self.params.vertices.div_ceil(64);
        let (kernel, bind, groups, bodies): (&Compiled, _, _, _) = match dispatch {
            Dispatch::Krylov(stage, it) => {
                if let Some(krylov) = &self.krylov {
                    krylov.dispatch(pass, stage, it, self.count);
                }
                return;
            }
            Dispatch::Contact(which) => {
                let Some(contact) = &self.contact else { return };
                let (bind, groups) = contact.dispatch(which);
                let kernel = self.gpu.touching().kernel(which);
                (kernel, bind, groups, self.count)
            }
            Dispatch::Follow => match &self.follow {
                Some(follow) => (&kernels.follow, &follow.bind, follow.groups(), self.count),
                None => return,
            },
            Dispatch::Predict => (&kernels.predict, &self.binds.predict, by_vertex, self.count),
            Dispatch::Project => (
                &kernels.project[variant],
                &self.binds.project[variant],
                self.tables.group_count() as u32,
                batches,
            ),
            Dispatch::PatchSolve => (
                &kernels.patch_solve[variant],
                &self.binds.patch_solve[variant],
                self.tables.patch_count() as u32,
                batches,
            ),
            Dispatch::Finish => (&kernels.finish, &self.binds.finish, by_vertex, self.count),
        };
        pass.set_pipeline(&kernel.pipeline);
        pass.set_bind_group(0, bind, &[]);
        pass.dispatch_workgroups(groups, bodies, 1);
    }

    /// Takes a step, waits, and returns the device time \[ms\]; `None` without timestamps.
    pub fn timed_step(&self) -> Result<Option<f64>, GpuError> {
        let Some(mut times) = Timestamps::new(&self.gpu, 1) else {
            self.step()?;
            self.wait()?;
            return Ok(None);
        };
        let plan = self.plan(&self.whole_step());
        Ok(Some(self.timed(&mut times, &[&plan])?.iter().sum()))
    }

    /// Takes a step with one pass per dispatch and returns the time of each stage \[ms\]. The passes add some overhead.
    pub fn timed_stages(&self) -> Result<StageTimes, GpuError> {
        let plan = self.plan(&self.whole_step());
        let mut stages = StageTimes::default();
        if let Some(mut times) = Timestamps::new(&self.gpu, plan.len() as u32) {
            let single: Vec<&[Dispatch]> = plan.chunks(1).collect();
            for (dispatch, time) in plan.iter().zip(self.timed(&mut times, &single)?) {
                stages.add(dispatch.stage(), time);
            }
        }
        Ok(stages)
    }

    /// Time of each pass \[ms\].
    fn timed(&self, times: &mut Timestamps, passes: &[&[Dispatch]]) -> Result<Vec<f64>, GpuError> {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        for dispatches in passes {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: Some(times.writes()),
            });
            for &dispatch in *dispatches {
                self.dispatch(&mut pass, dispatch);
            }
        }
        times.resolve(&mut encoder);
        self.gpu.queue.submit([encoder.finish()]);
        times.read(&self.gpu)
    }
}
