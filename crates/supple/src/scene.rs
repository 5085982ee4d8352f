//! Several soft characters that touch each other, the ground and colliders.
//!
//! Their models are [merged](supple_sim::merge) into one, so that a hand on another's back is the same contact as a hand on
//! one's own chest: both give way, with friction.

use glam::{Quat, Vec3};
use supple_flesh::Flesh;
use supple_rig::{Pose, Skeleton};
use supple_sim::advance::{advance, displayed};
use supple_sim::contact::{Penetration, Placement, measure_penetration};
use supple_sim::{Backend, Collider, ContactMode, CpuBackend, Merged, Settings, State, Targets};

use crate::tissue::{TissueError, settle};

/// Soft characters in one world.
pub struct Scene {
    actors: Vec<Actor>,
    merged: Merged,
    solver: Settings,
    backend: Box<dyn Backend>,
    state: State,
    /// The scene's own.
    colliders: Vec<Collider>,
}

struct Actor {
    flesh: Flesh,
    skeleton: Skeleton,
    /// World from the character's own world.
    placement: Placement,
    /// In the world.
    pose: Pose,
}

/// A pose whose roots are moved to another place.
pub fn placed_pose(skeleton: &Skeleton, pose: &Pose, placement: &Placement) -> Pose {
    let mut pose = pose.clone();
    for (joint, local) in skeleton.joints().iter().zip(&mut pose.locals) {
        if joint.parent.is_none() {
            local.translation = placement.point(local.translation);
            local.rotation = (placement.rotation * local.rotation).normalize();
        }
    }
    pose
}

/// A place on the ground and a turn about the vertical \[degrees\].
pub fn standing_at(position: Vec3, degrees: f32) -> Placement {
    Placement {
        rotation: Quat::from_rotation_y(degrees.to_radians()),
        translation: position,
    }
}

impl Scene {
    /// Bodies, their skeletons and where they stand, at rest; they do not go through themselves and each other. Time is stepped
    /// as the first body's settings say.
    pub fn new(bodies: Vec<(Flesh, Skeleton, Placement)>, colliders: Vec<Collider>) -> Self {
        let actors: Vec<Actor> = bodies
            .into_iter()
            .map(|(flesh, skeleton, placement)| Actor {
                pose: flesh.rest_pose(),
                flesh,
                skeleton,
                placement,
            })
            .collect();
        let models: Vec<_> = actors.iter().map(|actor| &actor.flesh.model).collect();
        let merged = Merged::new(&models);
        let settings = actors.first().map(|actor| &actor.flesh.settings);
        let mut solver = settings.map_or_else(Settings::default, |s| s.solver_settings());
        solver.contact.mode = ContactMode::Global;
        Self {
            state: State::at_rest(&merged.model),
            backend: Box::new(CpuBackend::new()),
            actors,
            merged,
            solver,
            colliders,
        }
    }

    /// The solver's settings, to change between frames.
    pub fn solver_settings(&mut self) -> &mut Settings {
        &mut self.solver
    }

    /// The tissue of a body.
    pub fn flesh(&self, body: usize) -> &Flesh {
        &self.actors[body].flesh
    }

    /// The pose of a body in the world.
    pub fn pose(&self, body: usize) -> &Pose {
        &self.actors[body].pose
    }

    /// The state of all bodies together.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Has other colliders from now on.
    pub fn set_colliders(&mut self, colliders: Vec<Collider>) {
        self.colliders = colliders;
    }

    /// The scene's own colliders, then the bodies', where they are now.
    pub fn colliders_now(&self) -> Vec<Collider> {
        let bodies = self.actors.iter();
        let all = bodies.flat_map(|actor| actor.flesh.colliders_at(&actor.pose));
        let mut colliders: Vec<Collider> = self.colliders.iter().cloned().chain(all).collect();
        for (collider, now) in colliders.iter_mut().zip(&self.state.contact.colliders) {
            collider.placement = now.placement;
        }
        colliders
    }

