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

/// Draws frames of a scene, three per row. Characters of one plain colour get a colour each; others
/// have their own materials.
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
    let is_plain = |body: usize| {
        let materials = &played.characters[body].0.materials;
        let alike = (materials.windows(2)).all(|pair| pair[0].base_color == pair[1].base_color);
        alike && textures[body].iter().all(Option::is_none)
    };
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
                    let plain = Colour::Uniform(COLOURS[body % COLOURS.len()]);
                    let colour = match is_plain(body) {
                        true => plain,
                        false => own_look(character, &textures[body], index).unwrap_or(plain),
                    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;
    use supple_rig::bake::Motion;
    use supple_rig::character::Material;
    use supple_rig::{Character, Part};

    /// A green square beside one without a material.
    #[test]
    fn textures_are_drawn() {
        let square = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
        let at = |x: f32| square.map(|uv| uv.extend(0.0) + Vec3::X * x).to_vec();
        let mesh = |x: f32| supple_geom::TriMesh {
            positions: at(x),
            triangles: vec![[0, 1, 2], [0, 2, 3]],
        };
        let png = Image::new(2, 2, hex(0x00ff00)).encode_png().unwrap();
        let textured = Character {
            parts: vec![Part {
                mesh: mesh(0.0),
                uvs: square.to_vec(),
                material: Some(0),
                ..Part::default()
            }],
            materials: vec![Material {
                name: String::new(),
                base_color: glam::Vec4::ONE,
                base_color_image: Some(png.into()),
                double_sided: false,
            }],
            ..Character::default()
        };
        let plain = Character {
            parts: vec![Part {
                mesh: mesh(1.5),
                ..Part::default()
            }],
            ..Character::default()
        };
        let still = |x: f32| Motion {
            fps: 1.0,
            frames: vec![vec![at(x)]].into(),
            ..Motion::default()
        };
        let played = Played {
            characters: vec![(textured, still(0.0)), (plain, still(1.5))],
            colliders: vec![Vec::new()],
            inside: vec![(0, 0.0)],
        };
        let picture = scene_sheet("", &played, &[0], 64);
        let green = |p: &&[u8]| p[1] > 80 && p[0] < p[1] / 2 && p[2] < p[1] / 2;
        let seen = picture.rgba.chunks_exact(4).filter(green).count();
        assert!(seen > 100, "{seen} green pixels");
    }
}
