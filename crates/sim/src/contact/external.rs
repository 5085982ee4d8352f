//! Contacts with what is outside the model: colliders, other bodies, the ground.
//!
//! Whoever knows the outside says where skin touches it, before every step; the solver finds the forces as it does for
//! contacts of the skin with itself, and tells them in the [`ContactState`](super::ContactState).

use glam::{Quat, Vec3};

/// A point of the skin that is kept on one side of a plane during a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct External {
    /// Free vertices whose weighted sum is the point; those of weight zero do not count.
    pub vertices: [u32; 3],
    /// Their weights.
    pub weights: [f32; 3],
    /// Direction in which the point is pushed, of length one.
    pub normal: Vec3,
    /// The point of the other side that is touched, at the end of the step \[m\].
    pub foot: Vec3,
    /// The same material point at the beginning of the step \[m\].
    pub foot_before: Vec3,
    /// Coulomb's coefficient.
    pub friction: f32,
    /// Number of what is touched: forces go on from step to step on the same body.
    pub body: u32,
}

impl External {
    /// A free vertex on something smooth that stands still.
    pub fn vertex(vertex: u32, normal: Vec3, foot: Vec3) -> External {
        External {
            vertices: [vertex; 3],
            weights: [1.0, 0.0, 0.0],
            normal,
            foot,
            foot_before: foot,
            friction: 0.0,
            body: 0,
        }
    }

    /// Free vertices with weights.
    pub fn entries(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        let pairs = self.vertices.iter().zip(&self.weights);
        pairs.map(|(&v, &w)| (v, w)).filter(|&(_, w)| w != 0.0)
    }

    /// The stretch of the way between `from` and `to`, which are 0 and 1 for all of it.
    pub(crate) fn between(&self, from: f32, to: f32) -> External {
        let at = |t: f32| match t {
            1.0.. => self.foot,
            _ => self.foot_before.lerp(self.foot, t),
        };
        External {
            foot: at(to),
            foot_before: at(from),
            ..*self
        }
    }

    pub(crate) fn is_finite(&self) -> bool {
        let weights = self.weights.iter().all(|w| w.is_finite());
        let vectors = [self.normal, self.foot, self.foot_before];
        weights && self.friction.is_finite() && vectors.iter().all(|v| v.is_finite())
    }

    fn key(&self) -> (u32, [u32; 3]) {
        (self.body, self.vertices)
    }
}

/// What came of an [`External`] contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalForce {
    /// The contact.
    pub contact: External,
    /// Force on the skin \[N\]; the other side feels its opposite at the foot.
    pub force: Vec3,
    /// Distance from the foot along the normal \[m\]; negative: inside.
    pub distance: f32,
}

/// This step's contacts, sorted, with the forces that the last step's end with.
pub fn carry_on(given: &[External], last: &[ExternalForce], contacts: &mut Vec<ExternalForce>) {
    contacts.clear();
    contacts.extend(given.iter().map(|&contact| ExternalForce {
        contact,
        force: Vec3::ZERO,
        distance: 0.0,
    }));
    contacts.sort_by_key(|c| c.contact.key());
    for new in contacts {
        // The last step's list is sorted as well.
        let key = new.contact.key();
        if let Ok(at) = last.binary_search_by_key(&key, |old| old.contact.key()) {
            let old = &last[at];
            let turn = Quat::from_rotation_arc(old.contact.normal, new.contact.normal);
            new.force = turn * old.force;
        }
    }
}
