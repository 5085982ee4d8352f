//! A person's story in one picture: scan, layers, motion, and kilograms more.

use glam::Vec3;
use supple::anatomy::person::Person;
use supple_geom::TriMesh;
use supple_picture::{DrawMesh, Image, SheetStyle, contact_sheet, hex};
use supple_rig::Character;
use supple_rig::bake::Motion;

use crate::person_sheet::{eyes, title};
use crate::template_sheet::{draw_around, peeled_front};

/// Colours of a scan, and of skin.
const SCAN: Vec3 = hex(0xa9b4bd);
const SKIN: Vec3 = hex(0xdeb39c);
/// Directions to the camera: of a scan and its layers, and of a body in motion.
const FRONT: Vec3 = Vec3::new(0.0, 0.05, 1.0);
const ASIDE: Vec3 = Vec3::new(0.6, 0.1, 1.0);

/// What happens to a person.
pub struct Story<'a> {
    /// The scan, upright \[m\].
    pub scan: &'a TriMesh,
    /// The person in it.
    pub person: &'a Person,
    /// The person as a character.
    pub character: &'a Character,
    /// A motion of that character.
    pub motion: &'a Motion,
    /// Frames of the motion that are shown.
    pub frames: &'a [usize],
    /// The heavier skin, and what is said of it.
    pub heavier: (&'a [Vec3], String),
}

/// Scan and layers in the first row, motion and the heavier person in the second. `size` is the width of a tile \[px\].
pub fn story_sheet(story: &Story, size: usize) -> Image {
    let anatomy = &story.person.body;
    let scan = DrawMesh::new(story.scan).coloured(SCAN);
    let mut first = vec![(
        draw_around(&story.scan.positions, vec![scan], FRONT, size),
        format!("scan, {} points", story.scan.positions.len()),
    )];
    let eyes = eyes(story.person);
    first.extend(peeled_front(anatomy, &eyes, size));
    let places: Vec<Vec<Vec<Vec3>>> = (story.frames.iter())
        .map(|&frame| story.motion.frames.get(frame).to_vec())
        .collect();
    let all: Vec<Vec3> = places.iter().flatten().flatten().copied().collect();
    let materials = &story.character.materials;
    let body = |positions: &[Vec<Vec3>]| -> Vec<DrawMesh<'static>> {
        let parts = story.character.parts.iter().zip(positions);
        parts
            .map(|(part, positions)| {
                let mesh = TriMesh {
                    positions: positions.clone(),
                    triangles: part.mesh.triangles.clone(),
                };
                let colour = match part.material {
                    Some(0) | None => SKIN,
                    Some(material) => materials[material].base_color.truncate(),
                };
                DrawMesh::owned(mesh).coloured(colour)
            })
            .collect()
    };
    let mut second: Vec<(Image, String)> = (places.iter().zip(story.frames))
        .map(|(positions, &frame)| {
            let caption = format!("moving, {:.2} s", frame as f32 / story.motion.fps);
            (draw_around(&all, body(positions), ASIDE, size), caption)
        })
        .collect();
    let rest: Vec<Vec<Vec3>> = (story.character.parts.iter())
        .map(|part| part.mesh.positions.clone())
        .collect();
    let mut heavier = rest.clone();
    heavier[0] = story.heavier.0.to_vec();
    for (caption, positions) in [("at rest", &rest), (&story.heavier.1[..], &heavier)] {
        let image = draw_around(&rest[0], body(positions), ASIDE, size);
        second.push((image, caption.to_owned()));
    }
    let columns = first.len().max(second.len());
    let tiles = [first, second].concat();
    contact_sheet(
        &title(story.person),
        &tiles,
        columns,
        &SheetStyle::default(),
    )
}
