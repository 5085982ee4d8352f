//! Bodies that touch: keyed poses, what is inside, drawings of things.

use supple::flesh::Flesh;
use supple::flesh::settings::ContactMode;
use supple::geom::TriMesh;
use supple::glam::Vec3;
use supple::picture::scene::CLAY;
use supple::picture::{DrawMesh, Ramp, heat_colours, hex};
use supple::rig::keyed::KeyedClip;
use supple::sim::Collider;
use supple::things::collider_mesh;
use supple::{Character, Clip};

use super::RED;

/// Colour of things.
pub const THING: Vec3 = hex(0xb8b4ab);

/// A keyed clip on a character.
pub fn keyed(character: &Character, text: &str) -> Clip {
    let clip = KeyedClip::parse(text).unwrap();
    clip.on(character, 60.0).unwrap()
}

/// The body's tissue under a mode of contact; head and toes follow their bones.
pub fn touching(character: &Character, mode: ContactMode) -> Flesh {
    let mut settings = supple::flesh::Settings::default();
    settings.contact.mode = mode;
    settings.excluded = ["head", "toe*"].map(str::to_owned).to_vec();
    super::build(character, settings)
}

/// The same tissue that goes through everything.
pub fn without(flesh: &Flesh) -> Flesh {
    let mut flesh = flesh.clone();
    flesh.settings.contact.mode = ContactMode::Off;
    flesh.colliders.clear();
    flesh
}

/// A skin whose given points are red.
pub fn marked(flesh: &Flesh, positions: &[Vec3], points: &[u32]) -> DrawMesh<'static> {
    let mut colours = vec![CLAY; positions.len()];
    points.iter().for_each(|&p| colours[p as usize] = RED);
    drawn(flesh, positions, colours)
}

/// A skin coloured by how far it is from another, up to `most` [m].
pub fn moved(flesh: &Flesh, positions: &[Vec3], from: &[Vec3], most: f32) -> DrawMesh<'static> {
    let pairs = positions.iter().zip(from);
    let far: Vec<f32> = pairs.map(|(a, b)| a.distance(*b)).collect();
    drawn(flesh, positions, heat_colours(&far, 0.0, most, Ramp::Ember))
}

fn drawn(flesh: &Flesh, positions: &[Vec3], colours: Vec<Vec3>) -> DrawMesh<'static> {
    let mesh = TriMesh {
        positions: positions.to_vec(),
        triangles: flesh.skin_mesh().triangles.clone(),
    };
    DrawMesh::owned(mesh).coloured(colours)
}

/// Colliders that have an end.
pub fn things(colliders: &[Collider]) -> Vec<DrawMesh<'static>> {
    let meshes = colliders.iter().filter_map(collider_mesh);
    meshes
        .map(|mesh| DrawMesh::owned(mesh).coloured(THING))
        .collect()
}
