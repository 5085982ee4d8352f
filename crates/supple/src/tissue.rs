//! Soft bodies: characters with simulated tissue.

use std::path::PathBuf;
use std::sync::Arc;

use glam::Vec3;
use supple_flesh::motion::colliders::Attached;
use supple_flesh::settings::ContactMode;
use supple_flesh::{Flesh, FleshError, Settings, SkinWork};
use supple_rig::bake::Motion;
use supple_rig::formats::FormatError;
use supple_rig::skinning::Posed;
use supple_rig::{Character, Clip, Pose};
use supple_sim::advance::{Advance, advance, displayed};
use supple_sim::contact::{Penetration, measure_penetration};
use supple_sim::{
    Backend, Collider, CpuBackend, Equilibrium, Model, Quality, SolveError, State, Targets,
};

use crate::Subject;
use crate::body_builder::SoftBodyBuilder;
use crate::play::simulate;
use crate::skin::Span;

/// Largest number of iterations that bring tissue to rest in the first pose of a motion. With fewer, motions start with a tremor.
const SETTLING_ITERATIONS: u32 = 300;

/// Why tissue could not be built or moved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TissueError {
    /// The tissue could not be built, or a pose belongs to another character.
    #[error(transparent)]
    Flesh(#[from] FleshError),
    /// The solver failed.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The settings file could not be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The settings file is invalid.
    #[error("{path}: {source}", path = path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// The error in it.
        source: FleshError,
    },
}

/// A soft character: tissue, solver and state.
///
/// Call [`advance`](SoftBody::advance) with a pose and the time of a frame, then read the [`skin`](SoftBody::skin). Frames may have any
/// length: internal steps are fixed, so the motion does not depend on the frame rate.
pub struct SoftBody {
    flesh: Arc<Flesh>,
    colliders: Vec<Attached>,
    solver: supple_sim::Settings,
    backend: Box<dyn Backend>,
    state: State,
    pose: Pose,
    /// Posed positions of skin that is not in the model \[m\].
    outside: Vec<Vec3>,
    forces: Vec<Vec3>,
    skin: Vec<Posed>,
    /// Whether the body has moved since the skin was computed.
    is_stale: bool,
    work: SkinWork,
}

impl SoftBody {
    /// Starts building the tissue of a subject: of its layers if it has some.
    pub fn builder(subject: impl Into<Subject>) -> SoftBodyBuilder {
        SoftBodyBuilder::new(subject.into())
    }

    /// Builds the tissue of a subject, at rest in the bind pose.
    pub fn new(subject: impl Into<Subject>, settings: Settings) -> Result<Self, TissueError> {
        Self::builder(subject).settings(settings).build()
    }

    /// A body of tissue that is built already.
    pub fn from_flesh(flesh: impl Into<Arc<Flesh>>) -> Result<Self, TissueError> {
        let flesh = flesh.into();
        let pose = flesh.rest_pose();
        Ok(Self {
            colliders: flesh.colliders.clone(),
            solver: flesh.settings.solver_settings(),
            backend: Box::new(CpuBackend::new()),
            state: State::at_rest(&flesh.model),
            outside: flesh.targets(&pose)?.outside,
            pose,
            forces: Vec::new(),
            skin: Vec::new(),
            is_stale: true,
            work: SkinWork::default(),
            flesh,
        })
    }

    /// The tissue.
    pub fn flesh(&self) -> &Flesh {
        &self.flesh
    }

    /// The tissue, to be shared with other bodies.
    pub fn shared_flesh(&self) -> Arc<Flesh> {
        Arc::clone(&self.flesh)
    }

    /// The current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Sets the backend; see [`backend::open`](crate::backend::open).
    pub fn set_backend(&mut self, backend: Box<dyn Backend>) {
        self.backend = backend;
    }

    /// The solver's settings, to change between frames.
    pub fn solver_settings(&mut self) -> &mut supple_sim::Settings {
        &mut self.solver
    }

