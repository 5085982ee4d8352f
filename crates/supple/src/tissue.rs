//! Soft characters: a body that follows poses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::Vec3;
use supple_flesh::colliders::Attached;
use supple_flesh::settings::ColliderSettings;
use supple_flesh::{DetailCache, Flesh, FleshError, Settings};
use supple_rig::bake::{Frame, FrameSource, Frames, Motion};
use supple_rig::formats::FormatError;
use supple_rig::{Character, Clip, Pose};
use supple_sim::advance::{advance, displayed};
use supple_sim::contact::{Penetration, measure_penetration};
use supple_sim::{
    Backend, Collider, CpuBackend, Equilibrium, Model, Quality, SolveError, State, Targets, measure,
};

use crate::faces::with_morphs;
use crate::skin::Span;

/// Most iterations that bring the tissue to rest in the first pose of a motion. Fewer leave a tremor at its start.
const SETTLING_ITERATIONS: u32 = 300;

/// Why a character could not be made soft or moved.
#[derive(Debug, thiserror::Error)]
pub enum TissueError {
    /// The tissue could not be built, or a pose is not of this character.
    #[error(transparent)]
    Flesh(#[from] FleshError),
    /// The solver failed.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The settings file could not be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The settings file is broken.
    #[error("{path}: {source}", path = path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: FleshError,
    },
}

/// A soft character: tissue, solver and state.
pub struct SoftBody {
    flesh: Arc<Flesh>,
    solver: supple_sim::Settings,
    backend: Box<dyn Backend>,
    state: State,
    pose: Pose,
    forces: Vec<Vec3>,
}

impl SoftBody {
    /// Builds the tissue of a character, at rest in the pose it was bound in.
    pub fn new(character: &Character, settings: Settings) -> Result<Self, TissueError> {
        Self::from_flesh(Flesh::builder(character).settings(settings).build()?)
    }

    /// The same for a character from a file: what takes long to build is kept beside it (`hero.glb` → `hero.supple-cache`)
    /// and built anew when it is stale or damaged.
    pub fn of_file(
        character: &Character,
        settings: Settings,
        file: &Path,
    ) -> Result<Self, TissueError> {
        let cache = FileCache(file.with_extension("supple-cache"));
        let builder = Flesh::builder(character).settings(settings);
        Self::from_flesh(match file.is_file() {
            true => builder.cache(&cache).build()?,
            false => builder.build()?,
        })
    }

    /// Of tissue that has been built.
    pub fn from_flesh(flesh: Flesh) -> Result<Self, TissueError> {
        Ok(Self {
            solver: flesh.settings.solver_settings(),
            backend: Box::new(CpuBackend::new()),
            state: State::at_rest(&flesh.model),
            pose: flesh.rest_pose(),
            forces: Vec::new(),
            flesh: Arc::new(flesh),
        })
    }

    /// The tissue.
    pub fn flesh(&self) -> &Flesh {
        &self.flesh
    }

    /// The moving part.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Has another backend step from now on: see [`backend::open`](crate::backend::open).
    pub fn set_backend(&mut self, backend: Box<dyn Backend>) {
        self.backend = backend;
    }

    /// The solver's settings, to change between frames.
    pub fn solver_settings(&mut self) -> &mut supple_sim::Settings {
        &mut self.solver
    }

    /// Force on every free vertex of the model \[N\] from now on, on top of gravity; an empty list is none.
    pub fn set_forces(&mut self, forces: Vec<Vec3>) {
        self.forces = forces;
    }

    /// The pose it was moved to last.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Local contact needs pairs that take a while to find: they are looked for when first it is asked for.
    fn prepare_contact(&mut self) {
        let surface = self.flesh.model.contact_surface();
        let is_ready = surface.is_none_or(|surface| surface.local_pairs().is_some());
        if self.solver.contact.mode == supple_sim::ContactMode::Local && !is_ready {
            Arc::make_mut(&mut self.flesh).find_local_pairs();
        }
    }

    /// Puts the body into a pose, at rest: no time passes and nothing jiggles afterwards.
    pub fn place(&mut self, pose: &Pose) -> Result<(), TissueError> {
        self.prepare_contact();
        self.carry(pose)?;
        let targets = self.flesh.targets(pose)?;
        let backend = self.backend.as_mut();
        settle(
            backend,
            &self.flesh.model,
            &self.solver,
            &targets,
            &mut self.state,
        )?;
        self.pose = pose.clone();
        Ok(())
    }

