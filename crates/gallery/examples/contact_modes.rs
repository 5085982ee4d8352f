//! Contact off, local and global (figures 3.15 and 3.16): a bent knee, crossed arms, a sitting body with its hands on its thighs.

mod common;

use supple::Character;
use supple::embedded::{Body, body, clip};
use supple::flesh::Settings;
use supple::geom::TriMesh;
use supple::glam::{Vec3, vec3};
use supple_lab::compare_contact::{ContactFrame, compare_contact};
use supple_picture::{DrawMesh, Image};

/// Clip, time [s], joint in the centre, extent of the view [m], direction of the view.
const ROWS: [(&str, f32, &str, f32, [f32; 3]); 3] = [
    ("knee", 0.95, "lowerleg01.L", 0.2, [1.0, 0.1, 0.25]),
    ("arms_crossed", 1.5, "spine02", 0.3, [0.3, 0.1, 1.0]),
    ("sit", 1.7, "upperleg02.L", 0.32, [0.8, 0.35, 0.8]),
];
const SIZE: (usize, usize) = (300, 270);

fn main() {
    let character = body(Body::Male).unwrap();
    let mut settings = Settings::default();
    settings.excluded = ["head", "toe*"].map(str::to_owned).to_vec();
    let mut tiles = Vec::new();
    let mut columns = 0;
    for (name, time, joint, around, direction) in ROWS {
        let motion = clip(name, &character).unwrap();
        let time = time.min(motion.duration());
        let times = [time];
        let variants =
            compare_contact(&character, &motion, &settings, 0.0, &times, &mut |_| ()).unwrap();
        columns = variants.len();
        let pose = motion.sample(&character.skeleton, time);
        let joint = character.skeleton.find(joint).unwrap();
        let centre = Vec3::from(pose.worlds(&character.skeleton)[joint].translation);
        let corners = [centre - around, centre + around];
        let [x, y, z] = direction;
        let camera = common::view_in(SIZE, &corners, vec3(x, y, z));
        let mut counts = Vec::new();
        for variant in &variants {
            let frame = &variant.frames[0];
            let caption = format!(
                "{name}, {}: {} inside, {:.1} mm",
                variant.name, frame.count, frame.worst_mm
            );
            println!("{caption}");
            counts.push((variant.name, frame.count, frame.worst_mm));
            let drawn = draw(&character, frame);
            tiles.push((common::tile_in(SIZE, drawn, vec![], &camera), caption));
        }
        check(name, &counts);
    }
    let picture: Image = common::sheet(
        "Contact off, local and global; red: inside",
        &tiles,
        columns,
    );
    common::save("contact_modes", &picture);
}

fn draw(character: &Character, frame: &ContactFrame) -> Vec<DrawMesh<'static>> {
    let parts = character.parts.iter().zip(&frame.positions);
    let coloured = parts
        .zip(&frame.colours)
        .map(|((part, positions), colours)| {
            let mesh = TriMesh {
                positions: positions.clone(),
                triangles: part.mesh.triangles.clone(),
            };
            DrawMesh::owned(mesh).coloured(colours.clone())
        });
    coloured.collect()
}

fn check(clip: &str, counts: &[(&str, usize, f32)]) {
    let off = counts[0].1;
    let (_, global, _) = counts[counts.len() - 1];
    assert!(
        4 * global <= off,
        "{clip}: {off} points inside without contact, {global} with it"
    );
}
