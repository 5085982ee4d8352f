//! Colliders around a character on the page: ground, those of the settings, the ball; and its contacts.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use supple::flesh::motion::colliders::Attached;
use supple::flesh::settings::ContactMode;
use supple::glam::Vec3;
use supple::sim::Collider;
use supple::sim::contact::Source;

use crate::error::StageError;
use crate::stage::Stage;

/// Colliders around a character.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Ground and colliders of the settings.
    pub settings: Vec<Attached>,
    /// The floor set on the page, in addition.
    pub ground: Option<Attached>,
}

impl Surroundings {
    /// All colliders. The ball is last, so that the indices of the others do not change with it.
    pub fn with(&self, ball: Option<Collider>) -> Vec<Attached> {
        let fixed = self.settings.iter().chain(&self.ground);
        fixed.cloned().chain(ball.map(Attached::from)).collect()
    }
}

impl Stage {
    /// Sets a floor at a height \[m\], or removes it.
    pub fn set_ground(&mut self, height: Option<f32>) {
        let height = height.filter(|height| height.is_finite());
        self.surroundings.ground = height.map(|height| Collider::ground(height).into());
    }

    /// Sets the contact mode by its name in the settings.
    pub fn set_contact(&mut self, mode: &str) -> Result<(), StageError> {
        let text: StrDeserializer<Error> = mode.into_deserializer();
        let mode = ContactMode::deserialize(text)
            .map_err(|error| StageError::Other(format!("contact: {error}")))?;
        self.settings.contact.mode = mode;
        if let Some(body) = &mut self.body {
            body.solver_settings().contact = self.settings.solver_settings().contact;
        }
        Ok(())
    }

    /// Contacts of the skin with itself and with colliders: position \[m\] and force \[N\], six numbers each.
    pub fn contacts(&self) -> Vec<f32> {
        let Some(body) = &self.body else {
            return Vec::new();
        };
        let (model, state) = (&body.flesh().model, body.state());
        let Some(surface) = model.contact_surface() else {
            return Vec::new();
        };
        let free = |v: u32| state.positions.get(v as usize).copied();
        let own = state.contact.contacts.iter().filter_map(|contact| {
            match surface.input().sources[contact.point as usize] {
                Source::Vertex(v) => Some((free(v)?, contact.force)),
                Source::Outside(_) => None,
            }
        });
        let others = state.contact.external.iter().filter_map(|contact| {
            let place = free(contact.contact.vertices[0])?;
            Some((place, contact.force))
        });
        own.chain(others)
            .filter(|(_, force)| *force != Vec3::ZERO)
            .flat_map(|(place, force)| [place, force])
            .flat_map(|vector| vector.to_array())
            .collect()
    }

    /// Number of simulated vertices inside other parts of the body, and the largest depth \[m\].
    pub fn inside(&self) -> Result<(usize, f32), StageError> {
        let Some(body) = &self.body else {
            return Ok((0, 0.0));
        };
        let inside = body.penetration()?;
        Ok((inside.count(), inside.worst()))
    }
}