    /// Puts the body into a pose as its bones carry it: no time passes, and what moved goes on moving.
    pub fn carry(&mut self, pose: &Pose) -> Result<(), TissueError> {
        let targets = self.flesh.targets(pose)?;
        self.state
            .carry(&self.flesh.carry_frames(&self.pose, pose)?);
        self.state.rebase(&targets);
        self.pose = pose.clone();
        Ok(())
    }

    /// Forgets all that was: the body is at rest in `pose`, whatever state it was in.
    pub fn reset(&mut self, pose: &Pose) -> Result<(), TissueError> {
        self.state = State::at_rest(&self.flesh.model);
        self.pose = self.flesh.rest_pose();
        self.place(pose)
    }

    /// Lets `seconds` pass while the skeleton moves to `pose`. A pose that is farther away than a body can move in that
    /// time (a teleport, another clip) carries the tissue along.
    pub fn advance(&mut self, pose: &Pose, seconds: f64) -> Result<(), TissueError> {
        self.prepare_contact();
        let mut targets = self.flesh.targets(pose)?;
        targets.forces.clone_from(&self.forces);
        if self.state.largest_jump(&targets) > self.solver.jump_distance {
            self.state
                .carry(&self.flesh.carry_frames(&self.pose, pose)?);
            self.state.rebase(&targets);
        }
        let (model, state) = (&self.flesh.model, &mut self.state);
        advance(
            self.backend.as_mut(),
            model,
            &self.solver,
            &targets,
            seconds,
            state,
        )?;
        self.pose = pose.clone();
        Ok(())
    }

    /// World positions of every vertex of every part, in the file's order \[m\].
    pub fn skin(&self) -> Result<Vec<Vec<Vec3>>, TissueError> {
        Ok(self.flesh.skin_of(&self.pose, &self.shown()?))
    }

    /// The simulation mesh as it is shown at this moment \[m\].
    fn shown(&self) -> Result<Vec<Vec3>, TissueError> {
        let mut shown = self.state.clone();
        shown.positions = displayed(&self.flesh.model, &self.solver, &self.state);
        shown.positions.truncate(self.state.positions.len());
        Ok(self.flesh.flesh_positions(&self.pose, &shown)?)
    }

    /// Ground and colliders.
    pub fn colliders(&self) -> &[Attached] {
        &self.flesh.colliders
    }

    /// Has other ground and colliders from now on.
    pub fn set_colliders(&mut self, colliders: Vec<Attached>) {
        Arc::make_mut(&mut self.flesh).colliders = colliders;
    }

    /// Ground and colliders as they are now; those with a mass where they have come to.
    pub fn colliders_now(&self) -> Vec<Collider> {
        let mut colliders = self.flesh.colliders_at(&self.pose);
        for (collider, now) in colliders.iter_mut().zip(&self.state.contact.colliders) {
            if collider.motion != supple_sim::contact::Motion::Driven {
                collider.placement = now.placement;
            }
        }
        colliders
    }

    /// Whether anything may be in its way.
    pub fn has_contact(&self) -> bool {
        let itself = self.solver.contact.mode != supple_sim::ContactMode::Off;
        itself || !self.flesh.colliders.is_empty()
    }

    /// The same body at rest, to whom nothing is in the way.
    pub fn without_contact(&self) -> Result<Self, TissueError> {
        let mut flesh = Flesh::clone(&self.flesh);
        flesh.colliders.clear();
        let mut body = Self::from_flesh(flesh)?;
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
        measure(&self.flesh.model, &self.state)
    }
}

/// A cache in a file.
struct FileCache(PathBuf);

impl DetailCache for FileCache {
    fn load(&self) -> Option<Vec<u8>> {
        std::fs::read(&self.0).ok()
    }

