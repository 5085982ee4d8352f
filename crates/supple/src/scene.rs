//! Several soft characters that touch each other, the ground and colliders.
//!
//! Their models are [merged](supple_sim::merge) into one. Contact between characters is then the same as contact of a character with
//! itself: both sides give way, with friction.

use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

use glam::{Quat, Vec3};
use supple_flesh::{Flesh, SkinWork};
use supple_rig::skinning::Posed;
use supple_rig::{Character, Pose, Skeleton};
use supple_sim::advance::{Advance, advance, displayed};
use supple_sim::contact::{Penetration, Placement, measure_penetration};
use supple_sim::{Backend, Collider, ContactMode, CpuBackend, Merged, Settings, State, Targets};

use crate::Subject;
use crate::tissue::{SoftBody, TissueError, settle};

/// Several soft characters that touch.
pub struct Scene {
    actors: Vec<Actor>,
    merged: Merged,
    solver: Settings,
    backend: Box<dyn Backend>,
    state: State,
    /// The scene's own colliders.
    colliders: Vec<Collider>,
}

struct Actor {
    flesh: Arc<Flesh>,
    skeleton: Skeleton,
    /// Transform from the character's own world to the scene's.
    placement: Placement,
    /// The pose in the scene's world.
    pose: Pose,
    skin: Vec<Posed>,
    /// Whether the body has moved since the skin was computed.
    is_stale: bool,
    work: SkinWork,
}

/// Builder of a [`Scene`].
#[derive(Clone, Debug, Default)]
pub struct SceneBuilder {
    bodies: Vec<(Subject, supple_flesh::Settings, Placement)>,
    colliders: Vec<Collider>,
}

impl SceneBuilder {
    /// Adds a subject with a transform; see [`standing_at`].
    pub fn body(self, subject: impl Into<Subject>, placement: Placement) -> Self {
        self.body_with(subject, supple_flesh::Settings::default(), placement)
    }

    /// Adds a subject with tissue settings.
    pub fn body_with(
        mut self,
        subject: impl Into<Subject>,
        settings: supple_flesh::Settings,
        placement: Placement,
    ) -> Self {
        self.bodies.push((subject.into(), settings, placement));
        self
    }

    /// Adds a collider.
    pub fn collider(mut self, collider: Collider) -> Self {
        self.colliders.push(collider);
        self
    }

    /// Adds a floor at a height \[m\].
    pub fn ground(self, height: f32) -> Self {
        self.collider(Collider::ground(height))
    }

    /// Builds the tissue of all characters. Characters that occur several times with the same settings are built once.
    pub fn build(self) -> Result<Scene, TissueError> {
        let mut bodies: Vec<(Arc<Flesh>, Skeleton, Placement)> = Vec::new();
        for (index, (subject, settings, placement)) in self.bodies.iter().enumerate() {
            let earlier = self.bodies[..index].iter();
            let same = |(other, of_other, _): &(Subject, supple_flesh::Settings, Placement)| {
                other.is_same(subject) && of_other == settings
            };
            let flesh = match earlier.clone().position(same) {
                Some(first) => Arc::clone(&bodies[first].0),
                None => {
                    let body = SoftBody::new(subject, settings.clone())?;
                    body.shared_flesh()
                }
            };
            bodies.push((flesh, subject.skeleton.clone(), *placement));
        }
        Ok(Scene::new(bodies, self.colliders))
    }
}

/// A pose whose root joints are transformed.
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

/// The transform to a position \[m\] and a rotation about the vertical \[degrees\].
pub fn standing_at(position: Vec3, degrees: f32) -> Placement {
    Placement {
        rotation: Quat::from_rotation_y(degrees.to_radians()),
        translation: position,
    }
}

/// As [`standing_at`], for a character that may face elsewhere: at 0 degrees it faces +Z, as most files do. VRM 0.x faces -Z. Only
/// whole quarter turns count, so that no skeleton is turned because it is not quite symmetric.
pub fn facing_at(character: &Character, position: Vec3, degrees: f32) -> Placement {
    let ahead = character.facing() * Vec3::Z;
    let quarters = (ahead.x.atan2(ahead.z) / FRAC_PI_2).round();
    standing_at(position, degrees - 90.0 * quarters)
}

impl Scene {
    /// Starts a scene.
    pub fn builder() -> SceneBuilder {
        SceneBuilder::default()
    }

