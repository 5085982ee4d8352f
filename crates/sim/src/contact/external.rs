//! External contacts: colliders, other bodies, the ground.
//!
//! The caller gives the contacts before every step. The solver finds their forces as for self-contact, and reports them
//! in the [`ContactState`](super::ContactState).

use glam::{Quat, Vec3};

/// A skin point that is kept on one side of a plane during a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct External {
    /// Free vertices whose weighted sum is the point; those of weight zero are ignored.
    pub vertices: [u32; 3],
    /// Their weights.
    pub weights: [f32; 3],
    /// Push direction, a unit vector.
    pub normal: Vec3,
    /// The touched point of the other body at the end of the step \[m\].
    pub foot: Vec3,
    /// The same material point at the beginning of the step \[m\].
    pub foot_before: Vec3,
    /// Coulomb's coefficient.
    pub friction: f32,
    /// Index of the touched body: forces carry over from step to step on the same body.
    pub body: u32,
}

impl External {
    /// A free vertex on a smooth surface at rest.
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

    /// Free vertices and weights.
    pub fn entries(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        let pairs = self.vertices.iter().zip(&self.weights);
        pairs.map(|(&v, &w)| (v, w)).filter(|&(_, w)| w != 0.0)
    }

    /// The part of the step between the fractions `from` and `to`.
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

/// Result of an [`External`] contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalForce {
    /// The contact.
    pub contact: External,
    /// Force on the skin \[N\]; the other body gets the opposite force at the foot.
    pub force: Vec3,
    /// Distance from the foot along the normal \[m\]; negative inside.
    pub distance: f32,
}

/// This step's contacts, sorted, with the final forces of the last step.
pub fn carry_on(given: &[External], last: &[ExternalForce], contacts: &mut Vec<ExternalForce>) {
    contacts.clear();
    contacts.extend(given.iter().map(|&contact| ExternalForce {
        contact,
        force: Vec3::ZERO,
        distance: 0.0,
    }));
    contacts.sort_by_key(|c| c.contact.key());
    for new in contacts {
        // The last step's list is sorted too.
        let key = new.contact.key();
        if let Ok(at) = last.binary_search_by_key(&key, |old| old.contact.key()) {
            let old = &last[at];
            let turn = Quat::from_rotation_arc(old.contact.normal, new.contact.normal);
            new.force = turn * old.force;
        }
    }
}
