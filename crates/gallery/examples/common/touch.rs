//! Examples with contact: keyed poses, penetration, drawings of colliders.

use supple::flesh::Flesh;
use supple::flesh::settings::ContactMode;
use supple::geom::TriMesh;
use supple::glam::Vec3;
use supple::rig::keyed::KeyedClip;
use supple::sim::Collider;
use supple::tissue::SoftBody;
use supple::{Character, Clip};
use supple_lab::collider_drawing::collider_mesh;
use supple_lab::compare_contact::nearest_columns;
use supple_picture::scene::CLAY;
use supple_picture::{DrawMesh, Ramp, heat_colours, hex};

use super::RED;

/// Colour of colliders.
pub const THING: Vec3 = hex(0xb8b4ab);

/// A keyed clip on a character.
pub fn keyed(character: &Character, text: &str) -> Clip {
    let clip = KeyedClip::parse(text).unwrap();
    clip.on(character, 60.0).unwrap()
}

/// The body's tissue with a contact mode; head and toes are not simulated.
pub fn touching(character: &Character, mode: ContactMode) -> Flesh {
    let mut settings = supple::flesh::Settings::default();
    settings.contact.mode = mode;
    settings.excluded = ["head", "toe*"].map(str::to_owned).to_vec();
    super::build(character, settings)
}

/// The same tissue without contact and colliders.
pub fn without(flesh: &Flesh) -> Flesh {
    let mut flesh = flesh.clone();
    flesh.settings.contact.mode = ContactMode::Off;
    flesh.colliders.clear();
    flesh
}

/// Draws a character's full skin in colours of its simulation mesh.
pub struct Painter {
    character: Character,
    nearest: Vec<Vec<[u32; 3]>>,
    columns: usize,
    /// Default colour of the skin.
    pub plain: Vec3,
}

/// A snapshot of a body: every part, and the simulation mesh.
pub struct Shot {
    pub parts: Vec<Vec<Vec3>>,
    pub simulated: Vec<Vec3>,
}

impl Shot {
    pub fn of(body: &SoftBody) -> Self {
        Self {
            parts: body.positions(),
            simulated: body.simulated_skin().unwrap(),
        }
    }

    /// Largest distance of a point from its position in another snapshot [m].
    pub fn farthest(&self, other: &Shot) -> f32 {
        let pairs = self.simulated.iter().zip(&other.simulated);
        pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
    }
}

impl Painter {
    pub fn new(character: &Character, flesh: &Flesh) -> Self {
        Self {
            character: character.clone(),
            nearest: nearest_columns(flesh, character),
            columns: flesh.columns().len(),
            plain: CLAY,
        }
    }

    /// Draws with the given points in red.
    pub fn marked(&self, shot: &Shot, points: &[u32]) -> Vec<DrawMesh<'static>> {
        let mut red = vec![false; self.columns];
        points.iter().for_each(|&p| red[p as usize] = true);
        self.draw(shot, |corners| {
            match corners.iter().any(|&v| red[v as usize]) {
                true => RED,
                false => self.plain,
            }
        })
    }

    /// Draws coloured by the distance from another snapshot, up to `most` [m].
    pub fn moved(&self, shot: &Shot, from: &Shot, most: f32) -> Vec<DrawMesh<'static>> {
        let pairs = shot.simulated.iter().zip(&from.simulated);
        let far: Vec<f32> = pairs.map(|(a, b)| a.distance(*b)).collect();
        let colours = heat_colours(&far, 0.0, most, Ramp::Ember);
        self.draw(shot, |corners| {
            corners.iter().map(|&v| colours[v as usize]).sum::<Vec3>() / 3.0
        })
    }

    fn draw(&self, shot: &Shot, colour: impl Fn(&[u32; 3]) -> Vec3) -> Vec<DrawMesh<'static>> {
        let parts = self.character.parts.iter().zip(&shot.parts);
        let drawn = parts.zip(&self.nearest).map(|((part, positions), near)| {
            let mesh = TriMesh {
                positions: positions.clone(),
                triangles: part.mesh.triangles.clone(),
            };
            DrawMesh::owned(mesh).coloured(near.iter().map(&colour).collect::<Vec<Vec3>>())
        });
        drawn.collect()
    }
}

/// Colliders of finite extent.
pub fn things(colliders: &[Collider]) -> Vec<DrawMesh<'static>> {
    let meshes = colliders.iter().filter_map(collider_mesh);
    meshes
        .map(|mesh| DrawMesh::owned(mesh).coloured(THING))
        .collect()
}