    /// Sets the contact of the skin with itself.
    pub fn set_contact(&mut self, mode: ContactMode) {
        self.solver.contact.mode = mode.into();
    }

    /// Sets a force on every free vertex of the model \[N\], in addition to gravity; an empty list removes it.
    pub fn set_forces(&mut self, forces: Vec<Vec3>) {
        self.forces = forces;
    }

    /// The current pose.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Name of the backend: "cpu" or "gpu".
    pub fn backend_name(&self) -> &'static str {
        self.backend.name()
    }

    /// Finds the pairs of local contact when it is first used, since that takes a while.
    fn prepare_contact(&mut self) {
        if self.solver.contact.mode == supple_sim::ContactMode::Local {
            self.flesh.find_local_pairs();
        }
    }

    /// The solver's targets for a pose.
    fn targets(&self, pose: &Pose) -> Result<Targets, TissueError> {
        let mut targets = self.flesh.targets(pose)?;
        targets.colliders = self.flesh.placed_colliders(&self.colliders, pose);
        Ok(targets)
    }

    /// Stores the pose of the targets.
    fn has_moved(&mut self, pose: &Pose, targets: &Targets) {
        self.pose = pose.clone();
        self.outside.clone_from(&targets.outside);
        self.is_stale = true;
    }

    /// Puts the body at rest in a pose, in static equilibrium: no time passes, and nothing jiggles afterwards.
    pub fn place(&mut self, pose: &Pose) -> Result<(), TissueError> {
        self.prepare_contact();
        self.carry(pose)?;
        let targets = self.targets(pose)?;
        let backend = self.backend.as_mut();
        settle(
            backend,
            &self.flesh.model,
            &self.solver,
            &targets,
            &mut self.state,
        )?;
        Ok(())
    }

    /// Carries the body to a pose rigidly with its bones. No time passes, and velocities are kept.
    pub fn carry(&mut self, pose: &Pose) -> Result<(), TissueError> {
        let targets = self.targets(pose)?;
        self.state
            .carry(&self.flesh.carry_frames(&self.pose, pose)?);
        self.state.rebase(&targets);
        self.has_moved(pose, &targets);
        Ok(())
    }

    /// Resets the state: the body is at rest in `pose`, whatever its state was.
    pub fn reset(&mut self, pose: &Pose) -> Result<(), TissueError> {
        self.state = State::at_rest(&self.flesh.model);
        self.pose = self.flesh.rest_pose();
        self.place(pose)
    }

    /// Advances time by `seconds` while the skeleton moves to `pose`. If the pose jumps (a teleport, another clip), the tissue is carried
    /// along rigidly.
    ///
    /// The report has the number of internal steps and the time that was dropped: a frame takes at most
    /// [`MAX_STEPS`](supple_sim::advance::MAX_STEPS) steps and drops the rest of its time.
    pub fn advance(
        &mut self,
        pose: &Pose,
        seconds: impl Into<f64>,
    ) -> Result<Advance, TissueError> {
        let seconds: f64 = seconds.into();
        self.prepare_contact();
        let mut targets = self.targets(pose)?;
        targets.forces.clone_from(&self.forces);
        let jumped = self.state.largest_jump(&targets) > self.solver.jump_distance;
        if jumped {
            self.state
                .carry(&self.flesh.carry_frames(&self.pose, pose)?);
            self.state.rebase(&targets);
        }
        let (model, state) = (&self.flesh.model, &mut self.state);
        let mut report = advance(
            self.backend.as_mut(),
            model,
            &self.solver,
            &targets,
            seconds,
            state,
        )?;
        report.jumped |= jumped;
        self.has_moved(pose, &targets);
        Ok(report)
    }

    /// Plays a span of a clip from rest in its first pose, and records it. [`play::simulate`](simulate) does the same with a callback
    /// for every frame.
    pub fn play(
        &mut self,
        character: &Character,
        clip: &Clip,
        span: Span,
    ) -> Result<Motion, TissueError> {
        simulate(self, character, clip, span, &mut |_| ())
    }

    /// World positions \[m\] and unit normals of every vertex of every part, in the file's order. The buffers are the body's own,
    /// and are computed again only after it has moved.
    pub fn skin(&mut self) -> &[Posed] {
        if std::mem::take(&mut self.is_stale) {
            let simulated = self.shown();
            let (flesh, pose) = (&self.flesh, &self.pose);
            flesh.skin_into(pose, &simulated, &mut self.work, &mut self.skin);
        }
        &self.skin
    }

    /// A copy of the world positions of every vertex of every part, in the file's order \[m\]. Does not need `&mut self`.
    pub fn positions(&self) -> Vec<Vec<Vec3>> {
        self.flesh.skin_of(&self.pose, &self.shown())
    }

    /// Positions of the simulation mesh, predicted to the current time \[m\].
    pub(crate) fn shown(&self) -> Vec<Vec3> {
        self.flesh.columns_of(&self.shown_vertices(), &self.outside)
    }

    /// Vertices of the model, free then fixed, predicted to the current time \[m\].
    pub(crate) fn shown_vertices(&self) -> Vec<Vec3> {
        displayed(&self.flesh.model, &self.solver, &self.state)
    }

    /// Ground and colliders.
    pub fn colliders(&self) -> &[Attached] {
        &self.colliders
    }

    /// Replaces ground and colliders.
    pub fn set_colliders(&mut self, colliders: Vec<Attached>) {
        self.colliders = colliders;
    }

    /// Current ground and colliders; those with a mass at their simulated positions.
    pub fn colliders_now(&self) -> Vec<Collider> {
        let mut colliders = (self.flesh).placed_colliders(&self.colliders, &self.pose);
        for (collider, now) in colliders.iter_mut().zip(&self.state.contact.colliders) {
            if collider.motion != supple_sim::contact::Motion::Driven {
                collider.placement = now.placement;
            }
        }
        colliders
    }

    /// Whether the body has contact with itself or colliders.
    pub fn has_contact(&self) -> bool {
        let itself = self.solver.contact.mode != supple_sim::ContactMode::Off;
        itself || !self.colliders.is_empty()
    }

    /// The same body at rest, without contact and colliders.
    pub fn without_contact(&self) -> Result<Self, TissueError> {
        let mut body = Self::from_flesh(self.shared_flesh())?;
        body.colliders.clear();
        body.solver.contact.mode = supple_sim::ContactMode::Off;
        Ok(body)
    }

    /// Positions of the simulation mesh \[m\].
    pub fn simulated_skin(&self) -> Result<Vec<Vec3>, TissueError> {
        Ok(self.flesh.flesh_positions(&self.pose, &self.state)?)
    }

    /// Skin points inside other parts of the body.
    pub fn penetration(&self) -> Result<Penetration, TissueError> {
        let Some(surface) = self.flesh.model.contact_surface() else {
            return Ok(Penetration::default());
        };
        let skin = self.flesh.flesh_positions(&self.pose, &self.state)?;
        Ok(measure_penetration(surface, &skin))
    }

    /// Inverted tets, worst tet, volume.
    pub fn quality(&self) -> Quality {
        self.flesh.quality(&self.state)
    }
}

/// The skin of a character at rest in a pose: positions \[m\] and unit normals of every part. For several poses, build one [`SoftBody`]
/// and call [`SoftBody::place`].
pub fn settled(subject: impl Into<Subject>, pose: &Pose) -> Result<Vec<Posed>, TissueError> {
    let mut body = SoftBody::builder(subject).build()?;
    body.place(pose)?;
    body.skin();
    Ok(body.skin)
}

/// Brings a state to rest.
pub(crate) fn settle(
    backend: &mut dyn Backend,
    model: &Model,
    solver: &supple_sim::Settings,
    targets: &Targets,
    state: &mut State,
) -> Result<(), SolveError> {
    let search = Equilibrium::default().iterations(SETTLING_ITERATIONS);
    search.solve(backend, model, solver, targets, state)?;
    Ok(())
}