    /// A scene of bodies at rest, with their skeletons and transforms. They touch themselves and each other. Steps follow the settings
    /// of the first body.
    pub fn new(bodies: Vec<(Arc<Flesh>, Skeleton, Placement)>, colliders: Vec<Collider>) -> Self {
        let actors: Vec<Actor> = bodies
            .into_iter()
            .map(|(flesh, skeleton, placement)| Actor {
                pose: flesh.rest_pose(),
                flesh,
                skeleton,
                placement,
                skin: Vec::new(),
                is_stale: true,
                work: SkinWork::default(),
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

    /// Replaces the scene's colliders.
    pub fn set_colliders(&mut self, colliders: Vec<Collider>) {
        self.colliders = colliders;
    }

    /// Current colliders: the scene's own, then those of the bodies.
    pub fn colliders_now(&self) -> Vec<Collider> {
        let bodies = self.actors.iter();
        let all = bodies.flat_map(|actor| actor.flesh.colliders_at(&actor.pose));
        let mut colliders: Vec<Collider> = self.colliders.iter().cloned().chain(all).collect();
        for (collider, now) in colliders.iter_mut().zip(&self.state.contact.colliders) {
            collider.placement = now.placement;
        }
        colliders
    }

    /// Puts the bodies at rest in poses. Poses are in each character's own world.
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

    /// Advances time by `seconds` while the skeletons move to poses. Bodies without a pose keep theirs. The report is that of
    /// [`SoftBody::advance`](crate::SoftBody::advance).
    pub fn advance(
        &mut self,
        poses: &[Pose],
        seconds: impl Into<f64>,
    ) -> Result<Advance, TissueError> {
        let seconds: f64 = seconds.into();
        let poses = self.placed(poses);
        let targets = self.targets(&poses)?;
        let jumped = self.state.largest_jump(&targets) > self.solver.jump_distance;
        if jumped {
            self.carry(&poses, &targets)?;
        }
        let mut report = advance(
            self.backend.as_mut(),
            &self.merged.model,
            &self.solver,
            &targets,
            seconds,
            &mut self.state,
        )?;
        report.jumped |= jumped;
        self.keep(poses);
        Ok(report)
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
            actor.is_stale = true;
        }
    }

    /// World positions \[m\] and unit normals of every vertex of every part of a body, in its file's order. The buffers are the
    /// scene's own, and are computed again only after it has moved. Empty if there is no such body.
    pub fn skin(&mut self, body: usize) -> &[Posed] {
        let simulated = match self.actors.get(body) {
            None => return &[],
            Some(actor) if actor.is_stale => Some(self.shown(body)),
            Some(_) => None,
        };
        let actor = &mut self.actors[body];
        if let Some(simulated) = simulated {
            let (flesh, pose) = (&actor.flesh, &actor.pose);
            flesh.skin_into(pose, &simulated, &mut actor.work, &mut actor.skin);
            actor.is_stale = false;
        }
        &actor.skin
    }

    /// A copy of the world positions of every vertex of every part of a body, in its file's order \[m\].
    pub fn positions(&self, body: usize) -> Vec<Vec<Vec3>> {
        let actor = &self.actors[body];
        actor.flesh.skin_of(&actor.pose, &self.shown(body))
    }

    /// Positions of the simulation mesh of a body, predicted to the current time \[m\].
    fn shown(&self, body: usize) -> Vec<Vec3> {
        let (merged, state) = (&self.merged, &self.state);
        let displayed = displayed(&merged.model, &self.solver, state);
        let (free, fixed) = displayed.split_at(state.positions.len());
        let mut vertices = free[merged.free_of(body)].to_vec();
        vertices.extend(&fixed[merged.fixed_of(body)]);
        let frame = state.frame.as_ref();
        let outside = frame.and_then(|frame| frame.outside.get(merged.outside_of(body)));
        let flesh = &self.actors[body].flesh;
        match outside {
            Some(outside) => flesh.columns_of(&vertices, outside),
            None => flesh.columns_of(&vertices, &flesh.model.rest_targets().outside),
        }
    }

    /// Positions of the simulation mesh of a body \[m\].
    pub fn simulated_skin(&self, body: usize) -> Result<Vec<Vec3>, TissueError> {
        let actor = &self.actors[body];
        let state = self.merged.state_of(body, &self.state);
        Ok(actor.flesh.flesh_positions(&actor.pose, &state)?)
    }

    /// Skin points inside their own or another body; points of all bodies are concatenated.
    pub fn penetration(&self) -> Result<Penetration, TissueError> {
        let Some(surface) = self.merged.model.contact_surface() else {
            return Ok(Penetration::default());
        };
        let mut skin = Vec::new();
        for body in 0..self.actors.len() {
            skin.extend(self.simulated_skin(body)?);
        }
        Ok(measure_penetration(surface, &skin))
    }

    /// Indices of a body's points in [`Scene::penetration`].
    pub fn points_of(&self, body: usize) -> std::ops::Range<usize> {
        self.merged.points_of(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body that faces away, as in VRM 0.x, stands in a scene as one that faces +Z does.
    #[test]
    fn every_body_faces_where_it_is_turned() {
        let female = crate::load("@female").unwrap();
        let half = Quat::from_rotation_y(std::f32::consts::PI);
        let mut away = female.clone().into_character();
        for index in 0..away.skeleton.len() {
            if away.skeleton.joints()[index].parent.is_none() {
                let rest = away.skeleton.rest_mut(index);
                rest.translation = half * rest.translation;
                rest.rotation = half * rest.rotation;
            }
        }
        assert!((away.facing() * Vec3::Z).z < -0.9);
        for degrees in [0.0, 90.0, 180.0, 30.0] {
            let place = Vec3::new(0.3, 0.0, -1.0);
            let straight = facing_at(&female, place, degrees);
            assert_eq!(straight, standing_at(place, degrees));
            let placed = facing_at(&away, place, degrees);
            let ahead = placed.rotation * (away.facing() * Vec3::Z);
            let wanted = straight.rotation * (female.facing() * Vec3::Z);
            assert!(ahead.distance(wanted) < 0.05, "{degrees}: {ahead}");
        }
    }
}
