//! Upsampling (figure 3.9): a coarse simulation mesh is posed, and the full skin follows it.

mod common;

use supple::embedded::{Body, body};
use supple::flesh::Settings;
use supple::flesh::settings::Resolution;
use supple::geom::TriMesh;
use supple::glam::{Vec3, vec3};
use supple::sim::State;
use supple_picture::{Camera, DrawMesh, Image, Wire};

fn main() {
    let character = body(Body::Male).unwrap();
    let mut settings = Settings::default();
    settings.detail.resolution = Resolution::Vertices(2000);
    let flesh = common::build(&character, settings);
    let mut pose = common::turned(&character, "upperleg01.L", Vec3::X, -70.0);
    common::turn(&mut pose, &character, "lowerleg01.L", Vec3::X, 95.0);
    common::turn(&mut pose, &character, "lowerarm01.R", Vec3::Y, -80.0);
    let state = common::settle(&flesh, &pose);
    let coarse = |pose, state| TriMesh {
        positions: flesh.flesh_positions(pose, state).unwrap(),
        triangles: flesh.skin_mesh().triangles.clone(),
    };
    let full = |pose, state| TriMesh {
        positions: flesh.full_positions(pose, state).unwrap().0,
        triangles: flesh.full_mesh().triangles.clone(),
    };
    let (at_rest, rest) = (State::at_rest(&flesh.model), flesh.rest_pose());
    let (few, all) = (coarse(&pose, &state), full(&pose, &state));

    let camera = common::view_in((310, 420), &all.positions, vec3(0.55, 0.1, 1.0));
    let tiles = [
        (
            draw(&coarse(&rest, &at_rest), true, &camera),
            format!("simulated: {} vertices", few.positions.len()),
        ),
        (draw(&few, true, &camera), "posed".to_owned()),
        (
            draw(&all, false, &camera),
            format!("shown: {} vertices", all.positions.len()),
        ),
    ];
    let sheet = common::sheet("Simulated coarse, shown fine", &tiles, 3);
    common::save("upsampling", &sheet);

    // At rest the full skin is reproduced; posed it keeps its volume.
    let off = (full(&rest, &at_rest).positions.iter())
        .zip(&flesh.full_mesh().positions)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f32::max);
    let volume = all.signed_volume() / flesh.full_mesh().signed_volume();
    println!(
        "{} of {} vertices; at rest off by {off:.1e} m; volume against rest {volume:.4}",
        few.positions.len(),
        all.positions.len()
    );
    assert!(off < 1e-5, "rest is not reproduced");
    assert!(
        (0.97..1.03).contains(&volume),
        "the skin neither swells nor shrinks"
    );
}

fn draw(mesh: &TriMesh, wire: bool, camera: &Camera) -> Image {
    let mut drawn = DrawMesh::owned(mesh.clone());
    drawn.wire = wire.then(|| Wire {
        width: 0.7,
        opacity: 0.5,
        ..Wire::default()
    });
    common::tile_in((310, 420), vec![drawn], vec![], camera)
}
