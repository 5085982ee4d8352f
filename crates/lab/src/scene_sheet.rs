//! Picture of several frames of a scene.

use glam::Vec3;
use supple::scene_file::Played;
use supple_picture::{
    Bounds, Camera, Colour, DrawMesh, Image, SheetStyle, contact_sheet, hex, render,
};

use crate::collider_drawing::{draw_colliders, shown_bounds};
use crate::sheet::{own_look, textures};

/// Colours of the characters, repeated.
const COLOURS: [Vec3; 4] = [hex(0xdeb39c), hex(0x9cb8de), hex(0xb9d6a3), hex(0xd9a8c6)];

/// Draws frames of a scene, three per row. Characters have their own materials, or a colour each.
pub fn scene_sheet(title: &str, played: &Played, frames: &[usize], size: usize) -> Image {
    let shown = || frames.iter().copied();
    let motions = || played.characters.iter().map(|(_, motion)| motion);
    let moments = shown().flat_map(|frame| motions().map(move |motion| motion.frames.get(frame)));
    let moments: Vec<_> = moments.collect();
    let points = moments.iter().flat_map(|frame| frame.iter().flatten());
    let bodies = Bounds::of(points);
    let seen = shown().fold(bodies, |seen, frame| {
        seen.union(shown_bounds(bodies, &played.colliders[frame]))
    });
    let camera = Camera::frame(seen, Vec3::new(0.7, 0.15, 1.0), 1.0);
    let cast = played.characters.iter();
    let textures: Vec<_> = cast.map(|(character, _)| textures(character)).collect();
    let pictures: Vec<(Image, String)> = shown()
        .map(|frame| {
            let mut scene = supple_picture::Scene {
                ground: Some(supple_picture::Ground::default()),
                ..Default::default()
            };
            for (body, (character, motion)) in played.characters.iter().enumerate() {
                let positions = motion.frames.get(frame);
                let parts = character.parts.iter().zip(positions.iter());
                for (index, (part, positions)) in parts.enumerate() {
                    let mesh = supple_geom::TriMesh {
                        positions: positions.clone(),
                        triangles: part.mesh.triangles.clone(),
                    };
                    let colour = own_look(character, &textures[body], index)
                        .unwrap_or(Colour::Uniform(COLOURS[body % COLOURS.len()]));
                    scene.meshes.push(DrawMesh::owned(mesh).coloured(colour));
                }
            }
            draw_colliders(&mut scene, &played.colliders[frame], bodies, 1.0);
            let (count, depth) = played.inside[frame];
            let time = frame as f32 / played.characters[0].1.fps;
            let caption = format!("{time:.2} s: {count} inside, {:.1} mm deep", 1000.0 * depth);
            (render(&scene, &camera, size, size), caption)
        })
        .collect();
    contact_sheet(
        title,
        &pictures,
        frames.len().min(3),
        &SheetStyle::default(),
    )
}
