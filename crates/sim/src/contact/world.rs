//! Colliders of a model from step to step: their contacts, and the motion of free ones.

use glam::Vec3;

use super::collide::{FIRST_COLLIDER, Skin, collide};
use super::collider::{ColliderState, Motion, Placed, place_colliders};
use super::external::External;
use super::land::land;
use super::moment::Moment;
use super::resolve::MovableBody;
use super::rows::NONE;
use crate::{Model, Settings, State, Targets};

/// Scratch memory for the colliders of one model.
#[derive(Clone, Debug, Default)]
pub struct World {
    placed: Vec<Placed>,
    slots: Vec<Option<External>>,
    found: Vec<External>,
    now: Vec<Vec3>,
    before: Vec<Vec3>,
}

impl World {
    /// The given external contacts, then those with colliders. Without a contact surface there are none of the latter.
    pub fn find(
        &mut self,
        model: &Model,
        settings: &Settings,
        targets: &Targets,
        state: &State,
        start: &[Vec3],
    ) -> &[External] {
        self.found.clone_from(&targets.external);
        let (colliders, last) = (&targets.colliders, &state.contact.colliders);
        place_colliders(colliders, last, settings, &mut self.placed);
        land(colliders, &self.placed, &mut self.found);
        let Some(surface) = model.contact_surface().filter(|_| !colliders.is_empty()) else {
            return &self.found;
        };
        let (now, before) = (
            Moment::now(model, start, targets),
            Moment::before(model, targets, state),
        );
        let sources = &surface.input().sources;
        let World {
            placed,
            slots,
            found,
            ..
        } = self;
        for (list, moment) in [(&mut self.now, now), (&mut self.before, before)] {
            list.clear();
            list.extend(sources.iter().map(|&source| moment.position(source)));
        }
        let bases = &targets.bases;
        let known = state.contact.bases.len() == bases.len();
        let skin = Skin {
            surface,
            free: model.free_count(),
            now: &self.now,
            before: &self.before,
            bases,
            bases_before: if known { &state.contact.bases } else { bases },
        };
        collide(&skin, colliders, placed, slots, found);
        &self.found
    }

    /// The colliders as rigid bodies of the resolver; `scale` is that of the system's forces.
    pub fn movable_bodies(&self, scale: f32) -> impl Iterator<Item = MovableBody> + '_ {
        self.placed.iter().map(move |placed| MovableBody {
            compliance: placed.compliance / scale,
            moved: Vec3::ZERO,
        })
    }

    /// Writes the final poses of the colliders.
    pub fn finish(&self, targets: &Targets, h: f32, bodies: &[MovableBody], state: &mut State) {
        let colliders = targets.colliders.iter().zip(&self.placed).zip(bodies);
        let states = &mut state.contact.colliders;
        states.clear();
        states.extend(colliders.map(|((collider, placed), body)| {
            let mut placement = placed.now;
            placement.translation += body.moved;
            let velocity = match collider.motion {
                Motion::Driven => Vec3::ZERO,
                Motion::Free { .. } if placed.compliance == 0.0 => Vec3::ZERO,
                Motion::Free { .. } => (placement.translation - placed.before.translation) / h,
            };
            ColliderState {
                placement,
                velocity,
            }
        }));
    }
}

/// Index of the collider of an external contact that can move, or [`NONE`].
pub fn movable_body(contact: &External, bodies: &[MovableBody]) -> u32 {
    let body = contact.body.checked_sub(FIRST_COLLIDER);
    let gives = |b: &u32| bodies.get(*b as usize).is_some_and(|w| w.compliance > 0.0);
    body.filter(gives).unwrap_or(NONE)
}

/// Distance in front of the collider at which the foot of a contact is put, for a gap \[m\].
pub fn padding(contact: &External, gap: f32) -> f32 {
    match contact.body {
        FIRST_COLLIDER.. => gap,
        _ => 0.0,
    }
}