    fn store(&self, bytes: &[u8]) {
        // A folder that cannot be written to costs time, nothing else.
        let _ = supple_rig::formats::save(&self.0, bytes);
    }
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

/// Simulates a character over a span of a clip; `frame_done` hears each frame's number.
pub fn simulate(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    span: Span,
    frame_done: &mut dyn FnMut(usize),
) -> Result<Motion, TissueError> {
    let mut recording = Recording::of(body);
    let times = span.times();
    follow(body, character, clip, &times, &mut |frame, body| {
        recording.push(body)?;
        frame_done(frame);
        Ok(())
    })?;
    Ok(with_morphs(
        recording.motion(span.fps),
        character,
        clip,
        &times,
    ))
}

/// A motion as it was simulated: the simulation mesh of every frame, from which the skin is made when it is looked at. Of two hundred
/// thousand vertices a frame then takes a fiftieth of the memory.
pub(crate) struct Recording {
    flesh: Arc<Flesh>,
    simulated: Vec<Vec<Vec3>>,
    poses: Vec<Pose>,
}

impl Recording {
    /// Of a body that is about to move.
    pub fn of(body: &SoftBody) -> Self {
        Self {
            flesh: Arc::clone(&body.flesh),
            simulated: Vec::new(),
            poses: Vec::new(),
        }
    }

    /// One more frame: the body as it is.
    pub fn push(&mut self, body: &SoftBody) -> Result<(), TissueError> {
        self.simulated.push(body.shown()?);
        self.poses.push(body.pose().clone());
        Ok(())
    }

    /// All of it.
    pub fn motion(self, fps: f32) -> Motion {
        Motion {
            fps,
            poses: self.poses.clone(),
            frames: Frames::Made(Arc::new(self)),
            ..Motion::default()
        }
    }
}

impl FrameSource for Recording {
    fn count(&self) -> usize {
        self.simulated.len()
    }

    fn frame(&self, frame: usize) -> Frame {
        self.flesh
            .skin_of(&self.poses[frame], &self.simulated[frame])
    }
}

/// Simulates a character from moment to moment of a clip, beginning at rest in the first; `at` sees the body at each.
pub fn follow(
    body: &mut SoftBody,
    character: &Character,
    clip: &Clip,
    times: &[f32],
    at: &mut dyn FnMut(usize, &SoftBody) -> Result<(), TissueError>,
) -> Result<(), TissueError> {
    let pose = |time: f32| clip.sample(&character.skeleton, time);
    for (frame, &time) in times.iter().enumerate() {
        match frame {
            0 => body.place(&pose(time))?,
            _ => {
                for (time, seconds) in between(times[frame - 1], time, body.solver.step) {
                    body.advance(&pose(time), seconds)?;
                }
            }
        }
        at(frame, body)?;
    }
    Ok(())
}

/// Moments after `from`, up to `to`, and the time to each: at least as fine as the solver steps, however few are kept.
pub(crate) fn between(from: f32, to: f32, step: f64) -> impl Iterator<Item = (f32, f64)> {
    let count = (f64::from(to - from) / step - 1e-3).ceil().max(1.0) as u32;
    let interval = (to - from) / count as f32;
    (0..count)
        .rev()
        .map(move |k| (to - k as f32 * interval, f64::from(interval)))
}

/// Where the settings of a character file are looked for: `hero.glb` → `hero.supple.toml`.
pub fn settings_path(character: &Path) -> PathBuf {
    character.with_extension("supple.toml")
}

/// Reads a settings file.
pub fn load_settings(path: &Path) -> Result<Settings, TissueError> {
    let text = std::fs::read_to_string(path).map_err(|source| FormatError::Io {
        path: path.to_owned(),
        source,
    })?;
    let mut settings = Settings::from_toml(&text).map_err(|source| TissueError::Settings {
        path: path.to_owned(),
        source,
    })?;
    for collider in &mut settings.collider {
        make_relative_to(path, collider);
    }
    Ok(settings)
}

/// A collider's mesh is named relative to the file that names it.
pub(crate) fn make_relative_to(path: &Path, collider: &mut ColliderSettings) {
    if let (Some(file), Some(folder)) = (&mut collider.file, path.parent()) {
        *file = folder.join(&*file).to_string_lossy().into_owned();
    }
}

/// The settings beside a character file, or automatic ones where there is no such file.
pub fn settings_beside(character: &Path) -> Result<Settings, TissueError> {
    let path = settings_path(character);
    if path.is_file() {
        load_settings(&path)
    } else {
        Ok(Settings::default())
    }
}
