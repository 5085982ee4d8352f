//! Somebody or something to simulate: a character, with layers if it is a layered body, and with measures if it is a person.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use supple_anatomy::LayeredBody;
use supple_anatomy::person::{Person, character::skin_character};
use supple_anatomy::tissue_layers::tissue_layers;
use supple_flesh::GivenLayers;
use supple_rig::Character;

use crate::appearance::with_eyes;

/// What [`SoftBody`](crate::SoftBody), [`Scene`](crate::Scene), [`Crowd`](crate::Crowd), [`Exporter`](crate::Exporter) and
/// [`growth`](crate::growth) take. [`load`](crate::load()) makes one of a file.
///
/// It is read as a [`Character`], and copies share their content. Characters, persons and layered bodies turn into one by
/// themselves where one is taken.
#[derive(Clone, Debug)]
pub struct Subject {
    character: Arc<Character>,
    within: Option<Arc<Within>>,
}

/// What lies below a skin.
#[derive(Debug)]
struct Within {
    content: Content,
    /// Vertex of part 0 for each vertex of the body's skin.
    vertices: Vec<u32>,
    /// Found when they are first needed.
    layers: OnceLock<GivenLayers>,
}

#[derive(Debug)]
enum Content {
    Body(Box<LayeredBody>),
    Person(Box<Person>),
}

impl Within {
    fn body(&self) -> &LayeredBody {
        match &self.content {
            Content::Body(body) => body,
            Content::Person(person) => &person.body,
        }
    }
}

impl Subject {
    fn layered(character: Character, vertices: Vec<u32>, content: Content) -> Self {
        Self {
            character: Arc::new(character),
            within: Some(Arc::new(Within {
                content,
                vertices,
                layers: OnceLock::new(),
            })),
        }
    }

    /// Skin and rig.
    pub fn character(&self) -> &Character {
        &self.character
    }

    /// Skin and rig, to change. Layers stay what they are: the vertices of part 0 and the joints must stay too.
    pub fn character_mut(&mut self) -> &mut Character {
        Arc::make_mut(&mut self.character)
    }

    /// Skin and rig alone.
    pub fn into_character(self) -> Character {
        Arc::unwrap_or_clone(self.character)
    }

    /// Muscle surface and skeleton surface below the skin, which tissue is built over; `None` without layers.
    pub fn layers(&self) -> Option<&GivenLayers> {
        let within = self.within.as_deref()?;
        let make = || tissue_layers(within.body(), within.vertices.clone());
        Some(within.layers.get_or_init(make))
    }

    /// Skin, layers, bones and muscles; `None` without layers.
    pub fn body(&self) -> Option<&LayeredBody> {
        Some(self.within.as_deref()?.body())
    }

    /// The person, with measures and composition; `None` if it is none.
    pub fn person(&self) -> Option<&Person> {
        match &self.within.as_deref()?.content {
            Content::Person(person) => Some(person),
            Content::Body(_) => None,
        }
    }

    /// Vertex of part 0 for each vertex of the [`body`](Subject::body)'s skin; empty without layers.
    pub fn skin_vertices(&self) -> &[u32] {
        self.within
            .as_deref()
            .map_or(&[], |within| &within.vertices)
    }

    /// Whether both have the same flesh: a scene builds it once.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let within = match (&self.within, &other.within) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        within && (Arc::ptr_eq(&self.character, &other.character) || same_mesh(self, other))
    }
}

/// Whether two characters have the same meshes on the same rig.
fn same_mesh(one: &Character, other: &Character) -> bool {
    let mut parts = one.parts.iter().zip(&other.parts);
    one.parts.len() == other.parts.len()
        && one.skeleton == other.skeleton
        && parts.all(|(a, b)| {
            a.name == b.name
                && a.mesh.triangles == b.mesh.triangles
                && a.mesh.positions == b.mesh.positions
                && a.morph_weights == b.morph_weights
                && a.morphs == b.morphs
                && a.binding.joints == b.binding.joints
                && a.binding.inverse_binds == b.binding.inverse_binds
                && a.binding.influences == b.binding.influences
                && a.binding.computed == b.binding.computed
        })
}

impl Deref for Subject {
    type Target = Character;

    fn deref(&self) -> &Character {
        &self.character
    }
}

impl AsRef<Character> for Subject {
    fn as_ref(&self) -> &Character {
        &self.character
    }
}

impl From<&Subject> for Subject {
    fn from(subject: &Subject) -> Self {
        subject.clone()
    }
}

impl From<Arc<Character>> for Subject {
    fn from(character: Arc<Character>) -> Self {
        Self {
            character,
            within: None,
        }
    }
}

impl From<Character> for Subject {
    fn from(character: Character) -> Self {
        Arc::new(character).into()
    }
}

impl From<&Character> for Subject {
    fn from(character: &Character) -> Self {
        character.clone().into()
    }
}

impl From<Person> for Subject {
    fn from(person: Person) -> Self {
        let vertices = (0..person.layers().skin.len() as u32).collect();
        let character = person.character();
        Self::layered(character, vertices, Content::Person(Box::new(person)))
    }
}

impl From<&Person> for Subject {
    fn from(person: &Person) -> Self {
        person.clone().into()
    }
}

/// Bodies in the connectivity of the embedded ones get their eyes as well, which have no layers.
impl From<LayeredBody> for Subject {
    fn from(body: LayeredBody) -> Self {
        let (character, vertices) = match with_eyes(&body) {
            Some(whole) => (whole, body.body.file_vertices.clone()),
            None => {
                let count = body.layers.skin.len() as u32;
                (skin_character(&body), (0..count).collect())
            }
        };
        Self::layered(character, vertices, Content::Body(Box::new(body)))
    }
}

impl From<&LayeredBody> for Subject {
    fn from(body: &LayeredBody) -> Self {
        body.clone().into()
    }
}
