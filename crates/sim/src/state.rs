//! The simulation state: everything that changes over time.

use glam::{Affine3A, Vec3};

use crate::contact::{ColliderState, ContactState, LostContacts, Motion, Searched};
use crate::model::NO_CARRIER;
use crate::{Model, Targets};

/// Positions and velocities of a [`Model`]'s vertices, and the clock of [`advance`](crate::advance()).
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Positions of the free vertices \[m\].
    pub positions: Vec<Vec3>,
    /// Velocities of the free vertices \[m/s\].
    pub velocities: Vec<Vec3>,
    /// Positions of the fixed vertices after the last step \[m\].
    pub fixed: Vec<Vec3>,
    /// Positions of the fixed vertices one step before \[m\].
    pub fixed_previous: Vec<Vec3>,
    /// Targets of the last frame given to [`advance`](crate::advance()); `None` before the first.
    pub frame: Option<Targets>,
    /// Time between the last internal step and the last frame \[s\].
    pub remainder: f64,
    /// Time for which the fixed vertices have been [still](crate::calm) \[s\].
    pub still_for: f64,
    /// Contacts of the last step.
    pub contact: ContactState,
}

impl State {
    /// The rest shape without velocity.
    pub fn at_rest(model: &Model) -> State {
        State {
            positions: model.rest_free().to_vec(),
            velocities: vec![Vec3::ZERO; model.free_count()],
            fixed: model.rest_fixed().to_vec(),
            fixed_previous: model.rest_fixed().to_vec(),
            frame: None,
            remainder: 0.0,
            still_for: 0.0,
            contact: ContactState::default(),
        }
    }

    /// Moves positions and velocities with a rigid frame per free vertex (new world from old world). Use it when the pose jumps
    /// (teleport, clip switch), so that the tissue moves with the bones instead of being pulled after them.
    ///
    /// Vertices beyond the end of `frames` stay.
    pub fn carry(&mut self, frames: &[Affine3A]) {
        for ((x, v), frame) in self
            .positions
            .iter_mut()
            .zip(&mut self.velocities)
            .zip(frames)
        {
            *x = frame.transform_point3(*x);
            *v = frame.transform_vector3(*v);
        }
    }

    /// Sets the fixed vertices and the last frame to `targets` after a jump, so that the jump is neither taken as velocity nor
    /// interpolated. Call it after [`State::carry`].
    pub fn rebase(&mut self, targets: &Targets) {
        self.fixed.clone_from(&targets.fixed);
        self.fixed_previous.clone_from(&targets.fixed);
        // Free colliders have not jumped.
        let last = std::mem::take(&mut self.contact.colliders);
        let colliders = targets.colliders.iter().enumerate();
        let colliders = colliders.map(|(i, collider)| match (collider.motion, last.get(i)) {
            (Motion::Free { .. }, Some(&last)) => last,
            _ => ColliderState::of(collider),
        });
        self.contact = ContactState {
            contacts: Vec::new(),
            bases: targets.bases.clone(),
            outside: targets.outside.clone(),
            external: Vec::new(),
            colliders: colliders.collect(),
            lost_contacts: LostContacts::default(),
            searched: Searched::default(),
        };
        self.frame = Some(targets.clone());
    }

    /// [`State::carry`] for callers without bone frames: every free vertex is translated with its
    /// [carrier](Model::carriers).
    pub fn carry_by_carriers(&mut self, model: &Model, targets: &Targets) {
        for (x, &carrier) in self.positions.iter_mut().zip(model.carriers()) {
            if carrier != NO_CARRIER {
                *x += targets.fixed[carrier as usize] - self.fixed[carrier as usize];
            }
        }
    }

    /// Multiplies all velocities by `factor`.
    pub fn scale_time(&mut self, factor: f32) {
        for velocity in &mut self.velocities {
            *velocity *= factor;
        }
        for (previous, now) in self.fixed_previous.iter_mut().zip(&self.fixed) {
            *previous = *now + (*previous - *now) * factor;
        }
        for collider in &mut self.contact.colliders {
            collider.velocity *= factor;
        }
    }

    /// Largest distance from a fixed vertex to its target \[m\].
    pub fn largest_jump(&self, targets: &Targets) -> f32 {
        self.fixed
            .iter()
            .zip(&targets.fixed)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max)
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        [&self.positions, &self.velocities, &self.fixed]
            .iter()
            .all(|list| list.iter().all(|p| p.is_finite()))
    }
}