    /// Puts the bodies into poses, at rest; poses are those of characters that have not been moved to their places.
    pub fn place(&mut self, poses: &[Pose]) -> Result<(), TissueError> {
        let poses = self.placed(poses);
        let targets = self.targets(&poses)?;
        self.carry(&poses, &targets)?;
        let backend = self.backend.as_mut();
        settle(
            backend,
            &self.merged.model,
            &self.solver,
            &targets,
            &mut self.state,
        )?;
        self.keep(poses);
        Ok(())
    }

    /// Lets `seconds` pass while the skeletons move to poses.
    pub fn advance(&mut self, poses: &[Pose], seconds: f64) -> Result<(), TissueError> {
        let poses = self.placed(poses);
        let targets = self.targets(&poses)?;
        if self.state.largest_jump(&targets) > self.solver.jump_distance {
            self.carry(&poses, &targets)?;
        }
        advance(
            self.backend.as_mut(),
            &self.merged.model,
            &self.solver,
            &targets,
            seconds,
            &mut self.state,
        )?;
        self.keep(poses);
        Ok(())
    }

    fn placed(&self, poses: &[Pose]) -> Vec<Pose> {
        let actors = self.actors.iter().enumerate();
        let placed = actors.map(|(i, actor)| match poses.get(i) {
            Some(pose) => placed_pose(&actor.skeleton, pose, &actor.placement),
            None => actor.pose.clone(),
        });
        placed.collect()
    }

    fn targets(&self, poses: &[Pose]) -> Result<Targets, TissueError> {
        let pairs = self.actors.iter().zip(poses);
        let parts = pairs
            .map(|(actor, pose)| actor.flesh.targets(pose))
            .collect::<Result<Vec<_>, _>>()?;
        let mut targets = self.merged.targets(&parts);
        targets
            .colliders
            .splice(0..0, self.colliders.iter().cloned());
        Ok(targets)
    }

    fn carry(&mut self, poses: &[Pose], targets: &Targets) -> Result<(), TissueError> {
        let mut frames = Vec::new();
        for (actor, pose) in self.actors.iter().zip(poses) {
            frames.extend(actor.flesh.carry_frames(&actor.pose, pose)?);
        }
        self.state.carry(&frames);
        self.state.rebase(targets);
        Ok(())
    }

    fn keep(&mut self, poses: Vec<Pose>) {
        for (actor, pose) in self.actors.iter_mut().zip(poses) {
            actor.pose = pose;
        }
    }

    /// World positions of every vertex of every part of a body, in its file's order \[m\].
    pub fn skin(&self, body: usize) -> Result<Vec<Vec<Vec3>>, TissueError> {
        let mut shown = self.state.clone();
        shown.positions = displayed(&self.merged.model, &self.solver, &self.state);
        let state = self.merged.state_of(body, &shown);
        let actor = &self.actors[body];
        Ok(actor.flesh.skin(&actor.pose, &state)?)
    }

    /// Positions of the simulation mesh of a body \[m\].
    pub fn simulated_skin(&self, body: usize) -> Result<Vec<Vec3>, TissueError> {
        let actor = &self.actors[body];
        let state = self.merged.state_of(body, &self.state);
        Ok(actor.flesh.flesh_positions(&actor.pose, &state)?)
    }

    /// Skin points inside their own or another body; points of all bodies one after the other.
    pub fn penetration(&self) -> Result<Penetration, TissueError> {
        let Some(surface) = self.merged.model.contact_surface() else {
            return Ok(Penetration::default());
        };
        let (mut skin, mut bases) = (Vec::new(), Vec::new());
        for (body, actor) in self.actors.iter().enumerate() {
            skin.extend(self.simulated_skin(body)?);
            bases.extend(actor.flesh.targets(&actor.pose)?.bases);
        }
        Ok(measure_penetration(surface, &skin, &bases))
    }

    /// Points of a body among those of [`Scene::penetration`].
    pub fn points_of(&self, body: usize) -> std::ops::Range<usize> {
        self.merged.points_of(body)
    }
}
